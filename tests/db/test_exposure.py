"""When a problem was public first: sightings and near-duplicates lower it, and say why."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy.orm import Session

from db import tables as t
from db.engine import Store
from db.exposure import refresh_exposure, save_sightings
from db.problems import list_problems, save_problem
from db.records import DateClaim, Precision, ProblemKey, SightingRecord
from db.sql import insert_rows
from db.summaries import ProblemSummary
from tests.db.builders import LATER, NOW, problem, row_counts

CONTEST = datetime(2023, 11, 11, 14, 30, tzinfo=UTC)
PREMIUM = datetime(2023, 11, 9, 6, 10, tzinfo=UTC)


def at(instant: datetime) -> tuple[DateClaim, ...]:
    return (DateClaim(instant.isoformat(), instant, Precision.INSTANT, "judge"),)


def sighting(seen_at: datetime, native: str = "p1", source: str = "judge") -> SightingRecord:
    return SightingRecord(ProblemKey("judge", native), seen_at, source, "in the premium list")


def same(session: Session, first: int, second: int) -> None:
    pair = {"first_id": min(first, second), "second_id": max(first, second), "verdict": "same", "similarity": 1.0}
    insert_rows(session, t.duplicate, [pair | {"method": "text", "reason": "equal texts", "found_at": NOW}])


def one(session: Session, native: str = "p1") -> ProblemSummary:
    return next(found for found in list_problems(session) if found.key.native_id == native)


def test_a_problem_that_subscribers_saw_first_is_exposed_then(store: Store) -> None:
    with store.write() as session:
        assert save_sightings(session, [sighting(PREMIUM)], now=NOW) == 1
        save_problem(session, problem(dates=at(CONTEST)), now=NOW)
        listed = one(session)
        assert (listed.released_at, listed.exposed_at) == (CONTEST, PREMIUM)
        ((name, reason),) = listed.flags
        assert name == "early_access"
        assert "2023-11-09T06:10:00+00:00" in reason
        before = row_counts(session)
        save_problem(session, problem(dates=at(CONTEST)), now=LATER)
        assert (row_counts(session), one(session)) == (before, listed)


def test_only_the_earliest_sighting_counts_and_a_later_one_changes_nothing(store: Store) -> None:
    with store.write() as session:
        save_problem(session, problem(dates=at(CONTEST)), now=NOW)
        assert save_sightings(session, [sighting(CONTEST + timedelta(days=2))], now=NOW) == 1
        assert (one(session).exposed_at, one(session).flags) == (CONTEST, ())
        assert save_sightings(session, [sighting(PREMIUM)], now=NOW) == 1
        assert save_sightings(session, [sighting(PREMIUM + timedelta(hours=1))], now=NOW) == 0
        assert one(session).exposed_at == PREMIUM
        assert row_counts(session)["sighting"] == 1


def test_a_sighting_alone_dates_nothing(store: Store) -> None:
    with store.write() as session:
        save_problem(session, problem(dates=()), now=NOW)
        save_sightings(session, [sighting(PREMIUM)], now=NOW)
        assert (one(session).released_at, one(session).exposed_at) == (None, None)


def test_a_start_that_moves_takes_the_exposure_with_it(store: Store) -> None:
    with store.write() as session:
        save_problem(session, problem(dates=at(CONTEST)), now=NOW)
        save_problem(session, problem(dates=at(CONTEST + timedelta(days=3))), now=LATER)
        assert one(session).exposed_at == CONTEST + timedelta(days=3)
        save_sightings(session, [sighting(PREMIUM)], now=NOW)
        save_problem(session, problem(dates=at(PREMIUM - timedelta(days=1))), now=LATER)
        assert one(session).exposed_at == PREMIUM - timedelta(days=1)
        assert one(session).flags == ()


def test_the_later_of_two_equal_problems_is_exposed_with_the_earlier_one(store: Store) -> None:
    with store.write() as session:
        days = [timedelta(days=0), timedelta(days=10), timedelta(days=20)]
        ids = [
            save_problem(session, problem(f"p{n}", dates=at(CONTEST + day)), now=NOW).problem_id
            for n, day in enumerate(days)
        ]
        same(session, ids[0], ids[1])
        same(session, ids[2], ids[1])  # the third only through the second
        refresh_exposure(session, [ids[2]], now=NOW)
        assert {found.exposed_at for found in list_problems(session)} == {CONTEST}
        assert one(session, "p0").flags == ()
        assert [name for name, _ in one(session, "p2").flags] == ["exposed_earlier"]
        assert "judge:p0" in one(session, "p2").flags[0][1]
        # The first is moved: all follow.
        save_problem(session, problem("p0", dates=at(CONTEST + timedelta(days=5))), now=LATER)
        assert {found.exposed_at for found in list_problems(session)} == {CONTEST + timedelta(days=5)}


def test_a_copy_without_a_date_says_that_nothing_is_certain(store: Store) -> None:
    with store.write() as session:
        first = save_problem(session, problem("p1", dates=at(CONTEST)), now=NOW).problem_id
        second = save_problem(session, problem("p2", dates=()), now=NOW).problem_id
        same(session, first, second)
        refresh_exposure(session, [first], now=NOW)
        assert [name for name, _ in one(session, "p1").flags] == ["undated_copy"]
        assert one(session, "p2").exposed_at is None
