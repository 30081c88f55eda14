"""The key of ``live generate``: where it goes, under which name, and where it must not stand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.eval.generate.server import EndpointServer
from tests.live.command import Live
from tests.live.generating import KEY, N_ASKED, stored, words

pytestmark = pytest.mark.enable_socket


def test_the_key_goes_to_the_endpoint_and_nowhere_else(
    asked_live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    with EndpointServer(tcp=True, key=KEY) as server:
        refused = asked_live(*words(server))
        assert refused.code == 4
        assert "wants a key, and OPENAI_API_KEY is not set" in refused.err
        assert "  what to do: set OPENAI_API_KEY" in refused.err
        monkeypatch.setenv("OPENAI_API_KEY", "sk-another-key-0123456789")
        assert "the key in OPENAI_API_KEY was refused" in asked_live(*words(server)).err
        assert stored(tmp_path) == (0, {})
        ended = asked_live(*words(server, "echo:answer+good", "--key-variable", "MY_KEY", "--json"))
        assert ended.document["answered"] == N_ASKED
    assert KEY not in ended.out + ended.err + refused.err
    for file in tmp_path.glob("store.db*"):
        assert KEY.encode() not in file.read_bytes()


def test_the_key_of_openai_goes_to_no_other_host_unnamed(
    asked_live: Live, server: EndpointServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("HTTP_PROXY", server.base_url.removesuffix("/v1"))
    other = ("--base-url", "http://endpoint.example/v1", "--limit", "1")
    ended = asked_live(*words(server, "good", *other))
    assert ended.code == 2
    first, second = ended.err.splitlines()
    assert first == "error: name the variable that holds endpoint.example's key with --key-variable"
    assert second.startswith("  what to do: OPENAI_API_KEY goes to OpenAI and to this machine alone")
    assert server.arrivals == []
    assert asked_live(*words(server, "good", *other, "--key-variable", "OPENAI_API_KEY")).code == 0
    monkeypatch.delenv("OPENAI_API_KEY")
    assert asked_live(*words(server, "good", *other, "--run", "no key")).code == 0
    sent = ["authorization" in one.headers for one in server.arrivals]
    assert sent == [True, False]


def test_the_key_in_a_header_of_another_name(
    asked_live: Live, server: EndpointServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    ended = asked_live(*words(server, "good", "--limit", "1", "--key-variable", "MY_KEY", "--key-header", "api-key"))
    assert ended.code == 0
    assert server.arrivals[0].headers["api-key"] == KEY
    assert "authorization" not in server.arrivals[0].headers


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"api_key": "abc"}, "api_key"),
        ({"provider": {"headers": [{"x-api-key": "abc"}]}}, "provider.headers.x-api-key"),
        ({"user": "sk-0123456789"}, "user"),
        ({"metadata": {"note": f"Bearer {KEY[3:]}"}}, "metadata.note"),
    ],
)
def test_a_key_in_further_fields_is_refused(
    asked_live: Live, server: EndpointServer, monkeypatch: pytest.MonkeyPatch, body: dict[str, object], where: str
) -> None:
    monkeypatch.setenv("MY_KEY", KEY[3:])
    more = ("--key-variable", "MY_KEY", "--extra-body", json.dumps(body))
    ended = asked_live(*words(server, "good", *more))
    assert ended.code == 2
    first, second = ended.err.splitlines()
    assert first == f'error: the extra body holds a secret ("{where}"), and would be stored and shown with the run'
    assert second == "  what to do: leave it out: name the variable that holds the key by --key-variable"
    assert server.arrivals == []
