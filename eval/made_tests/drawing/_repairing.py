"""Values changed until constraints hold that bounds cannot promise. Pure but for the generator.

Sums are brought to where they have to be by a change of some terms; elements that break a comparison are drawn anew.
"""

from __future__ import annotations

import numpy as np

from eval.made_tests import exact
from eval.made_tests.drawing._policies import few, uniform
from eval.made_tests.drawing._problem import neighbour_step
from eval.made_tests.drawing._relations import HOLDS, Scope
from eval.made_tests.drawing._sharing import parts
from eval.made_tests.drawing._state import State
from eval.made_tests.drawing._style import Share
from eval.made_tests.exact import Numbers
from eval.made_tests.flat import Tuples
from eval.made_tests.grammar import (
    AtLeastOne,
    Comparison,
    Constant,
    Expression,
    Extreme,
    Operation,
    Reference,
    Remainder,
    Sum,
)
from eval.made_tests.mentions import expressions_of, names_in, references_in

MAX_ROUNDS = 30


def repaired(state: State, name: str, values: Numbers) -> Numbers:
    """The values with those changed that break a constraint whose other variables are settled."""
    problem = state.problem
    for constraint in problem.of.get(name, ()):
        if not isinstance(constraint, Comparison | Remainder | AtLeastOne):
            continue
        if constraint in problem.texts or not _is_ready(state, name, constraint):
            continue
        if isinstance(constraint, AtLeastOne):
            values = _with_one(state, name, constraint.comparison, values)
        elif (found := _sum_of(constraint, name)) is not None:
            values = _with_sum(state, name, constraint, found, values)
        elif _is_hard(constraint, name):
            values = _anew(state, name, constraint, values)
    return values


def _is_ready(state: State, name: str, constraint: Comparison | Remainder | AtLeastOne) -> bool:
    others = (names_in(expressions_of(constraint)) & state.domains.low.keys()) - {name}
    return all(state.domains.is_settled(each) for each in others)


def _is_hard(constraint: Comparison | Remainder, name: str) -> bool:
    """Whether bounds do not promise it."""
    if isinstance(constraint, Remainder):
        return not isinstance(constraint.expression, Reference)
    if neighbour_step(constraint) is not None:
        return False
    sides = constraint.left, constraint.right
    count = sum(each.name == name for side in sides for each in references_in(side))
    return count > 1 or any(_is_bent(side) for side in sides) or constraint.operator == "!="


def _is_bent(expression: Expression) -> bool:
    match expression:
        case Operation(operator, left, right):
            return operator in "/^" or _is_bent(left) or _is_bent(right)
        case Extreme():
            return True
    return False


def _scope(state: State, constraint: Comparison | Remainder) -> Scope:
    is_per_case = bool(names_in(expressions_of(constraint)) & state.problem.grammar.per_case)
    return state.domains.scope(constraint.indices, is_per_case)


def _evaluated(state: State, name: str, values: Numbers, expression: Expression, tuples: Tuples) -> Numbers:
    """An expression for each tuple, with these values of the variable."""
    domains = state.domains
    before = domains.low[name], domains.high[name]
    domains.low[name] = domains.high[name] = values
    found, _ = domains.interval(expression, Scope(tuples))
    domains.low[name], domains.high[name] = before
    return np.broadcast_to(found, (tuples.size,))


def _holds(state: State, name: str, values: Numbers, constraint: Comparison | Remainder, tuples: Tuples) -> Numbers:
    if isinstance(constraint, Comparison):
        left, right = (_evaluated(state, name, values, side, tuples) for side in (constraint.left, constraint.right))
        return HOLDS[constraint.operator](left, right).astype(bool)
    found = _evaluated(state, name, values, constraint.expression, tuples)
    modulus = constraint.modulus
    divisor = Constant(modulus) if isinstance(modulus, int) else modulus
    result: Numbers = (found - constraint.remainder) % _evaluated(state, name, values, divisor, tuples) == 0
    return result.astype(bool)


def _anew(state: State, name: str, constraint: Comparison | Remainder, values: Numbers) -> Numbers:
    """Draw the elements anew that break a constraint, as long as some do."""
    scope = _scope(state, constraint)
    if scope.tuples is None or not scope.tuples.size:
        return values
    places = [
        found
        for side in expressions_of(constraint)
        for each in references_in(side)
        if each.name == name and (found := state.domains.places(each, scope)) is not None
    ]
    low, high = state.domains.low[name], state.domains.high[name]
    for _ in range(MAX_ROUNDS):
        wrong = ~_holds(state, name, values, constraint, scope.tuples)
        if not wrong.any() or not places:
            return values
        chosen = np.unique(np.concatenate([np.broadcast_to(each, wrong.shape)[wrong] for each in places]))
        again = few if state.rng.random() < 0.3 else uniform
        values = values.copy()
        values[chosen] = again(state.rng, low[chosen], high[chosen], np.array([0, len(chosen)]))
    return values


