"""Manners: the interval of a host over threads and processes, robots.txt, circuits, credentials, mirrors."""

from __future__ import annotations

import itertools
import multiprocessing
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from db.engine import Store, open_store
from db.hosts import postpone, reserve
from db.snapshots import SnapshotOrigin, get_snapshot, list_snapshots
from ingest.errors import Blocked, Disallowed, SourceError, Unreachable
from ingest.pages import Request
from ingest.sources import Host
from ingest.web.clock import SystemClock
from ingest.web.exchange import Client, Timeouts
from ingest.web.fetch import Fetcher, FetchSettings, Limits
from ingest.web.turns import Turns
from tests.ingest.server import Reply, SiteServer, SkippingClock, fetcher, unix_transport

SITE = "https://site.example"
PAGE = f"{SITE}/contests"
CHALLENGE = b"<html><head><title>Just a moment...</title></head><body><script>window._cf_chl_opt = {};</script></body>"
COOKIE = "JSESSIONID=0123456789abcdef"


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


def fetch_some(url: str, socket_path: str, job: str, n_requests: int, interval_s: float) -> int:
    """What a process of the test does: fetch pages of the one host, and one of another."""
    clock = SystemClock()
    hosts = [Host("site.example", interval_s), Host("other.example", interval_s)]
    settings = FetchSettings(contact="https://our.example/bot")
    with (
        open_store(url) as store,
        Fetcher(
            store, "site", hosts, settings, environ={}, clock=clock, transport=unix_transport(socket_path, clock)
        ) as fetch,
    ):
        for number in range(n_requests):
            fetch(f"{SITE}/{job}/{number}")
        return fetch.counts.requests


def test_the_interval_holds_over_processes(store: Store) -> None:
    """The kind of report A27: each job kept its own pause, so jobs side by side broke the site's limit."""
    interval_s, jobs, n_requests = 0.15, ("list", "statements", "ratings"), 6
    with SiteServer() as server:
        for job, number in itertools.product(jobs, range(n_requests)):
            server.page(f"{SITE}/{job}/{number}", b"x")
        with ProcessPoolExecutor(len(jobs), mp_context=multiprocessing.get_context("spawn")) as pool:
            running = [
                pool.submit(fetch_some, store.url, str(server.path), job, n_requests, interval_s) for job in jobs
            ]
            n_sent = sum(job.result(timeout=120) for job in running)
        gaps = server.gaps_s("site.example")
        assert len(server.asked("site.example")) == len(jobs) * n_requests
        assert len(gaps) + 1 == n_sent == len(server.arrivals)
        assert min(gaps) >= interval_s


def test_a_pause_that_one_job_is_asked_for_holds_for_all(store: Store) -> None:
    hosts = [Host("site.example", 0.05)]
    with SiteServer() as server:
        for number in range(12):
            server.page(f"{SITE}/{number}", b"x")
        server.page(f"{SITE}/busy", Reply(status=429, headers=(("Retry-After", "1"),)), b"x")
        fetchers = [fetcher(store, server, hosts=hosts) for _ in range(3)]
        urls = [f"{SITE}/{number}" for number in range(12)]
        urls[4] = f"{SITE}/busy"
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(lambda pair: fetchers[pair[0] % 3](pair[1]), enumerate(urls)))
        for one in fetchers:
            one.close()
        refused_at = next(one.at for one in server.arrivals if one.target == "/busy")
        later = [one.at - refused_at for one in server.arrivals if one.at > refused_at]
        assert later
        assert min(later) >= timedelta(seconds=1)
        assert min(server.gaps_s("site.example")) >= 0.05


