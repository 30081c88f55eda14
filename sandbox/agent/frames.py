"""Frames on a byte stream: how host and jail speak where no descriptor can be passed (a remote daemon, gVisor).

A frame is a kind, the index of a descriptor (as :class:`wire.Request` counts them), a length, and so many bytes.

From the host: REQUEST (marshalled, see :class:`Call`), then DATA for each input file; while pipes are open DATA, CREDIT
and CLOSE for them. From the jail: HELLO once; for each request DATA, CREDIT and CLOSE of its pipes, DATA of its output
files, and REPLY as the last. What the jail sends is never unmarshalled.
"""

from __future__ import annotations

import marshal
import struct
from collections.abc import Iterator
from typing import NamedTuple

from . import wire

HELLO, REQUEST, DATA, CREDIT, CLOSE, REPLY = 1, 2, 3, 4, 5, 6
_KINDS = frozenset((HELLO, REQUEST, DATA, CREDIT, CLOSE, REPLY))

MAX_PAYLOAD_BYTES = 256 * 1024

# What a descriptor is for the jail: a file whose content follows, one that was sent before and kept, a file for output,
# a pipe to read from, a pipe to write to, the same as one before it.
FILE, KEPT, OUTPUT, PIPE_IN, PIPE_OUT, SAME = 1, 2, 3, 4, 5, 6

_HEADER = struct.Struct("<BBI")
_NUMBER = struct.Struct("<I")
_MARSHAL = 2


class BadFrame(ValueError):
    """The other end does not speak this protocol."""


class Frame(NamedTuple):
    """One frame."""

    kind: int
    descriptor: int
    payload: bytes

    def pack(self) -> bytes:
        """The frame as bytes."""
        return _HEADER.pack(self.kind, self.descriptor, len(self.payload)) + self.payload

    @property
    def number(self) -> int:
        """The number that a CREDIT carries. Raises :class:`BadFrame`."""
        if len(self.payload) != _NUMBER.size:
            raise BadFrame(f"a number of {len(self.payload)} bytes")
        return int(_NUMBER.unpack(self.payload)[0])


def credit(index: int, count: int) -> Frame:
    """So many bytes more may be sent for the pipe ``index``."""
    return Frame(CREDIT, index, _NUMBER.pack(count))


class Parser:
    """Takes bytes as they come, gives whole frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that are complete with this. Raises :class:`BadFrame` at the first byte that is out of place."""
        self._buffer += data
        while len(self._buffer) >= _HEADER.size:
            kind, index, length = _HEADER.unpack_from(self._buffer)
            if kind not in _KINDS or length > MAX_PAYLOAD_BYTES or index >= wire.MAX_FDS:
                raise BadFrame(f"kind {kind}, index {index}, length {length}")
            end = _HEADER.size + length
            if len(self._buffer) < end:
                return
            payload = bytes(self._buffer[_HEADER.size : end])
            del self._buffer[:end]
            yield Frame(kind, index, payload)


class Descriptor(NamedTuple):
    """What stands for one descriptor of a request: its form, the size of a FILE, and a key: under which a FILE is to be
    kept (0: it is not) or one was KEPT, or the index of what it is the SAME as."""

    form: int
    size: int = 0
    key: int = 0


class Call(NamedTuple):
    """A request with what stands for its descriptors; ``dropped`` are the keys of kept files that are not needed any
    more."""

    request: wire.Request
    descriptors: tuple[Descriptor, ...]
    dropped: tuple[int, ...] = ()

    def pack(self) -> bytes:
        """The payload of a REQUEST."""
        plain = [tuple(descriptor) for descriptor in self.descriptors]
        return marshal.dumps((self.request.pack(), plain, list(self.dropped)), _MARSHAL)

    @classmethod
    def unpack(cls, payload: bytes) -> Call:
        """The call from a payload; for what the host wrote alone."""
        request, descriptors, dropped = marshal.loads(payload)
        return cls(wire.Request.unpack(request), tuple(Descriptor(*plain) for plain in descriptors), tuple(dropped))


def outputs_of(request: wire.Request) -> frozenset[int]:
    """The indexes of the descriptors that a request writes to; it reads from the others."""
    compiles = request.operation in (wire.RUN, wire.CALL) and not request.has_compiled
    fetched = request.details.get("fetch", {}).values()
    return frozenset((wire.STDOUT, wire.STDERR, *((wire.COMPILED,) if compiles else ()), *fetched))
