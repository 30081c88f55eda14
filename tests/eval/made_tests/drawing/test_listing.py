"""Grammars with few inputs: all of them, in order; their numbers are counted by hand."""

from __future__ import annotations

from itertools import permutations, product
from math import comb

import pytest

from eval.made_tests.drawing import CannotDraw, draw_inputs, draw_with_reasons
from eval.made_tests.drawing._exhausting import LIMIT, all_inputs
from eval.made_tests.grammar import (
    Cases,
    Characters,
    Comparison,
    Constant,
    Distinct,
    Grammar,
    Graph,
    GraphKind,
    OneOf,
    Permutation,
    Remainder,
    Sorted,
    SumAtMost,
    Values,
)
from tests.eval.made_tests.shapes import length, minus, number, of, row, text, to, within


def two_numbers() -> Grammar:
    return Grammar((number("a"), number("b")), (*within(1, of("a"), of("b")), *within(1, of("b"), 3)))


def short_row() -> Grammar:
    return Grammar((number("N"), number("A", "N")), (*within(1, of("N"), 3), *within(0, of("A", "i"), 1, to("N"))))


def test_all_inputs_in_order() -> None:
    expected = [{"a": a, "b": b} for a in range(1, 4) for b in range(a, 4)]
    assert list(all_inputs(two_numbers()) or ()) == expected
    rows = [{"N": n, "A": list(each)} for n in (1, 2, 3) for each in product((0, 1), repeat=n)]
    assert list(all_inputs(short_row()) or ()) == rows


ONE_TO_THREE = (number("N"), number("A", "N"))


@pytest.mark.parametrize(
    ("grammar", "count"),
    [
        (two_numbers(), 6),
        (short_row(), 2 + 4 + 8),
        (
            Grammar(ONE_TO_THREE, (*within(1, of("N"), 4), Permutation("A", Constant(1), of("N")))),
            1 + 2 + 6 + 24,
        ),
        (
            Grammar(
                ONE_TO_THREE,
                (*within(1, of("N"), 5), *within(1, of("A", "i"), 5, to("N")), Sorted("A", strict=True)),
            ),
            sum(comb(5, n) for n in range(1, 6)),
        ),
        (
            Grammar(ONE_TO_THREE, (*within(2, of("N"), 2), *within(1, of("A", "i"), 5, to("N")), Distinct(("A",)))),
            5 * 4,
        ),
        (Grammar((text("s"),), (*within(1, length("s"), 3), Characters("s", "abc"))), 3 + 9 + 27),
        (Grammar((text("s", 2),), (OneOf("s", ("up", "down")),)), 4),
        (Grammar((number("a"),), (*within(1, of("a"), 100), Remainder(of("a"), 7, 3))), 14),
        (
            Grammar(
                (number("N"), number("u", minus("N", 1)), number("v", minus("N", 1))),
                (
                    *within(1, of("N"), 3),
                    Comparison(of("u", "i"), "<", of("v", "i"), (to(minus("N", 1)),)),
                    Graph(frozenset({GraphKind.TREE}), Constant(1), of("N"), "u", "v"),
                ),
            ),
            1 + 1 + 3 * 2,  # the three trees of three vertices, their edges in either order
        ),
    ],
)
def test_there_are_as_many_inputs_as_one_counts(grammar: Grammar, count: int) -> None:
    found = all_inputs(grammar)
    assert found is not None
    assert len(found) == count
    assert len({str(each) for each in found}) == count
    drawing = draw_with_reasons(grammar, 0, count)
    assert drawing.is_complete
    assert [each.values for each in drawing.inputs] == list(found)
    fewer = draw_with_reasons(grammar, 0, max(count // 2, 1))
    assert not fewer.is_complete
    assert all(each.values in found for each in fewer.inputs)


def test_many_inputs_are_not_listed() -> None:
    assert all_inputs(row()) is None
    numbers = Grammar((number("a"),), within(1, of("a"), LIMIT + 1))
    assert all_inputs(numbers) is None
    assert len(draw_inputs(numbers, 0, 50)) == 50


def cards(most: int, limit: int | None = None) -> Grammar:
    sums = () if limit is None else (SumAtMost(of("n"), Constant(limit)),)
    return Grammar(
        (number("t"), number("n"), text("s")),
        (
            *within(1, of("t"), most),
            *within(1, of("n"), 2),
            Comparison(length("s"), "==", of("n")),
            Characters("s", "ab"),
            *sums,
        ),
        blocks=(Cases(of("t"), ()),),
        per_case=frozenset({"n", "s"}),
    )


def every_case(grammar: Grammar) -> Values:
    return next(each.values for each in draw_inputs(grammar, 0, 30) if each.strategy == "every case, large")


def test_all_test_cases_stand_in_one_input() -> None:
    assert every_case(cards(1000)) == {
        "t": 6,
        "n": [1, 1, 2, 2, 2, 2],
        "s": ["a", "b", "aa", "ab", "ba", "bb"],
    }


def test_as_many_test_cases_stand_in_one_input_as_there_may_be() -> None:
    assert every_case(cards(4))["t"] == 3
    assert every_case(cards(1000, limit=4)) == {"t": 3, "n": [1, 1, 2], "s": ["a", "b", "aa"]}


def test_a_permutation_of_three_is_listed_as_itertools_lists_it() -> None:
    grammar = Grammar((number("P", 3),), (Permutation("P", Constant(1), Constant(3)),))
    assert [each["P"] for each in all_inputs(grammar) or ()] == [list(each) for each in permutations((1, 2, 3))]


def test_no_input_at_all_is_said() -> None:
    grammar = Grammar(
        (number("a"), number("b")),
        (*within(1, of("a"), 2), *within(1, of("b"), 2), Remainder(of("a"), 3, 0)),
    )
    with pytest.raises(CannotDraw) as error:
        draw_inputs(grammar, 0, 300)
    assert error.value.message == "no input keeps all constraints"