def test_threads_of_one_run_keep_the_interval_and_other_hosts_their_own(
    store: Store, server: SiteServer, clock: SkippingClock
) -> None:
    """The kind of report F09: twelve requests at once, more than there are connections, none fails on our own pool."""
    hosts = [Host("slow.example", 10.0), Host("quick.example", 0.5)]
    urls = [f"https://{host.name}/{number}" for number in range(12) for host in hosts]
    for url in urls:
        server.page(url, b"x")
    with fetcher(store, server, hosts=hosts) as fetch, ThreadPoolExecutor(24) as pool:
        assert {page.body for page in pool.map(fetch, urls)} == {b"x"}
        assert fetch.counts.by_host == {"slow.example": 13, "quick.example": 13}
    assert min(server.gaps_s("slow.example")) >= 10
    assert min(server.gaps_s("quick.example")) >= 0.5


def test_no_two_threads_of_a_run_are_with_a_host_at_once(store: Store, clock: SkippingClock) -> None:
    n_threads = 8
    turns = Turns(store, clock, run_s=10**9, pause_s=10**9, hold_s=1.0)
    start, inside, most = threading.Barrier(n_threads), Counter[str](), Counter[str]()

    def visit(_: int) -> None:
        for place in ("a.example", "b.example", "c.example"):
            start.wait(60)  # so that all of them come to a host that nobody has been to
            with turns.take(f"https://{place}/", place, 0.5):
                inside[place] += 1
                most[place] = max(most[place], inside[place])
                clock.sleep(60)
                inside[place] -= 1

    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(visit, range(n_threads)))
    assert set(most.values()) == {1}


def test_after_a_batch_that_was_broken_off_the_next_one_works(store: Store) -> None:
    stopped = threading.Event()

    class Stopped(Exception):
        pass

    class Stopping(SkippingClock):
        def sleep(self, seconds: float) -> None:
            super().sleep(seconds)
            if stopped.is_set():
                raise Stopped

    with SiteServer(Stopping()) as server:
        urls = [f"{SITE}/{number}" for number in range(8)]
        for url in urls:
            server.page(url, b"x")
        with fetcher(store, server) as fetch:
            fetch(urls[0])
            stopped.set()
            with ThreadPoolExecutor(8) as pool:
                broken_off = [pool.submit(fetch, url) for url in urls[1:]]
            assert Stopped in {type(one.exception()) for one in broken_off} <= {Stopped, type(None)}
            stopped.clear()
            with ThreadPoolExecutor(8) as pool:
                assert [page.body for page in pool.map(fetch, urls)] == [b"x"] * 8


