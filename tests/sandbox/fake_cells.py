"""A cell whose jail gives one reply to all."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sandbox.agent import wire
from sandbox.cells import Cell, Counters
from sandbox.jail import Jail

T = TypeVar("T")


def _no_jail() -> Jail:
    raise AssertionError("no jail is needed")


class FakeCell(Cell):
    """Takes note of the requests and never starts a jail."""

    def __init__(self, reply: wire.Reply) -> None:
        super().__init__(_no_jail, Counters())
        self.requests: list[wire.Request] = []
        self._reply = reply

    def request(self, request: wire.Request, fds: list[int]) -> wire.Reply:
        """The reply that was given."""
        self.requests.append(request)
        return self._reply

    def retried(self, work: Callable[[], T], renew: Callable[[], None] | None = None) -> T:
        """Once is enough."""
        return work()
