"""A process that forks one fresh process for each test, watches it, reaps it and reports raw facts."""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import time
from typing import Any, NoReturn

from . import execution, preludes, seccomp, wire
from .isolation import Landlock, become_user, protect_agent
from .python_test import run as run_python
from .seccomp import Filter

# A short test is over before the first look; after that, a look every 10 ms bounds how far one can overshoot.
_FIRST_LOOK_MS, _LOOK_MS = 8, 10
_SWEEP_S = 5.0
_KILL_ROUNDS = 100

# A process computes when it used more than this share of a core over the last span.
_SPAN_NS, _IDLE_SHARE = 500_000_000, 0.02

_USERS_PER_JAIL = 900
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")

# What a test's process writes on its way: isolated, then loaded; anything else is a fault of the jail, with its text.
_STAGES = {b"I": wire.ISOLATED, b"IC": wire.LOADED}


class Zygote:
    """Serves one host connection. ``uid_base`` is the first of the users that tests run as, or None where this jail
    cannot switch users; then seccomp and Landlock alone keep tests apart."""

    def __init__(self, host: socket.socket, landlock: Landlock, syscall_filter: Filter, uid_base: int | None) -> None:
        self._host = host
        self._landlock = landlock
        self._filter = syscall_filter
        self._uid_base = uid_base
        self._landlocks: dict[tuple[str, ...], Landlock] = {(): landlock}
        self._filters: dict[int, Filter] = {}
        self._tests = 0
        self._siblings: set[int] = set()
        self._names: dict[str, Any] = {}
        self._perform: preludes.Perform | None = None

    def serve(self) -> None:
        """Answer requests until the host goes away."""
        gc.collect()
        gc.freeze()
        gc.disable()
        while True:
            message, fds, _, _ = socket.recv_fds(self._host, wire.MAX_MESSAGE_BYTES, wire.MAX_FDS)
            if not message:
                return
            request = wire.Request.unpack(message)
            if request.operation == wire.FORK:
                self._fork_zygote(fds[0], request.details["name"])
            else:
                self._host.send(self._test(request, fds).pack())

    def _fork_zygote(self, fd: int, name: str) -> None:
        """Start the zygote of that name; it answers on its own connection."""
        pid = os.fork()
        if pid:
            os.close(fd)
            self._siblings.add(pid)
            return
        self._host.close()
        self._host = socket.socket(fileno=fd)
        self._siblings = set()
        protect_agent()  # what a fork does not hand on: being the reaper of what tests leave
        gc.unfreeze()
        self._names, self._perform = preludes.prepare(name)
        self._host.send(wire.Reply(wire.ISOLATED, 0, False, False, 0, 0, 0, 0).pack())
        self.serve()
        os._exit(0)

    def _test(self, request: wire.Request, fds: list[int]) -> wire.Reply:
        self._tests += 1
        uid = None if self._uid_base is None else self._uid_base + self._tests % _USERS_PER_JAIL
        layers = self._command_layers(request) if request.operation == wire.EXEC else None
        progress, report = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        started_ns = time.monotonic_ns()
        pid = os.fork()
        if pid == 0:
            self._become_test(request, fds, report, uid, layers)
        os.close(report)
        fetched = request.details.get("fetch", {})
        for fd in fds if not fetched else ():
            os.close(fd)
        pidfd = os.pidfd_open(pid)
        killed_by = self._watch(pid, pidfd, request, started_ns)
        _, status, usage = os.wait4(pid, 0)
        wall_us = (time.monotonic_ns() - started_ns) // 1000
        os.close(pidfd)
        said = os.read(progress, 1024)
        os.close(progress)
        stage = _STAGES.get(said, wire.STARTED)
        fault = stage == wire.STARTED
        text = said[1:].decode(errors="replace") if fault else ""
        cpu_us = int((usage.ru_utime + usage.ru_stime) * 1e6)
        if request.details.get("may_fork"):
            self._end_processes()
        leftover = self._leftover_process()
        leftover |= not self._sweep(uid, [(name, fds[index]) for name, index in fetched.items()], request.output_bytes)
        for fd in fds if fetched else ():
            os.close(fd)
        peak = usage.ru_maxrss * 1024
        return wire.Reply(stage, killed_by, leftover, fault, status, cpu_us, wall_us, peak, text)

    def _command_layers(self, request: wire.Request) -> tuple[Landlock, Filter]:
        """The layers for a command, made when the first one of its kind comes."""
        reads = tuple(request.details.get("reads", ()))
        if reads not in self._landlocks:
            self._landlocks[reads] = Landlock(reads)
        grade = seccomp.FORK if request.details.get("may_fork") else seccomp.EXEC
        if grade not in self._filters:
            self._filters[grade] = Filter(os.uname().machine, grade)
        return self._landlocks[reads], self._filters[grade]

    def _become_test(
        self,
        request: wire.Request,
        fds: list[int],
        report: int,
        uid: int | None,
        layers: tuple[Landlock, Filter] | None,
    ) -> NoReturn:
        """In the forked process: what was asked for, in isolation."""
        if layers is not None:
            execution.run(request, fds, report, uid, *layers)
        run_python(request, fds, report, uid, (self._landlock, self._filter), self._names, self._perform)

    def _watch(self, pid: int, pidfd: int, request: wire.Request, started_ns: int) -> int:
        """Wait for the process; end it when it passes a limit, or when the host is gone."""
        poller = select.poll()
        poller.register(pidfd, select.POLLIN)
        poller.register(self._host, 0)
        cpu_clock = (~pid << 3) | 2  # CPUCLOCK_SCHED of another process, linux/posix-timers.h
        patience = _Patience(started_ns, request.wall_kill_s)
        look_ms = _FIRST_LOOK_MS
        while True:
            for fd, _event in poller.poll(look_ms):
                if fd == pidfd:
                    return wire.KILLED_BY_NOBODY
                _kill(pidfd)
                os._exit(0)
            look_ms = _LOOK_MS
            cpu_s = _clock_s(cpu_clock)
            reason = wire.KILLED_BY_NOBODY
            if _resident_bytes(pid) > request.memory_bytes:
                reason = wire.KILLED_BY_MEMORY
            elif cpu_s > request.cpu_kill_s:
                reason = wire.KILLED_BY_CPU
            elif patience.is_over(time.monotonic_ns(), cpu_s):
                reason = wire.KILLED_BY_WALL
            if reason:
                _kill(pidfd)
                return reason

    def _end_processes(self) -> None:
        """Kill what a compiler has left running; all of it was handed to this process, a subreaper."""
        for _ in range(_KILL_ROUNDS):
            left = self._children() - self._siblings
            if not left:
                return
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            for pid in left:
                os.waitpid(pid, 0)

    def _children(self) -> set[int]:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as children:
            return {int(pid) for pid in children.read().split()}

    def _leftover_process(self) -> bool:
        """Whether a process outlived its test (it would have been handed to this one, a subreaper)."""
        if self._siblings:
            return not self._children() <= self._siblings
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        return True

    def _sweep(self, uid: int | None, fetched: list[tuple[str, int]], limit_bytes: int) -> bool:
        """As the test's own user, fetch what was asked for from the scratch folder and empty it. False when something
        stays."""
        if uid is None:
            os.chmod(execution.SCRATCH, 0o1777)  # the test's user is the agent's, and may have taken the rights away
        if not os.listdir(execution.SCRATCH):
            return True
        pid = os.fork()
        if pid == 0:
            try:
                become_user(uid)
                for name, fd in fetched:
                    execution.fetch(name, fd, limit_bytes)
                _remove_below(execution.SCRATCH)
            finally:
                os._exit(0)
        pidfd = os.pidfd_open(pid)
        if not select.select([pidfd], [], [], _SWEEP_S)[0]:
            _kill(pidfd)
        os.waitpid(pid, 0)
        os.close(pidfd)
        return not os.listdir(execution.SCRATCH)


class _Patience:
    """Wall time is for what sleeps: past it a process is ended when it has all but stopped computing, not before.

    How much CPU time a process gets in a second depends on what else runs; that must not decide a verdict.
    """

    def __init__(self, started_ns: int, wall_kill_s: float) -> None:
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
        return now_ns > self._last_ns or (now_ns > self._deadline_ns and not self._computes)


def _kill(pidfd: int) -> None:
    try:
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    except ProcessLookupError:
        return  # it ended by itself in this moment


def _resident_bytes(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", "rb") as statm:
            return int(statm.read().split()[1]) * _PAGE_BYTES
    except (OSError, IndexError):
        return 0


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
