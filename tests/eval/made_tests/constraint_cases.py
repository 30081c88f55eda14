"""Constraints with an input that keeps each, one that breaks it, and what is said of that one."""

from __future__ import annotations

from eval.made_tests.grammar import (
    AtLeastOne,
    Characters,
    Comparison,
    Constant,
    Constraint,
    Distinct,
    Graph,
    GraphKind,
    Index,
    Kind,
    Occurrences,
    OneOf,
    Permutation,
    Reference,
    Remainder,
    Sorted,
    Sum,
    SumAtMost,
    Values,
    Variable,
)
from tests.eval.made_tests.shapes import (
    minus,
    number,
    of,
    plus,
    product,
    text,
    to,
)


def over(low: int | str, high: int | str, name: str = "i") -> Index:
    return Index(name, *(Reference(end) if isinstance(end, str) else Constant(end) for end in (low, high)))


EDGES = (number("N"), number("M"), number("u", "M"), number("v", "M"))


def graph(*kinds: GraphKind, is_directed: bool = False) -> Graph:
    return Graph(frozenset(kinds), Constant(1), of("N"), "u", "v", is_directed=is_directed)


def edges(n: int, *pairs: tuple[int, int]) -> Values:
    return {"N": n, "M": len(pairs), "u": [one for one, _ in pairs], "v": [other for _, other in pairs]}


ROW = (number("N"), number("A", "N"))
PAIRS = (number("N"), number("A", "N"), number("B", "N"))
TABLE = (number("T", 2, 2),)


def rows(*elements: int) -> Values:
    return {"N": len(elements), "A": list(elements)}


def pairs(*elements: tuple[int, int]) -> Values:
    return {"N": len(elements), "A": [one for one, _ in elements], "B": [other for _, other in elements]}


