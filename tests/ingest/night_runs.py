"""Nights of the three sources in one process, on a clock that skips the waiting; and what a store holds after them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import select

from db import tables as t
from db.engine import Store, open_store
from ingest.duplicates import update_duplicates
from ingest.nightly import Ingestion, IngestSettings
from ingest.planning import Due
from ingest.runs import RunReport
from ingest.web.fetch import FetchSettings, Limits
from tests.ingest.night_world import CODEFORCES, SOURCES, Sites, World, sites_on_one_socket
from tests.ingest.server import SkippingClock

DAY = timedelta(days=1)


@dataclass
class Nights:
    """A world, its sites, a store, and the clock by which all of them live."""

    world: World
    sites: Sites
    clock: SkippingClock
    store: Store
    limits: Limits = field(default_factory=Limits)

    @property
    def now(self) -> datetime:
        return self.clock.now()

    def wait_until(self, instant: datetime) -> None:
        """Let time go by, and the sites show what they show by then."""
        self.clock.sleep((instant - self.clock.now()).total_seconds())
        self.show()

    def show(self) -> None:
        """Let the sites show everything as it should be."""
        self.world.show(self.sites, self.clock.now())

    def run(self, *sources: str, offline: bool = False) -> dict[str, RunReport]:
        """Run the sources, one after the other, and compare the statements."""
        reports = {name: self.run_one(name, offline=offline) for name in sources or SOURCES}
        update_duplicates(self.store, now=self.clock.now())
        return reports

    def run_one(self, name: str, due: Due | None = None, *, offline: bool = False) -> RunReport:
        fetch = FetchSettings(contact="https://our.example/bot", limits=self.limits)
        # A run closes its transport: each has its own.
        transport = self.sites.servers[CODEFORCES].transport()
        ingestion = Ingestion(self.store, IngestSettings(fetch, {}), self.clock, transport=transport)
        return ingestion.run(name, due=due, offline=offline)


@contextmanager
def nights(folder: Path, start: datetime) -> Iterator[Nights]:
    """Nights from `start` on, with an empty store."""
    clock = SkippingClock(start)
    with sites_on_one_socket(clock) as sites, open_store(str(folder / "store.db")) as store:
        found = Nights(World(start), sites, clock, store)
        found.show()
        yield found


_OF_RUNS = (t.ingest_run, t.ingest_failure, t.lease, t.host_gate)
_IDS = {"id", "first_seen_at", "last_seen_at", "fetched_at", "validated_at", "found_at", "since", "seen_at", "headers"}
_WHETHER = {"collected_at", "superseded_at", "cleared_at", "withdrawn_at"}
_NAMES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "contest_id": (t.contest, ("platform", "native_id")),
    "problem_id": (t.problem, ("platform", "native_id")),
    "revision_id": (t.revision, ("content_hash",)),
    "suite_id": (t.test_suite, ("digest",)),
}
_REFERENCES = {name: name for name in _NAMES} | {
    "first_id": "problem_id",
    "second_id": "problem_id",
    "current_revision_id": "revision_id",
    "current_suite_id": "suite_id",
}


def contents(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of all tables but those of the runs, without what differs between two stores that hold the same.

    Ids are left out, or what they stand for is in their place; so are the instants at which something was fetched or
    first seen. Of instants at which something ended there is only whether it did.
    """
    with store.read() as session:
        named = {
            name: {row.id: tuple(getattr(row, column) for column in columns) for row in session.execute(select(table))}
            for name, (table, columns) in _NAMES.items()
        }
        return {
            table.name: sorted((_plain(row, named) for row in session.execute(select(table)).mappings()), key=repr)
            for table in t.Base.metadata.sorted_tables
            if table not in _OF_RUNS
        }


def _plain(row: Any, named: dict[str, dict[int, tuple[Any, ...]]]) -> tuple[Any, ...]:
    values: dict[str, Any] = {}
    for column, value in row.items():
        if column in _REFERENCES:
            values[column] = named[_REFERENCES[column]].get(value)
        elif column in _WHETHER:
            values[column] = value is not None
        elif column not in _IDS:
            values[column] = value
    if "first_id" in values:  # which of two is the first depends on who was saved first
        values["first_id"], values["second_id"] = sorted((values["first_id"], values["second_id"]))
    return tuple(sorted(values.items()))


def without_pages(held: dict[str, list[tuple[Any, ...]]]) -> dict[str, list[tuple[Any, ...]]]:
    """Contents without the responses, their digests and the bytes: what was made of them."""
    return {
        name: [tuple(pair for pair in row if pair[0] != "page_sha256") for row in rows]
        for name, rows in held.items()
        if name not in ("snapshot", "blob")
    }


def let_time_pass(store: Store, span: timedelta) -> None:
    """Make all that a store waits for `span` older: leases of processes that are gone, turns at hosts."""
    with store.write() as session:
        for table, key, columns in (
            (t.lease, "name", ("taken_at", "expires_at")),
            (t.host_gate, "host", ("next_at", "blocked_until")),
        ):
            for row in session.execute(select(table)).mappings().all():
                moved = {name: row[name] - span for name in columns if row[name] is not None}
                session.execute(table.update().where(table.c[key] == row[key]).values(moved))
