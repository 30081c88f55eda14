"""Which extremes of a statement the inputs reach, by hand."""

from __future__ import annotations

from eval.made_tests.coverage import extremes
from eval.made_tests.grammar import Comparison, Constant, Grammar, Values
from tests.eval.made_tests.shapes import cases, length, number, of, row, text, within


def reached(grammar: Grammar, *inputs: Values) -> dict[str, int]:
    return {each.bound: each.n_inputs for each in extremes(grammar, inputs)}


def test_bounds_of_a_row() -> None:
    grammar = row(most=3, greatest=9)
    assert reached(grammar, {"N": 2, "A": [2, 8]}) == {"1 <= N": 0, "N <= 3": 0, "1 <= A_i": 0, "A_i <= 9": 0}
    found = reached(grammar, {"N": 3, "A": [2, 9, 5]}, {"N": 1, "A": [9]}, {"N": 3, "A": [3, 3, 3]})
    assert found == {"1 <= N": 1, "N <= 3": 2, "1 <= A_i": 0, "A_i <= 9": 2}
    assert not extremes(grammar, [])[0].is_reached
    assert extremes(grammar, [{"N": 1, "A": [5]}])[0].is_reached


def test_strict_bound_is_reached_one_before_it() -> None:
    grammar = Grammar((number("N"), number("M")), (Comparison(of("N"), "<", of("M")), *within(0, of("M"), 10)))
    assert reached(grammar, {"N": 3, "M": 5})["N < M"] == 0
    assert reached(grammar, {"N": 4, "M": 5})["N < M"] == 1


def test_bounds_of_a_test_case() -> None:
    grammar = cases(most_cases=5, most=4)
    found = reached(grammar, {"T": 2, "N": [1, 3], "A": [[1], [2, 2, 2]]})
    assert (found["1 <= N"], found["N <= 4"], found["T <= 5"], found["A_i <= N"]) == (1, 0, 0, 1)


def test_length_of_a_string() -> None:
    grammar = Grammar((text("S"),), within(1, length("S"), 4))
    assert reached(grammar, {"S": "abcd"}) == {"1 <= |S|": 0, "|S| <= 4": 1}


def test_equations_and_facts_are_no_bounds() -> None:
    grammar = Grammar(
        (number("N"), number("M")),
        (Comparison(of("N"), "==", of("M")), Comparison(of("N"), "!=", Constant(3))),
    )
    assert extremes(grammar, [{"N": 1, "M": 1}]) == ()
