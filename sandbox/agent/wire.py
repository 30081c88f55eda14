"""The messages between host and agent: one fixed struct each way, file descriptors beside it.

The channel is a ``SOCK_SEQPACKET`` Unix socket, so that one send is one message. Bytes of programs, inputs and outputs
never travel through it: they are in memory files whose descriptors are passed. All times are in the unit the name says.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

MAX_MESSAGE_BYTES = 4096

# Operations. RUN runs a program on stdin and stdout, CALL calls one of its functions, FORK starts a second zygote.
RUN, CALL, FORK = 1, 2, 3

# How far a test's process got before the program's own code took over (reported through a pipe closed by then).
STARTED, ISOLATED, COMPILED = 0, 1, 2

# Past its wall time a process that still computes goes on (a busy machine gives it little), up to so many times it.
WALL_STRETCH = 6

# Who ended the process, where it was not the process itself.
KILLED_BY_NOBODY, KILLED_BY_WALL, KILLED_BY_CPU, KILLED_BY_MEMORY = 0, 1, 2, 3

_REQUEST = struct.Struct("<BBddQQ")
_REPLY = struct.Struct("<BBBBiQQQ")


class Request(NamedTuple):
    """What the host asks for. ``entry_point`` is the function's name for CALL, the zygote's name for FORK.

    Descriptors sent along, in order: RUN and CALL: program, compiled, stdin, stdout, stderr; FORK: a socket.
    ``has_compiled`` says whether ``compiled`` already holds code; otherwise the process compiles and leaves it there.
    """

    operation: int
    has_compiled: bool
    cpu_kill_s: float
    wall_kill_s: float
    memory_bytes: int
    output_bytes: int
    entry_point: str

    def pack(self) -> bytes:
        """The message as bytes."""
        return _REQUEST.pack(*self[:-1]) + self.entry_point.encode()

    @classmethod
    def unpack(cls, message: bytes) -> Request:
        """The message from bytes."""
        operation, compiled, cpu, wall, memory, output = _REQUEST.unpack_from(message)
        return cls(operation, bool(compiled), cpu, wall, memory, output, message[_REQUEST.size :].decode())


class Reply(NamedTuple):
    """What became of one process. ``wait_status`` is as ``os.wait4`` gives it; ``leftover`` means that the jail is not
    as it was before the test (a process or a file that could not be removed) and must be thrown away."""

    stage: int
    killed_by: int
    leftover: bool
    fault: bool
    wait_status: int
    cpu_us: int
    wall_us: int
    peak_memory_bytes: int
    message: str = ""

    def pack(self) -> bytes:
        """The message as bytes."""
        return _REPLY.pack(*self[:-1]) + self.message.encode()[: MAX_MESSAGE_BYTES - _REPLY.size]

    @classmethod
    def unpack(cls, message: bytes) -> Reply:
        """The message from bytes."""
        stage, killed, leftover, fault, status, cpu, wall, memory = _REPLY.unpack_from(message)
        text = message[_REPLY.size :].decode(errors="replace")
        return cls(stage, killed, bool(leftover), bool(fault), status, cpu, wall, memory, text)


class Hello(NamedTuple):
    """The agent's first message: what it is and which layers of isolation this kernel and this jail give it."""

    python_version: str
    machine: str
    user_switch: bool
    landlock_abi: int
    seccomp: bool

    def pack(self) -> bytes:
        """The message as bytes."""
        return "\n".join(str(int(f) if isinstance(f, bool) else f) for f in self).encode()

    @classmethod
    def unpack(cls, message: bytes) -> Hello:
        """The message from bytes."""
        version, machine, switch, abi, seccomp = message.decode().split("\n")
        return cls(version, machine, switch == "1", int(abi), seccomp == "1")
