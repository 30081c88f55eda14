"""The layers that a test's process puts on itself before the program's code: Landlock, seccomp, user, limits.

Numbers: linux/landlock.h, linux/prctl.h; the three Landlock calls have the same number on every architecture.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
from os import close, getpid, setgroups, setresgid, setresuid
from resource import RLIMIT_AS, RLIMIT_CORE, RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_NPROC, setrlimit

from .seccomp import THREADS, Filter

_PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 4, 22, 36, 38
_SECCOMP_MODE_FILTER = 2
_LANDLOCK_CREATE, _LANDLOCK_ADD_RULE, _LANDLOCK_RESTRICT = 444, 445, 446
_LANDLOCK_VERSION_FLAG = 1
_RULE_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_REG = 1 << 4, 1 << 5, 1 << 7, 1 << 8
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_NET_TCP = 0b11
_SCOPES = 0b11  # abstract sockets, signals

_READ_ONLY_TREES = ("/usr", "/lib", "/lib64", "/bin")
_READ_ONLY_FILES = ("/etc/ld.so.cache", "/etc/localtime", "/dev/zero", "/dev/random", "/dev/urandom")

_libc = ctypes.CDLL(None, use_errno=True)
_call_prctl = _libc.prctl
_call = _libc.syscall
_call.restype = ctypes.c_long


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("access", ctypes.c_uint64), ("fd", ctypes.c_int32))


def _prctl_arguments(option: int, *arguments: object) -> tuple[object, ...]:
    """Made beforehand where a test makes the call: what a fresh process does not touch need not be copied for it."""
    padded = (*arguments, *(0,) * (4 - len(arguments)))
    return option, *(ctypes.c_ulong(value) if isinstance(value, int) else value for value in padded)


def _prctl(arguments: tuple[object, ...]) -> None:
    if _call_prctl(*arguments) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"prctl({arguments[0]}): {os.strerror(code)}")


_BE_READABLE = _prctl_arguments(_PR_SET_DUMPABLE, 1)


def protect_agent() -> None:
    """Make the agent opaque to its tests (no ptrace, no /proc entries), and the reaper of what they leave. No process
    from here on gains rights or leaves a core."""
    _prctl(_prctl_arguments(_PR_SET_NO_NEW_PRIVS, 1))
    _prctl(_prctl_arguments(_PR_SET_DUMPABLE, 0))
    setrlimit(RLIMIT_CORE, (0, 0))
    try:
        _prctl(_prctl_arguments(_PR_SET_CHILD_SUBREAPER, 1))
    except OSError as error:
        if error.errno != errno.EINVAL:  # gVisor has it for a container's first process alone
            raise


class Landlock:
    """A ruleset made once and put on each test: read the system and Python, write below ``/tmp``, no TCP, no signals
    to others. ``reads`` are further paths to read. ``abi`` is 0 where the kernel has no Landlock; then :meth:`apply`
    does nothing."""

    def __init__(self, reads: tuple[str, ...] = ()) -> None:
        self._reads = reads
        self.abi = max(0, int(_call(_LANDLOCK_CREATE, None, 0, _LANDLOCK_VERSION_FLAG)))
        self.fd = self._build() if self.abi else -1

    def _build(self) -> int:
        handled = (1 << 13) - 1
        handled |= _REFER if self.abi >= 2 else 0
        handled |= _TRUNCATE if self.abi >= 3 else 0
        handled |= _IOCTL_DEV if self.abi >= 5 else 0
        ruleset = _Ruleset(handled, _NET_TCP if self.abi >= 4 else 0, _SCOPES if self.abi >= 6 else 0)
        size = 24 if self.abi >= 6 else 16 if self.abi >= 4 else 8
        fd = int(_call(_LANDLOCK_CREATE, ctypes.byref(ruleset), ctypes.c_size_t(size), 0))
        if fd < 0:
            self.abi = 0
            return -1
        read = _READ_FILE | _READ_DIR
        scratch = read | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _REFER | _TRUNCATE
        for path in (*_READ_ONLY_TREES, *self._reads):
            self._allow(fd, path, (read | _EXECUTE) & handled)
        for path in _READ_ONLY_FILES:
            self._allow(fd, path, _READ_FILE)
        self._allow(fd, "/dev/null", (_READ_FILE | _WRITE_FILE | _TRUNCATE) & handled)
        self._allow(fd, "/tmp", scratch & handled)
        return fd

    @staticmethod
    def _allow(ruleset_fd: int, path: str, access: int) -> None:
        try:
            fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            return
        try:
            if not stat.S_ISDIR(os.fstat(fd).st_mode):
                access &= ~_READ_DIR  # the kernel refuses a rule about entries for what has none
            rule = _PathRule(access, fd)
            if _call(_LANDLOCK_ADD_RULE, ruleset_fd, _RULE_PATH_BENEATH, ctypes.byref(rule), 0) != 0:
                raise OSError(ctypes.get_errno(), f"landlock rule for {path}")
        finally:
            os.close(fd)

    def apply(self, fd: int) -> None:
        """Restrict this process for good, and close ``fd``, its own descriptor of the ruleset. ``OSError`` when the
        kernel refuses."""
        if not self.abi:
            return
        if _call(_LANDLOCK_RESTRICT, fd, 0) != 0:
            raise OSError(ctypes.get_errno(), "landlock_restrict_self")
        close(fd)


def become_user(uid: int | None) -> None:
    """Take the user and group ``uid`` for good (None: keep the jail's only user) and be readable to oneself again:
    ``/dev/stdin`` is below /proc/self."""
    if uid is not None:
        setgroups([])
        setresgid(uid, uid, uid)
        setresuid(uid, uid, uid)
    _prctl(_BE_READABLE)


class Seccomp:
    """The system-call filter of one grade, in the form that the kernel takes; see :mod:`agent.seccomp`."""

    def __init__(self, machine: str, grade: int = THREADS) -> None:
        """``machine`` as ``os.uname().machine`` gives it. Raises ``KeyError`` for one that has no table."""
        made = Filter(machine, grade)
        self._program = bytearray(made.program)
        self._pid = slice(made.pid_at, made.pid_at + 4)
        self._in_place = (ctypes.c_char * len(self._program)).from_buffer(self._program)
        structure = _FilterProgram(made.length, ctypes.addressof(self._in_place))
        self._arguments = _prctl_arguments(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(structure))

    def apply(self) -> None:
        """Put the filter on this process. Raises ``OSError`` when the kernel refuses."""
        self._program[self._pid] = getpid().to_bytes(4, "little")
        _prctl(self._arguments)


def set_output_limit(output_bytes: int) -> None:
    """The size beyond which no file of this process grows, its standard output among them."""
    setrlimit(RLIMIT_FSIZE, (output_bytes, output_bytes))


def set_limits(cpu_s: int, descriptors: int = 64) -> None:
    """Resource limits of one test: CPU as a last guard, descriptors, threads."""
    setrlimit(RLIMIT_CPU, (cpu_s, cpu_s + 1))
    setrlimit(RLIMIT_NOFILE, (descriptors, descriptors))
    setrlimit(RLIMIT_NPROC, (64, 64))


def limit_address_space(size_bytes: int) -> None:
    """The address space that each process of a test may have."""
    setrlimit(RLIMIT_AS, (size_bytes, size_bytes))
