"""Outputs and values held against the expected ones: the cases of ``cases/compare.toml``, and what holds for all."""

from __future__ import annotations

import itertools
import json
import time
import tracemalloc
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from sandbox import Comparison, comparison, values
from sandbox.programs import MIB, Unordered
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


FLOOD_BYTES = 16 * MIB
FLOODS = [
    pytest.param(comparison.first_difference, b"7", b"1 " * (FLOOD_BYTES // 2), changes, id=f"tokens {changes}")
    for changes in ({}, {"space_sensitive": True}, {"unordered": "tokens"}, {"unordered": "lines"})
] + [
    pytest.param(comparison.first_difference, b"7", b"\n" * FLOOD_BYTES, {"unordered": "lines"}, id="empty lines"),
    pytest.param(comparison.first_difference, b"7", b" " * FLOOD_BYTES, {"unordered": "lines"}, id="one blank line"),
    pytest.param(values.first_difference, b"[[]]", b"[[]" + b",[]" * (FLOOD_BYTES // 3) + b"]", {}, id="lists"),
    pytest.param(
        values.first_difference, b"[[]]", b"[{}" + b",{}" * (FLOOD_BYTES // 3) + b"]", {"unordered": "list"}, id="any"
    ),
]


@pytest.mark.parametrize(("compare", "expected", "got", "changes"), FLOODS)
def test_a_flood_for_a_short_answer_costs_the_judge_next_to_nothing(
    compare: Any, expected: bytes, got: bytes, changes: dict[str, Any]
) -> None:
    rule = Comparison(**changes)
    started = time.process_time()
    assert compare(expected, got, rule) is not None
    assert time.process_time() - started < 0.5
    # Its memory is looked at with less, since that is slow.
    part = got[:MIB] + (b"]" if got.startswith(b"[") else b"")
    tracemalloc.start()
    try:
        compare(expected, part, rule)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 3 * MIB


@pytest.mark.parametrize("tolerance", [-1e-9, float("inf"), float("nan"), True, "1e-6"])
@pytest.mark.parametrize("name", ["absolute_tolerance", "relative_tolerance"])
def test_a_tolerance_that_is_none_is_refused(name: str, tolerance: object) -> None:
    changes: dict[str, Any] = {name: tolerance}
    with pytest.raises(ValueError, match=f"{name} must be a number of at least 0"):
        replace(PLAIN, **changes)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"case_sensitive": "no"}, "case_sensitive must be true or false, not 'no'"),
        ({"space_sensitive": 1}, "space_sensitive must be true or false, not 1"),
        ({"assume_tolerance": None}, "assume_tolerance must be true or false, not None"),
        ({"unordered": "set"}, "unordered must be one of lines, tokens, list, nested, not 'set'"),
        ({"unordered": "lines", "space_sensitive": True}, "space_sensitive contradicts unordered lines"),
    ],
)
def test_a_rule_that_is_none_or_contradicts_itself_is_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        replace(PLAIN, **changes)


@pytest.mark.parametrize(
    ("compare", "unordered"),
    [
        (comparison.first_difference, "list"),
        (comparison.first_difference, "nested"),
        (values.first_difference, "lines"),
        (values.first_difference, "tokens"),
    ],
)
def test_any_order_of_what_is_not_there_is_refused(compare: Any, unordered: Any) -> None:
    with pytest.raises(ValueError, match=f"unordered {unordered} is not for (stdin|function)"):
        compare(b"[1]", b"[1]", Comparison(unordered=unordered))


def test_any_order_may_be_given_by_name() -> None:
    by_name: Any = "lines"
    assert Comparison(unordered=by_name) == Comparison(unordered=Unordered.LINES)


@given(st.binary(), RULES)
def test_every_output_equals_itself(output: bytes, rule: Comparison) -> None:
    assume(b"nan" not in output.lower())
    assert comparison.first_difference(output, output, rule) is None


@given(st.binary(), st.binary(), RULES)
def test_any_bytes_can_be_compared_and_a_difference_is_one_short_line(
    expected: bytes, got: bytes, rule: Comparison
) -> None:
    difference = comparison.first_difference(expected, got, rule)
    assert difference is None or (0 < len(difference) < 200 and difference.isprintable())


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
@example(None, b"\0\n[", PLAIN)
@example("a", b"\x1b[2J\xff", PLAIN)
def test_any_bytes_can_be_compared_with_a_value(expected: object, got: bytes, rule: Comparison) -> None:
    difference = values.first_difference(json.dumps(expected).encode(), got, rule)
    assert difference is None or difference.isprintable()


# --- any order ---------------------------------------------------------------------------------------------------

NUMBERS = st.integers(-3, 3) | st.floats(-2, 2).map(lambda number: round(number, 7)) | st.sampled_from([0.1, 0.1000008])
PARTS = st.none() | st.booleans() | NUMBERS | st.sampled_from(["a", "b", "1", ""]) | st.lists(NUMBERS, max_size=2)
ANY_ORDER_RULES = st.builds(
    Comparison,
    absolute_tolerance=st.none() | st.sampled_from([0.0, 1e-7, 0.3]),
    relative_tolerance=st.none() | st.sampled_from([0.0, 0.2]),
    case_sensitive=st.booleans(),
)


def some_order(wanted: list[Any], given: list[Any], rule: Comparison) -> bool:
    """Whether one of all the orders makes the values agree, tried one after another."""
    return len(wanted) == len(given) and any(
        values.same_value(wanted, list(order), rule) for order in itertools.permutations(given)
    )


def dumped(value: object) -> bytes:
    return json.dumps(value).encode()


@given(st.lists(PARTS, max_size=5), st.lists(PARTS, max_size=5), ANY_ORDER_RULES)
def test_a_list_in_any_order_is_right_when_one_of_all_orders_is(
    wanted: list[Any], given: list[Any], rule: Comparison
) -> None:
    difference = values.first_difference(dumped(wanted), dumped(given), replace(rule, unordered=Unordered.LIST))
    assert (difference is None) == some_order(wanted, given, rule)


@given(st.lists(NUMBERS, max_size=6), st.data(), ANY_ORDER_RULES)
def test_numbers_moved_a_little_are_right_when_one_of_all_orders_is(
    wanted: list[Any], data: st.DataObject, rule: Comparison
) -> None:
    shifts = st.sampled_from([0, 0, 1e-7, -1e-6, 0.2, -0.3, 1])
    given = [number + data.draw(shifts) for number in data.draw(st.permutations(wanted))]
    as_list = values.first_difference(dumped(wanted), dumped(given), replace(rule, unordered=Unordered.LIST))
    assert (as_list is None) == some_order(wanted, given, rule)


@given(st.lists(st.lists(NUMBERS, max_size=3), max_size=4), st.data(), ANY_ORDER_RULES)
def test_lists_in_any_order_are_right_when_one_of_all_orders_is(
    wanted: list[list[Any]], data: st.DataObject, rule: Comparison
) -> None:
    shifts = st.sampled_from([0, 0, 1e-7, 0.2, -0.3])
    moved = [[number + data.draw(shifts) for number in data.draw(st.permutations(part))] for part in wanted]
    given = data.draw(st.permutations(moved))
    difference = values.first_difference(dumped(wanted), dumped(given), replace(rule, unordered=Unordered.NESTED))
    right = any(
        all(some_order(one, other, rule) for one, other in zip(wanted, order, strict=True))
        for order in itertools.permutations(given)
    )
    assert (difference is None) == right


@given(
    st.lists(TOKENS.filter(bool), max_size=5), st.data(), RULES, st.sampled_from([Unordered.LINES, Unordered.TOKENS])
)
def test_the_order_of_lines_and_tokens_does_not_matter_where_it_is_free(
    lines: list[list[str]], data: st.DataObject, rule: Comparison, unordered: Unordered
) -> None:
    rule = replace(rule, space_sensitive=False, unordered=unordered)
    moved = data.draw(st.permutations(lines))
    if unordered is Unordered.TOKENS:
        moved = [data.draw(st.permutations([token for line in lines for token in line]))]
    expected, got = ("\n".join(map(" ".join, some)).encode() for some in (lines, moved))
    assert comparison.first_difference(expected, got, rule) is None


@given(st.lists(st.lists(st.sampled_from(["1", "2", "a"]), min_size=1, max_size=2), max_size=4), st.data())
def test_other_lines_are_wrong_in_any_order(lines: list[list[str]], data: st.DataObject) -> None:
    others = data.draw(st.lists(st.lists(st.sampled_from(["1", "2", "a"]), min_size=1, max_size=2), max_size=4))
    expected, got = ("\n".join(map(" ".join, some)).encode() for some in (lines, others))
    difference = comparison.first_difference(expected, got, Comparison(unordered=Unordered.LINES))
    assert (difference is None) == (sorted(lines) == sorted(others))


@given(st.binary(), st.binary(), RULES, st.sampled_from([Unordered.LINES, Unordered.TOKENS]))
def test_any_bytes_can_be_compared_in_any_order(
    expected: bytes, got: bytes, rule: Comparison, unordered: Unordered
) -> None:
    rule = replace(rule, space_sensitive=False, unordered=unordered)
    difference = comparison.first_difference(expected, got, rule)
    assert difference is None or (0 < len(difference) < 200 and difference.isprintable())


def test_long_answers_in_any_order_take_a_second_or_two() -> None:
    wanted = [number / 7 for number in range(50_000)]
    given = [number + 3e-7 for number in reversed(wanted)]
    started = time.process_time()
    assert values.first_difference(dumped(wanted), dumped(given), Comparison(unordered=Unordered.LIST)) is None
    pairs = [[number, -number] for number in wanted[:20_000]]
    assert values.first_difference(dumped(pairs), dumped(pairs[::-1]), Comparison(unordered=Unordered.LIST)) is None
    assert time.process_time() - started < 4


def test_what_would_take_too_long_to_match_is_not_taken_for_right() -> None:
    size = 1500
    wanted = [[0.5 + place * 1e-9, 0.25 + place] for place in range(size)]
    given = [[0.5 + (size - place) * 1e-9, 0.25 + place] for place in range(size)]
    started = time.process_time()
    difference = values.first_difference(dumped(wanted), dumped(given), Comparison(unordered=Unordered.LIST))
    assert difference == "too many numbers with a tolerance to find out whether they agree in some order"
    assert time.process_time() - started < 2


def test_partners_are_exchanged_until_all_have_one() -> None:
    """Each agrees with three places; only when all move on by one is none of them left over."""
    size = 300
    wanted = [[0.5, float(place)] for place in range(size)]
    given = [[0.5 + (size - place) * 1e-9, place + 1.0] for place in range(size)]
    rule = Comparison(absolute_tolerance=1.0, unordered=Unordered.LIST)
    assert values.first_difference(dumped(wanted), dumped(given), rule) is None
    given[7][1] = given[8][1] = given[9][1] = 1.0  # four of them, for three that take it
    assert values.first_difference(dumped(wanted), dumped(given), rule) is not None
