"""What constraints imply for sizes: a tree has N-1 edges, K different values need a range of K. Pure.

Without these, sizes would be drawn for which no elements exist.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from eval.made_tests.drawing._rewriting import are_equal, linear, plus, substituted, times
from eval.made_tests.grammar import (
    Characters,
    Comparison,
    Constant,
    Constraint,
    Distinct,
    Expression,
    Extreme,
    Grammar,
    Graph,
    GraphKind,
    Index,
    Kind,
    Occurrences,
    OneOf,
    Operation,
    Permutation,
    Reference,
    Sorted,
    SumAtMost,
    Variable,
)
from eval.made_tests.mentions import names_in, number_of_cases
from eval.made_tests.shape import INDEX_NAMES

ZERO = Constant(0)


def loops(variable: Variable) -> tuple[Index, ...]:
    """Indices that run over all elements of a variable."""
    first = Constant(variable.first_index)
    return tuple(
        Index(name, first, plus(extent, variable.first_index - 1))
        for name, extent in zip(INDEX_NAMES, variable.dimensions, strict=False)
    )


def element(variable: Variable) -> Reference:
    """The element of a variable at the indices of ``loops``."""
    return Reference(variable.name, tuple(Reference(index.name) for index in loops(variable)))


def covers(reference: Reference, indices: tuple[Index, ...], variable: Variable) -> bool:
    """Whether a reference names each element of its variable as its indices run."""
    if len(reference.indices) != len(variable.dimensions):
        return False
    named = {index.name: index for index in indices}
    names: list[str] = []
    renamed: dict[str, Expression] = {}
    for place, (at, extent) in enumerate(zip(reference.indices, variable.dimensions, strict=True)):
        if not isinstance(at, Reference) or at.indices or at.name not in named or at.name in names:
            return False
        index = named[at.name]
        end = plus(substituted(extent, renamed), variable.first_index - 1)
        if index.low != Constant(variable.first_index) or not are_equal(index.high, end):
            return False
        names.append(at.name)
        renamed[INDEX_NAMES[place]] = Reference(at.name)
    return True


def length_of_all(length: Variable, grammar: Grammar) -> Expression:
    """What the length of each string of a variable is equal to, else the length itself."""
    for each in grammar.constraints:
        if not isinstance(each, Comparison) or each.operator != "==":
            continue
        bound_names = {index.name for index in each.indices}
        for side, other in ((each.left, each.right), (each.right, each.left)):
            if not isinstance(side, Reference) or side.name != length.name:
                continue
            if covers(side, each.indices, length) and not names_in([other]) & bound_names:
                return other
    return element(length)


class Implications:
    """Comparisons that follow from a grammar whose lengths are variables."""

    def __init__(self, grammar: Grammar, lengths: dict[str, str]) -> None:
        self.grammar = grammar
        self.variables = {variable.name: variable for variable in grammar.variables}
        self.lengths = lengths
        self.given = [each for each in grammar.constraints if isinstance(each, Comparison)]

    def comparisons(self) -> Iterator[tuple[Comparison, Constraint | None]]:
        """All of them, in the order of the grammar, each with the constraint that it follows from."""
        count = number_of_cases(self.grammar)
        if count is not None:
            yield Comparison(ZERO, "<=", count), None
        for variable in self.grammar.variables:
            for comparison in (*self._extents(variable), *self._counted(variable)):
                yield comparison, None
        for constraint in self.grammar.constraints:
            for comparison in self._of(constraint):
                yield comparison, constraint

    def _extents(self, variable: Variable) -> Iterator[Comparison]:
        indices = loops(variable)
        for place, extent in enumerate(variable.dimensions):
            if not isinstance(extent, Constant):
                yield Comparison(ZERO, "<=", extent, indices[:place])
        if variable.name in self.lengths.values():
            yield Comparison(ZERO, "<=", element(variable), indices)

    def _of(self, constraint: Constraint) -> Iterator[Comparison]:
        match constraint:
            case Graph():
                yield from self._graph(constraint)
            case Permutation():
                yield from self._permutation(constraint)
            case Distinct(names) if self.variables[names[0]].dimensions:
                yield from self._distinct(constraint)
            case Sorted(name, _, True):
                yield from self._distinct(Distinct((name,), within_row=True))
            case OneOf(name, values) if name in self.lengths and values:
                sizes = [len(value) for value in values]
                yield from self._within(self.lengths[name], Constant(min(sizes)), Constant(max(sizes)))
            case OneOf(name, values) if self.variables[name].kind is Kind.INTEGER and values:
                numbers = [int(value) for value in values]
                yield from self._within(name, Constant(min(numbers)), Constant(max(numbers)))
            case Characters(name, _, each) if each:
                length = self.variables[self.lengths[name]]
                yield Comparison(Constant(len(set(each))), "<=", element(length), loops(length))

    def _within(self, name: str, low: Expression, high: Expression) -> Iterator[Comparison]:
        variable = self.variables[name]
        yield Comparison(low, "<=", element(variable), loops(variable))
        yield Comparison(element(variable), "<=", high, loops(variable))

    def _permutation(self, constraint: Permutation) -> Iterator[Comparison]:
        variable = self.variables[constraint.name]
        count = _folded(plus(Operation("-", constraint.high, constraint.low), 1))
        if not are_equal(variable.dimensions[-1], count):
            yield Comparison(variable.dimensions[-1], "==", count, loops(variable)[:-1])
        yield from self._within(constraint.name, constraint.low, constraint.high)

    def _graph(self, constraint: Graph) -> Iterator[Comparison]:
        n = _folded(plus(Operation("-", constraint.high, constraint.low), 1))
        first = self.variables[constraint.first]
        m = first.dimensions[0]
        if constraint.is_parents:
            yield Comparison(m, "==", n if constraint.root is not None else plus(n, -1))
            if constraint.root is None:
                yield from self._within(constraint.first, constraint.low, constraint.high)
            else:
                root = Constant(constraint.root)
                low, high = Extreme("min", (root, constraint.low)), Extreme("max", (root, constraint.high))
                yield from self._within(constraint.first, low, high)
            return
        kinds = constraint.kinds
        if GraphKind.TREE in kinds:
            yield Comparison(Constant(1), "<=", n)
            yield Comparison(m, "==", plus(n, -1))
        if GraphKind.CONNECTED in kinds:
            yield Comparison(plus(n, -1), "<=", m)
        pairs = times(n, plus(n, -1))
        is_half = not constraint.is_directed or GraphKind.ACYCLIC in kinds
        if GraphKind.SIMPLE in kinds:
            yield Comparison(m, "<=", Operation("/", pairs, Constant(2)) if is_half else pairs)
        if GraphKind.ACYCLIC in kinds and not constraint.is_directed:
            yield Comparison(m, "<=", plus(n, -1))
        for name in (constraint.first, constraint.second):
            if name is not None:
                yield from self._within(name, constraint.low, constraint.high)

    def _distinct(self, constraint: Distinct) -> Iterator[Comparison]:
        variables = [self.variables[name] for name in constraint.names]
        first = variables[0]
        if first.kind is Kind.STRING and len(variables) == 1:
            yield from self._distinct_strings(first)
        if any(variable.kind is not Kind.INTEGER for variable in variables):
            return
        extents = first.dimensions[-1:] if constraint.within_row else first.dimensions
        if not constraint.within_row and any(names_in([extent]) & set(INDEX_NAMES) for extent in extents):
            return
        for ranges in self._ranges_of(constraint, variables):
            count = self._combinations(constraint, list(ranges))
            yield Comparison(times(*extents), "<=", count, loops(first)[:-1] if constraint.within_row else ())

    def _distinct_strings(self, variable: Variable) -> Iterator[Comparison]:
        """So many strings that their letters keep within the sum that bounds them all."""
        letters = [
            each for each in self.grammar.constraints if isinstance(each, Characters) and each.name == variable.name
        ]
        for each in self.grammar.constraints:
            if not isinstance(each, SumAtMost) or not isinstance(each.limit, Constant) or not letters:
                continue
            if isinstance(each.expression, Reference) and each.expression.name == self.lengths[variable.name]:
                most = most_strings(each.limit.value, len(letters[0].characters))
                yield Comparison(times(*variable.dimensions), "<=", Constant(most))

    def _ranges_of(self, constraint: Distinct, variables: list[Variable]) -> Iterator[tuple[Expression, ...]]:
        """How many values there are for each variable; of A_i < B_i both lie between the least A and the greatest B."""
        operator = self.relation_of_pair(*constraint.names) if len(variables) == 2 else None
        if operator is None or operator == "!=":
            yield from product(*(self._ranges(variable) for variable in variables))
            return
        small, great = variables if operator in ("<", "<=") else reversed(variables)
        lows, highs = self.plain_bounds(small)[0], self.plain_bounds(great)[1]
        for low, high in product(dict.fromkeys(lows), dict.fromkeys(highs)):
            yield (_folded(plus(Operation("-", high, low), 1)),) * 2

    def _combinations(self, constraint: Distinct, ranges: list[Expression]) -> Expression:
        if len(ranges) == 2 and ranges[0] == ranges[1]:
            operator = self.relation_of_pair(*constraint.names)
            n = ranges[0]
            if operator in ("<", ">") or (constraint.unordered and operator == "!="):
                return Operation("/", times(n, plus(n, -1)), Constant(2))
            if operator in ("<=", ">=") or constraint.unordered:
                return Operation("/", times(n, plus(n, 1)), Constant(2))
            if operator == "!=":
                return times(n, plus(n, -1))
        return times(*ranges)

    def relation_of_pair(self, first: str, second: str) -> str | None:
        """ "<", "<=", "!=", ">" or ">=" where a comparison says it of the same elements of two rows; the narrowest."""
        found = set()
        for comparison in self.given:
            left, right = comparison.left, comparison.right
            if not (isinstance(left, Reference) and isinstance(right, Reference)) or left.indices != right.indices:
                continue
            if {left.name, right.name} == {first, second} and first != second:
                turned = {"<": ">", "<=": ">="}.get(comparison.operator, comparison.operator)
                found.add(comparison.operator if left.name == first else turned)
        if found >= {"<=", "!="}:
            return "<"
        if found >= {">=", "!="}:
            return ">"
        return next((operator for operator in ("<", ">", "!=", "<=", ">=") if operator in found), None)

    def _ranges(self, variable: Variable) -> list[Expression]:
        """How many values an element may have: one expression for each pair of its bounds without indices."""
        lows, highs = self.plain_bounds(variable)
        return [
            _folded(plus(Operation("-", high, low), 1))
            for low, high in product(dict.fromkeys(lows), dict.fromkeys(highs))
        ]

    def plain_bounds(self, variable: Variable) -> tuple[list[Expression], list[Expression]]:
        """Lower and upper bounds of all elements that name no index, both meant in."""
        lows: list[Expression] = []
        highs: list[Expression] = []
        for comparison in self.given:
            shift = {"<": 1, "<=": 0}.get(comparison.operator)
            bound_names = {index.name for index in comparison.indices}
            if shift is None:
                continue
            for side, other, into, sign in (
                (comparison.left, comparison.right, highs, -1),
                (comparison.right, comparison.left, lows, 1),
            ):
                if (
                    isinstance(side, Reference)
                    and side.name == variable.name
                    and covers(side, comparison.indices, variable)
                    and not names_in([other]) & bound_names
                    and all(self._is_plain(name) for name in names_in([other]))
                ):
                    into.append(plus(other, sign * shift))
        return lows, highs

    def _is_plain(self, name: str) -> bool:
        return name in self.variables and not self.variables[name].dimensions

    def _counted(self, variable: Variable) -> Iterator[Comparison]:
        """What is counted needs places: in each row or string, or in all of them together."""
        found = [
            each for each in self.grammar.constraints if isinstance(each, Occurrences) and each.name == variable.name
        ]
        for whole in (False, True):
            lows = [
                times(Constant(len(each.values)), each.low) for each in found if each.values and each.whole == whole
            ]
            if not lows:
                continue
            least = lows[0]
            for low in lows[1:]:
                least = Operation("+", least, low)
            extents = list(variable.dimensions)
            if variable.kind is Kind.STRING:
                extents.append(length_of_all(self.variables[self.lengths[variable.name]], self.grammar))
            is_open = any(names_in([extent]) & set(INDEX_NAMES) for extent in extents)
            if whole and not is_open:
                yield Comparison(least, "<=", times(*extents))
            elif not whole and extents:
                yield Comparison(
                    least, "<=", extents[-1], loops(variable)[: len(extents) - (variable.kind is not Kind.STRING)]
                )


def _folded(expression: Expression) -> Expression:
    """N for N - 1 + 1."""
    form = linear(expression)
    if not form.multiples:
        return Constant(form.constant)
    if len(form.multiples) == 1:
        ((part, factor),) = form.multiples
        if factor == 1:
            return plus(part, form.constant)
    return expression


def length_for(count: int, n_letters: int) -> int:
    """A length at which so many different strings are easily found: twice as many as there have to be."""
    if n_letters < 2 or count < 2:
        return 0 if count < 2 else count
    length = 1
    while n_letters**length < 2 * count:
        length += 1
    return length


def most_strings(limit: int, n_letters: int) -> int:
    """The greatest number of different strings of ``length_for`` letters that have at most so many letters together."""
    low, high = 1, max(limit, 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle * length_for(middle, n_letters) <= limit else (low, middle - 1)
    return low
