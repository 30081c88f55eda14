"""Where credentials may go and where they never are, and what is asked at a mirror in place of its site."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from db.engine import Store, open_store
from db.snapshots import get_snapshot, list_snapshots
from ingest.errors import Blocked, NotConfigured, SourceError
from ingest.sources import Host, Secret
from ingest.web.fetch import Fetcher, FetchSettings
from tests.ingest.server import Reply, SiteServer, SkippingClock, fetcher

SITE = "https://site.example"
PAGE = f"{SITE}/contests"
CHALLENGE = b"<title>Just a moment...</title><script>window._cf_chl_opt = {};</script>"
COOKIE = "JSESSIONID=0123456789abcdef"
SECRET_HOSTS = (Host("site.example", 2.0, Secret("SITE_COOKIE")), Host("other.example", 2.0))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "store.db")) as opened:
        yield opened


@pytest.fixture
def server() -> Iterator[SiteServer]:
    with SiteServer(SkippingClock()) as running:
        yield running


def everything_in(store: Store) -> str:
    """All that the store holds, as one text."""
    with store.read() as session:
        tables = [
            str(name) for name in session.execute(text("SELECT name FROM sqlite_master WHERE type = 'table'")).scalars()
        ]
        rows = [session.execute(text(f"SELECT * FROM {name}")).all() for name in tables]
        bodies = [get_snapshot(session, one.id).body for one in list_snapshots(session)]
    return repr(rows) + repr(bodies)


def test_a_credential_goes_to_its_host_alone_and_is_kept_nowhere(
    store: Store, server: SiteServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    echo = f"you sent {COOKIE}".encode()
    server.page(PAGE, Reply(echo, headers=(("X-Echo", COOKIE), ("Set-Cookie", "other=1"), ("X-Csrf-Token", "t"))))
    server.page(f"{SITE}/moved", Reply(status=302, headers=(("Location", "https://other.example/"),)))
    server.page(f"{SITE}/broken", Reply(echo, 404))
    server.page("https://other.example/", b"x")
    with fetcher(store, server, hosts=SECRET_HOSTS, environ={"SITE_COOKIE": f"{COOKIE}\n"}) as fetch:
        page = fetch(PAGE)
        fetch(f"{SITE}/moved")
        with pytest.raises(SourceError) as caught:
            fetch(f"{SITE}/broken")
        shown = repr(fetch) + repr(vars(fetch)) + repr(page) + repr(caught.value) + caplog.text
    sent = {(one.host, one.target): one.headers.get("cookie") for one in server.arrivals}
    assert sent[("site.example", "/contests")] == sent[("site.example", "/moved")] == COOKIE
    assert sent[("other.example", "/")] is None
    assert page.body == b"you sent [credential]"
    assert page.headers["x-echo"] == "[credential]"
    assert "x-csrf-token" not in page.headers
    assert "0123456789abcdef" not in shown
    assert "0123456789abcdef" not in everything_in(store)
    assert "other=1" not in caplog.text + everything_in(store)


@pytest.mark.parametrize(
    ("mirror", "goes"),
    [
        (None, False),
        ("http://127.0.0.1:9000/site.example", True),
        ("http://localhost:9000", True),
        ("https://mirror.example", False),
        ("http://10.0.0.7", False),
    ],
)
def test_a_credential_goes_over_https_or_to_this_machine(
    store: Store, server: SiteServer, mirror: str | None, goes: bool
) -> None:
    url = "http://site.example/contests"
    for place in ("site.example", "localhost:9000", "mirror.example", "10.0.0.7"):
        server.page(f"http://{place}/contests", b"x")
    mirrors = {"http://site.example": mirror} if mirror else {}
    with fetcher(store, server, hosts=SECRET_HOSTS, environ={"SITE_COOKIE": COOKIE}, mirrors=mirrors) as fetch:
        fetch(url)
    assert server.arrivals[-1].headers.get("cookie") == (COOKIE if goes else None)


def test_a_credential_of_another_form(store: Store, server: SiteServer) -> None:
    server.page(PAGE, b"x")
    hosts = [Host("site.example", 2.0, Secret("SITE_KEY", "Authorization", "ApiKey {}"))]
    for environ, sent in (({"SITE_KEY": "me:k"}, "ApiKey me:k"), ({"SITE_KEY": " "}, None), ({}, None)):
        with fetcher(store, server, hosts=hosts, environ=environ) as fetch:
            fetch(PAGE)
        assert server.arrivals[-1].headers.get("authorization") == sent


@pytest.mark.parametrize("secret", ["a=1\r\nX-Evil: 1", "schlüssel=0123", "\x00abcdefgh"])
def test_a_credential_that_no_header_can_hold_is_refused_unseen(store: Store, server: SiteServer, secret: str) -> None:
    server.page(PAGE, b"x")
    with (
        fetcher(store, server, hosts=SECRET_HOSTS, environ={"SITE_COOKIE": secret}) as fetch,
        pytest.raises(NotConfigured, match="SITE_COOKIE") as caught,
    ):
        fetch(PAGE)
    assert secret not in repr(caught.value) + caught.value.hint
    assert server.arrivals == []


def test_no_cookies_are_carried_from_answer_to_request(store: Store, server: SiteServer) -> None:
    server.page(PAGE, Reply(b"x", headers=(("Set-Cookie", "session=1; Path=/"),)))
    server.page(f"{SITE}/next", b"x")
    with fetcher(store, server) as fetch:
        fetch(PAGE)
        fetch(f"{SITE}/next")
    assert all("cookie" not in one.headers for one in server.arrivals)


def test_a_mirror_is_asked_in_place_of_the_site(store: Store, server: SiteServer) -> None:
    mirrors = {SITE: "http://127.0.0.1:9000/site.example"}
    server.page(f"{SITE}/old", Reply(status=302, headers=(("Location", "/contests"),)))
    server.page(PAGE, Reply(b"page", etag=True))
    with fetcher(store, server, mirrors=mirrors, intervals_s={"site.example": 0.25}) as fetch:
        page = fetch(f"{SITE}/old")
        assert fetch.counts.by_host == {"127.0.0.1:9000": 3}
    assert (page.url, page.final_url) == (f"{SITE}/old", PAGE), "the store knows the site's own addresses alone"
    assert {one.headers["host"] for one in server.arrivals} == {"127.0.0.1:9000"}
    gaps = server.gaps_s("site.example")
    assert min(gaps) >= 0.25
    assert max(gaps) < 2, "at a mirror any configured interval holds"
    with Fetcher(store, "site", [Host("site.example", 2)], FetchSettings(), environ={}, offline=True) as fetch:
        assert fetch(f"{SITE}/old") == page


def test_a_login_at_a_mirror_is_one(store: Store, server: SiteServer) -> None:
    server.page(PAGE, Reply(status=302, headers=(("Location", "/site.example/login"),)))
    with (
        fetcher(store, server, mirrors={SITE: "http://127.0.0.1:9000/site.example"}) as fetch,
        pytest.raises(SourceError) as caught,
    ):
        fetch(PAGE)
    assert caught.value.kind == "auth_required"
    assert f"{SITE}/login" in caught.value.message


def test_a_blocked_mirror_blocks_no_site(store: Store, server: SiteServer) -> None:
    server.page(PAGE, CHALLENGE, b"x")
    with (
        fetcher(store, server, mirrors={SITE: "http://127.0.0.1:9000/site.example"}) as fetch,
        pytest.raises(Blocked, match=r"127\.0\.0\.1:9000 is left alone"),
    ):
        fetch(PAGE)
    with fetcher(store, server) as fetch:
        assert fetch(PAGE).body == b"x"


@pytest.mark.parametrize("mirror", ["127.0.0.1:9000", "ftp://127.0.0.1", "http://u:p@127.0.0.1"])
def test_a_mirror_that_is_no_address_is_told(store: Store, server: SiteServer, mirror: str) -> None:
    with pytest.raises(NotConfigured, match="a mirror is no address"):
        fetcher(store, server, mirrors={SITE: mirror})
