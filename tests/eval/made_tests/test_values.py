"""Expressions of an input, and whether it keeps the constraints of its grammar."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.made_tests.flat import evaluate_all, no_indices
from eval.made_tests.grammar import (
    Cases,
    Comparison,
    Constant,
    Constraint,
    Distinct,
    Expression,
    Extreme,
    Grammar,
    Graph,
    GraphKind,
    Index,
    InputRefused,
    Kind,
    Occurrences,
    Operation,
    Permutation,
    Sorted,
    Sum,
    SumAtMost,
    Values,
    Variable,
)
from eval.made_tests.shape import flatten
from eval.made_tests.values import by_name, check, evaluate, values_of_case
from tests.eval.made_tests.constraint_cases import CASES, EDGES, PAIRS, ROW, edges, graph, over, rows
from tests.eval.made_tests.shapes import (
    cases,
    length,
    minus,
    number,
    of,
    parents,
    parents_with_root,
    plus,
    product,
    ragged,
    row,
    text,
    to,
    tree,
    within,
)

VARIABLES = (
    number("N"),
    number("A", "N"),
    number("B", 2, 2, first_index=0),
    text("S", 2),
    text("c", first_index=0),
    number("K", 2),
    number("R", 2, of("K", "i")),
)
VALUES: Values = {
    "N": 3,
    "A": [5, -7, 10**18],
    "B": [[1, 2], [3, 4]],
    "S": ["ab", "xyz"],
    "c": "0x",
    "K": [1, 2],
    "R": [[7], [8, 9]],
}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (Constant(10**30), 10**30),
        (of("N"), 3),
        (of("A", 1), 5),
        (of("A", "N"), 10**18),
        (of("A", minus("N", 1)), -7),
        (of("B", 1, 0), 3),
        (of("R", 2, "m"), 9),
        (of("m"), 2),
        (length("S", 2), 3),
        (length("A"), 3),
        (length("R", 2), 2),
        (length("c"), 2),
        (of("S", 2, 1), ord("x")),
        (of("c", 0), ord("0")),
        (Operation("/", of("A", 2), Constant(2)), -4),
        (Operation("^", Constant(10), Constant(18)), 10**18),
        (product(of("A", 3), of("A", 3)), 10**36),
        (Extreme("min", (of("N"), Constant(9), of("A", 2))), -7),
        (Extreme("max", (of("N"), Constant(9), of("A", 2))), 9),
        (Sum(of("A", "i"), over(1, "N")), 10**18 - 2),
        (Sum(Sum(of("R", "i", "j"), Index("j", Constant(1), of("K", "i"))), over(1, 2)), 24),
        (Sum(of("i"), over(5, 4)), 0),
    ],
)
def test_expressions_have_the_values_that_one_reckons(expression: Expression, expected: int) -> None:
    grammar = Grammar(VARIABLES, ())
    assert evaluate(expression, VALUES, {"m": 2}, by_name(grammar)) == expected


def test_an_index_hides_a_variable_of_its_name() -> None:
    grammar = Grammar((number("i"),), ())
    assert evaluate(of("i"), {"i": 4}, {"i": 7}, by_name(grammar)) == 7


@pytest.mark.parametrize(
    "expression",
    [
        of("A", 0),
        of("A", 4),
        of("B", 2, 0),
        of("S", 1, 3),
        Operation("/", Constant(1), minus("N", 3)),
        Operation("^", Constant(10), Constant(10**9)),
        Operation("^", Constant(10), Constant(-1)),
        of("S", 1),
        length("N"),
        Sum(Constant(1), over(1, 10**18)),
    ],
)
def test_what_has_no_value_is_refused(expression: Expression) -> None:
    with pytest.raises(InputRefused):
        evaluate(expression, VALUES, {}, by_name(Grammar(VARIABLES, ())))


LEAVES = st.one_of(
    st.integers(-5, 5).map(Constant),
    st.sampled_from([10**9, 10**18, 2**63 - 1, -(2**63)]).map(Constant),
    st.sampled_from([of("N"), of("A", 1), of("A", 2), of("B", 0, 1), of("R", 2, "N"), length("S", 1), of("S", 2, 3)]),
)
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(Operation, st.sampled_from("+-*/"), inner, inner),
        st.builds(lambda base, power: Operation("^", base, Constant(power)), inner, st.integers(0, 3)),
        st.builds(lambda which, *each: Extreme(which, each), st.sampled_from(["min", "max"]), inner, inner),
        st.builds(lambda each: Sum(plus(each, of("q")), over(1, 3, "q")), inner),
    ),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(EXPRESSIONS)
def test_all_at_once_is_the_same_as_one_by_one(expression: Expression) -> None:
    grammar = Grammar(VARIABLES, ())
    values: Values = {**VALUES, "K": [1, 3], "R": [[7], [8, 9, 1]]}
    flats, _ = flatten(grammar, values)
    try:
        expected = evaluate(expression, values, {}, by_name(grammar))
    except InputRefused:
        return
    assert evaluate_all(expression, flats, no_indices(None)).tolist() == [expected]


# --- the shape -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("grammar", "values", "message"),
    [
        (row(), {"N": 1}, "A is missing"),
        (row(), {"N": 1, "A": [1], "B": 2}, "B is no variable of this input"),
        (row(), {"N": "1", "A": [1]}, "N has '1', which is not an integer"),
        (row(), {"N": True, "A": [1]}, "N has True, which is not an integer"),
        (row(), {"N": 1, "A": 1}, "A is no nested rows (N)"),
        (row(), {"N": 1, "A": [[1]]}, "A has [1], which is not an integer"),
        (row(), {"N": 2, "A": [1]}, "A has 1 elements, and N is 2"),
        (ragged(), {"N": 2, "K": [1, 2], "A": [[1], [1]]}, "A has 1 elements, and K_i is 2 for i = 2"),
        (cases(), {"T": 2, "N": [1], "A": [[1]]}, "N is there for 1 test cases, not 2"),
        (cases(), {"T": 1, "N": [2], "A": [[1]]}, "A has 1 elements, and N is 2 in test case 1"),
        (cases(), {"T": "x", "N": [2], "A": [[1, 1]]}, "T is no number of test cases: 'x'"),
        (
            Grammar((Variable("x", Kind.DECIMAL),), ()),
            {"x": "1e5"},
            "x has '1e5', which is not a decimal number",
        ),
    ],
)
def test_an_input_of_another_shape_is_refused(grammar: Grammar, values: dict[str, Any], message: str) -> None:
    with pytest.raises(InputRefused) as refused:
        check(grammar, values)
    assert str(refused.value) == message


# --- the constraints: what keeps them, and what breaks them in which words ------------------------------------------


@pytest.mark.parametrize(
    ("variables", "constraint", "good", "bad", "message"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_a_broken_constraint_is_named_with_the_values_that_break_it(
    variables: tuple[Variable, ...], constraint: Constraint, good: Values, bad: Values, message: str
) -> None:
    grammar = Grammar(variables, (constraint,))
    check(grammar, good)
    with pytest.raises(InputRefused) as refused:
        check(grammar, bad)
    assert str(refused.value) == message


IN_EACH_CASE = [case for case in CASES if not isinstance(case[2], SumAtMost)]
"""All but sums, which run over the cases together."""


@pytest.mark.parametrize(
    ("variables", "constraint", "good", "bad", "message"),
    [case[1:] for case in IN_EACH_CASE],
    ids=[case[0] for case in IN_EACH_CASE],
)
def test_constraints_hold_in_each_test_case(
    variables: tuple[Variable, ...], constraint: Constraint, good: Values, bad: Values, message: str
) -> None:
    """The same inputs as test cases: the one that is wrong is named."""
    names = frozenset(variable.name for variable in variables)
    grammar = Grammar((number("cases"), *variables), (constraint,), blocks=(Cases(of("cases"), ()),), per_case=names)

    def together(*inputs: Values) -> Values:
        return {"cases": len(inputs), **{name: [each[name] for each in inputs] for name in names}}

    check(grammar, together(good, good, good))
    check(grammar, together())
    with pytest.raises(InputRefused, match="in test case 2"):
        check(grammar, together(good, bad, good))


def test_parents_are_a_tree() -> None:
    good: Values = {"N": 4, "P": [1, 1, 3], "A": [0, 0, 0, 0]}
    check(parents(), good)
    with pytest.raises(InputRefused, match=r"P_i <= i does not hold for i = 1: 2 <= 1 is wrong"):
        check(parents(), {**good, "P": [2, 1, 3]})
    check(parents_with_root(), {"n": 3, "parent": [-1, 2, 0]})
    with pytest.raises(InputRefused, match="2 parts that no edges join"):
        check(parents_with_root(), {"n": 3, "parent": [-1, 2, 1]})
    with pytest.raises(InputRefused, match="it has 2 roots"):
        check(parents_with_root(), {"n": 3, "parent": [-1, -1, 0]})
    loose = replace(parents(), constraints=tuple(each for each in parents().constraints if isinstance(each, Graph)))
    with pytest.raises(InputRefused, match="2 parts that no edges join"):
        check(loose, {"N": 4, "P": [1, 4, 3], "A": [0, 0, 0, 0]})


def test_sums_run_over_all_test_cases_or_over_one_where_its_limit_is_of_a_case() -> None:
    grammar = cases(most=5)
    check(grammar, {"T": 2, "N": [2, 3], "A": [[1, 1], [1, 1, 1]]})
    with pytest.raises(InputRefused, match="the sum of N is at most 5 does not hold: it is 6"):
        check(grammar, {"T": 2, "N": [3, 3], "A": [[1, 1, 1], [1, 1, 1]]})
    of_case = replace(grammar, constraints=(SumAtMost(of("A", "i"), of("N"), (to("N"),)),))
    check(of_case, {"T": 2, "N": [2, 1], "A": [[1, 1], [1]]})
    with pytest.raises(InputRefused, match="does not hold in test case 2: it is 2, and the limit is 1"):
        check(of_case, {"T": 2, "N": [2, 1], "A": [[1, 1], [2]]})


def test_what_cannot_be_computed_is_refused_in_words() -> None:
    beyond = Grammar(ROW, (Comparison(of("A", "i"), "<", of("A", plus("i", 1)), (to("N"),)),))
    with pytest.raises(InputRefused, match=r"cannot be computed: there is no A_\{i\+1\}"):
        check(beyond, rows(1, 2))
    zero = Grammar((number("a"),), (Comparison(Operation("/", Constant(1), of("a")), "<", Constant(2), ()),))
    with pytest.raises(InputRefused, match="cannot be computed: division by zero"):
        check(zero, {"a": 0})
    pairs_of_all = Grammar(ROW, (Comparison(of("A", "i"), "<", plus(of("A", "j"), of("i")), (to("N"), to("N", "j"))),))
    with pytest.raises(InputRefused, match="cannot be computed: an index has more than"):
        check(pairs_of_all, rows(*range(10_000)))


def test_values_of_a_case() -> None:
    values: Values = {"T": 2, "N": [1, 2], "A": [[1], [2, 1]]}
    assert values_of_case(cases(), values, 1) == {"T": 2, "N": 2, "A": [2, 1]}


# --- against a plain second look -------------------------------------------------------------------------------------


def is_connected(n: int, edges: list[tuple[int, int]]) -> bool:
    seen = {1}
    for _ in range(n):
        seen |= {one for pair in edges for one in pair if set(pair) & seen}
    return n <= 1 or len(seen) == n


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 5), st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), max_size=6))
def test_graphs_are_what_a_plain_look_finds(n: int, drawn: list[tuple[int, int]]) -> None:
    found = [pair for pair in drawn if max(pair) <= n]
    values = edges(n, *found)
    is_simple = len({frozenset(pair) for pair in found}) == len(found) and all(one != other for one, other in found)
    parts = 0
    left = set(range(1, n + 1))
    while left:
        part = {left.pop()}
        for _ in range(n):
            part |= {one for pair in found for one in pair if set(pair) & part}
        left -= part
        parts += 1
    expected = {
        GraphKind.SIMPLE: is_simple,
        GraphKind.CONNECTED: parts == 1,
        GraphKind.ACYCLIC: len(found) == n - parts,
        GraphKind.TREE: parts == 1 and len(found) == n - 1,
    }
    for kind, holds in expected.items():
        assert keeps(Grammar(EDGES, (graph(kind),)), values) == holds, kind


def keeps(grammar: Grammar, values: Values) -> bool:
    try:
        check(grammar, values)
    except InputRefused:
        return False
    return True


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(1, 4), max_size=5))
def test_rows_are_what_a_plain_look_finds(drawn: list[int]) -> None:
    expected: dict[Constraint, bool] = {
        Distinct(("A",)): len(set(drawn)) == len(drawn),
        Permutation("A", Constant(1), of("N")): sorted(drawn) == list(range(1, len(drawn) + 1)),
        Sorted("A"): drawn == sorted(drawn),
        Sorted("A", descending=True): drawn == sorted(drawn, reverse=True),
        Sorted("A", strict=True): drawn == sorted(set(drawn)),
        SumAtMost(of("A", "i"), Constant(6), (to("N"),)): sum(drawn) <= 6,
        Occurrences("A", ("2", "3"), Constant(1), Constant(2)): all(1 <= drawn.count(each) <= 2 for each in (2, 3)),
        Comparison(of("A", "i"), "<=", of("i"), (to("N"),)): all(each <= i for i, each in enumerate(drawn, start=1)),
    }
    for constraint, holds in expected.items():
        assert keeps(Grammar(ROW, (constraint,)), rows(*drawn)) == holds, constraint


# --- size ------------------------------------------------------------------------------------------------------------

SECONDS = 4
"""What takes a step for each pair, or much time for each of 10^5 test cases, would take many times as long."""


@pytest.mark.parametrize(
    ("grammar", "values"),
    [
        pytest.param(row, lambda: {"N": 200_000, "A": [10**9] * 200_000}, id="row"),
        pytest.param(
            cases, lambda: {"T": 100_000, "N": [2] * 100_000, "A": [[1, 2]] * 100_000}, id="100,000 test cases"
        ),
        pytest.param(
            tree,
            lambda: {
                "N": 200_000,
                "u": list(range(1, 200_000)),
                "v": list(range(2, 200_001)),
                "w": [1] * 199_999,
            },
            id="tree",
        ),
        pytest.param(
            lambda: Grammar(PAIRS, (Comparison(of("A", "i"), "!=", of("B", "j"), (to("N"), to("N", "j"))),)),
            lambda: {"N": 200_000, "A": list(range(200_000)), "B": list(range(200_000, 400_000))},
            id="rows that have nothing in common",
        ),
    ],
)
def test_large_inputs_are_checked_at_once(grammar: Callable[[], Grammar], values: Callable[[], Values]) -> None:
    made = values()
    started = time.perf_counter()
    check(grammar(), made)
    assert time.perf_counter() - started < SECONDS


def test_bounds_of_within_are_meant_in() -> None:
    grammar = Grammar((number("a"),), within(1, of("a"), 3))
    assert [keeps(grammar, {"a": each}) for each in range(5)] == [False, True, True, True, False]
