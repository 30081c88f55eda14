"""Relations between variables, and how one of them narrows its variables. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np

from eval.made_tests import exact
from eval.made_tests.drawing._inverting import UNBOUNDED, Bounds, Interval, invert
from eval.made_tests.exact import Numbers
from eval.made_tests.flat import Tuples
from eval.made_tests.grammar import Expression, Extreme, Index, Operation, Reference
from eval.made_tests.mentions import names_in, references_in

HOLDS: dict[str, Callable[..., Numbers]] = {
    "<": np.less,
    "<=": np.less_equal,
    "==": np.equal,
    "!=": np.not_equal,
}


@dataclass(frozen=True)
class Relation:
    """A comparison, or (``right`` None) an expression with the most that each tuple of its indices may have."""

    left: Expression
    operator: str
    right: Expression | None
    indices: tuple[Index, ...]
    is_per_case: bool
    text: str
    most: Numbers | None = None

    @cached_property
    def repeated(self) -> tuple[str, ...]:
        """The variables without indices that stand in it more than once."""
        sides = (self.left,) if self.right is None else (self.left, self.right)
        counts = Counter(each.name for side in sides for each in references_in(side) if not each.indices)
        return tuple(sorted(name for name, count in counts.items() if count > 1))

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """Both sides, and the bounds of the indices."""
        sides = (self.left,) if self.right is None else (self.left, self.right)
        return (*sides, *(bound for index in self.indices for bound in (index.low, index.high)))


@dataclass(frozen=True)
class Scope:
    """The tuples of a relation; or, while its indices are open, no tuples and an interval for each index.

    ``is_inhabited``: there is a tuple, whatever the indices will be.
    """

    tuples: Tuples | None
    bounds: Mapping[str, Interval] = field(default_factory=dict)
    is_inhabited: bool = True


class Narrowed(Protocol):
    """What has intervals of variables that a relation narrows."""

    low: dict[str, Numbers]
    high: dict[str, Numbers]

    def interval(self, expression: Expression, scope: Scope) -> Interval:
        """The least and the greatest that an expression may be."""

    def narrow(self, reference: Reference, scope: Scope, relation: Relation, bounds: Bounds) -> bool:
        """Keep the elements that a reference names within bounds; whether that changed anything."""


class Narrowing:
    """One relation that narrows its variables once."""

    def __init__(self, domains: Narrowed, relation: Relation, scope: Scope) -> None:
        self.domains = domains
        self.relation = relation
        self.scope = scope
        self.changed: set[str] = set()

    def run(self) -> None:
        """Narrow through the expressions, and by halving where a variable stands there more than once."""
        self._run()
        if self.relation.operator in ("<", "<=") and not self.relation.indices and self.scope.tuples is not None:
            for name in self.relation.repeated:
                if name in self.domains.low and (self.domains.low[name] < self.domains.high[name]).any():
                    self._halve(name)

    def _halve(self, name: str) -> None:
        """Find the end of the values that can be, if they all lie on one side: N*(N-1)/2 <= M."""
        low, high = self.domains.low[name], self.domains.high[name]
        if exact.greatest_magnitude(low) >= UNBOUNDED // 2 or exact.greatest_magnitude(high) >= UNBOUNDED // 2:
            return
        at_low, at_high = self._can_be(name, low), self._can_be(name, high)
        below, above = at_low & ~at_high, at_high & ~at_low
        bounds: Bounds = (
            np.where(above, self._last_good(name, high, np.where(above, low, high)), low) if above.any() else None,
            np.where(below, self._last_good(name, low, np.where(below, high, low)), high) if below.any() else None,
        )
        if self.domains.narrow(Reference(name), self.scope, self.relation, bounds):
            self.changed.add(name)

    def _last_good(self, name: str, good: Numbers, bad: Numbers) -> Numbers:
        """The value closest to a bad one that can still be."""
        while (abs(exact.subtract(good, bad)) > 1).any():
            middle = exact.floor_divide(exact.add(good, bad), exact.constant(2))
            can_be = self._can_be(name, middle)
            good, bad = np.where(can_be, middle, good), np.where(can_be, bad, middle)
        return good

    def _can_be(self, name: str, values: Numbers) -> Numbers:
        """For each test case whether the relation may hold when a variable has this value."""
        relation, low, high = self.relation, self.domains.low[name], self.domains.high[name]
        self.domains.low[name] = self.domains.high[name] = values
        left, _ = self.domains.interval(relation.left, self.scope)
        most = relation.most if relation.right is None else self.domains.interval(relation.right, self.scope)[1]
        self.domains.low[name], self.domains.high[name] = low, high
        if most is None:
            return np.ones(len(low), dtype=bool)
        holds = left < most if relation.operator == "<" else left <= most
        return np.broadcast_to(holds, low.shape).astype(bool) if len(low) > 1 else np.array([bool(holds.all())])

    def _run(self) -> None:
        relation = self.relation
        if relation.right is None:
            if self.scope.tuples is not None:
                self._push(relation.left, (None, relation.most))
            return
        left = self.domains.interval(relation.left, self.scope)
        right = self.domains.interval(relation.right, self.scope)
        match relation.operator:
            case "==":
                self._push(relation.left, right)
                self._push(relation.right, left)
            case "<" | "<=":
                gap = exact.constant(1 if relation.operator == "<" else 0)
                self._push(relation.left, (None, exact.subtract(right[1], gap)))
                self._push(relation.right, (exact.add(left[0], gap), None))
            case "!=":
                self._push_apart(relation.left, left, right)
                self._push_apart(relation.right, right, left)

    def _push_apart(self, side: Expression, own: Interval, other: Interval) -> None:
        """A variable whose least or greatest value is the one that it must not have."""
        is_variable = isinstance(side, Reference) and side.name in self.domains.low
        if not is_variable or self.scope.tuples is None:
            return
        is_point = other[0] == other[1]
        at_low, at_high = is_point & (own[0] == other[0]), is_point & (own[1] == other[0])
        if at_low.any() or at_high.any():
            low, high = exact.add(own[0], at_low.astype(np.int64)), exact.subtract(own[1], at_high.astype(np.int64))
            self._push(side, (low, high))

    def _push(self, expression: Expression, bounds: Bounds) -> None:
        """Keep an expression within bounds by narrowing what stands in it."""
        domains, scope = self.domains, self.scope
        match expression:
            case Reference():
                if self._is_variable(expression) and domains.narrow(expression, scope, self.relation, bounds):
                    self.changed.add(expression.name)
            case Operation(operator, left, right):
                for side, other, is_right in ((left, right, False), (right, left, True)):
                    if self._has_variables(side):
                        one, another = domains.interval(side, scope), domains.interval(other, scope)
                        self._push(side, invert(operator, bounds, another, one, is_right))
            case Extreme(which, of):
                self._push_extreme(which, of, bounds)

    def _is_variable(self, reference: Reference) -> bool:
        indices = self.scope.bounds if self.scope.tuples is None else self.scope.tuples.indices
        return reference.name in self.domains.low and (bool(reference.indices) or reference.name not in indices)

    def _push_extreme(self, which: str, of: tuple[Expression, ...], bounds: Bounds) -> None:
        """Each one keeps the bound that all keep, and the other bound if no other one can keep it."""
        lower, upper = bounds
        for place, each in enumerate(of):
            if not self._has_variables(each):
                continue
            others = [self.domains.interval(other, self.scope) for at, other in enumerate(of) if at != place]
            if which == "max":
                alone = lower is not None and all((other[1] < lower).all() for other in others)
                self._push(each, (lower if alone else None, upper))
            else:
                alone = upper is not None and all((other[0] > upper).all() for other in others)
                self._push(each, (lower, upper if alone else None))

    def _has_variables(self, expression: Expression) -> bool:
        return bool(names_in([expression]) & self.domains.low.keys())
