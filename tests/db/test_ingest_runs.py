"""The account of runs: attempts, what they could not take, runs that nobody ended, and how a source does."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from sqlalchemy import text

from db import tables as t
from db.contests import mark_collected, save_contest
from db.engine import Store
from db.ingest_runs import (
    INTERRUPTED,
    IngestOutcome,
    IngestRunSummary,
    LateContest,
    SourceHealth,
    abandon_runs,
    add_failure,
    count_attempts,
    finish_run,
    last_completed,
    list_attempts,
    list_failures,
    list_runs,
    source_health,
    start_run,
)
from db.problems import save_problem
from db.records import ContestKind, ContestRecord, DateClaim, Precision
from db.sql import insert_row
from tests.db.builders import LATER, NOW, problem

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
COMPLETED, PARTIAL, FAILED = IngestOutcome.COMPLETED, IngestOutcome.PARTIAL, IngestOutcome.FAILED


def run(
    store: Store,
    outcome: IngestOutcome | None,
    *,
    source: str = "own",
    planned_at: datetime | None = None,
    now: datetime = NOW,
    kind: str | None = None,
) -> int:
    """One run that took a minute; without an outcome it has not ended."""
    with store.write() as session:
        run_id = start_run(session, source, "host:1:a", now, planned_at)
        if outcome is not None:
            finish_run(session, run_id, outcome, now + timedelta(minutes=1), error_kind=kind)
    return run_id


def runs(store: Store, source: str | None = None) -> list[IngestRunSummary]:
    with store.read() as session:
        return list_runs(session, source)


def health(store: Store, now: datetime = LATER) -> SourceHealth:
    with store.read() as session:
        (found,) = source_health(session, ["own"], now)
    return found


def test_a_run_from_start_to_end(store: Store) -> None:
    with store.write() as session:
        run_id = start_run(session, "own", "host:1:a", NOW, NOW - HOUR)
    (open_run,) = runs(store)
    assert open_run == IngestRunSummary(
        run_id=run_id,
        source="own",
        planned_at=NOW - HOUR,
        attempt=1,
        owner="host:1:a",
        started_at=NOW,
        finished_at=None,
        outcome=None,
        error_kind=None,
        error=None,
        counts={},
        notes=(),
        n_failures=0,
    )
    with store.write() as session:
        add_failure(session, run_id, "round 7/C", "page_changed", "has no title", None, NOW)
        add_failure(session, run_id, "round 8", "timeout", "took too long", None, NOW)
        assert finish_run(session, run_id, PARTIAL, NOW + HOUR, {"problems": 3}, ["late"], "timeout", "two failed")
    (closed,) = runs(store)
    assert (closed.outcome, closed.finished_at) == (PARTIAL, NOW + HOUR)
    assert (closed.counts, closed.notes) == ({"problems": 3}, ("late",))
    assert (closed.error_kind, closed.error, closed.n_failures) == ("timeout", "two failed", 2)
    with store.read() as session:
        assert [(one.what, one.kind, one.error) for one in list_failures(session, run_id)] == [
            ("round 7/C", "page_changed", "has no title"),
            ("round 8", "timeout", "took too long"),
        ]
        assert list_failures(session, run_id + 1) == []


def test_attempts_at_one_instant_are_counted(store: Store) -> None:
    planned = NOW - HOUR
    for _ in range(2):
        run(store, FAILED, planned_at=planned)
    run(store, COMPLETED, planned_at=planned)
    run(store, COMPLETED, planned_at=planned + DAY)
    run(store, COMPLETED, planned_at=planned, source="other")
    with store.read() as session:
        attempts = list_attempts(session, "own", planned)
        assert [(one.attempt, one.outcome) for one in attempts] == [(1, FAILED), (2, FAILED), (3, COMPLETED)]
        assert count_attempts(session, "own", planned) == 3
        assert count_attempts(session, "other", planned) == 1
        assert count_attempts(session, "nobody", planned) == 0


def test_runs_by_hand_are_not_attempts(store: Store) -> None:
    for _ in range(3):
        run(store, COMPLETED)
    assert [one.attempt for one in runs(store)] == [1, 1, 1]


def test_a_closed_run_stays_as_it_was_closed(store: Store) -> None:
    run_id = run(store, COMPLETED)
    with store.write() as session:
        assert not finish_run(session, run_id, FAILED, LATER, error_kind="lease_lost")
    (only,) = runs(store)
    assert (only.outcome, only.finished_at) == (COMPLETED, NOW + timedelta(minutes=1))


def test_runs_without_an_end_are_closed_by_the_next_holder_of_the_lease(store: Store) -> None:
    run(store, COMPLETED)
    left = [run(store, None), run(store, None, planned_at=NOW)]
    other = run(store, None, source="other")
    with store.write() as session:
        assert abandon_runs(session, "own", LATER) == 2
        assert abandon_runs(session, "own", LATER) == 0
    found = {one.run_id: one for one in runs(store)}
    for run_id in left:
        assert found[run_id].was_interrupted
        assert found[run_id].finished_at == LATER
        assert found[run_id].error == "host:1:a went away without an end"
    assert found[other].outcome is None


def test_runs_are_listed_newest_first(store: Store) -> None:
    ids = [run(store, COMPLETED, source=source) for source in ("own", "other", "own", "own")]
    assert [one.run_id for one in runs(store)] == ids[::-1]
    assert [one.run_id for one in runs(store, "other")] == [ids[1]]
    with store.read() as session:
        assert [one.run_id for one in list_runs(session, "own", limit=2)] == [ids[3], ids[2]]


def test_the_last_completed_run_by_its_planned_instant(store: Store) -> None:
    with store.read() as session:
        assert last_completed(session, "own") is None
    newest = run(store, COMPLETED, planned_at=NOW)
    run(store, COMPLETED, planned_at=NOW - DAY)
    run(store, PARTIAL, planned_at=NOW + DAY)
    by_hand = run(store, COMPLETED)
    run(store, COMPLETED, source="other", planned_at=NOW + DAY)
    with store.read() as session:
        any_run, planned = last_completed(session, "own"), last_completed(session, "own", planned_only=True)
    assert any_run is not None
    assert planned is not None
    assert (any_run.run_id, planned.run_id) == (by_hand, newest)


def test_text_that_no_database_takes_hides_no_error(store: Store) -> None:
    run_id = run(store, None)
    odd = "no \0 and no \ud800 " + "long " * 1000
    with store.write() as session:
        add_failure(session, run_id, odd, "error", odd, None, NOW)
        finish_run(session, run_id, FAILED, NOW, notes=[odd], error_kind="error", error=odd)
    (only,) = runs(store)
    assert only.error is not None
    assert only.error.startswith("no \\0 and no \\ud800 long")
    assert (len(only.error), only.error[-1]) == (2000, "…")
    assert only.notes == (only.error,)


def test_naive_instants_are_refused(store: Store) -> None:
    naive = datetime(2026, 1, 1)
    with store.write() as session:
        with pytest.raises(ValueError, match="now must be an aware UTC"):
            start_run(session, "own", "host:1:a", naive)
        with pytest.raises(ValueError, match="planned_at must be an aware UTC"):
            start_run(session, "own", "host:1:a", NOW, naive)
        with pytest.raises(ValueError, match="source must not be empty"):
            start_run(session, "", "host:1:a", NOW)
    assert runs(store) == []


def test_an_outcome_that_this_version_does_not_know_hides_no_other_run(store: Store) -> None:
    known, odd = run(store, COMPLETED), run(store, FAILED)
    with store.write() as session:
        session.execute(text("UPDATE ingest_run SET outcome = 'COMPLETED' WHERE id = :id"), {"id": odd})
    first, second = runs(store)
    assert (first.run_id, first.outcome, second.run_id) == (odd, FAILED, known)
    assert first.error == "its outcome is written 'COMPLETED', which this version does not know"
    assert health(store).last_good == second


def test_outcomes_are_stored_by_their_values(store: Store) -> None:
    for outcome in IngestOutcome:
        run(store, outcome)
    with store.read() as session:
        stored = session.execute(text("SELECT outcome FROM ingest_run ORDER BY id")).scalars().all()
    assert stored == ["completed", "partial", "failed", "skipped"]


def test_a_source_that_never_ran(store: Store) -> None:
    assert health(store) == SourceHealth("own", None, None, None, (), 0, ())
    assert not health(store).is_failing


def test_what_is_wrong_since_the_last_good_night(store: Store) -> None:
    run(store, FAILED)
    good = run(store, COMPLETED)
    wrong = [run(store, outcome) for outcome in (PARTIAL, FAILED, FAILED)]
    run(store, IngestOutcome.SKIPPED)
    running = run(store, None)
    found = health(store)
    assert found.last_good is not None
    assert found.running is not None
    assert (found.last_good.run_id, found.running.run_id) == (good, running)
    assert [one.run_id for one in found.wrong_since] == wrong[::-1]
    assert (found.failures_in_a_row, found.is_failing) == (2, False)


@pytest.mark.parametrize(
    ("ended", "in_a_row", "is_failing"),
    [
        ([FAILED] * 2, 2, False),
        ([FAILED] * 3, 3, True),
        ([FAILED, FAILED, PARTIAL, FAILED], 1, False),
        ([FAILED, COMPLETED, FAILED, FAILED], 2, False),
        ([FAILED, FAILED, IngestOutcome.SKIPPED, FAILED], 3, True),
    ],
)
def test_three_failures_in_a_row_are_failing(
    store: Store, ended: list[IngestOutcome], in_a_row: int, is_failing: bool
) -> None:
    for outcome in ended:
        run(store, outcome, kind="timeout")
    assert (health(store).failures_in_a_row, health(store).is_failing) == (in_a_row, is_failing)


def test_interrupted_runs_say_nothing_of_the_source(store: Store) -> None:
    for kind in ("timeout", INTERRUPTED, INTERRUPTED, "timeout", INTERRUPTED):
        run(store, FAILED, kind=kind)
    assert (health(store).failures_in_a_row, len(health(store).wrong_since)) == (2, 5)


def test_the_newest_problem_by_platform_or_by_who_brought_it(store: Store) -> None:
    dates = {"p1": "2024-05-04", "p2": "2025-01-01", "p3": "2023-01-01"}
    with store.write() as session:
        for native, day in dates.items():
            released = DateClaim(day, datetime.fromisoformat(f"{day}T00:00Z"), Precision.DAY, "own")
            save_problem(session, problem(native, dates=[released], platform="own"), now=NOW)
        save_problem(session, problem("p4", dates=[], platform="own"), now=NOW)
        late = DateClaim("2026-01-01", datetime.fromisoformat("2026-01-01T00:00Z"), Precision.DAY, "x")
        save_problem(session, problem("p5", dates=[late], platform="elsewhere"), now=NOW)
    assert health(store).newest_released_at == datetime.fromisoformat("2025-01-01T00:00Z")
    with store.write() as session:
        session.execute(text("UPDATE problem SET first_source = 'own' WHERE native_id = 'p5'"))
    assert health(store).newest_released_at == late.earliest


def test_contests_that_ended_a_day_ago_and_are_not_whole(store: Store) -> None:
    now = LATER
    ended = {
        "whole": now - 3 * DAY,
        "short": now - 2 * DAY,
        "unread": now - DAY,
        "fresh": now - DAY + timedelta(microseconds=1),
        "withdrawn": now - 2 * DAY,
        "training": now - 2 * DAY,
    }
    with store.write() as session:
        for native, ends_at in ended.items():
            kind = ContestKind.TRAINING if native == "training" else ContestKind.ROUND
            contest = ContestRecord("own", native, f"The {native}", ends_at - 2 * HOUR, ends_at, kind)
            contest_id = save_contest(session, contest, source="own", now=NOW).contest_id
            if native in {"whole", "short", "withdrawn"}:
                problem_id = save_problem(session, problem(native, platform="own"), now=NOW).problem_id
                link = {"contest_id": contest_id, "problem_id": problem_id, "contest_index": "A"}
                session.execute(t.contest_problem.insert(), link)
                mark_collected(session, contest_id, n_listed=1 if native == "whole" else 4, complete=False, now=NOW)
        session.execute(t.contest.update().where(t.contest.c.native_id == "withdrawn"), {"withdrawn_at": NOW})
        elsewhere = {"platform": "elsewhere", "native_id": "x", "ends_at": now - 2 * DAY}
        insert_row(session, t.contest, elsewhere)
    assert health(store, now).late_contests == (
        LateContest("unread", "The unread", now - DAY, 0, None),
        LateContest("short", "The short", now - 2 * DAY, 1, 4),
    )
