"""Asking an endpoint: answers whole and in odd forms, attempts and waits, limits of time and size."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import pytest

from eval.generate.endpoint import Answered, Endpoint, EndpointSettings, Failure, FailureKind
from eval.generate.prompts import Message
from tests.eval.generate.asking import KEY, START, SkippingClock, answered, endpoint, failed
from tests.eval.generate.server import PROGRAM, EndpointServer


@pytest.fixture(scope="module")
def shared() -> Iterator[EndpointServer]:
    with EndpointServer() as running:
        yield running


@pytest.fixture
def server(shared: EndpointServer) -> EndpointServer:
    shared.forget()
    return shared


def test_a_good_answer_comes_with_what_the_server_says_of_it(server: EndpointServer) -> None:
    found = answered(server, "good")
    reply = found.reply
    assert reply.content == f"Zwei Zahlen, é 💡:\n\n```python\n{PROGRAM}\n```\n"
    assert (reply.finish_reason, reply.served_model, reply.fingerprint) == ("stop", "good-0613", "fp_44709d6fcb")
    assert (reply.tokens_in, reply.tokens_out, reply.tokens_reasoning, reply.tokens_cached) == (120, 80, 50, 20)
    assert reply.response_id is not None
    assert reply.response_id.startswith("chatcmpl-")
    assert (found.attempts, found.requested_at) == (1, START)
    assert 0 < found.latency_s < 30


def test_a_request_says_what_was_given_and_no_more(server: EndpointServer) -> None:
    answered(server, "good", prompt="Frage", body={"temperature": 0.5, "seed": 3})
    (arrival,) = server.arrivals
    assert arrival.document == {
        "model": "good",
        "messages": [{"role": "user", "content": "Frage"}],
        "temperature": 0.5,
        "seed": 3,
        "stream": False,
    }
    assert arrival.headers["authorization"] == f"Bearer {KEY}"
    assert arrival.headers["content-type"] == "application/json"
    assert arrival.headers["user-agent"].startswith("livecut/")
    assert "cookie" not in arrival.headers


def test_without_a_key_no_header_is_sent(server: EndpointServer) -> None:
    answered(server, "good", key=None)
    answered(server, "good", key=" ")
    assert ["authorization" in one.headers for one in server.arrivals] == [False, False]


def test_the_query_of_the_base_url_goes_along(server: EndpointServer) -> None:
    answered(server, "good", base_url="http://endpoint.example/v1/?api-version=2024-10-21")
    assert server.arrivals[0].target == "/v1/chat/completions?api-version=2024-10-21"


@pytest.mark.parametrize(
    ("behaviour", "content"),
    [
        ("parts", "```python\nprint(1)\n```"),
        ("tagged", "<think>\n```python\nprint(2)\n```\n</think>\n```python\nprint(1)\n```"),
        ("null", ""),
        ("packed", f"Zwei Zahlen, é 💡:\n\n```python\n{PROGRAM}\n```\n"),
        ("ignores-stream", f"Zwei Zahlen, é 💡:\n\n```python\n{PROGRAM}\n```\n"),
    ],
)
@pytest.mark.parametrize("stream", [None, True])
def test_odd_forms_are_answers(server: EndpointServer, behaviour: str, content: str, stream: bool | None) -> None:
    assert answered(server, behaviour, stream=stream).reply.content == content


def test_what_else_a_reply_says_is_kept(server: EndpointServer) -> None:
    assert answered(server, "reasoning-only").reply.reasoning == "```python\nprint(1)\n```"
    assert answered(server, "refusal").reply.refusal == "I cannot help with that."
    assert answered(server, "length").reply.finish_reason == "length"


# Attempts and waits


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 520, 529])
def test_a_trouble_that_may_pass_is_tried_again(server: EndpointServer, status: int) -> None:
    clock = SkippingClock()
    assert answered(server, f"{status}+{status}+good", clock=clock).attempts == 3
    assert len(server.arrivals) == 3
    # 1 s and 2 s, each with up to a half taken off; after a 429 nobody begins before the wait is over
    waits = [one for one in clock.slept if one >= 0.5]
    assert 0.5 <= waits[0] <= 1.0
    assert 1.0 <= waits[1] <= 2.0


@pytest.mark.parametrize(("behaviour", "attempts"), [("hang-up", 6), ("half:cut", 2), ("packed:cut", 2)])
def test_a_broken_connection_is_tried_again(server: EndpointServer, behaviour: str, attempts: int) -> None:
    assert answered(server, f"{behaviour}+good").attempts == 2
    failure = failed(server, behaviour, prompt="once more")
    assert (failure.kind, failure.is_fatal, failure.attempts) == (FailureKind.BROKEN_OFF, False, attempts)
    # What came in part was made, and is charged for.
    assert failure.may_be_billed == (attempts == 2)


class WorkingClock(SkippingClock):
    """On it each request takes so many seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(frozen=True)
        self._takes_s, self._is_asked = seconds, False

    def monotonic(self) -> float:
        self._skipped += self._takes_s
        return super().monotonic()


