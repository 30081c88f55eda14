"""A run's turns at hosts: waiting for them, pauses that hosts demand, and circuits, over all threads and processes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from db.engine import Store
from db.hosts import block, blocked, forget, postpone, reserve, settle
from ingest.errors import Blocked, TimedOut, Unreachable
from ingest.web.clock import Clock

_SHORTEST_SLEEP_S = 0.05
_FARTHEST = timedelta(hours=25)
"""No pause that is kept is longer than a day; the hour is for clocks that differ."""


class Turn:
    """A turn that was taken. ``not_before`` may be set to when the host wants to be asked next, by anybody."""

    def __init__(self, taken_at: datetime) -> None:
        self.taken_at = taken_at
        self.not_before = taken_at


class Turns:
    """The turns of one run, which has ``run_s`` seconds and waits at most ``pause_s`` for one of them.

    In a process, one request of the run is with a host at a time. A turn is reserved for ``hold_s`` seconds longer than
    the host's interval, the time in which a connection is made or fails: until the request is with the host nobody
    else's can be, and the interval counts from the end of the exchange.
    """

    def __init__(self, store: Store, clock: Clock, *, run_s: float, pause_s: float, hold_s: float) -> None:
        self._store = store
        self._clock = clock
        self._run_s = run_s
        self._pause_s = pause_s
        self._hold_s = hold_s
        self._ends = clock.monotonic() + run_s
        self._lock = threading.Lock()
        self._alone: dict[str, threading.Lock] = {}

    @property
    def left_s(self) -> float:
        """Seconds until the run's deadline."""
        return self._ends - self._clock.monotonic()

    @contextmanager
    def take(self, url: str, place: str, interval_s: float) -> Iterator[Turn]:
        """Wait for a turn at the host `place`, to ask for `url` inside of the block.

        ``Blocked`` when its circuit is open, ``TimedOut`` when the run ends before the turn, ``Unreachable`` when
        the host wants to be left alone for longer than a run waits.
        """
        with self._lock:
            alone = self._alone.setdefault(place, threading.Lock())
        with alone:
            hold = timedelta(seconds=interval_s + self._hold_s)
            turn = Turn(self._wait(url, place, interval_s, hold))
            try:
                yield turn
            finally:
                with self._store.write() as session:
                    next_at = self._clock.now() + timedelta(seconds=interval_s)
                    next_at = max(next_at, turn.not_before)
                    settle(session, place, reserved_until=turn.taken_at + hold, next_at=next_at)

    def _wait(self, url: str, place: str, interval_s: float, hold: timedelta) -> datetime:
        while True:
            if self.left_s <= 0:
                raise TimedOut(f"{url} was not asked: the {self._run_s:.0f} s of the run are over", "run it again")
            with self._store.write() as session:
                now = self._clock.now()
                shut = blocked(session, place, now)
                at = now if shut else _reserve(session, place, hold, now)
            if shut:
                raise Blocked(
                    f"{url} was not asked: {place} is left alone until {shown(shut.until)} ({shut.reason})",
                    "wait, or save the page by hand and give it to live sources record",
                )
            if at <= now:
                return now
            wait_s = (at - now).total_seconds()
            self._require(url, place, at, wait_s)
            # No longer than an interval: a turn may end before its reservation does.
            self._clock.sleep(min(wait_s, max(interval_s, _SHORTEST_SLEEP_S)))

    def _require(self, url: str, place: str, at: datetime, wait_s: float) -> None:
        if wait_s > self._pause_s:
            raise Unreachable(
                f"{url} was not asked: {place} wants to be left alone until {shown(at)}",
                f"run it again after that; a run waits for {self._pause_s:.0f} s at most",
            )
        if wait_s > self.left_s:
            raise TimedOut(
                f"{url} was not asked: its turn at {place} is at {shown(at)}, after the end of the run",
                "run it again after that",
            )

    def postpone(self, place: str, until: datetime) -> None:
        """Nobody asks a host before `until`."""
        with self._store.write() as session:
            postpone(session, place, until)

    def shut(self, place: str, for_s: float, reason: str) -> datetime:
        """Open a host's circuit for so many seconds; the instant at which it closes."""
        with self._store.write() as session:
            until = self._clock.now() + timedelta(seconds=for_s)
            block(session, place, until, reason)
        return until


def _reserve(session: Session, place: str, hold: timedelta, now: datetime) -> datetime:
    """As ``reserve``, but a turn or a pause that is farther away than any can be counts for nothing."""
    at = reserve(session, place, hold.total_seconds(), now)
    if at - now <= max(_FARTHEST, hold):
        return at
    forget(session, place, now)
    return reserve(session, place, hold.total_seconds(), now)


def shown(at: datetime) -> str:
    """An instant as messages show it."""
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"
