"""A guarded run: alone on the store, closed whatever happens, told to stop when it has to."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from db.engine import Store, open_store
from db.errors import StoreBusy
from db.ingest_runs import IngestOutcome, IngestRunSummary, list_failures, list_runs, start_run
from db.leases import find_lease, take_lease
from ingest.errors import PageChanged, TimedOut
from ingest.planning import Due
from ingest.runs import Body, RunContext, RunFailure, RunReport, RunResult, guarded_run, lease_of
from tests.ingest.nights import DONE, Clock, complete, real_clock

NOW = datetime(2026, 1, 5, 3, 10, tzinfo=UTC)
PLANNED = datetime(2026, 1, 5, 3, tzinfo=UTC)
DUE = Due(PLANNED, NOW - PLANNED)
TTL = timedelta(seconds=120)
SHORT = timedelta(milliseconds=200)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "store.db")) as opened:
        yield opened


def run(store: Store, body: Body, *, due: Due | None = None, clock: Callable[[], datetime] | None = None) -> RunReport:
    return guarded_run(store, "own", due, body, clock=clock or Clock(NOW))


def only_run(store: Store) -> IngestRunSummary:
    with store.read() as session:
        (found,) = list_runs(session)
    return found


def is_free(store: Store) -> bool:
    with store.read() as session:
        return find_lease(session, lease_of("own")) is None


def fail_with(error: BaseException) -> Body:
    def body(_context: RunContext) -> RunResult:
        raise error

    return body


def test_a_run_is_alone_while_it_works_and_closed_when_it_has(store: Store) -> None:
    result = RunResult(
        IngestOutcome.PARTIAL,
        {"problems_new": 2},
        ("a note",),
        (RunFailure("round 7/C", "page_changed", "has no title"),),
        "page_changed",
        "one failed",
    )

    def body(context: RunContext) -> RunResult:
        assert (context.source, context.planned_at, context.started_at) == ("own", PLANNED, NOW)
        assert context.deadline == NOW + timedelta(hours=6)
        assert only_run(store).outcome is None
        with store.read() as session:
            lease = find_lease(session, "ingest:own")
        assert lease is not None
        assert (lease.owner, lease.expires_at) == (only_run(store).owner, NOW + TTL)
        return result

    report = run(store, body, due=Due(PLANNED, timedelta(0)))
    found = only_run(store)
    assert report == RunReport("own", PLANNED, found.run_id, result)
    assert (found.outcome, found.counts, found.notes) == (IngestOutcome.PARTIAL, {"problems_new": 2}, ("a note",))
    assert (found.error_kind, found.error, found.finished_at) == ("page_changed", "one failed", NOW)
    with store.read() as session:
        assert [failure.what for failure in list_failures(session, found.run_id)] == ["round 7/C"]
    assert is_free(store)


def test_a_run_that_begins_late_says_so_in_its_row(store: Store) -> None:
    run(store, complete, due=DUE)
    assert only_run(store).notes == ("planned for 2026-01-05 03:00 UTC, 10 min late",)


@pytest.mark.parametrize(
    ("error", "kind", "says"),
    [
        (PageChanged("the page has no 'table'"), "page_changed", "the page has no 'table'"),
        (TimedOut("the host did not answer in time"), "timeout", "the host did not answer in time"),
        (ZeroDivisionError("division by zero"), "error", "ZeroDivisionError: division by zero"),
    ],
)
def test_what_a_body_raises_makes_a_failed_run(
    store: Store, caplog: pytest.LogCaptureFixture, error: Exception, kind: str, says: str
) -> None:
    with caplog.at_level(logging.ERROR):
        report = run(store, fail_with(error), due=DUE)
    found = only_run(store)
    assert (found.outcome, found.error_kind, found.error) == (IngestOutcome.FAILED, kind, says)
    assert report.result.error == says
    assert ("fault of the program" in caplog.text) is (kind == "error")
    assert is_free(store)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (KeyboardInterrupt(), "interrupted"),
        (SystemExit(1), "interrupted"),
        (StoreBusy("the store is locked", "wait"), "store"),
    ],
)
def test_what_ends_the_process_closes_the_run_first(store: Store, error: BaseException, kind: str) -> None:
    with pytest.raises(type(error)):
        run(store, fail_with(error))
    assert (only_run(store).outcome, only_run(store).error_kind) == (IngestOutcome.FAILED, kind)
    assert is_free(store)


def test_a_source_that_another_process_runs_is_left_to_it(store: Store) -> None:
    with store.write() as session:
        take_lease(session, lease_of("own"), "elsewhere:7:ff", NOW, TTL)
    report = run(store, fail_with(AssertionError("it ran")), due=DUE)
    assert (report.run_id, report.result.outcome) == (None, IngestOutcome.SKIPPED)
    (note,) = report.result.notes
    assert note.startswith("elsewhere:7:ff is at it; unless it shows life, its turn ends at ")
    with store.read() as session:
        assert list_runs(session) == []
    assert run(store, complete, due=DUE, clock=Clock(NOW + TTL)).result == RunResult(
        IngestOutcome.COMPLETED, notes=(DUE.lateness(),)
    )


def test_an_instant_that_is_done_is_not_done_again(store: Store) -> None:
    run(store, complete, due=DUE)
    for again in (DUE, Due(PLANNED, DUE.late, attempt=2)):
        report = run(store, fail_with(AssertionError("it ran")), due=again)
        assert (report.run_id, report.result.outcome) == (None, IngestOutcome.SKIPPED)
        assert "has done it" in report.result.notes[0]
        assert is_free(store)
    assert only_run(store).attempt == 1


def test_an_instant_that_another_process_has_just_tried_is_not_tried_by_the_same_word(store: Store) -> None:
    run(store, fail_with(PageChanged("nothing there")), due=DUE)
    report = run(store, fail_with(AssertionError("it ran")), due=DUE)
    assert report.run_id is None
    assert "has just tried it" in report.result.notes[0]
    second = run(store, complete, due=Due(PLANNED, DUE.late, attempt=2))
    assert second.result.outcome is IngestOutcome.COMPLETED
    with store.read() as session:
        assert [(one.attempt, str(one.outcome)) for one in list_runs(session)] == [(2, "completed"), (1, "failed")]


def test_a_run_by_hand_is_always_one(store: Store) -> None:
    for _ in range(2):
        assert run(store, complete).result == DONE
    with store.read() as session:
        assert [(one.planned_at, one.attempt) for one in list_runs(session)] == [(None, 1), (None, 1)]


def test_a_run_that_nobody_ended_is_closed_by_the_next(store: Store) -> None:
    with store.write() as session:
        start_run(session, "own", "elsewhere:7:ff", NOW - TTL, PLANNED)
        take_lease(session, lease_of("own"), "elsewhere:7:ff", NOW - TTL, TTL)
    run(store, complete, due=Due(PLANNED, DUE.late, attempt=2))
    with store.read() as session:
        second, first = list_runs(session)
    assert (first.was_interrupted, first.finished_at) == (True, NOW)
    assert (second.outcome, second.attempt) == (IngestOutcome.COMPLETED, 2)


def wait_for_stop(context: RunContext) -> RunResult:
    """Work until told to stop."""
    assert context.stop.wait(30)
    context.check()
    raise AssertionError("unreachable")


def test_a_run_is_ended_at_its_deadline(store: Store) -> None:
    limit = timedelta(milliseconds=50)
    report = guarded_run(store, "own", DUE, wait_for_stop, clock=real_clock, time_limit=limit, ttl=SHORT)
    found = only_run(store)
    assert (report.result.error_kind, found.error_kind) == ("timeout", "timeout")
    assert (found.outcome, found.error) == (IngestOutcome.FAILED, "its deadline has passed")


@pytest.mark.parametrize("outcome", [IngestOutcome.PARTIAL, IngestOutcome.FAILED])
def test_what_fails_after_the_deadline_fails_because_of_it(store: Store, outcome: IngestOutcome) -> None:
    clock = Clock(NOW)

    def body(context: RunContext) -> RunResult:
        clock.now = context.deadline
        failures = (RunFailure("round 7", "timeout", "the run's deadline has passed"),)
        return RunResult(outcome, {"problems_new": 1}, (), failures, "blocked", "the host is closed")

    run(store, body, clock=clock)
    found = only_run(store)
    assert (found.outcome, found.error_kind) == (IngestOutcome.FAILED, "timeout")
    assert (found.counts, found.n_failures) == ({"problems_new": 1}, 1)


def test_what_is_complete_after_the_deadline_is_complete(store: Store) -> None:
    clock = Clock(NOW)

    def body(context: RunContext) -> RunResult:
        clock.now = context.deadline
        return DONE

    assert run(store, body, clock=clock).result == DONE


def test_a_run_is_told_when_the_process_is_to_stop(store: Store) -> None:
    stop = threading.Event()
    threading.Timer(0.05, stop.set).start()
    report = guarded_run(store, "own", DUE, wait_for_stop, clock=Clock(NOW), stop=stop, ttl=SHORT)
    assert (report.result.error_kind, report.result.error) == ("interrupted", "it was told to stop")
    assert only_run(store).was_interrupted
    assert is_free(store)


def test_the_lease_of_a_long_run_is_renewed(store: Store) -> None:
    def body(context: RunContext) -> RunResult:
        until = context.started_at
        while until < context.started_at + 3 * SHORT and not context.stop.wait(0.01):
            with store.read() as session:
                lease = find_lease(session, lease_of("own"))
            assert lease is not None
            until = lease.expires_at
        return DONE

    assert guarded_run(store, "own", None, body, clock=real_clock, ttl=SHORT).result == DONE


def take_away(store: Store) -> None:
    """What happens while a process sleeps: its lease runs out, another takes it, closes the run and works."""
    later = real_clock() + timedelta(hours=1)
    with store.write() as session:
        assert take_lease(session, lease_of("own"), "other", later, TTL) is not None


def test_a_run_whose_lease_is_lost_stops_and_leaves_the_lease_to_the_other(store: Store) -> None:
    def body(context: RunContext) -> RunResult:
        take_away(store)
        return wait_for_stop(context)

    report = guarded_run(store, "own", DUE, body, clock=real_clock, ttl=SHORT)
    assert (report.result.error_kind, only_run(store).error_kind) == ("lease_lost", "lease_lost")
    with store.read() as session:
        lease = find_lease(session, lease_of("own"))
    assert lease is not None
    assert lease.owner == "other"


def test_a_run_that_another_process_has_closed_is_not_reported_as_done(store: Store) -> None:
    clock = Clock(NOW)

    def body(_context: RunContext) -> RunResult:
        other = guarded_run(store, "own", Due(PLANNED, DUE.late, attempt=2), complete, clock=Clock(NOW + 2 * TTL))
        assert other.result.outcome is IngestOutcome.COMPLETED
        return DONE

    report = guarded_run(store, "own", DUE, body, clock=clock)
    assert (report.result.outcome, report.result.error_kind) == (IngestOutcome.FAILED, "lease_lost")
    with store.read() as session:
        assert [str(one.outcome) for one in list_runs(session)] == ["completed", "failed"]


def test_a_store_that_is_busy_for_a_moment_does_not_end_a_run(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tried = threading.Event()

    def refuse(*_args: object) -> bool:
        tried.set()
        raise StoreBusy("the store is locked", "wait")

    def body(context: RunContext) -> RunResult:
        with monkeypatch.context() as patched:
            patched.setattr("ingest.runs.renew_lease", refuse)
            assert tried.wait(30)
        assert not context.stop.is_set()
        return DONE

    assert guarded_run(store, "own", None, body, clock=real_clock, ttl=timedelta(seconds=8)).result == DONE
    assert "was not renewed: the store is locked" in caplog.text


def test_a_lease_that_cannot_be_renewed_for_its_whole_time_is_lost(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: object) -> bool:
        raise StoreBusy("the store is locked", "wait")

    monkeypatch.setattr("ingest.runs.renew_lease", refuse)
    report = guarded_run(store, "own", None, wait_for_stop, clock=real_clock, ttl=SHORT)
    assert report.result.error_kind == "lease_lost"
