"""Grammars of typical shapes, built by hand: what the readers find in statements of these kinds."""

from __future__ import annotations

from collections.abc import Callable

from eval.made_tests.grammar import (
    Cases,
    Characters,
    Comparison,
    Constant,
    Constraint,
    Distinct,
    Expression,
    Grammar,
    Graph,
    GraphKind,
    Index,
    Kind,
    Length,
    OneOf,
    Operation,
    Permutation,
    Reference,
    Remainder,
    Sorted,
    SumAtMost,
    Variable,
)


def of(name: str, *indices: str | int | Expression) -> Reference:
    """A reference: ``of("A", "i")`` is A_i."""
    return Reference(name, tuple(_expression(index) for index in indices))


def _expression(value: str | int | Expression) -> Expression:
    if isinstance(value, str):
        return Reference(value)
    return Constant(value) if isinstance(value, int) else value


def length(name: str, *indices: str | int) -> Length:
    return Length(of(name, *indices))


def minus(left: str | Expression, right: str | int | Expression) -> Operation:
    return Operation("-", _expression(left), _expression(right))


def plus(left: str | Expression, right: str | int | Expression) -> Operation:
    return Operation("+", _expression(left), _expression(right))


def product(left: str | int | Expression, right: str | int | Expression) -> Operation:
    return Operation("*", _expression(left), _expression(right))


def to(high: str | int | Expression, name: str = "i", low: int = 1) -> Index:
    return Index(name, Constant(low), _expression(high))


def within(
    low: str | int | Expression, middle: Expression, high: str | int | Expression, *indices: Index
) -> tuple[Comparison, Comparison]:
    """low <= middle <= high."""
    return (
        Comparison(_expression(low), "<=", middle, indices),
        Comparison(middle, "<=", _expression(high), indices),
    )


def number(name: str, *dimensions: str | int | Expression, first_index: int = 1) -> Variable:
    return Variable(name, Kind.INTEGER, tuple(map(_expression, dimensions)), first_index)


def text(name: str, *dimensions: str | int | Expression, first_index: int = 1) -> Variable:
    return Variable(name, Kind.STRING, tuple(map(_expression, dimensions)), first_index)


LOWER = "abcdefghijklmnopqrstuvwxyz"


def row(most: int = 200_000, greatest: int = 10**9) -> Grammar:
    return Grammar(
        (number("N"), number("A", "N")),
        (*within(1, of("N"), most), *within(1, of("A", "i"), greatest, to("N"))),
    )


def string_with_queries() -> Grammar:
    return Grammar(
        (number("N"), number("Q"), text("S"), number("l", "Q"), number("r", "Q")),
        (
            *within(1, of("N"), 300_000),
            *within(1, of("Q"), 300_000),
            Comparison(length("S"), "==", of("N")),
            Characters("S", LOWER),
            Comparison(Constant(1), "<=", of("l", "i"), (to("Q"),)),
            Comparison(of("l", "i"), "<=", of("r", "i"), (to("Q"),)),
            Comparison(of("r", "i"), "<=", of("N"), (to("Q"),)),
        ),
    )


def grid() -> Grammar:
    return Grammar(
        (number("H"), number("W"), text("S", "H")),
        (
            *within(1, of("H"), 1000),
            *within(1, of("W"), 1000),
            Comparison(length("S", "i"), "==", of("W"), (to("H"),)),
            Characters("S", ".#"),
        ),
    )


def tree() -> Grammar:
    edges = minus("N", 1)
    return Grammar(
        (number("N"), number("u", edges), number("v", edges), number("w", edges)),
        (
            *within(2, of("N"), 200_000),
            Comparison(Constant(1), "<=", of("u", "i"), (to(edges),)),
            Comparison(of("u", "i"), "<", of("v", "i"), (to(edges),)),
            Comparison(of("v", "i"), "<=", of("N"), (to(edges),)),
            *within(1, of("w", "i"), 10**9, to(edges)),
            Graph(frozenset({GraphKind.TREE}), Constant(1), of("N"), "u", "v"),
        ),
    )


