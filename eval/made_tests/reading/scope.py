"""What the names of a statement's input stand for, and comparisons that hold for all values of their indices. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from eval.made_tests.grammar import Comparison, Constant, Expression, Index, Reference, Sum
from eval.made_tests.reading.terms import (
    NotUnderstood,
    difference,
    linear,
    operation,
    parts,
    references,
    replaced,
    simplified,
)

PLACES = ("i", "j", "k", "l")
"""What the indices of a variable are called in the extents of its later dimensions."""
_LEAST_LETTERS = 3


@dataclass(frozen=True)
class Shape:
    """A variable's dimensions. ``cells``: how many characters its strings have, where each has an index in the layout.

    ``each``: the name stands without its index where the statement speaks of one query.
    """

    dimensions: tuple[Expression, ...] = ()
    first_index: int = 1
    cells: Expression | None = None
    each: bool = False


Scope: TypeAlias = Mapping[str, Shape]


@dataclass(frozen=True)
class Qualifier:
    """For which indices something is said: ranges, and pairs of indices with "!=" or "<" between them."""

    ranges: tuple[Index, ...] = ()
    pairs: tuple[tuple[str, str, str], ...] = ()

    def joined(self, other: Qualifier) -> Qualifier:
        """Both together; ``NotUnderstood`` where they give one index two ranges."""
        if {index.name for index in self.ranges} & {index.name for index in other.ranges}:
            raise NotUnderstood("an index has two ranges")
        return Qualifier(self.ranges + other.ranges, self.pairs + other.pairs)

    def ordered(self) -> Qualifier:
        """The same with i < j as a range of j that begins after i; ``NotUnderstood`` for i != j."""
        ranges = {index.name: index for index in self.ranges}
        for first, operator, second in self.pairs:
            one, other = ranges.get(first), ranges.get(second)
            if operator != "<" or one is None or other is None or difference(one.low, other.low) != 0:
                raise NotUnderstood("something is said of different indices")
            after = simplified(operation("+", Reference(first), Constant(1)))
            ranges[second] = Index(second, after, other.high)
        return Qualifier(tuple(ranges.values()))


def compared(left: Expression, operator: str, right: Expression, scope: Scope, said: Qualifier) -> Comparison:
    """The comparison for all values of its indices. ``NotUnderstood`` for a name that stands for nothing."""
    left, right = indexed(left, scope), indexed(right, scope)
    return Comparison(left, operator, right, indices_of((left, right), scope, said))


def indexed(expression: Expression, scope: Scope) -> Expression:
    """The expression with an index at names that stand for what each query has."""
    bare = {
        each.name: Reference(each.name, (Reference(free_letters(scope)[0]),))
        for each in references(expression)
        if not each.indices and each.name in scope and scope[each.name].each
    }
    return replaced(expression, bare)


def free_letters(scope: Scope, used: Collection[str] = ()) -> list[str]:
    """Letters for indices that nothing else has; ``NotUnderstood`` where there are too few."""
    free = [letter for letter in "ijkpqxyz" if letter not in scope and letter not in used]
    if len(free) < _LEAST_LETTERS:
        raise NotUnderstood("the input has too many names")
    return free


def indices_of(expressions: Iterable[Expression], scope: Scope, said: Qualifier) -> tuple[Index, ...]:
    """The indices that are free in the expressions with their ranges, those that others need first."""
    found = [each for expression in expressions for each in _walked(expression, frozenset())]
    names = _index_names(found, scope, said)
    ranges = {index.name: index for index in said.ranges}
    by_name = {name: ranges.get(name) or _usual_range(name, found, scope) for name in names}
    for reference, bound in found:
        _check(reference, scope, by_name.keys() | bound)
    return tuple(_sorted_by_need(by_name))


def _walked(expression: Expression, bound: frozenset[str]) -> Iterator[tuple[Reference, frozenset[str]]]:
    """All references in an expression, each with the indices that sums around it bind."""
    if isinstance(expression, Reference):
        yield expression, bound
    inside = bound | {expression.index.name} if isinstance(expression, Sum) else bound
    for place, part in enumerate(parts(expression)):
        yield from _walked(part, bound if place < 2 else inside)


def _index_names(found: list[tuple[Reference, frozenset[str]]], scope: Scope, said: Qualifier) -> list[str]:
    """The free indices in the order in which they come: what stands in a place of indices, or is said to be one."""
    names: list[str] = []
    ranged = {index.name for index in said.ranges}
    for reference, bound in found:
        for index in reference.indices:
            names += [each.name for each in references(index) if _is_index(each, scope) and each.name not in bound]
        if not reference.indices and reference.name in ranged - bound:
            names.append(reference.name)
    return list(dict.fromkeys(names))


def _is_index(reference: Reference, scope: Scope) -> bool:
    if reference.indices:
        return False
    shape = scope.get(reference.name)
    return shape is None or bool(shape.dimensions)


def _check(reference: Reference, scope: Scope, indices: Collection[str]) -> None:
    if not reference.indices and reference.name in indices:
        return
    shape = scope.get(reference.name)
    if shape is None:
        raise NotUnderstood(f"{reference.name} is no name of the input")
    given, needed = len(reference.indices), len(shape.dimensions)
    if given != needed and not (given == needed + 1 and shape.cells is not None):
        raise NotUnderstood(f"{reference.name} has {given} indices where it has {needed} dimensions")


def _usual_range(name: str, found: list[tuple[Reference, frozenset[str]]], scope: Scope) -> Index:
    """The range of an index that is not said: all for which each element that is named exists."""
    lows: list[Expression] = []
    highs: list[Expression] = []
    for reference, _ in found:
        for place, index in enumerate(reference.indices):
            terms, constant = linear(index)
            if terms != {Reference(name): 1} or reference.name not in scope:
                continue
            low, high = ends(reference, place, scope)
            lows.append(simplified(operation("-", low, Constant(constant))))
            highs.append(simplified(operation("-", high, Constant(constant))))
    if not lows:
        raise NotUnderstood(f"nothing says what {name} goes through")
    return Index(name, _outermost(lows, greatest=True), _outermost(highs, greatest=False))


def ends(reference: Reference, place: int, scope: Scope) -> tuple[Expression, Expression]:
    """The first and the last index of a variable's dimension, for the indices of the dimensions before it."""
    shape = scope.get(reference.name)
    if shape is None:
        raise NotUnderstood(f"{reference.name} is no name of the input")
    before = dict(zip(PLACES, reference.indices[:place], strict=False))
    if place < len(shape.dimensions):
        extent = replaced(shape.dimensions[place], before)
    elif shape.cells is not None:
        extent = replaced(shape.cells, before)
    else:
        raise NotUnderstood(f"{reference.name} has no such dimension")
    first = Constant(shape.first_index)
    return first, simplified(operation("-", operation("+", extent, first), Constant(1)))


def _outermost(of: list[Expression], *, greatest: bool) -> Expression:
    chosen = of[0]
    for each in of[1:]:
        apart = difference(each, chosen)
        if apart is None:
            raise NotUnderstood("an index goes through rows of different lengths")
        if (apart > 0) == greatest:
            chosen = each
    return chosen


def _sorted_by_need(ranges: Mapping[str, Index]) -> Iterator[Index]:
    waiting = dict(ranges)
    while waiting:
        ready = [name for name, index in waiting.items() if not _needs(index) & waiting.keys() - {name}]
        if not ready:
            raise NotUnderstood("the ranges of indices need each other")
        for name in ready:
            yield waiting.pop(name)


def _needs(index: Index) -> set[str]:
    return {each.name for end in (index.low, index.high) for each in references(end) if not each.indices}
