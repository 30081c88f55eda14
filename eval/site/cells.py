"""Tables as pages show them: cells with their sort values, links and the reasons for empty ones. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from eval.report import utc_text
from eval.sheets import NO_NUMBER, Column, Table

Why = Callable[[int, Column], str]
"""Why the cell of a row (by its place) in a column holds nothing."""

SORT_NUMBER, SORT_TEXT = "number", "text"


@dataclass(frozen=True)
class Head:
    """The head of a column. ``column`` is its name for scripts, ``sort`` how a press sorts by it ("": it does not).

    What ``is_default_only`` holds for the default view alone; what ``is_drawn`` repeats numbers as a picture.
    """

    text: str
    column: str = ""
    sort: str = ""
    is_number: bool = False
    is_default_only: bool = False
    is_drawn: bool = False


@dataclass(frozen=True)
class Bar:
    """A dot with its interval, in percent from 0 to 100."""

    point: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Cell:
    """A cell: a text that may be a link, with smaller lines under it.

    ``value`` is what it sorts by and ``high`` the upper end of a range. ``mark`` is the number of the reason why there
    is nothing, 0 for none.
    """

    text: str = ""
    value: str = ""
    high: str = ""
    href: str = ""
    lines: tuple[str, ...] = ()
    mark: int = 0
    bar: Bar | None = None

    @property
    def is_plain(self) -> bool:
        """Whether there is only a text in it."""
        return not (self.href or self.lines or self.mark or self.bar)


@dataclass(frozen=True)
class GridRow:
    """A row; the first cell names it. ``run`` is the run's file name, ``name`` what the row is called."""

    cells: tuple[Cell, ...]
    run: str = ""
    name: str = ""


@dataclass(frozen=True)
class Body:
    """Rows that belong together. ``title`` says what they share, ``basis`` what the default view rests on."""

    rows: tuple[GridRow, ...]
    title: str = ""
    basis: str = ""


@dataclass(frozen=True)
class Grid:
    """A table: ``name`` is its id, ``reasons`` say why cells are empty, counted from 1; ``notes`` stand below.

    The first ``n_keys`` cells of a row name it.
    """

    name: str
    caption: str
    heads: tuple[Head, ...]
    bodies: tuple[Body, ...]
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    is_sortable: bool = False
    n_keys: int = 1

    @property
    def number_classes(self) -> str:
        """The classes that set columns of numbers to the right, one for each: "n2 n3"."""
        return " ".join(f"n{place}" for place, head in enumerate(self.heads, 1) if head.is_number) or "words"

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return sum(len(body.rows) for body in self.bodies)


@dataclass
class Reasons:
    """The reasons for the empty cells of one table, each said once."""

    texts: list[str] = field(default_factory=list)

    def mark(self, reason: str) -> int:
        """The number of a reason, from 1."""
        if reason not in self.texts:
            self.texts.append(reason)
        return self.texts.index(reason) + 1

    def empty(self, reason: str) -> Cell:
        """A cell without a number, with the number of its reason."""
        return Cell(NO_NUMBER, mark=self.mark(reason))


def number_value(value: float) -> str:
    """A number to sort by, to six digits; whole numbers are whole."""
    return str(round(value)) if value == round(value) else f"{value:.6g}"


def count_cell(value: int) -> Cell:
    """A whole number."""
    return Cell(str(value), value=str(value))


def moment_text(instant: datetime) -> str:
    """An instant as a reader sees it: "2024-07-01 12:00"."""
    return f"{instant:%Y-%m-%d %H:%M}"


def moment_cell(instant: datetime) -> Cell:
    """An instant (UTC) that sorts."""
    return Cell(moment_text(instant), value=utc_text(instant) or "")


def is_web_link(text: str | None) -> bool:
    """Whether a source is an address that a browser may be sent to."""
    return text is not None and text.startswith(("https://", "http://"))


def sheet_grid(
    table: Table,
    name: str,
    *,
    why: Why | None = None,
    links: Mapping[str, str] | None = None,
    caption: str = "",
    notes: Sequence[str] = (),
) -> Grid:
    """A table of a sheet on a page: the same texts, with a reason for each empty cell and ``links`` for names."""
    shown = [(place, column) for place, column in enumerate(table.columns) if not column.for_programs]
    reasons = Reasons()
    below = (*table.notes, *notes)
    reason_of = why or (lambda _row, column: _unknown(column, below))
    rows = tuple(
        GridRow(
            tuple(
                reasons.empty(reason_of(number, column)) if row[place] is None else _sheet_cell(row[place], column)
                for place, column in shown
            )
        )
        for number, row in enumerate(table.rows)
    )
    return Grid(
        name,
        caption or table.title or table.name or name,
        tuple(Head(heading(column), is_number=column.is_number) for _, column in shown),
        (Body(tuple(_linked(row, links or {}, table.n_keys) for row in rows)),),
        tuple(reasons.texts),
        below,
        n_keys=table.n_keys,
    )


def _unknown(column: Column, notes: Sequence[str]) -> str:
    where = "; what is missing stands under the table" if notes else ""
    return f"{column.heading}: no number{where}"


def _sheet_cell(cell: object, column: Column) -> Cell:
    text = column.text(cell)  # type: ignore[arg-type]  # a cell of this column
    if isinstance(cell, tuple):
        return Cell(text, value=number_value(cell[0]), high=number_value(cell[1]))
    return Cell(text, value=number_value(cell) if isinstance(cell, int | float) else "")


def _linked(row: GridRow, links: Mapping[str, str], n_keys: int) -> GridRow:
    keys = (replace(cell, href=links.get(cell.text, "")) for cell in row.cells[:n_keys])
    return replace(row, cells=(*keys, *row.cells[n_keys:]))


def heading(column: Column) -> str:
    """A heading with the unit of its numbers, which cells do not carry."""
    unit = "points" if column.format.startswith("+") else "%"
    return (
        column.heading
        if column.scale != 100 or unit in column.heading or "%" in column.heading
        else f"{column.heading}, {unit}"
    )
