"""Two processes that talk with each other: the host's ends of their pipes, which carry on what they say and keep it.

What one says is taken at once and given to the other as it reads, so that neither waits for room in a pipe. That a
process has closed its output is not told to the other before that process has ended: which of them ended first must not
depend on which was quicker to notice. (So does problemtools, support/interactive/interactive.cc.)
"""

from __future__ import annotations

import fcntl
import math
import os
import select
import struct
import termios
import time
from dataclasses import dataclass
from typing import Protocol

from sandbox.transcripts import READ, WRITTEN, Transcript

_CHUNK_BYTES = 64 * 1024
_INT = struct.Struct("i")

# Programs open their pipes again by name, /dev/stdin say, and are not the user who made them.
_MODE_FOR_ALL = 0o666

# What is said to nobody any more does no harm, up to so much: a pipe without a reader would end programs of some
# languages and be an error for those of others.
_IGNORED_BYTES = 1024 * 1024

# A program that ended badly may have been found wrong before; its validator has so long, once it has heard all that the
# program said, to end by that alone. It is told of the program's end after this time even if it does not listen.
_GRACE_S, _LONGEST_GRACE_S = 0.5, 5.0


class End(Protocol):
    """The end of one of the two processes."""

    def has_come(self) -> bool:
        """Whether the process has ended. Raises what came in place of its end."""

    def is_failure(self) -> bool:
        """Once it has come: whether the process ended by itself, and not well."""


@dataclass(frozen=True)
class Conversation:
    """What was said: bytes of each as long as there was someone to listen, and the transcript.

    ``was_told``: the validator was told that the program had ended, and did not end before that. ``silent_s``: how long
    nothing had been said when the program ended.
    """

    program_bytes: int
    validator_bytes: int
    transcript: str
    was_told: bool
    silent_s: float


class Relay:
    """The pipes between a program and its validator; each may say no more than its limit."""

    def __init__(self, program_limit_bytes: int, validator_limit_bytes: int) -> None:
        self._transcript = Transcript()
        self._to_validator = _Way(WRITTEN, program_limit_bytes, self._transcript)
        self._to_program = _Way(READ, validator_limit_bytes, self._transcript)
        self._said_at = time.monotonic()
        self._watched: dict[int, int] = {}
        self._poller = select.poll()

    @property
    def program_fds(self) -> tuple[int, int]:
        """The program's standard input and output."""
        return self._to_program.reader, self._to_validator.writer

    @property
    def validator_fds(self) -> tuple[int, int]:
        """The validator's standard input and output."""
        return self._to_validator.reader, self._to_program.writer

    def release(self) -> None:
        """Let go of the processes' ends, which they have now."""
        self._to_validator.release()
        self._to_program.release()

    def close(self) -> None:
        """Let go of all."""
        self.release()
        self._to_validator.close()
        self._to_program.close()

    def carry(self, program: End, validator: End, wake_fd: int) -> Conversation:
        """Carry on what is said until both have ended; ``wake_fd``, an event counter, tells of ends.

        Raises what the ends raise.
        """
        silent_s = 0.0
        tell_at = give_up_at = math.inf  # when the validator is told of the program's end
        program_over = validator_over = was_told = False
        while not (program_over and validator_over):
            self._move(wake_fd, tell_at)
            now = time.monotonic()
            if not validator_over and validator.has_come():
                validator_over = True
                self._to_validator.stop_listening()
                self._to_program.stop_speaking()
            if not program_over and program.has_come():
                program_over = True
                silent_s = now - self._said_at
                tell_at, give_up_at = (now + _GRACE_S, now + _LONGEST_GRACE_S) if program.is_failure() else (now, now)
                self._to_program.stop_listening()
            if now < tell_at or validator_over:
                continue
            if self._to_validator.is_unheard and now < give_up_at:
                tell_at = now + _GRACE_S
                continue
            tell_at = math.inf
            self._to_validator.stop_speaking()
            was_told = True
        said = self._to_validator.said_bytes, self._to_program.said_bytes
        return Conversation(*said, self._transcript.text, was_told, silent_s)

    def _move(self, wake_fd: int, until: float) -> None:
        """Wait for something to happen, at most until then, and carry on what can be."""
        self._watch(wake_fd)
        timeout_ms = None if until == math.inf else max(0, int((until - time.monotonic()) * 1000) + 1)
        for fd, _ in self._poller.poll(timeout_ms):
            if fd == wake_fd:
                os.eventfd_read(fd)
            for way in (self._to_validator, self._to_program):
                if fd == way.source:
                    if way.take():
                        self._said_at = time.monotonic()
                    way.give()
                elif fd == way.sink:
                    way.give()

    def _watch(self, wake_fd: int) -> None:
        wanted = {wake_fd: select.POLLIN}
        for way in (self._to_validator, self._to_program):
            if way.source is not None:
                wanted[way.source] = select.POLLIN
            if way.sink is not None and way.is_pending:
                wanted[way.sink] = select.POLLOUT
        if wanted == self._watched:
            return
        for fd in self._watched.keys() - wanted.keys():
            self._poller.unregister(fd)
        for fd, events in wanted.items():
            self._poller.register(fd, events)
        self._watched = wanted


