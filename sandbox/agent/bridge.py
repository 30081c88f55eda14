"""A process between a byte stream and the zygotes: makes files in memory of the bytes that come, and sends back what
tests wrote.

The stream is the container's standard input and output under other numbers: this process's own are /dev/null from its
start on, so that Python's stream objects are what they are anywhere. The zygote, a child, closes them, and what tests
write goes into files in memory: nothing of theirs can get into the stream.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import socket
import sys
from collections import deque
from collections.abc import Iterator
from typing import NoReturn

from . import frames, wire, zygotes
from .bootstrap import STREAM_IN as _IN
from .bootstrap import STREAM_OUT as _OUT
from .children import children
from .frames import Descriptor, Frame
from .hiding import hide_in_proc
from .isolation import protect_agent
from .main import serve
from .pipes import Pipes
from .zygotes import Zygotes

_CHUNK_BYTES = 1 << 20
_NAME = "livecut"
_SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL


def main(uid_base: int) -> NoReturn:
    """Start the zygote, then carry requests to it until the host goes away."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    zygote_pid = os.fork()
    if zygote_pid == 0:
        ours.close()
        os.close(_IN)
        os.close(_OUT)
        serve(theirs, uid_base)
        os._exit(0)
    theirs.close()
    # Opened before this process's entry in /proc may be hidden.
    own_files = os.open("/proc/self/fd", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    protect_agent()
    hide_in_proc()
    try:
        Bridge(ours, zygote_pid, own_files).serve()
    except (EOFError, OSError) as error:  # host or zygote is gone; with this process all ends that runs in the jail
        os.write(sys.stderr.fileno(), f"{type(error).__name__}: {error}\n".encode())
    os._exit(1)


class Bridge:
    """Carries one request after another."""

    def __init__(self, zygote: socket.socket, zygote_pid: int, own_files: int) -> None:
        self._first = zygote
        self._own_files = own_files
        self._zygote_pid = zygote_pid
        self._zygotes = Zygotes(zygote)
        self._parser = frames.Parser()
        self._waiting: deque[Frame] = deque()
        self._kept: dict[int, int] = {}

    def serve(self) -> None:
        """Say hello and answer until the stream ends. ``EOFError`` or ``OSError`` when host or zygote is gone."""
        _emit(Frame(frames.HELLO, 0, zygotes.receive(self._first, None)))
        while True:
            frame = self._next()
            if frame.kind == frames.REQUEST:  # all else is about pipes of the request before, closed by now
                self._perform(frames.Call.unpack(frame.payload))

    def _next(self) -> Frame:
        while not self._waiting:
            self._fill()
        return self._waiting.popleft()

    def _fill(self) -> None:
        data = os.read(_IN, _CHUNK_BYTES)
        if not data:
            raise EOFError("the host is gone")
        self._waiting.extend(self._parser.feed(data))

    def _perform(self, call: frames.Call) -> None:
        for key in call.dropped:
            os.close(self._kept.pop(key))
        pipes = Pipes(_emit)
        fds: list[int] = []
        for index, descriptor in enumerate(call.descriptors):
            fds.append(fds[descriptor.key] if descriptor.form == frames.SAME else self._make(index, descriptor, pipes))
        self._zygotes.send(call.request, fds)
        outputs = {}
        for index, (descriptor, fd) in enumerate(zip(call.descriptors, fds, strict=True)):
            if descriptor.form == frames.OUTPUT:
                outputs[index] = fd
            elif descriptor.form != frames.SAME:
                os.close(fd)
        reply = self._wait(call.request, pipes)
        if call.request.details.get("may_fork"):
            reply = self._looked_after(reply)
        pipes.drain()
        rest = bytearray()
        for index, fd in outputs.items():
            for frame in _content(index, fd):
                if len(rest) > _CHUNK_BYTES:
                    _write(_OUT, rest)
                    rest.clear()
                rest += frame.pack()
            os.close(fd)
        _write(_OUT, rest + Frame(frames.REPLY, 0, reply).pack())

    def _make(self, index: int, descriptor: Descriptor, pipes: Pipes) -> int:
        """What the zygote gets for a descriptor of the host's."""
        if descriptor.form == frames.KEPT:
            return self._reader(self._kept[descriptor.key])
        if descriptor.form == frames.OUTPUT:
            return os.memfd_create(_NAME, os.MFD_CLOEXEC)
        if descriptor.form in (frames.PIPE_IN, frames.PIPE_OUT):
            reading, writing = os.pipe2(os.O_CLOEXEC)
            # Both ends are one file; a test, another user, may open /dev/stdout by its name. gVisor refuses.
            with contextlib.suppress(PermissionError):
                os.fchmod(reading, 0o666)
            if descriptor.form == frames.PIPE_IN:
                pipes.write_to(index, writing)
                return reading
            pipes.read_from(index, reading)
            return writing
        fd = self._take_file(index, descriptor.size)
        if descriptor.key:
            self._kept[descriptor.key] = fd
            return self._reader(fd)
        return fd

    def _take_file(self, index: int, size: int) -> int:
        """A read-only descriptor of a sealed file with the content that comes for this index. Nobody may have it open
        for writing, or it could not be executed."""
        writing = os.memfd_create(_NAME, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        while size > 0:
            frame = self._next()
            if (frame.kind, frame.descriptor) != (frames.DATA, index):
                raise frames.BadFrame(f"kind {frame.kind} for {frame.descriptor} amid the content of {index}")
            _write(writing, frame.payload)
            size -= len(frame.payload)
        fcntl.fcntl(writing, fcntl.F_ADD_SEALS, _SEALS)
        reading = self._reader(writing)
        os.close(writing)
        return reading

    def _wait(self, request: wire.Request, pipes: Pipes) -> bytes:
        """The zygote's reply; meanwhile the pipes go on."""
        connection = self._zygotes.connection(request)
        while True:
            while self._waiting:
                pipes.on_frame(self._waiting.popleft())
            poller = select.poll()
            poller.register(_IN, select.POLLIN)
            poller.register(connection, select.POLLIN)
            watched = pipes.register(poller)
            ready = [fd for fd, _ in poller.poll()]
            if _IN in ready:
                self._fill()
            for fd in ready:
                if fd in watched:
                    pipes.on_ready(watched[fd])
            if connection.fileno() in ready:
                return self._zygotes.receive(request, None)

    def _reader(self, fd: int) -> int:
        """A read-only descriptor of the file with an offset of its own."""
        return os.open(str(fd), os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._own_files)

    def _looked_after(self, reply: bytes) -> bytes:
        """The reply, with a note when processes are left over that came to this process and not to the zygote: gVisor
        makes the first process of a container the parent of orphans, whatever another one asks for."""
        if children() <= {self._zygote_pid}:
            return reply
        return wire.Reply.unpack(reply)._replace(leftover=True).pack()


def _write(fd: int, data: bytes | bytearray) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _emit(frame: Frame) -> None:
    _write(_OUT, frame.pack())


def _content(index: int, fd: int) -> Iterator[Frame]:
    offset = 0
    while chunk := os.pread(fd, frames.MAX_PAYLOAD_BYTES, offset):
        yield Frame(frames.DATA, index, chunk)
        offset += len(chunk)
