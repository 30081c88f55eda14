"""The values of one integer variable: between their bounds as the style chooses, and then as constraints want them.

Pure but for the generator.
"""

from __future__ import annotations

import numpy as np

from eval.made_tests import exact
from eval.made_tests.drawing._counting import with_occurrences
from eval.made_tests.drawing._distinct import made_distinct, permutations, sorted_rows
from eval.made_tests.drawing._errors import CannotDraw
from eval.made_tests.drawing._policies import few, uniform
from eval.made_tests.drawing._problem import neighbour_step
from eval.made_tests.drawing._relations import Scope
from eval.made_tests.drawing._repairing import repaired
from eval.made_tests.drawing._sizes import sizes_of
from eval.made_tests.drawing._state import State
from eval.made_tests.drawing._style import Order
from eval.made_tests.exact import Numbers
from eval.made_tests.grammar import (
    Comparison,
    Distinct,
    Expression,
    Index,
    Occurrences,
    OneOf,
    Permutation,
    Reference,
    Remainder,
    Sorted,
)
from eval.made_tests.mentions import apart, names_in
from eval.made_tests.wording import constraint_text, expression_text

MAX_ROUNDS = 30


def draw_numbers(state: State, name: str) -> Numbers:
    """One value for each element; CannotDraw."""
    low, high = state.domains.low[name], state.domains.high[name]
    problem, rng, style = state.problem, state.rng, state.style
    if not low.size:
        return low
    rows = state.groups(name, within_row=True)
    if permutation := problem.constraints(name, Permutation):
        assert isinstance(permutation[0], Permutation)
        firsts = state.of_cases(permutation[0].low)[state.case_of(name)]
        return permutations(rng, firsts, rows, style.order)
    if allowed := allowed_values(state, name):
        values = _chosen(state, allowed, name, rows)
    elif name in problem.extents:
        values = sizes_of(state, name)
    else:
        values = style.numbers(rng, low, high, rows)
    values = _with_remainders(state, name, values)
    counted = [each for each in problem.constraints(name, Occurrences) if isinstance(each, Occurrences)]
    if counted:
        values = with_occurrences(state, counted, name, values)
    values = repaired(state, name, _apart(state, name, values))
    return _mirrored(state, name, _arranged(state, name, values))


def allowed_values(state: State, name: str) -> list[int]:
    """The values of a variable that has but some, in order."""
    lists = [set(map(int, each.values)) for each in state.problem.constraints(name, OneOf) if isinstance(each, OneOf)]
    if not lists:
        return []
    allowed = sorted(set.intersection(*lists))
    if not allowed:
        raise CannotDraw(f"{name} has no value that all its lists of values have")
    return allowed


def _chosen(state: State, allowed: list[int], name: str, rows: Numbers) -> Numbers:
    low, high = state.domains.low[name], state.domains.high[name]
    values = exact.numbers(allowed)
    first = np.searchsorted(values, low, side="left")
    last = np.searchsorted(values, high, side="right") - 1
    if (first > last).any():
        place = int(np.argmax(first > last))
        raise CannotDraw(f"{name} has no value between {low[place]} and {high[place]}")
    return values[state.style.numbers(state.rng, first, last, rows)]


def _with_remainders(state: State, name: str, values: Numbers) -> Numbers:
    """Values that leave the remainders that are wanted: moved down to the next one that does, or up."""
    for constraint in state.problem.constraints(name, Remainder):
        assert isinstance(constraint, Remainder)
        values = _with_remainder(state, name, constraint, values)
    return values


