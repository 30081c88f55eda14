"""Which values are left for each variable: intervals for all elements, narrowed by what is known already.

A comparison narrows each variable in it to what the intervals of the others leave ("hull consistency" through the tree
of an expression: Benhamou et al., Revising hull and box consistency, ICLP 1999). All elements of all test cases are
narrowed at once. While the extents of a row are unknown, one interval stands for all its elements.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from eval.made_tests import exact
from eval.made_tests.drawing._errors import CannotDraw
from eval.made_tests.drawing._implied import covers
from eval.made_tests.drawing._inverting import ANYTHING, UNBOUNDED, Bounds, Interval, operate
from eval.made_tests.drawing._relations import Narrowing, Relation, Scope
from eval.made_tests.exact import Numbers
from eval.made_tests.flat import Layout, TooManyTuples, no_indices, segment_sums
from eval.made_tests.grammar import (
    Comparison,
    Constant,
    Constraint,
    Expression,
    Extreme,
    Index,
    Kind,
    Length,
    Operation,
    Reference,
    Sum,
    Variable,
)
from eval.made_tests.mentions import names_in
from eval.made_tests.shape import INDEX_NAMES
from eval.made_tests.wording import constraint_text, count_text

MAX_TURNS = 6
"""So often a comparison narrows anew what it has narrowed, when its other variables have changed."""


class Domains:
    """The intervals of the integer variables of a problem, and the relations that narrow them."""

    def __init__(self, variables: Mapping[str, Variable], per_case: frozenset[str], count: str | None) -> None:
        self.variables = variables
        self.per_case = per_case
        self.count = count
        self.low: dict[str, Numbers] = {}
        self.high: dict[str, Numbers] = {}
        self.layouts: dict[str, Layout] = {}
        self.relations: list[Relation] = []
        self._mentioning: dict[str, list[int]] = {}
        self._scopes: dict[tuple[object, ...], Scope] = {}
        for name, variable in variables.items():
            if variable.kind is Kind.INTEGER:
                self.low[name], self.high[name] = ANYTHING

    def copy(self) -> Domains:
        """The same state, to go on from more than once; arrays are never changed in place."""
        other = Domains.__new__(Domains)
        other.variables, other.per_case, other.count = self.variables, self.per_case, self.count
        other.low, other.high, other.layouts = dict(self.low), dict(self.high), dict(self.layouts)
        other.relations, other._scopes = list(self.relations), dict(self._scopes)
        other._mentioning = {name: list(places) for name, places in self._mentioning.items()}
        return other

    def compare(self, comparison: Comparison, origin: Constraint | None = None) -> None:
        """Keep a comparison from now on, which follows from a constraint (None: is one)."""
        names = names_in((comparison.left, comparison.right, *(b for i in comparison.indices for b in (i.low, i.high))))
        text = constraint_text(comparison)
        if origin is not None:
            text = f"{text}, as {constraint_text(origin)},"
        self.add(
            Relation(
                comparison.left,
                comparison.operator,
                comparison.right,
                comparison.indices,
                bool(names & self.per_case),
                text,
            )
        )

    def add(self, relation: Relation) -> int:
        """Keep a relation from now on, and say its number."""
        self.relations.append(relation)
        for name in names_in(relation.expressions):
            self._mentioning.setdefault(name, []).append(len(self.relations) - 1)
        return len(self.relations) - 1

    @property
    def n_cases(self) -> int | None:
        """The number of test cases where it is settled."""
        if self.count is None:
            return 1
        low, high = int(self.low[self.count][0]), int(self.high[self.count][0])
        return low if low == high else None

    def is_settled(self, name: str) -> bool:
        """Whether each element has but one value left, and the number of elements is known."""
        return name in self.layouts and name in self.low and bool((self.low[name] == self.high[name]).all())

    def assign(self, name: str, values: Numbers) -> None:
        """Settle a variable, and narrow the others; CannotDraw."""
        self.low[name] = self.high[name] = exact.narrowed(values)
        self.propagate([name])

    def propagate(self, names: Iterable[str] | None = None) -> None:
        """Narrow what depends on these variables (None: everything); CannotDraw where nothing is left."""
        self._propagate(range(len(self.relations)) if names is None else self._dependent(names))

    def narrow_by(self, relation: Relation) -> None:
        """Keep a relation from now on, and narrow by it at once; CannotDraw."""
        self._propagate([self.add(relation)])

    def _propagate(self, places: Iterable[int]) -> None:
        waiting = deque(places)
        turns: dict[int, int] = {}
        while True:
            while waiting:
                place = waiting.popleft()
                turns[place] = turns.get(place, 0) + 1
                for other in self._dependent(self._narrow_by(self.relations[place])):
                    if other != place and other not in waiting and turns.get(other, 0) < MAX_TURNS:
                        waiting.append(other)
            laid = self._lay_out()
            if not laid:
                return
            waiting.extend(self._dependent(laid))

    def _dependent(self, names: Iterable[str]) -> list[int]:
        return sorted({place for name in names for place in self._mentioning.get(name, ())})

    def _lay_out(self) -> list[str]:
        """Give an interval to each element of the variables whose extents have become known."""
        laid = []
        for name, variable in self.variables.items():
            if name in self.layouts or (layout := self._layout(variable)) is None:
                continue
            self.layouts[name] = layout
            if name in self.low:
                self.low[name] = exact.narrowed(np.repeat(self.low[name], layout.size))
                self.high[name] = exact.narrowed(np.repeat(self.high[name], layout.size))
                laid.append(name)
        return laid

    def _layout(self, variable: Variable) -> Layout | None:
        is_per_case = variable.name in self.per_case
        n_cases = self.n_cases
        if is_per_case and n_cases is None:
            return None
        tuples = no_indices(n_cases if is_per_case else None)
        layout = Layout().below(np.array([n_cases])) if is_per_case else Layout()
        first = exact.constant(variable.first_index)
        for name, extent in zip(INDEX_NAMES, variable.dimensions, strict=False):
            low, high = self.interval(extent, Scope(tuples))
            if (low != high).any() or (low < 0).any():
                return None
            counts = np.broadcast_to(low, (tuples.size,)).astype(np.int64)
            layout = layout.below(counts)
            tuples, _ = tuples.with_index(name, first, counts + variable.first_index - 1)
        return layout

    def scope(self, indices: Sequence[Index], is_per_case: bool) -> Scope:
        """All tuples of the indices where their bounds are settled."""
        key = (tuple(indices), is_per_case)
        if key in self._scopes:
            return self._scopes[key]
        n_cases = self.n_cases
        scope = self._open_scope(indices) if is_per_case and n_cases is None else None
        tuples = no_indices(n_cases if is_per_case else None)
        for index in indices if scope is None else ():
            low, high = (self.interval(bound, Scope(tuples)) for bound in (index.low, index.high))
            if (low[0] != low[1]).any() or (high[0] != high[1]).any():
                scope = self._open_scope(indices)
                break
            try:
                tuples, _ = tuples.with_index(index.name, low[0], high[0])
            except TooManyTuples:
                scope = self._open_scope(indices)
                break
        if scope is None:
            scope = self._scopes[key] = Scope(tuples)
        return scope

    def stated_least(self, expression: Expression, scope: Scope) -> Numbers:
        """What comparisons say an expression is at least, as it stands: of R + B more than the least R and B."""
        found = exact.constant(-UNBOUNDED)
        for relation in self.relations:
            if relation.right == expression and relation.operator in ("<", "<=") and not relation.indices:
                low, _ = self.interval(relation.left, scope)
                found = exact.at_least(found, exact.add(low, exact.constant(int(relation.operator == "<"))))
        return found

    def least(self, expression: Expression, indices: Sequence[Index] = ()) -> int:
        """The least that an expression may be at all."""
        low, _ = self.interval(expression, self._open_scope(indices))
        return int(low.min()) if low.size else 0

    def most(self, expression: Expression, indices: Sequence[Index] = ()) -> int:
        """The greatest that an expression may be at all."""
        _, high = self.interval(expression, self._open_scope(indices))
        return int(high.max()) if high.size else 0

    def refuse_unbounded(self, name: str) -> None:
        """CannotDraw where nothing bounds a variable."""
        for bounds, side in ((self.low[name], "below"), (self.high[name], "above")):
            if bounds.size and exact.greatest_magnitude(bounds) >= UNBOUNDED // 2:
                raise CannotDraw(f"nothing bounds {name} from {side}")

    def _open_scope(self, indices: Sequence[Index]) -> Scope:
        bounds: dict[str, Interval] = {}
        is_inhabited = True
        for index in indices:
            low, low_most = self.interval(index.low, Scope(None, bounds))
            high_least, high = self.interval(index.high, Scope(None, bounds))
            bounds[index.name] = (low, exact.at_least(low, high))
            is_inhabited = is_inhabited and bool((low_most <= high_least).all())
        return Scope(None, bounds, is_inhabited)

    def interval(self, expression: Expression, scope: Scope) -> Interval:
        """The least and the greatest that an expression may be, for each tuple or one for all."""
        match expression:
            case Constant(value):
                return exact.constant(value), exact.constant(value)
            case Reference():
                return self._reference(expression, scope)
            case Operation(operator, left, right):
                return operate(operator, self.interval(left, scope), self.interval(right, scope))
            case Extreme(which, of):
                choose = exact.at_most if which == "min" else exact.at_least
                low, high = self.interval(of[0], scope)
                for each in of[1:]:
                    other = self.interval(each, scope)
                    low, high = choose(low, other[0]), choose(high, other[1])
                return low, high
            case Sum():
                return self._sum(expression, scope)
            case Length():
                return exact.constant(0), exact.constant(UNBOUNDED)

    def _sum(self, expression: Sum, scope: Scope) -> Interval:
        index = expression.index
        low, high = self.interval(index.low, scope), self.interval(index.high, scope)
        is_settled = not (low[0] != low[1]).any() and not (high[0] != high[1]).any()
        if scope.tuples is not None and is_settled:
            inner, counts = scope.tuples.with_index(index.name, low[0], high[0])
            one, other = self.interval(expression.expression, Scope(inner))
            shape = (inner.size,)
            return segment_sums(np.broadcast_to(one, shape), counts), segment_sums(
                np.broadcast_to(other, shape), counts
            )
        bounds = {**scope.bounds, index.name: (_least(low[0]), _greatest(high[1]))}
        one, other = self.interval(expression.expression, Scope(None, bounds))
        nothing = exact.constant(0)
        fewest = exact.at_least(_least(exact.subtract(high[0], low[1])) + 1, nothing)
        most = exact.at_least(_greatest(exact.subtract(high[1], low[0])) + 1, nothing)
        return operate("*", (fewest, most), (_least(one), _greatest(other)))

    def _reference(self, reference: Reference, scope: Scope) -> Interval:
        name = reference.name
        if not reference.indices:
            if scope.tuples is not None and name in scope.tuples.indices:
                return scope.tuples.indices[name], scope.tuples.indices[name]
            if name in scope.bounds:
                return scope.bounds[name]
        if name not in self.low:
            return ANYTHING
        if (places := self.places(reference, scope)) is not None:
            return self.low[name][places], self.high[name][places]
        return _least(self.low[name]), _greatest(self.high[name])

    def places(self, reference: Reference, scope: Scope) -> Numbers | None:
        """Where the elements that a reference names stand, for each tuple; None while that is open."""
        name = reference.name
        if name not in self.layouts or (scope.tuples is None and (reference.indices or name in self.per_case)):
            return None
        indices = []
        for index in reference.indices:
            low, high = self.interval(index, scope)
            if (low != high).any():
                return None
            indices.append(exact.subtract(low, exact.constant(self.variables[name].first_index)))
        if name in self.per_case:
            if scope.tuples is None or scope.tuples.case is None:
                return None
            indices.insert(0, scope.tuples.case)
        nodes, there = self.layouts[name].positions(indices)
        if not there.all() and scope.tuples is not None and scope.tuples.size:
            raise CannotDraw(f"a constraint names elements of {name} that are not there")
        return nodes

    def _narrow_by(self, relation: Relation) -> set[str]:
        scope = self.scope(relation.indices, relation.is_per_case)
        if scope.tuples is not None and not scope.tuples.size:
            return set()
        narrowing = Narrowing(self, relation, scope)
        narrowing.run()
        return narrowing.changed

    def narrow(self, reference: Reference, scope: Scope, relation: Relation, bounds: Bounds) -> bool:
        """Keep the elements that a reference names within bounds; whether that changed anything; CannotDraw."""
        name, variable = reference.name, self.variables[reference.name]
        if not variable.dimensions and not scope.is_inhabited:
            return False  # the relation may be one of nothing
        places = self.places(reference, scope)
        if places is None:
            is_scalar = not variable.dimensions and (name in self.per_case or name in self.layouts)
            if not (is_scalar and not relation.indices) and not covers(reference, relation.indices, variable):
                return False
            if name in self.layouts:
                places = np.arange(self.layouts[name].size)
            bounds = _hull(bounds)
        low, high = self.low[name], self.high[name]
        new_low, new_high = _at(low, places, bounds[0], np.maximum), _at(high, places, bounds[1], np.minimum)
        if places is None and variable.dimensions and (new_low > new_high).any():
            return False  # a row without elements would still do
        if (new_low > new_high).any():
            place = int(np.argmax(new_low > new_high))
            raise CannotDraw(
                f"{relation.text} cannot be kept: {name} would be at least {_bound(new_low[place])} "
                f"and at most {_bound(new_high[place])}"
            )
        changed = bool((new_low != low).any() or (new_high != high).any())
        if changed:
            self.low[name], self.high[name] = exact.narrowed(new_low), exact.narrowed(new_high)
        return changed


def _least(array: Numbers) -> Numbers:
    return exact.numbers([array.min().item() if array.dtype != object else array.min()]) if array.size else array


def _greatest(array: Numbers) -> Numbers:
    return exact.numbers([array.max().item() if array.dtype != object else array.max()]) if array.size else array


def _bound(value: int) -> str:
    return "anything" if abs(value) >= UNBOUNDED // 2 else count_text(int(value))


def _hull(bounds: Bounds) -> Bounds:
    lower, upper = bounds
    return None if lower is None else _least(lower), None if upper is None else _greatest(upper)


def _at(array: Numbers, places: Numbers | None, bounds: Numbers | None, better: np.ufunc) -> Numbers:
    """The array with the better of its element and the bound at each of these places (None: at all)."""
    if bounds is None or (bounds.size == 1 and abs(bounds[0]) >= UNBOUNDED // 2):
        return array
    if array.dtype != bounds.dtype:
        array, bounds = array.astype(object), bounds.astype(object)
    if not bounds.size:
        return array
    is_whole = places is None or (len(places) == len(array) and len(bounds) <= len(array) and _is_all(places))
    if places is None or is_whole:
        result: Numbers = better(array, bounds)
        return result
    result = array.copy()
    if len(places) == 1:
        result[places] = better(array[places], better.reduce(bounds))
    else:
        better.at(result, places, bounds)
    return result


def _is_all(places: Numbers) -> bool:
    return bool((places == np.arange(len(places))).all())
