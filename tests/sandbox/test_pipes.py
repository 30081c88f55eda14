"""Pipes that go on beyond a frame stream, both of whose ends run here, and a plain pipe beside them for comparison."""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time
from collections import deque

import pytest

from sandbox.agent import frames
from sandbox.agent.frames import Frame
from sandbox.agent.pipes import WINDOW_BYTES, Pipes

INDEX = 1


class Crossing:
    """One pipe through two ends: what is written to ``writing`` is to be read from ``reading``."""

    def __init__(self) -> None:
        self.to_sink: deque[Frame] = deque()
        self.to_source: deque[Frame] = deque()
        source_end, self.writing = os.pipe()
        self.reading, sink_end = os.pipe()
        self.source = Pipes(self.to_sink.append)
        self.source.read_from(INDEX, source_end)
        self.sink = Pipes(self.to_source.append)
        self.sink.write_to(INDEX, sink_end)
        self.on_the_way = self.most_on_the_way = 0

    def carry(self) -> bool:
        """Let both ends do what they can now; whether anything happened."""
        happened = False
        for end, queue in ((self.source, self.to_source), (self.sink, self.to_sink)):
            while queue:
                frame = queue.popleft()
                self._count(frame)
                end.on_frame(frame)
                happened = True
            poller = select.poll()
            watched = end.register(poller)
            for fd, _ in poller.poll(0):
                end.on_ready(watched[fd])
                happened = True
        return happened

    def _count(self, frame: Frame) -> None:
        if frame.kind == frames.DATA:
            self.on_the_way += len(frame.payload)
        elif frame.kind == frames.CREDIT:
            self.on_the_way -= frame.number
        self.most_on_the_way = max(self.most_on_the_way, self.on_the_way)

    def settle(self) -> None:
        """Carry until nothing moves any more."""
        while self.carry():
            pass

    def close(self) -> None:
        self.source.close()
        self.sink.close()
        for fd in (self.reading, self.writing):
            with contextlib.suppress(OSError):
                os.close(fd)


@pytest.fixture
def crossing() -> Crossing:
    return Crossing()


def is_broken(writing: int) -> bool:
    """Whether nobody reads what is written here."""
    poller = select.poll()
    poller.register(writing, 0)
    return bool(poller.poll(0))


def test_bytes_and_the_end_come_through(crossing: Crossing) -> None:
    os.write(crossing.writing, b"hello")
    crossing.settle()
    assert os.read(crossing.reading, 100) == b"hello"
    os.close(crossing.writing)
    crossing.settle()
    assert os.read(crossing.reading, 100) == b""
    crossing.close()


def test_a_reader_that_does_not_read_stops_its_writer(crossing: Crossing) -> None:
    os.set_blocking(crossing.writing, False)
    written = 0
    for _ in range(1000):
        with contextlib.suppress(BlockingIOError):
            written += os.write(crossing.writing, bytes(4096))
        crossing.settle()
    # Two pipes of 64 KiB (pipe(7)) and a window between them.
    assert written == 2 * 65_536 + WINDOW_BYTES
    assert crossing.most_on_the_way <= WINDOW_BYTES
    os.set_blocking(crossing.reading, False)
    read = 0
    while True:
        try:
            read += len(os.read(crossing.reading, 4096))
        except BlockingIOError:
            if not crossing.carry():
                break
    assert read == written
    crossing.close()


def test_much_comes_through_in_order(crossing: Crossing) -> None:
    text = b"".join(b"%07d\n" % number for number in range(100_000))
    got = bytearray()

    def write() -> None:
        with os.fdopen(crossing.writing, "wb", closefd=True) as file:
            file.write(text)

    def read() -> None:
        while data := os.read(crossing.reading, 1 << 16):
            got.extend(data)

    threads = [threading.Thread(target=write), threading.Thread(target=read)]
    for thread in threads:
        thread.start()
    until = time.monotonic() + 20
    while any(thread.is_alive() for thread in threads) and time.monotonic() < until:
        crossing.carry()
    assert bytes(got) == text
    assert crossing.most_on_the_way <= WINDOW_BYTES
    crossing.close()


def test_a_writer_learns_that_its_reader_is_gone(crossing: Crossing) -> None:
    os.write(crossing.writing, b"hello")
    crossing.settle()
    assert not is_broken(crossing.writing)
    os.close(crossing.reading)
    crossing.settle()
    assert is_broken(crossing.writing)
    crossing.close()


def test_what_a_process_left_at_its_end_is_sent_without_credit(crossing: Crossing) -> None:
    os.write(crossing.writing, bytes(60_000))
    crossing.carry()
    os.write(crossing.writing, bytes(60_000))
    os.close(crossing.writing)
    crossing.source.drain()
    got = bytearray()
    while True:
        crossing.settle()
        data = os.read(crossing.reading, 1 << 16)
        if not data:
            break
        got += data
    assert len(got) == 120_000
    crossing.close()


def test_more_than_was_allowed_is_refused(crossing: Crossing) -> None:
    flood = Frame(frames.DATA, INDEX, bytes(frames.MAX_PAYLOAD_BYTES))
    for _ in range(4):
        crossing.sink.on_frame(flood)
    with pytest.raises(frames.BadFrame, match="1310720 bytes on their way into pipe 1"):
        crossing.sink.on_frame(flood)
    crossing.close()


def test_words_about_a_closed_pipe_mean_nothing(crossing: Crossing) -> None:
    crossing.source.close()
    crossing.sink.close()
    for kind, payload in ((frames.DATA, b"x"), (frames.CLOSE, b""), (frames.CREDIT, b"1234")):
        crossing.sink.on_frame(Frame(kind, INDEX, payload))
        crossing.source.on_frame(Frame(kind, INDEX, payload))
    assert not crossing.to_sink
    assert not crossing.to_source
    crossing.close()


def test_after_the_reply_what_came_is_still_written_and_nothing_is_sent(crossing: Crossing) -> None:
    crossing.sink.on_frame(Frame(frames.DATA, INDEX, bytes(100_000)))
    crossing.sink.detach()
    got = 0
    while True:
        crossing.settle()
        data = os.read(crossing.reading, 1 << 16)
        if not data:
            break
        got += len(data)
    assert got == 100_000
    assert not crossing.sink.is_pending
    assert not crossing.to_source
    crossing.close()
