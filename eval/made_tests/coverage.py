"""Which extremes that a statement allows are reached by the inputs of a suite. Pure.

An extreme is a bound of the constraints at which its two sides are level: N = 1 and N = 2*10^5, A_i = 10^9 for some i,
|S| = N. It is reached where the bound made strict no longer holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from eval.made_tests.checks import broken
from eval.made_tests.grammar import Comparison, Constant, Expression, Grammar, Kind, Operation, Values
from eval.made_tests.mentions import mentioned
from eval.made_tests.shape import flatten
from eval.made_tests.wording import constraint_text


@dataclass(frozen=True)
class BoundReached:
    """A bound of the statement in words, and how many of the inputs reach it."""

    bound: str
    n_inputs: int

    @property
    def is_reached(self) -> bool:
        """Whether any input reaches it."""
        return self.n_inputs > 0


def extremes(grammar: Grammar, inputs: Sequence[Values]) -> tuple[BoundReached, ...]:
    """The extremes of a grammar in its order, with how many inputs reach each; the inputs keep all constraints.

    Bounds that cannot be made strict and looked at (a sum too long) are left out.
    """
    bounds = list(_bounds(grammar))
    counts = [0] * len(bounds)
    unknown: set[int] = set()
    for values in inputs:
        flats, n_cases = flatten(grammar, values)
        for number, (_, strict) in enumerate(bounds):
            try:
                counts[number] += broken(strict, grammar, flats, n_cases) is not None
            except (ArithmeticError, ValueError):
                unknown.add(number)
    found = zip(bounds, counts, strict=True)
    return tuple(BoundReached(text, count) for number, ((text, _), count) in enumerate(found) if number not in unknown)


def _bounds(grammar: Grammar) -> Iterable[tuple[str, Comparison]]:
    integers = {variable.name for variable in grammar.variables if variable.kind is Kind.INTEGER}
    for constraint in grammar.constraints:
        if not isinstance(constraint, Comparison) or not (names := mentioned(constraint)):
            continue
        # Of texts and decimals none is the next one.
        if constraint.operator == "<=" or (constraint.operator == "<" and names <= integers):
            yield constraint_text(constraint), _stricter(constraint)


def _stricter(bound: Comparison) -> Comparison:
    """The bound without the values at which it is just kept: all sides are integers."""
    if bound.operator == "<=":
        return replace(bound, operator="<")
    return replace(bound, left=_plus_one(bound.left))


def _plus_one(expression: Expression) -> Expression:
    if isinstance(expression, Constant):
        return Constant(expression.value + 1)
    return Operation("+", expression, Constant(1))
