"""A finding for people and programs: tables with their notes, for the terminal, as Markdown, CSV or JSON.

Everything but the table of ``live eval`` itself (``eval.render``) is shown through this: comparisons, common-window and
equated tables, audits. A cell that holds no number is written as "–"; why is said in a note.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import Enum
from typing import TYPE_CHECKING, Any

from eval.report import utc_text

if TYPE_CHECKING:
    from rich.console import Console

NO_NUMBER = "–"
_GAP = "  "
_FEWEST = 20
"""Characters that a column of words has at least, where it has that much to say."""

Cell = str | int | float | tuple[float, float] | None
"""A word, a number, the two ends of an interval, or nothing."""


@dataclass(frozen=True)
class Column:
    """A column: its heading, and how its numbers are written (``format`` is that of ``format()``, scaled first).

    A "z" in the format keeps what rounds to nothing from having a sign. Numbers nearer to 0 than ``least`` are written
    as smaller than that. Intervals have ``between`` their ends. ``key`` is the column's name in CSV, by default made
    from the heading; intervals have two there.
    """

    heading: str
    format: str = ""
    scale: int = 1
    least: float = 0.0
    between: str = ""
    key: str = ""

    @property
    def is_number(self) -> bool:
        """Whether cells stand to the right."""
        return bool(self.format)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns in CSV."""
        key = self.key or re.sub(r"[^a-z0-9@]+", "_", self.heading.lower()).strip("_") or "remark"
        return (f"{key}_low", f"{key}_high") if self.between else (key,)

    def text(self, cell: Cell) -> str:
        """A cell as it is shown."""
        if cell is None:
            return NO_NUMBER
        if isinstance(cell, tuple):
            return self.between.join(format(end * self.scale, self.format) for end in cell)
        if isinstance(cell, str) or not self.format:
            return str(cell)
        if abs(cell) < self.least:
            return f"<{self.least:g}"
        return format(cell * self.scale, self.format)

    def raw(self, cell: Cell) -> tuple[object, ...]:
        """A cell as it stands in CSV: unrounded, empty where there is nothing."""
        if cell is None:
            return ("",) * len(self.names)
        return cell if isinstance(cell, tuple) else (cell,)


def text(heading: str, key: str = "") -> Column:
    """A column of words."""
    return Column(heading, key=key)


def count(heading: str) -> Column:
    """A column of whole numbers."""
    return Column(heading, "d")


def percent(heading: str, digits: int = 1, key: str = "") -> Column:
    """A column of shares in [0, 1] (or of their standard errors), shown in percent."""
    return Column(heading, f"z.{digits}f", 100, key=key)


def points(heading: str, digits: int = 1, key: str = "") -> Column:
    """A column of differences of shares, shown in percentage points with their sign."""
    return Column(heading, f"+z.{digits}f", 100, key=key)


def number(heading: str, digits: int = 2, key: str = "") -> Column:
    """A column of other numbers."""
    return Column(heading, f"z.{digits}f", key=key)


def p_value(heading: str) -> Column:
    """A column of p values."""
    return Column(heading, ".4f", least=0.0001)


def interval(heading: str = "95 %", key: str = "ci") -> Column:
    """A column of intervals of shares, shown in percent: "41.2–47.9"."""
    return Column(heading, "z.1f", 100, between="–", key=key)


def difference_interval(heading: str = "95 %", key: str = "ci") -> Column:
    """A column of intervals of differences of shares, shown in points: "-2.0 to +3.1"."""
    return Column(heading, "+z.1f", 100, between=" to ", key=key)


def span(low: float | None, high: float | None) -> tuple[float, float] | None:
    """The cell of an interval; None where an end is not known."""
    return None if low is None or high is None else (low, high)


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

    print_lines(console, [sheet.title, *(f"  {line}" for line in sheet.conditions)])
    for one in sheet.tables:
        console.print()
        if one.title:
            console.print(escape(one.title), style="bold", highlight=False)
        for line in table_lines(one, console.width):
            console.print(escape(line), highlight=False, soft_wrap=True)
        print_lines(console, [f"  {line}" for line in one.notes])
    if sheet.notes:
        console.print()
        print_lines(console, sheet.notes)


def table_lines(table: Table, width: int) -> list[str]:
    """The rows of a table in lines of at most ``width``; columns that do not fit stand below, beside the first again.

    Words are folded, numbers never. Nothing without rows.
    """
    if not table.rows:
        return []
    cells = [[column.text(cell) for column, cell in zip(table.columns, row, strict=True)] for row in table.rows]
    rows = [[column.heading for column in table.columns], *cells]
    widths = [max(1, *(len(row[place]) for row in rows)) for place in range(len(table.columns))]
    widths[0] = min(widths[0], width if len(widths) == 1 else max(_FEWEST, width // 3))
    lines: list[str] = []
    for places in _groups(table.columns, widths, width):
        lines += [""] if lines else []
        for row in rows:
            lines += _laid_out([(row[place], widths[place], table.columns[place].is_number) for place in places])
    return lines


def _groups(columns: tuple[Column, ...], widths: list[int], width: int) -> Iterator[list[int]]:
    """Which columns stand side by side, the first in each; words that are too wide for what is left get folded."""
    group, used = [0], widths[0]
    for place in range(1, len(columns)):
        left = width - used - len(_GAP)
        if not columns[place].is_number and left >= _FEWEST:
            widths[place] = min(widths[place], left)
        if widths[place] > left and len(group) > 1:
            yield group
            group, used = [0], widths[0]
            if not columns[place].is_number:
                widths[place] = min(widths[place], max(_FEWEST, width - used - len(_GAP)))
        group.append(place)
        used += len(_GAP) + widths[place]
    yield group


def _laid_out(cells: list[tuple[str, int, bool]]) -> Iterator[str]:
    """One row, over as many lines as its longest cell takes."""
    folded = [textwrap.wrap(cell, width, break_on_hyphens=False) or [""] for cell, width, _ in cells]
    for number in range(max(map(len, folded))):
        parts = []
        for (_, width, right), lines in zip(cells, folded, strict=True):
            part = lines[number] if number < len(lines) else ""
            parts.append(part.rjust(width) if right else part.ljust(width))
        yield _GAP.join(parts).rstrip()


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
    """The rows of all tables, unrounded (shares, not percent), the table's title in the first column.

    An interval has a column for each end; an empty cell holds no number. The last two columns have the conditions and
    the notes, joined by "; ": a row that is cut out of its table still says what was measured.
    """
    conditions = "; ".join(sheet.conditions)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for one in sheet.tables:
        writer.writerow(["table", *(name for column in one.columns for name in column.names), "conditions", "notes"])
        notes = "; ".join((*one.notes, *sheet.notes))
        for row in one.rows:
            cells = (column.raw(cell) for column, cell in zip(one.columns, row, strict=True))
            writer.writerow([one.title, *(value for cell in cells for value in cell), conditions, notes])
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
