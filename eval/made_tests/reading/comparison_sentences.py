"""Chains of comparisons as constraints: for all of their indices, with orders and differences seen as such. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from eval.made_tests.grammar import (
    Comparison,
    Constant,
    Distinct,
    Expression,
    Index,
    Reference,
    Sorted,
    Sum,
    SumAtMost,
)
from eval.made_tests.reading.relations import RUN_INDEX, Link, Ordered, Relation, relations
from eval.made_tests.reading.said import Fact
from eval.made_tests.reading.scope import Qualifier, Scope, compared, ends, free_letters, indices_of
from eval.made_tests.reading.terms import NotUnderstood, difference, operation, references, replaced, simplified

RUN = Reference(RUN_INDEX)
_MOST_DIMENSIONS = 2


def read_comparisons(text: str, scope: Scope, said: Qualifier) -> list[Fact] | None:
    """What chains of comparisons say; None for a sentence that has none."""
    if not re.search(r"[<>=]", text):
        return None
    parts = re.split(r",? and ", text)
    if not all(re.search(r"[<>=]", part) for part in parts):
        parts = [text]
    found: list[Fact] = []
    for part in parts:
        for relation in relations(part, scope.keys()):
            found += facts_of(relation, scope, said)
    return found


def facts_of(relation: Relation, scope: Scope, said: Qualifier) -> Iterator[Fact]:
    """What one comparison or one order says, for all of its indices."""
    if isinstance(relation, Ordered):
        yield _ordered(relation, scope, said.ordered())
    elif (distinct := _distinct(relation, scope, said)) is not None:
        yield distinct
    else:
        yield _compared(relation, scope, said.ordered())


def _ordered(relation: Ordered, scope: Scope, said: Qualifier) -> Fact:
    of = relation.of
    letter = free_letters(scope, [each.name for each in references(of)])[0]
    here = Reference(letter)
    place = next(place for place, index in enumerate(of.indices) if RUN in references(index))
    element = _element(of, here)
    whole_range = ends(element, place, scope)
    is_whole = all(
        difference(one, other) == 0 for one, other in zip((relation.start, relation.end), whole_range, strict=True)
    )
    low, high = relation.start, simplified(operation("-", relation.end, Constant(1)))
    said = said.joined(Qualifier((Index(letter, low, high),)))
    after = _element(of, simplified(operation("+", here, Constant(1))))
    sides = (after, element) if relation.descending else (element, after)
    comparison = compared(sides[0], "<" if relation.strict else "<=", sides[1], scope, said)
    others = [index for index in comparison.indices if index.name != letter]
    if is_whole and of.indices[place] == RUN and place == len(of.indices) - 1 and _are_whole(others, element, scope):
        return Sorted(of.name, relation.descending, relation.strict)
    return comparison


def _element(of: Reference, index: Expression) -> Reference:
    element = replaced(of, {RUN.name: index})
    assert isinstance(element, Reference)
    return element


def _are_whole(indices: list[Index], element: Reference, scope: Scope) -> bool:
    """Whether the indices other than the last go through all rows."""
    for index in indices:
        places = [place for place, each in enumerate(element.indices) if each == Reference(index.name)]
        if len(places) != 1:
            return False
        low, high = ends(element, places[0], scope)
        if difference(low, index.low) != 0 or difference(high, index.high) != 0:
            return False
    return len(indices) == len(element.indices) - 1


def _distinct(relation: Link, scope: Scope, said: Qualifier) -> Distinct | None:
    """``A_i != A_j``: any two elements differ; None for another comparison."""
    left, right = relation.left, relation.right
    if relation.operator != "!=" or not isinstance(left, Reference) or not isinstance(right, Reference):
        return None
    if left.name != right.name or len(left.indices) != len(right.indices):
        return None
    different = [place for place, (a, b) in enumerate(zip(left.indices, right.indices, strict=True)) if a != b]
    if len(different) != 1:
        return None
    place = different[0]
    pair = pair_of(left.indices[place], right.indices[place], scope, said)
    if pair is None:
        return None
    if place != len(left.indices) - 1 or len(left.indices) > _MOST_DIMENSIONS:
        raise NotUnderstood("columns are different")
    ranges = {index.name: index for index in said.ranges}
    for where, index in enumerate(left.indices):
        letter = index.name if isinstance(index, Reference) else ""
        for name in pair if where == place else (letter,):
            check_range(ranges.get(name), left, where, scope)
    return Distinct((left.name,), within_row=len(left.indices) > 1)


def pair_of(one: Expression, other: Expression, scope: Scope, said: Qualifier) -> tuple[str, str] | None:
    """Two index letters that are said to be different, or of which nothing is said; None for other indices."""
    if not isinstance(one, Reference) or not isinstance(other, Reference) or one.indices or other.indices:
        return None
    if any(each.name in scope and not scope[each.name].dimensions for each in (one, other)):
        return None
    names = {one.name, other.name}
    if said.pairs and names not in [{first, second} for first, _, second in said.pairs]:
        raise NotUnderstood("other indices are said to be different")
    return one.name, other.name


def check_range(said: Index | None, of: Reference, place: int, scope: Scope) -> None:
    """``NotUnderstood`` where a range leaves elements of a variable out."""
    if said is None:
        return
    low, high = ends(of, place, scope)
    if difference(said.low, low) != 0 or difference(said.high, high) != 0:
        raise NotUnderstood("something is said of some elements only")


def _compared(relation: Link, scope: Scope, said: Qualifier) -> Fact:
    left, right = relation.left, relation.right
    if relation.run:
        letter = free_letters(scope, [each.name for side in (left, right) for each in references(side)])[0]
        left, right = (replaced(side, {RUN.name: Reference(letter)}) for side in (left, right))
        said = said.joined(Qualifier((Index(letter, relation.run.low, relation.run.high),)))
    if isinstance(left, Sum) and relation.operator in ("<", "<="):
        limit = right if relation.operator == "<=" else simplified(operation("-", right, Constant(1)))
        return _sum_at_most(left, limit, scope, said)
    comparison = compared(left, relation.operator, right, scope, said)
    return _as_sorted(comparison, scope) or comparison


def _sum_at_most(of: Sum, limit: Expression, scope: Scope, said: Qualifier) -> Fact:
    outside = indices_of((of, limit), scope, said)
    if outside:
        return Comparison(of, "<=", limit, outside)
    indices: list[Index] = []
    inner: Expression = of
    while isinstance(inner, Sum):
        indices.append(inner.index)
        inner = inner.expression
    return SumAtMost(inner, limit, tuple(indices))


def _as_sorted(comparison: Comparison, scope: Scope) -> Sorted | None:
    """``A_i <= A_{i+1}`` for all neighbours in a row of one dimension."""
    left, right = comparison.left, comparison.right
    if comparison.operator not in ("<", "<=") or len(comparison.indices) != 1:
        return None
    if not isinstance(left, Reference) or not isinstance(right, Reference) or left.name != right.name:
        return None
    if len(left.indices) != 1 or len(right.indices) != 1 or len(scope[left.name].dimensions) != 1:
        return None
    index = comparison.indices[0]
    step = difference(right.indices[0], left.indices[0])
    first = left.indices[0] if step == 1 else right.indices[0]
    low, high = ends(left, 0, scope)
    begins = replaced(first, {index.name: index.low})
    finishes = replaced(first, {index.name: index.high})
    if step not in (1, -1) or difference(begins, low) != 0 or difference(high, finishes) != 1:
        return None
    return Sorted(left.name, descending=step == -1, strict=comparison.operator == "<")
