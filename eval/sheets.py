"""A finding for people and programs: tables with their notes, for the terminal, as Markdown, CSV or JSON.

Everything but the table of ``live eval`` itself (``eval.render``) is shown through this: comparisons, common-window and
equated tables, audits. A cell that holds no number is written as "–"; why is said in a note. ``eval.layout`` puts
columns into lines.
"""

from __future__ import annotations

import json
import math
import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import Enum
from typing import TYPE_CHECKING, Any

from eval.csv_text import write_csv_text
from eval.layout import Line, TextColumn, lay_out
from eval.plain_text import one_line
from eval.report import utc_text

if TYPE_CHECKING:
    from rich.console import Console

NO_NUMBER = "–"

Cell = str | int | float | tuple[float, float] | None
"""A word, a number, the two ends of an interval, or nothing."""

_MARKS = re.compile(r"[\\`*_\[\]|~#$]|@(?!\d+(?![\w.-]))|:(?=//)|(?<=www)\.", re.IGNORECASE)
"""What is markup within a line of Markdown, but for the signs of HTML."""

_BLOCK_SIGN = re.compile(r"^(?:[-+=](?=[-= ]|$)|[0-9]{1,9}[.)](?= |$))")
"""What makes a list, a rule or a heading of a line that begins with it; its last sign is the one to escape."""


@dataclass(frozen=True)
class Column:
    """A column: its heading, and how its numbers are written (``format`` is that of ``format()``, scaled first).

    A "z" in the format keeps what rounds to nothing from having a sign. Numbers nearer to 0 than ``least`` are written
    as smaller than that. Intervals have ``between`` their ends. ``key`` is the column's name in CSV, by default made
    from the heading; intervals have two there. A range is one number where its ends look alike. What ``is_whole`` is
    never folded: a command to copy. A column ``for_programs`` stands in CSV alone.
    """

    heading: str
    format: str = ""
    scale: int = 1
    least: float = 0.0
    between: str = ""
    key: str = ""
    is_range: bool = False
    is_whole: bool = False
    for_programs: bool = False

    @property
    def is_number(self) -> bool:
        """Whether cells stand to the right."""
        return bool(self.format)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns in CSV."""
        words = re.sub(r"(?<=[a-z])[-.]", "", self.heading.lower())  # cut-off, s.e.
        key = self.key or re.sub(r"[^a-z0-9@]+", "_", words).strip("_") or "remark"
        return (f"{key}_low", f"{key}_high") if self.between else (key,)

    def text(self, cell: Cell) -> str:
        """A cell as it is shown."""
        if cell is None:
            return NO_NUMBER
        if isinstance(cell, tuple):
            ends = [format(end * self.scale, self.format) for end in cell]
            return ends[0] if self.is_range and ends[0] == ends[1] else self.between.join(ends)
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


def p_value(heading: str, key: str = "") -> Column:
    """A column of p values."""
    return Column(heading, ".4f", least=0.0001, key=key)


def interval(heading: str = "95 %", key: str = "ci") -> Column:
    """A column of intervals of shares, shown in percent: "41.2–47.9"."""
    return Column(heading, "z.1f", 100, between="–", key=key)


def difference_interval(heading: str = "95 %", key: str = "ci") -> Column:
    """A column of intervals of differences of shares, shown in points: "-2.0 to +3.1"."""
    return Column(heading, "+z.1f", 100, between=" to ", key=key)


def from_to(heading: str, digits: int = 0, scale: int = 1, key: str = "") -> Column:
    """A column of ranges from the least to the most: "23–30", or "23"."""
    return Column(heading, f"z.{digits}f", scale, between="–", key=key, is_range=True)


def command(heading: str) -> Column:
    """A column of commands to copy, each in one piece however long."""
    return Column(heading, is_whole=True)


def for_programs(column: Column) -> Column:
    """The same column for CSV alone: a number that a person reads elsewhere in the row."""
    return replace(column, for_programs=True)


def span(low: float | None, high: float | None) -> tuple[float, float] | None:
    """The cell of an interval; None where an end is not known."""
    return None if low is None or high is None else (low, high)


@dataclass(frozen=True)
class Table:
    """Rows under columns, with a title over and notes under them.

    The first ``n_keys`` columns name the row, and stand beside each part of a table that is too wide. ``name`` is what
    CSV has in place of a title that counts something.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    n_keys: int = 1
    name: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{self.title}: a row of {len(row)} cells under {len(self.columns)} columns")

    def shown(self) -> tuple[TextColumn, ...]:
        """The columns that a person sees, as texts."""
        return tuple(
            TextColumn(one.heading, tuple(one.text(row[place]) for row in self.rows), one.is_number, one.is_whole)
            for place, one in enumerate(self.columns)
            if not one.for_programs
        )


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
        if one.rows:
            print_columns(console, lay_out(one.shown(), console.width, one.n_keys))
        print_lines(console, [f"  {line}" for line in one.notes])
    if sheet.notes:
        console.print()
        print_lines(console, sheet.notes)


