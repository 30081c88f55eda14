"""A run of one source as the command and the schedule start it: its window, its fetcher, its lease, its account."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from db.contests import load_contests
from db.engine import Store
from db.ingest_runs import last_caught_up
from db.records import ContestKind
from ingest import clist
from ingest.choosing import RECHECK, Plan, plan
from ingest.collecting import collect
from ingest.errors import BrokenSource, NotConfigured
from ingest.runs import RunContext, RunReport, RunResult, RunStopped, guarded_run
from ingest.sources import Listing, Source, Wanted, load_source, source_names
from ingest.web.clock import Clock
from ingest.web.fetch import Fetcher, FetchSettings, SystemClock

if TYPE_CHECKING:
    from ingest.planning import Due
    from ingest.web.exchange import Transport

FIRST_LOOK: Final = timedelta(days=30)
"""How far back the first run of a source looks, where nobody says."""
LONGEST_LOOK: Final = timedelta(days=90)
"""How far back a run looks for contests that are not whole: one that never will be must not widen every window."""
LOOK_AHEAD: Final = timedelta(days=14)
"""Contests to come are listed too, so that it is seen when they move."""


@dataclass(frozen=True)
class IngestSettings:
    """How to ask sources. ``of_source`` holds their own settings by name, ``environ`` the credentials of the user."""

    fetch: FetchSettings
    environ: Mapping[str, str]
    of_source: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    recheck: timedelta = RECHECK


@dataclass(frozen=True)
class Span:
    """The window that a user asks for; None leaves a side to `default_since` and `LOOK_AHEAD`."""

    since: datetime | None = None
    until: datetime | None = None


class Ingestion:
    """Runs sources on one store."""

    def __init__(
        self, store: Store, settings: IngestSettings, clock: Clock, *, transport: Transport | None = None
    ) -> None:
        self._store, self._settings, self._clock = store, settings, clock
        self._transport = transport

    def run(
        self,
        name: str,
        *,
        due: Due | None = None,
        span: Span | None = None,
        offline: bool = False,
        stop: threading.Event | None = None,
    ) -> RunReport:
        """Run the source called `name`, by hand or for an instant of its schedule, and keep what became of it.

        A source that does not load is a failed run. Raises ``StoreError`` alone; ``KeyboardInterrupt`` goes through.
        """

        def body(context: RunContext) -> RunResult:
            source = load_source(name)
            wanted = self._wanted(name, span or Span(), context.started_at)
            with self.fetcher(source, offline=offline, clock=_StoppableClock(self._clock, context)) as fetch:
                result = collect(
                    self._store,
                    _with_second_opinion(source, self._settings.environ),
                    fetch,
                    wanted,
                    check=context.check,
                    recheck=self._settings.recheck,
                    is_live=not offline,
                )
                counts = fetch.counts
            asked = {
                "requests": counts.requests,
                "retries": counts.retries,
                "not_modified": counts.not_modified,
                "by_hand": counts.by_hand,
                "bytes_received": counts.bytes_received,
            }
            return replace(result, counts={**result.counts, **asked})

        limit = timedelta(seconds=self._settings.fetch.limits.run_s)
        return guarded_run(
            self._store,
            name,
            due,
            body,
            clock=self._clock.now,
            stop=stop,
            time_limit=limit,
            caught_up=span in (None, Span()) and not offline,
        )

    def plan(self, name: str, span: Span, *, offline: bool = False) -> Plan:
        """What a run of the source would read. Raises ``SourceError``."""
        source = load_source(name)
        wanted = self._wanted(name, span, self._clock.now())
        with self.fetcher(source, offline=offline) as fetch:
            return plan(self._store, source, fetch, wanted, recheck=self._settings.recheck)

    def fetcher(self, source: Source, *, offline: bool = False, clock: Clock | None = None) -> Fetcher:
        """What one run of the source asks with."""
        return Fetcher(
            self._store,
            source.name,
            (*source.hosts, clist.HOST),
            self._settings.fetch,
            environ=self._settings.environ,
            offline=offline,
            clock=clock or self._clock,
            transport=self._transport,
        )

    def _wanted(self, name: str, span: Span, now: datetime) -> Wanted:
        since = span.since or default_since(self._store, name, now, self._settings.recheck)
        settings = {key: value for key, value in self._settings.of_source.get(name, {}).items() if key != "schedule"}
        until = span.until or now + LOOK_AHEAD
        if since >= until:
            window = f"from {since.isoformat()} to {until.isoformat()}"
            raise NotConfigured(f"the window of {name} is empty: it goes {window}", "give both --since and --until")
        with self._store.read() as session:
            known = load_contests(session, name, since=since, until=until)
        stored = frozenset(one.record.native_id for one in known if one.record.starts_at is not None)
        given = frozenset(name for name, value in self._settings.environ.items() if value.strip())
        return Wanted(since, until, now, settings, stored, given)


class _StoppableClock:
    """A clock whose waiting ends when the run is told to stop: a host may ask us to wait for many minutes."""

    def __init__(self, clock: Clock, context: RunContext) -> None:
        self._clock, self._context = clock, context

    def now(self) -> datetime:
        return self._clock.now()

    def monotonic(self) -> float:
        return self._clock.monotonic()

    def sleep(self, seconds: float) -> None:
        if isinstance(self._clock, SystemClock):
            if self._context.stop.wait(seconds):
                raise RunStopped
        else:
            self._clock.sleep(seconds)
            self._context.check()


def default_since(store: Store, source: str, now: datetime, recheck: timedelta) -> datetime:
    """Where the window of a run begins: so that it holds all that was missed since the last completed run.

    That is `recheck` before it, and the start of the earliest contest that has begun and is not whole, or that ended
    so lately that it is read again.
    """
    with store.read() as session:
        last = last_caught_up(session, source)
        known = load_contests(session, source, since=now - LONGEST_LOOK, until=now)
    since = last.started_at - recheck if last is not None else now - FIRST_LOOK
    waiting = [
        contest.record.starts_at
        for contest in known
        if contest.record.starts_at is not None
        and contest.record.kind is ContestKind.ROUND
        and contest.withdrawn_at is None
        and (contest.collected_at is None or (contest.record.ends_at or contest.record.starts_at) > now - recheck)
    ]
    return min([since, now - recheck, *waiting])


def runnable_sources(of_source: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """The sources that can run with these settings, by name. One that does not load is among them: its run says so."""
    return tuple(name for name in source_names() if not missing_settings(name, of_source.get(name, {})))


def require_contact(settings: IngestSettings, names: Iterable[str]) -> None:
    """``NotConfigured`` when one of these sources asks a host and nobody has said who asks."""
    for name in names:
        if (source := _loaded(name)) and source.hosts:
            settings.fetch.user_agent()


def _loaded(name: str) -> Source | None:
    """The source called `name`; None for one that does not load, which is told when it is run."""
    try:
        return load_source(name)
    except BrokenSource:
        return None


def missing_settings(name: str, settings: Mapping[str, Any]) -> list[str]:
    """The settings that the source called `name` needs and does not have."""
    return [key for key in known_settings(name) if not settings.get(key)]


def known_settings(name: str) -> tuple[str, ...]:
    """The settings of its own that a source has; none of one that does not load."""
    source = _loaded(name)
    return source.required_settings if source else ()


def check_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names, each once. ``NotConfigured`` for one that is no source's."""
    known = source_names()
    for name in names:
        if name not in known:
            raise NotConfigured(f"no source is called {name!r}", f"the sources are: {', '.join(known)}")
    return tuple(dict.fromkeys(names))


def _with_second_opinion(source: Source, environ: Mapping[str, str]) -> Source:
    """The source with CLIST's word on the starts of its contests as notes, where the user has a key."""
    resource = clist.RESOURCES.get(source.name)
    if resource is None or not environ.get(clist.KEY.variable, "").strip():
        return source

    def discover(fetch: Any, wanted: Wanted) -> Listing:
        listing = source.discover(fetch, wanted)
        notes = clist.cross_check(fetch, resource, listing.contests, wanted)
        return replace(listing, notes=(*listing.notes, *notes))

    return replace(source, discover=discover)
