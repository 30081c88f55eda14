"""How texts and tables of a difference are cut to what can be read. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from eval.report import utc_text
from eval.sheets import NO_NUMBER, Cell, Column, Table

N_SHOWN = 12
"""So many ids or rows of one kind are shown; the others are counted, and are in the JSON form."""

LONGEST, LONGEST_REASON, LONGEST_ID = 900, 200, 48
"""So many characters of a line, of a reason and of an id are shown."""


def cut(
    title: str,
    columns: tuple[Column, ...],
    rows: Sequence[tuple[Cell, ...]],
    *,
    n_keys: int = 1,
    name: str = "",
) -> Table:
    """A table of the first rows, and how many more there are."""
    more = len(rows) - N_SHOWN
    notes = (f"and {more} more, which the JSON form has",) if more > 0 else ()
    return Table(title, columns, tuple(rows[:N_SHOWN]), notes, n_keys, name)


def plain(text: str, longest: int = LONGEST) -> str:
    """One line without characters that a terminal obeys, of a length that can be read."""
    line = " ".join("".join(one if one.isprintable() else " " for one in text).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def instant(at: datetime) -> str:
    """An instant as text."""
    return utc_text(at) or NO_NUMBER
