"""Polite fetching: what a source asks for, from the store where it is there, else from the host at the host's pace.

Each answer becomes a snapshot before anyone reads it. Nothing is ever worked around: a challenge, a refusal or a login
ends what was asked for, and a host that showed a challenge is left alone for hours, by all processes on the store.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from datetime import datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import urlsplit

from db.engine import Store
from db.snapshots import ResponseRecord, SnapshotOrigin, SnapshotRecord, get_snapshot, save_snapshot
from ingest.errors import (
    AuthRequired,
    Blocked,
    Disallowed,
    FetchError,
    NotRecorded,
    PageChanged,
    TimedOut,
    Unreachable,
)
from ingest.pages import Page, Request
from ingest.sources import Host
from ingest.web.addresses import leads_to_login, normal_url, origin_of
from ingest.web.asking import (
    GONE,
    LOOK,
    REDIRECTS,
    Ask,
    Asker,
    FetchCounts,
    handed_in,
    newest_answer,
    refusal,
    stored_answer,
)
from ingest.web.challenges import find_challenge
from ingest.web.clock import Clock, SystemClock
from ingest.web.retries import PASSING
from ingest.web.robots import LONGEST_DELAY_S, RobotRules, read_robots
from ingest.web.settings import FetchSettings, Limits

if TYPE_CHECKING:
    from ingest.web.exchange import Transport

__all__ = ["Clock", "FetchCounts", "FetchSettings", "Fetcher", "Limits", "SystemClock", "record_page"]

MAX_REDIRECTS: Final = 5
_KEEP_METHOD: Final = frozenset({307, 308})
_ROBOTS_PATH: Final = "/robots.txt"
_ROBOTS_ANSWERS: Final = tuple(status for status in range(400, 500) if status not in PASSING)
_ROBOTS_HOLD: Final = timedelta(hours=24)
_BY_HAND_HOLD: Final = timedelta(days=3)
"""An older list would hide that a source is blocked: nothing new is on it."""


class Fetcher:
    """The `Fetch` of one run of one source. Threads may share it; it closes itself as a context manager.

    ``offline`` answers from the store alone: nothing that could touch the network is made then. ``environ`` is where
    credentials are looked up. What ``clock.sleep`` raises ends the waiting, and goes on to the caller.
    """

    def __init__(
        self,
        store: Store,
        source: str,
        hosts: Sequence[Host],
        settings: FetchSettings,
        *,
        environ: Mapping[str, str],
        offline: bool = False,
        clock: Clock | None = None,
        transport: Transport | None = None,
    ) -> None:
        self._store = store
        self._source = source
        self._settings = settings
        self._offline = offline
        self._clock = clock or SystemClock()
        self._asker = Asker(
            store,
            source,
            hosts,
            settings,
            environ=environ,
            clock=self._clock,
            transport=transport,
            dice=random.Random(),
        )
        self._lock = threading.Lock()
        self._memo: dict[Request, Future[int]] = {}
        self._robots: dict[str, RobotRules] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._asker.close()

    @property
    def counts(self) -> FetchCounts:
        """What was asked for so far."""
        return self._asker.tally.counts()

    def __call__(self, request: Request | str) -> Page:
        """The page at an address; asking again within the run gives the same, errors included, and asks nobody.

        Raises ``FetchError``, and ``NotConfigured`` when nobody has said who is asking.
        """
        wanted = _normal(Request(request) if isinstance(request, str) else request)
        mine: Future[int] = Future()
        with self._lock:
            known = self._memo.setdefault(wanted, mine)
        if known is not mine:
            return self._again(known)
        try:
            snapshot = self._recorded(wanted) if self._offline else self._live_or_by_hand(wanted)
        except BaseException as error:
            if not isinstance(error, FetchError):
                with self._lock:
                    del self._memo[wanted]
            mine.set_exception(error)
            raise
        # The id alone: the pages of a long run would fill the memory.
        mine.set_result(snapshot.id)
        return _page(snapshot)

    def _again(self, known: Future[int]) -> Page:
        error = known.exception()
        if isinstance(error, FetchError):
            raise type(error)(error.message, error.hint, snapshot_id=error.snapshot_id)
        with self._store.read() as session:
            return _page(get_snapshot(session, known.result()))

    def _recorded(self, request: Request) -> SnapshotRecord:
        with self._store.read() as session:
            found = stored_answer(session, request)
            gone = None if found else newest_answer(session, replace(request, accept=GONE))
        if found is not None:
            return found
        if gone is not None:
            raise refusal(request.url, gone)
        raise NotRecorded(
            f"{request.url} is not in the store", "run it once with the network, or give it to live sources record"
        )

    def _live_or_by_hand(self, request: Request) -> SnapshotRecord:
        """The host's answer, or where it gives none to us the page that a person has handed in lately."""
        try:
            return self._live(request)
        except (AuthRequired, Blocked, Disallowed):
            with self._store.read() as session:
                found = handed_in(session, request, self._clock.now() - _BY_HAND_HOLD)
            if found is None:
                raise
            self._asker.tally.add(by_hand=1)
            return found

    def _live(self, request: Request) -> SnapshotRecord:
        self._settings.user_agent()  # refuses before anything else is done
        with self._store.read() as session:
            ask = Ask(request, newest_answer(session, request), self._settings.limits.total_s)
        url = request.url
        if not self._asker.is_named(url):
            raise Unreachable(f"{url} is on a host that the source {self._source} does not name", LOOK)
        for _ in range(MAX_REDIRECTS + 1):
            answer = self._asker.ask(ask, url, self._checked_delay_s(url))
            if answer.status not in REDIRECTS or answer.status in request.accept:
                return answer
            url = self._redirected(request, url, answer)
        raise Unreachable(f"{request.url} redirects more than {MAX_REDIRECTS} times, at last to {url}", LOOK)

    def _redirected(self, request: Request, url: str, answer: SnapshotRecord) -> str:
        """Where an answer sends on to. ``AuthRequired`` when it is a login, ``Unreachable`` when no host of ours."""
        location = answer.headers.get("location", "")
        try:
            target = self._asker.mirrors.redirected(url, location)
        except ValueError:
            raise Unreachable(f"{url} redirects to {location!r}, which is no address", LOOK) from None
        if leads_to_login(request.url, target):
            raise AuthRequired(
                f"{request.url} leads to a login at {target}",
                "set the source's credential in the environment, if you have one (live sources list)",
                snapshot_id=answer.id,
            )
        if not self._asker.is_named(target):
            raise Unreachable(f"{url} redirects to another host: {target}", LOOK, snapshot_id=answer.id)
        if request.method != "GET" and answer.status not in _KEEP_METHOD:
            raise Unreachable(f"{url} answers a {request.method} with a redirect to {target}", LOOK)
        return target

    def _checked_delay_s(self, url: str) -> float:
        """The Crawl-delay for an address. ``Disallowed`` when the host's robots.txt forbids it."""
        if urlsplit(url).path == _ROBOTS_PATH:
            return 0.0
        rules = self._rules(origin_of(url))
        if not rules.allows(url):
            raise Disallowed(
                f"{origin_of(url)}{_ROBOTS_PATH} forbids to ask for {url}", "give pages to live sources record instead"
            )
        if rules.delay_s > LONGEST_DELAY_S:
            raise Disallowed(
                f"{origin_of(url)}{_ROBOTS_PATH} asks for {rules.delay_s:g} s between requests",
                f"more than {LONGEST_DELAY_S:g} s are too slow to read a site: give pages to live sources record",
            )
        return rules.delay_s

    def _rules(self, origin: str) -> RobotRules:
        known = self._robots.get(origin)
        if known is None:
            known = self._robots[origin] = self._read_rules(origin)
        return known

    def _read_rules(self, origin: str) -> RobotRules:
        """The rules of a host, from the store when they are not older than a day.

        Where they cannot be had nothing may be asked, but older ones are better than none (RFC 9309, 2.3.1.4 and 2.4).
        """
        request = Request(origin + _ROBOTS_PATH, accept=_ROBOTS_ANSWERS)
        with self._store.read() as session:
            last = newest_answer(session, request)
        if last is not None and last.validated_at > self._clock.now() - _ROBOTS_HOLD:
            return read_robots(last.status, last.body)
        try:
            page = self(request)
        except (Unreachable, TimedOut) as error:
            if last is not None:
                return read_robots(last.status, last.body)
            said = f"nothing of {origin} is asked without its robots.txt: {error.message}"
            raise type(error)(said, error.hint, snapshot_id=error.snapshot_id) from None
        return read_robots(page.status, page.body)


