"""Which contests of a listing a run reads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from db.contests import StoredContest, load_contests
from db.engine import Store
from db.records import ContestKind, ContestRecord
from ingest.pages import Fetch
from ingest.sources import Listing, Source, Wanted

RECHECK: Final = timedelta(days=14)
"""How long after its end a contest is read again every night: statements are corrected, limits changed."""


@dataclass(frozen=True)
class Plan:
    """What a run would do: the contests that it would read, and what the listing said."""

    contests: tuple[StoredContest, ...]
    listing: Listing


def plan(store: Store, source: Source, fetch: Fetch, wanted: Wanted, *, recheck: timedelta = RECHECK) -> Plan:
    """List the contests without keeping anything but the snapshots, and say which would be read."""
    listing = source.discover(fetch, wanted)
    with store.read() as session:
        known = {contest.record.native_id: contest for contest in load_contests(session, source.name)}
    unknown = StoredContest(0, ContestRecord(source.name, "unknown"), None, 0, None, None)
    contests = [replace(known.get(record.native_id, unknown), record=record) for record in listing.contests]
    return Plan(tuple(one for one in contests if is_due(source, one, wanted.now, recheck)), listing)


def is_due(source: Source, contest: StoredContest, now: datetime, recheck: timedelta) -> bool:
    """Whether a listed contest's problems are to be read: it is over, and they are not all here, or it ended lately.

    Trainings and permanent contests are never read: they list problems that are dated by other contests. A round that
    its source gives no time at all (only a year) is read as soon as it is listed, and again where that asks nobody.
    """
    record = contest.record
    if record.kind is not ContestKind.ROUND or contest.withdrawn_at is not None:
        return False
    if record.starts_at is None and record.ends_at is None:
        return contest.collected_at is None or not source.hosts
    if not record.has_ended(now):
        return False
    return contest.collected_at is None or (record.ends_at is not None and now - record.ends_at <= recheck)


def to_collect(
    store: Store, source: Source, listing: Listing, wanted: Wanted, recheck: timedelta
) -> list[StoredContest]:
    """The contests of a listing whose problems are to be read, the earliest first."""
    listed = {contest.native_id for contest in listing.contests}
    with store.read() as session:
        stored = load_contests(session, source.name)
    return [one for one in stored if one.record.native_id in listed and is_due(source, one, wanted.now, recheck)]