def print_columns(console: Console, lines: Iterable[Line]) -> None:
    """Print the lines of a table as they are, headings in bold."""
    from rich.markup import escape

    for line in lines:
        console.print(escape(line.text), style="bold" if line.is_heading else None, highlight=False, soft_wrap=True)


def sheet_to_markdown(sheet: Sheet) -> str:
    """A sheet as Markdown: a heading, the conditions as a list, each table under its own heading."""
    lines = [f"# {markdown_text(sheet.title)}", "", *(f"- {markdown_text(line)}" for line in sheet.conditions)]
    for one in sheet.tables:
        lines += ["", f"## {markdown_text(one.title)}"] if one.title else [""]
        if one.rows:
            columns = one.shown()
            lines += ["", markdown_row(markdown_text(column.heading) for column in columns)]
            lines.append(markdown_row("---:" if column.is_number else "---" for column in columns))
            lines += [markdown_row(map(markdown_text, row)) for row in zip(*(c.cells for c in columns), strict=True)]
        lines += ["", *(f"- {markdown_text(line)}" for line in one.notes)] if one.notes else []
    lines += ["", *(f"- {markdown_text(line)}" for line in sheet.notes)] if sheet.notes else []
    return "\n".join(lines) + "\n"


def sheet_to_csv(sheet: Sheet) -> str:
    """The rows of all tables, unrounded (shares, not percent), each number in a column of its own.

    Several tables stand one below the other, each under a header row of its own; a header is a row whose first cell is
    "table", and no blank line is between them. In the first column of the other rows is the name of their table. An
    interval has a column for each end; an empty cell holds no number. The last two columns have the conditions and the
    notes, joined by "; ": a row that is cut out of its table still says what was measured.
    """
    conditions = "; ".join(sheet.conditions)
    rows: list[list[object]] = []
    for one in sheet.tables:
        rows.append(["table", *(name for column in one.columns for name in column.names), "conditions", "notes"])
        name = one.name or one.title or sheet.title
        notes = "; ".join((*([one.title] if one.name and one.title else []), *one.notes, *sheet.notes))
        for row in one.rows:
            cells = (column.raw(cell) for column, cell in zip(one.columns, row, strict=True))
            rows.append([name, *(value for cell in cells for value in cell), conditions, notes])
    return write_csv_text(rows)


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
    """Text that cannot break out of a Markdown table's cell, nor become markup, wherever it begins a block.

    The dialect is GitHub's: addresses become links there, "~" strikes out, "$" sets formulas. "pass@1" is no mention.
    """
    line = _MARKS.sub(r"\\\g<0>", one_line(content))
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _BLOCK_SIGN.sub(lambda found: f"{found[0][:-1]}\\{found[0][-1]}", line)


def markdown_row(cells: Iterable[str]) -> str:
    """One row of a Markdown table."""
    return "| " + " | ".join(cells) + " |"
