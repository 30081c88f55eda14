"""One guarded run of one source: alone on the store, with a deadline, and with an end in the store whatever happens.

`guarded_run` takes the source's lease, opens the run's row, calls the body and closes the row. While the body works, a
heartbeat renews the lease; when that fails, when the deadline passes, or when the process is told to stop, it sets the
event that the body looks at.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from types import TracebackType
from typing import Final, Self

from sqlalchemy.orm import Session

from db.engine import Store
from db.errors import StoreError
from db.ingest_runs import (
    INTERRUPTED,
    IngestOutcome,
    abandon_runs,
    add_failure,
    finish_run,
    list_attempts,
    start_run,
)
from db.leases import find_lease, new_owner, release_lease, renew_lease, take_lease
from ingest.errors import SourceError
from ingest.planning import Due

LEASE_TTL: Final = timedelta(seconds=120)
"""How long a killed process keeps others from its source."""
TIME_LIMIT: Final = timedelta(hours=6)
"""How long a run may take: less than the distance to the next night."""
_BEATS_PER_TTL: Final = 4
_TICK_S: Final = 0.25

_log = logging.getLogger("ingest")


class StopReason(StrEnum):
    """Why a run was told to stop; kept as the run's ``error_kind``."""

    INTERRUPTED = INTERRUPTED
    TIMEOUT = "timeout"
    LEASE_LOST = "lease_lost"


_STOPPED: Final = {
    StopReason.INTERRUPTED: "it was told to stop",
    StopReason.TIMEOUT: "its deadline has passed",
    StopReason.LEASE_LOST: "another process has taken the source's lease",
}


class RunStopped(Exception):
    """What a body raises where it sees that it has to stop. What it has saved so far stays."""


@dataclass(frozen=True)
class RunFailure:
    """Something that a run could not take: a contest or a problem, why, the response that shows it, and what to do."""

    what: str
    kind: str
    error: str
    snapshot_id: int | None = None
    hint: str = ""


@dataclass(frozen=True)
class RunResult:
    """What a body says of its run. ``error`` is one line on why it is not completed, ``hint`` one on what to do."""

    outcome: IngestOutcome
    counts: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    failures: tuple[RunFailure, ...] = ()
    error_kind: str | None = None
    error: str | None = None
    hint: str = ""


@dataclass(frozen=True)
class RunContext:
    """What a body is given. It should end soon once ``stop`` is set, and by ``deadline`` at the latest."""

    run_id: int
    source: str
    planned_at: datetime | None
    started_at: datetime
    deadline: datetime
    stop: threading.Event

    def check(self) -> None:
        """Raise ``RunStopped`` when the run has to end: to be called between two steps."""
        if self.stop.is_set():
            raise RunStopped


Body = Callable[[RunContext], RunResult]
Clock = Callable[[], datetime]


@dataclass(frozen=True)
class RunReport:
    """What became of one call. ``run_id`` is None when there was nothing to do or somebody else does it: no row."""

    source: str
    planned_at: datetime | None
    run_id: int | None
    result: RunResult


def lease_of(source: str) -> str:
    """The name of the lease that keeps two processes from running a source at once."""
    return f"ingest:{source}"


def guarded_run(  # noqa: PLR0913 - what few callers say is said by keyword
    store: Store,
    source: str,
    due: Due | None,
    body: Body,
    *,
    clock: Clock,
    stop: threading.Event | None = None,
    time_limit: timedelta = TIME_LIMIT,
    ttl: timedelta = LEASE_TTL,
    caught_up: bool = True,
) -> RunReport:
    """Run `body` for a source, by hand (`due` is None) or for an instant of its schedule, and keep what became of it.

    Skipped without a row when another process has the source's lease, or has begun an attempt at the instant since
    `due` was found. `stop` tells the run to end early; `caught_up` is kept with it (see `start_run`). What the body
    raises makes a failed run; only ``StoreError``, ``KeyboardInterrupt`` and ``SystemExit`` go on to the caller, the
    run closed before.
    """
    owner = new_owner()
    planned_at = due.planned_at if due else None
    opened = _open(store, source, due, owner, clock, ttl, caught_up)
    if isinstance(opened, str):
        return RunReport(source, planned_at, None, RunResult(IngestOutcome.SKIPPED, notes=(opened,)))
    run_id, started_at = opened
    context = RunContext(run_id, source, planned_at, started_at, started_at + time_limit, threading.Event())
    heartbeat = _Heartbeat(store, context, owner, clock, stop or threading.Event(), ttl)
    try:
        result = _run_body(body, context, heartbeat)
    except BaseException as error:
        told = _stopped(StopReason.INTERRUPTED)
        if isinstance(error, StoreError):
            told = RunResult(IngestOutcome.FAILED, error_kind="store", error=error.message)
        with suppress(StoreError):  # What went wrong first is what the caller is told.
            _close(store, context, owner, clock, told)
        raise
    if due is not None and due.is_late:
        result = replace(result, notes=(due.lateness(), *result.notes))
    if not _close(store, context, owner, clock, result):
        result = _stopped(StopReason.LEASE_LOST)
    return RunReport(source, planned_at, run_id, result)