def simple_graph(*kinds: GraphKind, is_directed: bool = False) -> Grammar:
    return Grammar(
        (number("N"), number("M"), number("u", "M"), number("v", "M")),
        (
            *within(1, of("N"), 20_000),
            *within(0, of("M"), 20_000),
            *within(1, of("u", "i"), "N", to("M")),
            *within(1, of("v", "i"), "N", to("M")),
            Graph(frozenset({GraphKind.SIMPLE, *kinds}), Constant(1), of("N"), "u", "v", is_directed=is_directed),
        ),
    )


def cases(most_cases: int = 100_000, most: int = 200_000) -> Grammar:
    return Grammar(
        (number("T"), number("N"), number("A", "N")),
        (
            *within(1, of("T"), most_cases),
            *within(1, of("N"), most),
            *within(1, of("A", "i"), "N", to("N")),
            SumAtMost(of("N"), Constant(most)),
        ),
        blocks=(Cases(of("T"), ()),),
        per_case=frozenset({"N", "A"}),
    )


def cases_of_trees() -> Grammar:
    edges = minus("N", 1)
    return Grammar(
        (number("T"), number("N"), number("u", edges), number("v", edges), text("S")),
        (
            *within(1, of("T"), 10_000),
            *within(1, of("N"), 200_000),
            SumAtMost(of("N"), Constant(200_000)),
            Graph(frozenset({GraphKind.TREE}), Constant(1), of("N"), "u", "v"),
            Comparison(length("S"), "==", of("N")),
            Characters("S", "01"),
        ),
        blocks=(Cases(of("T"), ()),),
        per_case=frozenset({"N", "u", "v", "S"}),
    )


def cases_of_graphs() -> Grammar:
    return Grammar(
        (number("T"), number("N"), number("M"), number("u", "M"), number("v", "M")),
        (
            *within(1, of("T"), 10_000),
            *within(2, of("N"), 100_000),
            *within(1, of("M"), 200_000),
            SumAtMost(of("N"), Constant(100_000)),
            SumAtMost(of("M"), Constant(200_000)),
            Graph(frozenset({GraphKind.SIMPLE, GraphKind.CONNECTED}), Constant(1), of("N"), "u", "v"),
        ),
        blocks=(Cases(of("T"), ()),),
        per_case=frozenset({"N", "M", "u", "v"}),
    )


def permutation() -> Grammar:
    return Grammar(
        (number("N"), number("P", "N")),
        (*within(1, of("N"), 200_000), Permutation("P", Constant(1), of("N"))),
    )


def parents() -> Grammar:
    edges = minus("N", 1)
    return Grammar(
        (number("N"), number("P", edges), number("A", "N")),
        (
            *within(2, of("N"), 100_000),
            Comparison(Constant(1), "<=", of("P", "i"), (to(edges),)),
            Comparison(of("P", "i"), "<=", of("i"), (to(edges),)),
            Graph(frozenset({GraphKind.TREE}), Constant(1), of("N"), "P", is_parents=True),
            *within(-(10**9), of("A", "i"), 10**9, to("N")),
        ),
    )


def parents_with_root() -> Grammar:
    """parent[0] == -1, as calls have it."""
    return Grammar(
        (number("n"), number("parent", "n", first_index=0)),
        (
            *within(1, of("n"), 1000),
            Comparison(of("parent", 0), "==", Constant(-1)),
            *within(-1, of("parent", "i"), minus("n", 1), to(minus("n", 1), low=0)),
            Graph(frozenset({GraphKind.TREE}), Constant(0), minus("n", 1), "parent", is_parents=True, root=-1),
        ),
        parameters=("parent",),
    )


def distinct_pairs() -> Grammar:
    return Grammar(
        (number("N"), number("M"), number("X", "M"), number("Y", "M")),
        (
            *within(1, of("N"), 200),
            *within(1, of("M"), product("N", "N")),
            *within(1, of("X", "i"), "N", to("M")),
            *within(1, of("Y", "i"), "N", to("M")),
            Distinct(("X", "Y")),
        ),
    )