@pytest.mark.parametrize(
    ("status", "seconds", "attempts"),
    [(504, 1, 6), (504, 31, 2), (502, 100, 2), (524, 100, 2), (500, 40, 2), (429, 40, 6)],
)
def test_what_fails_after_much_work_may_be_billed_and_is_tried_once_more(
    server: EndpointServer, status: int, seconds: float, attempts: int
) -> None:
    failure = failed(server, f"{status}", clock=WorkingClock(seconds))
    assert (failure.attempts, failure.may_be_billed) == (attempts, attempts == 2)


def test_failures_that_are_not_billed_do_not_count_to_those_that_are(server: EndpointServer) -> None:
    assert answered(server, "429:0+half:cut+503+good").attempts == 4
    assert failed(server, "429:0+half:cut+503+half:cut+good", prompt="other").attempts == 4


def test_each_further_attempt_is_asked_for(server: EndpointServer) -> None:
    told: list[bool] = []

    def may_send(may_be_billed: bool) -> bool:
        told.append(may_be_billed)
        return len(told) < 3

    async def asking(model: str) -> Answered | Failure:
        async with endpoint(server) as one:
            return await one.ask(model, [Message("user", model)], {}, may_send=may_send)

    failure = asyncio.run(asking("503+half:cut+503+good"))
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.attempts, told) == (FailureKind.SERVER_ERROR, 3, [False, True, False])
    assert len(server.arrivals) == 3
    # Asking in another manner is a request as well.
    failure = asyncio.run(asking("only-streams"))
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.attempts, failure.is_fatal) == (FailureKind.BAD_REQUEST, 1, True)
    assert len(server.arrivals) == 4


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 413, 422, 501])
def test_a_trouble_that_lasts_is_not_tried_again(server: EndpointServer, status: int) -> None:
    assert failed(server, f"{status}+good").attempts == 1
    assert len(server.arrivals) == 1


def test_it_is_given_up_after_the_last_attempt(server: EndpointServer) -> None:
    clock = SkippingClock()
    failure = failed(server, "503", attempts=4, clock=clock)
    assert (failure.kind, failure.attempts, failure.is_fatal) == (FailureKind.SERVER_ERROR, 4, False)
    assert failure.message == ("endpoint.example/v1 answered 503: Some words of the server. (after 4 attempts)")
    assert len(clock.slept) == 3
    assert failure.at == clock.now()


@pytest.mark.parametrize(
    ("asked", "wait_s"), [("429:7", 7.0), ("503:7", 7.0), ("429:2.5", 2.5), ("429:ms=1500", 1.5), ("429:date=30", 30.0)]
)
def test_the_endpoint_is_left_alone_for_as_long_as_it_asks(server: EndpointServer, asked: str, wait_s: float) -> None:
    clock = SkippingClock(frozen=True)
    assert answered(server, f"{asked}+good", clock=clock).attempts == 2
    assert wait_s <= clock.slept[0] <= wait_s + 0.1


