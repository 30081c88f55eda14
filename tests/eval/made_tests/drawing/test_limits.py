"""Grammars that contradict themselves, leave something open, or would let an input grow without end."""

from __future__ import annotations

import time

import pytest

from eval.made_tests import stdin_text
from eval.made_tests.drawing import MAX_BYTES, MAX_VALUES, CannotDraw, draw_inputs, draw_with_reasons
from eval.made_tests.grammar import (
    Cases,
    Characters,
    Comparison,
    Constant,
    Constraint,
    Distinct,
    Grammar,
    Graph,
    GraphKind,
    Index,
    Kind,
    Line,
    Lines,
    OneOf,
    Permutation,
    Reference,
    Remainder,
    Repeated,
    Sorted,
    SumAtMost,
    Token,
    Variable,
)
from tests.eval.made_tests.shapes import length, minus, number, of, product, row, text, to, within

N_AND_A = (number("N"), number("A", "N"))


@pytest.mark.parametrize(
    ("variables", "constraints", "message"),
    [
        (
            (number("N"),),
            within(1, of("N"), 0),
            "N <= 0 cannot be kept: N would be at least 1 and at most 0",
        ),
        (
            (number("N"), number("M")),
            (*within(5, of("N"), 9), *within(1, of("M"), 4), Comparison(of("N"), "<=", of("M"))),
            "N <= M cannot be kept",
        ),
        (
            (number("N"), number("P", "N")),
            (*within(3, of("N"), 9), Permutation("P", Constant(1), Constant(2))),
            "N == 2, as P has each of 1 to 2 exactly once, cannot be kept: N would be at least 3 and at most 2",
        ),
        (
            N_AND_A,
            (*within(5, of("N"), 9), *within(1, of("A", "i"), 4, to("N")), Distinct(("A",))),
            "N <= 4, as A are pairwise different, cannot be kept",
        ),
        (
            N_AND_A,
            (*within(5, of("N"), 9), *within(1, of("A", "i"), 4, to("N")), Sorted("A", strict=True)),
            "N <= 4, as A is strictly ascending, cannot be kept",
        ),
        (
            (number("N"), number("M"), number("u", "M"), number("v", "M")),
            (
                *within(1, of("N"), 3),
                *within(4, of("M"), 9),
                Graph(frozenset({GraphKind.SIMPLE}), Constant(1), of("N"), "u", "v"),
            ),
            "M <= N*(N-1)/2, as the edges (u, v) on vertices 1 to N are without loops and double edges, cannot be kept",
        ),
        (
            (number("N"), number("A", "N"), text("s")),
            (*within(1, of("N"), 3), *within(0, of("A", "i"), 3, to("N")), *within(1, length("s"), 3)),
            "nothing says which characters s is made of",
        ),
        (N_AND_A, within(1, of("N"), 3), "nothing bounds A from below"),
        ((number("N"),), (Comparison(Constant(1), "<=", of("N")),), "nothing bounds N from above"),
        (
            (text("s"),),
            (Comparison(Constant(1), "<=", length("s")), Characters("s", "ab")),
            "nothing bounds |s| from above",
        ),
        (
            (Variable("x", Kind.DECIMAL),),
            within(1, of("x"), 2),
            "nothing says how many digits x, a decimal number, has",
        ),
        (
            (number("a"),),
            (*within(1, of("a"), 10**6), Remainder(of("a"), 10**7, 0)),
            "a leaves 0 when divided by 10^7 cannot be kept: a is between 1 and 1000000",
        ),
        (
            (number("a"),),
            (*within(3, of("a"), 10**6), OneOf("a", ("1", "2"))),
            "a would be at least 3 and at most 2",
        ),
    ],
)
def test_a_contradiction_is_said_at_once(
    variables: tuple[Variable, ...], constraints: tuple[Constraint, ...], message: str
) -> None:
    started = time.perf_counter()
    with pytest.raises(CannotDraw) as error:
        draw_inputs(Grammar(variables, constraints), 0, 10)
    assert message in error.value.message
    assert time.perf_counter() - started < 5


def test_a_bound_of_a_hundred_digits_is_one() -> None:
    inputs = draw_inputs(Grammar((number("X"),), within(1, of("X"), 10**100)), 0, 10)
    assert {1, 10**100} <= {drawn.values["X"] for drawn in inputs}


def test_what_was_not_understood_is_not_drawn() -> None:
    grammar = Grammar(N_AND_A, row().constraints, not_understood=("A is beautiful.",))
    with pytest.raises(CannotDraw) as error:
        draw_inputs(grammar, 0, 10)
    assert error.value.message == "the statement was not understood: A is beautiful."


def table(most: int, greatest: int) -> Grammar:
    columns = Repeated((Token(of("A", "i", "j")),), Index("j", Constant(1), of("W")))
    return Grammar(
        (number("H"), number("W"), number("A", "H", "W")),
        (
            *within(1, of("H"), most),
            *within(1, of("W"), most),
            *within(0, of("A", "i", "j"), greatest, to("H"), to("W", "j")),
        ),
        blocks=(Line((Token(of("H")), Token(of("W")))), Lines((Line((columns,)),), to("H"))),
    )


