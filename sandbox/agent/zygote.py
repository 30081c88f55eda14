"""A process that forks one fresh process for each test, watches it, reaps it and reports raw facts."""

from __future__ import annotations

import _socket
import gc
import os
import sys
import time
import types
from os import close, fork, listdir, read, waitpid
from time import monotonic_ns

from . import execution, preludes, program, seccomp, wire
from .children import ALONE, ENDED, GOES_ON, Child, children
from .hiding import hide_in_proc
from .isolation import Landlock, Seccomp, become_user, protect_agent
from .memory import KernelEnds, excess_tables_bytes, resident_bytes
from .python_test import run as run_python
from .rehearsal import rehearse
from .standby import stand_by
from .wire import EXEC, FORK, ISOLATED, LOADED, SCRATCH, STARTED, Reply, Request, packed_reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# A short test is over before the first look; after that, a look every 10 ms bounds how far one can overshoot.
_FIRST_LOOK_MS, _LOOK_MS = 8, 10
_LOOKS_PER_LOOK_AT_TABLES = 10
_SWEEP_S = 5.0
_KILL_ROUNDS = 100
_SIGKILL = 9

# A process computes when it used more than this share of a core over the last span, and that one since its start.
_SPAN_NS, _IDLE_SHARE, _IDLE_SHARE_OF_ALL = 500_000_000, 0.02, 0.1

_USERS_PER_JAIL = 900
_ANCILLARY_BYTES = _socket.CMSG_SPACE(wire.MAX_FDS * 4)
_REPORT_BYTES = 1 << 16

# What a test's process writes on its way: isolated, then loaded; anything else is a fault of the jail, with its text.
_STAGES = {b"I": ISOLATED, b"IC": LOADED}
_FETCHED = b"D"
_NOT_FETCHED = "what it left could not be fetched"