def _with_remainder(state: State, name: str, constraint: Remainder, values: Numbers) -> Numbers:
    domains = state.domains
    names = names_in([constraint.expression])
    bounds = names_in(bound for index in constraint.indices for bound in (index.low, index.high))
    is_per_case = bool((names | bounds) & state.problem.grammar.per_case)
    scope = domains.scope(constraint.indices, is_per_case)
    reference = constraint.expression
    modulus = constraint.modulus
    if isinstance(modulus, Reference) and modulus.name == name and scope.tuples is not None:
        return _divisors(state, constraint, modulus, scope, values)
    if not isinstance(reference, Reference) or reference.name != name or scope.tuples is None:
        return values  # what is more than one variable is left to chance
    if isinstance(modulus, int):
        divisor = exact.constant(modulus)
    else:
        divisor, most = domains.interval(modulus, scope)
        if (divisor != most).any():
            return values
    places = domains.places(reference, scope)
    if places is None or (divisor < 1).any():
        return values
    low, high, there = domains.low[name][places], domains.high[name][places], values[places]
    over = (there - constraint.remainder) % divisor
    down, up = there - over, there - over + divisor
    result = values.copy()
    result[places] = np.where(over == 0, there, np.where(down >= low, down, up))
    if (result[places] > high).any():
        place = int(np.argmax(result[places] > high))
        raise CannotDraw(
            f"{constraint_text(constraint)} cannot be kept: {name} is between {low[place]} and {high[place]}"
        )
    return result


def _divisors(state: State, constraint: Remainder, modulus: Reference, scope: Scope, values: Numbers) -> Numbers:
    """A divisor of what is known already, for each element."""
    found, most = state.domains.interval(constraint.expression, scope)
    places = state.domains.places(modulus, scope)
    if places is None or (found != most).any():
        return values
    result = values.copy()
    name = modulus.name
    for place, number in zip(places.tolist(), np.broadcast_to(found, places.shape).tolist(), strict=True):
        low, high = int(state.domains.low[name][place]), int(state.domains.high[name][place])
        options = [each for each in _divisors_of(int(number) - constraint.remainder) if low <= each <= high]
        if not options:
            raise CannotDraw(f"{constraint_text(constraint)} cannot be kept: {number} has no such divisor")
        result[place] = options[int(state.rng.integers(len(options)))]
    return result


