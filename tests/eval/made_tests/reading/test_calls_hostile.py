"""Statements that nobody would write: the reader answers, soon, and says that it does not understand."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.made_tests.call_text import parse
from eval.made_tests.grammar import InputRefused
from eval.made_tests.reading.calls import read_call
from eval.made_tests.values import check

PARAMETERS = [
    ("n", "int"),
    ("s", "str"),
    ("nums", "List[int]"),
    ("words", "List[str]"),
    ("edges", "List[List[int]]"),
    ("grid", "List[List[str]]"),
]
FRAGMENTS = [
    *("1", "10^5", "2 * 10^5", "-10^9", "n", "m", "k", "i", "s", "nums", "words", "edges", "grid", "a_i", "b_i"),
    *(
        "[i]",
        "[j]",
        "[0]",
        "[i + 1]",
        "[n]",
        ".length",
        "<=",
        "<",
        "==",
        "!=",
        ">=",
        ",",
        "and",
        "or",
        "/",
        "%",
        "^",
        "-",
    ),
    *("is", "are", "even", "either", "consists", "of", "only", "lowercase English letters", "'a'", '"UP"', "distinct"),
    *("for all", "in the range", "(", ")", "min(", "floor(", "sum(", "[a_i, b_i]", "=", "valid tree", "represents a"),
    *(
        "sorted in increasing order",
        "a permutation of",
        "Sum of",
        "at most",
        "All",
        "unique",
        "contains",
        "'",
        "*",
        ".",
    ),
]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(st.sampled_from(FRAGMENTS), max_size=9).map(" ".join), max_size=6))
def test_sentences_out_of_pieces_are_read_or_not(sentences: list[str]) -> None:
    statement = "You are given these. Constraints:\nConstraints:\n" + "\n".join(sentences)
    first, second = (read_call(statement, PARAMETERS) for _ in range(2))
    assert first == second
    assert all(first.not_understood)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_is_read_or_not(before: str, after: str) -> None:
    assert not read_call(f"{before}\nConstraints:\n{after}", PARAMETERS).is_complete


@pytest.mark.parametrize(
    "sentence",
    [
        "1 <= n <= 10^99999999999",
        "1 <= n <= " + "9" * 5000,
        "1 <= n <= " + "(" * 400 + "1" + ")" * 400,
        "1 <= n <= " + "2^" * 200 + "2",
        "1 <= n / 0 <= 5",
        "n % 0 == 0",
        "n % 2 == 5",
        "n is a multiple of 0",
        "nums[99999999999999999999] == 1",
        "edges[i][7] == 1",
        "'z' <= s[i] <= 'a'",
        "'\x00' <= s[i] <= '\x01' <= s[i]",
        "All " + "nums, " * 3000 + "are unique",
        "words[i]" * 500 + " consists of digits",
        "There is at least one i such that " * 50 + "nums[i] == 1",
        "n is a permutation of [0, 1, ..., " + "n" * 300 + "]",
        "<script>alert(1)</script> <= n",
    ],
)
def test_a_hostile_sentence_is_not_understood_soon(sentence: str) -> None:
    started = time.perf_counter()
    grammar = read_call(f"You are given n.\nConstraints:\n0 <= n <= 9\n{sentence}\n", [("n", "int"), *PARAMETERS[1:]])
    assert time.perf_counter() - started < 5
    assert any(said == sentence.removesuffix(".") for said in grammar.not_understood)


def test_a_hostile_text_before_the_examples_is_read_soon() -> None:
    started = time.perf_counter()
    statement = "You are given arrays " + "arrays of length " * 20_000 + "\nConstraints:\n1 <= n <= 5\n"
    assert not read_call(statement, [("n", "int")]).is_complete
    assert time.perf_counter() - started < 5


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60))
def test_any_input_is_parsed_or_refused(text: str) -> None:
    statement = "Constraints:\n1 <= n <= 9\n1 <= nums.length <= n\n0 <= nums[i] <= 5\n"
    grammar = read_call(statement, [("n", "int"), ("nums", "List[int]")])
    try:
        check(grammar, parse(grammar, text))
    except InputRefused as error:
        assert str(error)
