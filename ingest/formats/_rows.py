"""What the formats with one problem on each line share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from db.importing import Refusal
from db.json_lines import named, read_json_lines
from db.records import ProblemRecord
from ingest.errors import BadRow

Build = Callable[[str, dict[str, Any], list[Refusal]], ProblemRecord]
"""Makes the problem of one row, given where it stands; puts tests that it does not take into the list."""


def read_problems(path: Path, build: Build, id_field: str) -> Iterator[ProblemRecord | Refusal]:
    """The problem of each line, named by its ``id_field``; a row or single test that cannot be used is a refusal.

    Memory holds one row and its tests, whatever the length of the file.
    """
    for row in read_json_lines(path):
        if isinstance(row, Refusal):
            yield row
            continue
        where = named(row.where, row.value, id_field)
        refused: list[Refusal] = []
        try:
            item: ProblemRecord | Refusal = build(where, row.value, refused)
        except BadRow as error:
            item = Refusal(where, error.reason, error.hint, row.raw)
        del row  # tens of MB that need not live while the problem is saved
        yield item
        del item
        yield from refused