def many_cases() -> Grammar:
    cells = Repeated((Token(of("A", "i")),), to("N"))
    return Grammar(
        (number("T"), number("N"), number("A", "N")),
        (*within(1, of("T"), 10**5), *within(1, of("N"), 10**5), *within(0, of("A", "i"), 10**18, to("N"))),
        blocks=(Line((Token(of("T")),)), Cases(of("T"), (Line((Token(of("N")),)), Line((cells,))))),
        per_case=frozenset({"N", "A"}),
    )


def long_strings() -> Grammar:
    return Grammar(
        (number("N"), text("S", "N")),
        (*within(1, of("N"), 10**5), *within(1, length("S", "i"), 10**5, to("N")), Characters("S", "ab")),
        blocks=(Line((Token(of("N")),)), Lines((Line((Token(of("S", "i")),)),), to("N"))),
    )


def ragged() -> Grammar:
    cells = Repeated((Token(of("A", "i", "j")),), Index("j", Constant(1), of("K", "i")))
    return Grammar(
        (number("N"), number("K", "N"), number("A", "N", of("K", "i"))),
        (
            *within(1, of("N"), 10**5),
            *within(1, of("K", "i"), 10**5, to("N")),
            *within(0, of("A", "i", "j"), 9, to("N"), Index("j", Constant(1), of("K", "i"))),
        ),
        blocks=(Line((Token(of("N")),)), Lines((Line((Token(of("K", "i")), cells)),), to("N"))),
    )


@pytest.mark.parametrize(
    ("grammar", "at_least"),
    [(table(10**5, 10**18), 100_000), (many_cases(), 100_000), (long_strings(), 100_000), (ragged(), 100_000)],
    ids=["table", "test cases", "strings", "ragged rows"],
)
def test_an_input_that_would_explode_is_kept_small_and_that_is_said(grammar: Grammar, at_least: int) -> None:
    drawing = draw_with_reasons(grammar, 0, 12)
    assert drawing.is_capped
    assert not drawing.failures
    sizes = [len(stdin_text.render(grammar, each.values)) for each in drawing.inputs]
    assert max(sizes) <= MAX_BYTES * 1.2
    assert max(sizes) >= at_least
    assert max(_count(each.values) for each in drawing.inputs) <= MAX_VALUES * 1.2


def _count(value: object) -> int:
    if isinstance(value, dict):
        return sum(map(_count, value.values()))
    return sum(map(_count, value)) if isinstance(value, list) else 1


def test_an_input_that_cannot_grow_is_not_said_to_be_kept_small() -> None:
    assert not draw_with_reasons(row(), 0, 3).is_capped
    assert not draw_with_reasons(table(100, 9), 0, 3).is_capped


def test_extents_that_share_a_limit_are_square_and_long_both_ways() -> None:
    grammar = Grammar(
        (number("H"), number("W"), text("S", "H")),
        (
            *within(1, of("H"), 10**5),
            *within(1, of("W"), 10**5),
            Comparison(product("H", "W"), "<=", Constant(10**5)),
            Comparison(length("S", "i"), "==", of("W"), (to("H"),)),
            Characters("S", ".#"),
        ),
    )
    found = {(each.values["H"], each.values["W"]) for each in draw_inputs(grammar, 0, 25)}
    assert {(10**5, 1), (1, 10**5)} <= found
    assert any(h == w == 316 for h, w in found)  # 316^2 <= 10^5 < 317^2


def test_sums_of_the_elements_of_a_row_are_kept() -> None:
    grammar = Grammar(
        (number("N"), number("L", "N")),
        (
            *within(1, of("N"), 1000),
            *within(1, of("L", "i"), 10**9, to("N")),
            SumAtMost(of("L", "i"), Constant(10**6), (to("N"),)),
        ),
    )
    sums = []
    for each in draw_inputs(grammar, 0, 30):
        elements = each.values["L"]
        assert isinstance(elements, list)
        sums.append(sum(int(str(one)) for one in elements))
    assert max(sums) == 10**6


def test_an_extent_may_be_nothing() -> None:
    grammar = Grammar(
        (number("N"), number("A", minus("N", 1))),
        (*within(1, of("N"), 5), *within(1, of("A", "i"), 10**9, to(minus("N", 1)))),
    )
    assert {"N": 1, "A": []} in [each.values for each in draw_inputs(grammar, 0, 20)]


def test_extents_that_depend_on_each_other_are_refused() -> None:
    grammar = Grammar(
        (number("A", Reference("B", (Constant(1),))), number("B", Reference("A", (Constant(1),)))),
        (*within(1, of("A", 1), 2), *within(1, of("B", 1), 2)),
    )
    with pytest.raises(CannotDraw):
        draw_inputs(grammar, 0, 2)
