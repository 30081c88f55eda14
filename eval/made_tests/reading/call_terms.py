"""Expressions of a LeetCode statement in the names of a grammar, and over which indices they hold. Pure.

"edges[i][0]" and "a_i" become the column that they are, "nums.length" the variable that is this length.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from eval.made_tests.grammar import (
    Constant,
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
from eval.made_tests.reading.call_shapes import ROW, Shapes, with_row
from eval.made_tests.reading.terms import NotUnderstood, operation, references, replaced, simplified

TOTAL = "sumof"
"""The beginning of names that stand for the sum of a whole array."""


@dataclass(frozen=True)
class Range:
    """What a sentence says of an index: "for all i >= 1". None is where the array begins or ends."""

    low: Expression | None = None
    high: Expression | None = None


def variants(expressions: tuple[Expression, ...], shapes: Shapes) -> Iterator[tuple[Expression, ...]]:
    """The expressions in the names of the grammar: once for each column where queries[i][j] means all of them."""
    widths = {
        found.indices[1].name: len(shapes.columns[found.name])
        for expression in expressions
        for found in references(expression)
        if found.name in shapes.columns and len(found.indices) == 2 and _is_free(found.indices[1], shapes)
        if isinstance(found.indices[1], Reference)
    }
    if len(widths) > 1:
        raise NotUnderstood("two indices run over columns")
    name, width = next(iter(widths.items()), ("", 1))
    for place in range(width):
        chosen = {name: Constant(place)} if name else {}
        numbered = [replaced(expression, chosen) for expression in expressions]
        for choice in range(_n_meanings(numbered, shapes)):
            yield tuple(simplified(resolved(expression, shapes, choice)) for expression in numbered)


def _is_free(index: Expression, shapes: Shapes) -> bool:
    return isinstance(index, Reference) and not index.indices and index.name not in shapes.names


def _n_meanings(expressions: Iterable[Expression], shapes: Shapes) -> int:
    """How many tables have the columns that are named: their names are the same in all of them."""
    numbers = {
        len(columns)
        for expression in expressions
        for found in references(expression)
        if (columns := _columns_called(found, shapes))
    }
    if len(numbers) > 1:
        raise NotUnderstood("names of columns that are in one table, and in two")
    return next(iter(numbers), 1)


def _columns_called(found: Reference, shapes: Shapes) -> tuple[str, ...]:
    """The columns that a name means: "l_i" is a column, even where l is a number."""
    known = shapes.variables.get(found.name)
    if len(found.indices) > 1 or (known is not None and len(known.dimensions) == len(found.indices)):
        return ()
    return shapes.aliases.get((found.name, bool(found.indices)), ())


def resolved(expression: Expression, shapes: Shapes, choice: int = 0) -> Expression:
    """The expression in the names of the grammar; ``NotUnderstood`` for a name that nothing has, and for whole rows."""
    if isinstance(expression, Reference):
        return _resolved_reference(expression, shapes, choice)
    if isinstance(expression, Length):
        return _resolved_length(expression.of, shapes, choice)
    if isinstance(expression, Operation):
        left, right = resolved(expression.left, shapes, choice), resolved(expression.right, shapes, choice)
        return operation(expression.operator, left, right)
    if isinstance(expression, Extreme):
        return Extreme(expression.which, tuple(resolved(each, shapes, choice) for each in expression.of))
    if isinstance(expression, Sum):
        raise NotUnderstood("a sum over an index")
    return expression


def _resolved_reference(found: Reference, shapes: Shapes, choice: int) -> Expression:
    name, indices = found.name, tuple(_resolved_index(index, shapes) for index in found.indices)
    if name.startswith(TOTAL):
        return _total(name.removeprefix(TOTAL), shapes)
    if columns := _columns_called(found, shapes):
        return Reference(columns[choice], indices or (ROW,))
    if name in shapes.columns:
        return _column(name, indices, shapes)
    if name in shapes.variables:
        variable = shapes.variables[name]
        missing = len(variable.dimensions) - len(indices)
        if missing == 0 or (missing == -1 and variable.kind is Kind.STRING):
            return Reference(name, indices)
        raise NotUnderstood(f"{name} is not one value here")
    raise NotUnderstood(f"nothing is called {name}")


def _column(name: str, indices: tuple[Expression, ...], shapes: Shapes) -> Expression:
    if len(indices) != 2 or not isinstance(indices[1], Constant):
        raise NotUnderstood(f"{name} is not one value here")
    if not 0 <= indices[1].value < len(shapes.columns[name]):
        raise NotUnderstood(f"{name} has no column {indices[1].value}")
    return Reference(shapes.columns[name][indices[1].value], indices[:1])


def _resolved_index(index: Expression, shapes: Shapes) -> Expression:
    """An index: free names stay."""
    if _is_free(index, shapes):
        return index
    if isinstance(index, Operation):
        left, right = _resolved_index(index.left, shapes), _resolved_index(index.right, shapes)
        return operation(index.operator, left, right)
    return resolved(index, shapes)


def _resolved_length(of: Reference, shapes: Shapes, choice: int) -> Expression:
    indices = tuple(_resolved_index(index, shapes) for index in of.indices)
    columns = _columns_called(of, shapes)
    if of.name in shapes.parameters and not columns:
        known = shapes.parameters[of.name]
        if known.kind is Kind.STRING and len(indices) == known.depth:
            return Length(Reference(of.name, indices))
        if len(indices) >= known.depth:
            raise NotUnderstood(f"the length of a number in {of.name}")
        if not indices:
            return _array_length(shapes.length_of(of.name))
        if of.name in shapes.columns:
            return Constant(len(shapes.columns[of.name]))
        return with_row(shapes.variables[of.name].dimensions[1], indices[0])
    columns = columns or shapes.aliases.get((of.name, bool(indices)), ())
    if not columns or len(indices) > 1 or shapes.variables[columns[choice]].kind is not Kind.STRING:
        raise NotUnderstood(f"nothing called {of.name} has a length")
    return Length(Reference(columns[choice], indices or (ROW,)))


def _array_length(length: Expression | None) -> Expression:
    if length is None:
        raise NotUnderstood("the length of what is no array")
    return length


def _total(name: str, shapes: Shapes) -> Expression:
    variable = shapes.variables.get(name)
    if variable is None or len(variable.dimensions) != 1 or variable.kind is not Kind.INTEGER:
        raise NotUnderstood(f"the sum of {name}")
    last = simplified(operation("-", variable.dimensions[0], Constant(1)))
    return Sum(Reference(name, (ROW,)), Index("i", Constant(0), last))


def indices_of(
    expressions: Iterable[Expression], variables: Mapping[str, Variable], said: Mapping[str, Range]
) -> tuple[Index, ...]:
    """The indices that stand free in expressions, each over the whole array unless something else is said of it.

    ``NotUnderstood`` where an index belongs to arrays of several lengths, or goes beyond the end of one.
    """
    extents: dict[str, list[Expression]] = {}
    for expression in expressions:
        for found in references(expression):
            for index, extent in places_of(found, variables):
                _note(index, extent, variables, said, extents)
    for name in said:
        if name not in extents:
            raise NotUnderstood(f"{name} stands nowhere")
    return tuple(_index(name, found, said.get(name, Range())) for name, found in extents.items())


def places_of(found: Reference, variables: Mapping[str, Variable]) -> Iterator[tuple[Expression, Expression]]:
    """The indices of a reference, each with the number of values that it may have; none for what is no variable."""
    if not found.indices or found.name not in variables:
        return
    dimensions = variables[found.name].dimensions
    for place, index in enumerate(found.indices):
        if place < len(dimensions):
            yield index, with_row(dimensions[place], found.indices[0]) if place else dimensions[place]
        else:
            yield index, Length(Reference(found.name, found.indices[:place]))


def _note(
    index: Expression,
    extent: Expression,
    variables: Mapping[str, Variable],
    said: Mapping[str, Range],
    extents: dict[str, list[Expression]],
) -> None:
    free = [found.name for found in references(index) if not found.indices and found.name not in variables]
    if isinstance(index, Reference) and free:
        extents.setdefault(index.name, []).append(extent)
        return
    for name in free:
        # Of nums[i + 1] the statement has to say where i ends.
        if name not in said or said[name].low is None or said[name].high is None:
            raise NotUnderstood(f"nothing says how far {name} goes")
        extents.setdefault(name, [])


def _index(name: str, extents: list[Expression], said: Range) -> Index:
    if len(set(extents)) > 1 and said.high is None:
        raise NotUnderstood(f"{name} is an index of arrays of several lengths")
    high = said.high
    if high is None:
        if not extents:
            raise NotUnderstood(f"nothing says how far {name} goes")
        high = simplified(operation("-", extents[0], Constant(1)))
    return Index(name, said.low or Constant(0), high)
