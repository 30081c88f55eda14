"""A finding for people and programs: tables with their notes, for the terminal, as Markdown, CSV or JSON.

Everything but the table of ``live eval`` itself (``eval.render``) is shown through this: comparisons, common-window and
equated tables, audits. A cell that holds no number is written as "–"; why is said in a note.
"""

from __future__ import annotations

import csv
import io
import json
import math
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import Enum
from typing import TYPE_CHECKING, Any

from eval.report import utc_text

if TYPE_CHECKING:
    from rich.console import Console

NO_NUMBER = "–"

Cell = str | int | float | None


@dataclass(frozen=True)
class Column:
    """A column: its heading, and how its numbers are written (``format`` is that of ``format()``, scaled first).

    A "z" in the format keeps what rounds to nothing from having a sign.

    Numbers nearer to 0 than ``least`` are written as smaller than that.
    """

    heading: str
    format: str = ""
    scale: int = 1
    least: float = 0.0

    @property
    def is_number(self) -> bool:
        """Whether cells stand to the right."""
        return bool(self.format)

    def text(self, cell: Cell) -> str:
        """A cell as it is shown."""
        if cell is None:
            return NO_NUMBER
        if isinstance(cell, str) or not self.format:
            return str(cell)
        if cell and self.least and abs(cell) < self.least:
            return f"<{self.least:g}"
        return format(cell * self.scale, self.format)


def text(heading: str) -> Column:
    """A column of words."""
    return Column(heading)


def count(heading: str) -> Column:
    """A column of whole numbers."""
    return Column(heading, "d")


def percent(heading: str, digits: int = 1) -> Column:
    """A column of shares in [0, 1], shown in percent."""
    return Column(heading, f"z.{digits}f", 100)


def points(heading: str, digits: int = 1) -> Column:
    """A column of differences of shares, shown in percentage points with their sign."""
    return Column(heading, f"+z.{digits}f", 100)


def number(heading: str, digits: int = 2) -> Column:
    """A column of other numbers."""
    return Column(heading, f"z.{digits}f")


def p_value(heading: str) -> Column:
    """A column of p values."""
    return Column(heading, ".4f", least=0.0001)


def span(low: float | None, high: float | None, digits: int = 1, *, signed: bool = False) -> str | None:
    """An interval of shares as percent, "41.2–47.9"; with ``signed`` of differences, "-2.0 to +3.1"."""
    if low is None or high is None:
        return None
    if signed:
        return f"{100 * low:+.{digits}f} to {100 * high:+.{digits}f}"
    return f"{100 * low:.{digits}f}–{100 * high:.{digits}f}"


@dataclass(frozen=True)
class Table:
    """Rows under columns, with a title over and notes under them."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{self.title}: a row of {len(row)} cells under {len(self.columns)} columns")


@dataclass(frozen=True)
class Sheet:
    """What a command found. ``conditions`` say what was measured, ``data`` is the whole as plain values for JSON."""

    title: str
    conditions: tuple[str, ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)


def print_sheet(sheet: Sheet, console: Console) -> None:
    """Print a sheet, folded to the console's width."""
    from rich.markup import escape
    from rich.table import Table as RichTable

    print_lines(console, [sheet.title, *(f"  {line}" for line in sheet.conditions)])
    for one in sheet.tables:
        console.print()
        if one.title:
            console.print(escape(one.title), style="bold", highlight=False)
        if one.rows:
            table = RichTable(box=None, pad_edge=False, header_style="bold")
            for column in one.columns:
                table.add_column(
                    escape(column.heading),
                    justify="right" if column.is_number else "left",
                    no_wrap=column.is_number,
                    overflow="fold",
                )
            for row in one.rows:
                table.add_row(*(escape(column.text(cell)) for column, cell in zip(one.columns, row, strict=True)))
            console.print(table, highlight=False)
        print_lines(console, [f"  {line}" for line in one.notes])
    if sheet.notes:
        console.print()
        print_lines(console, sheet.notes)


def sheet_to_markdown(sheet: Sheet) -> str:
    """A sheet as Markdown: a heading, the conditions as a list, each table under its own heading."""
    lines = [f"# {markdown_text(sheet.title)}", "", *(f"- {markdown_text(line)}" for line in sheet.conditions)]
    for one in sheet.tables:
        lines += ["", f"## {markdown_text(one.title)}"] if one.title else [""]
        if one.rows:
            lines += ["", markdown_row(markdown_text(column.heading) for column in one.columns)]
            lines.append(markdown_row("---:" if column.is_number else "---" for column in one.columns))
            lines += [
                markdown_row(markdown_text(c.text(cell)) for c, cell in zip(one.columns, row, strict=True))
                for row in one.rows
            ]
        lines += ["", *(f"- {markdown_text(line)}" for line in one.notes)] if one.notes else []
    lines += ["", *(f"- {markdown_text(line)}" for line in sheet.notes)] if sheet.notes else []
    return "\n".join(lines) + "\n"


def sheet_to_csv(sheet: Sheet) -> str:
    """The rows of all tables, unrounded, the table's title in the first column; an empty cell holds no number."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for one in sheet.tables:
        writer.writerow(["table", *(column.heading for column in one.columns)])
        writer.writerows([one.title, *("" if cell is None else cell for cell in row)] for row in one.rows)
    return out.getvalue()


def sheet_to_json(sheet: Sheet) -> str:
    """One JSON document: title, conditions, the data, and every note. What is not known is null, no number is NaN."""
    document = {
        "title": sheet.title,
        "conditions": list(sheet.conditions),
        **plain(sheet.data),
        "notes": [*sheet.notes, *(note for table in sheet.tables for note in table.notes)],
    }
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def plain(value: Any) -> Any:
    """Plain JSON values of mappings, sequences, dates, enumerations and NumPy's scalars and arrays.

    Raises ``TypeError`` for anything else and ``ValueError`` for a number that is not finite: a finding has None there.
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return [plain(item) for item in sorted(value)]
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return _scalar(value)


def _scalar(value: Any) -> str | int | float | None:
    if isinstance(value, datetime):
        return utc_text(value)
    if isinstance(value, date | Enum):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is no finding")
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"{type(value).__name__} has no JSON form here")


def print_lines(console: Console, lines: Iterable[str]) -> None:
    """Print lines folded to the console's width, continued further in; links stay in one piece."""
    from rich.markup import escape

    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        folded = textwrap.fill(
            line, console.width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
        console.print(escape(folded), highlight=False, soft_wrap=True)


def markdown_text(content: str) -> str:
    """Text that cannot break out of a Markdown table's cell, nor become markup."""
    for mark in "\\`*_[]|":
        content = content.replace(mark, "\\" + mark)
    return " ".join(content.replace("<", "&lt;").replace(">", "&gt;").split())


def markdown_row(cells: Iterable[str]) -> str:
    """One row of a Markdown table."""
    return "| " + " | ".join(cells) + " |"
