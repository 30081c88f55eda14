"""Outputs and values held against the expected ones: the cases of ``cases/compare.toml``, and what holds for all."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sandbox import Comparison, comparison, values
from tests.sandbox.case_files import ComparisonCase, comparison_cases

PLAIN = Comparison()
RULES = st.builds(
    Comparison,
    absolute_tolerance=st.none() | st.floats(0, 1e3),
    relative_tolerance=st.none() | st.floats(0, 1),
    case_sensitive=st.booleans(),
    space_sensitive=st.booleans(),
)
TOKENS = st.lists(st.integers().map(str) | st.text("abcXYZ.,é", min_size=1), max_size=8)
BLANKS = st.text(" \t\r\n", min_size=1, max_size=4)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda part: st.lists(part, max_size=4) | st.dictionaries(st.text(), part, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("case", comparison_cases("compare"))
def test_an_output_is_taken_or_not(case: ComparisonCase) -> None:
    compare = values.first_difference if case.values else comparison.first_difference
    difference = compare(case.expected, case.got, case.comparison)
    assert (difference is None) == case.right, difference


@pytest.mark.parametrize(
    "got", [b"1" * 8000 + b"x", b"1." + b"1" * 8000 + b"x", b"1e" + b"1" * 8000 + b"x", b"." * 8000]
)
@pytest.mark.parametrize("expected", [b"0.5", b"1" * 8000 + b"y"])
def test_no_output_makes_the_judge_work_longer_than_its_length_asks_for(expected: bytes, got: bytes) -> None:
    started = time.process_time()
    assert comparison.first_difference(expected, got, PLAIN) is not None
    assert time.process_time() - started < 0.2


@pytest.mark.parametrize("tolerance", [-1e-9, float("inf"), float("nan")])
@pytest.mark.parametrize("name", ["absolute_tolerance", "relative_tolerance"])
def test_a_tolerance_that_is_none_is_refused(name: str, tolerance: float) -> None:
    changes: dict[str, Any] = {name: tolerance}
    with pytest.raises(ValueError, match=f"{name} must be a number of at least 0"):
        replace(PLAIN, **changes)


@given(st.binary(), RULES)
def test_every_output_equals_itself(output: bytes, rule: Comparison) -> None:
    assert comparison.first_difference(output, output, rule) is None


@given(st.binary(), st.binary(), RULES)
def test_any_bytes_can_be_compared_and_a_difference_is_one_short_line(
    expected: bytes, got: bytes, rule: Comparison
) -> None:
    difference = comparison.first_difference(expected, got, rule)
    assert difference is None or (0 < len(difference) < 200 and "\n" not in difference)


@given(TOKENS, st.lists(BLANKS, min_size=9, max_size=9), st.lists(BLANKS, min_size=9, max_size=9), RULES)
def test_white_space_never_matters_unless_asked(
    tokens: list[str], first: list[str], second: list[str], rule: Comparison
) -> None:
    one, other = (
        "".join(map("".join, zip(blanks, [*tokens, ""], strict=False))).encode() for blanks in (first, second)
    )
    if not rule.space_sensitive:
        assert comparison.first_difference(one, other, rule) is None


@given(TOKENS, TOKENS)
def test_without_numbers_tokens_are_the_same_or_the_answer_is_wrong(expected: list[str], got: list[str]) -> None:
    assume(not any("." in token for token in expected))
    difference = comparison.first_difference(" ".join(expected).encode(), "\n".join(got).encode(), PLAIN)
    assert (difference is None) == (expected == got)


@given(st.integers(), st.integers())
def test_integers_have_no_tolerance(expected: int, got: int) -> None:
    assert (comparison.first_difference(b"%d" % expected, b"%d" % got, PLAIN) is None) == (expected == got)
    assert (values.first_difference(b"%d" % expected, b"%d" % got, PLAIN) is None) == (expected == got)


@given(st.floats(-1e9, 1e9), st.floats(-1e-7, 1e-7))
def test_decimals_close_enough_are_right(number: float, error: float) -> None:
    expected, got = f"{number:.12f}".encode(), f"{number + error:.12f}".encode()
    assert comparison.first_difference(expected, got, PLAIN) is None
    assert values.first_difference(expected, got, PLAIN) is None


@given(st.floats(-1e6, 1e6), st.floats(1.1e-6, 1) | st.floats(-1, -1.1e-6))
def test_decimals_too_far_off_are_wrong(number: float, relative: float) -> None:
    error = relative * max(1.0, abs(number))
    expected, got = f"{number:.12f}".encode(), f"{number + error:.12f}".encode()
    assert comparison.first_difference(expected, got, PLAIN) is not None


@given(TOKENS, RULES)
def test_one_token_more_is_wrong(tokens: list[str], rule: Comparison) -> None:
    expected = " ".join(tokens)
    assert comparison.first_difference(expected.encode(), f"{expected} 1".encode(), rule) is not None
    assert comparison.first_difference(f"{expected} 1".encode(), expected.encode(), rule) is not None


@given(JSON, RULES)
def test_every_value_equals_itself(value: object, rule: Comparison) -> None:
    text = json.dumps(value).encode()
    assert (
        values.first_difference(
            text, json.dumps(value, indent=1, ensure_ascii=False).encode("utf-8", "surrogatepass"), rule
        )
        is None
    )


@given(JSON, JSON)
def test_values_are_equal_as_python_says_but_for_bool_and_decimals(expected: object, got: object) -> None:
    assume(
        not any(mark in json.dumps([expected, got]) for mark in (".", "e-", "e+", "Infinity", "true", "false", "-0"))
    )
    difference = values.first_difference(json.dumps(expected).encode(), json.dumps(got).encode(), PLAIN)
    assert (difference is None) == (expected == got)


@given(JSON, st.binary(), RULES)
def test_any_bytes_can_be_compared_with_a_value(expected: object, got: bytes, rule: Comparison) -> None:
    difference = values.first_difference(json.dumps(expected).encode(), got, rule)
    assert difference is None or "\n" not in difference
