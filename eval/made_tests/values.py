"""Whether an input has the shape of a grammar and keeps its constraints; exact integer arithmetic. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

from eval.made_tests import exact
from eval.made_tests.checks import broken
from eval.made_tests.flat import NoSuchElement, TooManyTuples, calculate
from eval.made_tests.grammar import (
    Constant,
    Expression,
    Extreme,
    Grammar,
    InputRefused,
    Kind,
    Length,
    Operation,
    Reference,
    Sum,
    Value,
    Values,
    Variable,
)
from eval.made_tests.shape import flatten
from eval.made_tests.wording import constraint_text, expression_text, shown

MAX_SUMMED = 1_000_000
"""So many values of a sum's index are added up, and no more."""


def check(grammar: Grammar, values: Values) -> None:
    """Refuse an input that has not the shape of the grammar or breaks a constraint: InputRefused names it.

    Variables of test cases have one value for each case, and a constraint on them holds in each case; a sum over all
    cases holds over all. An input of 10^5 elements takes some ten milliseconds.
    """
    with _refusing("the extents cannot be computed"):
        flats, n_cases = flatten(grammar, values)
    for constraint in grammar.constraints:
        text = constraint_text(constraint)
        with _refusing(f"{text} cannot be computed"):
            what = broken(constraint, grammar, flats, n_cases)
        if what is not None:
            raise InputRefused(f"{text} does not hold{what}")


@contextmanager
def _refusing(what: str) -> Iterator[None]:
    try:
        yield
    except NoSuchElement as error:
        raise InputRefused(f"{what}: there is no {expression_text(error.reference)}") from None
    except (ZeroDivisionError, exact.TooLarge, TooManyTuples) as error:
        raise InputRefused(f"{what}: {error}") from None


def by_name(grammar: Grammar) -> Mapping[str, Variable]:
    """The variables of a grammar by their names."""
    return MappingProxyType({variable.name: variable for variable in grammar.variables})


def values_of_case(grammar: Grammar, values: Values, case: int) -> Values:
    """The values as test case ``case``, counted from 0, has them."""
    return {
        name: value[case] if name in grammar.per_case and isinstance(value, list) else value
        for name, value in values.items()
    }


def evaluate(
    expression: Expression, values: Values, indices: Mapping[str, int], variables: Mapping[str, Variable]
) -> int:
    """The value of an expression in one test case, exact.

    ``values`` are those of one test case (``values_of_case``), ``indices`` count as the statement counts. A character
    is its code point. InputRefused where there is no such element, or for a division by zero.
    """
    match expression:
        case Constant(value):
            return value
        case Reference(name, of):
            is_index = not of and name in indices
            return indices[name] if is_index else _number(expression, values, indices, variables)
        case Length(reference):
            return _length(reference, values, indices, variables)
        case Operation(operator, left, right):
            one, other = (evaluate(each, values, indices, variables) for each in (left, right))
            with _refusing(expression_text(expression)):
                return int(calculate(operator, exact.constant(one), exact.constant(other))[0])
        case Extreme(which, options):
            results = [evaluate(each, values, indices, variables) for each in options]
            return min(results) if which == "min" else max(results)
    return _sum(expression, values, indices, variables)


def _sum(expression: Sum, values: Values, indices: Mapping[str, int], variables: Mapping[str, Variable]) -> int:
    index = expression.index
    low, high = (evaluate(bound, values, indices, variables) for bound in (index.low, index.high))
    if high - low >= MAX_SUMMED:
        raise InputRefused(f"{expression_text(expression)}: more than {MAX_SUMMED} values of {index.name}")
    values_of_index = ({**indices, index.name: at} for at in range(low, high + 1))
    return sum(evaluate(expression.expression, values, at, variables) for at in values_of_index)


def _element(
    reference: Reference, values: Values, indices: Mapping[str, int], variables: Mapping[str, Variable]
) -> Value:
    found = values[reference.name]
    for index in reference.indices:
        place = evaluate(index, values, indices, variables) - variables[reference.name].first_index
        if isinstance(found, int) or not 0 <= place < len(found):
            raise InputRefused(f"there is no {expression_text(reference)}: {_index_text(indices)}")
        found = found[place]
    return found


def _index_text(indices: Mapping[str, int]) -> str:
    """ "i = 3, j = 1", or that there are no indices."""
    return ", ".join(f"{name} = {value}" for name, value in indices.items()) or "no index"


def _number(reference: Reference, values: Values, indices: Mapping[str, int], variables: Mapping[str, Variable]) -> int:
    found, variable = _element(reference, values, indices, variables), variables[reference.name]
    if isinstance(found, int):
        return found
    if variable.kind is Kind.STRING and len(reference.indices) == len(variable.dimensions) + 1:
        return ord(str(found))
    raise InputRefused(f"{expression_text(reference)} is no integer: {shown(found)}")


def _length(reference: Reference, values: Values, indices: Mapping[str, int], variables: Mapping[str, Variable]) -> int:
    found = _element(reference, values, indices, variables)
    if isinstance(found, int):
        raise InputRefused(f"{expression_text(reference)} has no length: {found}")
    return len(found)
