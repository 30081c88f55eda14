"""The form that LiveCodeBench's custom evaluator takes: ``[{"question_id": ..., "code_list": [...]}, ...]``.

Other keys (``question_title`` and the like) are left alone, but for ``platform``, which is used when present.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from db.importing import Note, Refusal
from eval.formats import SolutionRow
from eval.formats._code_lists import read_code_lists

NAME = "livecodebench-custom"
DESCRIPTION = "LiveCodeBench custom evaluator input: [{question_id, code_list}]"


def read_solutions(path: Path) -> Iterator[SolutionRow | Refusal | Note]:
    """One row for each program in ``code_list``; its sample index is its place in the list."""
    return read_code_lists(path, with_outputs=False)
