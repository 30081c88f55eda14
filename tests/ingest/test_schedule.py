"""The schedule over the store: what is due, one run for what was missed, never two runs of one source, a clean end."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from db.engine import Store, open_store
from db.errors import StoreBusy
from db.ingest_runs import IngestOutcome, IngestRunSummary, list_runs, source_health, start_run
from db.leases import find_lease, take_lease
from ingest.errors import TimedOut
from ingest.planning import Due, Trigger, parse_cron
from ingest.runs import Body, RunContext, RunReport, RunResult, guarded_run, lease_of
from ingest.schedule import Scheduler, find_due, run_due
from tests.ingest.nights import DONE, TTL, Clock, complete, every_two_seconds, serve_sources

SPAWN = multiprocessing.get_context("spawn")
NIGHTLY = parse_cron("0 3 * * *")
NIGHT = datetime(2026, 1, 5, 3, tzinfo=UTC)
DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
FAILED = RunResult(IngestOutcome.FAILED, error_kind="unreachable")
GIVE_UP_S = 60


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "store.db")) as opened:
        yield opened


def answering(result: RunResult) -> Body:
    return lambda _context: result


def guarded(store: Store, clock: Clock, body: Body = complete) -> Callable[[str, Due], RunReport]:
    return lambda source, due: guarded_run(store, source, due, body, clock=clock)


def night(store: Store, clock: Clock, body: Body = complete, *, sources: tuple[str, ...] = ("own",)) -> list[RunReport]:
    """What ``live schedule --once`` does at the clock's instant."""
    triggers: dict[str, Trigger] = dict.fromkeys(sources, NIGHTLY)
    run = guarded(store, clock, body)
    return list(run_due(store, triggers, run, now=clock(), stop=threading.Event()).reports)


def runs(store: Store, source: str | None = None) -> list[IngestRunSummary]:
    """All runs, oldest first."""
    with store.read() as session:
        return list_runs(session, source, limit=10_000)[::-1]


def wait_until(fulfilled: Callable[[], bool]) -> None:
    give_up = time.monotonic() + GIVE_UP_S
    while not fulfilled():
        assert time.monotonic() < give_up
        time.sleep(0.02)


# What is due, and what one look at the schedule leads to.


def test_a_process_that_was_down_at_its_time_makes_up_for_it_once(store: Store) -> None:
    clock = Clock(NIGHT - DAY)
    night(store, clock)
    clock.now = NIGHT + 10 * MINUTE  # It was down from 02:50 to 03:10.
    assert len(night(store, clock)) == 1
    assert night(store, clock) == []
    _, late = runs(store)
    assert (late.planned_at, late.started_at, late.notes) == (
        NIGHT,
        NIGHT + 10 * MINUTE,
        ("planned for 2026-01-05 03:00 UTC, 10 min late",),
    )


def test_many_missed_nights_are_one_run(store: Store) -> None:
    clock = Clock(NIGHT)
    night(store, clock)
    clock.now = NIGHT + 9 * DAY + 5 * MINUTE
    night(store, clock)
    assert [one.planned_at for one in runs(store)] == [NIGHT, NIGHT + 9 * DAY]


def test_all_sources_are_run_the_first_time_and_those_not_due_are_named(store: Store) -> None:
    clock = Clock(NIGHT + MINUTE)
    assert [one.source for one in night(store, clock, sources=("one", "two"))] == ["one", "two"]
    triggers = {"one": NIGHTLY, "two": parse_cron("0 */6 * * *"), "three": NIGHTLY}
    clock.now = NIGHT + timedelta(hours=4)
    report = run_due(store, triggers, guarded(store, clock), now=clock(), stop=threading.Event())
    assert ([one.source for one in report.reports], report.not_due) == (["two", "three"], ("one",))
    assert runs(store, "two")[-1].planned_at == NIGHT.replace(hour=6)


def test_a_failed_night_is_tried_again_when_asked_and_a_completed_one_is_not(store: Store) -> None:
    clock = Clock(NIGHT)
    for body in (answering(FAILED), answering(RunResult(IngestOutcome.PARTIAL)), complete, answering(FAILED)):
        night(store, clock, body)
        clock.now += MINUTE
    assert [(one.attempt, str(one.outcome)) for one in runs(store)] == [
        (1, "failed"),
        (2, "partial"),
        (3, "completed"),
    ]


