"""What single strategies are there for: shapes of graphs, orders of rows, letters of strings, values that overflow."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from eval.made_tests.drawing import CannotDraw, Size, all_strategies
from eval.made_tests.grammar import Cases, Characters, Comparison, Constant, Grammar, Graph, GraphKind, SumAtMost
from tests.eval.made_tests.plain import is_simple, is_tree, parts
from tests.eval.made_tests.shapes import (
    LOWER,
    SHAPES,
    cases_of_trees,
    grid,
    length,
    minus,
    number,
    of,
    permutation,
    product,
    row,
    simple_graph,
    text,
    to,
    within,
)


def draw(strategy: str, grammar: Grammar, size: Size, seed: int = 0) -> dict[str, Any]:
    values: dict[str, Any] = all_strategies()[strategy].draw(grammar, np.random.default_rng(seed), size)
    return values


def bare_tree(most: int = 2000) -> Grammar:
    edges = minus("N", 1)
    return Grammar(
        (number("N"), number("u", edges), number("v", edges)),
        (*within(1, of("N"), most), Graph(frozenset({GraphKind.TREE}), Constant(1), of("N"), "u", "v")),
    )


def edges_of(values: dict[str, Any]) -> list[tuple[int, int]]:
    return list(zip(values["u"], values["v"], strict=True))


def degrees(values: dict[str, Any]) -> Counter[int]:
    return Counter(Counter(values["u"] + values["v"]).values())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("path", {1: 2, 2: 1998}),
        ("star", {1: 1999, 1999: 1}),
        ("caterpillar", {1: 1000, 2: 2, 3: 998}),
        ("binary tree", {1: 1000, 2: 2, 3: 998}),
        ("broom", {1: 1001, 2: 998, 1001: 1}),
    ],
)
def test_trees_have_the_shape_of_their_name(strategy: str, expected: dict[int, int], seed: int) -> None:
    values = draw(strategy, bare_tree(), Size.GREATEST, seed)
    assert is_tree(2000, edges_of(values))
    assert degrees(values) == expected


def height(values: dict[str, Any]) -> int:
    """The number of edges from vertex 1 to the vertex that is farthest from it."""
    beside: dict[int, list[int]] = {}
    for one, other in edges_of(values):
        beside.setdefault(one, []).append(other)
        beside.setdefault(other, []).append(one)
    layer, seen, steps = [1], {1}, -1
    while layer:
        steps += 1
        layer = [other for vertex in layer for other in beside.get(vertex, []) if other not in seen]
        seen |= set(layer)
    return steps


def test_deep_trees_are_deep_and_random_ones_are_not() -> None:
    assert height(draw("deep tree", bare_tree(), Size.GREATEST)) > 600
    assert height(draw("largest random", bare_tree(), Size.GREATEST)) < 60  # about e * ln 2000


def test_vertices_of_a_path_are_shuffled_and_sometimes_not() -> None:
    found = [edges_of(draw("path", bare_tree(), Size.GREATEST, seed)) for seed in range(12)]
    in_order = [edges for edges in found if edges == [(k, k + 1) for k in range(1, 2000)]]
    assert 1 <= len(in_order) <= 8


def test_a_complete_graph_has_every_edge() -> None:
    for seed in range(5):
        values = draw("complete graph", simple_graph(), Size.SMALL, seed)
        n = values["N"]
        assert is_simple(edges_of(values))
        assert values["M"] == n * (n - 1) // 2
    values = draw("complete graph", simple_graph(is_directed=True), Size.SMALL, 3)
    assert values["M"] == values["N"] * (values["N"] - 1) == len(set(edges_of(values)))


def test_a_cycle_goes_through_all_vertices() -> None:
    grammar = Grammar(
        (number("N"), number("u", "N"), number("v", "N")),
        (
            *within(3, of("N"), 500),
            Graph(frozenset({GraphKind.SIMPLE, GraphKind.CONNECTED}), Constant(1), of("N"), "u", "v"),
        ),
    )
    values = draw("cycle with chords", grammar, Size.LARGE)
    assert degrees(values) == {2: values["N"]}
    assert parts(values["N"], edges_of(values)) == 1


def test_half_of_the_vertices_have_no_edge() -> None:
    values = draw("disconnected", simple_graph(), Size.LARGE)
    assert len(set(values["u"] + values["v"])) <= (values["N"] + 1) // 2


def test_a_bipartite_graph_has_no_odd_cycle() -> None:
    grammar = Grammar(
        (number("N"), number("u", 300), number("v", 300)),
        (*within(200, of("N"), 200), Graph(frozenset({GraphKind.SIMPLE}), Constant(1), of("N"), "u", "v")),
    )
    values = draw("bipartite", grammar, Size.LARGE)
    colour: dict[int, int] = {}
    beside: dict[int, list[int]] = {vertex: [] for vertex in range(1, 201)}
    for one, other in edges_of(values):
        beside[one].append(other)
        beside[other].append(one)
    for start in beside:
        waiting = [start] if colour.setdefault(start, 0) is not None else []
        while waiting:
            vertex = waiting.pop()
            for other in beside[vertex]:
                if other not in colour:
                    colour[other] = 1 - colour[vertex]
                    waiting.append(other)
    assert all(colour[one] != colour[other] for one, other in edges_of(values))


def test_trees_of_many_test_cases_each_have_the_shape() -> None:
    values = draw("star", cases_of_trees(), Size.GREATEST, 2)
    for n, u, v in zip(values["N"], values["u"], values["v"], strict=True):
        assert n < 3 or max(Counter(u + v).values()) == n - 1


# --- rows ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_orders_of_a_permutation(seed: int) -> None:
    identity = list(range(1, 200_001))
    assert draw("rising", permutation(), Size.GREATEST, seed)["P"] == identity
    assert draw("falling", permutation(), Size.GREATEST, seed)["P"] == identity[::-1]
    swapped = draw("one swap", permutation(), Size.GREATEST, seed)["P"]
    assert sum(one != other for one, other in zip(swapped, identity, strict=True)) in (0, 2)
    assert (
        sorted(draw("random", permutation(), Size.LARGE, seed)["P"]) != draw("random", permutation(), Size.LARGE)["P"]
    )


@pytest.mark.parametrize("seed", range(5))
def test_orders_of_a_row(seed: int) -> None:
    rising = draw("rising", row(), Size.GREATEST, seed)["A"]
    assert rising == sorted(rising)
    assert len(set(rising)) > 1000
    falling = draw("falling", row(), Size.GREATEST, seed)["A"]
    assert falling == sorted(falling, reverse=True)
    assert len(set(draw("equal", row(), Size.GREATEST, seed)["A"])) == 1
    assert set(draw("extremes", row(), Size.GREATEST, seed)["A"]) == {1, 10**9}
    assert sorted(Counter(draw("one different", row(), Size.GREATEST, seed)["A"]).values())[0] == 1
    alternating = draw("alternating", row(), Size.GREATEST, seed)["A"]
    assert set(alternating[0::2]) & set(alternating[1::2]) == set()
    assert len(set(alternating)) == 2


def test_values_at_which_programs_overflow() -> None:
    large = Grammar(
        (number("N"), number("A", "N")), (*within(1, of("N"), 50), *within(0, of("A", "i"), 10**18, to("N")))
    )
    found = [each for seed in range(3) for each in draw("overflow", large, Size.GREATEST, seed)["A"]]
    near = [2**31, 2**32, 10**9, 2**53, 10**18]
    assert all(any(abs(value - edge) <= 2 for value in found) for edge in near)


def test_sums_at_which_programs_overflow() -> None:
    found = [sum(draw("sum overflow", row(), Size.GREATEST, seed)["A"]) for seed in range(12)]
    assert any(2**31 < total < 2**31 + 10**6 for total in found)
    assert any(2**32 < total < 2**32 + 10**6 for total in found)
    assert sum(draw("maximal", row(), Size.GREATEST)["A"]) == 2 * 10**14
    small = Grammar((number("N"), number("A", "N")), (*within(1, of("N"), 10), *within(0, of("A", "i"), 10, to("N"))))
    assert not all_strategies()["sum overflow"].applies(small)
    assert not all_strategies()["overflow"].applies(small)


# --- strings ---------------------------------------------------------------------------------------------------------


def word() -> Grammar:
    return Grammar((text("s"),), (*within(1, length("s"), 5000), Characters("s", LOWER)))


@pytest.mark.parametrize("seed", range(3))
def test_letters(seed: int) -> None:
    assert draw("first letter", word(), Size.GREATEST, seed)["s"] == "a" * 5000
    assert draw("last letter", word(), Size.GREATEST, seed)["s"] == "z" * 5000
    assert len(set(draw("equal", word(), Size.GREATEST, seed)["s"])) == 1
    palindrome = draw("palindromes", word(), Size.GREATEST, seed)["s"]
    assert palindrome == palindrome[::-1]
    assert len(set(palindrome)) > 1
    alternating = draw("alternating", word(), Size.GREATEST, seed)["s"]
    assert alternating == alternating[:2] * 2500
    assert alternating[0] != alternating[1]
    assert len(set(draw("collisions", word(), Size.GREATEST, seed)["s"])) in (2, 3)
    assert draw("all letters", word(), Size.GREATEST, seed)["s"][:27] == LOWER + "a"
    periodic = draw("periodic", word(), Size.GREATEST, seed)["s"]
    assert any(periodic == (periodic[:period] * 5000)[:5000] for period in (2, 3, 4))
    assert min(Counter(draw("one different", word(), Size.GREATEST, seed)["s"]).values()) == 1


def test_grids() -> None:
    assert set("".join(draw("first letter", grid(), Size.SMALL)["S"])) == {"."}
    assert set("".join(draw("last letter", grid(), Size.SMALL)["S"])) == {"#"}
    shares = [
        Counter("".join(draw("sparse", grid(), Size.GREATEST, seed)["S"])).most_common()[0][1] for seed in range(6)
    ]
    assert len(set(shares)) > 1
    assert all(600_000 < share < 1_000_000 for share in shares)


def test_a_snake_is_one_way_without_a_branch() -> None:
    values = draw("snake", grid(), Size.GREATEST, 1)
    rows = values["S"]
    way = rows[0][0]
    cells = {(i, j) for i, line in enumerate(rows) for j, letter in enumerate(line) if letter == way}
    beside = Counter(sum((i + a, j + b) in cells for a, b in ((0, 1), (1, 0), (0, -1), (-1, 0))) for i, j in cells)
    assert set(beside) == {1, 2}
    assert beside[1] == 2  # the two ends


# --- test cases ------------------------------------------------------------------------------------------------------


def test_sums_of_products_are_shared_among_test_cases() -> None:
    grammar = Grammar(
        (number("T"), number("H"), number("W"), text("S", "H")),
        (
            *within(1, of("T"), 100),
            *within(1, of("H"), 1000),
            *within(1, of("W"), 1000),
            Comparison(length("S", "i"), "==", of("W"), (to("H"),)),
            Characters("S", "01"),
            SumAtMost(product("H", "W"), Constant(10**5)),
        ),
        blocks=(Cases(of("T"), ()),),
        per_case=frozenset({"H", "W", "S"}),
    )
    for strategy, size in (("many cases", Size.GREATEST), ("maximal", Size.GREATEST), ("random", Size.LARGE)):
        values = draw(strategy, grammar, size, 3)
        assert sum(h * w for h, w in zip(values["H"], values["W"], strict=True)) <= 10**5
        for h, w, rows in zip(values["H"], values["W"], values["S"], strict=True):
            assert [len(each) for each in rows] == [w] * h


def test_a_strategy_that_cannot_says_why() -> None:
    with pytest.raises(CannotDraw) as error:
        draw("every input", SHAPES["row"](), Size.SMALL)
    assert error.value.message == "the inputs are too many to list"
