"""The arguments of a call as text: one JSON value a line for each parameter, in order. Pure.

The form is that of a suite's function tests (`ingest.formats.jsonl`). Lengths that are variables of a grammar are not
written; they are found again in what is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn

from eval.made_tests.binary_trees import is_shape
from eval.made_tests.grammar import (
    Columns,
    Comparison,
    Expression,
    Grammar,
    InputRefused,
    Kind,
    LevelOrder,
    Reference,
    Value,
    Values,
    Variable,
)
from eval.made_tests.reading.terms import linear
from eval.made_tests.values import by_name, evaluate
from eval.made_tests.wording import KIND_NOUNS, expression_text, shown

_MOST_ROUNDS = 20


class _Number(str):
    """A number that is no integer, as it is written."""

    __slots__ = ()


def render(grammar: Grammar, values: Values) -> str:
    """The input that holds these values: a line for each parameter, without a line end at the last.

    InputRefused where a parameter has no value, or its columns are not of one length.
    """
    return "\n".join(render_arguments(grammar, values))


def render_arguments(grammar: Grammar, values: Values) -> list[str]:
    """The arguments as JSON, one text each."""
    variables = by_name(grammar)
    written = {each.name: each for each in grammar.columns}
    texts = []
    for name in grammar.parameters:
        form = written.get(name)
        if isinstance(form, Columns):
            parts = [_texts(_value_of(column, values), variables[column].kind) for column in form.columns]
            if any(isinstance(part, str) for part in parts) or len({len(part) for part in parts}) > 1:
                raise InputRefused(f"the columns of {name} are not arrays of one length")
            texts.append(_joined([_joined(list(row)) for row in zip(*parts, strict=True)]))
        elif isinstance(form, LevelOrder):
            texts.append(_level_order(form, values))
        else:
            text = _texts(_value_of(name, values), variables[name].kind)
            texts.append(text if isinstance(text, str) else _joined(text))
    return texts


def _level_order(form: LevelOrder, values: Values) -> str:
    nodes, places = _value_of(form.name, values), _value_of(form.places, values)
    if not isinstance(nodes, list) or not isinstance(places, list) or len(nodes) != len(places):
        raise InputRefused(f"{form.name} has not as many places as nodes")
    known = [place for place in places if isinstance(place, int)]
    if not is_shape(known):
        raise InputRefused(f"the nodes of {form.name} are in no tree")
    at = dict(zip(known, nodes, strict=True))
    return _joined([json.dumps(at.get(place)) for place in range(max(at, default=-1) + 1)])


def _value_of(name: str, values: Values) -> Value:
    if name not in values:
        raise InputRefused(f"{name} has no value")
    return values[name]


def _texts(value: Value, kind: Kind) -> str | list[str]:
    """A value as JSON; of an array the elements."""
    if isinstance(value, list):
        if all(type(each) is int for each in value):  # most of a large input, and as json.dumps writes it
            return list(map(str, value))
        parts = (_texts(each, kind) for each in value)
        return [part if isinstance(part, str) else _joined(part) for part in parts]
    if isinstance(value, str) and kind is Kind.DECIMAL:
        return value
    return json.dumps(value)


def _joined(parts: list[str]) -> str:
    return f"[{', '.join(parts)}]"


def parse(grammar: Grammar, text: str) -> Values:
    """The values that an input has, the lengths too; InputRefused where it is no input of these parameters.

    Whether they keep the constraints is not looked at (`eval.made_tests.values.check`).
    """
    lines = text.removesuffix("\n").split("\n")
    if len(lines) != len(grammar.parameters):
        raise InputRefused(f"the input has {len(lines)} lines for {len(grammar.parameters)} parameters")
    return parse_arguments(
        grammar, [read_json(name, line) for name, line in zip(grammar.parameters, lines, strict=True)]
    )


def parse_arguments(grammar: Grammar, arguments: Sequence[object]) -> Values:
    """The values of arguments that are JSON values already (``read_json``), as many as parameters; InputRefused."""
    variables = by_name(grammar)
    written = {each.name: each for each in grammar.columns}
    values: Values = {}
    for name, raw in zip(grammar.parameters, arguments, strict=True):
        form = written.get(name)
        if isinstance(form, Columns):
            values |= _columns(name, raw, [variables[column] for column in form.columns])
        elif isinstance(form, LevelOrder):
            values |= _tree(form, raw)
        else:
            values[name] = _value(name, raw, variables[name].kind, len(variables[name].dimensions))
    _add_lengths(grammar, values)
    return values


def read_json(name: str, text: str) -> object:
    """A JSON value for ``parse_arguments``, what it is called in a message; InputRefused."""
    try:
        raw: object = json.loads(text, parse_float=_Number, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise InputRefused(f"{name}: {shown(text)} is no JSON value") from None
    return raw


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number")


def _value(name: str, raw: object, kind: Kind, depth: int) -> Value:
    """A JSON value as the value of a variable, element by element."""
    if depth:
        if not isinstance(raw, list):
            raise InputRefused(f"{name}: {shown(raw)} is no array")
        return [_value(name, each, kind, depth - 1) for each in raw]
    is_integer = isinstance(raw, int) and not isinstance(raw, bool)
    if kind is Kind.INTEGER and isinstance(raw, int) and is_integer:
        return raw
    if kind is Kind.DECIMAL and (is_integer or isinstance(raw, _Number)):
        return str(raw)
    if kind is Kind.STRING and isinstance(raw, str) and not isinstance(raw, _Number):
        return raw
    raise InputRefused(f"{name}: {shown(raw)} is not {KIND_NOUNS[kind]}")


def _columns(name: str, raw: object, variables: list[Variable]) -> Values:
    """The columns of rows."""
    if not isinstance(raw, list) or not all(isinstance(row, list) for row in raw):
        raise InputRefused(f"{name}: {shown(raw)} is no array of arrays")
    if any(len(row) != len(variables) for row in raw):
        raise InputRefused(f"{name}: a row has not {len(variables)} elements")
    return {
        variable.name: [_value(name, row[place], variable.kind, 0) for row in raw]
        for place, variable in enumerate(variables)
    }


def _tree(form: LevelOrder, raw: object) -> Values:
    """The nodes of a tree and where they stand; null stands for a child that is missing."""
    if not isinstance(raw, list):
        raise InputRefused(f"{form.name}: {shown(raw)} is no array")
    places: list[Value] = [place for place, each in enumerate(raw) if each is not None]
    nodes = [_value(form.name, raw[place], Kind.INTEGER, 0) for place in places if isinstance(place, int)]
    if not is_shape([place for place in places if isinstance(place, int)]):
        raise InputRefused(f"{form.name}: {shown(raw)} is no tree: it has nodes under no node")
    return {form.name: nodes, form.places: places}


def _add_lengths(grammar: Grammar, values: Values) -> None:
    """Find the variables that are not written: "n == nums.length", "edges.length == n - 1"."""
    variables = by_name(grammar)
    for _ in range(_MOST_ROUNDS):
        missing = [name for name in variables if name not in values]
        if not missing:
            return
        for expression, size in list(_sizes(grammar, values)):
            _solve(expression, size, values, variables)
        if missing == [name for name in variables if name not in values]:
            raise InputRefused(f"nothing says what {missing[0]} is")


def _sizes(grammar: Grammar, values: Values) -> Iterator[tuple[Expression, Value]]:
    """Expressions and what they are equal to; for lengths of rows that differ, the list of them."""
    variables = by_name(grammar)
    for variable in grammar.variables:
        value = values.get(variable.name)
        if not isinstance(value, list) or not variable.dimensions:
            continue
        yield variable.dimensions[0], len(value)
        if len(variable.dimensions) > 1:
            widths: list[Value] = [len(row) for row in value if isinstance(row, list)]
            extent = variable.dimensions[1]
            is_ragged = isinstance(extent, Reference) and extent.indices
            yield extent, widths if is_ragged else (widths or [0])[0]
    for constraint in grammar.constraints:
        if isinstance(constraint, Comparison) and constraint.operator == "==":
            for side, other in ((constraint.left, constraint.right), (constraint.right, constraint.left)):
                if (size := _evaluated(other, constraint, values, variables)) is not None:
                    yield side, size


def _evaluated(
    expression: Expression, constraint: Comparison, values: Values, variables: Mapping[str, Variable]
) -> int | None:
    """The value of one side of an equation, for the first of its indices; None where it is not known."""
    indices: dict[str, int] = {}
    try:
        for index in constraint.indices:
            indices[index.name] = evaluate(index.low, values, indices, variables)
        return evaluate(expression, values, indices, variables)
    except (InputRefused, KeyError):
        return None


def _solve(expression: Expression, size: Value, values: Values, variables: Mapping[str, Variable]) -> None:
    """Give the only unknown variable of an expression the value with which it is `size`."""
    if isinstance(expression, Reference) and expression.indices and isinstance(size, list):
        values.setdefault(expression.name, size)
        return
    terms, rest = linear(expression)
    unknown = [term for term in terms if isinstance(term, Reference) and term.name not in values]
    if len(unknown) != 1 or unknown[0].indices or unknown[0].name not in variables or not isinstance(size, int):
        return
    try:
        known = sum(
            count * evaluate(term, values, {}, variables) for term, count in terms.items() if term != unknown[0]
        )
    except (InputRefused, KeyError):
        return
    found, left = divmod(size - rest - known, terms[unknown[0]])
    if left:
        raise InputRefused(f"{expression_text(expression)} is never {size}")
    values[unknown[0].name] = found
