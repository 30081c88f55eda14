"""Asking a host for one address: turn, try, snapshot, and trying again while the trouble may pass."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from sqlalchemy.orm import Session

from db.digests import sha256_hex
from db.engine import Store
from db.snapshots import (
    ResponseRecord,
    SnapshotOrigin,
    SnapshotRecord,
    newest_recorded,
    newest_snapshot,
    save_snapshot,
    validate_snapshot,
)
from ingest.errors import Absent, AuthRequired, Blocked, FetchError, NotConfigured, TimedOut, Unreachable
from ingest.pages import Request
from ingest.sources import Host
from ingest.web.addresses import Mirrors, place_of, without_language
from ingest.web.challenges import find_challenge
from ingest.web.clock import Clock
from ingest.web.credentials import Credential, credential_for, public_headers
from ingest.web.retries import PASSING, backoff_s, retry_after
from ingest.web.settings import FetchSettings
from ingest.web.turns import Turns, shown

if TYPE_CHECKING:
    from ingest.web.exchange import Answer, Client, Transport

REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
GONE: Final = (404, 410)
LOOK: Final = "Look at the address in a browser: the site may have changed (live sources check)."
_BY_HAND: Final = "Wait, or save the page by hand and give it to live sources record."
_LATER: Final = "Run it again later."
_LONGEST_RETRY_AFTER_S: Final = 24 * 3600.0


@dataclass(frozen=True)
class FetchCounts:
    """What a run has asked for so far. ``requests`` were sent, ``by_host`` says to whom; ``retries`` are among them.

    ``not_modified`` still held; ``by_hand`` were answered with a page that a person handed in, since the host would not
    give it. ``bytes_received`` are those of bodies, as they came over the wire.
    """

    requests: int
    retries: int
    not_modified: int
    by_hand: int
    bytes_received: int
    by_host: Mapping[str, int]


class Tally:
    """Counts from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers: Counter[str] = Counter()
        self._by_host: Counter[str] = Counter()

    def add(self, **numbers: int) -> None:
        """Count on, by the names of `FetchCounts`."""
        with self._lock:
            self._numbers.update(numbers)

    def sent_to(self, place: str) -> None:
        """Count a request."""
        with self._lock:
            self._numbers["requests"] += 1
            self._by_host[place] += 1

    def counts(self) -> FetchCounts:
        """What was counted so far."""
        with self._lock:
            names = FetchCounts.__dataclass_fields__.keys() - {"by_host"}
            return FetchCounts(**{name: self._numbers[name] for name in names}, by_host=dict(self._by_host))


@dataclass
class Ask:
    """A request on its way: the last good answer to it, and the seconds that exchanges may still take for it."""

    request: Request
    last: SnapshotRecord | None
    left_s: float


