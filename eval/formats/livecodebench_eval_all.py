"""LiveCodeBench's own output files, ``*_eval_all.json``: programs with the grades that its evaluator gave them.

A JSON array of objects. Read are ``question_id``, ``platform``, ``code_list``, ``output_list`` (raw answers),
``graded_list`` and ``pass@1``; other keys are left alone. The file does not name its model.
Source of the shape: the runner of github.com/LiveCodeBench/LiveCodeBench.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from db.importing import Note, Refusal
from eval.formats import ResultRow, SolutionRow
from eval.formats._code_lists import read_code_lists
from eval.formats._fields import BadRow, Row, identifier, optional_name, required_list
from eval.formats._reading import read_elements
from eval.formats._rows import build_rows

NAME = "livecodebench"
DESCRIPTION = "LiveCodeBench *_eval_all.json: programs, raw outputs and grades of one model"
ORIGIN = "livecodebench eval_all"

TOLERANCE = 1e-6
"""How far ``pass@1`` may be from the share of right grades before a note says so."""


def read_solutions(path: Path) -> Iterator[SolutionRow | Refusal | Note]:
    """One row for each program in ``code_list``, with its raw output where the file has it."""
    return read_code_lists(path, with_outputs=True)


def read_results(path: Path) -> Iterator[ResultRow | Refusal | Note]:
    """One tally for each question, counted from ``graded_list``."""
    return build_rows(read_elements(path), _graded, "question_id")


def _graded(where: str, row: Row) -> Iterator[ResultRow | Note]:
    result = _tally(where, row)
    note = _other_pass_at_1(result, row)
    if note is not None:
        yield note
    yield result


def _tally(where: str, row: Row) -> ResultRow:
    native_id, grades = identifier(row, "question_id"), required_list(row, "graded_list")
    if not grades:
        raise BadRow("'graded_list' is empty", "a result needs at least one graded sample")
    if not all(isinstance(grade, bool) for grade in grades):
        raise BadRow("'graded_list' must hold nothing but true and false", "grade the file again")
    codes = row.get("code_list")
    if isinstance(codes, list) and len(codes) != len(grades):
        raise BadRow(f"{len(grades)} grades for {len(codes)} programs", "grade the file again")
    return ResultRow(
        where, native_id, len(grades), sum(map(bool, grades)), ORIGIN, platform=optional_name(row, "platform")
    )


def _other_pass_at_1(result: ResultRow, row: Row) -> Note | None:
    said, counted = row.get("pass@1"), result.n_correct / result.n_samples
    if not isinstance(said, int | float) or abs(said - counted) <= TOLERANCE:
        return None
    return Note(result.where, f"'pass@1' says {said:g}, its grades say {counted:g}; the grades are taken")
