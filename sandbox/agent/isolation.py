"""The layers that a test's process puts on itself before the program's code: Landlock, seccomp, user, limits.

Numbers: linux/landlock.h, linux/prctl.h; the three Landlock calls have the same number on every architecture.
"""

from __future__ import annotations

import ctypes
import os
import resource
import stat

from .seccomp import Filter

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
_libc.syscall.restype = ctypes.c_long


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("access", ctypes.c_uint64), ("fd", ctypes.c_int32))


def _prctl(option: int, *arguments: object) -> None:
    padded = list(arguments) + [0] * (4 - len(arguments))
    values = [ctypes.c_ulong(v) if isinstance(v, int) else v for v in padded]
    if _libc.prctl(option, *values) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"prctl({option}): {os.strerror(code)}")


def protect_agent() -> None:
    """Make the agent opaque to its tests (no ptrace, no /proc entries), and the reaper of what they leave."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    _prctl(_PR_SET_DUMPABLE, 0)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


class Landlock:
    """A ruleset made once and put on each test: read the system and Python, write below ``/tmp``, no TCP, no signals
    to others. ``reads`` are further paths to read. ``abi`` is 0 where the kernel has no Landlock; then :meth:`apply`
    does nothing."""

    def __init__(self, reads: tuple[str, ...] = ()) -> None:
        self._reads = reads
        self.abi = max(0, int(_libc.syscall(_LANDLOCK_CREATE, None, 0, _LANDLOCK_VERSION_FLAG)))
        self.fd = self._build() if self.abi else -1

    def _build(self) -> int:
        handled = (1 << 13) - 1
        handled |= _REFER if self.abi >= 2 else 0
        handled |= _TRUNCATE if self.abi >= 3 else 0
        handled |= _IOCTL_DEV if self.abi >= 5 else 0
        ruleset = _Ruleset(handled, _NET_TCP if self.abi >= 4 else 0, _SCOPES if self.abi >= 6 else 0)
        size = 24 if self.abi >= 6 else 16 if self.abi >= 4 else 8
        fd = int(_libc.syscall(_LANDLOCK_CREATE, ctypes.byref(ruleset), ctypes.c_size_t(size), 0))
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
            if _libc.syscall(_LANDLOCK_ADD_RULE, ruleset_fd, _RULE_PATH_BENEATH, ctypes.byref(rule), 0) != 0:
                raise OSError(ctypes.get_errno(), f"landlock rule for {path}")
        finally:
            os.close(fd)

    def apply(self, fd: int) -> None:
        """Restrict this process for good, and close ``fd``, its own descriptor of the ruleset. ``OSError`` when the
        kernel refuses."""
        if not self.abi:
            return
        if _libc.syscall(_LANDLOCK_RESTRICT, fd, 0) != 0:
            raise OSError(ctypes.get_errno(), "landlock_restrict_self")
        os.close(fd)


def become_user(uid: int | None) -> None:
    """Take the user and group ``uid`` for good (None: keep the jail's only user) and be readable to oneself again:
    ``/dev/stdin`` is below /proc/self."""
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    _prctl(_PR_SET_DUMPABLE, 1)


def apply_seccomp(syscall_filter: Filter) -> None:
    """Put the filter on this process. Raises ``OSError`` when the kernel refuses."""
    program = _FilterProgram(syscall_filter.length, syscall_filter.for_pid(os.getpid()))
    _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program))


def set_output_limit(output_bytes: int) -> None:
    """The size beyond which no file of this process grows, its standard output among them."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (output_bytes, output_bytes))


def set_limits(cpu_s: int, descriptors: int = 64) -> None:
    """Resource limits of one test: CPU as a last guard, descriptors, threads, no core."""
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
    resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
    resource.setrlimit(resource.RLIMIT_NPROC, (64, 64))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def limit_address_space(size_bytes: int) -> None:
    """The address space that each process of a test may have."""
    resource.setrlimit(resource.RLIMIT_AS, (size_bytes, size_bytes))