def record_page(store: Store, source: str, url: str, body: bytes, *, now: datetime) -> SnapshotRecord:
    """Keep a page that a person saved by hand, as the newest answer to a GET of its address.

    Offline it is found like any other; a run that the host refuses takes it for some days. One whose address has no
    query is found for each language of it as well. ``PageChanged`` when it is empty or a challenge, ``ValueError`` when
    `url` is no address.
    """
    address = normal_url(url)
    challenge = find_challenge({}, body) if body.strip() else "nothing"
    if challenge:
        raise PageChanged(f"the file for {address} shows {challenge}", "open the page, and save it once it is there")
    response = ResponseRecord(source, "GET", address, "", address, 200, {}, body, SnapshotOrigin.RECORDED)
    with store.write() as session:
        return save_snapshot(session, response, now=now)


def _normal(request: Request) -> Request:
    try:
        return replace(request, url=normal_url(request.url))
    except ValueError as error:
        raise FetchError(str(error), "the source is at fault") from None


def _page(snapshot: SnapshotRecord) -> Page:
    return Page(
        url=snapshot.url,
        body=snapshot.body,
        fetched_at=snapshot.fetched_at,
        status=snapshot.status,
        headers=snapshot.headers,
        final_url=snapshot.final_url,
        snapshot_id=snapshot.id,
    )
