"""What forms in CSV share: rows under a header, each with its line, and the dates in their cells."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from db.importing import Refusal, UnreadableSource
from eval.cutoffs import Cutoff, CutoffUnreadable, is_unknown, parse_cutoff


class CsvRow(NamedTuple):
    """One row: where it stands, and its cells by column, without surrounding space."""

    where: str
    cells: Mapping[str, str]


class BadCell(Exception):
    """A cell that cannot be read, or lacks what it must have. ``reason`` says what, ``hint`` what to do."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


def read_rows(path: Path, columns: tuple[str, ...]) -> Iterator[CsvRow | Refusal]:
    """The rows of a CSV file that has at least these columns.

    Raises ``UnreadableSource`` where there is no such file or its first line lacks a column.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines, strict=True)
            missing = [column for column in columns if column not in (reader.fieldnames or ())]
            if missing:
                hint = f"the first line must name the columns {', '.join(columns)}"
                raise UnreadableSource(f"{path}: has no column {', '.join(missing)}", hint)
            for cells in reader:
                yield _row(f"line {reader.line_num}", cells)
    except OSError as error:
        raise UnreadableSource(f"{path}: cannot be read ({error.strerror})", "check the path") from error
    except UnicodeDecodeError as error:
        raise UnreadableSource(f"{path}: not UTF-8: {error.reason}", "save it as UTF-8") from error
    except csv.Error as error:
        raise UnreadableSource(f"{path}: not CSV: {error}", "get the file again") from error


def _row(where: str, cells: Mapping[str | None, str | None]) -> CsvRow | Refusal:
    if None in cells or None in cells.values():
        return Refusal(where, "does not have one cell for each column", "put cells with commas in quotes")
    return CsvRow(where, {str(column): str(cell).strip() for column, cell in cells.items()})


def date_in(row: CsvRow, column: str) -> Cutoff | None:
    """The date in a cell; None where the cell says that none is known. Raises ``BadCell``."""
    text = row.cells.get(column, "")
    if is_unknown(text):
        return None
    try:
        return parse_cutoff(text, from_registry=True)
    except CutoffUnreadable as error:
        raise BadCell(f"{column}: {error.message}", error.hint) from error


def name_in(row: CsvRow, column: str) -> str:
    """The name in a cell. Raises ``BadCell`` where it is empty."""
    if not row.cells[column]:
        raise BadCell(f"{column}: is empty", "name the model")
    return row.cells[column]


def link_in(row: CsvRow, column: str) -> str | None:
    """The link in a cell; None for a stand-in such as "TBD"."""
    text = row.cells.get(column, "")
    return text if text.startswith(("https://", "http://")) else None
