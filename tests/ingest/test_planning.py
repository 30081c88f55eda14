"""Cron texts and the instants they mean. The expected instants come from calendars and from cron(5), not from code."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.planning import NIGHTLY, CronUnreadable, Due, Trigger, due, latest_planned, parse_cron


def utc(written: str) -> datetime:
    return datetime.fromisoformat(written).replace(tzinfo=UTC)


def fires(trigger: Trigger, start: datetime, count: int) -> list[datetime]:
    """The first `count` instants from `start` on, each asked for as APScheduler asks: after the one before."""
    found: list[datetime] = []
    previous, now = None, start
    for _ in range(count):
        previous = trigger.get_next_fire_time(previous, now)
        assert previous is not None
        found.append(previous)
        now = previous
    return found


def days_of(text: str) -> list[str]:
    """The days of a week, from Sunday 2026-01-04 on, on which the schedule has an instant."""
    days = {instant.strftime("%a").lower() for instant in fires(parse_cron(text), utc("2026-01-04"), 7)}
    return [day for day in ("sun", "mon", "tue", "wed", "thu", "fri", "sat") if day in days]


def test_the_default_is_every_night_at_0317_utc() -> None:
    nights = fires(parse_cron(NIGHTLY), utc("2026-01-01T03:17:01"), 3)
    assert nights == [utc("2026-01-02T03:17"), utc("2026-01-03T03:17"), utc("2026-01-04T03:17")]


@pytest.mark.parametrize(
    ("field", "days"),
    [
        ("0", "sun"),
        ("7", "sun"),
        ("1", "mon"),
        ("6", "sat"),
        ("sun", "sun"),
        ("SUN", "sun"),
        ("1-5", "mon tue wed thu fri"),
        ("mon-fri", "mon tue wed thu fri"),
        ("sun-tue", "sun mon tue"),
        ("fri-sun", "sun fri sat"),
        ("6-7", "sun sat"),
        ("0-6", "sun mon tue wed thu fri sat"),
        ("0,3", "sun wed"),
        ("sat,mon-tue", "mon tue sat"),
        ("*/2", "sun tue thu sat"),
        ("1-5/2", "mon wed fri"),
        ("*", "sun mon tue wed thu fri sat"),
    ],
)
def test_days_of_the_week_are_those_of_cron(field: str, days: str) -> None:
    assert days_of(f"17 3 * * {field}") == days.split()


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("*/15 * * * *", "2026-01-01T00:15"),
        ("0 4 1 * *", "2026-01-01T04:00"),
        ("30 22 29 2 *", "2028-02-29T22:30"),
        ("5 0 * jun *", "2026-06-01T00:05"),
        ("0 12 1-7,20 3 *", "2026-03-01T12:00"),
        ("  17   3 * *\t* ", "2026-01-01T03:17"),
    ],
)
def test_other_schedules(text: str, first: str) -> None:
    assert fires(parse_cron(text), utc("2026-01-01T00:00:01"), 1) == [utc(first)]


@pytest.mark.parametrize(
    ("text", "what", "hint"),
    [
        ("", "five fields", "03:17 UTC"),
        ("17 3 * *", "five fields", "minute, hour"),
        ("0 17 3 * * *", "five fields", "minute, hour"),
        ("@daily", "five fields", "minute, hour"),
        ("٣ 3 * * *", "five fields", "minute, hour"),
        ("60 3 * * *", "cannot be read", "minute, hour"),
        ("17 24 * * *", "cannot be read", "minute, hour"),
        ("17 3 0 * *", "cannot be read", "minute, hour"),
        ("17 3 * 13 *", "cannot be read", "minute, hour"),
        ("17 3 * foo *", "cannot be read", "minute, hour"),
        ("1,,2 3 * * *", "cannot be read", "minute, hour"),
        ("10-5 3 * * *", "cannot be read", "minute, hour"),
        ("*/0 3 * * *", "cannot be read", "minute, hour"),
        ("17 3 * * 8", "'8' is no day of the week", "0 and 7 for Sunday"),
        ("17 3 * * sonntag", "'sonntag' is no day of the week", "sun, mon"),
        ("17 3 * * ", "five fields", "minute, hour"),
        ("17 3 * * 1,,2", "'' is no day of the week", "0 and 7 for Sunday"),
        ("17 3 * * fri-mon", "runs backwards", "Sunday"),
        ("17 3 1 * mon", "days of the month and days of the week", '"*"'),
        ("17 3 30 2 *", "never comes", "day and month"),
    ],
)
def test_a_text_that_is_no_schedule_is_refused_with_a_reason(text: str, what: str, hint: str) -> None:
    with pytest.raises(CronUnreadable) as caught:
        parse_cron(text)
    assert what in caught.value.message
    assert hint in caught.value.hint
    assert "\n" not in caught.value.message + caught.value.hint


@pytest.mark.parametrize(
    ("text", "now", "planned"),
    [
        (NIGHTLY, "2026-01-02T03:17:00", "2026-01-02T03:17"),
        (NIGHTLY, "2026-01-02T03:16:59.999999", "2026-01-01T03:17"),
        (NIGHTLY, "2026-01-02T03:17:00.000001", "2026-01-02T03:17"),
        (NIGHTLY, "2026-01-03T03:16", "2026-01-02T03:17"),
        ("0 3 * * *", "2026-01-01T02:00", "2025-12-31T03:00"),
        ("* * * * *", "2026-01-01T00:00:30", "2026-01-01T00:00"),
        ("0 4 1 * *", "2026-03-01T03:59", "2026-02-01T04:00"),
        ("* * 1 * *", "2026-01-31T12:00", "2026-01-01T23:59"),
        ("0 0 29 2 *", "2026-01-01T00:00", "2024-02-29T00:00"),
        ("0 0 29 2 *", "2104-02-28T00:00", "2096-02-29T00:00"),
        ("17 3 * * 0", "2026-01-10T00:00", "2026-01-04T03:17"),
    ],
)
def test_the_latest_planned_instant(text: str, now: str, planned: str) -> None:
    assert latest_planned(parse_cron(text), utc(now)) == utc(planned)


CRONS = st.sampled_from([NIGHTLY, "* * * * *", "*/7 * * * *", "0 */5 * * *", "30 2 * * sun", "1 1 31 * *", "9 9 * 2 *"])
INSTANTS = st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC))


@settings(deadline=None)
@given(text=CRONS, now=INSTANTS)
def test_nothing_is_planned_between_the_latest_instant_and_now(text: str, now: datetime) -> None:
    trigger = parse_cron(text)
    planned = latest_planned(trigger, now)
    following = trigger.get_next_fire_time(None, planned + timedelta(seconds=1))
    assert following is not None
    assert planned <= now < following
    assert trigger.get_next_fire_time(None, planned) == planned


class Never:
    """A trigger without instants."""

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime | None:
        return None


def test_a_trigger_without_instants_is_an_error_and_a_naive_now_too() -> None:
    with pytest.raises(ValueError, match="no instant in the century"):
        latest_planned(Never(), utc("2026-01-01"))
    with pytest.raises(ValueError, match="aware UTC"):
        latest_planned(parse_cron(NIGHTLY), datetime(2026, 1, 1))


def test_what_is_due() -> None:
    nightly, now = parse_cron("0 3 * * *"), utc("2026-01-05T03:10")
    assert due(nightly, None, now) == utc("2026-01-05T03:00")
    assert due(nightly, utc("2026-01-04T03:00"), now) == utc("2026-01-05T03:00")
    assert due(nightly, utc("2026-01-01T03:00"), now) == utc("2026-01-05T03:00"), "one for all that were missed"
    assert due(nightly, utc("2026-01-05T03:00"), now) is None
    assert due(nightly, utc("2026-01-05T03:05"), now) is None, "the schedule was another one then"


@pytest.mark.parametrize(
    ("late", "is_late", "says"),
    [
        (timedelta(seconds=59), False, "0 min late"),
        (timedelta(minutes=10), True, "10 min late"),
        (timedelta(hours=5, minutes=3), True, "5 h 3 min late"),
        (timedelta(days=3, hours=4), True, "3 d 4 h late"),
    ],
)
def test_lateness_in_words(late: timedelta, is_late: bool, says: str) -> None:
    one = Due(utc("2026-01-05T03:00"), late)
    assert one.is_late is is_late
    assert one.lateness() == f"planned for 2026-01-05 03:00 UTC, {says}"


@pytest.mark.parametrize("night", ["2026-10-25", "2026-03-29", "2026-11-01", "2026-03-08"])
def test_in_the_night_of_a_clock_change_every_hour_comes_once(night: str) -> None:
    """Clocks change in Helsinki on the first two, in New York on the last two: an hour there comes twice, or never."""
    start = utc(f"{night}T00:00") - timedelta(hours=6)
    hourly = fires(parse_cron("30 * * * *"), start, 24)
    assert all(later - earlier == timedelta(hours=1) for earlier, later in pairwise(hourly))
    assert len(set(hourly)) == 24
    in_helsinki = {instant.astimezone(ZoneInfo("Europe/Helsinki")).replace(tzinfo=None) for instant in hourly}
    assert (len(in_helsinki) == 24) is (night != "2026-10-25"), "the zone of the case does what the case is about"


def test_a_nightly_instant_keeps_its_hour_in_utc_over_the_clock_change() -> None:
    nights = fires(parse_cron("30 2 * * *"), utc("2026-03-07T00:00"), 40)
    assert {(night.hour, night.minute) for night in nights} == {(2, 30)}
    assert all(later - earlier == timedelta(days=1) for earlier, later in pairwise(nights))
    in_new_york = {night.astimezone(ZoneInfo("America/New_York")).hour for night in nights}
    assert in_new_york == {21, 22}