@pytest.mark.parametrize(
    ("result", "again"),
    [
        (FAILED, False),
        (RunResult(IngestOutcome.PARTIAL), False),
        (RunResult(IngestOutcome.SKIPPED), False),
        (DONE, False),
        (RunResult(IngestOutcome.FAILED, error_kind="interrupted"), True),
    ],
)
def test_without_a_retry_only_what_was_interrupted_is_done_again(store: Store, result: RunResult, again: bool) -> None:
    clock = Clock(NIGHT)
    night(store, clock, answering(result))
    with store.read() as session:
        found = find_due(session, "own", NIGHTLY, NIGHT + MINUTE, retry=False)
        assert find_due(session, "own", NIGHTLY, NIGHT + DAY, retry=False) == Due(NIGHT + DAY, timedelta(0))
    assert found == (Due(NIGHT, MINUTE, attempt=2) if again else None)


def test_runs_by_hand_do_not_stand_in_for_the_night(store: Store) -> None:
    clock = Clock(NIGHT)
    guarded_run(store, "own", None, complete, clock=clock)
    assert len(night(store, clock)) == 1


def test_one_source_that_fails_stops_no_other_and_a_broken_store_is_told_when_all_have_ended(store: Store) -> None:
    ended = []

    def run(source: str, due: Due) -> RunReport:
        if source == "bad":
            raise StoreBusy("the store is locked", "wait")
        report = guarded_run(store, source, due, complete, clock=Clock(NIGHT))
        ended.append(source)
        return report

    with pytest.raises(StoreBusy):
        run_due(store, dict.fromkeys(("bad", "good"), NIGHTLY), run, now=NIGHT, stop=threading.Event())
    assert ended == ["good"]


@pytest.mark.parametrize("told_by", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_tells_the_runs_and_waits_for_them(store: Store, told_by: signal.Signals) -> None:
    stop = threading.Event()
    begun = threading.Barrier(3)

    def body(context: RunContext) -> RunResult:
        begun.wait(GIVE_UP_S)
        assert context.stop.wait(GIVE_UP_S)
        context.check()
        raise AssertionError("unreachable")

    def run(source: str, due: Due) -> RunReport:
        return guarded_run(store, source, due, body, clock=Clock(NIGHT), stop=stop)

    def interrupt() -> None:
        begun.wait(GIVE_UP_S)
        os.kill(os.getpid(), told_by)

    threading.Thread(target=interrupt).start()
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt):
        run_due(store, dict.fromkeys(("one", "two"), NIGHTLY), run, now=NIGHT, stop=stop)
    assert signal.getsignal(signal.SIGTERM) is before
    assert [one.was_interrupted for one in runs(store)] == [True, True]
    with store.read() as session:
        assert find_lease(session, lease_of("one")) is None


def test_three_timeouts_in_a_row_show_the_source_as_failing_and_the_nights_go_on(store: Store) -> None:
    clock = Clock(NIGHT)

    def silent(context: RunContext) -> RunResult:
        """A server that takes the connection and says nothing, until the run's deadline ends the request."""
        clock.now = context.deadline
        raise TimedOut("the run's deadline has passed")

    for number in range(3):
        clock.now = NIGHT + number * DAY
        night(store, clock, silent)
    assert [(one.planned_at, one.error_kind) for one in runs(store)] == [
        (NIGHT + number * DAY, "timeout") for number in range(3)
    ]
    with store.read() as session:
        (health,) = source_health(session, ["own"], clock())
    assert health.is_failing
    clock.now = NIGHT + 3 * DAY
    night(store, clock)
    with store.read() as session:
        (health,) = source_health(session, ["own"], clock())
    assert not health.is_failing


# The scheduler in a thread of this process.


class Served:
    """A scheduler that serves in a thread, for as long as the block lasts."""

    def __init__(
        self, store: Store, clock: Clock, body: Body, sources: tuple[str, ...] = ("own",), *, grace_s: float = GIVE_UP_S
    ) -> None:
        self.stop = threading.Event()
        self.still_at_work: tuple[str, ...] | None = None
        self._grace_s = grace_s

        def run(source: str, due: Due) -> RunReport:
            return guarded_run(store, source, due, body, clock=clock, stop=self.stop, ttl=TTL)

        triggers: dict[str, Trigger] = dict.fromkeys(sources, NIGHTLY)
        self._scheduler = Scheduler(store, triggers, run, clock=clock, stop=self.stop, watch_s=0.05)
        self._thread = threading.Thread(target=self._serve)

    def _serve(self) -> None:
        self.still_at_work = self._scheduler.serve(self._grace_s)

    def __enter__(self) -> Served:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop.set()
        self._thread.join(GIVE_UP_S)
        assert not self._thread.is_alive()


