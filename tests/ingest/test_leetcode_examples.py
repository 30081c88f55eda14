from __future__ import annotations

import json
from typing import Any

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from ingest.errors import BadRow
from ingest.sources._leetcode_examples import (
    Example,
    answers_to,
    examples_of,
    find_examples,
    read_answer,
    read_arguments,
    read_lines,
)
from tests.ingest.leetcode_pages import tree

FERRY = ["FerryQueue", "board", "leave"]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (
            "markup_pre.html",
            [([[3, 3, 4, 1], ["a<b", "&lt;"]], ["a<b", "&lt;"]), ([[5], []], [])],
        ),
        ("markup_example_block.html", [([3, [[0, 1, 2], [1, 2, 3]]], 2), ([1, []], -1)]),
        ("markup_single.html", [([[2, 7], 9], [[2, 7], [7, 2]])]),
        (
            "markup_class.html",
            [
                (
                    [["FerryQueue", "board", "board", "leave", "load"], [[2], [7], [9], [], []]],
                    [None, True, True, 7, 0.5],
                )
            ],
        ),
        ("markup_class_br.html", [([FERRY, [[[[1, 10], [2, 20]]], [4], []]], [None, False, 1])]),
    ],
)
def test_every_markup_gives_its_examples(name: str, shown: list[tuple[list[Any], Any]]) -> None:
    found = examples_of(tree(name))
    assert [(read_arguments(example.given), read_answer(example.answer)) for example in found] == shown


def test_labels_without_any_markup_are_found() -> None:
    assert examples_of(tree("markup_bare.html")) == (Example('s = "lamp"\nt = "lampo"', "o"),)


@pytest.mark.parametrize(
    "markup",
    [
        "<p><strong>Input:</strong> n = 4</p><p><strong>Output:</strong> 16</p><p>Constraints: n &gt; 0</p>",
        "<p><b>Input: </b>n = 4<br/><b>Output: </b>16<br/><b>Explanation:</b> 4 by 4</p>",
        "<div><strong>Input</strong>: n = 4 <strong>Output</strong>: 16 <strong>Explanation</strong>: 4 by 4</div>",
        "<pre><strong>Input:</strong> n = 4 <b>Output:</b> 16 <b>Note:</b> 4 by 4</pre>",
        "<pre><b>INPUT :</b>&nbsp;n&nbsp;=&nbsp;4\r\n<b>output</b>\r\n<em>16</em>\r\n\r\n4 by 4</pre>",
        "<ul><li>Input: n = 4</li><li>Output: <code>16</code></li></ul><p>Follow-up: <b>Output</b> less.</p>",
    ],
)
def test_labels_are_found_wherever_they_stand(markup: str) -> None:
    (example,) = examples_of(BeautifulSoup(markup, "lxml"))
    assert read_arguments(example.given) == [4]
    answer = example.answer.replace("\n\n4 by 4", "")
    assert read_answer(answer) == 16


def test_long_runs_of_blanks_and_names_are_read_at_once() -> None:
    """Where blanks may stand in three places of a pattern, runs of them are tried in all ways: for hours."""
    blanks = " " * 100_000
    for word in ("Input", "Input 1", "Example"):
        assert find_examples(f"{word}{blanks}x") == ()
        assert examples_of(BeautifulSoup(f"<pre><b>{word}{blanks}x</b></pre>", "lxml")) == ()
    assert find_examples(f"Input{blanks}1{blanks}:{blanks}7\nOutput{blanks}:8") == (Example("7", "8"),)
    assert read_arguments("a" * 100_000) is None


def test_prose_and_explanations_give_no_example() -> None:
    text = "Input is a row.\nOutputs differ.\nInput: n = 1\nExplanation: none\nOutput: 2\nNote: Input: 3\nOutput: 4\n"
    assert find_examples(text) == ()
    assert find_examples("Input: 3\nInput: 4\nOutput: 5") == (Example("4", "5"),)
    assert find_examples("") == ()


