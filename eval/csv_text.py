"""Small CSV files of a user's, whole in memory: their columns, and each row with where it stands. Pure."""

from __future__ import annotations

import csv
import io


class NotCsv(ValueError):
    """A text that is no CSV; the message says where and why."""


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
