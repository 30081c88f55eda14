"""What of an input breaks a constraint: one function for each kind of constraint, over all test cases at once. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from operator import eq, le, lt, ne
from typing import Any

import numpy as np

from eval.made_tests import exact
from eval.made_tests.binary_trees import ranks_from_left
from eval.made_tests.exact import Numbers
from eval.made_tests.flat import Flat, Tuples, all_tuples, evaluate_all, no_indices, places_of, segment_sums
from eval.made_tests.grammar import (
    AtLeastOne,
    Characters,
    Comparison,
    Constraint,
    Distinct,
    Expression,
    Grammar,
    Graph,
    Index,
    InputRefused,
    Kind,
    Occurrences,
    OneOf,
    Permutation,
    Reference,
    Remainder,
    SearchTree,
    Sorted,
    SumAtMost,
)
from eval.made_tests.graph_checks import broken_graph
from eval.made_tests.mentions import apart, expressions_of, mentioned, names_in, trimmed, variables_of
from eval.made_tests.shape import where
from eval.made_tests.wording import shown

_COMPARE: dict[str, Callable[..., Numbers]] = {
    "<": np.less,
    "<=": np.less_equal,
    "==": np.equal,
    "!=": np.not_equal,
}
_COMPARE_TEXTS: dict[str, Callable[[str, str], bool]] = {"<": lt, "<=": le, "==": eq, "!=": ne}


@dataclass(frozen=True)
class Context:
    """An input laid flat, seen by a constraint that belongs to each test case or to all of the input."""

    flats: Mapping[str, Flat]
    n_cases: int | None

    def tuples(self, indices: Sequence[Index] = ()) -> Tuples:
        """All values of these indices."""
        return all_tuples(indices, self.flats, self.n_cases)

    def evaluate(self, expression: Expression, tuples: Tuples) -> Numbers:
        """The expression for each tuple, as many numbers as tuples."""
        return np.broadcast_to(evaluate_all(expression, self.flats, tuples), (tuples.size,))


def broken(constraint: Constraint, grammar: Grammar, flats: Mapping[str, Flat], n_cases: int) -> str | None:
    """Where and by which values a constraint is broken, as a message goes on after "does not hold"; None: it holds."""
    is_per_case = bool(mentioned(constraint) & grammar.per_case)
    return _CHECKS[type(constraint)](constraint, Context(flats, n_cases if is_per_case else None), grammar)


def _comparison(constraint: Comparison, context: Context, grammar: Grammar) -> str | None:
    if (found := _compared_apart(constraint, context)) is not None:
        return found or None
    tuples = context.tuples(trimmed(constraint.indices, (constraint.left, constraint.right)))
    if (texts := _compared_texts(constraint, context, tuples)) is not None:
        return texts or None
    left, right = context.evaluate(constraint.left, tuples), context.evaluate(constraint.right, tuples)
    holds = _COMPARE[constraint.operator](left, right).astype(bool)
    if holds.all():
        return None
    place = int(np.argmin(holds))
    return f"{where(tuples, place)}: {left[place]} {constraint.operator} {right[place]} is wrong"


def _compared_apart(constraint: Comparison, context: Context) -> str | None:
    """A_i != B_j for all i and j, without a look at each pair: "" where it holds, None for other comparisons."""
    parts = apart(constraint)
    if parts is None or constraint.operator != "!=":
        return None
    seen: list[dict[tuple[int, object], str]] = []
    for side, indices in zip((constraint.left, constraint.right), parts, strict=True):
        tuples = context.tuples(indices)
        cases = [0] * tuples.size if tuples.case is None else tuples.case.tolist()
        keys = zip(cases, context.evaluate(side, tuples).tolist(), strict=True)
        seen.append({key: where(tuples, place) for place, key in enumerate(keys)})
    both = sorted(seen[0].keys() & seen[1].keys(), key=repr)
    return f"{seen[0][both[0]]} and{seen[1][both[0]]}: both are {both[0][1]}" if both else ""


def _compared_texts(constraint: Comparison, context: Context, tuples: Tuples) -> str | None:
    """The same for two strings: "" where it holds, None where no strings are compared."""
    sides = [_strings(side, context, tuples) for side in (constraint.left, constraint.right)]
    left, right = sides
    if left is None or right is None:
        return None
    compare = _COMPARE_TEXTS[constraint.operator]
    for place, (one, other) in enumerate(zip(left, right, strict=True)):
        if not compare(one, other):
            return f"{where(tuples, place)}: {shown(one)} {constraint.operator} {shown(other)} is wrong"
    return ""


def _strings(side: Expression, context: Context, tuples: Tuples) -> list[str] | None:
    if not isinstance(side, Reference) or side.name not in context.flats:
        return None
    flat = context.flats[side.name]
    if flat.numbers is not None or len(side.indices) != len(flat.variable.dimensions):
        return None
    indices = [evaluate_all(index, context.flats, tuples) for index in side.indices]
    nodes = np.broadcast_to(places_of(side, flat, indices, tuples), (tuples.size,))
    return [flat.strings[node] for node in nodes.tolist()]


def _at_least_one(constraint: AtLeastOne, context: Context, grammar: Grammar) -> str | None:
    comparison = constraint.comparison
    tuples = context.tuples(comparison.indices)
    left, right = context.evaluate(comparison.left, tuples), context.evaluate(comparison.right, tuples)
    holds = _COMPARE[comparison.operator](left, right).astype(bool)
    if context.n_cases is None or tuples.case is None:
        return None if holds.any() else ": it holds for none"
    found = np.bincount(tuples.case[holds], minlength=context.n_cases) > 0
    return None if found.all() else f"{_case(int(np.argmin(found)))}: it holds for none"


def _remainder(constraint: Remainder, context: Context, grammar: Grammar) -> str | None:
    tuples = context.tuples(trimmed(constraint.indices, expressions_of(replace(constraint, indices=()))))
    found = context.evaluate(constraint.expression, tuples)
    modulus = exact.constant(constraint.modulus) if isinstance(constraint.modulus, int) else None
    if modulus is None:
        modulus = context.evaluate(constraint.modulus, tuples)  # type: ignore[arg-type] # no integer: an expression
    quotients = exact.multiply(exact.floor_divide(found, modulus), modulus)
    wrong = exact.subtract(found, quotients) != constraint.remainder
    if not wrong.any():
        return None
    place = int(np.argmax(wrong))
    return f"{where(tuples, place)}: it is {found[place]}"


def _case(case: int) -> str:
    return f" in test case {case + 1}"


def _characters(constraint: Characters, context: Context, grammar: Grammar) -> str | None:
    flat = context.flats[constraint.name]
    allowed = set(constraint.characters)
    if set("".join(flat.strings)) - allowed:
        for place, text in enumerate(flat.strings):
            if other := sorted(set(text) - allowed):
                return f": {element_text(flat, place)} is {shown(text)}, which has {shown(other[0])}"
    for place, text in enumerate(flat.strings if constraint.each else ()):
        if missing := sorted(set(constraint.each) - set(text)):
            return f": {element_text(flat, place)} is {shown(text)}, which has no {shown(missing[0])}"
    return None


def _one_of(constraint: OneOf, context: Context, grammar: Grammar) -> str | None:
    flat = context.flats[constraint.name]
    elements = _elements(flat)
    is_text = flat.variable.kind is Kind.STRING
    allowed = set(constraint.values) if is_text else {Fraction(value) for value in constraint.values}
    if set(elements) <= allowed:
        return None
    place = next(place for place, element in enumerate(elements) if element not in allowed)
    return f": {element_text(flat, place)} is {shown(elements[place])}"


def _distinct(constraint: Distinct, context: Context, grammar: Grammar) -> str | None:
    first, *others = (context.flats[name] for name in constraint.names)
    if not others:
        return _repeated(_elements(first), _groups(first, constraint.within_row), first)
    columns = [_elements(flat) for flat in (first, *others)]
    if len({len(column) for column in columns}) > 1:
        return ": they have different numbers of elements"
    tuples = list(zip(*columns, strict=True))
    if not first.variable.dimensions:  # a, b and c themselves are different
        place = next((place for place, each in enumerate(tuples) if len(set(each)) < len(each)), None)
        return None if place is None else f"{_case(place)}: {', '.join(map(shown, tuples[place]))}"
    if constraint.unordered:
        tuples = [tuple(sorted(each)) for each in tuples]
    return _repeated(tuples, _groups(first, constraint.within_row), first)


def _repeated(elements: Sequence[Any], groups: list[int], flat: Flat) -> str | None:
    """The first element that stands twice in a group; groups are given by their bounds."""
    for start, end in pairwise(groups):
        group = elements[start:end]
        if len(set(group)) < len(group):
            counts = Counter(group)
            place = next(place for place, element in enumerate(group) if counts[element] > 1)
            again = group.index(group[place], place + 1)
            at, other = (element_text(flat, start + each) for each in (place, again))
            return f": {shown(group[place])} stands at {at} and at {other}"
    return None


def _permutation(constraint: Permutation, context: Context, grammar: Grammar) -> str | None:
    flat = context.flats[constraint.name]
    tuples = context.tuples()
    rows = flat.layout.rows
    counts = np.diff(rows)
    cases = _case_of_row(flat) if context.n_cases is not None else np.zeros(len(counts), dtype=np.int64)
    low, high = (context.evaluate(bound, tuples)[cases] for bound in (constraint.low, constraint.high))
    row_of = np.repeat(np.arange(len(counts)), counts)
    elements = _numbers(flat)
    wanted = exact.add(np.repeat(low, counts), np.arange(len(row_of)) - np.repeat(rows[:-1], counts))
    ordered = elements[np.lexsort((elements, row_of))] if elements.dtype != object else elements
    wrong_lengths = exact.add(exact.subtract(high, low), exact.constant(1)) != counts
    if not wrong_lengths.any() and elements.dtype != object and (ordered == wanted).all():
        return None
    wrong_rows = wrong_lengths.copy()
    wrong_rows[row_of[ordered != wanted]] = True
    if not wrong_rows.any():
        return None
    row = int(np.argmax(wrong_rows))
    return (
        f"{_case(int(cases[row])) if flat.is_per_case else ''}: {shown(elements[rows[row] : rows[row + 1]].tolist())}"
    )


def _sorted(constraint: Sorted, context: Context, grammar: Grammar) -> str | None:
    flat = context.flats[constraint.name]
    elements = exact.objects(flat.strings) if flat.numbers is None else flat.numbers
    one, other = elements[:-1], elements[1:]
    if constraint.descending:
        one, other = other, one
    wrong = (one >= other if constraint.strict else one > other).astype(bool)
    ends = flat.layout.rows[1:-1] - 1
    wrong[ends[(ends >= 0) & (ends < len(wrong))]] = False  # the next element begins another row, or none is there
    if not wrong.any():
        return None
    place = int(np.argmax(wrong))
    at, after = element_text(flat, place), element_text(flat, place + 1)
    return f": {at} is {shown(elements[place])}, {after} is {shown(elements[place + 1])}"


def _sum_at_most(constraint: SumAtMost, context: Context, grammar: Grammar) -> str | None:
    tuples = context.tuples(constraint.indices)
    found = context.evaluate(constraint.expression, tuples)
    if context.n_cases is not None and names_in([constraint.limit]) & grammar.per_case and tuples.case is not None:
        limits = context.evaluate(constraint.limit, context.tuples())
        sums = segment_sums(found, np.bincount(tuples.case, minlength=context.n_cases))
        if not (wrong := sums > limits).any():
            return None
        case = int(np.argmax(wrong))
        return f"{_case(case)}: it is {sums[case]}, and the limit is {limits[case]}"
    limit = context.evaluate(constraint.limit, no_indices(None))[0]
    result = exact.total(found)
    return None if result <= limit else f": it is {result}"


def _occurrences(constraint: Occurrences, context: Context, grammar: Grammar) -> str | None:
    flat = context.flats[constraint.name]
    tuples = context.tuples()
    low, high = (context.evaluate(bound, tuples).tolist() for bound in (constraint.low, constraint.high))
    if not constraint.values and low != high:
        raise InputRefused(f"what could stand in {constraint.name} is not said, so {constraint.name} cannot be checked")
    wanted: list[Any] = list(constraint.values)
    if flat.variable.kind is not Kind.STRING:
        wanted = [Fraction(value) for value in wanted]
    for case, place, group in _counted_groups(flat, constraint.whole):
        counts = Counter(group)
        at = case if context.n_cases is not None else 0
        for value in wanted or counts:
            if not low[at] <= counts[value] <= high[at]:
                return (
                    f"{_case(case) if flat.is_per_case else ''}: {shown(value)} stands {counts[value]} times in {place}"
                )
    return None


def _counted_groups(flat: Flat, whole: bool) -> Iterator[tuple[int, str, Sequence[Any]]]:
    """The rows, strings or (``whole``) variables in which something is counted: test case, what it is, its elements."""
    name = flat.variable.name
    bounds = _groups(flat, within_row=not whole and flat.numbers is not None)
    cases = np.arange(len(bounds) - 1) if whole or not flat.is_per_case else _case_of_row(flat)
    elements = _elements(flat)
    if whole:
        for case, (start, end) in enumerate(pairwise(bounds)):
            group = elements[start:end]
            yield case, name, "".join(group) if flat.numbers is None else group
    elif flat.numbers is None:
        of_element = case_of_nodes(flat, len(flat.layout.offsets))
        for place, text in enumerate(flat.strings):
            yield int(of_element[place]), shown(text), text
    else:
        for row, (start, end) in enumerate(pairwise(bounds)):
            yield int(cases[row]), name, elements[start:end]


def _graph(constraint: Graph, context: Context, grammar: Grammar) -> str | None:
    tuples = context.tuples()
    low, high = (context.evaluate(bound, tuples) for bound in (constraint.low, constraint.high))
    return broken_graph(constraint, [context.flats[name] for name in variables_of(constraint)], low, high)


def _search_tree(constraint: SearchTree, context: Context, grammar: Grammar) -> str | None:
    values, places = (context.flats[name] for name in variables_of(constraint))
    if values.layout.rows.tolist() != places.layout.rows.tolist():
        return ": it has not as many values as nodes"
    for case, (start, end) in enumerate(pairwise(values.layout.rows.tolist())):
        ranks = ranks_from_left(_numbers(places)[start:end].tolist())
        if ranks is None:
            return f"{_case(case) if values.is_per_case else ''}: its nodes are in no tree"
        row = _numbers(values)[start:end].tolist()
        for one, other in pairwise(value for _, value in sorted(zip(ranks, row, strict=True))):
            if one >= other:
                return f"{_case(case) if values.is_per_case else ''}: {one} stands left of {other}"
    return None


def _elements(flat: Flat) -> list[Any]:
    return list(flat.strings) if flat.numbers is None else flat.numbers.tolist()


def _numbers(flat: Flat) -> Numbers:
    if flat.numbers is None:
        raise ValueError(f"{flat.variable.name} is made of strings, and a permutation of integers")
    return flat.numbers


def _groups(flat: Flat, within_row: bool) -> list[int]:
    """The bounds of the elements that belong together: of a test case, or of a row."""
    result: list[int]
    if within_row:
        result = flat.layout.rows.tolist()
        return result
    offsets = flat.layout.offsets
    level = int(flat.is_per_case)
    bounds = np.arange(int(offsets[0][-1]) + 1) if flat.is_per_case else np.array([0, 1])
    for each in offsets[level:]:
        bounds = each[bounds]
    result = bounds.tolist()
    return result


def _case_of_row(flat: Flat) -> Numbers:
    """The test case of each row of the last level; 0 where there are no cases."""
    return case_of_nodes(flat, len(flat.layout.offsets) - 1)


def case_of_nodes(flat: Flat, level: int) -> Numbers:
    """The test case of each node of a level; 0 where there are no cases."""
    offsets = flat.layout.offsets
    if not flat.is_per_case or level == 0:
        return np.zeros(int(offsets[level - 1][-1]) if level else 1, dtype=np.int64)
    cases = np.arange(int(offsets[0][-1]))
    for each in offsets[1:level]:
        cases = np.repeat(cases, np.diff(each))
    return cases


def element_text(flat: Flat, place: int) -> str:
    """The element at a place of what is laid flat, as the statement names it: "A_3 in test case 2"."""
    path = []
    for offsets in reversed(flat.layout.offsets):
        parent = int(np.searchsorted(offsets, place, side="right")) - 1
        path.append(place - int(offsets[parent]))
        place = parent
    path.reverse()
    case = _case(path.pop(0)) if flat.is_per_case else ""
    indices = ",".join(str(each + flat.variable.first_index) for each in path)
    name = flat.variable.name
    return f"{name}_{{{indices}}}{case}" if "," in indices else f"{name}{f'_{indices}' if indices else ''}{case}"


_CHECKS: dict[type, Callable[..., str | None]] = {
    Comparison: _comparison,
    Remainder: _remainder,
    Characters: _characters,
    OneOf: _one_of,
    Distinct: _distinct,
    Permutation: _permutation,
    Sorted: _sorted,
    SumAtMost: _sum_at_most,
    Occurrences: _occurrences,
    AtLeastOne: _at_least_one,
    Graph: _graph,
    SearchTree: _search_tree,
}