def test_what_is_due_at_the_start_is_run_and_then_what_a_sleeping_machine_missed(store: Store) -> None:
    clock = Clock(NIGHT + 7 * MINUTE)
    with Served(store, clock, complete, ("one", "two")) as served:
        wait_until(lambda: len([one for one in runs(store) if one.outcome]) == 2)
        clock.now = NIGHT + 3 * DAY + MINUTE  # No timer of the scheduler has gone off.
        wait_until(lambda: len([one for one in runs(store) if one.outcome]) == 4)
    assert served.still_at_work == ()
    for source in ("one", "two"):
        assert [one.planned_at for one in runs(store, source)] == [NIGHT, NIGHT + 3 * DAY]
    with store.read() as session:
        assert find_lease(session, lease_of("one")) is None


def test_a_night_that_failed_is_tried_again_at_the_start_and_then_left_for_the_next(store: Store) -> None:
    clock = Clock(NIGHT)
    night(store, clock, answering(FAILED))
    looks = threading.Event()
    seen: list[datetime] = []

    class Counted(Clock):
        def __call__(self) -> datetime:
            seen.append(self.now)
            if len(seen) > 40:
                looks.set()
            return self.now

    with Served(store, Counted(NIGHT), answering(FAILED)):
        assert looks.wait(GIVE_UP_S)
    assert [one.attempt for one in runs(store)] == [1, 2]


def test_a_busy_source_delays_no_other_and_is_not_run_twice(store: Store) -> None:
    clock = Clock(NIGHT)
    go_on = threading.Event()
    at_work: list[str] = []

    def body(context: RunContext) -> RunResult:
        at_work.append(context.source)
        assert at_work.count(context.source) == 1
        if context.source == "slow":
            assert go_on.wait(GIVE_UP_S)
        at_work.remove(context.source)
        return DONE

    with Served(store, clock, body, ("quick", "slow")):
        wait_until(lambda: "slow" in at_work)
        for number in range(1, 3):
            clock.now = NIGHT + number * DAY
            wait_until(lambda: len([one for one in runs(store, "quick") if one.outcome]) == number + 1)  # noqa: B023
        assert len(runs(store, "slow")) == 1
        go_on.set()
        wait_until(lambda: len([one for one in runs(store, "slow") if one.outcome]) == 2)
    assert [one.planned_at for one in runs(store, "slow")] == [NIGHT, NIGHT + 2 * DAY]


def test_another_schedulers_run_is_left_alone_until_its_lease_runs_out(store: Store) -> None:
    clock = Clock(NIGHT)
    with store.write() as session:
        take_lease(session, lease_of("own"), "dead:1:a", NIGHT, TTL)
        start_run(session, "own", "dead:1:a", NIGHT, NIGHT)
    with Served(store, clock, complete, ("own", "other")):
        wait_until(lambda: bool(runs(store, "other")) and runs(store, "other")[-1].outcome is not None)
        assert len(runs(store, "own")) == 1
        clock.now = NIGHT + TTL
        wait_until(lambda: runs(store, "own")[-1].outcome is IngestOutcome.COMPLETED)
    first, second = runs(store, "own")
    assert (first.was_interrupted, first.planned_at) == (True, NIGHT)
    assert (second.attempt, second.planned_at) == (2, NIGHT)


def test_a_run_that_does_not_stop_in_time_is_named(store: Store) -> None:
    go_on = threading.Event()
    at_work = threading.Event()

    def deaf(_context: RunContext) -> RunResult:
        at_work.set()
        assert go_on.wait(GIVE_UP_S)
        return DONE

    with Served(store, Clock(NIGHT), deaf, grace_s=0.05) as served:
        assert at_work.wait(GIVE_UP_S)
    assert served.still_at_work == ("own",)
    go_on.set()
    wait_until(lambda: runs(store)[-1].outcome is IngestOutcome.COMPLETED)


