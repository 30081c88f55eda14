"""The frame protocol by itself: whatever way bytes are cut, whatever the other end says."""

from __future__ import annotations

import select
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.agent import frames, wire
from sandbox.agent.frames import Call, Descriptor, Frame
from sandbox.docker_stream import ContainerStream, Demultiplexer

RUN = wire.Request(wire.RUN, False, 1.0, 3.0, 64 << 20, 1 << 20, {})

a_frame = st.builds(
    Frame,
    st.sampled_from([frames.HELLO, frames.REQUEST, frames.DATA, frames.CREDIT, frames.CLOSE, frames.REPLY]),
    st.integers(0, wire.MAX_FDS - 1),
    st.binary(max_size=300),
)


def cut(data: bytes, places: list[int]) -> Iterator[bytes]:
    """The bytes in pieces."""
    start = 0
    for place in sorted({p % (len(data) + 1) for p in places}):
        yield data[start:place]
        start = place
    yield data[start:]


# --- taking streams apart ----------------------------------------------------------------------------------------


@given(st.lists(a_frame, max_size=8), st.lists(st.integers(0, 5000), max_size=12))
def test_frames_come_out_as_they_went_in_however_the_bytes_are_cut(sent: list[Frame], places: list[int]) -> None:
    parser = frames.Parser()
    came = [frame for piece in cut(b"".join(f.pack() for f in sent), places) for frame in parser.feed(piece)]
    assert came == sent


@given(st.binary(max_size=400))
def test_any_bytes_are_frames_or_refused(data: bytes) -> None:
    parser = frames.Parser()
    try:
        came = list(parser.feed(data))
    except frames.BadFrame:
        return
    packed = b"".join(frame.pack() for frame in came)
    assert data.startswith(packed)


@pytest.mark.parametrize(
    "header",
    [
        struct.pack("<BBI", 0, 0, 0),
        struct.pack("<BBI", 7, 0, 0),
        struct.pack("<BBI", frames.DATA, wire.MAX_FDS, 0),
        struct.pack("<BBI", frames.DATA, 1, frames.MAX_PAYLOAD_BYTES + 1),
    ],
    ids=["no kind 0", "no kind 7", "index", "length"],
)
def test_a_bad_header_is_refused_before_its_payload_comes(header: bytes) -> None:
    with pytest.raises(frames.BadFrame):
        list(frames.Parser().feed(header))


@given(
    st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(max_size=200)), max_size=8),
    st.lists(st.integers(0, 2000), max_size=12),
)
def test_the_daemons_pieces_are_taken_apart_however_they_are_cut(
    pieces: list[tuple[int, bytes]], places: list[int]
) -> None:
    data = b"".join(struct.pack(">BxxxI", stream, len(text)) + text for stream, text in pieces)
    demultiplexer = Demultiplexer()
    came = b"".join(demultiplexer.feed(piece) for piece in cut(data, places))
    assert came == b"".join(text for stream, text in pieces if stream == 1)


def test_the_last_words_are_the_last_line_on_standard_error() -> None:
    demultiplexer = Demultiplexer()
    words = b"Traceback:\n" + b"x" * 5000 + b"\nOSError: no\n"
    assert demultiplexer.feed(struct.pack(">BxxxI", 2, len(words)) + words) == b""
    assert demultiplexer.last_words() == "OSError: no"


def test_a_stream_that_there_is_not_is_refused() -> None:
    with pytest.raises(frames.BadFrame):
        Demultiplexer().feed(b"HTTP/1.1 500 Internal")


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (RUN, {1, 2, 4}),
        (RUN._replace(has_compiled=True), {1, 2}),
        (RUN._replace(operation=wire.CALL), {1, 2, 4}),
        (RUN._replace(operation=wire.CALL, has_compiled=True), {1, 2}),
        (RUN._replace(operation=wire.GRADE), {1, 2}),
        (RUN._replace(operation=wire.EXEC, details={"place": {"a": 4}, "fetch": {"b": 3, "c": 6}}), {1, 2, 3, 6}),
    ],
)
def test_what_is_written_to_is_known_from_the_request(request_: wire.Request, expected: set[int]) -> None:
    assert frames.outputs_of(request_) == expected


def test_a_call_comes_out_as_it_went_in() -> None:
    request = RUN._replace(details={"zygote": "calls", "names": ["a", "b"], "limit": 2**40})
    call = Call(request, (Descriptor(frames.FILE, 2**33, 4), Descriptor(frames.SAME, key=1)), (7, 9))
    assert Call.unpack(call.pack()) == call


class ByProcess:
    """What the client library gives for a daemon behind ssh, with a command of ours in ssh's place."""

    def __init__(self) -> None:
        self.proc = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def close(self) -> None:
        self.proc.terminate()


def test_a_daemon_behind_a_process_is_spoken_to_through_its_pipes() -> None:
    by = ByProcess()
    stream = ContainerStream(by)
    stream.send(struct.pack(">BxxxI", 1, 5) + b"hello" + struct.pack(">BxxxI", 2, 2) + b"oh")
    assert select.select([stream.fileno()], [], [], 5)[0]
    assert stream.receive() == b"hello"
    assert not stream.has_more()
    stream.interrupt()
    assert by.proc.wait(5)
    with pytest.raises(EOFError, match="oh"):
        stream.receive()
    stream.close()
    assert by.proc.returncode is not None


def test_sending_to_one_that_has_ended_is_no_long_wait() -> None:
    ours, theirs = socket.socketpair()
    stream = ContainerStream(ours)
    with theirs:
        theirs.sendall(struct.pack(">BxxxI", 2, 6) + b"killed")
        theirs.shutdown(socket.SHUT_WR)
        started = time.monotonic()
        with pytest.raises(EOFError, match="killed"):
            stream.send(bytes(10 << 20))  # nobody takes it in
        assert time.monotonic() - started < 2
    stream.close()


def test_what_comes_while_something_is_sent_is_kept() -> None:
    ours, theirs = socket.socketpair()
    stream = ContainerStream(ours)
    with theirs:
        theirs.sendall(struct.pack(">BxxxI", 1, 5) + b"hello")
        sending = threading.Thread(target=stream.send, args=(bytes(4 << 20),))
        sending.start()
        taken = 0
        while taken < 4 << 20:
            taken += len(theirs.recv(1 << 16))
        sending.join()
        assert stream.has_more()
        assert stream.receive() == b"hello"
        assert not stream.has_more()
    stream.close()


# --- a jail that a test plays ------------------------------------------------------------------------------------