@pytest.mark.parametrize("asked", ["429:soon", "429:-5", "429:1e9", "429:99999999999999", "429:date=-60", "429:nan"])
def test_a_wait_that_cannot_be_read_or_is_over_is_our_own(server: EndpointServer, asked: str) -> None:
    clock = SkippingClock(frozen=True)
    assert answered(server, f"{asked}+good", clock=clock).attempts == 2
    assert 0.5 <= clock.slept[0] <= 1.0


def test_a_wait_that_is_too_long_ends_the_run(server: EndpointServer) -> None:
    clock = SkippingClock()
    failure = failed(server, "429:7200", clock=clock)
    assert (failure.kind, failure.is_fatal, failure.attempts) == (FailureKind.RATE_LIMITED, True, 1)
    assert failure.message.endswith("(it asks to wait 7200 s)")
    assert clock.slept == []


def test_the_waits_are_capped_in_their_sum(server: EndpointServer) -> None:
    clock = SkippingClock()
    failure = failed(server, "503:200", clock=clock)
    assert failure.attempts == 3
    assert sum(clock.slept) < 600


class HeldClock(SkippingClock):
    """Who sleeps on it sleeps until it is let go."""

    def __init__(self) -> None:
        super().__init__(frozen=True)
        self.is_let_go = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await self.is_let_go.wait()
        await super().sleep(seconds)


def test_when_one_worker_is_told_to_wait_all_of_them_wait(server: EndpointServer) -> None:
    async def asking() -> list[Answered | Failure]:
        clock = HeldClock()
        async with endpoint(server, clock) as one:
            first = asyncio.create_task(one.ask("429:50+good", [Message("user", "first")], {}))
            while not clock.slept:
                await asyncio.sleep(0.01)
            others = [asyncio.create_task(one.ask("good", [Message("user", f"q{n}")], {})) for n in range(5)]
            await asyncio.sleep(0.1)
            assert len(server.arrivals) == 1
            assert len(clock.slept) == 6
            assert min(clock.slept) >= 50
            clock.is_let_go.set()
            return await asyncio.gather(first, *others)

    assert all(isinstance(one, Answered) for one in asyncio.run(asking()))
    assert len(server.arrivals) == 7


# Limits of time: real, and short


LIMITS = {"timeout_s": 0.3, "attempts": 2}


@pytest.mark.parametrize(
    "behaviour", ["silent", "half", "drip", "drip:headers", "drip:ping", "drip:events", "slow:5", "stream:silent"]
)
def test_the_limit_of_time_holds_whatever_the_server_does(server: EndpointServer, behaviour: str) -> None:
    began = time.monotonic()
    failure = failed(server, behaviour, **LIMITS)
    assert time.monotonic() - began < 5
    assert (failure.kind, failure.is_fatal, failure.attempts) == (FailureKind.TIMED_OUT, False, 2)
    assert failure.message == "endpoint.example/v1: no whole answer within 0.3 s (after 2 attempts)"


def test_a_request_that_ran_out_of_time_is_made_once_more_and_no_oftener(server: EndpointServer) -> None:
    assert failed(server, "silent", timeout_s=0.1).attempts == 2
    assert answered(server, "silent+good", timeout_s=1, prompt="other").attempts == 2


@pytest.mark.parametrize("behaviour", ["half", "stream:silent"])
def test_a_silence_in_the_middle_of_an_answer_is_not_borne(server: EndpointServer, behaviour: str) -> None:
    failure = failed(server, behaviour, idle_timeout_s=0.1, attempts=1)
    assert failure.message == "endpoint.example/v1: silent for 0.1 s in the middle of an answer"
    assert failure.kind is FailureKind.TIMED_OUT


