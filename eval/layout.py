"""Columns of texts in lines of a terminal: side by side as far as the width goes, the others below. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

GAP = "  "
FEWEST = 20
"""Characters that a column of words has at least, where it has that much to say."""
_BREAKS = "-_/"
_CLOSING = ",;"


@dataclass(frozen=True)
class TextColumn:
    """A heading and the cells under it. Numbers stand to the right and are never folded, words to the left.

    What ``is_whole`` is never folded either: a command to copy.
    """

    heading: str
    cells: tuple[str, ...]
    is_number: bool = False
    is_whole: bool = False

    @property
    def is_foldable(self) -> bool:
        """Whether its cells may take several lines."""
        return not (self.is_number or self.is_whole)

    def width(self, *, fold_heading: bool = False) -> int:
        """The characters that it takes with no cell folded, by request with its heading over several lines."""
        parts = re.split(r"(?<=/)| ", self.heading) if fold_heading else [self.heading]
        return max(1, *map(len, parts), *map(len, self.cells))


@dataclass(frozen=True)
class Line:
    """A line of a table."""

    text: str
    is_heading: bool = False


def lay_out(columns: Sequence[TextColumn], width: int, n_keys: int = 1) -> Iterator[Line]:
    """The columns in lines of at most ``width``, where numbers and what is whole allow it.

    Columns that do not fit stand below, beside the first ``n_keys`` again, which name the row. Headings are folded
    before words are, and words at spaces before they are broken.
    """
    widths = _widths(columns, width, n_keys)
    groups = list(_groups(columns, widths, width, n_keys))
    _widen(columns, widths, groups, width, n_keys)
    for number, places in enumerate(groups):
        if number:
            yield Line("")
        headings = [folded(columns[place].heading, widths[place]) for place in places]
        tallest = max(map(len, headings))
        over = [[""] * (tallest - len(lines)) + lines for lines in headings]
        yield from (Line(text, is_heading=True) for text in _beside(columns, widths, places, over))
        for row in range(len(columns[0].cells)):
            cells = [_in_lines(columns[place], row, widths[place]) for place in places]
            yield from (Line(text) for text in _beside(columns, widths, places, cells))


def folded(text: str, width: int) -> list[str]:
    """A text in lines of at most ``width``: at spaces; a word that is longer, after "-", "_" or "/", or else anywhere.

    No line begins with a comma.
    """
    lines: list[str] = []
    line = ""
    for word in text.split():
        if line and len(line) + 1 + len(word) <= width:
            line += f" {word}"
            continue
        *full, last = _pieces(word, width)
        lines += [*([line] if line else []), *full]
        line = last
    return [*lines, line]


def _pieces(word: str, width: int) -> Iterator[str]:
    while len(word) > width:
        cut = max(word.rfind(mark, 0, width) for mark in _BREAKS) + 1 or width
        while cut < width and word[cut] in _CLOSING:
            cut += 1
        while cut > 1 and word[cut] in _CLOSING:
            cut -= 1
        yield word[:cut]
        word = word[cut:]
    yield word


def _in_lines(column: TextColumn, row: int, width: int) -> list[str]:
    cell = column.cells[row]
    return folded(cell, width) if column.is_foldable else [cell]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _widths(columns: Sequence[TextColumn], width: int, n_keys: int) -> list[int]:
    """The width of each column; where not all fit side by side, headings are folded first, then what names the row."""
    whole = [column.width() for column in columns]
    if _total(whole) <= width:
        return whole
    widths = [column.width(fold_heading=True) for column in columns]
    if _total(widths) <= width:
        return widths
    room = width - (_total(widths) - sum(widths[:n_keys]))
    each = room // n_keys if room >= n_keys * FEWEST else max(FEWEST // n_keys, width // (n_keys + 2))
    if len(columns) == n_keys:
        each = max(1, room // n_keys)
    for place in range(n_keys):
        if columns[place].is_foldable:
            widths[place] = min(widths[place], each)
    return widths


def _groups(columns: Sequence[TextColumn], widths: list[int], width: int, n_keys: int) -> Iterator[list[int]]:
    """Which columns stand side by side, the keys in each; words that are too wide for what is left get folded."""
    keys = list(range(n_keys))
    group, left = list(keys), width - _total(widths[:n_keys])
    for place in range(n_keys, len(columns)):
        room = left - len(GAP)
        narrowest = min(widths[place], FEWEST) if columns[place].is_foldable else widths[place]
        if narrowest > room and len(group) > n_keys:
            yield group
            group, left = list(keys), width - _total(widths[:n_keys])
            room = left - len(GAP)
        if columns[place].is_foldable:
            widths[place] = min(widths[place], max(FEWEST, room))
        group.append(place)
        left -= len(GAP) + widths[place]
    yield group


def _widen(
    columns: Sequence[TextColumn], widths: list[int], groups: Sequence[Sequence[int]], width: int, n_keys: int
) -> None:
    """Give away what is left of the width: to what names the row, then to headings, the nearest to whole first."""
    used = [_total([widths[place] for place in places]) for places in groups]
    needs = [columns[place].width() - widths[place] for place in range(n_keys)]
    for _ in range(max(0, min(width - one for one in used))):
        key = max(range(n_keys), key=needs.__getitem__)
        if needs[key] > 0:
            needs[key] -= 1
            widths[key] += 1
            used = [one + 1 for one in used]
    for places, taken in zip(groups, used, strict=True):
        left = width - taken
        for need, place in sorted((len(columns[place].heading) - widths[place], place) for place in places[n_keys:]):
            if 0 < need <= left:
                widths[place] += need
                left -= need


def _beside(
    columns: Sequence[TextColumn], widths: Sequence[int], places: Sequence[int], cells: Sequence[Sequence[str]]
) -> Iterator[str]:
    """Cells beside each other, over as many lines as the longest of them takes."""
    for number in range(max(map(len, cells))):
        parts = []
        for place, lines in zip(places, cells, strict=True):
            part = lines[number] if number < len(lines) else ""
            parts.append(part.rjust(widths[place]) if columns[place].is_number else part.ljust(widths[place]))
        yield GAP.join(parts).rstrip()
