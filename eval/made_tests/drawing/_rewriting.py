"""A grammar as it is drawn from: lengths of strings and of rows are variables like others. Pure.

"|S_i| <= 10" becomes a comparison of the element i of a variable of its own, whose name is ``|S|``; it is drawn before
the string, and left out of the input.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from eval.made_tests.grammar import (
    AtLeastOne,
    Comparison,
    Constant,
    Constraint,
    Expression,
    Extreme,
    Grammar,
    Graph,
    Index,
    Kind,
    Length,
    Occurrences,
    Operation,
    Permutation,
    Reference,
    Remainder,
    Sum,
    SumAtMost,
    Variable,
)
from eval.made_tests.mentions import expressions_of, trimmed
from eval.made_tests.shape import INDEX_NAMES


@dataclass(frozen=True)
class Rewritten:
    """``lengths`` names the variable that says how long a string is; ``helpers`` are not part of an input."""

    grammar: Grammar
    lengths: Mapping[str, str]
    helpers: frozenset[str]


def with_lengths(grammar: Grammar) -> Rewritten:
    """The same grammar with a variable for each length that no variable gives."""
    rewriter = _Rewriter(grammar)
    variables = [rewriter.variable(variable) for variable in grammar.variables]
    constraints = tuple(_trimmed(mapped(constraint, rewriter.expression)) for constraint in grammar.constraints)
    per_case = grammar.per_case | {
        helper for name, helpers in rewriter.helpers_of.items() if name in grammar.per_case for helper in helpers
    }
    helpers = tuple(rewriter.helpers.values())
    changed = replace(grammar, variables=(*helpers, *variables), constraints=constraints, per_case=frozenset(per_case))
    return Rewritten(changed, rewriter.lengths, frozenset(rewriter.helpers))


class _Rewriter:
    def __init__(self, grammar: Grammar) -> None:
        self.variables = {variable.name: variable for variable in grammar.variables}
        self.helpers: dict[str, Variable] = {}
        self.helpers_of: dict[str, list[str]] = {}
        self.lengths: dict[str, str] = {}
        self.extents: dict[str, tuple[Expression, ...]] = {}
        for variable in grammar.variables:
            self._add_helpers(variable)
        # A second turn: an extent may be the length of something that stands after it.
        self.extents = {name: tuple(map(self.expression, extents)) for name, extents in self.extents.items()}

    def _add_helpers(self, variable: Variable) -> None:
        extents: list[Expression] = []
        for place, extent in enumerate(variable.dimensions):
            own = Length(Reference(variable.name, _free(place)))
            if extent == own:
                extents.append(self._helper(variable, f"|{variable.name}{'[]' * place}|", tuple(extents)))
            else:
                extents.append(extent)
        self.extents[variable.name] = tuple(extents)
        if variable.kind is Kind.STRING:
            self.lengths[variable.name] = f"|{variable.name}|"
            self._helper(variable, f"|{variable.name}|", tuple(extents))

    def _helper(self, variable: Variable, name: str, extents: tuple[Expression, ...]) -> Reference:
        self.helpers[name] = Variable(name, Kind.INTEGER, extents, variable.first_index)
        self.helpers_of.setdefault(variable.name, []).append(name)
        return Reference(name, _free(len(extents)))

    def variable(self, variable: Variable) -> Variable:
        """The variable with rewritten extents; those of its helpers are rewritten on the way."""
        for name in self.helpers_of.get(variable.name, ()):
            helper = self.helpers[name]
            extents = self.extents[variable.name][: len(helper.dimensions)]
            self.helpers[name] = replace(helper, dimensions=extents)
        return replace(variable, dimensions=self.extents[variable.name])

    def expression(self, expression: Expression) -> Expression:
        """The expression with references in the place of lengths."""
        return rebuilt(expression, self._length)

    def _length(self, expression: Expression) -> Expression | None:
        if not isinstance(expression, Length):
            return None
        name, indices = expression.of.name, tuple(map(self.expression, expression.of.indices))
        variable = self.variables.get(name)
        if variable is None:
            return None
        if len(indices) == len(variable.dimensions) and name in self.lengths:
            return Reference(self.lengths[name], indices)
        if len(indices) < len(variable.dimensions):
            return substituted(self.extents[name][len(indices)], dict(zip(INDEX_NAMES, indices, strict=False)))
        return None


def _trimmed(constraint: Constraint) -> Constraint:
    """The constraint without indices that nothing names; they hold for something, or it would not be said."""
    if not isinstance(constraint, Comparison | Remainder):
        return constraint
    kept = trimmed(constraint.indices, expressions_of(replace(constraint, indices=())))
    return replace(
        constraint, indices=tuple(each for each, was in zip(kept, constraint.indices, strict=True) if each == was)
    )


def _free(count: int) -> tuple[Expression, ...]:
    return tuple(Reference(name) for name in INDEX_NAMES[:count])


def rebuilt(expression: Expression, change: Callable[[Expression], Expression | None]) -> Expression:
    """The expression with every part for which ``change`` gives another one replaced, outer parts first."""
    result = change(expression)
    if result is not None:
        return result
    match expression:
        case Constant():
            result = expression
        case Reference(name, indices):
            result = Reference(name, tuple(rebuilt(each, change) for each in indices))
        case Length(of):
            result = Length(Reference(of.name, tuple(rebuilt(each, change) for each in of.indices)))
        case Operation(operator, left, right):
            result = Operation(operator, rebuilt(left, change), rebuilt(right, change))
        case Extreme(which, of):
            result = Extreme(which, tuple(rebuilt(each, change) for each in of))
        case Sum(inner, index):
            result = Sum(rebuilt(inner, change), _index(index, lambda bound: rebuilt(bound, change)))
    return result


def substituted(expression: Expression, by: Mapping[str, Expression]) -> Expression:
    """The expression with other expressions in the place of names without indices."""

    def change(part: Expression) -> Expression | None:
        return by.get(part.name) if isinstance(part, Reference) and not part.indices else None

    return rebuilt(expression, change)


def _index(index: Index, change: Callable[[Expression], Expression]) -> Index:
    return Index(index.name, change(index.low), change(index.high))


def mapped(constraint: Constraint, change: Callable[[Expression], Expression]) -> Constraint:
    """The constraint with each of its expressions changed."""
    match constraint:
        case Comparison(left, operator, right, indices):
            return Comparison(change(left), operator, change(right), tuple(_index(each, change) for each in indices))
        case Remainder(expression, modulus, remainder, indices):
            divisor = modulus if isinstance(modulus, int) else change(modulus)
            return Remainder(change(expression), divisor, remainder, tuple(_index(each, change) for each in indices))
        case SumAtMost(expression, limit, indices):
            return SumAtMost(change(expression), change(limit), tuple(_index(each, change) for each in indices))
        case Permutation() | Graph() | Occurrences():
            return replace(constraint, low=change(constraint.low), high=change(constraint.high))
        case AtLeastOne(comparison):
            inner = mapped(comparison, change)
            return AtLeastOne(inner) if isinstance(inner, Comparison) else constraint
    return constraint


@dataclass(frozen=True)
class Linear:
    """An expression as a constant and multiples of others."""

    constant: int
    multiples: frozenset[tuple[Expression, int]]


def linear(expression: Expression) -> Linear:
    """The expression in a form in which N + 1 - 1 and N are the same."""
    constant, multiples = _collect(expression, 1)
    kept = {part: factor for part, factor in multiples.items() if factor}
    return Linear(constant, frozenset(kept.items()))


def _collect(expression: Expression, factor: int) -> tuple[int, dict[Expression, int]]:
    match expression:
        case Constant(value):
            return value * factor, {}
        case Operation("+" | "-" as operator, left, right):
            constant, multiples = _collect(left, factor)
            other, others = _collect(right, factor if operator == "+" else -factor)
            for part, times in others.items():
                multiples[part] = multiples.get(part, 0) + times
            return constant + other, multiples
        case Operation("*", Constant(value), right):
            return _collect(right, factor * value)
        case Operation("*", left, Constant(value)):
            return _collect(left, factor * value)
    return 0, {expression: factor}


def are_equal(one: Expression, other: Expression) -> bool:
    """Whether two expressions are the same but for the order of sums and their constants."""
    return linear(one) == linear(other)


def plus(expression: Expression, number: int) -> Expression:
    """The expression and a constant, added."""
    if not number:
        return expression
    if isinstance(expression, Constant):
        return Constant(expression.value + number)
    return Operation("+" if number > 0 else "-", expression, Constant(abs(number)))


def times(*factors: Expression) -> Expression:
    """The product of expressions, without factors of 1."""
    kept = [factor for factor in factors if factor != Constant(1)]
    result: Expression = kept[0] if kept else Constant(1)
    for factor in kept[1:]:
        result = Operation("*", result, factor)
    return result
