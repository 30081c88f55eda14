"""Fetching: a page is asked for once, kept before it is read, found again offline, and asked for politely."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path

import pytest

from db.engine import Store, open_store
from db.snapshots import SnapshotOrigin, list_snapshots
from ingest.errors import Absent, Blocked, Disallowed, FetchError, NotConfigured, NotRecorded, PageChanged, Unreachable
from ingest.pages import Request, json_request
from ingest.sources import Host
from ingest.web.fetch import Fetcher, FetchSettings, record_page
from tests.ingest.server import Reply, SiteServer, SkippingClock, fetcher

SITE = "https://site.example"
PAGE = f"{SITE}/contests"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "store.db")) as opened:
        yield opened


@pytest.fixture
def server() -> Iterator[SiteServer]:
    with SiteServer(SkippingClock()) as running:
        yield running


def offline(store: Store) -> Fetcher:
    return Fetcher(store, "site", [Host("site.example", 2.0)], FetchSettings(), environ={}, offline=True)


def test_a_page_comes_with_what_the_store_keeps_of_it(store: Store, server: SiteServer) -> None:
    server.page(PAGE, Reply(b"<p>hello</p>", headers=(("Content-Type", "text/html"), ("Set-Cookie", "id=1"))))
    with fetcher(store, server) as fetch:
        page = fetch(PAGE)
    assert (page.url, page.final_url, page.status, page.body) == (PAGE, PAGE, 200, b"<p>hello</p>")
    assert page.headers["content-type"] == "text/html"
    assert "set-cookie" not in page.headers
    assert page.fetched_at.utcoffset() == timedelta(0)
    with store.read() as session:
        kept = {one.url: one for one in list_snapshots(session)}
    assert kept[PAGE].id == page.snapshot_id
    assert (kept[PAGE].source, kept[PAGE].origin) == ("site", SnapshotOrigin.FETCHED)


def test_the_host_sees_who_asks(store: Store, server: SiteServer) -> None:
    server.page(PAGE, b"x")
    with fetcher(store, server, contact="https://our.example/bot") as fetch:
        fetch(Request(PAGE, headers=(("Accept-Language", "en"),)))
    for arrival in server.arrivals:
        assert arrival.headers["user-agent"] == f"livecut/{version('livecut')} (+https://our.example/bot)"
        assert "cookie" not in arrival.headers
    assert server.arrivals[-1].headers["accept-language"] == "en"


@pytest.mark.parametrize("contact", [None, "", "  ", "me\nX-Evil: 1", "mé@site.example"])
def test_without_a_contact_nothing_is_fetched(store: Store, server: SiteServer, contact: str | None) -> None:
    server.page(PAGE, b"x")
    with fetcher(store, server, contact=contact) as fetch, pytest.raises(NotConfigured) as caught:
        fetch(PAGE)
    assert "live.toml" in caught.value.hint
    assert "LIVE_CONTACT" in caught.value.hint
    assert server.arrivals == []


def test_the_same_request_again_asks_nobody(store: Store, server: SiteServer) -> None:
    server.page(PAGE, b"first", b"second")
    with fetcher(store, server) as fetch:
        assert (
            fetch(PAGE) == fetch(Request(PAGE)) == fetch(f"{PAGE}#part") == fetch("https://SITE.example:443/contests")
        )
        assert fetch.counts.requests == 2, "robots.txt, and the page"
    assert server.asked() == ["/contests"]


def test_an_absence_is_asked_for_once(store: Store, server: SiteServer) -> None:
    with fetcher(store, server) as fetch:
        for _ in range(3):
            with pytest.raises(Absent) as caught:
                fetch(f"{SITE}/gone")
    assert server.asked() == ["/gone"]
    assert f"{SITE}/gone" in caught.value.message
    with store.read() as session:
        kept = {one.id: one for one in list_snapshots(session)}
    assert caught.value.snapshot_id is not None
    assert kept[caught.value.snapshot_id].status == 404


def test_a_trouble_is_not_asked_for_again_in_the_run(store: Store, server: SiteServer) -> None:
    server.page(PAGE, Reply(status=500))
    with fetcher(store, server) as fetch:
        for _ in range(2):
            with pytest.raises(Unreachable, match="answers 500"):
                fetch(PAGE)
    assert len(server.asked()) == 4


def test_posts_are_told_apart_by_their_bodies(store: Store, server: SiteServer) -> None:
    ask = [json_request(f"{SITE}/graphql", {"slug": slug}) for slug in ("one", "two")]
    for request in ask:
        server.page(request.url, Reply(b"[" + request.body + b"]", etag=True), method="POST", body=request.body)
    with fetcher(store, server) as fetch:
        assert [fetch(request).json() for request in ask] == [[{"slug": "one"}], [{"slug": "two"}]]
        assert fetch.counts.requests == 3, "robots.txt, and two"
    with fetcher(store, server) as fetch:
        assert fetch(ask[0]).json() == [{"slug": "one"}]
    assert server.arrivals[-1].headers["content-type"] == "application/json"
    assert "if-none-match" not in server.arrivals[-1].headers
    assert [fetch(request).json() for fetch in [offline(store)] for request in ask] == [
        [{"slug": "one"}],
        [{"slug": "two"}],
    ]


def test_an_accepted_status_is_an_answer(store: Store, server: SiteServer) -> None:
    server.page(PAGE, Reply(b'{"status":"FAILED"}', 400))
    with fetcher(store, server) as fetch:
        assert fetch(Request(PAGE, accept=(400,))).json() == {"status": "FAILED"}
        with pytest.raises(FetchError, match="answers 400"):
            fetch(PAGE)
    assert offline(store)(Request(PAGE, accept=(400,))).status == 400


def test_a_second_run_asks_whether_it_changed(store: Store, server: SiteServer) -> None:
    server.page(PAGE, Reply(b"page", etag=True))
    with fetcher(store, server) as fetch:
        first = fetch(PAGE)
    server.clock.sleep(3600)
    with fetcher(store, server) as fetch:
        second = fetch(PAGE)
        assert fetch.counts.not_modified == 1
    assert second == first
    assert "if-none-match" in server.arrivals[-1].headers
    with store.read() as session:
        kept = [one for one in list_snapshots(session) if one.url == PAGE]
    assert len(kept) == 1
    assert kept[0].validated_at - kept[0].fetched_at >= timedelta(hours=1)


def test_last_modified_is_sent_back(store: Store, server: SiteServer) -> None:
    day = "Sun, 01 Mar 2026 00:00:00 GMT"
    server.page(PAGE, Reply(b"page", headers=(("Last-Modified", day),)), Reply(status=304))
    with fetcher(store, server) as fetch:
        first = fetch(PAGE)
    with fetcher(store, server) as fetch:
        assert fetch(PAGE) == first
    assert server.arrivals[-1].headers["if-modified-since"] == day


def test_a_304_that_nobody_asked_for_is_no_page(store: Store, server: SiteServer) -> None:
    server.page(PAGE, Reply(status=304))
    with fetcher(store, server) as fetch, pytest.raises(FetchError, match="answers 304"):
        fetch(PAGE)


def test_an_error_page_never_hides_the_good_one(store: Store, server: SiteServer) -> None:
    server.page(PAGE, Reply(b"good", etag=True), Reply(b"broken", 500))
    with fetcher(store, server) as fetch:
        good = fetch(PAGE)
    with fetcher(store, server) as fetch, pytest.raises(Unreachable):
        fetch(PAGE)
    assert offline(store)(PAGE) == good
    server.page(PAGE, Reply(b"good", etag=True))
    with fetcher(store, server) as fetch:
        assert fetch(PAGE) == good
        assert fetch.counts.not_modified == 1
    with store.read() as session:
        assert [one.status for one in list_snapshots(session) if one.url == PAGE] == [200, 500]


def test_offline_answers_from_the_store_alone(store: Store, server: SiteServer) -> None:
    server.page(PAGE, b"page")
    with fetcher(store, server) as fetch:
        page = fetch(PAGE)
        with pytest.raises(Absent):
            fetch(f"{SITE}/gone")
    n_asked = len(server.arrivals)
    with offline(store) as fetch:
        assert fetch(PAGE) == fetch(PAGE) == page
        with pytest.raises(Absent):
            fetch(f"{SITE}/gone")
        with pytest.raises(NotRecorded, match="never-asked is not in the store"):
            fetch(f"{SITE}/never-asked")
        assert fetch.counts.requests == 0
    assert len(server.arrivals) == n_asked


def test_offline_makes_nothing_that_could_touch_the_network(tmp_path: Path, root: Path) -> None:
    program = f"""
