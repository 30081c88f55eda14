"""Standard input and output of a container, through the daemon that it runs on.

Format of what comes: eight bytes (which stream, three zeros, length as big-endian) before each piece, as Docker's API
describes it under "Attach to a container".
"""

from __future__ import annotations

import contextlib
import os
import select
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
        self._came = bytearray()
        self._interests = {self._channel.in_fd: select.POLLIN}
        self._interests[self._channel.out_fd] = self._interests.get(self._channel.out_fd, 0) | select.POLLOUT

    def fileno(self) -> int:
        """The descriptor to wait on."""
        return self._channel.in_fd

    def has_more(self) -> bool:
        """Whether something came while something was sent, or has been decrypted already."""
        return bool(self._came) or self._channel.has_more()

    def receive(self) -> bytes:
        """What came of standard output, perhaps nothing. ``EOFError`` at its end, with the program's last words."""
        if not self._came:
            self._take()
        came = bytes(self._came)
        self._came.clear()
        return came

    def send(self, data: bytes) -> None:
        """Write to standard input. What comes meanwhile is kept; ``EOFError`` when that is the end, since nobody takes
        in what is sent then."""
        view = memoryview(data)
        while view:
            poller = select.poll()
            for fd, interest in self._interests.items():
                poller.register(fd, interest)
            events = dict(poller.poll(_TIMEOUT_S * 1000))
            if not events:
                raise TimeoutError
            if events.get(self._channel.in_fd, 0) & ~select.POLLOUT:
                self._take()
            if events.get(self._channel.out_fd, 0) & ~select.POLLIN:
                view = view[self._channel.send(view) :]

    def _take(self) -> None:
        data = self._channel.receive()
        if data is None:
            return
        if not data:
            raise EOFError(self._pieces.last_words() or "the container's output ended")
        self._came += self._pieces.feed(data)

    def interrupt(self) -> None:
        """End the connection; the daemon closes the container's standard input with it."""
        self._channel.interrupt()

    def close(self) -> None:
        """Close the connection."""
        # An encrypted socket stays open until the answer that it came out of is closed too.
        is_encrypted = isinstance(self._attached, ssl.SSLSocket)
        for part in (self._channel, self._attached._response if is_encrypted else self._attached):
            with contextlib.suppress(OSError):
                part.close()


class _Socket:
    """A connection by a socket, encrypted or not: the client library gives the socket or a reader around it."""

    def __init__(self, attached: Any) -> None:
        self._socket: socket.socket = getattr(attached, "_sock", attached)
        self._socket.setblocking(False)
        self.in_fd = self.out_fd = self._socket.fileno()

    def has_more(self) -> bool:
        return isinstance(self._socket, ssl.SSLSocket) and self._socket.pending() > 0

    def receive(self) -> bytes | None:
        try:
            return self._socket.recv(_RECEIVE_BYTES)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return None  # what came was not for us but for the encryption

    def send(self, data: memoryview) -> int:
        try:
            return self._socket.send(data)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return 0

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
        self.in_fd: int = self._process.stdout.fileno()
        self.out_fd: int = self._process.stdin.fileno()
        os.set_blocking(self.out_fd, False)  # a ready pipe takes in a part; the rest would be waited for

    @staticmethod
    def has_more() -> bool:
        return False

    def receive(self) -> bytes | None:
        return os.read(self.in_fd, _RECEIVE_BYTES)

    def send(self, data: memoryview) -> int:
        try:
            return os.write(self.out_fd, data)
        except BlockingIOError:
            return 0

    def interrupt(self) -> None:
        self._process.kill()

    def close(self) -> None:
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()
