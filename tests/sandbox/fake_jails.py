"""Jails without a container or a process, whose agent answers as a test tells it to."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field

from sandbox import memory_files
from sandbox.agent import wire

Answer = Callable[[str], bytes]
"""What a program of this source prints, in a jail that judges by it."""

_HELLO = wire.Hello("3.11.2", "x86_64", user_switch=True, landlock_abi=4, seccomp=True, packages={})
_REPLY = wire.Reply(
    stage=wire.LOADED,
    killed_by=wire.KILLED_BY_NOBODY,
    leftover=False,
    fault=False,
    wait_status=0,
    cpu_us=2_000,
    wall_us=3_000,
    peak_memory_bytes=10 * 2**20,
)
_FAILED = 256  # exit code 1


class FakeLink:
    """The connection to an agent that runs nothing."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._reply = _REPLY

    def hello(self, timeout_s: float) -> bytes:
        return _HELLO.pack()

    def begin(self, request: wire.Request, fds: list[int]) -> None:
        if request.operation != wire.RUN:  # a question for a version: there are no other languages
            self._reply = _REPLY._replace(wait_status=_FAILED)
            return
        source = memory_files.content(fds[wire.PROGRAM], 2**20).decode()
        os.write(fds[wire.STDOUT], self._answer(source))
        self._reply = _REPLY

    def finish(self, request: wire.Request, timeout_s: float) -> bytes:
        return self._reply.pack()

    def interrupt(self) -> None:
        """Nobody waits."""

    def close(self) -> None:
        """Nothing is held."""


class FakeEnclosure:
    """Where a jail would be."""

    def __init__(self, launcher: FakeLauncher) -> None:
        self._launcher = launcher

    def connect(self, timeout_s: float) -> FakeLink:
        return FakeLink(self._launcher.answer)

    def describe_end(self) -> str:
        return ""

    def close(self) -> None:
        self._launcher.closed += 1


@dataclass
class FakeLauncher:
    """Starts such jails, and counts those that were started and ended."""

    answer: Answer
    name: str = "fake"
    kernel: str = ""
    launched: int = 0
    closed: int = 0
    is_closed: bool = field(default=False, init=False)

    def launch(self, uid_base: int) -> FakeEnclosure:
        self.launched += 1
        return FakeEnclosure(self)

    def details(self) -> dict[str, str]:
        return {}

    def close(self) -> None:
        self.is_closed = True
