"""Chains of comparisons: ``1 <= A_i, B_i <= 10^9``, ``0 <= l_i < r_i``, ``1 <= T_1 <= T_2 <= ... <= T_N``. Pure.

A comma stands between the members of a list (``A_i, B_i``) or between two chains (``1 <= x <= H, 1 <= y <= W``). Which
one is seen from what stands around it; where both can be, the text is not understood.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

from eval.made_tests.grammar import Constant, Expression, Extreme, Index, Operation, Reference
from eval.made_tests.reading.expressions import Atom, Operand, Parser, as_it_is
from eval.made_tests.reading.terms import NotUnderstood, first_difference, has_quotient, operation, simplified, spanned
from eval.made_tests.reading.tokens import ELLIPSIS

DOTS = Reference(ELLIPSIS)
"""What stands for an ellipsis among expressions."""

_DOTS = Operand(DOTS)
_TURNED = {">": "<", ">=": "<="}
_MAX_COMMAS = 8
RUN_INDEX = "#"
"""The index of a run: no statement has this name."""


@dataclass(frozen=True)
class Chain:
    """Lists of operands with operators between them; a list alone has none."""

    lists: tuple[tuple[Operand, ...], ...]
    operators: tuple[str, ...]


@dataclass(frozen=True)
class Link:
    """``left operator right`` with an operator of ``< <= == !=``; ``run`` is the range of ``RUN_INDEX`` in it."""

    left: Expression
    operator: str
    right: Expression
    run: Index | None = None


@dataclass(frozen=True)
class Ordered:
    """``of`` does not fall (or rise) while the index ``RUN_INDEX`` in it goes from ``start`` to ``end``."""

    of: Reference
    start: Expression
    end: Expression
    strict: bool
    descending: bool


Relation: TypeAlias = Link | Ordered


def parse_chains(text: str, names: Collection[str], atom: Atom = as_it_is) -> tuple[Chain, ...]:
    """The chains in a text; ``NotUnderstood`` where it is something else, or can be read in two ways."""
    parser = Parser(text, names, atom)
    operands, between = [_operand(parser)], []
    while True:
        separator = "," if parser.accept(",") else parser.operator()
        if separator is None:
            break
        between.append(separator)
        operands.append(_operand(parser))
    parser.at_end()
    return _cut(operands, between)


def relations(text: str, names: Collection[str], atom: Atom = as_it_is) -> tuple[Relation, ...]:
    """What the chains in a text say; ``NotUnderstood`` where one of them says nothing."""
    found: list[Relation] = []
    for chain in parse_chains(text, names, atom):
        if not chain.operators:
            raise NotUnderstood("this compares nothing")
        found += _relations(chain)
    return tuple(found)


def _operand(parser: Parser) -> Operand:
    return _DOTS if parser.accept(ELLIPSIS) else parser.operand()


def _cut(operands: list[Operand], between: list[str]) -> tuple[Chain, ...]:
    """The chains, cut at as few commas as can be."""
    commas = [place for place, separator in enumerate(between) if separator == ","]
    if len(commas) == len(between):
        return (Chain((tuple(operands),), ()),)
    if len(commas) > _MAX_COMMAS:
        if _is_plausible(whole := _chain(operands, between)):
            return (whole,)
        raise NotUnderstood("the commas can be read in several ways")
    for count in range(len(commas) + 1):
        readings = []
        for cuts in combinations(commas, count):
            starts = [0, *(cut + 1 for cut in cuts)]
            ends = [*(cut + 1 for cut in cuts), len(operands)]
            pieces = [
                _chain(operands[start:end], between[start : end - 1]) for start, end in zip(starts, ends, strict=True)
            ]
            if all(_is_plausible(piece) for piece in pieces):
                readings.append(tuple(pieces))
        if len(readings) == 1:
            return readings[0]
        if readings:
            break
    raise NotUnderstood("the commas can be read in several ways")


def _chain(operands: list[Operand], between: list[str]) -> Chain:
    lists: list[list[Operand]] = [[operands[0]]]
    operators = []
    for separator, operand in zip(between, operands[1:], strict=True):
        if separator == ",":
            lists[-1].append(operand)
        else:
            operators.append(separator)
            lists.append([operand])
    return Chain(tuple(tuple(each) for each in lists), tuple(operators))


def _is_plausible(chain: Chain) -> bool:
    """Whether a chain can be meant: it has one list at most, of things to be bounded, near its beginning."""
    if not chain.operators or (len(chain.operators) > 1 and "!=" in chain.operators):
        return False
    long = [place for place, each in enumerate(chain.lists) if len(each) > 1]
    if not long:
        return True
    if len(long) > 1 or (len(chain.operators) > 1 and "==" in chain.operators):
        return False
    place = long[0]
    members = chain.lists[place]
    others = [operand.value for each in chain.lists for operand in each if each is not members]
    if any(isinstance(member.value, Constant) or member.value in others for member in members):
        return False
    if place == 1 and len(chain.operators) > 1 and not isinstance(others[0], Constant):
        raise NotUnderstood("the commas can be read in several ways")
    return place <= 1


def _relations(chain: Chain) -> Iterator[Relation]:
    dots = [place for place, each in enumerate(chain.lists) if each == (_DOTS,)]
    if dots:
        yield from _run(chain, dots)
        return
    if any(_DOTS in each for each in chain.lists):
        yield from _relations(Chain(tuple(_filled(each) for each in chain.lists), chain.operators))
        return
    for left, operator, right in zip(chain.lists, chain.operators, chain.lists[1:], strict=False):
        for one in left:
            for other in right:
                yield link(one, operator, other)


def _filled(members: tuple[Operand, ...]) -> tuple[Operand, ...]:
    """``A_1, A_2, ..., A_N`` as the one member ``A_i``: allowed where the run is all of the list."""
    if _DOTS not in members:
        return members
    of, _, _ = run([each.value for each in members])
    return (Operand(of),)


def run(members: Sequence[Expression], index: str = RUN_INDEX) -> tuple[Expression, Expression, Expression]:
    """What ``A_1, A_2, ..., A_N`` goes through: the term with the index in it, the start and the end.

    The ellipsis is ``DOTS``. ``NotUnderstood`` where the members have no such order.
    """
    place = next((place for place, each in enumerate(members) if each == DOTS), 0)
    if place == 0 or place != len(members) - 2:
        raise NotUnderstood("the ellipsis does not stand before the last of a row")
    ends = first_difference(members[0], members[-1])
    if ends is None:
        raise NotUnderstood("the first and the last of a row are the same")
    start, end = ends
    of = spanned(members[0], members[-1], start, end, index)
    if of == Reference(index) and not isinstance(start, Constant):
        raise NotUnderstood("the members of a row are no elements of one variable")
    for count, middle in enumerate(members[1:place], start=1):
        here = simplified(operation("+", start, Constant(count)))
        if spanned(members[0], middle, start, here, index) != of:
            raise NotUnderstood("the members of a row have different shapes")
    return of, start, end


def _run(chain: Chain, dots: list[int]) -> Iterator[Relation]:
    """A chain with one ellipsis in it: what stands in a row, and what bounds its ends bounds all of it."""
    values = [each[0].value if len(each) == 1 else None for each in chain.lists]
    place = dots[0]
    first = place - 1
    last_value = values[place + 1] if place + 1 < len(values) else None
    if len(dots) > 1 or not isinstance(last_value, Reference):
        raise NotUnderstood("a chain with an ellipsis has no end")
    while first > 0 and _is_same_row(values[first - 1], last_value):
        first -= 1
    members = values[first : place + 2]
    operators = set(chain.operators[first : place + 1])
    if any(each is None for each in members) or len(operators) != 1:
        raise NotUnderstood("a chain with an ellipsis has lists or several operators in it")
    of, start, end = run([each for each in members if each is not None])
    operator = operators.pop()
    if operator not in ("<", "<=", ">", ">=") or not isinstance(of, Reference):
        raise NotUnderstood("what stands in a row is not ordered")
    yield Ordered(of, start, end, strict=len(operator) == 1, descending=operator.startswith(">"))
    all_of = Operand(of)
    before = Chain((*chain.lists[:first], (all_of,)), chain.operators[:first])
    after = Chain(((all_of,), *chain.lists[place + 2 :]), chain.operators[place + 1 :])
    for part, edge in ((before, chain.lists[first]), (after, chain.lists[place + 1])):
        yield from _bounds(part, all_of, edge[0], Index(RUN_INDEX, start, end))


def _bounds(chain: Chain, row: Operand, edge: Operand, index: Index) -> Iterator[Relation]:
    """What a chain says of a row's end: an equation holds for the end, and bounds all of the row."""
    for relation in _relations(chain):
        if not isinstance(relation, Link) or row.value not in (relation.left, relation.right):
            yield relation
        elif relation.operator == "==":
            ends = [edge.value if side == row.value else side for side in (relation.left, relation.right)]
            yield Link(ends[0], "==", ends[1])
            yield Link(relation.left, "<=", relation.right, index)
        else:
            yield Link(relation.left, relation.operator, relation.right, index)


def _is_same_row(value: Expression | None, last: Reference) -> bool:
    return isinstance(value, Reference) and value.name == last.name and len(value.indices) == len(last.indices)


def link(left: Operand, operator: str, right: Operand) -> Link:
    """One comparison, turned to the right; ``NotUnderstood`` where the rounding of a quotient would change it."""
    if operator in _TURNED:
        return link(right, _TURNED[operator], left)
    if left.rounds and not (operator == "<" and _rounds_at_last(left.value)):
        raise NotUnderstood("a quotient that may be no integer")
    if right.rounds and not (operator == "<=" and _rounds_at_last(right.value)):
        raise NotUnderstood("a quotient that may be no integer")
    return Link(left.value, operator, right.value)


def _rounds_at_last(value: Expression) -> bool:
    """Whether the rounding of quotients is the last thing done, so that it changes no comparison with an integer."""
    if isinstance(value, Extreme):
        return all(_rounds_at_last(each) for each in value.of)
    if isinstance(value, Operation) and value.operator == "/":
        return not has_quotient(value.left) and not has_quotient(value.right)
    return not has_quotient(value)