class Zygote:
    """Serves one host connection. ``uid_base`` is the first of the users that tests run as, or None where this jail
    cannot switch users; then seccomp and Landlock alone keep tests apart.

    After each fork this process, too, gets a copy of every page of memory that it writes to, so that what it does for
    each test is kept short; see :mod:`agent.python_test`.
    """

    def __init__(self, host: _socket.socket, landlock: Landlock, syscall_filter: Seccomp, uid_base: int | None) -> None:
        self._host = host
        self._host_fd = host.fileno()
        self._layers = landlock, syscall_filter
        self._uid_base = uid_base
        self._landlocks: dict[tuple[str, ...], Landlock] = {(): landlock}
        self._filters: dict[int, Seccomp] = {}
        self._tests = 0
        self._siblings: set[int] = set()
        self._names: dict[str, Any] = {}
        self._perform: preludes.Perform | None = None
        self._progress = self._report = -1
        self._kernel_ends = KernelEnds()

    def serve(self) -> None:
        """Answer requests until the host goes away."""
        self._progress, self._report = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        program.prepare()
        rehearse()
        stand_by()
        hidden = _hide_agent()
        gc.collect()
        gc.freeze()
        gc.disable()
        host = self._host
        while True:
            message, ancillary, _, _ = host.recvmsg(wire.MAX_MESSAGE_BYTES, _ANCILLARY_BYTES)
            if not message:
                return
            request = Request.unpack(message)
            fds = memoryview(ancillary[0][2]).cast("i").tolist()
            if request.operation == FORK:
                self._fork_zygote(fds[0], request.details["name"], hidden)
            else:
                host.send(self._test(request, fds))

    def _fork_zygote(self, fd: int, name: str, hidden: dict[str, types.ModuleType]) -> None:
        """Start the zygote of that name; it answers on its own connection."""
        pid = fork()
        if pid:
            close(fd)
            self._siblings.add(pid)
            return
        self._host.close()
        self._host, self._host_fd = _socket.socket(fileno=fd), fd
        close(self._progress)
        close(self._report)
        self._siblings = set()
        protect_agent()  # what a fork does not hand on: being the reaper of what tests leave
        hide_in_proc()
        gc.unfreeze()
        sys.modules.update(hidden)
        self._names, self._perform = preludes.prepare(name)
        self._host.send(Reply(ISOLATED, 0, False, False, 0, 0, 0, 0).pack())
        self.serve()
        os._exit(0)

    def _test(self, request: Request, fds: list[int]) -> bytes:
        """Run one test; the reply as bytes."""
        operation, _, _, _, _, output_bytes, details = request
        self._tests += 1
        uid = None if self._uid_base is None else self._uid_base + self._tests % _USERS_PER_JAIL
        layers = self._command_layers(request) if operation == EXEC else None
        started_ns = monotonic_ns()
        pid = fork()
        if pid == 0:
            if layers is not None:
                execution.run(request, fds, self._report, uid, *layers)
            run_python(request, fds, self._report, uid, self._layers, self._names, self._perform)
        child = Child(pid, self._host_fd)
        killed_by = self._watch(child, request, started_ns)
        status, cpu_us, peak_bytes = child.reap()
        wall_us = (monotonic_ns() - started_ns) // 1000
        if status & 0x7F == _SIGKILL and not killed_by and self._kernel_ends.may_be_more():
            killed_by = wire.KILLED_BY_KERNEL
        stage, text = self._progress_made()
        fetched: list[tuple[str, int]] = []
        if details:
            if details.get("may_fork"):
                self._end_processes()
            fetched = [(name, fds[index]) for name, index in details.get("fetch", {}).items()]
        leftover = self._leftover_process()
        is_clean, is_fetched = self._sweep(uid, fetched, output_bytes)
        leftover |= not is_clean
        for fd in fds:
            close(fd)
        fault = stage == STARTED
        if not is_fetched and not fault:
            fault, text = True, _NOT_FETCHED
        return packed_reply((stage, killed_by, leftover, fault, status, cpu_us, wall_us, peak_bytes), text)

    def _progress_made(self) -> tuple[int, str]:
        """How far the process that has ended came; for a fault of the jail what it said of it."""
        said = self._said()
        stage = _STAGES.get(said, STARTED)
        return stage, said[1:].decode(errors="replace") if stage == STARTED else ""

    def _said(self) -> bytes:
        """What processes that have ended wrote on their way."""
        try:
            return read(self._progress, _REPORT_BYTES)
        except BlockingIOError:
            return b""

    def _command_layers(self, request: Request) -> tuple[Landlock, Seccomp]:
        """The layers for a command, made when the first one of its kind comes."""
        reads = tuple(request.details.get("reads", ()))
        if reads not in self._landlocks:
            self._landlocks[reads] = Landlock(reads)
        grade = seccomp.FORK if request.details.get("may_fork") else seccomp.EXEC
        if grade not in self._filters:
            self._filters[grade] = Seccomp(os.uname().machine, grade)
        return self._landlocks[reads], self._filters[grade]

    def _watch(self, child: Child, request: Request, started_ns: int) -> int:
        """Wait for the process; end it when it passes a limit, or when the host is gone."""
        state = child.wait(_FIRST_LOOK_MS)
        if state == ENDED:
            return wire.KILLED_BY_NOBODY
        cpu_clock = (~child.pid << 3) | 2  # CPUCLOCK_SCHED of another process, linux/posix-timers.h
        patience = _Patience(started_ns, request.wall_kill_s)
        self._kernel_ends.note()
        looks = tables_bytes = 0
        while state == GOES_ON:
            cpu_s = _clock_s(cpu_clock)
            reason = wire.KILLED_BY_NOBODY
            if looks % _LOOKS_PER_LOOK_AT_TABLES == 0:
                tables_bytes = excess_tables_bytes(child.pid)
            looks += 1
            if resident_bytes(child.pid) + tables_bytes > request.memory_bytes:
                reason = wire.KILLED_BY_MEMORY
            elif cpu_s > request.cpu_kill_s:
                reason = wire.KILLED_BY_CPU
            elif patience.is_over(monotonic_ns(), cpu_s):
                reason = wire.KILLED_BY_WALL
            if reason:
                child.kill()
                return reason
            state = child.wait(_LOOK_MS)
        if state == ALONE:
            child.kill()
            os._exit(0)
        return wire.KILLED_BY_NOBODY

    def _end_processes(self) -> None:
        """Kill what a compiler has left running; all of it was handed to this process, a subreaper."""
        for _ in range(_KILL_ROUNDS):
            left = children() - self._siblings
            if not left:
                return
            for pid in left:
                os.kill(pid, _SIGKILL)
            for pid in left:
                os.waitpid(pid, 0)

    def _leftover_process(self) -> bool:
        """Whether a process outlived its test (it would have been handed to this one, a subreaper)."""
        if self._siblings:
            return not children() <= self._siblings
        try:
            waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        return True

    def _sweep(self, uid: int | None, fetched: list[tuple[str, int]], limit_bytes: int) -> tuple[bool, bool]:
        """As the test's own user, fetch what was asked for from the scratch folder and empty it. Whether nothing stays
        there, and whether what was to be fetched has come whole."""
        if uid is None:
            os.chmod(SCRATCH, 0o1777)  # the test's user is the agent's, and may have taken the rights away
        if not listdir(SCRATCH):
            return True, True
        pid = os.fork()
        if pid == 0:
            try:
                become_user(uid)
                for name, fd in fetched:
                    execution.fetch(name, fd, limit_bytes)
                if fetched:
                    os.write(self._report, _FETCHED)
                _remove_below(SCRATCH)
            finally:
                os._exit(0)
        child = Child(pid)
        if child.wait(_SWEEP_S * 1000) != ENDED:
            child.kill()
        child.reap()
        return not os.listdir(SCRATCH), not fetched or self._said() == _FETCHED


