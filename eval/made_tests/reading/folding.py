"""Rows of a format around an ellipsis that goes down, as one block that repeats. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from eval.made_tests.grammar import Block, Constant, Expression, Index, Line, Lines, Part, Reference, Repeated, Token
from eval.made_tests.reading.scope import PLACES
from eval.made_tests.reading.terms import (
    NotUnderstood,
    difference,
    first_difference,
    references,
    replaced,
    simplified,
    spanned,
)

HERE = "#"
"""The index of what is being folded: no statement has this name."""

_MAX_BLOCK_LINES = 6


def folded(rows: Sequence[Block | None]) -> tuple[Block, ...]:
    """The rows with every ellipsis (None) and what stands around it as one block.

    ``NotUnderstood`` where an ellipsis has no rows around it that are alike.
    """
    waiting = list(rows)
    while None in waiting:
        for place in [place for place, row in enumerate(waiting) if row is None]:
            if found := _folded_at(waiting, place):
                waiting = found
                break
        else:
            raise NotUnderstood("what repeats downwards is not clear")
    return tuple(row for row in waiting if row is not None)


def place_name(of: Reference) -> str:
    """What the index is called that stands for itself in a reference."""
    for place, index in enumerate(of.indices):
        if index == Reference(HERE) and place < len(PLACES):
            return PLACES[place]
    raise NotUnderstood("a row goes over no index")


def changed(block: Block, change: Callable[[Expression], Expression]) -> Block:
    """The lines with each of their expressions changed."""
    if isinstance(block, Line):
        return Line(tuple(_changed_part(part, change) for part in block.parts))
    if isinstance(block, Lines):
        return Lines(tuple(changed(each, change) for each in block.blocks), _changed_index(block.index, change))
    raise NotUnderstood("test cases in test cases")


def _changed_part(part: Part, change: Callable[[Expression], Expression]) -> Part:
    if isinstance(part, Token):
        of = change(part.of)
        assert isinstance(of, Reference)
        return Token(of)
    parts = tuple(_changed_part(each, change) for each in part.parts)
    return Repeated(parts, _changed_index(part.index, change), part.separator)


def _changed_index(index: Index, change: Callable[[Expression], Expression]) -> Index:
    return Index(index.name, change(index.low), change(index.high))


def _folded_at(rows: list[Block | None], place: int) -> list[Block | None] | None:
    for size in range(1, min(_MAX_BLOCK_LINES, place, len(rows) - place - 1) + 1):
        before, after = rows[place - size : place], rows[place + 1 : place + 1 + size]
        first, last = [row for row in before if row], [row for row in after if row]
        if len(first) < size or len(last) < size:
            return None
        for form in (_as_it_is, _in_runs):
            try:
                lines, begin = _block(rows, place - size, [form(row) for row in first], [form(row) for row in last])
            except NotUnderstood:
                continue
            return [*rows[:begin], lines, *rows[place + 1 + size :]]
    return None


def _block(rows: list[Block | None], begin: int, first: list[Block], last: list[Block]) -> tuple[Lines, int]:
    """The block that is ``first`` (rows from ``begin`` on) and ``last`` at its ends, and where it really begins."""
    ends = next((found for one, other in zip(first, last, strict=True) if (found := _difference(one, other))), None)
    if ends is None or not isinstance(ends[0], Constant):
        raise NotUnderstood("what repeats downwards has no numbers")
    start = ends[0].value
    template = tuple(_spanned(one, other, ends[0], ends[1]) for one, other in zip(first, last, strict=True))
    size = len(template)
    while begin >= size:
        expected = [_in_runs(_at(each, start - 1)) for each in template]
        if [_in_runs(row) if row else None for row in rows[begin - size : begin]] != expected:
            break
        begin, start = begin - size, start - 1
    name = _name(template)
    blocks = tuple(changed(each, lambda of: replaced(of, {HERE: Reference(name)})) for each in template)
    return Lines(blocks, Index(name, Constant(start), ends[1])), begin


def _at(block: Block, value: int) -> Block:
    return changed(block, lambda of: simplified(replaced(of, {HERE: Constant(value)})))


def _as_it_is(block: Block) -> Block:
    return block


def _in_runs(block: Block) -> Block:
    """The block with elements of tables as runs: ``A_{2,1} A_{2,2}`` goes from 1 to 2, ``A_{1,1}`` from 1 to 1."""
    if not isinstance(block, Line):
        return block
    parts: list[Part] = []
    for part in block.parts:
        if not isinstance(part, Token) or len(part.of.indices) < 2:
            parts.append(part)
            continue
        last = part.of.indices[-1]
        name = PLACES[min(len(part.of.indices), len(PLACES)) - 1]
        element = Token(Reference(part.of.name, (*part.of.indices[:-1], Reference(name))))
        before = parts[-1] if parts else None
        if isinstance(before, Repeated) and before.parts == (element,) and difference(last, before.index.high) == 1:
            parts[-1] = Repeated((element,), Index(name, before.index.low, last))
        else:
            parts.append(Repeated((element,), Index(name, last, last)))
    return Line(tuple(parts))


def _difference(first: Block | Part, last: Block | Part) -> tuple[Expression, Expression] | None:
    """The first two different places in elements of the variables."""
    if isinstance(first, Token) and isinstance(last, Token):
        return first_difference(first.of, last.of)
    for one, other in zip(_inside(first), _inside(last), strict=False):
        if found := _difference(one, other):
            return found
    return None


def _inside(of: Block | Part) -> Sequence[Block | Part]:
    if isinstance(of, Line | Repeated):
        return of.parts
    return of.blocks if isinstance(of, Lines) else ()


def _spanned(first: Block, last: Block, start: Expression, end: Expression) -> Block:
    if isinstance(first, Line) and isinstance(last, Line) and len(first.parts) == len(last.parts):
        pairs = zip(first.parts, last.parts, strict=True)
        return Line(tuple(_spanned_part(one, other, start, end) for one, other in pairs))
    if isinstance(first, Lines) and isinstance(last, Lines) and len(first.blocks) == len(last.blocks):
        blocks = zip(first.blocks, last.blocks, strict=True)
        index = _spanned_index(first.index, last.index, start, end)
        return Lines(tuple(_spanned(one, other, start, end) for one, other in blocks), index)
    raise NotUnderstood("rows have different shapes")


def _spanned_part(first: Part, last: Part, start: Expression, end: Expression) -> Part:
    if isinstance(first, Token) and isinstance(last, Token):
        of = spanned(first.of, last.of, start, end, HERE)
        if isinstance(of, Reference) and of.name != HERE:
            return Token(of)
    elif isinstance(first, Repeated) and isinstance(last, Repeated) and len(first.parts) == len(last.parts):
        pairs = zip(first.parts, last.parts, strict=True)
        parts = tuple(_spanned_part(one, other, start, end) for one, other in pairs)
        if first.separator == last.separator:
            return Repeated(parts, _spanned_index(first.index, last.index, start, end), first.separator)
    raise NotUnderstood("rows have different shapes")


def _spanned_index(first: Index, last: Index, start: Expression, end: Expression) -> Index:
    if first.name != last.name:
        raise NotUnderstood("rows have different shapes")
    low = simplified(spanned(first.low, last.low, start, end, HERE))
    return Index(first.name, low, simplified(spanned(first.high, last.high, start, end, HERE)))


def _name(blocks: Sequence[Block | Part]) -> str:
    """What the index of the blocks is called, from the first element that it stands in."""
    for block in blocks:
        if isinstance(block, Token):
            if any(each.name == HERE for index in block.of.indices for each in references(index)):
                return place_name(block.of)
        else:
            try:
                return _name(_inside(block))
            except NotUnderstood:
                continue
    raise NotUnderstood("what repeats downwards has no index")