def ragged() -> Grammar:
    return Grammar(
        (number("N"), number("K", "N"), number("A", "N", of("K", "i"))),
        (
            *within(1, of("N"), 100),
            *within(1, of("K", "i"), 100_000, to("N")),
            *within(0, of("A", "i", "j"), 10**18, to("N"), to(of("K", "i"), "j")),
            SumAtMost(of("K", "i"), Constant(200_000), (to("N"),)),
        ),
    )


def words() -> Grammar:
    return Grammar(
        (number("N"), text("S", "N")),
        (
            *within(1, of("N"), 100_000),
            Comparison(Constant(1), "<=", length("S", "i"), (to("N"),)),
            SumAtMost(length("S", "i"), Constant(500_000), (to("N"),)),
            Characters("S", LOWER),
            Distinct(("S",)),
        ),
    )


def call() -> Grammar:
    """nums and k <= nums.length, as calls have it."""
    return Grammar(
        (number("nums.length"), number("nums", "nums.length", first_index=0), number("k")),
        (
            *within(1, of("nums.length"), 100_000),
            *within(-(10**9), of("nums", "i"), 10**9, to(minus("nums.length", 1), low=0)),
            *within(1, of("k"), "nums.length"),
        ),
        parameters=("nums", "k"),
    )


def free_lengths() -> Grammar:
    """Rows whose lengths no variable gives: grid.length, grid[i].length."""
    last = minus(Length(of("grid")), 1)
    return Grammar(
        (Variable("grid", Kind.INTEGER, (Length(of("grid")), Length(of("grid", "i"))), 0),),
        (
            *within(1, Length(of("grid")), 50),
            *within(1, Length(of("grid", "i")), 50, to(last, low=0)),
            *within(0, of("grid", "i", "j"), 9, to(last, low=0), to(minus(Length(of("grid", "i")), 1), "j", low=0)),
        ),
        parameters=("grid",),
    )


def mixed() -> Grammar:
    """An even N, an odd sum of two bounds, words of a list, a strictly rising row, unlike neighbours."""
    return Grammar(
        (number("N"), number("X", "N"), number("C", "N"), text("D", "N"), number("a"), number("b"), number("c")),
        (
            *within(2, of("N"), 1000),
            Remainder(of("N"), 2, 0),
            *within(-(10**9), of("X", "i"), 10**9, to("N")),
            Sorted("X", strict=True),
            *within(1, of("C", "i"), 3, to("N")),
            Comparison(of("C", "i"), "!=", of("C", plus("i", 1)), (to(minus("N", 1)),)),
            OneOf("D", ("left", "right")),
            *within(1, of("a"), 3),
            *within(1, of("b"), 3),
            *within(1, of("c"), 3),
            Distinct(("a", "b", "c")),
        ),
    )


def no_leading_zero() -> Grammar:
    constraints: tuple[Constraint, ...] = (
        *within(1, length("s"), 100),
        Characters("s", "0123456789"),
        Comparison(of("s", 0), "!=", Constant(ord("0"))),
    )
    return Grammar((text("s", first_index=0),), constraints, parameters=("s",))


SHAPES: dict[str, Callable[[], Grammar]] = {
    "row": row,
    "string with queries": string_with_queries,
    "grid": grid,
    "tree": tree,
    "simple graph": simple_graph,
    "connected graph": lambda: simple_graph(GraphKind.CONNECTED),
    "directed graph": lambda: simple_graph(is_directed=True),
    "directed graph without cycles": lambda: simple_graph(GraphKind.ACYCLIC, is_directed=True),
    "forest": lambda: simple_graph(GraphKind.ACYCLIC),
    "cases": cases,
    "cases of trees": cases_of_trees,
    "cases of graphs": cases_of_graphs,
    "permutation": permutation,
    "parents": parents,
    "parents with a root": parents_with_root,
    "distinct pairs": distinct_pairs,
    "ragged": ragged,
    "words": words,
    "call": call,
    "free lengths": free_lengths,
    "mixed": mixed,
    "no leading zero": no_leading_zero,
}
