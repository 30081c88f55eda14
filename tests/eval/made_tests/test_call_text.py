"""Arguments as text: a JSON value a line, and back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.made_tests.call_text import parse, render
from eval.made_tests.grammar import (
    Columns,
    Comparison,
    Constant,
    Grammar,
    InputRefused,
    Kind,
    Length,
    Operation,
    Reference,
    Values,
    Variable,
)
from ingest.text import require_call_test

N, M = Reference("n"), Reference("m")
EVERYTHING = Grammar(
    variables=(
        Variable("k", Kind.INTEGER, (), 0),
        Variable("x", Kind.DECIMAL, (), 0),
        Variable("s", Kind.STRING, (), 0),
        Variable("nums", Kind.INTEGER, (N,), 0),
        Variable("words", Kind.STRING, (Operation("*", Constant(2), M),), 0),
        Variable("rates", Kind.DECIMAL, (N,), 0),
        Variable("grid", Kind.STRING, (N, M), 0),
        Variable("widths", Kind.INTEGER, (N,), 0),
        Variable("rows", Kind.INTEGER, (N, Reference("widths", (Reference("i"),))), 0),
        Variable("u", Kind.INTEGER, (Operation("-", Reference("e"), Constant(1)),), 0),
        Variable("v", Kind.STRING, (Operation("-", Reference("e"), Constant(1)),), 0),
        Variable("n", Kind.INTEGER, (), 0),
        Variable("m", Kind.INTEGER, (), 0),
        Variable("e", Kind.INTEGER, (), 0),
        Variable("long", Kind.INTEGER, (), 0),
    ),
    constraints=(Comparison(Reference("long"), "==", Length(Reference("s"))),),
    parameters=("k", "x", "s", "nums", "words", "rates", "grid", "rows", "pairs"),
    columns=(Columns("pairs", ("u", "v")),),
)
INTEGERS = st.integers(-(10**30), 10**30)
DECIMALS = st.builds(lambda whole, part: f"{whole}.{part}", st.integers(-(10**9), 10**9), st.integers(0, 10**9))


def _lists(element: st.SearchStrategy[Any], size: int) -> st.SearchStrategy[list[Any]]:
    return st.lists(element, min_size=size, max_size=size)


@st.composite
def values_of_everything(draw: st.DrawFn) -> Values:
    n, m, n_pairs = draw(st.integers(1, 4)), draw(st.integers(1, 3)), draw(st.integers(0, 3))
    text = draw(st.text(max_size=9))
    widths = draw(_lists(st.integers(0, 3), n))
    return {
        "k": draw(INTEGERS),
        "x": draw(DECIMALS),
        "s": text,
        "nums": draw(_lists(INTEGERS, n)),
        "words": draw(_lists(st.text(max_size=5), 2 * m)),
        "rates": draw(_lists(DECIMALS, n)),
        "grid": draw(_lists(_lists(st.text(max_size=2), m), n)),
        "widths": list(widths),
        "rows": [draw(_lists(INTEGERS, width)) for width in widths],
        "u": draw(_lists(INTEGERS, n_pairs)),
        "v": draw(_lists(st.text(max_size=3), n_pairs)),
        "n": n,
        "m": m,
        "e": n_pairs + 1,
        "long": len(text),
    }


@settings(max_examples=150, deadline=None)
@given(values_of_everything())
def test_what_is_rendered_is_parsed_to_the_same(values: Values) -> None:
    text = render(EVERYTHING, values)
    assert parse(EVERYTHING, text) == values
    assert parse(EVERYTHING, text + "\n") == values
    require_call_test(text.encode("utf-8"), b"0")
    assert [type(json.loads(line)) for line in text.split("\n")] == [int, float, str, *[list] * 6]


def test_the_form_is_that_of_recorded_tests() -> None:
    grammar = Grammar(
        variables=(
            Variable("words", Kind.STRING, (N,), 0),
            Variable("x", Kind.DECIMAL, (), 0),
            Variable("a", Kind.INTEGER, (M,), 0),
            Variable("b", Kind.INTEGER, (M,), 0),
            Variable("n", Kind.INTEGER, (), 0),
            Variable("m", Kind.INTEGER, (), 0),
        ),
        constraints=(),
        parameters=("words", "x", "pairs"),
        columns=(Columns("pairs", ("a", "b")),),
    )
    text = '["a\\"b", "c"]\n1.50\n[[1, -2], [3, 4]]'
    values = parse(grammar, text)
    assert values == {"words": ['a"b', "c"], "x": "1.50", "a": [1, 3], "b": [-2, 4], "n": 2, "m": 2}
    assert render(grammar, values) == text
    assert parse(grammar, '["a"]\n2\n[]') == {"words": ["a"], "x": "2", "a": [], "b": [], "n": 1, "m": 0}


NUMBERS = Grammar(
    variables=(
        Variable("k", Kind.INTEGER, (), 0),
        Variable("nums", Kind.INTEGER, (N,), 0),
        Variable("n", Kind.INTEGER),
    ),
    constraints=(),
    parameters=("k", "nums"),
)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "1 lines for 2 parameters"),
        ("1", "1 lines for 2 parameters"),
        ("1\n[2]\n3", "3 lines for 2 parameters"),
        ("1\n\n[2]", "3 lines for 2 parameters"),
        ("1\n[2", "nums: '[2' is no JSON value"),
        ("1\n", "1 lines for 2 parameters"),
        ("true\n[2]", "k: True is not an integer"),
        ("1.0\n[2]", "k: '1.0' is not an integer"),
        ('"1"\n[2]', "k: '1' is not an integer"),
        ("null\n[2]", "k: None is not an integer"),
        ("NaN\n[2]", "k: 'NaN' is no JSON value"),
        ("[1]\n[2]", "k: '[1]' is not an integer"),
        ("1\n2", "nums: 2 is no array"),
        ('1\n{"a": 1}', "is no array"),
        ("1\n[[2]]", "is not an integer"),
        ("1\n[2, null]", "nums: None is not an integer"),
        ("1\n" + "[" * 100_000 + "]" * 100_000, "is no JSON value"),
        ("9" * 5000 + "\n[2]", "is no JSON value"),
    ],
)
def test_what_is_no_input_is_refused_with_its_parameter(text: str, what: str) -> None:
    with pytest.raises(InputRefused) as refused:
        parse(NUMBERS, text)
    assert what.replace("'[1]'", "[1]") in str(refused.value)
    assert len(str(refused.value)) < 120


@pytest.mark.parametrize("text", ["[1]", "[[1]]", "[[1, 2], [3]]", "[[1, 2, 3]]", "7", '[[1, "2"]]', "[null]"])
def test_rows_that_are_no_pairs_are_refused(text: str) -> None:
    grammar = Grammar(
        variables=(*(Variable(name, Kind.INTEGER, (N,), 0) for name in "ab"), Variable("n", Kind.INTEGER)),
        constraints=(),
        parameters=("pairs",),
        columns=(Columns("pairs", ("a", "b")),),
    )
    with pytest.raises(InputRefused, match=r"pairs|a:|b:"):
        parse(grammar, text)


def test_a_length_that_cannot_be_is_refused() -> None:
    grammar = Grammar(
        variables=(Variable("a", Kind.INTEGER, (Operation("*", Constant(2), N),), 0), Variable("n", Kind.INTEGER)),
        constraints=(),
        parameters=("a",),
    )
    assert parse(grammar, "[1, 2, 3, 4]")["n"] == 2
    with pytest.raises(InputRefused, match="is never 3"):
        parse(grammar, "[1, 2, 3]")


def test_a_variable_that_nothing_says_is_refused() -> None:
    grammar = Grammar(
        variables=(
            Variable("a", Kind.INTEGER, (Operation("+", N, M),), 0),
            Variable("n", Kind.INTEGER),
            Variable("m", Kind.INTEGER),
        ),
        constraints=(),
        parameters=("a",),
    )
    with pytest.raises(InputRefused, match="nothing says what n is"):
        parse(grammar, "[1, 2, 3]")


def test_values_that_are_missing_or_do_not_fit_are_not_rendered() -> None:
    with pytest.raises(InputRefused, match="nums has no value"):
        render(NUMBERS, {"k": 1})
    grammar = Grammar(
        variables=(*(Variable(name, Kind.INTEGER, (N,), 0) for name in "ab"), Variable("n", Kind.INTEGER)),
        constraints=(),
        parameters=("pairs",),
        columns=(Columns("pairs", ("a", "b")),),
    )
    with pytest.raises(InputRefused, match="columns of pairs"):
        render(grammar, {"a": [1], "b": [1, 2], "n": 1})
