"""The host's end of a frame stream: takes the same requests and descriptors as a socket does, and sends their content.

What comes back is written into the caller's own files, so that nobody can tell the difference but by the time it takes.
"""

from __future__ import annotations

import os
import queue
import select
import stat
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

from sandbox.agent import frames, wire
from sandbox.agent.frames import Descriptor, Frame
from sandbox.agent.pipes import Pipes
from sandbox.kept_files import KeptFiles
from sandbox.programs import MIB

# More than a jail can rightly send back for one file; compiled code has no limit of its own.
_LEAST_OUTPUT_BYTES, _MOST_COMPILED_BYTES = 64 * MIB, 256 * MIB

_SEND_BYTES = MIB
_LOOK_MS = 500
_THREAD_END_S = 10.0


class Stream(Protocol):
    """Bytes to and from the program that runs in a jail. Its calls raise ``OSError`` when it is no more."""

    def fileno(self) -> int:
        """What to wait on until there are bytes."""

    def has_more(self) -> bool:
        """Whether bytes are there already that waiting would not tell of."""

    def receive(self) -> bytes:
        """What there is, perhaps nothing. ``EOFError`` at the end, with the program's last words."""

    def send(self, data: bytes) -> None:
        """Write all of it to the program."""

    def interrupt(self) -> None:
        """From any thread: end the stream, and wake who waits on it."""

    def close(self) -> None:
        """Let go of it."""


class FrameLink:
    """A link over a byte stream."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._parser = frames.Parser()
        self._waiting: deque[Frame] = deque()
        self._kept = KeptFiles()
        self._work: _Work | None = None
        self._threads: list[threading.Thread] = []
        self._closed = False

    def hello(self, timeout_s: float) -> bytes:
        """The agent's first message."""
        deadline = time.monotonic() + timeout_s
        while not self._waiting:
            self._wait(deadline, None)
        frame = self._waiting.popleft()
        if frame.kind != frames.HELLO:
            raise frames.BadFrame(f"kind {frame.kind} in place of a greeting")
        return frame.payload

    def begin(self, request: wire.Request, fds: list[int]) -> None:
        """Send a request with the content of its descriptors. Where there are pipes among them, a thread serves them
        until the reply, and beyond it for what is still to be written."""
        if self._waiting:
            raise frames.BadFrame("words that nobody asked for")
        self._work = work = _Work(request, fds, self._kept, self._emit)
        self._send_all(work)
        if work.has_pipes:
            thread = threading.Thread(target=self._serve_in_thread, args=(work,), daemon=True)
            self._threads = [*filter(threading.Thread.is_alive, self._threads), thread]
            thread.start()

    def finish(self, request: wire.Request, timeout_s: float) -> bytes:
        """The reply to it."""
        work, self._work = self._work, None
        assert work is not None
        assert work.request == request, "a reply is asked for to a request that did not begin"
        if not work.has_pipes:
            try:
                return self._serve(work, time.monotonic() + timeout_s)
            finally:
                work.close()
        try:
            answer = work.answers.get(timeout=timeout_s)
        except queue.Empty:
            raise TimeoutError from None
        if isinstance(answer, Exception):
            raise answer
        return answer

    def interrupt(self) -> None:
        """End the stream."""
        self._closed = True
        self._stream.interrupt()

    def close(self) -> None:
        """Give back all, once the thread of the pipes is done."""
        self.interrupt()
        for thread in self._threads:
            thread.join(_THREAD_END_S)
        if self._work is not None:
            self._work.close()
        self._stream.close()
        self._kept.close()

    def _emit(self, frame: Frame) -> None:
        self._stream.send(frame.pack())

    def _send_all(self, work: _Work) -> None:
        """The request and its files, small ones together."""
        buffer = bytearray(work.opening)
        for index, fd in work.files:
            offset = 0
            while chunk := os.pread(fd, frames.MAX_PAYLOAD_BYTES, offset):
                buffer += Frame(frames.DATA, index, chunk).pack()
                offset += len(chunk)
                if len(buffer) >= _SEND_BYTES:
                    self._stream.send(bytes(buffer))
                    buffer.clear()
        self._stream.send(bytes(buffer))

    def _serve(self, work: _Work, deadline: float | None) -> bytes:
        """Take what comes until the reply."""
        while True:
            while self._waiting:
                frame = self._waiting.popleft()
                if frame.kind == frames.REPLY:
                    return frame.payload
                work.take(frame)
            self._wait(deadline, work.pipes)

    def _serve_in_thread(self, work: _Work) -> None:
        try:
            work.answers.put(self._serve(work, None))
            work.pipes.detach()
            while work.pipes.is_pending and not self._closed:
                poller = select.poll()
                _move(work.pipes, poller, _LOOK_MS)
        except Exception as error:  # handed to the thread that waits for the reply, which raises it
            work.answers.put(error)
        finally:
            work.close()

    def _wait(self, deadline: float | None, pipes: Pipes | None) -> None:
        """Wait until something comes or can be moved on. Raises ``TimeoutError`` past the deadline."""
        if deadline is not None and time.monotonic() >= deadline:
            raise TimeoutError
        poller = select.poll()
        poller.register(self._stream.fileno(), select.POLLIN)
        timeout_ms = _LOOK_MS if deadline is None else max(0, int((deadline - time.monotonic()) * 1000)) + 1
        ready = _move(pipes, poller, 0 if self._stream.has_more() else timeout_ms)
        if self._stream.fileno() in ready or self._stream.has_more():
            self._waiting.extend(self._parser.feed(self._stream.receive()))


