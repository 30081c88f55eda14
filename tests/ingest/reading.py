"""What the tests of the formats share: reading a path and sorting what comes out by its kind."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from db.importing import Note, Refusal
from db.records import ProblemRecord
from ingest.formats import load_format

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Read:
    """The items that one format gave for one path, by kind and in their order."""

    problems: list[ProblemRecord]
    refusals: list[Refusal]
    notes: list[Note]

    @property
    def one(self) -> ProblemRecord:
        """The only problem, where nothing was refused."""
        assert self.refusals == []
        (problem,) = self.problems
        return problem

    @property
    def refusal(self) -> Refusal:
        """The only refusal."""
        (refusal,) = self.refusals
        return refusal


def read(name: str, path: Path) -> Read:
    """Read `path` in the format called `name`."""
    items = list(load_format(name).read(path))
    return Read(
        [item for item in items if isinstance(item, ProblemRecord)],
        [item for item in items if isinstance(item, Refusal)],
        [item for item in items if isinstance(item, Note)],
    )


def write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    """Write one JSON object a line, and return the path."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(row)}\n" for row in rows)
    return path