import sys
from db.engine import open_store
from ingest.web.fetch import Fetcher, FetchSettings, record_page
from ingest.sources import Host
from datetime import UTC, datetime
with open_store({str(tmp_path / "s.db")!r}) as store:
    record_page(store, "site", {PAGE!r}, b"page", now=datetime(2026, 3, 1, tzinfo=UTC))
    with Fetcher(store, "site", [Host("site.example", 1)], FetchSettings(), environ={{}}, offline=True) as fetch:
        assert fetch({PAGE!r}).body == b"page"
assert not {{"httpx", "httpcore"}} & sys.modules.keys(), "the network's modules are loaded"
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=root, timeout=60)


def test_the_network_is_shut_off_for_tests() -> None:
    with pytest.raises(Exception, match="socket"):
        socket.socket(socket.AF_INET)


def test_a_page_saved_by_hand_is_found(store: Store, server: SiteServer) -> None:
    saved = record_page(store, "site", "https://SITE.example/contests#top", b"by hand", now=server.clock.now())
    assert (saved.url, saved.origin) == (PAGE, SnapshotOrigin.RECORDED)
    assert offline(store)(PAGE).body == b"by hand"
    server.page(PAGE, b"fetched")
    with fetcher(store, server) as fetch:
        assert fetch(PAGE).body == b"fetched"
    assert "if-none-match" not in server.arrivals[-1].headers


