"""The earliest instant at which a problem was public anywhere: its own contest, a sighting, or a near-duplicate."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, or_, select, update
from sqlalchemy.orm import Session

from db import tables as t
from db.duplicates import DuplicateVerdict
from db.flags import sync_flags
from db.records import SightingRecord, require_utc
from db.sql import chunks, insert_rows, is_one_of

EARLY_ACCESS = "early_access"
"""Flag: the problem was seen before its contest began."""
EXPOSED_EARLIER = "exposed_earlier"
"""Flag: the same problem was public earlier under another id."""
UNDATED_COPY = "undated_copy"
"""Flag: the same problem stands under another id whose date nobody knows, so it may have been public at any time."""
_BY = "exposure"

_SIGHTING = select(t.sighting.c.id, t.sighting.c.seen_at).where(
    t.sighting.c.platform == bindparam("platform"),
    t.sighting.c.native_id == bindparam("native_id"),
    t.sighting.c.source == bindparam("source"),
)
_CHANGE_SIGHTING = update(t.sighting).where(t.sighting.c.id == bindparam("row_id"))
_SET = update(t.problem).where(t.problem.c.id == bindparam("row_id"))


@dataclass(frozen=True)
class _Dated:
    """A problem's own dates: its release, and the earliest sighting of it under any of its ids, with its words."""

    name: str
    released_at: datetime | None
    exposed_at: datetime | None
    seen_at: datetime | None = None
    seen_how: str = ""

    @property
    def public_at(self) -> datetime | None:
        """The earliest known instant. A sighting alone dates nothing: the problem may have been there before."""
        if self.released_at is None:
            return None
        return self.released_at if self.seen_at is None else min(self.released_at, self.seen_at)


def save_sightings(session: Session, sightings: Iterable[SightingRecord], *, now: datetime) -> int:
    """Keep the earliest sighting of each problem by each source; how many are new or earlier than before.

    The problem need not be in the store yet: a sighting counts as soon as it is.
    """
    news = 0
    touched: dict[str, list[str]] = defaultdict(list)
    for sighting in sightings:
        key = {"platform": sighting.key.platform, "native_id": sighting.key.native_id, "source": sighting.source}
        row = session.execute(_SIGHTING, key).one_or_none()
        said = {"seen_at": sighting.seen_at, "reason": sighting.reason}
        if row is None:
            insert_rows(session, t.sighting, [key | said])
        elif sighting.seen_at < row.seen_at:
            session.execute(_CHANGE_SIGHTING, said | {"row_id": row.id})
        else:
            continue
        news += 1
        touched[sighting.key.platform].append(sighting.key.native_id)
    for platform, natives in touched.items():
        refresh_exposure(session, _ids_of(session, platform, natives), now=now)
    return news


def _ids_of(session: Session, platform: str, natives: Iterable[str]) -> set[int]:
    found: set[int] = set()
    for table, column in ((t.problem, t.problem.c.id), (t.problem_alias, t.problem_alias.c.problem_id)):
        for some in chunks(natives):
            query = select(column).where(table.c.platform == platform, table.c.native_id.in_(some))
            found |= set(session.execute(query).scalars())
    return found


def refresh_exposure(session: Session, problem_ids: Iterable[int], *, now: datetime) -> None:
    """Set ``exposed_at`` of these problems, and of all that are the same as one of them, and the flags that say why.

    It is the earliest of the problem's own release, a sighting of it, and the same of its near-duplicates; None while
    its own release is not known.
    """
    require_utc("now", now)
    groups = _groups(session, set(problem_ids))
    dated = _load(session, {member for group in groups.values() for member in group})
    for problem_id, group in groups.items():
        own = dated.get(problem_id)
        if own is None:
            continue
        exposed_at, flags = _exposure(problem_id, group, dated)
        if exposed_at != own.exposed_at:
            session.execute(_SET, {"row_id": problem_id, "exposed_at": exposed_at})
        sync_flags(session, problem_id, flags, by=_BY, now=now)


def _exposure(
    problem_id: int, group: Mapping[int, str], dated: Mapping[int, _Dated]
) -> tuple[datetime | None, list[tuple[str, str]]]:
    own = dated[problem_id]
    flags: list[tuple[str, str]] = []
    exposed_at = own.public_at
    if own.released_at is not None and own.seen_at is not None and own.seen_at < own.released_at:
        start = own.released_at.isoformat()
        flags.append((EARLY_ACCESS, f"{own.seen_how} on {own.seen_at.isoformat()}, before its contest ({start})"))
    for member, reason in sorted(group.items()):
        other = dated[member]
        if member == problem_id:
            continue
        if other.public_at is None:
            flags.append((UNDATED_COPY, f"the same as {other.name}, which has no date: {reason}"))
        elif exposed_at is not None and other.public_at < exposed_at:
            exposed_at = other.public_at
            flags.append(
                (EXPOSED_EARLIER, f"the same as {other.name}, public since {exposed_at.isoformat()}: {reason}")
            )
    return exposed_at, flags


def _groups(session: Session, wanted: set[int]) -> dict[int, dict[int, str]]:
    """Every problem that is the same as a wanted one, through any number of pairs, with the reasons of its group."""
    pair = t.duplicate.c
    reasons: dict[int, dict[int, str]] = {problem_id: {problem_id: ""} for problem_id in wanted}
    edges: dict[int, dict[int, str]] = defaultdict(dict)
    frontier = set(wanted)
    while frontier:
        query = select(pair.first_id, pair.second_id, pair.reason).where(
            pair.verdict == str(DuplicateVerdict.SAME),
            or_(is_one_of(pair.first_id, frontier), is_one_of(pair.second_id, frontier)),
        )
        known = set(reasons)
        for first, second, reason in session.execute(query).all():
            edges[first][second] = edges[second][first] = reason
            for problem_id in (first, second):
                reasons.setdefault(problem_id, {problem_id: ""})
        frontier = set(reasons) - known
    for problem_id, group in reasons.items():
        waiting = [problem_id]
        while waiting:
            for neighbour, reason in edges[waiting.pop()].items():
                if neighbour not in group:
                    group[neighbour] = reason
                    waiting.append(neighbour)
    return reasons


def _load(session: Session, ids: set[int]) -> dict[int, _Dated]:
    problem, alias, sighting = t.problem.c, t.problem_alias.c, t.sighting.c
    seen: dict[int, tuple[datetime, str]] = {}
    for table, column in ((t.problem, problem.id), (t.problem_alias, alias.problem_id)):
        query = (
            select(column, sighting.seen_at, sighting.source, sighting.reason)
            .join(
                t.sighting,
                (sighting.platform == table.c.platform) & (sighting.native_id == table.c.native_id),
            )
            .where(is_one_of(column, ids))
        )
        for problem_id, seen_at, source, reason in session.execute(query).all():
            found = (seen_at, f"{source}: {reason}")
            seen[problem_id] = min(seen.get(problem_id, found), found)
    rows = session.execute(
        select(problem.id, problem.platform, problem.native_id, problem.released_at, problem.exposed_at).where(
            is_one_of(problem.id, ids)
        )
    )
    return {
        row.id: _Dated(
            f"{row.platform}:{row.native_id}", row.released_at, row.exposed_at, *seen.get(row.id, (None, ""))
        )
        for row in rows
    }
