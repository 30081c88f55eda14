"""The schedule: every source at its own instants in UTC, what was missed caught up, and never two runs of one at once.

What has been done stands in the store and nowhere else. APScheduler wakes the process up; whether there is anything to
do, and for which instant, is asked of the store each time. So a process that was down, a machine that slept and a
scheduler that was killed all come to the same: the latest planned instant has no run that ended, and gets one. Only
that instant: a run begins where the last completed one left off, so that one makes up for all nights that were missed.
"""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from apscheduler.executors.pool import ThreadPoolExecutor as Workers  # type: ignore[import-untyped]
from apscheduler.schedulers.background import BackgroundScheduler  # type: ignore[import-untyped]
from apscheduler.triggers.interval import IntervalTrigger  # type: ignore[import-untyped]
from sqlalchemy.orm import Session

from db.engine import Store
from db.errors import StoreError
from db.ingest_runs import last_completed, list_attempts
from db.leases import find_lease, is_gone
from ingest.planning import Due, Trigger, due
from ingest.runs import Clock, RunReport, lease_of

WATCH_S: Final = 30.0
"""How often the store is asked for what no timer tells: another scheduler died, the machine slept."""
GRACE_S: Final = 60.0
"""How long runs that were told to stop are waited for."""

RunDue = Callable[[str, Due], RunReport]
"""Runs a source for an instant of its schedule: what is called here for each that is due."""

_log = logging.getLogger("ingest")


@dataclass(frozen=True)
class DueReport:
    """What one look at the schedule led to: the runs, in the order of the sources, and the sources not due."""

    reports: tuple[RunReport, ...]
    not_due: tuple[str, ...]


def find_due(session: Session, source: str, trigger: Trigger, now: datetime, *, retry: bool) -> Due | None:
    """The instant of the schedule that the source is to be run for, None when there is nothing to do.

    With `retry` an instant is to be done until a run for it completes; without, until one ends by itself: an
    interrupted run is made up for, a failed one waits for the next night or for a person.
    """
    done = last_completed(session, source, planned_only=True)
    planned_at = due(trigger, done.planned_at if done else None, now)
    if planned_at is None:
        return None
    attempts = list_attempts(session, source, planned_at)
    if not retry and any(run.finished_at is not None and not run.was_interrupted for run in attempts):
        return None
    return Due(planned_at, now - planned_at, len(attempts) + 1)


def run_due(
    store: Store, triggers: Mapping[str, Trigger], run: RunDue, *, now: datetime, stop: threading.Event
) -> DueReport:
    """Run every source whose latest planned instant has no completed run, all at once, each in a thread of its own.

    Ctrl-C and SIGTERM set `stop`, wait for the runs to end and raise ``KeyboardInterrupt``. What `run` raises is raised
    here when all have ended.
    """
    with store.read() as session:
        found = {source: find_due(session, source, trigger, now, retry=True) for source, trigger in triggers.items()}
    wanted = {source: one for source, one in found.items() if one is not None}
    with ThreadPoolExecutor(max(1, len(wanted)), thread_name_prefix="ingest") as pool, interrupted_by_sigterm():
        running = [pool.submit(run, source, one) for source, one in wanted.items()]
        try:
            wait(running)
        except KeyboardInterrupt:
            stop.set()
            raise
    return DueReport(
        tuple(future.result() for future in running), tuple(source for source in found if source not in wanted)
    )


class Scheduler:
    """Runs sources at their planned instants until it is told to stop.

    `triggers` are by source; `run` is called in a thread of the source's own, so that a slow one delays no other.
    `stop` is the event that the runs themselves look at.
    """

    def __init__(
        self,
        store: Store,
        triggers: Mapping[str, Trigger],
        run: RunDue,
        *,
        clock: Clock,
        stop: threading.Event,
        watch_s: float = WATCH_S,
    ) -> None:
        self._store, self._triggers, self._run = store, dict(triggers), run
        self._clock, self._stop = clock, stop
        self._fresh = set(self._triggers)
        self._at_work: set[str] = set()
        self._changed = threading.Condition()
        self._timers = self._make_timers(watch_s)

    def serve(self, grace_s: float = GRACE_S) -> tuple[str, ...]:
        """Run what is due, then each source at its instants, until Ctrl-C, SIGTERM or `stop`.

        The runs are then told to stop and waited for. Gives the sources that were still at work after `grace_s`: their
        leases run out when the process ends.
        """
        self._timers.start()
        try:
            with interrupted_by_sigterm():
                self._stop.wait()
        except KeyboardInterrupt:
            _log.info("interrupted: waiting for the runs to end")
        finally:
            self._stop.set()
            self._timers.shutdown(wait=False)
        with self._changed:
            self._changed.wait_for(lambda: not self._at_work, timeout=grace_s)
            return tuple(sorted(self._at_work))

    def _make_timers(self, watch_s: float) -> Any:
        timers = BackgroundScheduler(
            timezone=UTC,
            executors={"default": Workers(1)} | {_job_of(source): Workers(1) for source in self._triggers},
            job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None},
        )
        timers.add_job(self._watch, IntervalTrigger(seconds=watch_s, timezone=UTC), id="watch")
        for source, trigger in self._triggers.items():
            job = _job_of(source)
            # The first time at once: what is due at the start is found by the same look at the store as all later.
            timers.add_job(self._look, trigger, args=(source,), id=job, executor=job, next_run_time=datetime.now(UTC))
        return timers

    def _look(self, source: str) -> None:
        """Run the source if the store says that it is due."""
        with self._changed:
            if self._stop.is_set():
                return
            self._at_work.add(source)
        try:
            with self._store.read() as session:
                one = find_due(session, source, self._triggers[source], self._clock(), retry=source in self._fresh)
            self._fresh.discard(source)
            if one is not None:
                _log.info("%s: %s", source, one.lateness() if one.is_late else "its time has come")
                self._run(source, one)
        except StoreError as error:
            _log.error("%s: %s", source, error)
        finally:
            with self._changed:
                self._at_work.discard(source)
                self._changed.notify_all()

    def _watch(self) -> None:
        """Wake up the sources that are due and that nobody works on."""
        now = self._clock()
        try:
            with self._store.read() as session:
                for source in sorted(self._triggers.keys() - self._at_work):
                    lease = find_lease(session, lease_of(source))
                    if lease is not None and lease.holds(now) and not is_gone(lease.owner):
                        continue
                    if find_due(session, source, self._triggers[source], now, retry=False):
                        self._timers.modify_job(_job_of(source), next_run_time=datetime.now(UTC))
        except StoreError as error:
            _log.warning("the schedule could not be looked up: %s", error)


def _job_of(source: str) -> str:
    return f"source {source}"


@contextmanager
def interrupted_by_sigterm() -> Iterator[None]:
    """Let SIGTERM do what Ctrl-C does while the block runs. Only the main thread can; elsewhere it is left alone.

    An exception, and not a handler that sets an event: the handler may run while its own thread holds the event's lock.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
