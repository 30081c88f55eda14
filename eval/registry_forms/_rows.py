"""What the forms share: a file's text, rows with the place where each stands, and the dates in their cells."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from db.importing import Refusal, UnreadableSource
from eval.cutoffs import HINT, Cutoff, CutoffUnreadable, is_unknown, parse_cutoff

LONGEST_CELL = 200
"""No name of a model and no date is longer, in characters."""
LONGEST_FIELD = 131_072
"""Characters of a field beyond which a file is no list."""


class Row(NamedTuple):
    """One row: where it stands, and its cells by column, without surrounding space."""

    where: str
    cells: Mapping[str, str]


class BadCell(Exception):
    """A cell that cannot be read, or lacks what it must have. ``reason`` says what, ``hint`` what to do."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


def read_text(path: Path) -> str:
    """The whole text of a list, without a byte order mark. Raises ``UnreadableSource``."""
    try:
        return path.read_bytes().decode().removeprefix("\ufeff")
    except OSError as error:
        raise UnreadableSource(f"{path}: cannot be read ({error.strerror})", "check the path") from error
    except UnicodeDecodeError as error:
        raise UnreadableSource(
            f"{path}: not UTF-8: {error.reason} at byte {error.start}", "save it as UTF-8"
        ) from error


def csv_rows(text: str, path: Path, columns: tuple[str, ...]) -> Iterator[Row | Refusal]:
    """The rows of a CSV text that has at least these columns.

    Raises ``UnreadableSource`` where its first line lacks one, or where it is no CSV.
    """
    csv.field_size_limit(LONGEST_FIELD)  # one for the whole process: another reader may have set another
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        missing = [column for column in columns if column not in (reader.fieldnames or ())]
        if missing:
            hint = f"the first line must name the columns {', '.join(columns)}"
            raise UnreadableSource(f"{path}: has no column {', '.join(missing)}", hint)
        for cells in reader:
            yield _row(f"line {reader.line_num}", cells)
    except csv.Error as error:
        place = f"{path}, line {max(1, reader.line_num)}"
        raise UnreadableSource(f"{place}: not CSV: {error}", "get the file again") from error


def _row(where: str, cells: Mapping[str | None, str | None]) -> Row | Refusal:
    if None in cells or None in cells.values():
        return Refusal(where, "does not have one cell for each column", "put cells with commas in quotes")
    return Row(where, {str(column): str(cell).strip() for column, cell in cells.items()})


def date_in(row: Row, column: str) -> Cutoff | None:
    """The date in a cell; None where the cell says that none is known. Raises ``BadCell``."""
    text = row.cells.get(column, "")
    if is_unknown(text):
        return None
    if shown(text) != text:
        raise BadCell(f'{column}: cannot read the date "{shown(text)}"', HINT)
    try:
        return parse_cutoff(text, from_registry=True)
    except CutoffUnreadable as error:
        raise BadCell(f"{column}: {error.message}", error.hint) from error


def name_in(row: Row, column: str) -> str:
    """The name in a cell. Raises ``BadCell`` where it is empty, or could not be written down again."""
    text = row.cells[column]
    if not text:
        raise BadCell(f"{column}: is empty", "name the model")
    if shown(text) != text:
        raise BadCell(f'{column}: "{shown(text)}" is no name of a model', "correct it, or leave the model out")
    return text


def shown(text: str) -> str:
    """A text of a list as it can stand in a message: no character that a terminal obeys, and not without end."""
    plain = "".join(character if character.isprintable() else "\ufffd" for character in text[: LONGEST_CELL + 1])
    return plain if len(plain) <= LONGEST_CELL else plain[: LONGEST_CELL - 1] + "…"


def link_in(row: Row, column: str) -> str | None:
    """The link in a cell; None for a stand-in such as "TBD"."""
    text = row.cells.get(column, "")
    return text if text.startswith(("https://", "http://")) else None
