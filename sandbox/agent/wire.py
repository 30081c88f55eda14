"""The messages between host and agent: one fixed struct each way, file descriptors beside it.

The channel is a ``SOCK_SEQPACKET`` Unix socket, so that one send is one message. Bytes of programs, inputs and outputs
never travel through it: they are in memory files whose descriptors are passed. All times are in the unit the name says.
"""

from __future__ import annotations

import marshal
import struct
from collections import namedtuple

TYPE_CHECKING = False  # `typing` itself would bring pages of memory that every fork of a zygote pays for
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

# Where a test may write, and a command finds the files that were placed for it.
SCRATCH = "/tmp"

MAX_MESSAGE_BYTES = 64 * 1024
MAX_FDS = 32

# Operations. RUN runs a Python program on stdin and stdout, CALL calls one of its functions, EXEC starts a command,
# FORK starts a second zygote, GRADE runs a program on all its tests the way LiveCodeBench's grader does.
RUN, CALL, FORK, EXEC, GRADE = 1, 2, 3, 4, 5

# What a zygote can have ready; its name is those joined by "+".
CALLS, NUMPY, LIVECODEBENCH, LIBRARY = "calls", "numpy", "livecodebench", "library"

# Modules of the standard library that LIBRARY has ready: such as programs ask for and are costly to import.
LIBRARY_MODULES = ("copy", "datetime", "decimal", "fractions", "random", "re", "statistics", "string", "typing")

# The descriptors that go with a request, in this order; EXEC has the first three and then its own.
STDIN, STDOUT, STDERR, PROGRAM, COMPILED = 0, 1, 2, 3, 4

# The number under which a command finds the first descriptor that it is to keep.
FIRST_KEPT_FD = 10

# How far a test's process got before the program's own code took over (reported through a pipe closed by then).
STARTED, ISOLATED, LOADED = 0, 1, 2

# Past its wall time a process that still computes goes on (a busy machine gives it little), up to so many times it.
WALL_STRETCH = 6

# Who ended the process, where it was not the process itself: the agent, or (the last) the kernel for want of memory. A
# SIGKILL from elsewhere than the agent is taken for the kernel's where its count of such ends cannot be read.
KILLED_BY_NOBODY, KILLED_BY_WALL, KILLED_BY_CPU, KILLED_BY_MEMORY, KILLED_BY_KERNEL = 0, 1, 2, 3, 4

# Plain values in a form that all versions of Python read; json would make every fork of the zygote dearer.
_MARSHAL = 2

_REQUEST = struct.Struct("<B?ddQQ")
_REPLY = struct.Struct("<BB??iQQQ")


class Request(
    namedtuple(
        "Request",
        ("operation", "has_compiled", "cpu_kill_s", "wall_kill_s", "memory_bytes", "output_bytes", "details"),
    )
):
    """What the host asks for.

    ``has_compiled`` says whether the descriptor COMPILED already holds code; otherwise the process compiles and leaves
    it there. ``details`` are plain values, among them ``zygote``, the name of the one that the request is for (none:
    the first). CALL: what :mod:`agent.calls` reads. GRADE: what :mod:`agent.lcb` reads. FORK: ``name``, the zygote's.
    EXEC:

    ``command``     the command's words; the first is the path of what to execute, "" for the descriptor ``executable``
    ``executable``  index of the descriptor to execute, where the first word is ""
    ``folders``     names of empty folders to make in the scratch folder before
    ``place``       name: index of what is written into the scratch folder before
    ``fetch``       name: index of where a file of the scratch folder goes afterwards, read as the test's own user
    ``keep``        indexes that the command finds open from number FIRST_KEPT_FD on
    ``variables``   the command's whole environment
    ``reads``       paths that it may read beside the system's own
    ``may_fork``    whether it may start processes (compilers do); they end with it
    ``address_space_bytes``  limit of each process's address space, 0 for none
    """

    __slots__ = ()

    operation: int
    has_compiled: bool
    cpu_kill_s: float
    wall_kill_s: float
    memory_bytes: int
    output_bytes: int
    details: dict[str, Any]

    def pack(self) -> bytes:
        """The message as bytes."""
        return _REQUEST.pack(*self[:-1]) + (marshal.dumps(self.details, _MARSHAL) if self.details else b"")

    @classmethod
    def unpack(cls, message: bytes) -> Request:
        """The message from bytes."""
        details = marshal.loads(message[_REQUEST.size :]) if len(message) > _REQUEST.size else {}
        return tuple.__new__(cls, (*_REQUEST.unpack_from(message), details))


class Reply(
    namedtuple(
        "Reply",
        (
            "stage",
            "killed_by",
            "leftover",
            "fault",
            "wait_status",
            "cpu_us",
            "wall_us",
            "peak_memory_bytes",
            "message",
        ),
        defaults=("",),
    )
):
    """What became of one process. ``wait_status`` is as ``os.wait4`` gives it; ``leftover`` means that the jail is not
    as it was before the test (a process or a file that could not be removed) and must be thrown away."""

    __slots__ = ()

    stage: int
    killed_by: int
    leftover: bool
    fault: bool
    wait_status: int
    cpu_us: int
    wall_us: int
    peak_memory_bytes: int
    message: str

    def pack(self) -> bytes:
        """The message as bytes."""
        *numbers, text = self
        return packed_reply(numbers, text)

    @classmethod
    def unpack(cls, message: bytes) -> Reply:
        """The message from bytes."""
        return cls._make((*_REPLY.unpack_from(message), message[_REPLY.size :].decode(errors="replace")))


def packed_reply(numbers: Iterable[int], message: str) -> bytes:
    """A :class:`Reply` as bytes, from all its fields but the last one and from that."""
    packed = _REPLY.pack(*numbers)
    return packed + message.encode()[: MAX_MESSAGE_BYTES - _REPLY.size] if message else packed


class Hello(
    namedtuple("Hello", ("python_version", "machine", "user_switch", "landlock_abi", "seccomp", "packages")),
):
    """The agent's first message: what it is, which layers of isolation this kernel and this jail give it, and the
    versions of the third-party packages that programs may import."""

    __slots__ = ()

    python_version: str
    machine: str
    user_switch: bool
    landlock_abi: int
    seccomp: bool
    packages: dict[str, str]

    def pack(self) -> bytes:
        """The message as bytes."""
        layers = (int(self.user_switch), self.landlock_abi, int(self.seccomp))
        packages = " ".join(f"{name}={version}" for name, version in self.packages.items())
        return "\n".join(map(str, (self.python_version, self.machine, *layers, packages))).encode()

    @classmethod
    def unpack(cls, message: bytes) -> Hello:
        """The message from bytes."""
        version, machine, switch, abi, seccomp, listed = message.decode().split("\n")
        packages = dict(entry.split("=", 1) for entry in listed.split())
        return cls(version, machine, switch == "1", int(abi), seccomp == "1", packages)
