"""What the host makes of a jail over frames that answers well, wrongly, late or not at all."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox import JailFault, memory_files
from sandbox.agent import frames, wire
from sandbox.agent.frames import Call, Descriptor, Frame
from sandbox.frame_link import FrameLink
from sandbox.jail import Jail
from sandbox.links import Link

HELLO = wire.Hello("3.11.2", "x86_64", True, 7, True, {"numpy": "1.24.2"})
REPLY = wire.Reply(wire.LOADED, 0, False, False, 0, 1500, 2000, 12 << 20)
RUN = wire.Request(wire.RUN, False, 1.0, 3.0, 64 << 20, 1 << 20, {})


class SocketStream:
    """A stream over one end of a socket pair."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end

    def fileno(self) -> int:
        return self._end.fileno()

    def has_more(self) -> bool:
        return False

    def receive(self) -> bytes:
        data = self._end.recv(1 << 16)
        if not data:
            raise EOFError("killed")
        return data

    def send(self, data: bytes) -> None:
        self._end.sendall(data)

    def interrupt(self) -> None:
        with contextlib.suppress(OSError):
            self._end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._end.close()


class PlayedJail:
    """Both launcher and enclosure; ``play`` is what goes on in the jail, given its end of the stream."""

    name = "played"
    kernel = ""

    def __init__(self, play: Callable[[socket.socket], None]) -> None:
        self._ours, self._theirs = socket.socketpair()
        self._thread = threading.Thread(target=self._run, args=(play,))
        self._thread.start()

    def _run(self, play: Callable[[socket.socket], None]) -> None:
        with self._theirs, contextlib.suppress(BrokenPipeError, ConnectionResetError):
            play(self._theirs)

    def launch(self, uid_base: int) -> PlayedJail:
        return self

    def connect(self, timeout_s: float) -> Link:
        return FrameLink(SocketStream(self._ours))

    @staticmethod
    def describe_end() -> str:
        return ""

    @staticmethod
    def details() -> dict[str, str]:
        return {}

    def close(self) -> None:
        self._ours.close()
        self._thread.join()


@contextlib.contextmanager
def jail_that(play: Callable[[socket.socket], None]) -> Iterator[Jail]:
    """A jail whose inside is played."""
    jail = Jail(PlayedJail(play), 10_000)
    try:
        yield jail
    finally:
        jail.close()


def greet(end: socket.socket) -> None:
    end.sendall(Frame(frames.HELLO, 0, HELLO.pack()).pack())


def wait_for_call(end: socket.socket) -> Call:
    """Read on until a request has come."""
    parser = frames.Parser()
    while True:
        for frame in parser.feed(end.recv(1 << 16)):
            if frame.kind == frames.REQUEST:
                return Call.unpack(frame.payload)


@contextlib.contextmanager
def descriptors() -> Iterator[list[int]]:
    """What goes with a RUN: input, two outputs, program, code."""
    fds = [memory_files.sealed(b"1 2\n"), memory_files.empty(), memory_files.empty()]
    fds += [memory_files.sealed(b"print(3)"), memory_files.empty()]
    try:
        yield fds
    finally:
        for fd in fds:
            os.close(fd)


def test_what_the_jail_says_it_is_reaches_the_host() -> None:
    with jail_that(greet) as jail:
        assert jail.hello == HELLO
        assert jail.level.name == "full"


def test_what_the_jail_sends_is_in_the_callers_files() -> None:
    def play(end: socket.socket) -> None:
        greet(end)
        wait_for_call(end)
        for frame in (Frame(1 + 2, wire.STDOUT, b"3"), Frame(3, wire.STDERR, b"oh"), Frame(3, wire.STDOUT, b"\n")):
            end.sendall(frame.pack())
        end.sendall(Frame(frames.REPLY, 0, REPLY.pack()).pack())

    with jail_that(play) as jail, descriptors() as fds:
        assert jail.run(RUN, fds) == REPLY
        assert [memory_files.content(fd, 100) for fd in fds] == [b"1 2\n", b"3\n", b"oh", b"print(3)", b""]


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        (Frame(frames.DATA, wire.STDIN, b"x").pack(), "kind 3 for descriptor 0"),
        (Frame(frames.DATA, wire.COMPILED, b"x").pack(), "kind 3 for descriptor 4"),
        (Frame(frames.HELLO, 0, HELLO.pack()).pack(), "kind 1 for descriptor 0"),
        (Frame(frames.CLOSE, wire.STDOUT, b"").pack(), "kind 5 for descriptor 1"),
        (Frame(frames.REPLY, 0, b"short").pack(), "speaks nonsense"),
        (b"Traceback (most recent call last):\n", "speaks nonsense"),
        (b"", "the jail ended: killed"),
    ],
)
def test_a_jail_that_speaks_nonsense_is_a_fault(said: bytes, fault: str) -> None:
    def play(end: socket.socket) -> None:
        greet(end)
        wait_for_call(end)
        end.sendall(said)

    with jail_that(play) as jail, descriptors() as fds, pytest.raises(JailFault, match=fault):
        jail.run(RUN._replace(has_compiled=True), fds)


@pytest.mark.parametrize(
    "greeting",
    [b"", b"x" * 100, Frame(frames.HELLO, 0, b"3.11").pack(), Frame(frames.REPLY, 0, REPLY.pack()).pack()],
    ids=["silence", "noise", "half", "no greeting"],
)
def test_a_jail_that_greets_wrongly_does_not_come_up(greeting: bytes) -> None:
    with pytest.raises(JailFault):
        Jail(PlayedJail(lambda end: end.sendall(greeting)), 10_000)