def _with_one(state: State, name: str, comparison: Comparison, values: Numbers) -> Numbers:
    """Let one tuple of each test case keep a comparison that holds for none there."""
    scope = _scope(state, comparison)
    tuples = scope.tuples
    if tuples is None or not tuples.size:
        return values
    case = np.zeros(tuples.size, dtype=np.int64) if tuples.case is None else tuples.case
    for side, other in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
        places = state.domains.places(side, scope) if isinstance(side, Reference) and side.name == name else None
        if places is None:
            continue
        aims = _evaluated(state, name, values, other, tuples)
        for shift in (0, 1, -1):
            lacking = np.bincount(case[_holds(state, name, values, comparison, tuples)], minlength=case.max() + 1) == 0
            if not lacking.any():
                return values
            order = state.rng.permutation(tuples.size)
            _, first = np.unique(case[order], return_index=True)
            chosen = order[first][lacking[case[order[first]]]]
            at = np.broadcast_to(places, (tuples.size,))[chosen]
            aim = exact.add(aims[chosen], exact.constant(shift))
            values = values.copy()
            values[at] = exact.at_least(state.domains.low[name][at], exact.at_most(state.domains.high[name][at], aim))
    return values


def _sum_of(constraint: Comparison | Remainder, name: str) -> tuple[Sum, int] | None:
    """The only sum with this variable in it, and whether it counts for (1) or against (-1) the left side."""
    sides = (
        [(constraint.expression, 1)]
        if isinstance(constraint, Remainder)
        else [(constraint.left, 1), (constraint.right, -1)]
    )
    found = [each for side, sign in sides for each in _sums_in(side, sign) if name in names_in([each[0]])]
    return found[0] if len(found) == 1 else None


def _sums_in(expression: Expression, sign: int) -> list[tuple[Sum, int]]:
    match expression:
        case Sum():
            return [(expression, sign)]
        case Operation("+" | "-" as operator, left, right):
            return _sums_in(left, sign) + _sums_in(right, sign if operator == "+" else -sign)
    return []


def _terms(
    state: State, name: str, expression: Expression, tuples: Tuples, of: Numbers
) -> tuple[Numbers, Numbers] | None:
    """Which tuple each term of a sum belongs to, and where its element stands."""
    if isinstance(expression, Reference):
        places = state.domains.places(expression, Scope(tuples)) if expression.name == name else None
        return None if places is None else (of, np.broadcast_to(places, (tuples.size,)))
    if not isinstance(expression, Sum):
        return None
    index = expression.index
    low, high = (state.domains.interval(bound, Scope(tuples))[0] for bound in (index.low, index.high))
    inner, counts = tuples.with_index(index.name, low, high)
    return _terms(state, name, expression.expression, inner, np.repeat(of, counts))


def _with_sum(
    state: State, name: str, constraint: Comparison | Remainder, found: tuple[Sum, int], values: Numbers
) -> Numbers:
    """Change some terms of the sums that break a constraint."""
    scope = _scope(state, constraint)
    if scope.tuples is None or not scope.tuples.size:
        return values
    terms = _terms(state, name, found[0], scope.tuples, np.arange(scope.tuples.size))
    if terms is None:
        return values
    of, places = terms
    low, high = state.domains.low[name], state.domains.high[name]
    values = values.copy()
    for place in np.flatnonzero(~_holds(state, name, values, constraint, scope.tuples)).tolist():
        own = places[of == place]
        for change in _changes(state, name, values, constraint, scope.tuples, place):
            amount = change * found[1]
            room = exact.subtract(high[own], values[own]) if amount > 0 else exact.subtract(values[own], low[own])
            if exact.total(room) < abs(amount):
                continue
            order = state.rng.permutation(len(own))
            given = parts(state.rng, abs(amount), room[order], Share.FIRST if state.rng.random() < 0.5 else Share.EVEN)
            values[own[order]] = exact.add(values[own[order]], given if amount > 0 else -given)
            break
    return values


def _changes(
    state: State, name: str, values: Numbers, constraint: Comparison | Remainder, tuples: Tuples, place: int
) -> list[int]:
    """By how much the left side may change so that the constraint holds for one tuple, better ones first."""
    if isinstance(constraint, Remainder):
        modulus = constraint.modulus
        divisor = Constant(modulus) if isinstance(modulus, int) else modulus
        number = int(_evaluated(state, name, values, divisor, tuples)[place])
        over = (
            int(_evaluated(state, name, values, constraint.expression, tuples)[place]) - constraint.remainder
        ) % number
        return [-over, number - over] if state.rng.random() < 0.5 else [number - over, -over]
    left, right = (
        int(_evaluated(state, name, values, side, tuples)[place]) for side in (constraint.left, constraint.right)
    )
    gap = right - left
    return {"<": [gap - 1], "<=": [gap], "==": [gap], "!=": [1, -1]}[constraint.operator]
