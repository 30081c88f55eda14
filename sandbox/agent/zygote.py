"""A process that forks one fresh process for each test, watches it, reaps it and reports raw facts."""

from __future__ import annotations

import gc
import marshal
import os
import select
import signal
import socket
import sys
import time
from typing import Any, NoReturn

from . import calls, program, wire
from .isolation import Landlock, apply_seccomp, become_user, protect_agent, set_limits, set_output_limit
from .seccomp import Filter

# A short test is over before the first look; after that, a look every 10 ms bounds how far one can overshoot.
_FIRST_LOOK_MS, _LOOK_MS = 8, 10
_SWEEP_S = 5.0

# A process computes when it used more than this share of a core over the last span.
_SPAN_NS, _IDLE_SHARE = 500_000_000, 0.02

_USERS_PER_JAIL = 900
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_SCRATCH = "/tmp"

# What a test's process writes on its way: isolated, then compiled; anything else is a fault of the jail, with its text.
_STAGES = {b"I": wire.ISOLATED, b"IC": wire.COMPILED}


class Zygote:
    """Serves one host connection. ``uid_base`` is the first of the users that tests run as, or None where this jail
    cannot switch users; then seccomp and Landlock alone keep tests apart."""

    def __init__(self, host: socket.socket, landlock: Landlock, syscall_filter: Filter, uid_base: int | None) -> None:
        self._host = host
        self._landlock = landlock
        self._filter = syscall_filter
        self._uid_base = uid_base
        self._tests = 0
        self._siblings: set[int] = set()
        self._names: dict[str, Any] = {}

    def serve(self) -> None:
        """Answer requests until the host goes away."""
        gc.collect()
        gc.freeze()
        gc.disable()
        while True:
            message, fds, _, _ = socket.recv_fds(self._host, wire.MAX_MESSAGE_BYTES, 5)
            if not message:
                return
            request = wire.Request.unpack(message)
            if request.operation == wire.FORK:
                self._fork_zygote(fds[0])
            else:
                self._host.send(self._test(request, fds).pack())

    def _fork_zygote(self, fd: int) -> None:
        """Start the zygote that has the call-based names imported; it answers on its own connection."""
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
        self._names = calls.prelude()
        self._host.send(wire.Reply(wire.ISOLATED, 0, False, False, 0, 0, 0, 0).pack())
        self.serve()
        os._exit(0)

    def _test(self, request: wire.Request, fds: list[int]) -> wire.Reply:
        self._tests += 1
        uid = None if self._uid_base is None else self._uid_base + self._tests % _USERS_PER_JAIL
        progress, report = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        started_ns = time.monotonic_ns()
        pid = os.fork()
        if pid == 0:
            self._become_test(request, fds, report, uid)
        os.close(report)
        for fd in fds:
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
        leftover = self._leftover_process() or not self._sweep(uid)
        peak = usage.ru_maxrss * 1024
        return wire.Reply(stage, killed_by, leftover, fault, status, cpu_us, wall_us, peak, text)

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

    def _leftover_process(self) -> bool:
        """Whether a process outlived its test (it would have been handed to this one, a subreaper)."""
        if self._siblings:
            with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as children:
                return not {int(pid) for pid in children.read().split()} <= self._siblings
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        return True

    def _sweep(self, uid: int | None) -> bool:
        """Empty the scratch directory, as the test's own user. False when something stays."""
        if uid is None:
            os.chmod(_SCRATCH, 0o1777)  # the test's user is the agent's, and may have taken the rights away
        if not os.listdir(_SCRATCH):
            return True
        pid = os.fork()
        if pid == 0:
            try:
                become_user(uid)
                _remove_below(_SCRATCH)
            finally:
                os._exit(0)
        pidfd = os.pidfd_open(pid)
        if not select.select([pidfd], [], [], _SWEEP_S)[0]:
            _kill(pidfd)
        os.waitpid(pid, 0)
        os.close(pidfd)
        return not os.listdir(_SCRATCH)

    def _become_test(self, request: wire.Request, fds: list[int], report: int, uid: int | None) -> NoReturn:
        """In the forked process: isolate, load or compile the code, run it. Never returns."""
        try:
            program_fd, compiled_fd, stdin_fd, stdout_fd, stderr_fd = fds
            is_call = request.operation == wire.CALL
            text = _read_all(compiled_fd if request.has_compiled else program_fd)
            arguments = _read_all(stdin_fd) if is_call else b""
            own_file = _read_all(program_fd) if program.FILE_VARIABLE in text else b""
            null_fd = os.open("/dev/null", os.O_RDWR) if is_call else -1
            os.dup2(null_fd if is_call else stdin_fd, 0)
            os.dup2(null_fd if is_call else stdout_fd, 1)
            os.dup2(stderr_fd, 2)
            _close_all_but({report, compiled_fd, self._landlock.fd} | ({stdout_fd} if is_call else set()))
            os.setsid()
            set_limits(int(request.cpu_kill_s) + 2)
            become_user(uid)
            self._landlock.apply()
            apply_seccomp(self._filter)
            if own_file:  # most programs do not ask for it, and what is written must be swept
                with open(program.FILE_NAME, "wb") as file:
                    file.write(own_file)
        except BaseException as error:
            os.write(report, f"F{type(error).__name__}: {error}".encode())
            os._exit(1)
        os.write(report, b"I")
        try:
            code = _load(text, compiled_fd, request.has_compiled)
        except OSError as error:
            os.write(report, f": the compiled code could not be kept: {error}".encode())
            os._exit(1)
        os.write(report, b"C")
        os.close(report)
        os.close(compiled_fd)
        set_output_limit(request.output_bytes)  # only now: the compiled code may be longer than the program's output
        _forget_agent()
        gc.enable()
        if is_call:
            calls.run(code, self._names, request.entry_point, arguments, stdout_fd)
        program.run(code)


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


def _load(text: bytes, compiled_fd: int, is_compiled: bool) -> Any:
    """The code object. A program that does not compile ends the process here, before any code of its own."""
    if is_compiled:
        return marshal.loads(text)
    try:
        code = program.compile_source(text)
        data = memoryview(marshal.dumps(code))
        while data:
            data = data[os.write(compiled_fd, data) :]
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        sys.excepthook(type(error), error, None)
        sys.stderr.flush()
        os._exit(1)
    return code


def _forget_agent() -> None:
    package = __name__.partition(".")[0]
    for name in [n for n in sys.modules if n.partition(".")[0] in (package, "ctypes", "_ctypes")]:
        del sys.modules[name]


def _close_all_but(kept: set[int]) -> None:
    start = 3
    for fd in sorted(kept - {-1}):
        os.closerange(start, fd)
        start = fd + 1
    os.closerange(start, 4096)


def _read_all(fd: int) -> bytes:
    return os.pread(fd, os.fstat(fd).st_size, 0)


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
