"""Pipes that go on beyond a frame stream; the same code at both of its ends.

At most a window of bytes is on its way for a pipe: who writes them on gives credit for as many more. So a reader that
does not read stops its writer, as with one pipe, and the stream stays free for others.
"""

from __future__ import annotations

import os
import select
from collections.abc import Callable

from . import frames
from .frames import Frame

WINDOW_BYTES = 64 * 1024

# What a process has left in its pipe at its end comes without credit: as much as a pipe holds (16 pages of 64 KiB at
# most, pipe(7)), which no test may change (agent.seccomp).
_MOST_LEFT_BYTES = 16 * (64 << 10)
_MOST_PENDING_BYTES = WINDOW_BYTES + _MOST_LEFT_BYTES

# Into a pipe that is ready for writing so much goes without waiting (PIPE_BUF, limits.h).
_WRITE_BYTES = 4096


class Pipes:
    """The near ends of one request's pipes. ``emit`` sends a frame. Owns its descriptors."""

    def __init__(self, emit: Callable[[Frame], None]) -> None:
        self._emit = emit
        self._sources: dict[int, int] = {}
        self._credit: dict[int, int] = {}
        self._sinks: dict[int, int] = {}
        self._pending: dict[int, bytearray] = {}
        self._ended: set[int] = set()

    def read_from(self, index: int, fd: int) -> None:
        """What comes out of ``fd`` goes to the other side."""
        self._sources[index] = fd
        self._credit[index] = WINDOW_BYTES

    def write_to(self, index: int, fd: int) -> None:
        """What the other side sends goes into ``fd``."""
        self._sinks[index] = fd
        self._pending[index] = bytearray()

    def register(self, poller: select.poll) -> dict[int, int]:
        """Tell the poller what is waited for now; the index of each descriptor that was registered."""
        watched = {}
        for index, fd in self._sources.items():
            if self._credit[index]:
                poller.register(fd, select.POLLIN)
                watched[fd] = index
        for index, fd in self._sinks.items():
            poller.register(fd, select.POLLOUT if self._pending[index] else 0)
            watched[fd] = index
        return watched

    def on_ready(self, index: int) -> None:
        """Move what can be moved at one of them."""
        if index in self._sources:
            self._read(index)
        elif index in self._sinks:
            self._write(index)

    def on_frame(self, frame: Frame) -> None:
        """Take a frame from the other side. One about a pipe that is closed already is too late and means nothing.

        Raises ``BadFrame`` for more than was allowed.
        """
        index = frame.descriptor
        if frame.kind == frames.CREDIT and index in self._sources:
            self._credit[index] = min(self._credit[index] + frame.number, WINDOW_BYTES)
        elif frame.kind == frames.CLOSE and index in self._sources:
            os.close(self._sources.pop(index))
        elif frame.kind == frames.CLOSE and index in self._sinks:
            self._ended.add(index)
            self._close_if_done(index)
        elif frame.kind == frames.DATA and index in self._sinks:
            self._pending[index] += frame.payload
            if len(self._pending[index]) > _MOST_PENDING_BYTES:
                raise frames.BadFrame(f"{len(self._pending[index])} bytes on their way into pipe {index}")

    def drain(self) -> None:
        """The processes at the near ends are gone: send what they left, credit or not, and close."""
        for index, fd in self._sources.items():
            os.set_blocking(fd, False)
            while data := _read_now(fd):
                self._emit(Frame(frames.DATA, index, data))
            self._emit(Frame(frames.CLOSE, index, b""))
            os.close(fd)
        self._sources.clear()
        self._close_sinks()

    def detach(self) -> None:
        """The other side is done: nothing is sent any more; what it sent before is still to be written."""
        self._emit = _ignore
        for fd in self._sources.values():
            os.close(fd)
        self._sources.clear()
        self._ended.update(self._sinks)
        for index in tuple(self._sinks):
            self._close_if_done(index)

    @property
    def is_pending(self) -> bool:
        """Whether something is still to be written."""
        return bool(self._sinks)

    def close(self) -> None:
        """Let go of all, written or not."""
        for fd in self._sources.values():
            os.close(fd)
        self._sources.clear()
        self._close_sinks()

    def _read(self, index: int) -> None:
        try:
            data = os.read(self._sources[index], self._credit[index])
        except BlockingIOError:
            return  # whoever else holds this end was quicker, and made it so
        if data:
            self._credit[index] -= len(data)
            self._emit(Frame(frames.DATA, index, data))
            return
        os.close(self._sources.pop(index))
        self._emit(Frame(frames.CLOSE, index, b""))

    def _write(self, index: int) -> None:
        pending = self._pending[index]
        try:
            # With nothing to write only an error wakes us, which an empty write would not tell.
            written = os.write(self._sinks[index], pending[:_WRITE_BYTES]) if pending else -1
        except BlockingIOError:
            return
        except OSError:
            written = -1
        if written < 0:  # nobody reads there any more
            self._close_sink(index)
            self._emit(Frame(frames.CLOSE, index, b""))
            return
        del pending[:written]
        self._emit(frames.credit(index, written))
        self._close_if_done(index)

    def _close_if_done(self, index: int) -> None:
        if index in self._ended and not self._pending[index]:
            self._close_sink(index)

    def _close_sink(self, index: int) -> None:
        os.close(self._sinks.pop(index))
        self._pending[index].clear()

    def _close_sinks(self) -> None:
        for index in tuple(self._sinks):
            self._close_sink(index)


def _read_now(fd: int) -> bytes:
    """What is in a pipe, without waiting for more."""
    try:
        return os.read(fd, WINDOW_BYTES)
    except BlockingIOError:
        return b""


def _ignore(_frame: Frame) -> None:
    return
