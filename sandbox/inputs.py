"""The inputs of a suite as memory files: made once, opened again for each run."""

from __future__ import annotations

import os

from sandbox import memory_files
from sandbox.programs import Suite

_CACHED = 256  # at most; fewer where descriptors are scarce


class Inputs:
    """The sealed inputs of the suite at hand: made once, opened again for each run."""

    def __init__(self, kept: int) -> None:
        self._kept = min(kept, _CACHED)
        self._suite: Suite | None = None
        self._fds: dict[int, int] = {}

    def open(self, suite: Suite, index: int) -> int:
        """A fresh read-only descriptor of test ``index``'s input."""
        if suite is not self._suite:
            self.close()
            self._suite = suite
        if index in self._fds:
            return memory_files.reader(self._fds[index])
        fd = memory_files.sealed(suite.tests[index].input)
        fresh = memory_files.reader(fd)
        if len(self._fds) < self._kept:
            self._fds[index] = fd
        else:
            os.close(fd)
        return fresh

    def close(self) -> None:
        """Let go of all."""
        for fd in self._fds.values():
            os.close(fd)
        self._fds = {}
        self._suite = None
