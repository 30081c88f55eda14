"""The shape of an input of a design class: what it is made with, which calls follow, and what holds among these. Pure.

The arguments of the constructor and of each method have a grammar of their own (`eval.made_tests.grammar`). What a
method's arguments may be can depend on what the class was made with: "0 <= index < nums.length".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from eval.made_tests.grammar import (
    Cases,
    Comparison,
    Constant,
    Constraint,
    Expression,
    Grammar,
    Index,
    InputRefused,
    Kind,
    Reference,
    Remainder,
    Value,
    Values,
    Variable,
)
from eval.made_tests.mentions import mentioned
from eval.made_tests.reading.terms import replaced

COUNT: Final = "(calls)"
"""The variable that says how many calls there are where a method's calls are looked at together."""


@dataclass(frozen=True)
class Method:
    """A method by its name. ``grammar`` has its own variables, and may mention numbers that the class was made with."""

    name: str
    grammar: Grammar


@dataclass(frozen=True)
class CallLimit:
    """These methods are called at most so often, all together."""

    methods: tuple[str, ...]
    most: int


@dataclass(frozen=True)
class RisingCalls:
    """A parameter of these methods does not fall from call to call.

    ``is_strict``: it rises. ``is_doubtful``: whether it may stay the same is not certain, so none is drawn that does.
    """

    methods: tuple[str, ...]
    parameter: str
    is_strict: bool = False
    is_doubtful: bool = False


@dataclass(frozen=True)
class NeedsElement:
    """These methods are called only while there is an element: ``adders`` add one each, ``removers`` take one away."""

    methods: tuple[str, ...]
    adders: tuple[str, ...]
    removers: tuple[str, ...]


@dataclass(frozen=True)
class DifferentCalls:
    """No two calls of these methods have the same value of a parameter."""

    methods: tuple[str, ...]
    parameter: str


@dataclass(frozen=True)
class DesignGrammar:
    """All that is known of the inputs of a class. ``not_understood`` are the statement's sentences.

    Of each group of methods in ``required`` at least one is called.
    """

    name: str
    constructor: Grammar
    methods: tuple[Method, ...]
    limits: tuple[CallLimit, ...] = ()
    rising: tuple[RisingCalls, ...] = ()
    needs: tuple[NeedsElement, ...] = ()
    different: tuple[DifferentCalls, ...] = ()
    required: tuple[tuple[str, ...], ...] = ()
    not_understood: tuple[str, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether everything that the statement says of its input was understood."""
        return not self.not_understood

    @cached_property
    def by_name(self) -> Mapping[str, Grammar]:
        """The grammars of the methods by their names."""
        return {method.name: method.grammar for method in self.methods}


@dataclass(frozen=True)
class Call:
    """One call of a method with the values of its variables."""

    method: str
    values: Values


@dataclass(frozen=True)
class Calls:
    """An input: what the class is made with, and the calls in their order."""

    constructor: Values
    calls: tuple[Call, ...]


def closed(method: Grammar, constructor: Grammar, made_with: Values) -> Grammar:
    """A method's grammar with numbers in place of what the class was made with; InputRefused where one is missing."""
    own = {variable.name for variable in method.variables}
    numbers: dict[str, Expression] = {}
    for variable in constructor.variables:
        value = made_with.get(variable.name)
        if variable.name not in own and not variable.dimensions and isinstance(value, int):
            numbers[variable.name] = Constant(value)
    variables = tuple(
        replace(variable, dimensions=tuple(replaced(extent, numbers) for extent in variable.dimensions))
        for variable in method.variables
    )
    constraints = tuple(_with_numbers(each, numbers) for each in method.constraints)
    for variable in constructor.variables:
        if variable.name not in own | numbers.keys() and any(variable.name in mentioned(each) for each in constraints):
            raise InputRefused(f"{variable.name} is no number that calls could depend on")
    return replace(method, variables=variables, constraints=constraints)


def _with_numbers(constraint: Constraint, numbers: Mapping[str, Expression]) -> Constraint:
    if isinstance(constraint, Comparison):
        return replace(
            constraint,
            left=replaced(constraint.left, numbers),
            right=replaced(constraint.right, numbers),
            indices=_indices(constraint.indices, numbers),
        )
    if isinstance(constraint, Remainder):
        modulus = constraint.modulus
        return replace(
            constraint,
            expression=replaced(constraint.expression, numbers),
            modulus=modulus if isinstance(modulus, int) else replaced(modulus, numbers),
            indices=_indices(constraint.indices, numbers),
        )
    return constraint


def _indices(indices: Iterable[Index], numbers: Mapping[str, Expression]) -> tuple[Index, ...]:
    return tuple(Index(each.name, replaced(each.low, numbers), replaced(each.high, numbers)) for each in indices)


def together(method: Grammar, n_calls: int | None = None) -> Grammar:
    """The grammar of all calls of a method with closed grammar, each as a test case; so many of them, or any number."""
    names = frozenset(variable.name for variable in method.variables)
    count = Reference(COUNT)
    n_calls_known = () if n_calls is None else (Comparison(count, "==", Constant(n_calls)),)
    return Grammar(
        variables=(Variable(COUNT, Kind.INTEGER), *method.variables),
        constraints=(*n_calls_known, *method.constraints),
        blocks=(Cases(count, ()),),
        columns=method.columns,
        per_case=names,
        not_understood=method.not_understood,
    )


def values_together(method: Grammar, calls: Sequence[Values]) -> Values:
    """The values of calls of one method as those of test cases; InputRefused where one has no value."""
    names = [variable.name for variable in method.variables]
    missing = next((name for values in calls for name in names if name not in values), None)
    if missing is not None:
        raise InputRefused(f"{missing} has no value")
    columns: dict[str, Value] = {name: [values[name] for values in calls] for name in names}
    return {COUNT: len(calls), **columns}


def values_apart(method: Grammar, values: Values) -> list[Values]:
    """Undo ``values_together``."""
    n_calls = values[COUNT]
    columns = {variable.name: values[variable.name] for variable in method.variables}
    if not isinstance(n_calls, int) or any(not isinstance(column, list) for column in columns.values()):
        raise TypeError("these are no calls of a method")
    return [{name: column[at] for name, column in columns.items() if isinstance(column, list)} for at in range(n_calls)]