class Asker:
    """Asks the hosts of one source, for one run. Connections are made when the first request is sent."""

    def __init__(
        self,
        store: Store,
        source: str,
        hosts: Sequence[Host],
        settings: FetchSettings,
        *,
        environ: Mapping[str, str],
        clock: Clock,
        transport: Transport | None,
        dice: random.Random,
    ) -> None:
        self._store = store
        self._source = source
        self._hosts = {host.name.lower(): host for host in hosts}
        self._settings = settings
        self._environ = environ
        self._clock = clock
        self._transport = transport
        self._dice = dice
        self._lock = threading.Lock()
        self._client: Client | None = None
        limits = settings.limits
        self._turns = Turns(store, clock, run_s=limits.run_s, pause_s=limits.pause_s, hold_s=limits.connect_s)
        try:
            self.mirrors = Mirrors(settings.mirrors)
        except ValueError as error:
            raise NotConfigured(f"a mirror is no address: {error}", "correct the mirrors in live.toml") from None
        self.tally = Tally()

    def close(self) -> None:
        """Close all connections."""
        with self._lock:
            if self._client is not None:
                self._client.close()
            self._client = None

    def is_named(self, url: str) -> bool:
        """Whether an address is on one of the source's hosts."""
        return place_of(url) in self._hosts

    def ask(self, ask: Ask, url: str, delay_s: float) -> SnapshotRecord:
        """The first answer that is no passing trouble, kept as a snapshot. The error of the last try when all are.

        `url` is the request's address, or one that it was redirected to; `delay_s` is the least interval that the
        host's robots.txt asks for. Redirects are given back as they are.
        """
        limits = self._settings.limits
        place = place_of(self.mirrors.asked(url))
        for attempt in range(1, limits.tries + 1):
            outcome = self._exchange(ask, url, delay_s)
            if isinstance(outcome, SnapshotRecord) and not _passes(ask.request, outcome.status):
                return outcome
            if attempt == limits.tries or ask.left_s <= 0:
                break
            pause_s = backoff_s(attempt, limits.backoff_s, limits.longest_backoff_s, self._dice)
            # Whoever asks this host waits: what it is troubled by is not this one request.
            self._turns.postpone(place, self._clock.now() + timedelta(seconds=pause_s))
            self.tally.add(retries=1)
        raise refusal(url, outcome) if isinstance(outcome, SnapshotRecord) else outcome

    def _exchange(self, ask: Ask, url: str, delay_s: float) -> SnapshotRecord | FetchError:
        """The snapshot of one answer, or the trouble that kept it from coming, which may pass."""
        asked = self.mirrors.asked(url)
        host = self._hosts[place_of(url)]
        credential = credential_for(host, asked, self._environ)
        headers = self._headers(ask, url, credential)
        client = self._opened()
        with self._turns.take(url, place_of(asked), self._interval_s(host, url != asked, delay_s)) as turn:
            self.tally.sent_to(place_of(asked))
            began = self._clock.monotonic()
            deadline = began + min(ask.left_s, self._turns.left_s)
            try:
                answer = client.send(ask.request.method, asked, headers, ask.request.body, deadline)
            except (Unreachable, TimedOut) as error:
                return error
            finally:
                ask.left_s -= self._clock.monotonic() - began
            self.tally.add(bytes_received=answer.n_received)
            if _passes(ask.request, answer.status):
                turn.not_before = retry_after(answer.headers, self._clock.now(), _LONGEST_RETRY_AFTER_S)
            return self._keep(ask, url, answer, credential)

    def _opened(self) -> Client:
        """The client, made at the first request: offline, nothing that could touch the network is ever there."""
        from ingest.web.exchange import Client, Timeouts

        limits = self._settings.limits
        with self._lock:
            if self._client is None:
                timeouts = Timeouts(limits.connect_s, limits.read_s)
                self._client = Client(timeouts, limits.max_bytes, self._clock, self._transport)
            return self._client

    def _interval_s(self, host: Host, is_mirrored: bool, delay_s: float) -> float:
        own, configured = max(host.interval_s, delay_s), self._settings.intervals_s.get(host.name)
        if configured is None:
            return own
        return configured if is_mirrored else max(own, configured)

    def _headers(self, ask: Ask, url: str, credential: Credential | None) -> dict[str, str]:
        headers = {"User-Agent": self._settings.user_agent(), "Accept-Encoding": "gzip", **dict(ask.request.headers)}
        last = ask.last
        if last is not None and ask.request.method == "GET" and last.final_url == url:
            for given, sent in (("etag", "If-None-Match"), ("last-modified", "If-Modified-Since")):
                value = last.headers.get(given, "")
                if value and value.isascii():  # no other can be sent
                    headers[sent] = value
        if credential is not None:
            headers[credential.header] = credential.value
        return headers

    def _keep(self, ask: Ask, url: str, answer: Answer, credential: Credential | None) -> SnapshotRecord:
        """The snapshot of an answer. The answers that nothing can be done about are raised once it is kept."""
        last = ask.last
        if answer.status == 304 and last is not None and last.final_url == url:
            self.tally.add(not_modified=1)
            with self._store.write() as session:
                return validate_snapshot(session, last.id, now=self._clock.now())
        challenge = find_challenge(answer.headers, answer.body)
        kept = _scrubbed(public_headers(answer.headers), answer.body, credential)
        response = ResponseRecord(
            source=self._source,
            method=ask.request.method,
            url=ask.request.url,
            request_sha256=body_sha256(ask.request),
            final_url=url,
            status=answer.status,
            headers=kept[0],
            body=kept[1],
            origin=SnapshotOrigin.REFUSED if challenge else SnapshotOrigin.FETCHED,
        )
        with self._store.write() as session:
            snapshot = save_snapshot(session, response, now=self._clock.now())
        if challenge:
            raise self._blocked(url, snapshot, challenge)
        if answer.status == 403 and 403 not in ask.request.accept:
            raise self._blocked(url, snapshot, "a refusal (403)")
        if not (is_good(ask.request, snapshot) or answer.status in REDIRECTS | PASSING):
            raise refusal(url, snapshot)
        return snapshot

    def _blocked(self, url: str, snapshot: SnapshotRecord, what: str) -> Blocked:
        """Opens the circuit of the host that sent `what` in place of the page."""
        place = place_of(self.mirrors.asked(url))
        until = self._turns.shut(place, self._settings.blocked_s, what)
        said = f"{url} shows {what}; {place} is left alone until {shown(until)}"
        return Blocked(said, _BY_HAND, snapshot_id=snapshot.id)