Case = tuple[str, tuple[Variable, ...], Constraint, Values, Values, str]
CASES: list[Case] = [
    (
        "bound",
        ROW,
        Comparison(of("A", "i"), "<=", Constant(10**9), (to("N"),)),
        rows(1, 10**9),
        rows(1, 10**9 + 1),
        "A_i <= 10^9 does not hold for i = 2: 1000000001 <= 1000000000 is wrong",
    ),
    (
        "bound of large numbers",
        ROW,
        Comparison(product(of("A", 1), of("A", 1)), "<", Constant(10**36), ()),
        rows(10**18 - 1),
        rows(10**18),
        f"A_1*A_1 < 10^36 does not hold: {10**36} < {10**36} is wrong",
    ),
    (
        "neighbours",
        ROW,
        Comparison(of("A", "i"), "!=", of("A", plus("i", 1)), (to(minus("N", 1)),)),
        rows(1, 2, 1),
        rows(1, 2, 2),
        "A_i != A_{i+1} does not hold for i = 2: 2 != 2 is wrong",
    ),
    (
        "neighbours of one element",
        ROW,
        Comparison(of("A", "i"), "<", of("A", plus("i", 1)), (to(minus("N", 1)),)),
        rows(1),
        rows(1, 1),
        "A_i < A_{i+1} does not hold for i = 1: 1 < 1 is wrong",
    ),
    (
        "rows that have nothing in common",
        PAIRS,
        Comparison(of("A", "i"), "!=", of("B", "j"), (to("N"), to("N", "j"))),
        pairs((1, 2), (3, 4)),
        pairs((1, 2), (3, 1)),
        "A_i != B_j does not hold for i = 1 and for j = 2: both are 1",
    ),
    (
        "strings",
        (text("s"), text("t")),
        Comparison(of("s"), "!=", of("t"), ()),
        {"s": "a", "t": "b"},
        {"s": "a", "t": "a"},
        "s != t does not hold: 'a' != 'a' is wrong",
    ),
    (
        "a character",
        (text("s", first_index=0),),
        Comparison(of("s", 0), "!=", Constant(ord("0")), ()),
        {"s": "10"},
        {"s": "01"},
        "s_0 != 48 does not hold: 48 != 48 is wrong",
    ),
    (
        "decimals",
        (Variable("x", Kind.DECIMAL), Variable("y", Kind.DECIMAL)),
        Comparison(of("x"), "<", of("y"), ()),
        {"x": "0.1", "y": "0.10000000000000000001"},
        {"x": "0.10", "y": "0.1"},
        "x < y does not hold: 1/10 < 1/10 is wrong",
    ),
    (
        "a sum",
        ROW,
        Comparison(Constant(1), "<=", Sum(of("A", "i"), over(1, "N")), ()),
        rows(0, 1),
        rows(0, 0),
        "1 <= sum of A_i over i = 1..N does not hold: 1 <= 0 is wrong",
    ),
    (
        "a remainder",
        ROW,
        Remainder(of("A", "i"), 2, 1, (to("N"),)),
        rows(1, -3),
        rows(1, -2),
        "A_i leaves 1 when divided by 2 does not hold for i = 2: it is -2",
    ),
    (
        "a divisor",
        (number("N"), number("K")),
        Remainder(of("N"), of("K"), 0),
        {"N": 6, "K": 3},
        {"N": 6, "K": 4},
        "N leaves 0 when divided by K does not hold: it is 6",
    ),
    (
        "letters",
        (text("S", 2),),
        Characters("S", "ab"),
        {"S": ["ab", ""]},
        {"S": ["a", "bca"]},
        "S consists of 'ab' does not hold: S_2 is 'bca', which has 'c'",
    ),
    (
        "each letter",
        (text("S"),),
        Characters("S", "abc", each="ab"),
        {"S": "cab"},
        {"S": "cac"},
        "S consists of 'abc', and has each of 'ab' does not hold: S is 'cac', which has no 'b'",
    ),
    (
        "a list of integers",
        ROW,
        OneOf("A", ("1", "3")),
        rows(1, 3, 1),
        rows(1, 2),
        "A is one of '1, 3' does not hold: A_2 is 2",
    ),
    (
        "a list of words",
        (text("S", 2),),
        OneOf("S", ("up", "down")),
        {"S": ["up", "down"]},
        {"S": ["up", "UP"]},
        "S is one of 'up, down' does not hold: S_2 is 'UP'",
    ),
    (
        "different ones",
        ROW,
        Distinct(("A",)),
        rows(1, 2, 3),
        rows(1, 2, 1),
        "A are pairwise different does not hold: 1 stands at A_1 and at A_3",
    ),
    (
        "different pairs",
        PAIRS,
        Distinct(("A", "B")),
        pairs((1, 2), (2, 1)),
        pairs((1, 2), (1, 2)),
        "(A, B) are pairwise different does not hold: (1, 2) stands at A_1 and at A_2",
    ),
    (
        "different pairs in whatever order",
        PAIRS,
        Distinct(("A", "B"), unordered=True),
        pairs((1, 2), (1, 3)),
        pairs((1, 2), (2, 1)),
        "(A, B) are pairwise different, in whatever order does not hold: (1, 2) stands at A_1 and at A_2",
    ),
    (
        "different cells",
        TABLE,
        Distinct(("T",)),
        {"T": [[1, 2], [3, 4]]},
        {"T": [[1, 2], [2, 4]]},
        "T are pairwise different does not hold: 2 stands at T_{1,2} and at T_{2,1}",
    ),
    (
        "different cells of each row",
        TABLE,
        Distinct(("T",), within_row=True),
        {"T": [[1, 2], [1, 2]]},
        {"T": [[1, 2], [2, 2]]},
        "T are pairwise different in each row does not hold: 2 stands at T_{2,1} and at T_{2,2}",
    ),
    (
        "different variables",
        (number("a"), number("b")),
        Distinct(("a", "b")),
        {"a": 1, "b": 2},
        {"a": 1, "b": 1},
        "(a, b) are pairwise different does not hold in test case 1: 1, 1",
    ),
    (
        "a permutation",
        ROW,
        Permutation("A", Constant(1), of("N")),
        rows(2, 3, 1),
        rows(2, 2, 1),
        "A has each of 1 to N exactly once does not hold: [2, 2, 1]",
    ),
    (
        "ascending",
        ROW,
        Sorted("A"),
        rows(1, 1, 2),
        rows(1, 2, 1),
        "A is ascending does not hold: A_2 is 2, A_3 is 1",
    ),
    (
        "strictly descending rows",
        TABLE,
        Sorted("T", descending=True, strict=True),
        {"T": [[2, 1], [4, 3]]},
        {"T": [[2, 1], [3, 3]]},
        "T is strictly descending does not hold: T_{2,1} is 3, T_{2,2} is 3",
    ),
    (
        "a limit of a sum",
        ROW,
        SumAtMost(of("A", "i"), Constant(5), (to("N"),)),
        rows(2, 3),
        rows(3, 3),
        "the sum of A_i over i = 1..N is at most 5 does not hold: it is 6",
    ),
    (
        "counted values",
        ROW,
        Occurrences("A", ("7",), Constant(1), Constant(2)),
        rows(7, 1, 7),
        rows(7, 7, 7),
        "each of '7' stands 1 to 2 times in A does not hold: 7 stands 3 times in A",
    ),
    (
        "each value twice",
        ROW,
        Occurrences("A", (), Constant(2), Constant(2)),
        rows(4, 1, 1, 4),
        rows(4, 1, 1, 1),
        "each value stands 2 times in A does not hold: 4 stands 1 times in A",
    ),
    (
        "counted letters of a grid",
        (text("G", 2),),
        Occurrences("G", ("S",), Constant(1), Constant(1), whole=True),
        {"G": ["..", "S."]},
        {"G": ["S.", "S."]},
        "each of 'S' stands 1 times in G does not hold: 'S' stands 2 times in G",
    ),
    (
        "counted letters of each string",
        (text("G", 2),),
        Occurrences("G", ("*",), Constant(1), Constant(1)),
        {"G": ["*.", ".*"]},
        {"G": ["*.", ".."]},
        "each of '*' stands 1 times in G does not hold: '*' stands 0 times in '..'",
    ),
    (
        "at least one",
        ROW,
        AtLeastOne(Comparison(of("A", "i"), "==", Constant(0), (to("N"),))),
        rows(3, 0),
        rows(3, 1),
        "A_i == 0 for at least one i = 1..N does not hold: it holds for none",
    ),
    (
        "a tree",
        EDGES,
        graph(GraphKind.TREE),
        edges(3, (1, 2), (3, 2)),
        edges(4, (1, 2), (2, 1), (3, 4)),
        "the edges (u, v) on vertices 1 to N are a tree does not hold: it has 2 parts that no edges join",
    ),
    (
        "a tree without an edge too many",
        EDGES,
        graph(GraphKind.TREE),
        edges(1),
        edges(3, (1, 2), (2, 3), (3, 1)),
        "the edges (u, v) on vertices 1 to N are a tree does not hold: it has a cycle",
    ),
    (
        "a connected graph",
        EDGES,
        graph(GraphKind.CONNECTED),
        edges(2, (1, 2), (1, 1)),
        edges(3, (1, 2), (2, 1)),
        "the edges (u, v) on vertices 1 to N are connected does not hold: it has 2 parts that no edges join",
    ),
    (
        "no loops",
        EDGES,
        graph(GraphKind.SIMPLE),
        edges(3, (1, 2), (1, 3)),
        edges(3, (1, 2), (3, 3)),
        "the edges (u, v) on vertices 1 to N are without loops and double edges does not hold: (3, 3) is a loop",
    ),
    (
        "no double edges",
        EDGES,
        graph(GraphKind.SIMPLE),
        edges(3),
        edges(3, (1, 2), (2, 1)),
        "the edges (u, v) on vertices 1 to N are without loops and double edges does not hold: (2, 1) is there twice",
    ),
    (
        "no double directed edges",
        EDGES,
        graph(GraphKind.SIMPLE, is_directed=True),
        edges(2, (1, 2), (2, 1)),
        edges(2, (1, 2), (1, 2)),
        "the edges (u, v) on vertices 1 to N are without loops and double edges does not hold: (1, 2) is there twice",
    ),
    (
        "no directed cycle",
        EDGES,
        graph(GraphKind.ACYCLIC, is_directed=True),
        edges(3, (1, 2), (2, 3), (1, 3)),
        edges(3, (1, 2), (2, 3), (3, 1)),
        "the edges (u, v) on vertices 1 to N are without cycles does not hold: (1, 2) is on a cycle",
    ),
    (
        "a forest",
        EDGES,
        graph(GraphKind.ACYCLIC),
        edges(4, (1, 2), (3, 4)),
        edges(4, (1, 2), (2, 1)),
        "the edges (u, v) on vertices 1 to N are without cycles does not hold: it has a cycle",
    ),
    (
        "vertices",
        EDGES,
        graph(GraphKind.CONNECTED),
        edges(2, (1, 2)),
        edges(2, (1, 3)),
        "the edges (u, v) on vertices 1 to N are connected does not hold: there is no vertex 3",
    ),
]