def test_waiting_for_our_own_pool_is_no_fault_of_the_host(clock: SkippingClock) -> None:
    class Full(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            raise httpx.PoolTimeout("")

    client = Client(Timeouts(1, 1), 1000, clock, Full())
    with pytest.raises(SourceError) as caught:
        client.send("GET", PAGE, {}, b"", clock.monotonic() + 10)
    client.close()
    assert caught.value.kind == "error", "neither unreachable nor any other trouble of the host"


@pytest.mark.parametrize(("configured", "least_s", "below_s"), [(5.0, 5.0, 6.0), (0.1, 2.0, 3.0)])
def test_a_configured_interval_can_only_be_longer(
    store: Store, server: SiteServer, configured: float, least_s: float, below_s: float
) -> None:
    urls = [f"{SITE}/{number}" for number in range(4)]
    with fetcher(store, server, intervals_s={"site.example": configured}) as fetch:
        for url in urls:
            server.page(url, b"x")
            fetch(url)
    gaps = server.gaps_s("site.example")
    assert min(gaps) >= least_s
    assert max(gaps) < below_s


# --- robots.txt


def robots(server: SiteServer, *lines: str) -> None:
    server.page(f"{SITE}/robots.txt", "\n".join(lines))


def test_robots_txt_is_asked_first_and_kept_to(store: Store, server: SiteServer) -> None:
    robots(server, "User-agent: *", "Disallow: /private", "Allow: /private/open", "Disallow: /*?page=")
    for path in ("/contests", "/private/open", "/private/x", "/contests?page=2"):
        server.page(SITE + path, b"x")
    with fetcher(store, server) as fetch:
        fetch(PAGE)
        fetch(f"{SITE}/private/open")
        for path in ("/private/x", "/contests?page=2"):
            with pytest.raises(Disallowed, match=r"https://site\.example/robots\.txt forbids"):
                fetch(SITE + path)
    assert server.asked(robots=True) == ["/robots.txt", "/contests", "/private/open"]


def test_the_group_of_our_own_name_counts(store: Store, server: SiteServer) -> None:
    robots(server, "User-agent: *", "Disallow: /", "", "User-agent: LiveCut", "Disallow: /api", "Crawl-delay: 7")
    for number in range(3):
        server.page(f"{SITE}/{number}", b"x")
    with fetcher(store, server) as fetch:
        for number in range(3):
            fetch(f"{SITE}/{number}")
        with pytest.raises(Disallowed):
            fetch(f"{SITE}/api/list")
    assert min(server.gaps_s("site.example")[1:]) >= 7, "Crawl-delay makes the interval longer"


@pytest.mark.parametrize("delay", ["61", "86400", "1e300"])
def test_a_crawl_delay_beyond_reason_is_a_refusal(store: Store, server: SiteServer, delay: str) -> None:
    robots(server, "User-agent: *", f"Crawl-delay: {delay}")
    server.page(PAGE, b"x")
    with (
        fetcher(store, server) as fetch,
        pytest.raises(Disallowed, match=r"robots\.txt asks for .* s between requests"),
    ):
        fetch(PAGE)
    assert server.asked() == []
    with store.write() as session:
        at = reserve(session, "site.example", 1.0, server.clock.now())
    assert at - server.clock.now() < timedelta(seconds=60)


@pytest.mark.parametrize("delay", ["nan", "-5", "inf", "-1e300", "60"])
def test_a_crawl_delay_that_is_none_or_bearable(store: Store, server: SiteServer, delay: str) -> None:
    robots(server, "User-agent: *", f"Crawl-delay: {delay}")
    server.page(PAGE, b"x")
    with fetcher(store, server) as fetch:
        try:
            assert fetch(PAGE).body == b"x"
        except Disallowed:
            assert delay == "inf"


def test_a_turn_in_the_far_future_blocks_nobody(store: Store, server: SiteServer) -> None:
    """A host that asked for 10^10 s between requests had its turn in another century."""
    server.page(PAGE, b"x")
    with store.write() as session:
        postpone(session, "site.example", server.clock.now() + timedelta(days=100_000))
    with fetcher(store, server) as fetch:
        assert fetch(PAGE).body == b"x"
    assert server.gaps_s("site.example")[0] >= 2
    with store.write() as session:
        postpone(session, "site.example", server.clock.now() + timedelta(hours=23))
    with fetcher(store, server) as fetch, pytest.raises(Unreachable, match="left alone"):
        fetch(PAGE)


def test_robots_txt_is_kept_for_a_day(store: Store, server: SiteServer, clock: SkippingClock) -> None:
    server.page(PAGE, b"x")

    def n_robots_after(hours: float) -> int:
        clock.sleep(hours * 3600)
        with fetcher(store, server) as fetch:
            fetch(PAGE)
        return server.asked(robots=True).count("/robots.txt")

    assert [n_robots_after(hours) for hours in (0, 12, 11.9, 0.2, 23, 1.1)] == [1, 1, 1, 2, 2, 3]


@pytest.mark.parametrize("status", [401, 403, 404, 410, 451])
def test_a_host_without_robots_txt_allows_everything(store: Store, server: SiteServer, status: int) -> None:
    server.page(f"{SITE}/robots.txt", Reply(b"Disallow: /", status))
    server.page(PAGE, b"x")
    with fetcher(store, server) as fetch:
        assert fetch(PAGE).body == b"x"


def test_without_an_answer_on_robots_txt_nothing_is_asked(
    store: Store, server: SiteServer, clock: SkippingClock
) -> None:
    server.page(PAGE, b"x")
    server.page(f"{SITE}/robots.txt", Reply(status=503))
    with fetcher(store, server) as fetch, pytest.raises(Unreachable, match=r"robots\.txt"):
        fetch(PAGE)
    assert server.asked() == []
    robots(server, "User-agent: *", "Disallow: /api")
    with fetcher(store, server) as fetch:
        fetch(PAGE)
    server.page(f"{SITE}/robots.txt", Reply(status=503))
    clock.sleep(48 * 3600)
    with fetcher(store, server) as fetch:
        assert fetch(PAGE).body == b"x", "the rules that we had are better than none"
        with pytest.raises(Disallowed):
            fetch(f"{SITE}/api")


def test_a_page_in_place_of_robots_txt_has_no_rules(store: Store, server: SiteServer) -> None:
    robots(server, "<!DOCTYPE html><html><body>Welcome: all</body></html>")
    server.page(PAGE, b"x")
    with fetcher(store, server) as fetch:
        assert fetch(PAGE).body == b"x"


def test_where_a_redirect_leads_its_robots_txt_counts(store: Store, server: SiteServer) -> None:
    robots(server, "User-agent: *", "Disallow: /secret")
    server.page(PAGE, Reply(status=302, headers=(("Location", "/secret/contests"),)))
    with fetcher(store, server) as fetch, pytest.raises(Disallowed):
        fetch(PAGE)


# --- circuits


@pytest.mark.parametrize(
    "reply",
    [
        Reply(CHALLENGE, 200),
        Reply(CHALLENGE, 403),
        Reply(CHALLENGE, 503),
        Reply(b"{}", 429, (("cf-mitigated", "challenge"),)),
        Reply(b"<html>no entry</html>", 403),
    ],
)
def test_a_challenge_or_refusal_ends_all_asking_of_the_host(
    store: Store, server: SiteServer, clock: SkippingClock, reply: Reply
) -> None:
    server.page(PAGE, reply, b"open again")
    server.page(f"{SITE}/other", b"x")
    with fetcher(store, server, blocked_s=3600) as fetch:
        with pytest.raises(Blocked, match=r"left alone until 2026-03-01 04:17") as caught:
            fetch(PAGE)
        with pytest.raises(Blocked, match="was not asked"):
            fetch(f"{SITE}/other")
    clock.sleep(3000)
    with fetcher(store, server) as fetch, pytest.raises(Blocked, match="was not asked"):
        fetch(f"{SITE}/other")
    assert server.asked() == ["/contests"]
    with store.read() as session:
        assert caught.value.snapshot_id is not None
        kept = get_snapshot(session, caught.value.snapshot_id)
    assert (kept.body, kept.status) == (reply.body, reply.status)
    clock.sleep(700)
    with fetcher(store, server) as fetch:
        assert fetch(PAGE).body == b"open again"


def test_a_challenge_is_never_taken_for_the_page(store: Store, server: SiteServer) -> None:
    server.page(PAGE, b"page", CHALLENGE)
    hosts = [Host("site.example", 2.0), Host("other.example", 2.0)]
    server.page("https://other.example/", b"other")
    with fetcher(store, server, hosts=hosts) as fetch:
        good = fetch(PAGE)
    with fetcher(store, server, hosts=hosts) as fetch:
        with pytest.raises(Blocked):
            fetch(PAGE)
        assert fetch("https://other.example/").body == b"other", "other hosts go on"
    with Fetcher(store, "site", hosts, FetchSettings(), environ={}, offline=True) as fetch:
        assert fetch(PAGE) == good
    with store.read() as session:
        assert [one.origin for one in list_snapshots(session) if one.url == PAGE] == [
            SnapshotOrigin.FETCHED,
            SnapshotOrigin.REFUSED,
        ]


def test_a_challenge_is_no_answer_even_to_who_accepts_its_status(store: Store, server: SiteServer) -> None:
    server.page(PAGE, Reply(CHALLENGE, 403))
    with fetcher(store, server) as fetch, pytest.raises(Blocked):
        fetch(Request(PAGE, accept=(403,)))


def test_limits_have_defaults_that_end() -> None:
    limits: dict[str, Any] = vars(Limits())
    assert all(value > 0 for value in limits.values())
    assert limits["connect_s"] <= limits["read_s"] <= limits["total_s"] <= limits["run_s"]