def test_a_jail_that_sends_without_end_is_stopped() -> None:
    def play(end: socket.socket) -> None:
        greet(end)
        wait_for_call(end)
        while True:
            end.sendall(Frame(frames.DATA, wire.STDOUT, bytes(frames.MAX_PAYLOAD_BYTES)).pack())

    with jail_that(play) as jail, descriptors() as fds:
        with pytest.raises(JailFault, match="more than 67108864 bytes for descriptor 1"):
            jail.run(RUN, fds)
        assert memory_files.size(fds[wire.STDOUT]) <= 64 << 20


def test_a_jail_that_answers_before_it_is_asked_is_a_fault() -> None:
    def play(end: socket.socket) -> None:
        greet(end)
        wait_for_call(end)
        end.sendall(2 * Frame(frames.REPLY, 0, REPLY.pack()).pack())

    with jail_that(play) as jail, descriptors() as fds:
        jail.run(RUN, fds)
        with pytest.raises(JailFault):
            jail.run(RUN, fds)


@pytest.mark.parametrize("with_pipes", [False, True])
def test_a_jail_that_hangs_is_given_up_in_time(with_pipes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox.jail._REPLY_GRACE_S", 0.7)

    def play(end: socket.socket) -> None:
        greet(end)
        wait_for_call(end)
        end.recv(1)  # until the host closes

    request = RUN._replace(wall_kill_s=0.05)
    reading, writing = os.pipe()
    with jail_that(play) as jail, descriptors() as fds:
        if with_pipes:
            fds[wire.STDIN], reading = reading, fds[wire.STDIN]
        started = time.monotonic()
        with pytest.raises(JailFault, match="did not answer within 1 s"):
            jail.run(request, fds)
        assert time.monotonic() - started < 2
    os.close(reading)
    os.close(writing)


def test_a_test_whose_files_did_not_come_whole_is_a_fault() -> None:
    reply = REPLY._replace(fault=True, message="what it left could not be fetched")

    def play(end: socket.socket) -> None:
        greet(end)
        wait_for_call(end)
        end.sendall(Frame(frames.REPLY, 0, reply.pack()).pack())

    with (
        jail_that(play) as jail,
        descriptors() as fds,
        pytest.raises(JailFault, match="to its end: what it left could"),
    ):
        jail.run(RUN, fds)


def test_another_thread_may_interrupt_the_wait() -> None:
    def play(end: socket.socket) -> None:
        greet(end)
        wait_for_call(end)
        end.recv(1)

    with jail_that(play) as jail, descriptors() as fds:
        timer = threading.Timer(0.1, jail.interrupt)
        timer.start()
        with pytest.raises(JailFault):
            jail.run(RUN, fds)
        timer.join()


@settings(max_examples=30, deadline=None)
@given(st.binary(max_size=200))
def test_whatever_a_jail_says_there_is_a_fault_or_a_reply(said: bytes) -> None:
    def play(end: socket.socket) -> None:
        greet(end)
        wait_for_call(end)
        end.sendall(said)

    with jail_that(play) as jail, descriptors() as fds, contextlib.suppress(JailFault):
        assert isinstance(jail.run(RUN, fds), wire.Reply)


# --- what is not sent twice --------------------------------------------------------------------------------------


def test_a_sealed_file_is_sent_once_and_a_changed_one_is_another() -> None:
    calls: list[Call] = []

    def play(end: socket.socket) -> None:
        greet(end)
        for _ in range(3):
            calls.append(wait_for_call(end))
            end.sendall(Frame(frames.REPLY, 0, REPLY.pack()).pack())

    with jail_that(play) as jail, descriptors() as fds:
        jail.run(RUN, fds)
        jail.run(RUN, fds)
        os.close(fds[wire.STDIN])
        fds[wire.STDIN] = memory_files.sealed(b"4 5 6\n")
        jail.run(RUN, fds)
    forms = [[descriptor.form for descriptor in call.descriptors] for call in calls]
    out = frames.OUTPUT
    assert forms[0] == [frames.FILE, out, out, frames.FILE, out]
    assert forms[1] == [frames.KEPT, out, out, frames.KEPT, out]
    assert forms[2] == [frames.FILE, out, out, frames.KEPT, out]
    assert calls[1].descriptors[0].key == calls[0].descriptors[0].key
    assert calls[2].descriptors[0].size == 6


def test_a_jail_is_told_what_it_need_not_keep() -> None:
    calls: list[Call] = []
    runs = 70

    def play(end: socket.socket) -> None:
        greet(end)
        for _ in range(runs):
            calls.append(wait_for_call(end))
            end.sendall(Frame(frames.REPLY, 0, REPLY.pack()).pack())

    before = len(os.listdir("/proc/self/fd"))
    with jail_that(play) as jail, descriptors() as fds:
        for number in range(runs):
            os.close(fds[wire.STDIN])
            fds[wire.STDIN] = memory_files.sealed(b"%d\n" % number)
            jail.run(RUN, fds)
    kept: set[int] = set()
    for call in calls:
        kept -= set(call.dropped)
        kept |= {d.key for d in call.descriptors if d.form == frames.FILE and d.key}
        assert all(d.key in kept for d in call.descriptors if d.form == frames.KEPT)
        assert len(kept) <= 66
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_file_given_twice_for_output_is_one_file() -> None:
    calls: list[Call] = []

    def play(end: socket.socket) -> None:
        greet(end)
        calls.append(wait_for_call(end))
        end.sendall(Frame(frames.REPLY, 0, REPLY.pack()).pack())

    with jail_that(play) as jail, descriptors() as fds:
        both = [fds[wire.STDIN], fds[wire.STDOUT], fds[wire.STDOUT], *fds[3:]]
        jail.run(RUN, both)
    assert calls[0].descriptors[wire.STDERR] == Descriptor(frames.SAME, key=wire.STDOUT)
