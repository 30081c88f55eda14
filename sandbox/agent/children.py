"""Processes of one's own: waiting for one with a time limit, ending it, and which there are.

By pidfd where the kernel has them (Linux 5.3); gVisor's of 2022 has neither those nor the list of a task's children.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]
import ctypes
import errno
import os
import time
from collections import namedtuple
from os import close, pidfd_open
from select import POLLIN, poll

# What came of waiting for a process: it goes on, it has ended, or the host that it works for is gone.
GOES_ON, ENDED, ALONE = 0, 1, 2

_SLICE_MS = 2

# `os.wait4` imports a module each time, to dress up what comes here as the first words of a struct rusage: user time
# and system time in seconds and microseconds, the most memory in KiB.
_wait4 = ctypes.CDLL(None, use_errno=True).wait4
_status = ctypes.c_int()
_usage = (ctypes.c_long * 18)()
_FOR_STATUS, _FOR_USAGE = ctypes.byref(_status), ctypes.byref(_usage)


class Usage(namedtuple("Usage", ("wait_status", "cpu_us", "peak_memory_bytes"))):
    """How a process ended and what it used."""

    __slots__ = ()

    wait_status: int
    cpu_us: int
    peak_memory_bytes: int


class Child:
    """A forked process. Only who made this object may reap it, so that its number is nobody else's until then."""

    def __init__(self, pid: int, host_fd: int = -1) -> None:
        """``host_fd`` is the connection to the host, where its end is to be noticed."""
        self.pid = pid
        self._poller = poller = poll()
        if host_fd >= 0:
            poller.register(host_fd, 0)
        try:
            self._pidfd = pidfd_open(pid)
        except OSError:
            self._pidfd = -1
        else:
            poller.register(self._pidfd, POLLIN)

    def wait(self, timeout_ms: float) -> int:
        """Wait until something comes of it, no longer than this."""
        if self._pidfd < 0:
            return self._look_again_and_again(timeout_ms)
        ready = self._poller.poll(timeout_ms)
        for fd, _ in ready:
            if fd == self._pidfd:
                return ENDED
        return ALONE if ready else GOES_ON

    def _look_again_and_again(self, timeout_ms: float) -> int:
        deadline = time.monotonic() + timeout_ms / 1000
        while True:
            if os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                return ENDED
            if self._poller.poll(_SLICE_MS):
                return ALONE
            if time.monotonic() >= deadline:
                return GOES_ON

    def reap(self) -> Usage:
        """Wait for its end; after that it is no more. Raises ``OSError`` when it is no child."""
        while _wait4(self.pid, _FOR_STATUS, 0, _FOR_USAGE) < 0:
            code = ctypes.get_errno()
            if code != errno.EINTR:
                raise OSError(code, os.strerror(code))
        if self._pidfd >= 0:
            close(self._pidfd)
        user_s, user_us, system_s, system_us, peak_kib = _usage[:5]
        return Usage(_status.value, (user_s + system_s) * 1_000_000 + user_us + system_us, peak_kib * 1024)

    def kill(self) -> None:
        """End it, unless it has ended by itself."""
        try:
            if self._pidfd >= 0:
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            else:
                os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            return


def children() -> set[int]:
    """The pids of this process's children, those that have ended and are not reaped among them; without those that hide
    their entry in /proc, where the kernel has no list."""
    own = os.getpid()
    try:
        with open(f"/proc/self/task/{own}/children", encoding="ascii") as listed:
            return {int(pid) for pid in listed.read().split()}
    except OSError:
        return {int(entry) for entry in os.listdir("/proc") if entry.isdigit() and _parent(entry) == own}


def _parent(pid: str) -> int:
    """The parent's pid (field 4 of /proc/PID/stat, counted behind the name in brackets); 0 for one that is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return int(stat.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError):
        return 0
