"""Standard input and output of a container, through the daemon that it runs on.

Format of what comes: eight bytes (which stream, three zeros, length as big-endian) before each piece, as Docker's API
describes it under "Attach to a container".
"""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
import struct
from typing import Any

from sandbox.agent.frames import BadFrame

_HEADER = struct.Struct(">BxxxI")
_STDOUT, _STDERR = 1, 2
_RECEIVE_BYTES = 256 * 1024
_WORD_BYTES = 2000
_TIMEOUT_S = 60.0


class Demultiplexer:
    """Takes the daemon's pieces apart, however they are cut; keeps the last words of standard error."""

    def __init__(self) -> None:
        self._header = bytearray()
        self._stream = 0
        self._left = 0
        self._errors = bytearray()

    def feed(self, data: bytes) -> bytes:
        """What of this is standard output. Raises ``BadFrame`` for a stream that there is not."""
        output = bytearray()
        view = memoryview(data)
        while view:
            if not self._left:
                missing = _HEADER.size - len(self._header)
                self._header += view[:missing]
                view = view[missing:]
                if len(self._header) == _HEADER.size:
                    self._stream, self._left = _HEADER.unpack(self._header)
                    self._header.clear()
                    if self._stream not in (_STDOUT, _STDERR):
                        raise BadFrame(f"a piece of stream {self._stream} from the daemon")
                continue
            piece = view[: self._left]
            view = view[self._left :]
            self._left -= len(piece)
            if self._stream == _STDOUT:
                output += piece
            else:
                self._errors = (self._errors + piece)[-_WORD_BYTES:]
        return bytes(output)

    def last_words(self) -> str:
        """The last line on standard error."""
        lines = self._errors.decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""


class ContainerStream:
    """The stream of one container; ``attached`` is what the client library's ``attach_socket`` gives."""

    def __init__(self, attached: Any) -> None:
        self._attached = attached
        self._channel = _Pipes(attached) if hasattr(attached, "proc") else _Socket(attached)
        self._pieces = Demultiplexer()

    def fileno(self) -> int:
        """The descriptor to wait on."""
        return self._channel.fileno()

    def has_more(self) -> bool:
        """Whether bytes have been decrypted already."""
        return self._channel.has_more()

    def receive(self) -> bytes:
        """What came of standard output, perhaps nothing."""
        data = self._channel.receive()
        if not data:
            raise EOFError(self._pieces.last_words() or "the container's output ended")
        return self._pieces.feed(data)

    def send(self, data: bytes) -> None:
        """Write to standard input."""
        self._channel.send(data)

    def interrupt(self) -> None:
        """End the connection; the daemon closes the container's standard input with it."""
        self._channel.interrupt()

    def close(self) -> None:
        """Close the connection."""
        for part in (self._channel, self._attached):
            with contextlib.suppress(OSError):
                part.close()


class _Socket:
    """A connection by a socket, encrypted or not: the client library gives the socket or a reader around it."""

    def __init__(self, attached: Any) -> None:
        self._socket: socket.socket = getattr(attached, "_sock", attached)
        self._socket.settimeout(_TIMEOUT_S)

    def fileno(self) -> int:
        return self._socket.fileno()

    def has_more(self) -> bool:
        return isinstance(self._socket, ssl.SSLSocket) and self._socket.pending() > 0

    def receive(self) -> bytes:
        return self._socket.recv(_RECEIVE_BYTES)

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def interrupt(self) -> None:
        with contextlib.suppress(OSError):
            # Not the encrypted socket's own, which would take away what another thread reads with.
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def close(self) -> None:
        self._socket.close()  # what the client library gives is a reader, whose end does not end the socket


class _Pipes:
    """A connection through the ``ssh`` command: two pipes to a process."""

    def __init__(self, attached: Any) -> None:
        self._process = attached.proc

    def fileno(self) -> int:
        return int(self._process.stdout.fileno())

    @staticmethod
    def has_more() -> bool:
        return False

    def receive(self) -> bytes:
        return os.read(self.fileno(), _RECEIVE_BYTES)

    def send(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._process.stdin.fileno(), view) :]

    def interrupt(self) -> None:
        self._process.kill()

    def close(self) -> None:
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()