def test_a_model_may_think_for_longer_than_a_silence_may_last(server: EndpointServer) -> None:
    assert answered(server, "slow:0.5", idle_timeout_s=0.1).latency_s >= 0.5


def test_a_question_can_be_given_up_from_outside(server: EndpointServer) -> None:
    async def asking() -> None:
        async with endpoint(server) as one:
            task = asyncio.create_task(one.ask("silent", [Message("user", "x")], {}))
            await asyncio.sleep(0.1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert isinstance(await one.ask("good", [Message("user", "x")], {}), Answered)

    asyncio.run(asking())


# Limits of size


@pytest.mark.parametrize("behaviour", ["large", "large:chunks", "large:stream", "packed:bomb"])
def test_an_answer_that_is_too_large_is_not_read_to_its_end(server: EndpointServer, behaviour: str) -> None:
    failure = failed(server, behaviour)
    assert (failure.kind, failure.is_fatal, failure.attempts) == (FailureKind.TOO_LARGE, False, 1)
    assert failure.message == "endpoint.example/v1: the answer is larger than 8 MiB"


def test_a_long_stream_may_be_larger_than_a_body_for_what_stands_around_its_tokens(server: EndpointServer) -> None:
    assert len(answered(server, "large:many", max_body_bytes=12 * 2**20).reply.content) > 10_000_000
    assert failed(server, "large:many", max_body_bytes=2**19).message.endswith("larger than 8 MiB")


def test_a_form_of_compression_that_nobody_asked_for(server: EndpointServer) -> None:
    failure = failed(server, "packed:br")
    assert failure.message == "endpoint.example/v1: the answer comes as 'br', which was not asked for"


# Many at once


def test_each_of_many_workers_gets_its_own_answer(server: EndpointServer) -> None:
    programs = {f"number {number:03}.": f"print({number})" for number in range(200)}

    async def asking(running: EndpointServer) -> list[Answered | Failure]:
        async with endpoint(running, concurrency=20) as one:
            gate = asyncio.Semaphore(20)

            async def work(number: int) -> Answered | Failure:
                async with gate:
                    return await one.ask("good", [Message("user", f"number {number:03}.")], {})

            return await asyncio.gather(*(work(number) for number in range(200)))

    with EndpointServer(programs=programs) as running:
        found = asyncio.run(asking(running))
        assert set(running.asked().values()) == {1}
    for number, one in enumerate(found):
        assert isinstance(one, Answered)
        assert f"print({number})" in one.reply.content


@pytest.mark.enable_socket
def test_a_proxy_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    async def asking() -> Answered | Failure:
        async with Endpoint(EndpointSettings("http://endpoint.invalid", "some-key-of-ours")) as one:
            return await one.ask("good", [Message("user", "x")], {})

    with EndpointServer(tcp=True) as running:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{running.port}")
        monkeypatch.setenv("NO_PROXY", "")
        monkeypatch.delenv("no_proxy", raising=False)
        assert isinstance(asyncio.run(asking()), Answered)
        assert running.arrivals[0].headers["host"] == "endpoint.invalid"


@pytest.mark.enable_socket
def test_a_port_is_reached_as_a_socket_is() -> None:
    async def asking(base_url: str) -> Answered | Failure:
        async with Endpoint(EndpointSettings(base_url, "some-key-of-ours")) as one:
            return await one.ask("good", [Message("user", "x")], {})

    with EndpointServer(tcp=True, key="some-key-of-ours") as running:
        assert isinstance(asyncio.run(asking(running.base_url)), Answered)
    gone = asyncio.run(asking(running.base_url))
    assert isinstance(gone, Failure)
    assert (
        gone.message
        == f"127.0.0.1:{running.port}/v1 cannot be reached: nothing listens at this port (after 3 attempts)"
    )
    assert (gone.kind, gone.is_fatal, gone.attempts) == (FailureKind.UNREACHABLE, True, 3)