def test_a_page_saved_by_hand_helps_where_the_host_refuses(store: Store, server: SiteServer) -> None:
    server.page(PAGE, Reply(status=403))
    server.page(f"{SITE}/robots.txt", "User-agent: *\nDisallow: /private")
    for url in (PAGE, f"{SITE}/private"):
        record_page(store, "site", url, b"by hand", now=server.clock.now())
    for days, helps in ((0, True), (2, True), (2, False)):
        server.clock.sleep(days * 86400)
        with fetcher(store, server) as fetch:
            for url, error in ((f"{SITE}/private", Disallowed), (PAGE, Blocked)):
                if helps:
                    assert fetch(url).body == b"by hand"
                else:
                    with pytest.raises(error):
                        fetch(url)
            assert fetch.counts.by_hand == (2 if helps else 0)
    server.page(f"{SITE}/contests", b"fetched, not recorded", Reply(status=403))
    server.clock.sleep(86400)
    with fetcher(store, server) as fetch:
        fetch(PAGE)
    with fetcher(store, server) as fetch, pytest.raises(Blocked):
        fetch(PAGE)


def test_a_page_that_is_handed_in_is_so_whatever_its_bytes(store: Store, server: SiteServer) -> None:
    server.page(PAGE, Reply(b"page", etag=True), Reply(status=403))
    with fetcher(store, server) as fetch:
        fetch(PAGE)
    record_page(store, "site", PAGE, b"page", now=server.clock.now())
    with fetcher(store, server) as fetch:
        assert fetch(PAGE).body == b"page"
        assert fetch.counts.by_hand == 1


def test_a_page_that_the_host_confirms_is_no_longer_one_by_hand(store: Store, server: SiteServer) -> None:
    server.page(PAGE, Reply(b"page", etag=True))
    with fetcher(store, server) as fetch:
        fetch(PAGE)
    record_page(store, "site", PAGE, b"page", now=server.clock.now())
    with fetcher(store, server) as fetch:
        fetch(PAGE)
        assert fetch.counts.not_modified == 1
    server.page(PAGE, Reply(status=403))
    with fetcher(store, server) as fetch, pytest.raises(Blocked):
        fetch(PAGE)


@pytest.mark.parametrize("query", ["locale=en", "lang=ja", "lang=en&locale=en"])
def test_a_page_saved_without_its_language_is_found(store: Store, server: SiteServer, query: str) -> None:
    asked = f"{PAGE}?{query}"
    server.page(asked, b"fetched", Reply(status=403))
    with fetcher(store, server) as fetch:
        fetch(asked)
    record_page(store, "site", PAGE, b"by hand", now=server.clock.now())
    with fetcher(store, server) as fetch:
        assert fetch(asked).body == b"by hand"
        assert fetch.counts.by_hand == 1
    assert offline(store)(asked).body == b"fetched", "the very address comes first"
    assert offline(store)(f"{PAGE}?lang=ko").body == b"by hand"
    server.clock.sleep(3 * 86400)
    with fetcher(store, server) as fetch, pytest.raises(Blocked):
        fetch(asked)