def _move(pipes: Pipes | None, poller: select.poll, timeout_ms: int) -> set[int]:
    """Wait for what the poller and the pipes wait for, move what is ready in the pipes; all that was ready."""
    watched = pipes.register(poller) if pipes is not None else {}
    ready = {fd for fd, _ in poller.poll(timeout_ms)}
    if pipes is not None:
        for fd in ready & watched.keys():
            pipes.on_ready(watched[fd])
    return ready


class _Work:
    """One request under way: what stands for its descriptors, and where goes what comes back. Has descriptors of its
    own for it."""

    def __init__(self, request: wire.Request, fds: list[int], kept: KeptFiles, emit: Callable[[Frame], None]) -> None:
        self.request = request
        self.pipes = Pipes(emit)
        self.files: list[tuple[int, int]] = []
        self.answers: queue.SimpleQueue[bytes | Exception] = queue.SimpleQueue()
        self._outputs: dict[int, int] = {}
        self._written: dict[int, int] = {}
        self._pipe_indexes: set[int] = set()
        outputs = frames.outputs_of(request)
        seen: dict[tuple[int, int], int] = {}
        dropped = kept.trim()
        descriptors = []
        for index, fd in enumerate(fds):
            status = os.fstat(fd)
            identity = (status.st_dev, status.st_ino)
            if index in outputs and identity in seen:
                descriptors.append(Descriptor(frames.SAME, key=seen[identity]))
                continue
            if index in outputs:
                seen[identity] = index
            descriptors.append(self._describe(index, fd, status, kept, is_output=index in outputs))
        self.opening = Frame(frames.REQUEST, 0, frames.Call(request, tuple(descriptors), dropped).pack()).pack()

    def _describe(self, index: int, fd: int, status: os.stat_result, kept: KeptFiles, *, is_output: bool) -> Descriptor:
        if stat.S_ISFIFO(status.st_mode):
            self._pipe_indexes.add(index)
            if is_output:
                self.pipes.write_to(index, os.dup(fd))
                return Descriptor(frames.PIPE_OUT)
            self.pipes.read_from(index, os.dup(fd))
            return Descriptor(frames.PIPE_IN)
        if is_output:
            self._outputs[index] = os.dup(fd)
            self._written[index] = 0
            return Descriptor(frames.OUTPUT)
        descriptor = kept.describe(fd, status)
        if descriptor.form == frames.FILE:
            self.files.append((index, fd))
        return descriptor

    @property
    def has_pipes(self) -> bool:
        """Whether something must be moved while it runs."""
        return bool(self._pipe_indexes)

    def take(self, frame: Frame) -> None:
        """A frame that is about one of its descriptors. Raises ``BadFrame`` for any other, and for too much."""
        if frame.kind == frames.DATA and frame.descriptor in self._outputs:
            self._write(frame.descriptor, frame.payload)
        elif frame.kind in (frames.DATA, frames.CREDIT, frames.CLOSE) and frame.descriptor in self._pipe_indexes:
            self.pipes.on_frame(frame)
        else:
            raise frames.BadFrame(f"kind {frame.kind} for descriptor {frame.descriptor}")

    def _write(self, index: int, data: bytes) -> None:
        done = self._written[index]
        most = max(self.request.output_bytes, _LEAST_OUTPUT_BYTES)
        if index == wire.COMPILED:
            most = max(most, _MOST_COMPILED_BYTES)
        if done + len(data) > most:
            raise frames.BadFrame(f"more than {most} bytes for descriptor {index}")
        view = memoryview(data)
        while view:
            written = os.pwrite(self._outputs[index], view, done)
            done += written
            view = view[written:]
        self._written[index] = done

    def close(self) -> None:
        """Let go of its descriptors."""
        for fd in self._outputs.values():
            os.close(fd)
        self._outputs = {}
        self.pipes.close()