@pytest.mark.parametrize(
    ("given", "values"),
    [
        ("nums = [1,2], k = 3", [[1, 2], 3]),
        ("[1,2]\n3", [[1, 2], 3]),
        ('s = "", t = "a = 1, b"', ["", "a = 1, b"]),
        ("n=-1;\n m = 2.50 ,k = true", [-1, 2.5, True]),
        ("root = [3,null,9]", [[3, None, 9]]),
        ("", []),
        ("nums = [1,2], and k", None),
        ("head = 1->2", None),
        ("s = abc", None),
        ("x = NaN", None),
        ("x = 1e999", None),
    ],
)
def test_names_of_arguments_are_left_off(given: str, values: list[Any] | None) -> None:
    assert read_arguments(given) == values


def test_lines_of_a_test_are_json_values() -> None:
    assert read_lines('[1,2]\n "x" \n-3') == [[1, 2], "x", -3]
    for case, line in [("[1,2]\nx", 2), ("1 2", 1), ("", 1), ("1\n\n2", 2)]:
        with pytest.raises(BadRow, match=f"is not JSON in line {line}"):
            read_lines(case)


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("2", 2),
        ('""', ""),
        ("[[1],\n [2]]", [[1], [2]]),
        ("2\n\nThe longest has two.", 2),
        ("true\nBecause it is.", True),
        ("null", None),
    ],
)
def test_an_answer_is_its_value_without_what_explains_it(answer: str, value: Any) -> None:
    assert read_answer(answer) == value


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("", "is empty"),
        ("7 -> 0", "goes on after a value"),
        ("5, nums = [1,_]", "goes on after a value"),
        ("2\n3", "has more than one value"),
        ("e", "is not JSON"),
        ("[1,2", "is not JSON"),
        ("Infinity", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_an_answer_that_is_not_certain_is_refused(answer: str, says: str) -> None:
    with pytest.raises(BadRow, match=says):
        read_answer(answer)


FIRST, SECOND = Example("n = 1", "10"), Example("n = 2", "20")


@pytest.mark.parametrize(
    ("cases", "examples", "answers"),
    [
        ([[1], [2]], [FIRST, SECOND], ["10", "20"]),
        ([[2], [1]], [FIRST, SECOND], ["20", "10"]),
        ([[1], [2], [3]], [FIRST, SECOND], ["10", "20", None]),
        ([[2]], [FIRST, SECOND], ["20"]),
        ([[1], [2]], [FIRST, Example("the second row", "20")], ["10", "20"]),
        ([[1], [3]], [FIRST, SECOND], ["10", None]),
        ([[1], [3]], [Example("row", "10"), SECOND], [None, None]),
        ([[1]], [Example("a row", "10"), Example("a row", "20")], [None]),
        ([[1]], [FIRST, Example("n = 1", "11")], [None]),
        ([[1], None], [FIRST, Example("a row", "20")], ["10", "20"]),
        ([[True]], [FIRST, SECOND], [None]),
        ([], [FIRST], []),
    ],
)
def test_outputs_go_to_the_inputs_that_are_certainly_theirs(
    cases: list[list[Any] | None], examples: list[Example], answers: list[str | None]
) -> None:
    assert answers_to(cases, examples) == answers


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda values: st.lists(values, max_size=4),
    max_leaves=12,
)


@given(st.lists(json_values, min_size=1, max_size=4), json_values)
def test_what_a_plain_statement_shows_is_what_comes_out(values: list[Any], answer: Any) -> None:
    given_text = ", ".join(f"arg{number} = {json.dumps(value)}" for number, value in enumerate(values))
    text = f"Sum it up.\n\nExample 1:\n\nInput: {given_text}\nOutput: {json.dumps(answer)}\n\nConstraints:\n\n1 <= n\n"
    (example,) = find_examples(text)
    assert read_arguments(example.given) == values
    assert read_answer(example.answer) == answer


@given(st.text(st.sampled_from('InputOutputExample:[]{}"\\,=1 \n\t\u00a0<b>'), max_size=80))
def test_no_text_breaks_the_finder(text: str) -> None:
    for example in (*find_examples(text), *examples_of(BeautifulSoup(f"<p>{text}</p>", "lxml"))):
        read_arguments(example.given)
        try:
            read_answer(example.answer)
        except BadRow as error:
            assert error.reason
