"""The key goes into one header and nowhere else, whatever the endpoint sends back."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eval.generate.endpoint import Answered, BadEndpoint, Endpoint, EndpointSettings
from eval.generate.prompts import Message
from eval.generate.redaction import Secrets, whole_characters
from tests.eval.generate.asking import KEY, ask, endpoint
from tests.eval.generate.server import EndpointServer

ECHOES = [
    "echo:400", "echo:401", "echo:403", "echo:404", "echo:422", "echo:429", "echo:500",
    "echo:answer", "echo:stream", "echo:broken", "echo:event", "echo:page",
]  # fmt: skip
KEYS = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=8, max_size=80)


@pytest.fixture(scope="module")
def server() -> Iterator[EndpointServer]:
    with EndpointServer() as running:
        yield running


def pieces_of(key: str) -> set[str]:
    """Whatever would give the key away: itself, or twelve characters of it in a row."""
    return {key, *(key[start : start + 12] for start in range(len(key) - 11))}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(key=KEYS)
def test_no_key_comes_back_out_of_an_echo(server: EndpointServer, key: str) -> None:
    # A server that words an error has words of its own, of which a key may be one.
    if any(key in text for text in ("Invalid header: 'Authorization: Bearer ", "Authorization", "reasoning_content")):
        return
    is_plain = len(key) < 20 or not (any(map(str.isdigit, key)) or (key != key.lower() and key != key.upper()))
    for behaviour in ECHOES:
        if is_plain and behaviour in ("echo:answer", "echo:stream"):
            continue  # it may be a word of the program
        found = ask(server, behaviour, key=key, attempts=2)
        shown = "\n".join(map(str, vars(found).values()))
        shown += "\n".join(map(str, vars(found.reply).values())) if isinstance(found, Answered) else ""
        assert not [piece for piece in pieces_of(key) if piece in shown], behaviour


@pytest.mark.parametrize("behaviour", ECHOES)
def test_the_key_is_in_no_log_and_in_no_representation(
    server: EndpointServer, behaviour: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    async def asking() -> str:
        async with endpoint(server, base_url="http://endpoint.example/v1?token=querysecret0123456789") as one:
            found = await one.ask(behaviour, [Message("user", "x")], {})
            inside = repr(vars(one)) + repr(vars(one._wire)) + repr(vars(one._secrets).keys())
            return repr(found) + repr(one) + inside

    shown = asyncio.run(asking()) + caplog.text
    assert not [piece for piece in pieces_of(KEY) if piece in shown]
    assert "querysecret" not in shown
    assert server.arrivals[-1].headers["authorization"] == f"Bearer {KEY}"


def test_a_key_in_a_header_of_another_name_is_not_shown_either(
    server: EndpointServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    async def asking() -> str:
        async with endpoint(server, key_header="api-key") as one:
            found = await one.ask("good", [Message("user", "x")], {})
            return repr(found) + repr(vars(one._wire)) + "".join(repr(vars(client)) for client in one._wire._idle)

    shown = asyncio.run(asking()) + caplog.text
    assert not [piece for piece in pieces_of(KEY) if piece in shown]
    assert server.arrivals[-1].headers["api-key"] == KEY
    assert "authorization" not in server.arrivals[-1].headers


def test_a_header_that_has_no_such_name_is_one_line() -> None:
    with pytest.raises(BadEndpoint) as caught:
        Endpoint(EndpointSettings("https://api.example.com", KEY, key_header="api key:"))
    assert caught.value.message == "'api key:' is no name of a header"


def test_settings_do_not_show_the_key() -> None:
    assert KEY not in repr(EndpointSettings("https://api.example.com", KEY))


def test_a_place_has_no_query() -> None:
    given = EndpointSettings("https://api.example.com/v1?token=secret-0123456789")
    assert Endpoint(given).place == "api.example.com/v1"
    assert "secret" not in repr(given)


@pytest.mark.parametrize("key", ["sk-12345678\nX-Evil: 1", "sk-1234 5678", "sk-1234é5678", "sk-1234\x005678"])
def test_a_key_that_no_header_can_hold_is_not_shown(key: str) -> None:
    with pytest.raises(BadEndpoint) as caught:
        Endpoint(EndpointSettings("https://api.example.com", key, key_variable="MY_KEY"))
    assert caught.value.message == "MY_KEY holds characters that no header can hold"
    shown = "".join(traceback.format_exception(caught.value))
    assert "1234" not in shown.replace("test_", "")


def test_white_space_around_a_key_is_not_part_of_it(server: EndpointServer) -> None:
    assert isinstance(ask(server, "good", key=f" {KEY}\n"), Answered)
    assert server.arrivals[-1].headers["authorization"] == f"Bearer {KEY}"


def test_a_fault_of_ours_has_no_key_in_its_trace(server: EndpointServer, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr("eval.generate.endpoint.read_reply", broken)

    async def asking() -> None:
        async with endpoint(server) as one:
            await one.ask("good", [Message("user", "x")], {})

    with pytest.raises(RuntimeError) as caught:
        asyncio.run(asking())
    trace = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    ours = [frame for frame in trace.stack if "/eval/generate/" in frame.filename and "/tests/" not in frame.filename]
    assert ours
    for frame in ours:
        assert KEY not in repr(frame.locals), frame.name


@pytest.mark.parametrize("key", ["EMPTY", "anything", "password", "not-needed", "lm-studio", "a" * 30, "sk-1234"])
def test_a_placeholder_is_left_in_an_answer(key: str) -> None:
    program = f"{key} = sys.stdin.read()"
    assert Secrets([key, None, ""]).without(program) == program


@pytest.mark.parametrize("key", [KEY, "sk-abcdefghij-ABCDEFGHIJ", "0123456789abcdef0123456789abcdef"])
def test_a_key_is_taken_out_of_an_answer(key: str) -> None:
    assert Secrets([key]).without(f"print('{key}')") == "print('[key]')"


def test_a_placeholder_is_taken_out_of_a_message() -> None:
    assert Secrets(["anything"]).line("you sent anything") == "you sent [key]"


@given(KEYS, st.text(max_size=50), st.text(max_size=50))
def test_a_line_has_no_piece_of_a_secret(key: str, before: str, after: str) -> None:
    secrets = Secrets([key])
    line = secrets.line(before + key + after)
    assert not [piece for piece in pieces_of(key) if len(piece) >= 12 and piece in line]
    if len(key) >= 12:
        assert key[:12] not in secrets.line(f"{before}{key[: len(key) // 2 + 6]}…")
    assert line.isprintable()
    assert len(line) <= 300


@given(st.text())
def test_whole_characters_leaves_whole_text_alone(text: str) -> None:
    assert whole_characters(text) == text


def test_a_half_of_a_character_alone_is_replaced() -> None:
    assert whole_characters("a\ud83d\udca1b\ud83dc") == "a💡b\ufffdc"
