"""CSV whole in memory: what is written for others, and small files of a user's, each row with where it stands. Pure."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable


class NotCsv(ValueError):
    """A text that is no CSV; the message says where and why."""


def write_csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Rows as CSV, each ended by a line feed; None is an empty cell."""
    lines = _Lines()
    csv.writer(lines, lineterminator="\r\n").writerows(rows)
    return "".join(lines.found)


class _Lines:
    """Takes the lines of a CSV writer. Only one that ends lines by both marks quotes a cell that holds either."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def write(self, line: str) -> int:
        self.found.append(line.removesuffix("\r\n") + "\n")
        return len(line)


def read_csv_text(text: str, origin: str) -> tuple[list[str], list[tuple[str, dict[str, str]]]]:
    """The columns, and for each row "ORIGIN, line N" with its cells; a missing cell is empty. Raises ``NotCsv``."""
    reader = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")), restval="", strict=True)
    rows = []
    try:
        columns = list(reader.fieldnames or ())
        for row in reader:
            rows.append((f"{origin}, line {reader.line_num}", {name: row[name] or "" for name in columns}))
    except csv.Error as error:
        raise NotCsv(f"{origin}, after line {reader.line_num}: not CSV: {error}") from error
    return columns, rows
