"""A seccomp filter that lets a test compute, read, write and start threads, and nothing else.

The filter is an allow-list: what is not named gives ``EPERM`` to the program, so that it ends by its own error. Three
grades of it differ in what may be started: threads (Python programs), a new program in place of this one (commands of
other languages), processes (compilers; they stay without namespaces and end with their test).
``kill``, ``tgkill`` and ``prlimit64`` pass only for the process itself, so the filter holds its pid: where a jail
cannot switch users, the agent is a process of the same user. Memory that no mapping shows (``memfd_create``, shared
anonymous mappings) is not to be had, since the agent could not count it. Sockets come in connected pairs alone, and
``setsockopt``, with which one could hand programs of one's own to the kernel (``SO_ATTACH_FILTER``), is not named.
The number of a call is looked up by halving: a kernel tries the filter on every number when it is put on a process, and
what it costs to put it on counts for each test.
Format: linux/filter.h, linux/seccomp.h; syscall numbers: the kernel's tables for x86_64 and aarch64.
"""

from __future__ import annotations

import struct

_ALLOW = 0x7FFF0000
_KILL_PROCESS = 0x80000000
_ERRNO = 0x00050000
_EPERM, _ENOSYS, _ENOTTY = 1, 38, 25

_LD, _AND, _JEQ, _JGE, _JSET, _RET = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
_INSTRUCTION_BYTES, _VALUE_AT, _LONGEST_JUMP = 8, 4, 255
_NR, _ARCH = 0, 4
_CLONE_THREAD = 0x00010000
# CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET (linux/sched.h)
_CLONE_NAMESPACES = 0x80 | 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
_X32_BIT = 0x40000000

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# name: (x86_64, aarch64); None where the architecture has no such call.
_ALLOWED: dict[str, tuple[int | None, int | None]] = {
    "read": (0, 63),
    "write": (1, 64),
    "open": (2, None),
    "close": (3, 57),
    "stat": (4, None),
    "fstat": (5, 80),
    "lstat": (6, None),
    "poll": (7, None),
    "lseek": (8, 62),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "brk": (12, 214),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "pread64": (17, 67),
    "pwrite64": (18, 68),
    "readv": (19, 65),
    "writev": (20, 66),
    "access": (21, None),
    "pipe": (22, None),
    "select": (23, None),
    "sched_yield": (24, 124),
    "mremap": (25, 216),
    "msync": (26, 227),
    "mincore": (27, 232),
    "madvise": (28, 233),
    "dup": (32, 23),
    "dup2": (33, None),
    "pause": (34, None),
    "nanosleep": (35, 101),
    "getitimer": (36, 102),
    "alarm": (37, None),
    "setitimer": (38, 103),
    "getpid": (39, 172),
    "sendfile": (40, 71),
    "sendto": (44, 206),
    "recvfrom": (45, 207),
    "shutdown": (48, 210),
    "getsockname": (51, 204),
    "getpeername": (52, 205),
    "socketpair": (53, 199),
    "getsockopt": (55, 209),
    "exit": (60, 93),
    "uname": (63, 160),
    "flock": (73, 32),
    "fsync": (74, 82),
    "fdatasync": (75, 83),
    "truncate": (76, 45),
    "ftruncate": (77, 46),
    "getdents": (78, None),
    "getcwd": (79, 17),
    "chdir": (80, 49),
    "fchdir": (81, 50),
    "rename": (82, None),
    "mkdir": (83, None),
    "rmdir": (84, None),
    "creat": (85, None),
    "unlink": (87, None),
    "readlink": (89, None),
    "chmod": (90, None),
    "fchmod": (91, 52),
    "umask": (95, 166),
    "gettimeofday": (96, 169),
    "getrlimit": (97, 163),
    "getrusage": (98, 165),
    "sysinfo": (99, 179),
    "times": (100, 153),
    "getuid": (102, 174),
    "getgid": (104, 176),
    "geteuid": (107, 175),
    "getegid": (108, 177),
    "getppid": (110, 173),
    "getpgrp": (111, None),
    "getgroups": (115, 158),
    "getresuid": (118, 148),
    "getresgid": (120, 150),
    "getpgid": (121, 155),
    "getsid": (124, 156),
    "rt_sigpending": (127, 136),
    "rt_sigtimedwait": (128, 137),
    "rt_sigsuspend": (130, 133),
    "sigaltstack": (131, 132),
    "statfs": (137, 43),
    "fstatfs": (138, 44),
    "getpriority": (140, 141),
    "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120),
    "mlock": (149, 228),
    "munlock": (150, 229),
    "arch_prctl": (158, None),
    "gettid": (186, 178),
    "time": (201, None),
    "futex": (202, 98),
    "sched_getaffinity": (204, 123),
    "epoll_create": (213, None),
    "getdents64": (217, 61),
    "set_tid_address": (218, 96),
    "restart_syscall": (219, 128),
    "timer_create": (222, 107),
    "timer_settime": (223, 110),
    "timer_gettime": (224, 108),
    "timer_delete": (226, 111),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "exit_group": (231, 94),
    "epoll_wait": (232, None),
    "epoll_ctl": (233, 21),
    "openat": (257, 56),
    "mkdirat": (258, 34),
    "newfstatat": (262, 79),
    "unlinkat": (263, 35),
    "renameat": (264, 38),
    "readlinkat": (267, 78),
    "fchmodat": (268, 53),
    "faccessat": (269, 48),
    "pselect6": (270, 72),
    "ppoll": (271, 73),
    "set_robust_list": (273, 99),
    "get_robust_list": (274, 100),
    "utimensat": (280, 88),
    "epoll_pwait": (281, 22),
    "timerfd_create": (283, 85),
    "fallocate": (285, 47),
    "timerfd_settime": (286, 86),
    "timerfd_gettime": (287, 87),
    "eventfd2": (290, 19),
    "epoll_create1": (291, 20),
    "dup3": (292, 24),
    "pipe2": (293, 59),
    "preadv": (295, 69),
    "pwritev": (296, 70),
    "getcpu": (309, 168),
    "renameat2": (316, 276),
    "getrandom": (318, 278),
    "membarrier": (324, 283),
    "copy_file_range": (326, 285),
    "preadv2": (327, 286),
    "pwritev2": (328, 287),
    "statx": (332, 291),
    "rseq": (334, 293),
    "close_range": (436, 436),
    "openat2": (437, 437),
    "faccessat2": (439, 439),
    "epoll_pwait2": (441, 441),
    "futex_waitv": (449, 449),
}

