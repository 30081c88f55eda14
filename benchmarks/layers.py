"""What each layer of isolation costs a test: agents that lack one, beside the one that judges, in turn.

The agents that lack a layer are copies in a temporary folder with lines added to their files; no setting of the sandbox
leads there.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Self
from unittest import mock

from sandbox import agent_files, memory_files
from sandbox.agent import wire
from sandbox.jail import Jail
from sandbox.judge import find_launcher
from sandbox.programs import MIB

_ROUNDS, _TESTS = 40, 10
_FIRST_USER, _USERS = 10_000, 1_000
_SOURCE, _INPUT = b"print(sum(map(int, input().split())))\n", b"1 2\n"
_REQUEST = wire.Request(wire.RUN, True, 6.0, 18.0, 1024 * MIB, MIB, {})

# The agent looks whether its layers hold, and the host refuses one whose layers do not.
_SATISFIED = {
    "main.py": "_really_works = _works\ndef _works(layer, _holds):\n    return _really_works(layer, lambda: True)\n"
}

# What to add to which file to take a layer away. Whatever else the replaced function does, it still does.
_WITHOUT = {
    "seccomp filter": {"isolation.py": "Seccomp.apply = lambda self: None\n", **_SATISFIED},
    "Landlock": {"isolation.py": "Landlock.apply = lambda self, fd: close(fd) if self.abi else None\n", **_SATISFIED},
    "user of its own": {"isolation.py": "def become_user(uid):\n    _prctl(_BE_READABLE)\n", **_SATISFIED},
    "resource limits": {"isolation.py": "def set_limits(*_):\n    pass\n\n\ndef set_output_limit(_):\n    pass\n"},
    "closing of descriptors": {"python_test.py": "def _close_all_but(kept):\n    pass\n"},
    "session of its own": {"python_test.py": "def setsid():\n    pass\n"},
    "search for left processes": {"zygote.py": "Zygote._leftover_process = lambda self: False\n"},
    "search for left files": {"zygote.py": "Zygote._sweep = lambda *_: (True, True)\n"},
}
_ALL = "all of these"


def layer_costs(executor: str) -> Iterator[str]:
    """Lines of a table: what a trivial test takes with all layers, and how much of it each layer is."""
    with contextlib.ExitStack() as stack:
        launcher = find_launcher(executor)
        stack.callback(launcher.close)
        programs = {}
        for number, (name, changes) in enumerate({"": {}, **_WITHOUT, _ALL: _together(_WITHOUT.values())}.items()):
            with _changed_agent(changes):
                jail = Jail(launcher, _FIRST_USER + number * _USERS)
            stack.callback(jail.close)
            programs[name] = stack.enter_context(_Program(jail))
        for program in programs.values():
            program.times(_TESTS)
        times: dict[str, list[float]] = {name: [] for name in programs}
        for _ in range(_ROUNDS):
            for name, program in programs.items():
                times[name] += program.times(_TESTS)
    # The fastest tenth: on a machine that others use as well, the rest tells of them.
    costs_ms = {name: statistics.quantiles(seconds, n=10)[0] * 1000 for name, seconds in times.items()}
    full_ms = costs_ms.pop("")
    yield f"{'with all layers':26} {full_ms:6.3f} ms"
    for name, cost_ms in costs_ms.items():
        yield f"{name:26} {full_ms - cost_ms:6.3f} ms"


def _together(changes: Iterable[dict[str, str]]) -> dict[str, str]:
    """All changes in one, each line once."""
    everything: dict[str, str] = {}
    for change in changes:
        for name, lines in change.items():
            if lines not in everything.get(name, ""):
                everything[name] = everything.get(name, "") + lines
    return everything


@contextlib.contextmanager
def _changed_agent(changes: dict[str, str]) -> Iterator[None]:
    """Have jails that start meanwhile get an agent with lines added to its files."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "agent"
        shutil.copytree(agent_files.AGENT_SOURCE, copy)
        for name, lines in changes.items():
            path = copy / name
            path.write_text(path.read_text(encoding="utf-8") + "\n\n" + lines, encoding="utf-8")
        with mock.patch.object(agent_files, "AGENT_SOURCE", copy):
            yield


class _Program:
    """A trivial program in a jail, compiled."""

    def __init__(self, jail: Jail) -> None:
        self._jail = jail
        self._source_fd = memory_files.sealed(_SOURCE)
        self._input_fd = memory_files.sealed(_INPUT)
        self._code_fd = memory_files.empty()

    def __enter__(self) -> Self:
        self._test(_REQUEST._replace(has_compiled=False))
        memory_files.seal(self._code_fd)
        return self

    def __exit__(self, *_: object) -> None:
        for fd in (self._source_fd, self._input_fd, self._code_fd):
            os.close(fd)

    def times(self, count: int) -> list[float]:
        """Seconds for each of so many tests in a row."""
        times = []
        for _ in range(count):
            started = time.perf_counter()
            self._test(_REQUEST)
            times.append(time.perf_counter() - started)
        return times

    def _test(self, request: wire.Request) -> None:
        fds = [memory_files.reader(self._input_fd), memory_files.empty(), memory_files.empty()]
        try:
            reply = self._jail.run(request, [*fds, self._source_fd, self._code_fd])
        finally:
            for fd in fds:
                os.close(fd)
        if reply.stage != wire.LOADED or reply.wait_status:
            raise RuntimeError(f"the trivial program failed: {reply}")


if __name__ == "__main__":
    for line in layer_costs("auto"):
        print(line)