def _open(
    store: Store, source: str, due: Due | None, owner: str, clock: Clock, ttl: timedelta, caught_up: bool
) -> tuple[int, datetime] | str:
    """Take the lease and open the run in one transaction: the run's id and start, or why there is nothing to do."""
    with store.write() as session:
        now = clock()
        if take_lease(session, lease_of(source), owner, now, ttl) is None:
            holder = find_lease(session, lease_of(source))
            if holder is None:
                return "another process is at it"
            return f"{holder.owner} is at it; unless it shows life, its turn ends at {holder.expires_at:%H:%M:%S} UTC"
        abandon_runs(session, source, now)
        if due is not None and (reason := _already(session, source, due)):
            release_lease(session, lease_of(source), owner)
            return reason
        return start_run(session, source, owner, now, due.planned_at if due else None, caught_up=caught_up), now


def _already(session: Session, source: str, due: Due) -> str | None:
    """Who was quicker: two processes may find the same instant due, and only one of them is to do it."""
    attempts = list_attempts(session, source, due.planned_at)
    for run in attempts:
        if run.outcome is IngestOutcome.COMPLETED:
            return f"{run.owner} has done it"
    if len(attempts) >= due.attempt:
        return f"{attempts[-1].owner} has just tried it"
    return None


def _run_body(body: Body, context: RunContext, heartbeat: _Heartbeat) -> RunResult:
    """What the body says, or what follows from what it raised."""
    try:
        with heartbeat:
            result = body(context)
    except RunStopped:
        return _stopped(heartbeat.reason or StopReason.INTERRUPTED)
    except SourceError as error:
        result = RunResult(IngestOutcome.FAILED, error_kind=error.kind, error=error.message, hint=error.hint)
    except StoreError:
        raise
    except Exception as error:
        _log.exception("%s: the run ended through a fault of the program", context.source)
        result = RunResult(IngestOutcome.FAILED, error_kind="error", error=f"{type(error).__name__}: {error}")
    if heartbeat.reason is None or result.outcome in {IngestOutcome.COMPLETED, IngestOutcome.SKIPPED}:
        return result
    # What fails after a run was told to stop fails because of that.
    told = _stopped(heartbeat.reason)
    return replace(result, outcome=told.outcome, error_kind=told.error_kind, error=told.error)


def _stopped(reason: StopReason) -> RunResult:
    return RunResult(IngestOutcome.FAILED, error_kind=str(reason), error=_STOPPED[reason])


def _close(store: Store, context: RunContext, owner: str, clock: Clock, result: RunResult) -> bool:
    """Close the run and give the lease back; False when somebody else has closed it."""
    with store.write() as session:
        now = clock()
        closed = finish_run(
            session,
            context.run_id,
            result.outcome,
            now,
            result.counts,
            result.notes,
            result.error_kind,
            result.error,
        )
        for failure in result.failures:
            add_failure(session, context.run_id, failure.what, failure.kind, failure.error, failure.snapshot_id, now)
        release_lease(session, lease_of(context.source), owner)
    return closed


class _Heartbeat:
    """Renews a run's lease while the run works, and says when it has to stop and why."""

    def __init__(
        self, store: Store, context: RunContext, owner: str, clock: Clock, stop: threading.Event, ttl: timedelta
    ) -> None:
        self._store, self._context, self._owner = store, context, owner
        self._clock, self._stop, self._ttl = clock, stop, ttl
        self._renewed_at = context.started_at
        self._ended = threading.Event()
        self._reason: StopReason | None = None
        self._thread = threading.Thread(target=self._beat, name=f"lease of {context.source}", daemon=True)

    @property
    def reason(self) -> StopReason | None:
        """Why the run was told to stop, or would be by now; None when it may go on."""
        return self._reason or self._look()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _beat(self) -> None:
        beat = self._ttl / _BEATS_PER_TTL
        while not self._ended.wait(min(_TICK_S, beat.total_seconds())):
            self._reason = self._reason or self._look()
            if self._reason is not None:
                self._context.stop.set()
            if self._reason is not StopReason.LEASE_LOST and self._clock() - self._renewed_at >= beat:
                self._renew()

    def _look(self) -> StopReason | None:
        if self._stop.is_set():
            return StopReason.INTERRUPTED
        return StopReason.TIMEOUT if self._clock() >= self._context.deadline else None

    def _renew(self) -> None:
        """Renew the lease; it goes on being renewed after a stop, since the run still works until it has ended."""
        try:
            with self._store.write() as session:
                now = self._clock()
                held = renew_lease(session, lease_of(self._context.source), self._owner, now, self._ttl)
        except StoreError as error:
            _log.warning("%s: the lease was not renewed: %s", self._context.source, error)
            held = self._clock() - self._renewed_at < self._ttl
        else:
            self._renewed_at = now if held else self._renewed_at
        if not held:
            self._reason = self._reason or StopReason.LEASE_LOST
            self._context.stop.set()