# What a command needs beside: to start once, and what other languages' runtimes ask for.
_EXEC: dict[str, tuple[int | None, int | None]] = {
    "execve": (59, 221),
    "execveat": (322, 281),
}

# What a compiler's driver needs beside: to start its parts and wait for them, and to tidy up.
_FORK: dict[str, tuple[int | None, int | None]] = {
    "fork": (57, None),
    "vfork": (58, None),
    "wait4": (61, 260),
    "waitid": (247, 95),
    "fadvise64": (221, 223),
    "link": (86, None),
    "symlink": (88, None),
    "linkat": (265, 37),
    "symlinkat": (266, 36),
}

# Grades of the filter, by what a process may start: threads, another program in its own place, processes.
THREADS, EXEC, FORK = 0, 1, 2

_CLONE = {"x86_64": 56, "aarch64": 220}
_CLONE3 = 435
_IOCTL = {"x86_64": 16, "aarch64": 29}
_PRCTL = {"x86_64": 157, "aarch64": 167}
_FCNTL = {"x86_64": 72, "aarch64": 25}
_MMAP = {"x86_64": 9, "aarch64": 222}
_PRLIMIT = {"x86_64": 302, "aarch64": 261}
_OWN_PID_ONLY = {"x86_64": (62, 234), "aarch64": (129, 131)}  # kill, tgkill

# TCGETS (isatty), TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX; any other request says "not a terminal".
_IOCTL_REQUESTS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
_PRCTL_NAMES = (15, 16)  # PR_SET_NAME, PR_GET_NAME
# F_SETOWN, F_SETSIG, F_SETOWN_EX: a signal to another process by way of a descriptor. F_SETPIPE_SZ: memory of the
# kernel's that nobody counts, and more in a pipe than agent.pipes reckons with.
_FCNTL_REFUSED = (8, 10, 15, 1031)
_SHARED_ANONYMOUS = 0x21  # MAP_SHARED | MAP_ANONYMOUS


# Where the search for a number ends: what is returned, or the place of a look at the call's arguments.
_ALLOWING, _REFUSING, _KILLING = "allow", "refuse", "kill"
_NO_CALL, _NO_TERMINAL = "no call", "no terminal"
_OWN_PID = "own pid"
_RETURNS = {
    _ALLOWING: _ALLOW,
    _REFUSING: _ERRNO | _EPERM,
    _NO_CALL: _ERRNO | _ENOSYS,
    _NO_TERMINAL: _ERRNO | _ENOTTY,
    _KILLING: _KILL_PROCESS,
}


class _Assembler:
    """Instructions with jumps to names; a name may be given to a place after the jumps to it, and only then."""

    def __init__(self) -> None:
        self._operations: list[tuple[int, int, str, str]] = []
        self._places: dict[str, int] = {}

    def add(self, code: int, value: int, if_true: str = "", if_false: str = "") -> None:
        """One more instruction; "" goes on with the next."""
        self._operations.append((code, value, if_true, if_false))

    def name(self, place: str) -> None:
        """Give a name to the next instruction."""
        self._places[place] = len(self._operations)

    def place(self, name: str) -> int:
        """The index of the instruction of that name."""
        return self._places[name]

    def program(self) -> bytes:
        """All of it as an array of ``struct sock_filter``."""
        return b"".join(
            struct.pack("<HBBI", code, self._distance(at, if_true), self._distance(at, if_false), value)
            for at, (code, value, if_true, if_false) in enumerate(self._operations)
        )

    def _distance(self, at: int, name: str) -> int:
        distance = self._places[name] - at - 1 if name else 0
        if not 0 <= distance <= _LONGEST_JUMP:
            raise ValueError(f"no jump of {distance} to {name}")
        return distance


