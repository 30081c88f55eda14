"""Our own form: one JSON object on each line.

Solutions: ``id`` and ``code``, and optionally ``platform``, ``model``, ``sample`` (from 0; where absent, the rows of
one model and problem are counted in their order), ``language``, ``finish_reason``, ``raw_output``. In place of ``code``
(and ``raw_output``) there may be ``output``, a model's whole answer: the program is found in it by the rules of
`eval.generate.extraction`.
Results: ``id``, ``n_samples`` (at least 1), ``n_correct``, and optionally ``platform``, ``model``, ``origin``.
An unknown key is refused by its name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from db.importing import Note, Refusal
from db.json_lines import read_json_lines
from eval.formats import ResultRow, SolutionRow
from eval.formats._fields import (
    BadRow,
    Row,
    identifier,
    only_known_keys,
    optional_count,
    optional_name,
    optional_text,
    required_count,
    required_text,
    storable_code,
    storable_text,
)
from eval.formats._reading import MAX_ROW
from eval.formats._rows import build_rows

NAME = "jsonl"
DESCRIPTION = (
    "our own form, one JSON object on each line: id, code or output (solutions) or id, n_samples, n_correct (results)"
)
NAMES_MODELS = True
ORIGIN = "jsonl"

SOLUTION_KEYS = ("platform", "id", "model", "sample", "code", "language", "finish_reason", "raw_output")
RESULT_KEYS = ("platform", "id", "model", "n_samples", "n_correct", "origin")


def read_solutions(path: Path) -> Iterator[SolutionRow | Refusal | Note]:
    """One row for each line."""
    seen: Counter[tuple[str | None, str | None, str]] = Counter()
    return build_rows(read_json_lines(path, MAX_ROW), lambda where, row: solution_row(where, row, seen), "id")


def read_results(path: Path) -> Iterator[ResultRow | Refusal | Note]:
    """One tally for each line."""
    return build_rows(read_json_lines(path, MAX_ROW), result_row, "id")


def solution_row(where: str, row: Row, seen: Counter[tuple[str | None, str | None, str]]) -> Iterator[SolutionRow]:
    """A solution from its keys. ``seen`` counts the rows of each model and problem so far, for those without sample."""
    only_known_keys(row, (*SOLUTION_KEYS, "output"))
    native_id, platform, model = identifier(row, "id"), optional_name(row, "platform"), optional_name(row, "model")
    sample = optional_count(row, "sample")
    is_answer = "output" in row
    if is_answer and ("code" in row or "raw_output" in row):
        raise BadRow(
            "'output' beside 'code' or 'raw_output'", "give the program as 'code', or the whole answer as 'output'"
        )
    code = "" if is_answer else storable_code(required_text(row, "code"))
    raw_output = required_text(row, "output") if is_answer else optional_text(row, "raw_output")
    if sample is None:
        sample = seen[model, platform, native_id]
        seen[model, platform, native_id] += 1
    yield SolutionRow(
        where,
        native_id,
        code,
        sample,
        platform=platform,
        model=model,
        language=optional_name(row, "language"),
        finish_reason=optional_name(row, "finish_reason"),
        raw_output=storable_text(raw_output),
        is_answer=is_answer,
    )


def result_row(where: str, row: Row) -> Iterator[ResultRow]:
    """A tally from its keys."""
    only_known_keys(row, RESULT_KEYS)
    n_samples, n_correct = required_count(row, "n_samples"), required_count(row, "n_correct")
    if n_samples == 0:
        raise BadRow("'n_samples' must be at least 1", "leave out problems that have no samples")
    if n_correct > n_samples:
        raise BadRow(f"{n_correct} correct of {n_samples} samples", "'n_correct' is at most 'n_samples'")
    yield ResultRow(
        where,
        identifier(row, "id"),
        n_samples,
        n_correct,
        optional_name(row, "origin") or ORIGIN,
        platform=optional_name(row, "platform"),
        model=optional_name(row, "model"),
    )
