"""What an endpoint's errors come to: one line that says what and where, a hint, and whether the run can go on."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.generate.addresses import BadEndpoint, is_meant_for_openai_key, read_address
from eval.generate.endpoint import Answered, Endpoint, EndpointSettings, Failure, FailureKind
from eval.generate.prompts import Message
from tests.eval.generate.asking import SkippingClock, answered, endpoint, failed
from tests.eval.generate.server import EndpointServer

PLACE = "endpoint.example/v1"
KEYS = st.sampled_from(
    [
        "error",
        "message",
        "code",
        "choices",
        "delta",
        "content",
        "detail",
        "usage",
        "finish_reason",
        "metadata",
        "object",
    ]
)


@pytest.fixture(scope="module")
def shared() -> Iterator[EndpointServer]:
    with EndpointServer() as running:
        yield running


@pytest.fixture
def server(shared: EndpointServer) -> EndpointServer:
    shared.forget()
    return shared


@pytest.mark.parametrize(
    ("name", "kind", "is_fatal", "hint"),
    [
        ("quota", FailureKind.NO_CREDIT, True, "credit"),
        ("credit", FailureKind.NO_CREDIT, True, "credit"),
        ("unknown-model", FailureKind.UNKNOWN_MODEL, True, "name"),
        ("unknown-model-vllm", FailureKind.UNKNOWN_MODEL, True, "name"),
        ("unknown-model-litellm", FailureKind.UNKNOWN_MODEL, True, "name"),
        ("unknown-model-ollama", FailureKind.UNKNOWN_MODEL, True, "name"),
        ("unknown-model-openrouter", FailureKind.UNKNOWN_MODEL, True, "name"),
        ("wrong-url", FailureKind.NOT_FOUND, True, "/v1"),
        ("wrong-url-fastapi", FailureKind.NOT_FOUND, True, "/v1"),
        ("wrong-url-lm-studio", FailureKind.NOT_FOUND, True, "/v1"),
        ("max-tokens", FailureKind.BAD_REQUEST, True, "max_completion_tokens"),
        ("temperature", FailureKind.BAD_REQUEST, True, "temperature"),
        ("stop", FailureKind.BAD_REQUEST, True, "stop words"),
        ("effort", FailureKind.BAD_REQUEST, True, "effort"),
        ("context", FailureKind.TOO_LONG, False, "left out"),
        ("context-vllm", FailureKind.TOO_LONG, False, "left out"),
        ("key-gemini", FailureKind.UNAUTHORISED, True, "key"),
        ("key-litellm", FailureKind.UNAUTHORISED, True, "key"),
        ("plain", FailureKind.BAD_REQUEST, False, "options"),
        ("no-stream", FailureKind.BAD_REQUEST, True, "without"),
    ],
)
def test_an_error_of_a_known_server(
    server: EndpointServer, name: str, kind: FailureKind, is_fatal: bool, hint: str
) -> None:
    failure = failed(server, f"error:{name}", stream=True if name == "no-stream" else None)
    assert (failure.kind, failure.is_fatal, failure.attempts) == (kind, is_fatal, 1)
    assert hint in failure.hint
    assert PLACE in failure.message


def test_the_servers_own_words_are_one_line_of_printable_characters(server: EndpointServer) -> None:
    failure = failed(server, "error:plain")
    assert failure.message.startswith(f"{PLACE} answered 400: Something else. [2J Second line. long long")
    assert failure.message.endswith("…")
    assert len(failure.message) <= 300


@pytest.mark.parametrize(
    ("name", "words"), [("provider-openrouter", "upstream is down"), ("text-200", "out of memory")]
)
def test_an_error_in_place_of_an_answer_is_none_and_is_tried_again(
    server: EndpointServer, name: str, words: str
) -> None:
    assert answered(server, f"error:{name}+good").attempts == 2
    failure = failed(server, f"error:{name}", prompt="other", attempts=2)
    assert words in failure.message
    assert not failure.is_fatal


@pytest.mark.parametrize("name", ["filter-azure", "moderation-openrouter"])
def test_an_endpoints_filter_is_a_refusal_and_so_an_answer(server: EndpointServer, name: str) -> None:
    reply = answered(server, f"error:{name}").reply
    assert reply.refusal
    assert (reply.content, reply.finish_reason) == ("", "content_filter")


def test_a_key_that_is_refused_is_named_by_its_variable(server: EndpointServer) -> None:
    failure = failed(server, "401", key_variable="MY_KEY")
    assert failure.message == f"{PLACE}: the key in MY_KEY was refused (401)"
    assert (failure.kind, failure.is_fatal) == (FailureKind.UNAUTHORISED, True)
    without = failed(server, "401", key=None)
    assert without.message == f"{PLACE} wants a key, and OPENAI_API_KEY is not set"
    assert failed(server, "403").is_fatal


def test_a_redirect_is_not_followed_and_tells_the_host_alone(server: EndpointServer) -> None:
    failure = failed(server, "redirect")
    expected = f"{PLACE} answered 307: it sends to elsewhere.example, and redirects are not followed"
    assert (failure.message, failure.is_fatal, failure.attempts) == (expected, True, 1)
    assert len(server.arrivals) == 1
    odd = failed(server, "redirect:javascript:alert(1)")
    assert odd.message == f"{PLACE} answered 307: it sends to another address, and redirects are not followed"


@pytest.mark.parametrize(
    ("behaviour", "kind", "said"),
    [
        ("html", FailureKind.NOT_JSON, "answered with a web page, not with an answer of an API"),
        ("html:404", FailureKind.NOT_FOUND, "answered 404: a web page"),
        ("html:400", FailureKind.NOT_FOUND, "answered 400: a web page"),
        ("html:403", FailureKind.UNAUTHORISED, "answered 403: refused"),
        ("not-json", FailureKind.NOT_JSON, 'it begins with "upstream connect error [31mor disconnect"'),
        ("nothing", FailureKind.NOT_JSON, "answered with nothing at all"),
        ("nested", FailureKind.NOT_JSON, "no JSON"),
        ("digits", FailureKind.NOT_JSON, "no JSON"),
        ("other-form", FailureKind.ODD_FORM, "Ollama"),
    ],
)
def test_what_is_no_answer_of_an_api_means_a_wrong_address_until_one_was_given(
    server: EndpointServer, behaviour: str, kind: FailureKind, said: str
) -> None:
    failure = failed(server, behaviour)
    assert (failure.kind, failure.is_fatal, failure.attempts) == (kind, True, 1)
    assert said in failure.message


@pytest.mark.parametrize("behaviour", ["html", "not-json", "other-form"])
def test_an_endpoint_that_has_answered_is_at_the_right_address(server: EndpointServer, behaviour: str) -> None:
    async def asking() -> Answered | Failure:
        async with endpoint(server) as one:
            await one.ask("good", [Message("user", "x")], {})
            return await one.ask(behaviour, [Message("user", "x")], {})

    failure = asyncio.run(asking())
    assert isinstance(failure, Failure)
    assert not failure.is_fatal


def test_empty_choices_fail_one_question(server: EndpointServer) -> None:
    failure = failed(server, "empty-choices")
    assert (failure.kind, failure.is_fatal) == (FailureKind.NO_CHOICES, False)
    assert "no choices" in failure.message


def test_a_web_page_of_a_server_in_trouble_passes(server: EndpointServer) -> None:
    assert answered(server, "html:502+good").attempts == 2
    assert failed(server, "html:502", prompt="x").message.startswith(f"{PLACE} answered 502: a web page")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
EVENTS = st.lists(JSON.map(json.dumps) | st.just("[DONE]"), max_size=5)
BODIES = (
    st.binary(max_size=200)
    | JSON.map(lambda document: json.dumps(document).encode())
    | EVENTS.map(lambda events: "".join(f"data: {one}\n\n" for one in events).encode())
)


@settings(max_examples=300, deadline=None)
@given(
    status=st.sampled_from([200, 204, 300, 301, 307, 399]) | st.integers(400, 599),
    kind=st.sampled_from(["application/json", "text/event-stream", "text/html", "", "\xff"]),
    headers=st.dictionaries(
        st.sampled_from(["retry-after", "retry-after-ms", "location", "date", "content-encoding"]),
        st.text(st.characters(min_codepoint=32, max_codepoint=126)) | st.just("gzip"),
    ),
    body=BODIES,
)
def test_whatever_comes_back_is_a_value(status: int, kind: str, headers: dict[str, str], body: bytes) -> None:
    def reply(_: httpx.Request) -> httpx.Response:
        said = [(name.encode(), value.encode("latin-1")) for name, value in (headers | {"content-type": kind}).items()]
        return httpx.Response(status, headers=said, content=pieces())

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(body), 50):
            yield body[start : start + 50]

    async def asking() -> Answered | Failure:
        transport = httpx.MockTransport(reply)
        async with Endpoint(EndpointSettings("https://h.example"), clock=SkippingClock(), transport=transport) as one:
            return await one.ask("m", [Message("user", "x")], {})

    found = asyncio.run(asking())
    if isinstance(found, Failure):
        assert found.message.isprintable()
        assert len(found.message) <= 300
        assert found.hint


# The address


@pytest.mark.parametrize(
    ("base_url", "url", "place"),
    [
        ("https://api.example.com", "https://api.example.com/v1/chat/completions", "api.example.com/v1"),
        ("https://api.example.com/", "https://api.example.com/v1/chat/completions", "api.example.com/v1"),
        (" https://api.example.com/v1 ", "https://api.example.com/v1/chat/completions", "api.example.com/v1"),
        ("https://api.example.com/v1/", "https://api.example.com/v1/chat/completions", "api.example.com/v1"),
        ("https://api.example.com/chat/completions", "https://api.example.com/chat/completions", "api.example.com"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/v1/chat/completions", "127.0.0.1:8000/v1"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1/chat/completions", "[::1]:8000/v1"),
        (
            "https://h.example/v1beta/openai",
            "https://h.example/v1beta/openai/chat/completions",
            "h.example/v1beta/openai",
        ),
        (
            "https://h.example/openai/deployments/d?api-version=2024-10-21",
            "https://h.example/openai/deployments/d/chat/completions?api-version=2024-10-21",
            "h.example/openai/deployments/d",
        ),
        ("https://h.example?k=v", "https://h.example/v1/chat/completions?k=v", "h.example/v1"),
    ],
)
def test_a_base_url_is_taken_with_and_without_its_version(base_url: str, url: str, place: str) -> None:
    address = read_address(base_url)
    assert (address.url, address.place) == (url, place)


@pytest.mark.parametrize(
    ("base_url", "is_meant"),
    [
        ("https://api.openai.com/v1", True),
        (" https://API.OpenAI.com ", True),
        ("https://eu.api.openai.com/v1", True),
        ("http://localhost:8000", True),
        ("http://127.0.0.1:8000/v1", True),
        ("http://127.1.2.3", True),
        ("http://[::1]:8000/v1", True),
        ("https://openai.com", False),
        ("https://api.openai.com.example.org/v1", False),
        ("https://myapi.openai.com", False),
        ("https://api.example.com/api.openai.com", False),
        ("http://192.168.0.7:8000", False),
        ("http://0.0.0.0:8000", False),
        ("https://localhost.example.com", False),
    ],
)
def test_where_the_key_of_openai_goes_unnamed(base_url: str, is_meant: bool) -> None:
    assert is_meant_for_openai_key(base_url) is is_meant


@pytest.mark.parametrize(
    ("base_url", "said"),
    [
        ("", "http:// or https://"),
        ("api.example.com/v1", "http:// or https://"),
        ("ftp://api.example.com", "http:// or https://"),
        ("http:/api.example.com", "names no host"),
        ("https://", "names no host"),
        ("https://user:secret@api.example.com", "user name or a password"),
        ("https://secret@api.example.com", "user name or a password"),
        ("https://api.example.com:port", "cannot be read"),
        ("https://api.example.com:99999", "cannot be read"),
        ("https://[::1", "cannot be read"),
        ("https://api.example.com/v1#secret", "fragment"),
        ("https://api.exa mple.com", "characters"),
        ("https://api.example.com/\x00", "characters"),
        ("https://bücher.example", "characters"),
    ],
)
def test_an_address_that_cannot_be_used_is_one_line(base_url: str, said: str) -> None:
    with pytest.raises(BadEndpoint) as caught:
        Endpoint(EndpointSettings(base_url))
    assert said in caught.value.message
    assert "secret" not in caught.value.message + caught.value.hint
    assert caught.value.hint


def test_a_proxy_that_cannot_be_used_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "nonsense://user:secret@proxy.example:1")
    with pytest.raises(BadEndpoint) as caught:
        Endpoint(EndpointSettings("https://api.example.com"))
    assert "proxy" in caught.value.message
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("cause", "said", "attempts"),
    [
        (socket.gaierror(-2, "Name or service not known"), "cannot be reached: there is no host of this name", 3),
        (ConnectionRefusedError(111, "refused"), "cannot be reached: nothing listens at this port", 3),
        (OSError("network is down"), "cannot be reached: all attempts failed", 3),
        (ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version"), "no secure connection: ", 1),
        (ssl.SSLCertVerificationError(1, "self-signed"), "no secure connection: ", 1),
    ],
)
def test_a_host_that_cannot_be_reached(cause: OSError, said: str, attempts: int) -> None:
    def fail(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("all attempts failed") from cause

    async def asking() -> Answered | Failure:
        settings = EndpointSettings("https://api.example.com")
        async with Endpoint(settings, clock=SkippingClock(), transport=httpx.MockTransport(fail)) as one:
            return await one.ask("m", [Message("user", "x")], {})

    failure = asyncio.run(asking())
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.is_fatal, failure.attempts) == (FailureKind.UNREACHABLE, True, attempts)
    assert failure.message.startswith("api.example.com/v1")
    assert said in failure.message