def _hide_agent() -> dict[str, types.ModuleType]:
    """Take the agent's own modules out of what programs find; they are returned."""
    packages = (__name__.partition(".")[0], "ctypes", "_ctypes")
    return {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] in packages}


class _Patience:
    """Wall time is for what sleeps: past it a process is ended when it has all but stopped computing, not before.

    How much CPU time a process gets in a second depends on what else runs; that must not decide a verdict.
    """

    def __init__(self, started_ns: int, wall_kill_s: float) -> None:
        self._started_ns = started_ns
        self._deadline_ns = started_ns + int(wall_kill_s * 1e9)
        self._last_ns = started_ns + int(wall_kill_s * wire.WALL_STRETCH * 1e9)
        self._mark_ns = started_ns
        self._mark_cpu_s = 0.0
        self._computes = True

    def is_over(self, now_ns: int, cpu_s: float) -> bool:
        """Whether to end it now. ``cpu_s`` is what it has used so far; to be asked every few milliseconds."""
        span_ns = now_ns - self._mark_ns
        if span_ns >= _SPAN_NS:
            self._computes = (cpu_s - self._mark_cpu_s) * 1e9 > _IDLE_SHARE * span_ns
            self._mark_ns, self._mark_cpu_s = now_ns, cpu_s
        if now_ns <= self._deadline_ns:
            return False
        sleeps = cpu_s * 1e9 < _IDLE_SHARE_OF_ALL * (now_ns - self._started_ns)
        return sleeps or not self._computes or now_ns > self._last_ns


def _clock_s(clock: int) -> float:
    try:
        return time.clock_gettime(clock)
    except OSError:
        return 0.0


def _remove_below(top: str) -> None:
    """Remove all that is below ``top``, directories without rights among it."""
    for entry in os.scandir(top):
        if entry.is_dir(follow_symlinks=False):
            os.chmod(entry.path, 0o700)
            _remove_below(entry.path)
            os.rmdir(entry.path)
        else:
            os.unlink(entry.path)
