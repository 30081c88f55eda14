"""Trouble on the way: what is tried again and what is not, how long anything may take, and where redirects may lead."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator
from datetime import datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import httpcore
import pytest

from db.engine import Store, open_store
from db.snapshots import list_snapshots
from ingest.errors import Absent, AuthRequired, FetchError, TimedOut, TooLarge, Unreachable
from ingest.pages import json_request
from ingest.sources import Host
from ingest.web.exchange import Transport
from ingest.web.fetch import Fetcher, FetchSettings, Limits
from tests.ingest.server import (
    Act,
    Reply,
    SiteServer,
    SkippingClock,
    crumbs,
    cut,
    drip,
    drip_headers,
    empty_members,
    fetcher,
    gzip_bomb,
    hang_up,
    huge,
    no_length,
    silence,
)

SITE = "https://site.example"
PAGE = f"{SITE}/contests"
MIB = 2**20


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "store.db")) as opened:
        yield opened


@pytest.fixture
def clock() -> SkippingClock:
    return SkippingClock()


@pytest.fixture
def server(clock: SkippingClock) -> Iterator[SiteServer]:
    with SiteServer(clock) as running:
        yield running


def arrived(server: SiteServer, target: str) -> list[datetime]:
    return [one.at for one in server.arrivals if one.target == target]


def test_a_crawl_over_missing_failing_and_throttled_pages(store: Store, server: SiteServer) -> None:
    """The kind of report A26: twelve pages are gone, one fails twice, one asks for a pause."""
    gone = [f"{SITE}/old/{number}" for number in range(12)]
    server.page(f"{SITE}/flaky", Reply(status=500), Reply(status=500), b"at last")
    server.page(f"{SITE}/throttled", Reply(status=429, headers=(("Retry-After", "3"),)), b"thanks")
    absent = 0
    with fetcher(store, server) as fetch:
        for url in gone:
            with pytest.raises(Absent):
                fetch(url)
            absent += 1
        assert fetch(f"{SITE}/flaky").body == b"at last"
        assert fetch(f"{SITE}/throttled").body == b"thanks"
        assert fetch.counts.retries == 3
    assert absent == 12
    assert [len(arrived(server, f"/old/{number}")) for number in range(12)] == [1] * 12
    assert len(arrived(server, "/flaky")) == 3
    first, second = arrived(server, "/throttled")
    assert second - first >= timedelta(seconds=3)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 522])
def test_a_trouble_that_stays_ends_after_the_tries(store: Store, server: SiteServer, status: int) -> None:
    server.page(PAGE, Reply(b"sorry", status))
    with fetcher(store, server, limits=Limits(tries=3)) as fetch, pytest.raises(Unreachable) as caught:
        fetch(PAGE)
    assert caught.value.message == f"{PAGE} answers {status}"
    assert len(arrived(server, "/contests")) == 3
    with store.read() as session:
        assert [one.status for one in list_snapshots(session) if one.url == PAGE] == [status], "one row for them all"


@pytest.mark.parametrize("status", [400, 405, 410, 418, 451, 501, 505])
def test_what_will_not_pass_is_not_tried_again(store: Store, server: SiteServer, status: int) -> None:
    server.page(PAGE, Reply(status=status))
    with fetcher(store, server) as fetch, pytest.raises(FetchError, match=str(status)) as caught:
        fetch(PAGE)
    assert isinstance(caught.value, Absent) == (status == 410)
    assert len(arrived(server, "/contests")) == 1


def test_pauses_between_tries_grow_and_are_spread(store: Store, server: SiteServer) -> None:
    server.page(PAGE, Reply(status=503))
    limits = Limits(tries=9, backoff_s=100, longest_backoff_s=800, run_s=10**6)
    with fetcher(store, server, limits=limits) as fetch, pytest.raises(Unreachable):
        fetch(PAGE)
    gaps = server.gaps_s("site.example")[1:]
    assert len(gaps) == 8
    assert all(gap >= 2 for gap in gaps), "no faster than the host's interval"
    assert max(gaps) < 803
    assert len({round(gap) for gap in gaps}) > 3


@pytest.mark.parametrize("how", ["seconds", "date"])
def test_retry_after_is_kept_to(store: Store, server: SiteServer, clock: SkippingClock, how: str) -> None:
    until = (clock.now() + timedelta(seconds=300)).replace(microsecond=0)
    said = "300" if how == "seconds" else format_datetime(until, usegmt=True)
    server.page(PAGE, Reply(status=503, headers=(("Retry-After", said),)), b"page")
    with fetcher(store, server) as fetch:
        assert fetch(PAGE).body == b"page"
    first, second = arrived(server, "/contests")
    assert second - first >= timedelta(seconds=280)
    assert second >= until or how == "seconds"


def test_a_pause_holds_for_other_runs_on_the_store(store: Store, server: SiteServer, clock: SkippingClock) -> None:
    server.page(f"{SITE}/list", Reply(status=429, headers=(("Retry-After", "100"),)))
    server.page(f"{SITE}/other", b"x")
    asked_at = clock.now()
    with fetcher(store, server, limits=Limits(tries=1)) as fetch, pytest.raises(Unreachable):
        fetch(f"{SITE}/list")
    with fetcher(store, server) as fetch:
        fetch(f"{SITE}/other")
    assert arrived(server, "/other")[0] - asked_at >= timedelta(seconds=100)


def test_a_pause_longer_than_the_run_waits_is_told(store: Store, server: SiteServer, clock: SkippingClock) -> None:
    server.page(PAGE, Reply(status=429, headers=(("Retry-After", "3600"),)), b"page")
    with fetcher(store, server) as fetch, pytest.raises(Unreachable, match=r"left alone until 2026-03-01 04:1\d"):
        fetch(PAGE)
    assert sum(clock.slept) < 60
    with (
        fetcher(store, server, limits=Limits(pause_s=10**6, run_s=600)) as fetch,
        pytest.raises(TimedOut, match="after the end of the run"),
    ):
        fetch(PAGE)
    assert len(arrived(server, "/contests")) == 1
    with fetcher(store, server, limits=Limits(pause_s=10**6, run_s=10**6)) as fetch:
        assert fetch(PAGE).body == b"page"


def test_nobody_is_shut_out_for_years(store: Store, server: SiteServer, clock: SkippingClock) -> None:
    server.page(PAGE, Reply(status=503, headers=(("Retry-After", "999999999999999999999"),)), b"page")
    with fetcher(store, server) as fetch, pytest.raises(Unreachable, match="left alone until 2026-03-02"):
        fetch(PAGE)
    clock.sleep(25 * 3600)
    with fetcher(store, server) as fetch:
        assert fetch(PAGE).body == b"page"


@pytest.mark.parametrize("act", [hang_up, cut])
def test_a_broken_connection_is_tried_again(store: Store, server: SiteServer, act: Act) -> None:
    server.page(PAGE, Reply(act=act), Reply(act=act), b"whole")
    with fetcher(store, server) as fetch:
        assert fetch(PAGE).body == b"whole"
    with store.read() as session:
        assert [one.status for one in list_snapshots(session) if one.url == PAGE] == [200], "no half page is kept"


def test_a_compressed_body_that_breaks_off_is_tried_again(store: Store, server: SiteServer) -> None:
    def half(wire: object) -> None:
        import gzip

        data = gzip.compress(b"0123456789" * 1000)[:40]
        head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(data)}\r\n\r\n"
        wire.send(head.encode() + data)  # type: ignore[attr-defined]

    server.page(PAGE, Reply(act=half), b"whole")
    with fetcher(store, server) as fetch:
        assert fetch(PAGE).body == b"whole"


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip"])
def test_an_encoding_that_was_not_asked_for_is_not_opened(store: Store, server: SiteServer, encoding: str) -> None:
    server.page(PAGE, Reply(b"\x1b\x00", headers=(("Content-Encoding", encoding),)))
    with fetcher(store, server) as fetch, pytest.raises(FetchError, match="not asked for"):
        fetch(PAGE)
    assert server.arrivals[-1].headers["accept-encoding"] == "gzip"


def test_a_server_that_never_answers_is_given_up(store: Store, server: SiteServer) -> None:
    """The kind of report F07: without an end of its own, a stuck run would keep all later ones from starting."""
    server.page(PAGE, Reply(act=silence))
    limits = Limits(read_s=0.1, tries=2)
    with fetcher(store, server, limits=limits) as fetch, pytest.raises(TimedOut, match="did not answer in time"):
        fetch(PAGE)
    assert len(arrived(server, "/contests")) == 2


@pytest.mark.parametrize("act", [drip, drip_headers, silence])
def test_a_slow_drip_ends(store: Store, server: SiteServer, act: Act) -> None:
    server.page(PAGE, Reply(act=act))
    began = time.monotonic()
    with fetcher(store, server, limits=Limits(total_s=0.4)) as fetch, pytest.raises(TimedOut, match="in time"):
        fetch(PAGE)
    assert len(arrived(server, "/contests")) == 1, "the request's time is over, so there is no second try"
    assert time.monotonic() - began < 25, "each read alone would have had 30 s"


def test_the_run_ends_at_its_deadline(store: Store, server: SiteServer) -> None:
    server.page(PAGE, Reply(act=drip))
    with fetcher(store, server, limits=Limits(run_s=0.5)) as fetch:
        with pytest.raises(TimedOut):
            fetch(PAGE)
        with pytest.raises(TimedOut, match="was not asked"):
            fetch(f"{SITE}/next")
    assert arrived(server, "/next") == []


@pytest.mark.parametrize("act", [huge(1024 * MIB, announced=True), huge(1024 * MIB, announced=False)])
def test_a_body_without_end_is_not_read_to_its_end(store: Store, server: SiteServer, act: Act) -> None:
    server.page(PAGE, Reply(act=act))
    with fetcher(store, server, limits=Limits(max_bytes=2 * MIB)) as fetch, pytest.raises(TooLarge, match="2 MiB"):
        fetch(PAGE)
    assert len(arrived(server, "/contests")) == 1
    with store.read() as session:
        assert [one for one in list_snapshots(session) if one.url == PAGE] == []
    assert server.sent_by_acts.get(timeout=60) < 16 * MIB


def test_a_gzip_bomb_is_not_blown_up(store: Store, server: SiteServer) -> None:
    server.page(PAGE, Reply(act=gzip_bomb(256 * MIB)))
    with fetcher(store, server, limits=Limits(max_bytes=2 * MIB)) as fetch:
        tracemalloc.start()
        try:
            with pytest.raises(TooLarge):
                fetch(PAGE)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert peak < 24 * MIB, "one chunk of it alone would become 64 MiB"


def test_bytes_that_become_none_are_counted(store: Store, server: SiteServer) -> None:
    server.page(PAGE, Reply(act=empty_members(64 * MIB)))
    with fetcher(store, server, limits=Limits(max_bytes=MIB)) as fetch, pytest.raises(TooLarge):
        fetch(PAGE)
    assert server.sent_by_acts.get(timeout=60) < 16 * MIB


def test_a_body_in_crumbs_takes_no_more_memory_than_in_one_piece(store: Store, server: SiteServer) -> None:
    server.page(PAGE, Reply(act=crumbs(100_000)))
    with fetcher(store, server) as fetch:
        assert fetch(PAGE).body == b"." * 100_000


def test_a_length_that_is_no_number_ends_one_request_alone(store: Store, server: SiteServer) -> None:
    server.page(PAGE, Reply(act=no_length))
    server.page(f"{SITE}/next", b"x")
    with fetcher(store, server, limits=Limits(tries=1)) as fetch:
        with pytest.raises(FetchError):
            fetch(PAGE)
        assert fetch(f"{SITE}/next").body == b"x"


@pytest.mark.parametrize("tag", ['"\u00e9\u00e8"', '"a\tb"', f'"{"x" * 30_000}"'])
def test_a_tag_that_cannot_be_sent_back_is_not(store: Store, server: SiteServer, tag: str) -> None:
    server.page(PAGE, Reply(b"page", headers=(("ETag", tag), ("Last-Modified", tag))))
    for _ in range(2):
        with fetcher(store, server) as fetch:
            assert fetch(PAGE).body == b"page"


def test_a_host_that_is_not_there(store: Store, server: SiteServer) -> None:
    class Nobody(httpcore.NetworkBackend):
        n_tried = 0

        def connect_tcp(self, *args: Any, **options: Any) -> httpcore.NetworkStream:
            self.n_tried += 1
            raise httpcore.ConnectError("[Errno 111] Connection refused")

    nobody = Nobody()
    settings = FetchSettings(contact="https://our.example/bot")
    with Fetcher(
        store,
        "site",
        [Host("site.example", 2.0)],
        settings,
        environ={},
        clock=server.clock,
        transport=Transport(server.clock, nobody),
    ) as fetch:
        with pytest.raises(Unreachable, match=r"robots\.txt.*Connection refused"):
            fetch(PAGE)
        assert fetch.counts.requests == nobody.n_tried == settings.limits.tries


def test_redirects_on_the_host_are_followed(store: Store, server: SiteServer) -> None:
    server.page(f"{SITE}/old", Reply(status=301, headers=(("Location", "/new?lang=en#top"),)))
    server.page(f"{SITE}/new?lang=en", Reply(b"page", etag=True))
    with fetcher(store, server) as fetch:
        page = fetch(f"{SITE}/old")
    assert (page.url, page.final_url, page.body) == (f"{SITE}/old", f"{SITE}/new?lang=en", b"page")
    assert min(server.gaps_s("site.example")) >= 2, "each hop waits for its turn"
    with fetcher(store, server) as fetch:
        assert fetch(f"{SITE}/old") == page
        assert fetch.counts.not_modified == 1
    tagged = [one.target for one in server.arrivals if "if-none-match" in one.headers]
    assert tagged == ["/new?lang=en"], "the tag is the final page's"


def test_redirects_to_another_host_of_the_source_are_followed(store: Store, server: SiteServer) -> None:
    hosts = [Host("site.example", 2.0), Host("www.site.example", 2.0)]
    server.page(PAGE, Reply(status=308, headers=(("Location", "https://www.site.example/contests"),)))
    server.page("https://www.site.example/contests", b"page")
    with fetcher(store, server, hosts=hosts) as fetch:
        assert fetch(PAGE).body == b"page"
    with fetcher(store, server) as fetch, pytest.raises(Unreachable, match="another host") as caught:
        fetch(PAGE)
    assert PAGE in caught.value.message
    assert "https://www.site.example/contests" in caught.value.message


@pytest.mark.parametrize("location", ["", "mailto:a@b", "https://", "https://u:p@site.example/", "//[bad/"])
def test_redirects_to_no_address(store: Store, server: SiteServer, location: str) -> None:
    server.page(PAGE, Reply(status=302, headers=(("Location", location),)))
    with fetcher(store, server) as fetch, pytest.raises(Unreachable):
        fetch(PAGE)


def test_redirects_in_a_circle_end(store: Store, server: SiteServer) -> None:
    server.page(f"{SITE}/a", Reply(status=302, headers=(("Location", "/b"),)))
    server.page(f"{SITE}/b", Reply(status=302, headers=(("Location", "/a"),)))
    with fetcher(store, server) as fetch, pytest.raises(Unreachable, match="more than 5 times"):
        fetch(f"{SITE}/a")
    assert len(server.asked()) == 6


def test_a_post_is_sent_on_only_where_it_stays_one(store: Store, server: SiteServer) -> None:
    request = json_request(f"{SITE}/graphql", {"a": 1})
    server.page(request.url, Reply(status=308, headers=(("Location", "/graphql/"),)), method="POST")
    server.page(f"{SITE}/graphql/", b"{}", method="POST", body=request.body)
    with fetcher(store, server) as fetch:
        assert fetch(request).json() == {}
    server.page(request.url, Reply(status=302, headers=(("Location", "/graphql/"),)), method="POST")
    with fetcher(store, server) as fetch, pytest.raises(Unreachable, match="POST"):
        fetch(request)


@pytest.mark.parametrize(
    "location", ["/login", "/enter?back=%2Fcontests", "/accounts/login/", "https://id.example/sign-in", "/auth/github"]
)
def test_a_redirect_to_a_login_says_so(store: Store, server: SiteServer, location: str) -> None:
    """The kind of report A24: a data address began to redirect to the login, and the parser of JSON was blamed."""
    url = f"{SITE}/contests/new400/standings.json"
    server.page(url, Reply(status=302, headers=(("Location", location),)))
    server.page(f"{SITE}/login", b"<form action=/login></form>")
    with fetcher(store, server) as fetch, pytest.raises(AuthRequired) as caught:
        fetch(url)
    assert url in caught.value.message
    assert location.partition("?")[0] in caught.value.message
    assert server.asked() == ["/contests/new400/standings.json"], "no login is looked at, let alone tried"
    with store.read() as session:
        assert [one.status for one in list_snapshots(session) if one.url == url] == [302]


def test_an_address_that_speaks_of_logins_is_no_login(store: Store, server: SiteServer) -> None:
    server.page(PAGE, Reply(status=302, headers=(("Location", "/contests/login-fest/tasks/authors"),)))
    server.page(f"{SITE}/contests/login-fest/tasks/authors", b"page")
    with fetcher(store, server) as fetch:
        assert fetch(PAGE).body == b"page"


def test_401_wants_a_login(store: Store, server: SiteServer) -> None:
    server.page(PAGE, Reply(status=401))
    with fetcher(store, server) as fetch, pytest.raises(AuthRequired, match="wants a login"):
        fetch(PAGE)
    assert len(server.asked()) == 1
