"""Which problems lie in a window, and the one reason why another does not."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.records import Precision, TestOrigin
from eval.cutoffs import CutoffUnreadable, parse_cutoff
from eval.window import (
    Reason,
    Window,
    classify,
    date_reason,
    flag_reason,
    parse_margin,
    parse_since,
    parse_until,
    period_end,
    window_for,
)
from tests.eval.facts import problem, utc

OCTOBER = window_for(parse_cutoff("2023-10"))


@pytest.mark.parametrize(
    ("exposed_at", "reason"),
    [
        ("2023-11-01T11:59:59.999999", Reason.BEFORE_CUTOFF),
        ("2023-11-01T12:00:00", None),
        ("2023-10-15", Reason.BEFORE_CUTOFF),
        (None, Reason.DATE_UNKNOWN),
    ],
)
def test_the_first_eligible_instant_is_noon_utc_after_the_last_day(exposed_at: str | None, reason: str | None) -> None:
    assert classify(problem(1, exposed_at), OCTOBER) == reason


@pytest.mark.parametrize(
    ("exposed_at", "precision", "reason"),
    [
        ("2023-10-31", Precision.DAY, Reason.BEFORE_CUTOFF),
        ("2023-11-01", Precision.DAY, Reason.TOO_NEAR),
        ("2023-11-02", Precision.DAY, None),
        ("2023-10-01", Precision.MONTH, Reason.BEFORE_CUTOFF),
        ("2023-11-01", Precision.MONTH, Reason.TOO_NEAR),
        ("2023-12-01", Precision.MONTH, None),
        ("2023-10-01", Precision.QUARTER, Reason.TOO_NEAR),
        ("2023-01-01", Precision.YEAR, Reason.TOO_NEAR),
        ("2024-01-01", Precision.YEAR, None),
    ],
)
def test_a_coarse_date_counts_as_its_earliest_instant(
    exposed_at: str, precision: Precision, reason: str | None
) -> None:
    assert classify(problem(1, exposed_at, exposed_precision=precision), OCTOBER) == reason


def test_the_margin_moves_the_start() -> None:
    window = window_for(parse_cutoff("2023-10"), margin=timedelta(days=30))
    assert window.start == utc("2023-12-01T12:00")
    assert classify(problem(1, "2023-12-01T11:59"), window) is Reason.BEFORE_CUTOFF
    assert classify(problem(1, "2023-12-01T12:00"), window) is None


def test_an_explicit_window_is_half_open() -> None:
    window = window_for(None, since=parse_since("2025-01-01"), until=parse_until("2025-01-31"))
    instants = ["2024-12-31T23:59", "2025-01-01", "2025-01-31", "2025-01-31T14:30", "2025-02-01"]
    inside = [classify(problem(1, instant), window) is None for instant in instants]
    assert inside == [False, True, True, True, False]


def test_cutoff_and_bounds_go_together() -> None:
    window = window_for(parse_cutoff("2023-10"), since=utc("2024-01-01"), until=utc("2024-02-01"))
    assert (window.start, window.end) == (utc("2024-01-01"), utc("2024-02-01"))
    assert classify(problem(1, "2023-10-05"), window) is Reason.BEFORE_CUTOFF
    assert classify(problem(1, "2023-12-05"), window) is Reason.OUTSIDE_WINDOW
    early = window_for(parse_cutoff("2023-10"), since=utc("2020-01-01"))
    assert early.start == utc("2023-11-01T12:00")


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ({"since": utc("2025-02-01"), "until": utc("2025-01-01")}, "not after its start"),
        ({"since": utc("2025-02-01"), "until": utc("2025-02-01")}, "not after its start"),
        ({"margin": timedelta(days=-1)}, "margin"),
        ({"margin": timedelta(days=999_999)}, "margin"),
        ({"since": datetime(2025, 1, 1)}, "aware UTC"),
    ],
)
def test_impossible_windows_are_refused(bounds: dict[str, datetime], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        window_for(None, **bounds)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"withdrawn": True, "flags": (("interactive", ""),)}, Reason.WITHDRAWN),
        ({"flags": (("interactive", ""), ("bad_tests", ""))}, Reason.INTERACTIVE),
        ({"flags": (("multiple_answers", ""),)}, Reason.MULTIPLE_ANSWERS),
        ({"flags": (("multiple_answers", ""),), "has_checker": True}, None),
        ({"flags": (("bad_tests", ""),)}, Reason.BAD_TESTS),
        ({"flags": (("custom_validator", ""),)}, "flagged: custom_validator"),
        ({"flags": (("early_access", ""),)}, None),
    ],
)
def test_one_reason_for_what_is_wrong_with_a_problem(changes: dict[str, Any], reason: str | None) -> None:
    assert classify(problem(1, **changes), OCTOBER) == reason
    assert classify(problem(1, "2020-01-01", **changes), OCTOBER) is Reason.BEFORE_CUTOFF


def test_flags_can_be_ignored_but_not_a_withdrawal() -> None:
    assert classify(problem(1, flags=(("bad_tests", ""),)), OCTOBER, include_flagged=True) is None
    assert classify(problem(1, withdrawn=True), OCTOBER, include_flagged=True) is Reason.WITHDRAWN
    assert flag_reason("interactive", has_checker=True) is Reason.INTERACTIVE


def test_tests_made_here_take_the_place_of_weak_ones() -> None:
    weak = problem(1, flags=(("weak_tests", "the hidden tests are the samples again"),))
    assert classify(weak, OCTOBER) is Reason.WEAK_TESTS
    assert classify(replace(weak, hidden_origins=(TestOrigin.GENERATED,)), OCTOBER) is None
    assert classify(replace(weak, hidden_origins=(TestOrigin.OFFICIAL,)), OCTOBER) is Reason.WEAK_TESTS


def test_problems_of_one_contest_are_one_cluster_on_their_platform() -> None:
    assert problem(1, contest="abc300").cluster == problem(2, contest="abc300").cluster
    assert problem(1, contest="1").cluster != problem(2, contest="1", platform="leetcode").cluster
    assert problem(1, contest=None).cluster != problem(2, contest=None).cluster


@pytest.mark.parametrize(
    ("start", "precision", "end"),
    [
        ("2024-02-10T08:00", Precision.INSTANT, "2024-02-10T08:00"),
        ("2024-02-28T15:00", Precision.DAY, "2024-02-29T15:00"),
        ("2023-12-31T15:00", Precision.MONTH, "2024-02-01"),
        ("2024-12-01", Precision.MONTH, "2025-01-01"),
        ("2024-10-01", Precision.QUARTER, "2025-01-01"),
        ("2024-05-01", Precision.QUARTER, "2024-07-01"),
        ("2024-01-01", Precision.YEAR, "2025-01-01"),
    ],
)
def test_the_end_of_a_coarse_date(start: str, precision: Precision, end: str) -> None:
    assert period_end(utc(start), precision) == utc(end)


def test_bounds_as_typed() -> None:
    assert parse_since("2024-Q1") == utc("2024-01-01")
    assert parse_until("2024-Q1") == utc("2024-04-01")
    assert parse_until("2024-02-28") == utc("2024-02-29")
    assert parse_since("2024-02-28T09:00+09:00") == utc("2024-02-28")
    assert (parse_margin("30d"), parse_margin("2w"), parse_margin("12h"), parse_margin("3")) == (
        timedelta(days=30),
        timedelta(days=14),
        timedelta(hours=12),
        timedelta(days=3),
    )


@pytest.mark.parametrize("text", ["2025-13-01", "tomorrow", "2025-01-01T00:00", "2025-01-01Tx"])
def test_bounds_that_cannot_be_read(text: str) -> None:
    with pytest.raises(CutoffUnreadable):
        parse_since(text)
    with pytest.raises(CutoffUnreadable):
        parse_until(text)


@pytest.mark.parametrize("text", ["-3d", "month", "1.5d", ""])
def test_margins_that_cannot_be_read(text: str) -> None:
    with pytest.raises(CutoffUnreadable):
        parse_margin(text)


instants = st.datetimes(datetime(2015, 1, 1), datetime(2035, 1, 1), timezones=st.just(UTC))


@given(instants, st.dates(datetime(2016, 1, 1).date(), datetime(2034, 1, 1).date()), st.integers(0, 400))
def test_eligible_means_strictly_after_end_plus_margin(instant: datetime, day: object, margin_days: int) -> None:
    cutoff, margin = parse_cutoff(str(day)), timedelta(days=margin_days)
    reason = date_reason(problem(1, instant.replace(tzinfo=None).isoformat()), window_for(cutoff, margin=margin))
    assert (reason is None) == (instant > cutoff.end + margin)


@given(instants, instants, instants)
def test_two_windows_that_meet_split_problems_without_gap_or_overlap(
    a: datetime, b: datetime, instant: datetime
) -> None:
    facts = problem(1, instant.replace(tzinfo=None).isoformat())
    assert (date_reason(facts, Window(until=a)) is None) != (date_reason(facts, Window(since=a)) is None)
    assert (date_reason(facts, Window(since=min(a, b), until=max(a, b))) is None) == (min(a, b) <= instant < max(a, b))


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("Oct 2024", datetime(2024, 10, 1, tzinfo=UTC)),
        ("August 2024", datetime(2024, 8, 1, tzinfo=UTC)),
        ("2024-08-01T10:00+02:00", datetime(2024, 8, 1, 8, tzinfo=UTC)),
    ],
)
def test_a_t_in_a_name_of_a_month_makes_no_instant(text: str, start: datetime) -> None:
    assert parse_since(text) == start


@pytest.mark.parametrize("text", ["0001-01-01T00:00+14:00", "2024-08-01T10:00", "2024-13-01T10:00Z"])
def test_an_instant_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(CutoffUnreadable):
        parse_since(text)