def body_sha256(request: Request) -> str:
    """The sha256 of a request's body, "" without one."""
    return sha256_hex(request.body) if request.body else ""


def newest_answer(session: Session, request: Request) -> SnapshotRecord | None:
    """The newest usable snapshot of a request."""
    return newest_snapshot(session, request.method, request.url, body_sha256(request), accept=request.accept)


def stored_answer(session: Session, request: Request) -> SnapshotRecord | None:
    """What the store answers to a request: its newest usable snapshot, else what was recorded without its language."""
    return newest_answer(session, request) or _without_language(session, request)


def handed_in(session: Session, request: Request, since: datetime) -> SnapshotRecord | None:
    """The page that a person handed in for a request after `since`, and after the host last gave one; None without."""
    newest = newest_answer(session, request)
    since = since if newest is None or newest.origin is SnapshotOrigin.RECORDED else max(since, newest.validated_at)
    for found in (newest, _without_language(session, request)):
        if found is not None and found.origin is SnapshotOrigin.RECORDED and found.validated_at > since:
            return found
    return None


def _without_language(session: Session, request: Request) -> SnapshotRecord | None:
    """The page that was handed in for a request's address without its query, where that only says in which language.

    People copy addresses without it. Any other query may stand for another page, and a host's own answer for another
    language.
    """
    bare = without_language(request.url) if request.method == "GET" and not request.body else None
    return newest_recorded(session, bare) if bare else None


def is_good(request: Request, snapshot: SnapshotRecord) -> bool:
    """Whether an answer is one that the request's asker reads."""
    return 200 <= snapshot.status < 300 or snapshot.status in request.accept


def _passes(request: Request, status: int) -> bool:
    """Whether a status tells of a trouble that may pass, and is none that the request's asker reads."""
    return status in PASSING and status not in request.accept


def refusal(url: str, snapshot: SnapshotRecord) -> FetchError:
    """The error that a status other than 2xx means."""
    status = snapshot.status
    if status in GONE:
        return Absent(f"{url} is not there ({status})", LOOK, snapshot_id=snapshot.id)
    if status == 401:
        hint = "set the source's credential in the environment, if you have one (live sources list)"
        return AuthRequired(f"{url} wants a login (401)", hint, snapshot_id=snapshot.id)
    if status >= 500 or status in PASSING:
        return Unreachable(f"{url} answers {status}", _LATER, snapshot_id=snapshot.id)
    return FetchError(f"{url} answers {status}", LOOK, snapshot_id=snapshot.id)


def _scrubbed(headers: dict[str, str], body: bytes, credential: Credential | None) -> tuple[dict[str, str], bytes]:
    if credential is None:
        return headers, body
    return {name: credential.scrubbed(value) for name, value in headers.items()}, credential.scrubbed_bytes(body)