def test_a_fault_of_one_run_ends_no_schedule(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock(NIGHT)
    stop = threading.Event()
    called: list[str] = []

    def run(source: str, due: Due) -> RunReport:
        called.append(source)
        if len(called) == 1:
            raise StoreBusy("the store is locked", "wait")
        return guarded_run(store, source, due, complete, clock=clock, stop=stop)

    scheduler = Scheduler(store, {"own": NIGHTLY}, run, clock=clock, stop=stop, watch_s=0.05)
    with caplog.at_level(logging.ERROR):
        serving = threading.Thread(target=scheduler.serve)
        serving.start()
        wait_until(lambda: bool(runs(store)) and runs(store)[-1].outcome is not None)
        stop.set()
        serving.join(GIVE_UP_S)
    assert "own: the store is locked" in caplog.text
    assert len(called) == 2


# Schedulers in processes of their own, and what is left when one is killed.


class Log:
    """The lines that the processes wrote: ``begins|ends SOURCE PLANNED PID TIME``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.touch()

    def lines(self) -> list[list[str]]:
        return [line.split() for line in self.path.read_text(encoding="utf-8").splitlines()]

    def at_work(self) -> list[str]:
        """The process ids of the runs that have begun and not ended."""
        begun = {(source, pid): what for what, source, _, pid, _ in self.lines()}
        return [pid for (_, pid), what in begun.items() if what == "begins"]


def serving(url: str, log: Log, sources: list[str], work_s: float) -> multiprocessing.process.BaseProcess:
    process = SPAWN.Process(target=serve_sources, args=(url, str(log.path), sources, work_s))
    process.start()
    return process


@pytest.mark.slow
def test_two_schedulers_on_one_store_run_nothing_twice_and_one_takes_over_when_the_other_is_killed(
    store: Store, tmp_path: Path
) -> None:
    log = Log(tmp_path / "log")
    sources = ["one", "two"]
    processes = [serving(store.url, log, sources, 1.5) for _ in range(2)]
    try:
        wait_until(lambda: len({pid for _, _, _, pid, _ in log.lines()}) == 2 or len(log.lines()) > 16)
        wait_until(lambda: bool(log.at_work()))
        victim = next(process for process in processes if str(process.pid) in log.at_work())
        victim.kill()
        killed_at = datetime.now(UTC)
        victim.join(GIVE_UP_S)
        survivor = next(process for process in processes if process is not victim)
        ended = [line for line in log.lines() if line[0] == "ends"]
        wait_until(lambda: len([line for line in log.lines() if line[0] == "ends"]) >= len(ended) + 5)
        assert survivor.pid is not None
        os.kill(survivor.pid, signal.SIGTERM)
        survivor.join(GIVE_UP_S)
        assert survivor.exitcode == 0, "it ended cleanly"
    finally:
        for process in processes:
            process.kill()
            process.join(GIVE_UP_S)
    _check_runs(runs(store), killed_at)
    with store.read() as session:
        assert [find_lease(session, lease_of(source)) for source in sources] == [None, None]


def _check_runs(found: list[IngestRunSummary], killed_at: datetime) -> None:
    by_instant: defaultdict[tuple[str, datetime | None], list[IngestRunSummary]] = defaultdict(list)
    for one in found:
        by_instant[one.source, one.planned_at].append(one)
    for attempts in by_instant.values():
        assert [one.attempt for one in attempts] == list(range(1, len(attempts) + 1))
        *before, last = attempts
        assert all(one.was_interrupted for one in before), "a second attempt follows an interrupted one alone"
        assert last.outcome is IngestOutcome.COMPLETED or last.was_interrupted
    left = [one for one in found if one.was_interrupted and one.error and "went away" in one.error]
    assert left, "the killed one's run was closed by the other"
    for source in ("one", "two"):
        mine = [one for one in found if one.source == source]
        for earlier, later in pairwise(mine):
            assert earlier.finished_at is not None
            assert earlier.finished_at <= later.started_at, "two runs of one source never overlap"
        assert any(one.started_at > killed_at and one.outcome is IngestOutcome.COMPLETED for one in mine)


def test_a_scheduler_ends_cleanly_by_ctrl_c(store: Store, tmp_path: Path) -> None:
    log = Log(tmp_path / "log")
    process = serving(store.url, log, ["one"], 600)
    try:
        wait_until(lambda: bool(log.at_work()))
        assert process.pid is not None
        os.kill(process.pid, signal.SIGINT)
        process.join(GIVE_UP_S)
        assert process.exitcode == 0
    finally:
        process.kill()
        process.join(GIVE_UP_S)
    (only,) = runs(store)
    assert only.was_interrupted
    with store.read() as session:
        assert find_lease(session, lease_of("one")) is None
        assert find_due(session, "one", every_two_seconds(), datetime.now(UTC), retry=False) is not None
