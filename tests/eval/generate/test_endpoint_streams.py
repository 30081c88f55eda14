"""Answers that come in pieces: whole with a finish reason or [DONE], and never an answer before."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import pytest

from eval.generate.endpoint import FailureKind
from eval.generate.prompts import Message
from eval.generate.wire import _CLOSING_S
from tests.eval.generate.asking import answered, endpoint, failed
from tests.eval.generate.server import PROGRAM, EndpointServer

ANSWER = f"Zwei Zahlen, é 💡:\n\n```python\n{PROGRAM}\n```\n"


@pytest.fixture(scope="module")
def shared() -> Iterator[EndpointServer]:
    with EndpointServer() as running:
        yield running


@pytest.fixture
def server(shared: EndpointServer) -> EndpointServer:
    shared.forget()
    return shared


def test_a_stream_is_asked_for_with_its_usage(server: EndpointServer) -> None:
    reply = answered(server, "good", stream=True).reply
    assert server.arrivals[0].document["stream"] is True
    assert server.arrivals[0].document["stream_options"] == {"include_usage": True}
    assert (reply.content, reply.finish_reason, reply.served_model) == (ANSWER, "stop", "good-0613")
    assert (reply.tokens_in, reply.tokens_out, reply.tokens_reasoning) == (120, 80, 50)


@pytest.mark.parametrize("how", ["", "split", "crlf", "cr", "comments", "no-done", "no-finish", "no-newline"])
@pytest.mark.parametrize("asked", [True, False])
def test_forms_of_a_whole_stream(server: EndpointServer, how: str, asked: bool) -> None:
    found = answered(server, f"stream:{how}", stream=asked)
    assert (found.reply.content, found.attempts) == (ANSWER, 1)
    assert found.reply.tokens_in == 120


@pytest.mark.parametrize("how", ["ends-early", "broken-event", "cut", "error"])
def test_a_stream_that_ends_before_the_answer_is_tried_again_and_never_an_answer(
    server: EndpointServer, how: str
) -> None:
    assert answered(server, f"stream:{how}+good", stream=True).attempts == 2
    failure = failed(server, f"stream:{how}", prompt="other", stream=True)
    # Each of them was charged for.
    assert (failure.attempts, failure.is_fatal, failure.may_be_billed) == (2, False, True)
    assert failure.kind is (FailureKind.SERVER_ERROR if how == "error" else FailureKind.BROKEN_OFF)


def test_an_error_in_a_stream_counts_by_its_code(server: EndpointServer) -> None:
    failure = failed(server, "stream:error", stream=True, attempts=1)
    assert failure.message == "endpoint.example/v1 answered 502: Overloaded"
    lasting = failed(server, "stream:lasting-error", stream=True)
    assert (lasting.kind, lasting.attempts, lasting.is_fatal) == (FailureKind.TOO_LONG, 1, False)


def test_a_stream_without_a_choice_is_no_answer(server: EndpointServer) -> None:
    assert failed(server, "stream:empty", stream=True).kind is FailureKind.NO_CHOICES


def test_halves_of_a_character_in_two_pieces_are_put_together(server: EndpointServer) -> None:
    assert answered(server, "stream:surrogates", stream=True).reply.content == "💡\ufffd"


@pytest.mark.parametrize("how", ["open", "done-open"])
def test_a_whole_answer_is_not_lost_when_the_connection_stays_open(
    server: EndpointServer, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for end in ("last", "done"):
        monkeypatch.setitem(_CLOSING_S, end, 0.2)
    began = time.monotonic()
    assert answered(server, f"stream:{how}", stream=True).reply.content == ANSWER
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("end", ["", ":open"])
def test_an_answer_that_goes_on_after_a_finish_reason_is_not_cut(
    server: EndpointServer, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(_CLOSING_S, "last", 0.4)
    reply = answered(server, f"stream:each-finishes{end}", stream=True, idle_timeout_s=0.5).reply
    assert (reply.content, reply.finish_reason) == (ANSWER, "stop")


def test_an_answer_whose_pieces_all_finish_and_that_is_cut_is_none(server: EndpointServer) -> None:
    failure = failed(server, "stream:each-finishes:cut", stream=True)
    assert failure.kind is FailureKind.BROKEN_OFF


@pytest.mark.parametrize("how", ["null-finish", "other-choice"])
def test_what_is_no_finish_of_the_answer_does_not_end_it(server: EndpointServer, how: str) -> None:
    assert failed(server, f"stream:{how}", stream=True).kind is FailureKind.BROKEN_OFF


def test_a_filter_in_the_middle_of_a_stream_is_a_refusal_as_anywhere(server: EndpointServer) -> None:
    reply = answered(server, "stream:filter", stream=True).reply
    assert (reply.content, reply.finish_reason) == (ANSWER, "content_filter")
    assert reply.refusal == "The response was filtered by the content management policy."


def test_a_connection_that_breaks_after_the_answer_was_whole(server: EndpointServer) -> None:
    assert answered(server, "stream:cut-after-finish", stream=True).reply.content == ANSWER


def test_an_endpoint_that_only_streams_is_asked_so_from_then_on(server: EndpointServer) -> None:
    async def asking() -> None:
        async with endpoint(server) as one:
            for number in range(3):
                await one.ask("only-streams", [Message("user", f"q{number}")], {})

    asyncio.run(asking())
    assert [one.streams for one in server.arrivals] == [False, True, True, True]


def test_workers_that_were_under_way_when_it_was_learnt_ask_again_as_well(server: EndpointServer) -> None:
    async def asking() -> list[object]:
        async with endpoint(server) as one:
            asks = (one.ask("no-stream-options", [Message("user", f"q{number}")], {}) for number in range(8))
            return [type(found).__name__ for found in await asyncio.gather(*asks)]

    assert asyncio.run(asking()) == ["Answered"] * 8
    assert "stream_options" not in server.arrivals[-1].document


def test_words_that_only_look_like_streaming_change_nothing(server: EndpointServer) -> None:
    assert failed(server, "error:upstream").kind is FailureKind.BAD_REQUEST
    assert [one.streams for one in server.arrivals] == [False]


def test_who_wants_no_stream_gets_none(server: EndpointServer) -> None:
    failure = failed(server, "only-streams", stream=False)
    assert len(server.arrivals) == 1
    assert failure.kind is FailureKind.BAD_REQUEST
    assert "stream" in failure.message