def test_a_page_saved_for_one_query_is_none_for_another(store: Store, server: SiteServer) -> None:
    record_page(store, "site", f"{PAGE}?lang=en", b"English", now=server.clock.now())
    record_page(store, "site", f"{SITE}/archive", b"page 1", now=server.clock.now())
    for url in (f"{PAGE}?lang=ja", PAGE, f"{SITE}/archive?page=2", f"{SITE}/archive?lang=en&page=2"):
        with offline(store) as fetch, pytest.raises(NotRecorded):
            fetch(url)
        with offline(store) as fetch, pytest.raises(NotRecorded):
            fetch(Request(f"{SITE}/archive?lang=en", method="POST"))


def test_what_was_fetched_is_none_for_another_language(store: Store, server: SiteServer) -> None:
    server.page(PAGE, b"fetched")
    with fetcher(store, server) as fetch:
        fetch(PAGE)
    with offline(store) as fetch, pytest.raises(NotRecorded):
        fetch(f"{PAGE}?lang=en")
    record_page(store, "site", PAGE, b"by hand", now=server.clock.now())
    server.page(f"{PAGE}?lang=en", b"newer", Reply(status=403))
    with fetcher(store, server) as fetch:
        fetch(f"{PAGE}?lang=en")
    with fetcher(store, server) as fetch, pytest.raises(Blocked):
        fetch(f"{PAGE}?lang=en")  # the host gave one after it was saved


def test_what_is_no_page_is_not_recorded(store: Store, server: SiteServer) -> None:
    challenge = b"<title>Just a moment...</title><script>window._cf_chl_opt={}</script>"
    for body, what in ((b" \n", "nothing"), (challenge, "challenge")):
        with pytest.raises(PageChanged, match=what):
            record_page(store, "site", PAGE, body, now=server.clock.now())
    with pytest.raises(ValueError, match="no address"):
        record_page(store, "site", "contests.html", b"page", now=server.clock.now())
    with store.read() as session:
        assert list_snapshots(session) == []


def test_compressed_pages_are_kept_as_they_read(store: Store, server: SiteServer) -> None:
    body = b"0123456789" * 100_000
    server.page(PAGE, Reply(body, gzipped=True))
    with fetcher(store, server) as fetch:
        assert fetch(PAGE).body == body
        assert fetch.counts.bytes_received < 10_000


def test_counts_say_what_was_asked_of_whom(store: Store, server: SiteServer) -> None:
    hosts = [Host("site.example", 1.0), Host("api.example", 1.0)]
    server.page(PAGE, b"12345")
    server.page("https://api.example/x", Reply(status=503), Reply(b"123"))
    with fetcher(store, server, hosts=hosts) as fetch:
        fetch(PAGE)
        fetch("https://api.example/x")
        counts = fetch.counts
    assert counts.by_host == {"site.example": 2, "api.example": 3}
    assert (counts.requests, counts.retries, counts.not_modified, counts.by_hand) == (5, 1, 0, 0)
    assert counts.bytes_received == sum((len(b"12345"), len(b"123"), 2 * len(b"not found")))


@pytest.mark.parametrize(
    ("url", "what"),
    [
        ("https://elsewhere.example/x", "does not name"),
        ("https://site.example:8443/x", "does not name"),
        ("ftp://site.example/x", "no address"),
        ("/contests", "no address"),
        ("https://me:secret@site.example/x", "holds a user's name or password"),
    ],
)
def test_addresses_that_are_not_the_sources_are_not_asked(
    store: Store, server: SiteServer, url: str, what: str
) -> None:
    with fetcher(store, server) as fetch, pytest.raises(FetchError, match=what) as caught:
        fetch(url)
    assert "secret" not in caught.value.message
    assert server.arrivals == []


def test_threads_that_ask_for_the_same_ask_once(store: Store, server: SiteServer) -> None:
    server.page(PAGE, b"page")
    pages: list[bytes] = []
    with fetcher(store, server) as fetch:
        threads = [threading.Thread(target=lambda: pages.append(fetch(PAGE).body)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert pages == [b"page"] * 8
    assert server.asked() == ["/contests"]


def test_an_interrupted_request_may_be_asked_again(store: Store, server: SiteServer) -> None:
    server.page(PAGE, Reply(status=503), b"page")

    class Stopped(Exception):
        pass

    class Stopping(SkippingClock):
        stop = True

        def sleep(self, seconds: float) -> None:
            super().sleep(seconds)
            if self.stop:
                raise Stopped

    server.clock = clock = Stopping()
    with fetcher(store, server) as fetch:
        with pytest.raises(Stopped):
            fetch(PAGE)
        clock.stop = False
        assert fetch(PAGE).body == b"page"
