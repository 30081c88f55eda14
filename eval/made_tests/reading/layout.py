"""The lines of a format, ``A_1 A_2 ... A_N`` and rows above an ellipsis, as blocks that repeat. Pure.

A repeated part gets the index of the place at which it stands in the variables: A_{i,j} goes over i downwards, j to the
right. Characters that stand together, ``S_{1,1}S_{1,2}...S_{1,W}``, are repeated without a separator.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from eval.made_tests.grammar import Block, Expression, Index, Line, Part, Reference, Repeated, Token
from eval.made_tests.reading.expressions import parse_list
from eval.made_tests.reading.folding import HERE, folded, place_name
from eval.made_tests.reading.relations import DOTS, run
from eval.made_tests.reading.terms import NotUnderstood, replaced
from eval.made_tests.reading.tex import plain_line
from eval.made_tests.reading.tokens import ELLIPSIS, tokens
from eval.made_tests.reading.tokens import Token as Sign

VERTICAL = "⋮"
_MAX_LINES, _MAX_ITEMS = 80, 60


@dataclass(frozen=True)
class Item:
    """What stands in a line of a format: a name with its subscripts as they are written, a number, or an ellipsis.

    ``glued``: nothing stands between it and what comes before.
    """

    name: str
    subscripts: tuple[str, ...] = ()
    glued: bool = False

    @property
    def is_number(self) -> bool:
        """Whether it stands for itself."""
        return self.name.isdigit()


_DOTS = Item(ELLIPSIS)


def read_layout(lines: Sequence[str], outside: Collection[str] = ()) -> tuple[Block, ...]:
    """The blocks of a format's lines; ``outside`` are the names of variables that come from around it."""
    if len(lines) > _MAX_LINES:
        raise NotUnderstood("the format is too long")
    found = [items(line) for line in lines]
    names = names_of(found, outside)
    rows: list[Block | None] = [None if each == [_DOTS] else Line(_parts(each, names)) for each in found]
    return folded(rows)


def items(line: str) -> list[Item]:
    """What stands in a line; ``NotUnderstood`` where it is no line of a format."""
    text = plain_line(line)
    if text in (VERTICAL, ELLIPSIS, ":"):
        return [_DOTS]
    signs = tokens(text)
    found: list[Item] = []
    place = 0
    while place < len(signs):
        glued = place > 0 and signs[place].start == signs[place - 1].end
        if signs[place].text == ELLIPSIS:
            found.append(_DOTS)
            place += 1
        elif signs[place].kind == "number":
            found.append(Item(signs[place].text, glued=glued))
            place += 1
        elif signs[place].kind == "word":
            item, place = _named(text, signs, place, glued)
            found.append(item)
        else:
            raise NotUnderstood(f"{signs[place].text!r} in a line of the format")
    if not 0 < len(found) <= _MAX_ITEMS:
        raise NotUnderstood("a line of the format is empty or too long")
    return found


def _named(text: str, signs: list[Sign], place: int, glued: bool) -> tuple[Item, int]:
    name = signs[place].text
    subscripts: list[str] = []
    place += 1
    while place < len(signs) and signs[place].text in ("_", "["):
        if signs[place].text == "[":
            inside, place = _bracketed(text, signs, place, "[", "]")
        elif place + 1 == len(signs):
            raise NotUnderstood("a subscript is missing")
        elif signs[place + 1].text == "{":
            inside, place = _bracketed(text, signs, place + 1, "{", "}")
        else:
            inside, place = _short_subscript(signs, place + 1)
        subscripts.append(inside)
    return Item(name, tuple(subscripts), glued), place


def _bracketed(text: str, signs: list[Sign], place: int, opening: str, closing: str) -> tuple[str, int]:
    depth = 0
    for end in range(place, len(signs)):
        depth += (signs[end].text == opening) - (signs[end].text == closing)
        if depth == 0:
            return text[signs[place].end : signs[end].start], end + 1
    raise NotUnderstood("a subscript has no end")


def _short_subscript(signs: list[Sign], place: int) -> tuple[str, int]:
    """A number, or one letter where what follows the letter has a subscript of its own."""
    sign = signs[place]
    has_more = place + 1 < len(signs) and signs[place + 1].text in ("_", "[")
    if sign.kind == "word" and len(sign.text) > 1 and has_more:
        signs[place] = Sign("word", sign.text[1:], sign.start + 1, sign.end)
        return sign.text[0], place
    if sign.kind not in ("word", "number"):
        raise NotUnderstood("a subscript is missing")
    return sign.text, place + 1


def names_of(lines: Sequence[Sequence[Item]], outside: Collection[str] = ()) -> frozenset[str]:
    """All names in the lines of a format. A subscript that is no variable and no number belongs to the name."""
    named = [item for line in lines for item in line if item != _DOTS and not item.is_number]
    bare = {item.name for item in named if not item.subscripts} | set(outside)
    return frozenset(bare | {_full_name(item, bare) for item in named})


def _full_name(item: Item, known: Collection[str]) -> str:
    if len(item.subscripts) == 1 and item.subscripts[0].isalpha() and item.subscripts[0] not in known:
        return f"{item.name}_{item.subscripts[0]}"
    return item.name


def _reference(item: Item, names: Collection[str]) -> Reference:
    full_name = _full_name(item, ())
    if item.is_number:
        raise NotUnderstood("a number stands in the format")
    if not item.subscripts or (full_name != item.name and full_name in names):
        return Reference(full_name)
    indices: list[Expression] = []
    for subscript in item.subscripts:
        for index in parse_list(subscript, names):
            if isinstance(index, str):
                raise NotUnderstood("an ellipsis in a subscript")
            indices.append(index)
    return Reference(item.name, tuple(indices))


def _parts(line: list[Item], names: Collection[str]) -> tuple[Part, ...]:
    """The parts of one line: single elements, runs with an ellipsis, and characters that stand together."""
    parts: list[Part] = []
    place = 0
    while place < len(line):
        end = place + 1
        while end < len(line) and line[end].glued:
            end += 1
        members = [_reference(item, names) for item in line[place:end]]
        is_glued = len(members) > 1
        if end < len(line) and line[end] == _DOTS:
            if not is_glued:
                members = [*_taken(parts, members[0]), *members]
            if end + 1 == len(line):
                raise NotUnderstood("an ellipsis has no end")
            parts.append(_run(members, _reference(line[end + 1], names), "" if is_glued else " "))
            end += 2
        elif is_glued:
            parts.append(_run(members[:-1], members[-1], ""))
        else:
            parts.append(Token(members[0]))
        place = end
    return tuple(parts)


def _taken(parts: list[Part], last: Reference) -> list[Reference]:
    """The elements of the same variable that end the parts, taken off them."""
    taken: list[Reference] = []
    while parts:
        part = parts[-1]
        if not isinstance(part, Token) or part.of.name != last.name or len(part.of.indices) != len(last.indices):
            break
        taken.insert(0, part.of)
        parts.pop()
    return taken


def _run(members: list[Reference], last: Reference, separator: str) -> Repeated:
    of, start, end = run([*members, DOTS, last], HERE)
    if not isinstance(of, Reference):
        raise NotUnderstood("a row of what is no variable")
    name = place_name(of)
    element = replaced(of, {HERE: Reference(name)})
    assert isinstance(element, Reference)
    return Repeated((Token(element),), Index(name, start, end), separator)