class _Way:
    """One direction: a process speaks into ``writer`` and the other hears it from ``reader``; between the two the host
    reads from ``source`` and writes into ``sink``, which are None once they are closed."""

    def __init__(self, mark: str, limit_bytes: int, transcript: Transcript) -> None:
        source, self.writer = os.pipe2(os.O_CLOEXEC)
        self.reader, sink = os.pipe2(os.O_CLOEXEC)
        for ours, theirs in ((source, self.writer), (sink, self.reader)):
            os.set_blocking(ours, False)
            os.fchmod(theirs, _MODE_FOR_ALL)
        self.source: int | None = source
        self.sink: int | None = sink
        self.said_bytes = 0
        self._mark = mark
        self._limit_bytes = limit_bytes
        self._transcript = transcript
        self._pending = bytearray()
        self._ignored_bytes = 0
        self._is_heard = True
        self._is_over = False

    @property
    def is_pending(self) -> bool:
        """Whether something was said that the other has not heard yet."""
        return bool(self._pending)

    @property
    def is_unheard(self) -> bool:
        """Whether something is still on its way to the other."""
        if self.sink is None:
            return False
        return self.is_pending or _INT.unpack(fcntl.ioctl(self.sink, termios.FIONREAD, bytes(_INT.size)))[0] > 0

    def take(self) -> bool:
        """Take what is said now; whether it was anything. A process that says more than it may is not heard further."""
        assert self.source is not None
        try:
            data = os.read(self.source, _CHUNK_BYTES)
        except BlockingIOError:
            return False
        self._transcript.add(self._mark, data)
        if self._is_heard:
            self.said_bytes += len(data)
        else:
            self._ignored_bytes += len(data)
        if self.sink is not None:
            self._pending += data
        if not data or self.said_bytes >= self._limit_bytes or self._ignored_bytes >= _IGNORED_BYTES:
            self._close_source()
        return bool(data)

    def give(self) -> None:
        """Give the other as much as it takes now."""
        while self._pending and self.sink is not None:
            try:
                written = os.write(self.sink, self._pending[:_CHUNK_BYTES])
            except BlockingIOError:
                return
            except BrokenPipeError:
                self._close_sink()
                return
            del self._pending[:written]
        if self._is_over and self.source is None:
            self._close_sink()

    def stop_speaking(self) -> None:
        """Who speaks has ended: the other is told so once it has heard all."""
        self._is_over = True
        self.give()

    def stop_listening(self) -> None:
        """Who listens has ended."""
        self._is_heard = False
        self._close_sink()

    def release(self) -> None:
        """Let go of the processes' ends."""
        for fd in (self.writer, self.reader):
            if fd >= 0:
                os.close(fd)
        self.writer = self.reader = -1

    def close(self) -> None:
        """Let go of the host's ends."""
        self._close_source()
        self._close_sink()

    def _close_source(self) -> None:
        if self.source is not None:
            os.close(self.source)
            self.source = None

    def _close_sink(self) -> None:
        self._pending.clear()
        if self.sink is not None:
            os.close(self.sink)
            self.sink = None
