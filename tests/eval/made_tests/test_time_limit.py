"""Time limits by the rule of Kattis' problem package format, by hand from its text."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.made_tests.time_limit import CURRENT, LEGACY, Calibration, TimeRule, time_limit

HERE = Calibration("sieve of 10^6, version 1", 0.5)


def test_multipliers_are_the_defaults_of_the_specification() -> None:
    assert (float(LEGACY.ac_to_time_limit), float(LEGACY.time_limit_to_tle)) == (5, 2)
    assert (float(CURRENT.ac_to_time_limit), float(CURRENT.time_limit_to_tle)) == (2, 1.5)
    assert LEGACY.resolution_s == CURRENT.resolution_s == 1


@pytest.mark.parametrize(
    ("slowest_s", "legacy_s", "current_s"),
    [
        (0.0, 1, 1),  # at least one step
        (0.1, 1, 1),
        (0.2, 1, 1),  # 5 x 0.2 = 1: the inequality holds with equality
        (0.200001, 2, 1),  # one microsecond more does not
        (0.6, 3, 2),  # 0.6 x 5 is 3 exactly, whatever floats make of it
        (1.1, 6, 3),  # 5.5 and 2.2, rounded up
        (2.968, 15, 6),  # 14.84 and 5.936
    ],
)
def test_limit_is_the_smallest_multiple_that_the_slowest_allows(
    slowest_s: float, legacy_s: float, current_s: float
) -> None:
    accepted = {"a.cpp": slowest_s / 2, "b.py": slowest_s}
    assert time_limit(accepted, HERE).cpu_s == legacy_s
    assert time_limit(accepted, HERE, rule=CURRENT).cpu_s == current_s


def test_resolution_is_the_step() -> None:
    fine = TimeRule(Fraction(2), Fraction(3, 2), Fraction(1, 10))
    assert time_limit({"a": 0.31}, HERE, rule=fine).cpu_s == 0.7
    assert time_limit({"a": 0.001}, HERE, rule=fine).cpu_s == 0.1


def test_programs_meant_to_be_too_slow_are_told_apart() -> None:
    # The limit is 2 s (2 x 0.9); 1.5 x 2 = 3 s and more is caught.
    slow = {"cubic": 3.0, "lucky": 2.0, "square": 2.5, "far": 60.0}
    found = time_limit({"a": 0.9}, HERE, slow, CURRENT)
    assert (found.cpu_s, found.caught, found.near, found.missed) == (2, ("cubic", "far"), ("square",), ("lucky",))
    assert not found.holds_rule
    assert time_limit({"a": 0.9}, HERE, {"cubic": 3.0}, CURRENT).holds_rule
    assert time_limit({"a": 0.9}, HERE, rule=CURRENT).holds_rule


def test_says_what_it_follows_from() -> None:
    found = time_limit({"b.py": 1.1, "a.py": 1.1}, HERE)
    assert found.sentence == (
        "time limit 6 s: 5 x 1.100 s of a.py, rounded up to 1 s (sieve of 10^6, version 1: 0.500 s)"
    )


def test_machine_of_another_speed() -> None:
    found = time_limit({"a": 0.4}, HERE)
    assert found.on(Calibration(HERE.workload, 1.0)) == pytest.approx(4.0)  # half as fast: twice the time
    with pytest.raises(ValueError, match="cannot be compared"):
        found.on(Calibration("another", 1.0))


@pytest.mark.parametrize("time_s", [float("nan"), float("inf"), -0.1])
def test_what_is_no_time(time_s: float) -> None:
    with pytest.raises(ValueError, match="is no CPU time"):
        time_limit({"a": time_s}, HERE)
    with pytest.raises(ValueError, match="is no CPU time"):
        time_limit({"a": 1.0}, HERE, {"slow": time_s})
    with pytest.raises(ValueError, match="is no CPU time"):
        Calibration("w", time_s)


def test_without_what_it_needs() -> None:
    with pytest.raises(ValueError, match="no accepted reference"):
        time_limit({}, HERE)
    with pytest.raises(ValueError, match="more than 0 s"):
        Calibration("w", 0.0)
    with pytest.raises(ValueError, match="at least 1"):
        TimeRule(Fraction(1, 2), Fraction(2))


@given(st.dictionaries(st.text(max_size=3), st.integers(0, 10**8), min_size=1, max_size=6))
def test_inequality_holds_and_no_smaller_multiple_does(micros: dict[str, int]) -> None:
    limit = time_limit({name: value / 1e6 for name, value in micros.items()}, HERE).cpu_s
    slowest = max(micros.values())
    assert 5 * slowest <= limit * 1_000_000
    assert limit == 1 or 5 * slowest > (limit - 1) * 1_000_000
