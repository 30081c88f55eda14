"""The format of an input, from the lines and sentences under "Input": what stands in which line. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from eval.made_tests.grammar import (
    Block,
    Cases,
    Constant,
    Expression,
    Index,
    Line,
    Lines,
    Part,
    Reference,
    Repeated,
    Token,
)
from eval.made_tests.reading.folding import changed
from eval.made_tests.reading.layout import items, read_layout
from eval.made_tests.reading.prose_format import read_prose
from eval.made_tests.reading.scope import PLACES, Shape
from eval.made_tests.reading.statement import Line as Text
from eval.made_tests.reading.statement import prose
from eval.made_tests.reading.terms import NotUnderstood, difference, operation, references, simplified
from eval.made_tests.reading.tex import plain_line
from eval.made_tests.reading.tokens import ELLIPSIS

_PLACEHOLDER = re.compile(r"^(?:quer(?:y|ies)|(?:test)?_?cases?|tests?)$", re.IGNORECASE)
_IS_CASE = re.compile(r"case|test", re.IGNORECASE)
_PIECE = (
    r"(?:(?:query|case|test|testcase)_\{?[a-z]\}?|each (?:test )?(?:case|query)|the [a-z]-th (?:test )?(?:case|query))"
)
_MEANS = rf"{_PIECE}(?: \([^()]*\))?,? (?:represents|denotes|refers to|is) {_PIECE}(?: to be processed)?"
_KNOWN = tuple(
    re.compile(rf"^{pattern}[.:]?$", re.IGNORECASE)
    for pattern in (
        r"(?:the )?input is given (?:from standard input )?in the following format(?: from standard input)?"
        rf"(?:[,.:]? ?(?:where|here),? {_MEANS})?",
        rf"(?:here,? |where )?{_MEANS}(?:,? (?:and )?(?:is )?(?:given )?in the (?:following )?form(?:at)?)?",
        rf"(?:here,? )?{_PIECE}(?: {_PIECE})?(?: \([^()]*\))?,? is (?:given )?in the following format",
        rf"{_MEANS}\. {_PIECE} is (?:given )?in the following format",
    )
)


@dataclass(frozen=True)
class Format:
    """The layout of an input, the shape of each variable, what is said of the values, and what is not understood."""

    blocks: tuple[Block, ...]
    shapes: Mapping[str, Shape]
    per_case: frozenset[str] = frozenset()
    said: tuple[str, ...] = ()
    not_understood: tuple[str, ...] = ()


def read_format(lines: Sequence[Text]) -> Format:
    """The format that the lines under "Input" give, or that the sentences there describe."""
    segments, between = _segments(lines)
    if not segments:
        return _described(lines)
    unknown = tuple(text for text in between if not any(pattern.match(plain_line(text)) for pattern in _KNOWN))
    try:
        blocks, per_case, each = _joined(segments)
        shapes = shapes_of(blocks, each)
    except NotUnderstood:
        shown = (" / ".join(segment) for segment in segments)
        return Format((), {}, not_understood=(*unknown, *shown))
    return Format(blocks, shapes, per_case, not_understood=unknown)


def _described(lines: Sequence[Text]) -> Format:
    """The format that sentences describe."""
    sentences = prose(tuple(lines))
    found = read_prose(sentences)
    nothing = () if found.lines else ("(no format of the input is given)",)
    try:
        blocks, per_case, _ = _joined(found.segments())
        shapes = shapes_of(blocks, frozenset(found.each))
    except NotUnderstood:
        return Format((), {}, not_understood=sentences or nothing)
    return Format(blocks, shapes, per_case, tuple(found.said), (*nothing, *found.unknown))


def _segments(lines: Sequence[Text]) -> tuple[list[list[str]], list[str]]:
    """The lines of the format in pieces, and the sentences between them."""
    has_code = any(line.is_code for line in lines)
    segments: list[list[str]] = []
    prose: list[str] = []
    inside = False
    for line in lines:
        if line.is_code or (not has_code and _is_format(line.text)):
            starts_number = inside and line.begins and segments[-1][0][:1].isdigit()
            if not inside or (line.is_code and line.begins) or starts_number:
                segments.append([])
            segments[-1].append(line.text)
            inside = True
        else:
            prose.append(line.text)
            inside = False
    return segments, prose


def _is_format(text: str) -> bool:
    """Whether a line of plain text is one of the format: names of a letter or two, and such with subscripts."""
    try:
        found = items(text)
    except NotUnderstood:
        return False
    return all(len(item.name) <= 2 or item.subscripts or item.is_number or item.name == ELLIPSIS for item in found)


def _joined(segments: list[list[str]]) -> tuple[tuple[Block, ...], frozenset[str], frozenset[str]]:
    """The blocks of all pieces in one, the names that each case has, and those that each query has."""
    blocks = read_layout(segments[0])
    held = [name for name in _names(blocks) if _PLACEHOLDER.match(name)]
    if len(held) != len(segments) - 1:
        raise NotUnderstood("pieces of the format that have no place in it")
    if not held:
        return blocks, frozenset(), frozenset()
    (name,) = set(held) if len(held) == 1 else ("",)
    inner = read_layout(segments[1], _names(blocks))
    names = frozenset(_names(inner))
    if names & set(_names(blocks)):
        raise NotUnderstood("a name stands inside and outside of a piece")
    if _IS_CASE.search(name):
        return tuple(_with_cases(block, name, inner) for block in blocks), names, frozenset()
    if any(token.of.indices for token in _tokens(inner)):
        raise NotUnderstood("a query with rows")
    return tuple(_with_queries(block, name, inner) for block in blocks), frozenset(), names


def _is_held(block: Block, name: str) -> bool:
    line = Line((Token(Reference(name, (Reference("i"),))),))
    return isinstance(block, Lines) and block.blocks == (line,) and block.index.low == Constant(1)


def _with_cases(block: Block, name: str, inner: tuple[Block, ...]) -> Block:
    if not _is_held(block, name):
        return block
    assert isinstance(block, Lines)
    count = block.index.high
    if not isinstance(count, Reference) or count.indices:
        raise NotUnderstood("the number of cases is no variable")
    return Cases(count, inner)


def _with_queries(block: Block, name: str, inner: tuple[Block, ...]) -> Block:
    if not _is_held(block, name):
        return block
    assert isinstance(block, Lines)
    index = (Reference("i"),)
    names = set(_names(inner))

    def indexed(of: Expression) -> Expression:
        return Reference(of.name, index) if isinstance(of, Reference) and of.name in names else of

    return Lines(tuple(changed(each, indexed) for each in inner), block.index)


def _tokens(blocks: Sequence[Block]) -> Iterator[Token]:
    for token, _, _ in _walked(blocks, ()):
        yield token


def _names(blocks: Sequence[Block]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(token.of.name for token in _tokens(blocks)))


def _walked(
    blocks: Sequence[Block | Part], loops: tuple[Index, ...], together: bool = False
) -> Iterator[tuple[Token, tuple[Index, ...], bool]]:
    """All elements with the indices around them; True for characters that stand together."""
    for block in blocks:
        if isinstance(block, Token):
            yield block, loops, together
        elif isinstance(block, Line):
            yield from _walked(block.parts, loops)
        elif isinstance(block, Repeated):
            yield from _walked(block.parts, (*loops, block.index), not block.separator)
        elif isinstance(block, Lines):
            yield from _walked(block.blocks, (*loops, block.index))
        else:
            yield from _walked(block.blocks, loops)


def _check_order(blocks: Sequence[Block | Part], indices: frozenset[str], seen: set[str]) -> None:
    """``NotUnderstood`` where the number of something is not in the input, or stands behind it."""
    for block in blocks:
        if isinstance(block, Token):
            _check_seen(block.of.indices, indices, seen)
            seen.add(block.of.name)
        elif isinstance(block, Line):
            _check_order(block.parts, indices, seen)
        elif isinstance(block, Cases):
            _check_seen((block.count,), indices, seen)
            _check_order(block.blocks, indices, seen)
        else:
            _check_seen((block.index.low, block.index.high), indices, seen)
            inner = block.parts if isinstance(block, Repeated) else block.blocks
            _check_order(inner, indices | {block.index.name}, seen)


def _check_seen(expressions: Sequence[Expression], indices: frozenset[str], seen: set[str]) -> None:
    for expression in expressions:
        for each in references(expression):
            if each.name not in seen and (each.indices or each.name not in indices):
                raise NotUnderstood(f"{each.name} is not known where it is needed")


def shapes_of(blocks: Sequence[Block], each: frozenset[str]) -> dict[str, Shape]:
    """The shape of each variable of a layout; ``NotUnderstood`` where elements are left out or stand twice."""
    _check_order(blocks, frozenset(), set())
    places: dict[str, list[tuple[tuple[Expression, Expression], ...]]] = {}
    together: dict[str, set[bool]] = {}
    for token, loops, is_character in _walked(blocks, ()):
        ranges = tuple(_range(token.of, place, loops) for place in range(len(token.of.indices)))
        places.setdefault(token.of.name, []).append(ranges)
        together.setdefault(token.of.name, set()).add(is_character)
    shapes = {}
    for name, found in places.items():
        extents, first = _extents(found)
        if len(together[name]) > 1:
            raise NotUnderstood(f"{name} is written in two ways")
        cells = extents[-1] if together[name] == {True} else None
        dimensions = extents[:-1] if cells is not None else extents
        shapes[name] = Shape(dimensions, first, cells, each=name in each)
    return shapes


def _range(of: Reference, place: int, loops: tuple[Index, ...]) -> tuple[Expression, Expression]:
    """The ends of one index of an element."""
    index = of.indices[place]
    if isinstance(index, Constant):
        return index, index
    for loop in loops:
        if index == Reference(loop.name) and loop.name == PLACES[place]:
            return loop.low, loop.high
    raise NotUnderstood(f"an index of {of.name} goes through no range")


def _extents(found: list[tuple[tuple[Expression, Expression], ...]]) -> tuple[tuple[Expression, ...], int]:
    """The extents of a variable that stands at these places, and the first index."""
    if len({len(each) for each in found}) != 1 or len(set(found)) != len(found):
        raise NotUnderstood("a variable stands at two places")
    extents: list[Expression] = []
    firsts: set[int] = set()
    count = 1
    for ranges in zip(*found, strict=True):
        different = list(dict.fromkeys(ranges))
        low, high = _joined_range(different)
        count *= len(different)
        firsts.add(low)
        extents.append(simplified(operation("+", operation("-", high, Constant(low)), Constant(1))))
    if count != len(found) or len(firsts) > 1:
        raise NotUnderstood("a variable has gaps, or indices that begin at different numbers")
    return tuple(extents), firsts.pop() if firsts else 1


def _joined_range(ranges: list[tuple[Expression, Expression]]) -> tuple[int, Expression]:
    """The one range that ranges make which follow each other."""
    low, high = ranges[0]
    for after, end in ranges[1:]:
        if difference(after, high) != 1:
            raise NotUnderstood("the elements of a variable do not follow each other")
        high = end
    if not isinstance(low, Constant):
        raise NotUnderstood("where a row begins depends on its place")
    return low.value, high
