"""Which variables have no bounds: nothing can be drawn for them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eval.made_tests.grammar import (
    Characters,
    Comparison,
    Constant,
    Constraint,
    Distinct,
    Expression,
    Index,
    Kind,
    Length,
    OneOf,
    Permutation,
    Reference,
    SumAtMost,
    Variable,
)
from eval.made_tests.reading.scope import PLACES
from eval.made_tests.reading.terms import difference, operation, parts, references, replaced, simplified


def unbounded(
    variables: Sequence[Variable], constraints: Sequence[Constraint], tables: frozenset[str]
) -> Iterator[str]:
    """What is missing for each variable, in words."""
    for variable in variables:
        named = [each for each in constraints if getattr(each, "name", None) == variable.name]
        if variable.name in tables and not _are_digits(variable, constraints):
            yield f"(nothing says that {variable.name} has one digit)"
        if any(isinstance(each, OneOf | Permutation) for each in named):
            continue
        is_string = variable.kind is Kind.STRING
        if is_string and not any(isinstance(each, Characters) for each in named):
            yield f"(nothing says which characters {variable.name} has)"
        low, high = _ends(variable, constraints, is_string)
        if not (low and high):
            yield f"(no bounds for {'the length of ' if is_string else ''}{variable.name})"


def counts(variables: Sequence[Variable], constraints: Sequence[Constraint]) -> Iterator[Comparison]:
    """That what counts elements is not below zero, where nothing else holds it from below."""
    extents = {extent for variable in variables for extent in variable.dimensions if isinstance(extent, Reference)}
    for variable in variables:
        element = Reference(variable.name, tuple(Reference(PLACES[place]) for place in range(len(variable.dimensions))))
        if variable.kind is not Kind.INTEGER or element not in extents or _ends(variable, constraints, False)[0]:
            continue
        first = Constant(variable.first_index)
        indices = [
            Index(PLACES[place], first, simplified(operation("-", operation("+", extent, first), Constant(1))))
            for place, extent in enumerate(variable.dimensions)
        ]
        yield Comparison(Constant(0), "<=", element, tuple(indices))


def with_permutations(variables: Sequence[Variable], constraints: Sequence[Constraint]) -> list[Constraint]:
    """The constraints with a permutation where a row has as many distinct elements as there are numbers for it."""
    rows = {variable.name: variable for variable in variables if len(variable.dimensions) == 1}
    result: list[Constraint] = []
    for each in constraints:
        if isinstance(each, Distinct) and len(each.names) == 1 and each.names[0] in rows:
            result.append(_permutation(rows[each.names[0]], constraints) or each)
        else:
            result.append(each)
    return result


def _permutation(row: Variable, constraints: Sequence[Constraint]) -> Permutation | None:
    for low in constraints:
        if not _is_bound(low, row, left=False) or not isinstance(low, Comparison) or not isinstance(low.left, Constant):
            continue
        for high in constraints:
            if isinstance(high, Comparison) and _is_bound(high, row, left=True):
                count = operation("+", operation("-", high.right, low.left), Constant(1))
                if difference(count, row.dimensions[0]) == 0:
                    return Permutation(row.name, low.left, high.right)
    return None


def _is_bound(constraint: Constraint, row: Variable, *, left: bool) -> bool:
    """Whether a comparison with "<=" has each element of a row on one of its sides, and no index on the other."""
    if not isinstance(constraint, Comparison) or constraint.operator != "<=" or len(constraint.indices) != 1:
        return False
    index = Reference(constraint.indices[0].name)
    side, other = (constraint.left, constraint.right) if left else (constraint.right, constraint.left)
    return side == Reference(row.name, (index,)) and index not in references(other)


def _ends(variable: Variable, constraints: Sequence[Constraint], is_string: bool) -> tuple[bool, bool]:
    """Whether something holds all elements from below, and from above."""
    low, high = _Cover(variable), _Cover(variable)
    for constraint in constraints:
        if isinstance(constraint, SumAtMost):
            for of in _found(constraint.expression, variable.name, is_string):
                high.add(of, constraint)
        if not isinstance(constraint, Comparison) or constraint.operator == "!=":
            continue
        sides = [(constraint.left, high), (constraint.right, low)]
        if constraint.operator == "==":
            sides += [(constraint.left, low), (constraint.right, high)]
        for side, cover in sides:
            for of in _found(side, variable.name, is_string):
                cover.add(of, constraint)
    return low.is_whole, high.is_whole


def _found(expression: Expression, name: str, is_string: bool) -> Iterator[Reference]:
    """The references to a variable in an expression (or to its length), not those in indices."""
    if isinstance(expression, Reference):
        if expression.name == name and not is_string:
            yield expression
        return
    if isinstance(expression, Length):
        if expression.of.name == name and is_string:
            yield expression.of
        return
    for part in parts(expression):
        yield from _found(part, name, is_string)


class _Cover:
    """Which elements of a variable something is said of."""

    def __init__(self, variable: Variable) -> None:
        self._variable = variable
        self._single: set[int] = set()
        self.is_whole = False

    def add(self, of: Reference, constraint: Comparison | SumAtMost) -> None:
        """Add a reference in a constraint."""
        dimensions, first = self._variable.dimensions, self._variable.first_index
        if len(of.indices) != len(dimensions):
            return
        if len(dimensions) == 1 and isinstance(of.indices[0], Constant) and isinstance(dimensions[0], Constant):
            self._single.add(of.indices[0].value)
            self.is_whole = self.is_whole or self._single >= set(range(first, first + min(dimensions[0].value, 1000)))
            return
        if isinstance(constraint, SumAtMost) and len(constraint.indices) != len(dimensions):
            return
        self.is_whole = self.is_whole or all(
            self._goes_through(of, place, constraint) for place in range(len(dimensions))
        )

    def _goes_through(self, of: Reference, place: int, constraint: Comparison | SumAtMost) -> bool:
        index = of.indices[place]
        loop = next((each for each in constraint.indices if index == Reference(each.name)), None)
        if loop is None:
            return False
        before = dict(zip(PLACES, of.indices[:place], strict=False))
        extent = replaced(self._variable.dimensions[place], before)
        first = Constant(self._variable.first_index)
        last = operation("-", operation("+", extent, first), Constant(1))
        return difference(loop.low, first) == 0 and difference(loop.high, last) == 0


def _are_digits(variable: Variable, constraints: Sequence[Constraint]) -> bool:
    """Whether constants hold all elements between 0 and 9."""
    low = high = False
    for each in constraints:
        if isinstance(each, OneOf) and each.name == variable.name:
            return all(len(value) == 1 and value.isdigit() for value in each.values)
        if isinstance(each, Comparison) and each.operator in ("<", "<="):
            left, right = each.left, each.right
            strict = int(each.operator == "<")
            if isinstance(left, Constant) and isinstance(right, Reference) and right.name == variable.name:
                low = low or left.value + strict >= 0
            if isinstance(right, Constant) and isinstance(left, Reference) and left.name == variable.name:
                high = high or right.value - strict <= 9
    return low and high
