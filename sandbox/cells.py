"""A place for one jail: it is started when it is needed, examined before it judges, replaced after any fault."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from sandbox import canaries, running
from sandbox.agent import wire
from sandbox.canaries import Canary
from sandbox.errors import JailFault, SandboxUnavailable
from sandbox.jail import Jail

_ATTEMPTS = 3

# A jail that has served so many solutions or so long is examined thoroughly.
_SOLUTIONS_BETWEEN_EXAMINATIONS = 1_000
_SECONDS_BETWEEN_EXAMINATIONS = 600.0

T = TypeVar("T")


@dataclass
class Counters:
    """What a worker has done since its start. ``faults`` are by kind: a jail that broke (``jail``), that was not as
    before after a test (``leftover``), that judged a canary wrongly (``canary``)."""

    solutions: int = 0
    tests: int = 0
    checks: int = 0
    requests: int = 0
    jails_started: int = 0
    jails_replaced: int = 0
    faults: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()  # no field: what is counted can be copied and written down

    def count_fault(self, kind: str) -> None:
        """One more of that kind."""
        with self._lock:
            self.faults[kind] = self.faults.get(kind, 0) + 1

    def add(self, other: Counters) -> None:
        """Add what another has counted, which may go on counting in a thread of its own."""
        for name in ("solutions", "tests", "checks", "requests", "jails_started", "jails_replaced"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        with other._lock:
            faults = dict(other.faults)
        for kind, count in faults.items():
            self.faults[kind] = self.faults.get(kind, 0) + count


class Cell:
    """A place for one jail. It serves one thread at a time."""

    def __init__(self, make_jail: Callable[[], Jail], counters: Counters) -> None:
        self._make_jail = make_jail
        self._counters = counters
        self._jail: Jail | None = None
        self._closed = False
        self._solutions = 0
        self._examined_at = 0.0

    @property
    def jail(self) -> Jail | None:
        """The jail that is there at the moment."""
        return self._jail

    def start(self) -> Jail:
        """The jail, started when there is none. Raises the ``SandboxError`` of its start."""
        if self._jail is None:
            self._examine(canaries.QUICK)
        if self._closed or self._jail is None:
            raise SandboxUnavailable("the judge is closed")
        return self._jail

    def stop(self) -> None:
        """From any thread: end what the jail is at, with a ``JailFault``; there will be no other."""
        self._closed = True
        jail = self._jail
        if jail is not None:
            jail.interrupt()

    def close(self) -> None:
        """End the jail, once no thread is at work with it."""
        self.stop()
        self.discard()

    def discard(self) -> None:
        """End the jail, if there is one; the next request gets another."""
        jail, self._jail = self._jail, None
        if jail is not None:
            jail.close()
            self._counters.jails_replaced += not self._closed

    def interrupt(self) -> None:
        """From any thread: make the request that is under way fail with a ``JailFault``."""
        jail = self._jail
        if jail is not None:
            jail.interrupt()

    def request(self, request: wire.Request, fds: list[int]) -> wire.Reply:
        """Have a request carried out; a jail that is not as it was before is thrown away. Raises ``JailFault``."""
        self.begin(request, fds)
        return self.finish(request)

    def begin(self, request: wire.Request, fds: list[int]) -> None:
        """Start a request. Raises ``JailFault``, or the ``SandboxError`` of a jail's start."""
        jail = self.start()
        self._counters.requests += 1
        jail.begin(request, fds)

    def finish(self, request: wire.Request) -> wire.Reply:
        """The reply to the request that began. Raises ``JailFault``."""
        if self._jail is None:
            raise JailFault("the jail is gone")
        reply = self._jail.finish(request)
        if reply.leftover:
            self._counters.count_fault("leftover")
            self.discard()
        return reply

    def retried(self, action: Callable[[], T], renew: Callable[[], None] = lambda: None) -> T:
        """The action's result; after a fault of the jail it is tried again in another one. Raises the last fault."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return action()
            except JailFault:
                self._counters.count_fault("jail")
                self.discard()
                renew()
                if attempt == _ATTEMPTS:
                    raise
        raise AssertionError("the loop returns or raises")

    def end_solution(self) -> None:
        """A solution has been judged: a jail that keeps solutions apart in no other way is thrown away; one that has
        served long is examined. Raises ``SandboxUnavailable`` when jails fail again and again."""
        if self._jail is None:
            return
        if self._jail.level.renew_each_solution:
            self.discard()
            return
        self._solutions += 1
        is_due = time.monotonic() - self._examined_at > _SECONDS_BETWEEN_EXAMINATIONS
        if not self._closed and (is_due or self._solutions >= _SOLUTIONS_BETWEEN_EXAMINATIONS):
            with contextlib.suppress(JailFault):  # it broke and is gone; the next one is examined at its start
                self._examine(canaries.THOROUGH)

    def _examine(self, programs: tuple[Canary, ...]) -> None:
        """See that the jail, started when there is none, judges these rightly; one that does not is replaced."""
        wrong: list[JailFault] = []
        while len(wrong) < _ATTEMPTS and not self._closed:
            if self._jail is None:
                self._jail = self._make_jail()
                self._counters.jails_started += 1
            broken: list[JailFault] = []
            try:
                self._judge_canaries(self._jail, programs, broken)
            except JailFault as fault:
                self.discard()
                if broken:  # it ended, which says nothing about how it judges
                    raise
                self._counters.count_fault("canary")
                wrong.append(fault)
            else:
                self._solutions, self._examined_at = 0, time.monotonic()
                return
        if wrong:
            raise SandboxUnavailable(
                f"the sandbox judges its own test programs wrongly: {wrong[-1].message}", "see what live doctor says"
            )

    def _judge_canaries(self, jail: Jail, programs: tuple[Canary, ...], broken: list[JailFault]) -> None:
        def request(request: wire.Request, fds: list[int]) -> wire.Reply:
            try:
                reply = jail.run(request, fds)
            except JailFault as fault:
                broken.append(fault)
                raise
            if reply.leftover:
                raise JailFault("a test program left something behind")
            return reply

        canaries.check(lambda program, suite: running.judge_once(request, program, suite), programs)
