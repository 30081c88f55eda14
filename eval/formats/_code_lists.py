"""What LiveCodeBench's two solution files share: a list of questions, each with its list of programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from db.importing import Note, Refusal
from db.json_lines import json_kind
from eval.formats import SolutionRow
from eval.formats._fields import BadRow, Row, identifier, optional_name, required_list, storable_code, storable_text
from eval.formats._reading import read_elements
from eval.formats._rows import build_rows


def read_code_lists(path: Path, *, with_outputs: bool) -> Iterator[SolutionRow | Refusal | Note]:
    """One row for each program; its sample index is its place in ``code_list``.

    An empty (or null) program is a real, failed answer and stays one. ``with_outputs`` takes the raw answers from
    ``output_list``.
    """
    return build_rows(read_elements(path), lambda where, row: _programs(where, row, with_outputs), "question_id")


def _programs(where: str, row: Row, with_outputs: bool) -> Iterator[SolutionRow | Refusal | Note]:
    native_id, platform = identifier(row, "question_id"), optional_name(row, "platform")
    codes = required_list(row, "code_list")
    outputs = row.get("output_list") if with_outputs else None
    if isinstance(outputs, list) and len(outputs) != len(codes):
        # One failed prompt has been seen to lengthen a list, which moves each later answer to another program.
        yield Note(where, f"{len(outputs)} raw outputs for {len(codes)} programs, so they are left out")
        outputs = None
    for index, code in enumerate(codes):
        raw = outputs[index] if isinstance(outputs, list) else None
        yield _solution(f"{where}, sample {index}", native_id, platform, index, code, raw)


def _solution(
    where: str, native_id: str, platform: str | None, index: int, code: object, raw: object
) -> SolutionRow | Refusal:
    if code is None:
        code = ""
    if not isinstance(code, str):
        return Refusal(where, f"the program must be a text, not {json_kind(code)}", "write each program as a JSON text")
    try:
        code = storable_code(code)
    except BadRow as error:
        return Refusal(where, error.reason, error.hint)
    raw_output = storable_text(raw) if isinstance(raw, str) else None
    return SolutionRow(where, native_id, code, index, platform=platform, raw_output=raw_output)