def _divisors_of(number: int) -> list[int]:
    """The divisors of a number, those of more than 10^6 by their counterparts only."""
    number = abs(number)
    small = [each for each in range(1, min(int(number**0.5) + 1, 10**6) + 1) if number and number % each == 0]
    return sorted(set(small) | {number // each for each in small})


def _apart(state: State, name: str, values: Numbers) -> Numbers:
    """Values that are not those which comparisons with "!=" exclude."""
    unequal = [
        each
        for each in state.problem.constraints(name, Comparison)
        if isinstance(each, Comparison) and each.operator == "!="
    ]
    for comparison in unequal:
        step = neighbour_step(comparison)
        if step is not None and step[0] == name:
            values = _unlike_neighbours(state, name, values)
            continue
        for side, other in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
            if isinstance(side, Reference) and side.name == name and name not in names_in([other]):
                values = _unlike(state, name, values, comparison, side)
    return values


def _unlike(state: State, name: str, values: Numbers, comparison: Comparison, side: Reference) -> Numbers:
    domains = state.domains
    other = comparison.right if side is comparison.left else comparison.left
    bounds = [bound for index in comparison.indices for bound in (index.low, index.high)]
    is_per_case = bool(names_in([side, other, *bounds]) & state.problem.grammar.per_case)
    scope = domains.scope(comparison.indices, is_per_case)
    if (parts := apart(comparison)) is not None and scope.tuples is None:
        return _unlike_all(state, name, values, other, parts[0] if side is comparison.right else parts[1])
    places = domains.places(side, scope)
    low, high = domains.interval(other, scope)
    if places is None or (low != high).any():
        return values
    for _ in range(MAX_ROUNDS):
        wrong = np.unique(places[values[places] == low])
        if not len(wrong):
            return values
        values = values.copy()
        values[wrong] = _again(state, name, wrong)
    raise CannotDraw(f"{constraint_text(comparison)} cannot be kept")


def _unlike_all(state: State, name: str, values: Numbers, other: Expression, indices: tuple[Index, ...]) -> Numbers:
    """Values that are none of those of another row, which is settled."""
    bounds = [bound for index in indices for bound in (index.low, index.high)]
    is_per_case = bool(names_in([other, *bounds]) & state.problem.grammar.per_case)
    scope = state.domains.scope(indices, is_per_case)
    low, high = state.domains.interval(other, scope)
    if scope.tuples is None or (low != high).any() or is_per_case:
        return values
    for _ in range(MAX_ROUNDS):
        wrong = np.flatnonzero(np.isin(values, low))
        if not len(wrong):
            return values
        values = values.copy()
        values[wrong] = _again(state, name, wrong)
    raise CannotDraw(f"{name} has no value that {expression_text(other)} does not have")


def _mirrored(state: State, name: str, values: Numbers) -> Numbers:
    """Values that are equal where the variable is compared with itself: A_{i,j} == A_{j,i}."""
    for comparison in state.problem.constraints(name, Comparison):
        assert isinstance(comparison, Comparison)
        left, right = comparison.left, comparison.right
        if comparison.operator != "==" or not (isinstance(left, Reference) and isinstance(right, Reference)):
            continue
        scope = state.domains.scope(comparison.indices, name in state.problem.grammar.per_case)
        if left.name == right.name == name and scope.tuples is not None:
            one, other = (state.domains.places(each, scope) for each in (left, right))
            if one is not None and other is not None:
                values = values.copy()
                values[np.maximum(one, other)] = values[np.minimum(one, other)]
    return values


def _again(state: State, name: str, places: Numbers) -> Numbers:
    """Other values for some elements."""
    low, high = state.domains.low[name][places], state.domains.high[name][places]
    if allowed := allowed_values(state, name):
        fitting = [[each for each in allowed if one <= each <= other] for one, other in zip(low, high, strict=True)]
        return exact.numbers([each[int(state.rng.integers(len(each)))] for each in fitting])
    again = uniform if state.rng.random() < 0.5 else few
    return again(state.rng, low, high, np.array([0, len(places)]))


def _unlike_neighbours(state: State, name: str, values: Numbers) -> Numbers:
    """Rows in which no two neighbours are the same."""
    rows = state.groups(name, within_row=True)
    is_first = np.zeros(len(values) + 1, dtype=bool)
    is_first[rows] = True
    for turn in range(MAX_ROUNDS * 2):
        wrong = np.flatnonzero((values[1:] == values[:-1]) & ~is_first[1:-1]) + 1
        if not len(wrong):
            return values
        values = values.copy()
        chosen = wrong[wrong % 2 == turn % 2] if turn % 3 else wrong
        if len(chosen):
            values[chosen] = _again(state, name, chosen)
    for place in wrong.tolist():
        beside = {int(each) for each in values[[place - 1, min(place + 1, len(values) - 1)]]}
        options = {int(state.domains.low[name][place]), int(state.domains.high[name][place])} - beside
        if options:
            values[place] = min(options)
    return values


def _arranged(state: State, name: str, values: Numbers) -> Numbers:
    """Values that are different where they have to be, and in order."""
    problem, style = state.problem, state.style
    orders = [each for each in problem.constraints(name, Sorted) if isinstance(each, Sorted)]
    distinct = [each for each in problem.constraints(name, Distinct) if isinstance(each, Distinct)]
    is_strict = any(each.strict for each in orders)
    alone = [each for each in distinct if each.names == (name,)]
    if alone or is_strict:
        within_row = not alone or all(each.within_row for each in alone)
        groups = state.groups(name, within_row=within_row)
        values = made_distinct(state, name, values, groups)
    if any(len(each.names) > 1 for each in distinct) and not problem.variables[name].dimensions:
        values = _unlike_scalars(state, name, values, distinct)
    if orders:
        return sorted_rows(values, state.groups(name, within_row=True), is_descending=orders[0].descending)
    if alone and style.order in (Order.UP, Order.DOWN):
        return sorted_rows(values, state.groups(name, within_row=True), is_descending=style.order is Order.DOWN)
    return values


def _unlike_scalars(state: State, name: str, values: Numbers, distinct: list[Distinct]) -> Numbers:
    """a, b and c themselves are different: not what is settled already."""
    others = {each for constraint in distinct if len(constraint.names) > 1 for each in constraint.names} - {name}
    settled = [state.domains.low[each] for each in sorted(others) if state.domains.is_settled(each)]
    for _ in range(MAX_ROUNDS):
        wrong = np.zeros(len(values), dtype=bool)
        for other in settled:
            wrong |= values == other
        if not wrong.any():
            return values
        values = values.copy()
        places = np.flatnonzero(wrong)
        values[places] = _again(state, name, places)
    raise CannotDraw(f"{name} has no value that {', '.join(sorted(others))} do not have")