class Filter:
    """The filter for one architecture and grade: ``program`` is an array of ``length`` times ``struct sock_filter``, in
    which the pid of the process that it is for, as that sees itself, has to be written at byte ``pid_at`` (32 bits)."""

    def __init__(self, machine: str, grade: int = THREADS) -> None:
        """``machine`` as ``os.uname().machine`` gives it. Raises ``KeyError`` for one that has no table."""
        assembler = _Assembler()
        assembler.add(_LD, _ARCH)
        assembler.add(_JEQ, _AUDIT_ARCH[machine], "", _KILLING)
        assembler.add(_LD, _NR)
        if machine == "x86_64":
            assembler.add(_JGE, _X32_BIT, _KILLING)
        _search(assembler, _spans(_ends(machine, grade)))
        _look_at_arguments(assembler, grade)
        for name, value in _RETURNS.items():
            assembler.name(name)
            assembler.add(_RET, value)
        self.program = assembler.program()
        self.length = len(self.program) // _INSTRUCTION_BYTES
        self.pid_at = assembler.place(_OWN_PID) * _INSTRUCTION_BYTES + _VALUE_AT


def _ends(machine: str, grade: int) -> dict[int, str]:
    """Where the search for each number that is not refused ends."""
    column = {"x86_64": 0, "aarch64": 1}[machine]
    ends = {
        number: _ALLOWING
        for table in (_ALLOWED, _EXEC, _FORK)[: grade + 1]
        for numbers in table.values()
        if (number := numbers[column]) is not None
    }
    looks = {"clone": _CLONE, "ioctl": _IOCTL, "prctl": _PRCTL, "fcntl": _FCNTL, "mmap": _MMAP, "prlimit": _PRLIMIT}
    ends |= {numbers[machine]: name for name, numbers in looks.items()}
    ends |= {number: "own" for number in _OWN_PID_ONLY[machine]}
    return ends | {_CLONE3: _NO_CALL}


def _spans(ends: dict[int, str]) -> list[tuple[int, str]]:
    """The same as spans of numbers: the first of each, in order, and where the search for all of it ends."""
    spans: list[tuple[int, str]] = []
    for number in sorted({0, *ends, *(number + 1 for number in ends)}):
        end = ends.get(number, _REFUSING)
        if not spans or end != spans[-1][1]:
            spans.append((number, end))
    return spans


def _search(assembler: _Assembler, spans: list[tuple[int, str]]) -> None:
    """Compare with the first number of the upper half, and go on in one half or the other."""
    middle = len(spans) // 2
    lower, upper = spans[:middle], spans[middle:]
    first = upper[0][0]
    assembler.add(
        _JGE, first, upper[0][1] if len(upper) == 1 else f"from {first}", lower[0][1] if len(lower) == 1 else ""
    )
    if len(lower) > 1:
        _search(assembler, lower)
    if len(upper) > 1:
        assembler.name(f"from {first}")
        _search(assembler, upper)


def _look_at_arguments(assembler: _Assembler, grade: int) -> None:
    """The ends of the search at which an argument decides."""
    assembler.name("clone")
    assembler.add(_LD, _argument(0))
    if grade < FORK:  # threads alone, or any process that stays in its namespaces
        assembler.add(_JSET, _CLONE_THREAD, _ALLOWING, _REFUSING)
    else:
        assembler.add(_JSET, _CLONE_NAMESPACES, _REFUSING, _ALLOWING)
    _compare(assembler, "ioctl", 1, _IOCTL_REQUESTS, _ALLOWING, _NO_TERMINAL)
    _compare(assembler, "prctl", 0, _PRCTL_NAMES, _ALLOWING, _REFUSING)
    _compare(assembler, "fcntl", 1, _FCNTL_REFUSED, _REFUSING, _ALLOWING)
    assembler.name("mmap")
    assembler.add(_LD, _argument(3))
    assembler.add(_AND, _SHARED_ANONYMOUS)
    assembler.add(_JEQ, _SHARED_ANONYMOUS, _REFUSING, _ALLOWING)
    _compare(assembler, "prlimit", 0, (0,), _ALLOWING, "own")
    assembler.name("own")
    assembler.add(_LD, _argument(0))
    assembler.name(_OWN_PID)
    assembler.add(_JEQ, 0, _ALLOWING, _REFUSING)


def _compare(
    assembler: _Assembler, name: str, argument: int, values: tuple[int, ...], if_equal: str, otherwise: str
) -> None:
    assembler.name(name)
    assembler.add(_LD, _argument(argument))
    for value in values:
        assembler.add(_JEQ, value, if_equal, otherwise if value == values[-1] else "")


def _argument(index: int) -> int:
    """Where the low 32 bits of a call's argument are (both architectures are little-endian)."""
    return 16 + 8 * index
