"""Intervals through operators, and sums shared out, against a look at every value."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from eval.made_tests import exact
from eval.made_tests.drawing._inverting import Bounds, Interval, invert, operate, root
from eval.made_tests.drawing._sharing import parts
from eval.made_tests.drawing._style import Share

INTERVALS = st.tuples(st.integers(-6, 12), st.integers(0, 5)).map(lambda pair: (pair[0], pair[0] + pair[1]))


def as_interval(bounds: tuple[int, int]) -> Interval:
    return exact.constant(bounds[0]), exact.constant(bounds[1])


def values_of(bounds: tuple[int, int]) -> range:
    return range(bounds[0], bounds[1] + 1)


def result(operator: str, left: int, right: int) -> int | None:
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return left // right if right > 0 else None
    return left**right if left >= 0 and right >= 0 else None


@settings(max_examples=300, deadline=None)
@given(st.sampled_from("+-*/^"), INTERVALS, INTERVALS)
@example("^", (0, 0), (0, 1))
def test_no_result_lies_outside_of_the_interval(operator: str, left: tuple[int, int], right: tuple[int, int]) -> None:
    low, high = operate(operator, as_interval(left), as_interval(right))
    results = [result(operator, *pair) for pair in product(values_of(left), values_of(right))]
    known = [each for each in results if each is not None]
    if len(known) < len(results):
        return  # what is not defined says nothing
    assert low[0] <= min(known)
    assert max(known) <= high[0]
    if operator in "+-*":
        assert (low[0], high[0]) == (min(known), max(known))


@settings(max_examples=600, deadline=None)
@given(
    st.sampled_from("+-*/^"),
    INTERVALS,
    INTERVALS,
    st.integers(-40, 150),
    st.integers(0, 60),
    st.booleans(),
    st.booleans(),
)
def test_no_value_that_can_be_is_excluded(
    operator: str,
    own: tuple[int, int],
    other: tuple[int, int],
    lower: int,
    span: int,
    is_right: bool,
    is_open: bool,
) -> None:
    bounds: Bounds = exact.constant(lower), None if is_open else exact.constant(lower + span)
    least, most = invert(operator, bounds, as_interval(other), as_interval(own), is_right)
    for value, known in product(values_of(own), values_of(other)):
        found = result(operator, known, value) if is_right else result(operator, value, known)
        if found is not None and lower <= found and (is_open or found <= lower + span):
            assert least is None or least[0] <= value
            assert most is None or value <= most[0]


@given(st.integers(0, 10**40), st.integers(2, 7))
def test_roots_are_exact(number: int, degree: int) -> None:
    found = root(number, degree)
    assert found**degree <= number < (found + 1) ** degree


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.one_of(st.integers(0, 20), st.integers(0, 10**20)), min_size=1, max_size=12),
    st.floats(0, 1),
    st.sampled_from(list(Share)),
    st.integers(0, 2**32),
)
def test_an_amount_is_shared_out_to_the_last(capacities: list[int], part: float, share: Share, seed: int) -> None:
    amount = int(sum(capacities) * part)
    found = parts(np.random.default_rng(seed), amount, exact.numbers(capacities), share).tolist()
    assert sum(found) == min(amount, sum(capacities))
    assert all(0 <= each <= capacity for each, capacity in zip(found, capacities, strict=True))


def test_ways_to_share() -> None:
    rng = np.random.default_rng(0)
    capacities = exact.numbers([5, 100, 100, 100])
    assert parts(rng, 105, capacities, Share.FIRST).tolist() == [5, 100, 0, 0]
    assert parts(rng, 65, capacities, Share.EVEN).tolist() == [5, 20, 20, 20]
    shares = parts(rng, 200, capacities, Share.RANDOM).tolist()
    assert len(set(shares)) > 2


@pytest.mark.parametrize("left", [2**62, -(2**62), 3, 10**30])
@pytest.mark.parametrize("right", [2**62, -(2**63), 7, -(10**30)])
def test_arithmetic_is_exact_beyond_int64(left: int, right: int) -> None:
    one, other = exact.constant(left), exact.constant(right)
    assert exact.add(one, other).tolist() == [left + right]
    assert exact.subtract(one, other).tolist() == [left - right]
    assert exact.multiply(one, other).tolist() == [left * right]
    assert exact.floor_divide(one, other).tolist() == [left // right]
    assert exact.at_most(one, other).tolist() == [min(left, right)]
    assert exact.total(exact.numbers([left, left, right])) == 2 * left + right


def test_sums_of_many_are_exact() -> None:
    assert exact.total(np.full(1000, 2**62)) == 1000 * 2**62
