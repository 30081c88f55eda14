"""Expressions and constraints of a grammar in words, for messages. Pure."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Rational

from eval.made_tests.grammar import (
    AtLeastOne,
    Characters,
    Comparison,
    Constant,
    Constraint,
    Distinct,
    Expression,
    Extreme,
    Graph,
    GraphKind,
    Index,
    Kind,
    Length,
    Occurrences,
    OneOf,
    Operation,
    Permutation,
    Reference,
    Remainder,
    SearchTree,
    Sorted,
    Sum,
    SumAtMost,
    Variable,
)

MAX_SHOWN = 40
"""Longer values are cut in messages."""

_KIND_WORDS = {
    GraphKind.TREE: "a tree",
    GraphKind.CONNECTED: "connected",
    GraphKind.SIMPLE: "without loops and double edges",
    GraphKind.ACYCLIC: "without cycles",
}

KIND_NOUNS = {Kind.INTEGER: "an integer", Kind.DECIMAL: "a decimal number", Kind.STRING: "a string"}


def shown(value: object) -> str:
    """A value as it stands in a message."""
    text = str(value) if isinstance(value, Rational) else repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


def count_text(value: int) -> str:
    """An integer, short where it is a round one: 10^9, 2*10^5."""
    digits = str(abs(value))
    zeros = len(digits) - len(digits.rstrip("0"))
    if zeros < 4 or len(digits) - zeros > 1:
        return str(value)
    sign, leading = "-" if value < 0 else "", digits[: len(digits) - zeros]
    return f"{sign}10^{zeros}" if leading == "1" else f"{sign}{leading}*10^{zeros}"


def expression_text(expression: Expression) -> str:
    """An expression as a statement writes it: "A_{i+1}", "|S_i|", "N*(N-1)/2"."""
    match expression:
        case Constant(value):
            return count_text(value)
        case Reference(name, indices):
            inner = ",".join(map(expression_text, indices))
            return name if not indices else f"{name}_{inner}" if len(inner) == 1 else f"{name}_{{{inner}}}"
        case Length(of):
            return f"|{expression_text(of)}|"
        case Operation(operator, left, right):
            return f"{_operand(left, operator)}{operator}{_operand(right, operator, is_right=True)}"
        case Extreme(which, of):
            return f"{which}({', '.join(map(expression_text, of))})"
        case Sum(inner_expression, index):
            return f"sum of {expression_text(inner_expression)} over {_index_text(index)}"


_RANKS = {"+": 0, "-": 0, "*": 1, "/": 1, "^": 2}


def _operand(expression: Expression, operator: str, *, is_right: bool = False) -> str:
    text = expression_text(expression)
    if isinstance(expression, Operation):
        inner, outer = _RANKS[expression.operator], _RANKS[operator]
        needs = inner < outer or (inner == outer and (is_right or outer == 2))
        return f"({text})" if needs else text
    return f"({text})" if isinstance(expression, Sum) or text.startswith("-") else text


def _index_text(index: Index) -> str:
    return f"{index.name} = {expression_text(index.low)}..{expression_text(index.high)}"


def _comparison(constraint: Comparison) -> str:
    return f"{expression_text(constraint.left)} {constraint.operator} {expression_text(constraint.right)}"


def _remainder(constraint: Remainder) -> str:
    modulus = constraint.modulus
    divisor = count_text(modulus) if isinstance(modulus, int) else expression_text(modulus)
    return f"{expression_text(constraint.expression)} leaves {constraint.remainder} when divided by {divisor}"


def _characters(constraint: Characters) -> str:
    each = f", and has each of {shown(constraint.each)}" if constraint.each else ""
    return f"{constraint.name} consists of {shown(constraint.characters)}{each}"


def _one_of(constraint: OneOf) -> str:
    return f"{constraint.name} is one of {shown(', '.join(constraint.values))}"


def _distinct(constraint: Distinct) -> str:
    names = ", ".join(constraint.names)
    what = f"({names})" if len(constraint.names) > 1 else names
    unordered = ", in whatever order" if constraint.unordered else ""
    return f"{what} are pairwise different{' in each row' if constraint.within_row else ''}{unordered}"


def _permutation(constraint: Permutation) -> str:
    low, high = expression_text(constraint.low), expression_text(constraint.high)
    return f"{constraint.name} has each of {low} to {high} exactly once"


def _sorted(constraint: Sorted) -> str:
    return f"{constraint.name} is {'strictly ' if constraint.strict else ''}{_direction(constraint)}"


def _direction(constraint: Sorted) -> str:
    return "descending" if constraint.descending else "ascending"


def _sum_at_most(constraint: SumAtMost) -> str:
    over = "".join(f" over {_index_text(index)}" for index in constraint.indices)
    return f"the sum of {expression_text(constraint.expression)}{over} is at most {expression_text(constraint.limit)}"


def _occurrences(constraint: Occurrences) -> str:
    what = f"each of {shown(', '.join(constraint.values))}" if constraint.values else "each value"
    low, high = expression_text(constraint.low), expression_text(constraint.high)
    return f"{what} stands {low if low == high else f'{low} to {high}'} times in {constraint.name}"


def _at_least_one(constraint: AtLeastOne) -> str:
    indices = ", ".join(map(_index_text, constraint.comparison.indices))
    return f"{_comparison(constraint.comparison)} for at least one {indices}"


def _graph(constraint: Graph) -> str:
    kinds = " and ".join(_KIND_WORDS[kind] for kind in GraphKind if kind in constraint.kinds)
    low, high = expression_text(constraint.low), expression_text(constraint.high)
    if constraint.is_parents:
        return f"the parents {constraint.first} of vertices {low} to {high} make a graph that is {kinds}"
    columns = constraint.first if constraint.second is None else f"({constraint.first}, {constraint.second})"
    return f"the edges {columns} on vertices {low} to {high} are {kinds}"


def _search_tree(constraint: SearchTree) -> str:
    return f"{constraint.values} is a binary search tree"


_WORDS: dict[type, Callable[..., str]] = {
    Comparison: _comparison,
    Remainder: _remainder,
    Characters: _characters,
    OneOf: _one_of,
    Distinct: _distinct,
    Permutation: _permutation,
    Sorted: _sorted,
    SumAtMost: _sum_at_most,
    Occurrences: _occurrences,
    AtLeastOne: _at_least_one,
    Graph: _graph,
    SearchTree: _search_tree,
}


def constraint_text(constraint: Constraint) -> str:
    """A constraint in words: "L_i <= R_i", "P has each of 1 to N exactly once"."""
    return _WORDS[type(constraint)](constraint)


def extent_text(variable: Variable) -> str:
    """The extents of a variable: "N", "H by W"."""
    return " by ".join(map(expression_text, variable.dimensions))
