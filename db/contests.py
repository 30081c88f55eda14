"""Contests: their starts and how these moved, what their own pages list, and when they vanished from their platform."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import bindparam, func, select, update
from sqlalchemy.orm import Session

from db import tables as t
from db.claims import supersede_contest
from db.exposure import refresh_exposure
from db.flags import sync_flags
from db.identity import problem_ids
from db.records import ContestKind, ContestRecord, ProblemKey, SaveOutcome, require_utc
from db.sql import insert_row, is_one_of

LISTINGS_TO_WITHDRAW: Final = 2
"""So many good listings in a row without it make a contest or a problem withdrawn: one short listing proves nothing."""
LISTINGS_APART: Final = timedelta(hours=12)
"""Listings that are nearer to each other count as one: the same night tried again proves nothing more."""
WITHDRAWN: Final = "withdrawn"
"""A problem's status, and the name of the flag that says since when and why."""
_BY = "listing"

_CONTEST = select(t.contest).where(
    t.contest.c.platform == bindparam("platform"), t.contest.c.native_id == bindparam("native_id")
)
_CHANGE_CONTEST = update(t.contest).where(t.contest.c.id == bindparam("row_id"))
_LAST_START = (
    select(t.contest_start.c.starts_at)
    .where(t.contest_start.c.contest_id == bindparam("contest"), t.contest_start.c.source == bindparam("source"))
    .order_by(t.contest_start.c.id.desc())
    .limit(1)
)


@dataclass(frozen=True)
class SavedContest:
    """What became of a contest's record. ``moved_from`` is the start that it had before, None if it did not move."""

    contest_id: int
    outcome: SaveOutcome
    moved_from: datetime | None = None


@dataclass(frozen=True)
class StoredContest:
    """A contest as the store has it.

    ``n_listed`` problems are on its own page (None: never read), ``n_stored`` of them are in the store;
    ``collected_at`` is the instant since which all of them are.
    """

    contest_id: int
    record: ContestRecord
    n_listed: int | None
    n_stored: int
    collected_at: datetime | None
    withdrawn_at: datetime | None


@dataclass(frozen=True)
class ListingChange:
    """Ids that a listing made withdrawn, and ids that it brought back."""

    withdrawn: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()


def save_contest(session: Session, contest: ContestRecord, *, source: str, now: datetime) -> SavedContest:
    """Save what a record says of a contest; what it does not say leaves the stored value alone.

    Another start is kept beside the former ones, and the contest counts as never read: its problems' dates follow when
    they are read again. What a source has said before is no news: where a list and a contest's own page (two names in
    ``source``) disagree for good, the contest does not move to and fro. A bare record (no start, an ordinary round)
    says nothing of the kind.
    """
    require_utc("now", now)
    said: dict[str, Any] = {
        name: value
        for name in ("title", "url", "starts_at", "ends_at")
        if (value := getattr(contest, name)) is not None
    }
    if contest.kind is not ContestKind.ROUND or contest.starts_at is not None:
        said["kind"] = str(contest.kind)
    key = {"platform": contest.platform, "native_id": contest.native_id}
    row = session.execute(_CONTEST, key).one_or_none()
    if row is None:
        contest_id = insert_row(session, t.contest, key | said)
        _note_start(session, contest_id, contest.starts_at, source, now)
        return SavedContest(contest_id, SaveOutcome.CREATED)
    if not _note_start(session, row.id, contest.starts_at, source, now) and row.starts_at is not None:
        said.pop("starts_at", None)
        if contest.starts_at != row.starts_at:
            said.pop("ends_at", None)
    changes = {name: value for name, value in said.items() if getattr(row, name) != value}
    moved_from = row.starts_at if "starts_at" in changes else None
    if moved_from is not None:
        changes |= {"collected_at": None, "n_listed": None}
    if row.kind == ContestKind.ROUND and "kind" in changes:
        _stop_dating(session, row.id, contest.native_id, now)
    if changes:
        session.execute(_CHANGE_CONTEST, changes | {"row_id": row.id})
    outcome = SaveOutcome.UPDATED if changes else SaveOutcome.UNCHANGED
    return SavedContest(int(row.id), outcome, moved_from)


def _stop_dating(session: Session, contest_id: int, native_id: str, now: datetime) -> None:
    """A round that turns out to be a training or a permanent contest dates its problems no more."""
    link = t.contest_problem.c
    ids = session.execute(select(link.problem_id).where(link.contest_id == contest_id)).scalars().all()
    supersede_contest(session, ids, native_id, now=now)
    refresh_exposure(session, ids, now=now)


def _note_start(session: Session, contest_id: int, starts_at: datetime | None, source: str, now: datetime) -> bool:
    """Keep a start, if it is not what this source said last; whether it is news."""
    here = {"contest": contest_id, "source": source}
    if starts_at is None or session.execute(_LAST_START, here).scalar() == starts_at:
        return False
    row = {"contest_id": contest_id, "starts_at": starts_at, "source": source, "first_seen_at": now}
    insert_row(session, t.contest_start, row)
    return True


def start_history(session: Session, platform: str, native_id: str) -> list[tuple[datetime, datetime]]:
    """All starts that a contest was announced with and when each was first seen, oldest first."""
    start = t.contest_start.c
    query = (
        select(start.starts_at, start.first_seen_at)
        .join(t.contest, t.contest.c.id == start.contest_id)
        .where(t.contest.c.platform == platform, t.contest.c.native_id == native_id)
        .order_by(start.id)
    )
    history: list[tuple[datetime, datetime]] = []
    for row in session.execute(query):
        if not history or history[-1][0] != row.starts_at:
            history.append((row.starts_at, row.first_seen_at))
    return history


def load_contests(
    session: Session, platform: str, *, since: datetime | None = None, until: datetime | None = None
) -> list[StoredContest]:
    """The contests of a platform that start in ``[since, until)``, and all without a start, by start and id."""
    contest, link, problem = t.contest.c, t.contest_problem.c, t.problem.c
    stored = (
        select(link.contest_id, func.count().label("n_stored"))
        .join(t.problem, problem.id == link.problem_id)
        .where(link.withdrawn_at.is_(None))
        .group_by(link.contest_id)
        .subquery()
    )
    query = (
        select(t.contest, stored.c.n_stored)
        .outerjoin(stored, stored.c.contest_id == contest.id)
        .where(contest.platform == platform)
        .order_by(contest.starts_at.is_(None), contest.starts_at, contest.native_id)
    )
    if since is not None:
        query = query.where(contest.starts_at.is_(None) | (contest.starts_at >= since))
    if until is not None:
        query = query.where(contest.starts_at.is_(None) | (contest.starts_at < until))
    return [_stored(row) for row in session.execute(query)]


def _stored(row: Any) -> StoredContest:
    record = ContestRecord(row.platform, row.native_id, row.title, row.starts_at, row.ends_at, _kind(row.kind), row.url)
    return StoredContest(row.id, record, row.n_listed, row.n_stored or 0, row.collected_at, row.withdrawn_at)


def _kind(text: str) -> ContestKind:
    """A kind that a newer version wrote dates nothing here."""
    return ContestKind(text) if text in set(ContestKind) else ContestKind.VIRTUAL


def stored_ids(session: Session, contest_id: int, *, seen_since: datetime | None = None) -> set[str]:
    """The native ids, own and other ones, of the problems that the store has of a contest, or has seen since then."""
    link, problem = t.contest_problem.c, t.problem.c
    chosen = link.contest_id == contest_id
    if seen_since is not None:
        chosen &= problem.last_seen_at >= seen_since
    own = select(problem.native_id).join(t.contest_problem, link.problem_id == problem.id)
    alias = (
        select(t.problem_alias.c.native_id)
        .join(t.contest_problem, link.problem_id == t.problem_alias.c.problem_id)
        .join(t.problem, problem.id == link.problem_id)
    )
    return {native for query in (own, alias) for native in session.execute(query.where(chosen)).scalars()}


def mark_collected(session: Session, contest_id: int, *, n_listed: int, complete: bool, now: datetime) -> None:
    """Note how many problems a contest's page lists, and whether all of them are in the store now."""
    row = session.execute(select(t.contest.c.collected_at).where(t.contest.c.id == contest_id)).one()
    collected_at = (row.collected_at or now) if complete else None
    session.execute(_CHANGE_CONTEST, {"row_id": contest_id, "n_listed": n_listed, "collected_at": collected_at})


def note_listing(
    session: Session, platform: str, listed: Collection[str], *, since: datetime, until: datetime, now: datetime
) -> ListingChange:
    """Count a good listing of the contests that start in ``[since, until)`` against those that it lacks.

    A contest that is missing for the second time in a row is withdrawn, one that is there again is not.
    """
    contest = t.contest.c
    rows = session.execute(
        select(contest.id, contest.native_id, contest.missed_listings, contest.missed_at, contest.withdrawn_at).where(
            contest.platform == platform, contest.starts_at >= since, contest.starts_at < until
        )
    ).all()
    change = _count_missing(session, t.contest, rows, listed, now)
    _refresh_status(session, [row.id for row in rows if row.native_id in {*change.withdrawn, *change.restored}], now)
    return change


def note_problem_list(
    session: Session, contest_id: int, platform: str, listed: Collection[str], *, now: datetime
) -> ListingChange:
    """The same for the problems of one contest: those that its page lacks twice in a row are withdrawn from it."""
    link = t.contest_problem.c
    wanted = set(problem_ids(session, (ProblemKey(platform, native) for native in listed)).values())
    rows = session.execute(
        select(
            link.problem_id.label("id"), t.problem.c.native_id, link.missed_listings, link.missed_at, link.withdrawn_at
        )
        .join(t.problem, t.problem.c.id == link.problem_id)
        .where(link.contest_id == contest_id)
    ).all()
    here = {row.native_id for row in rows if row.id in wanted}
    change = _count_missing(session, t.contest_problem, rows, here, now, contest_id)
    if change.withdrawn or change.restored:
        _refresh_status(session, [contest_id], now)
    return change


def _count_missing(
    session: Session,
    table: Any,
    rows: Sequence[Any],
    listed: Collection[str],
    now: datetime,
    contest_id: int | None = None,
) -> ListingChange:
    withdrawn, restored = [], []
    for row in rows:
        missed, missed_at = 0, None
        if row.native_id not in listed:
            is_news = row.missed_at is None or now - row.missed_at >= LISTINGS_APART
            missed, missed_at = row.missed_listings + is_news, now if is_news else row.missed_at
        gone = missed >= LISTINGS_TO_WITHDRAW or (missed > 0 and row.withdrawn_at is not None)
        if gone and row.withdrawn_at is None:
            withdrawn.append(row.native_id)
        if not gone and row.withdrawn_at is not None:
            restored.append(row.native_id)
        withdrawn_at = (row.withdrawn_at or now) if gone else None
        changes = {"missed_listings": missed, "missed_at": missed_at, "withdrawn_at": withdrawn_at}
        if any(getattr(row, name) != value for name, value in changes.items()):
            if contest_id is None:
                which = table.c.id == row.id
            else:
                which = (table.c.contest_id == contest_id) & (table.c.problem_id == row.id)
            session.execute(update(table).where(which).values(changes))
    return ListingChange(tuple(withdrawn), tuple(restored))


def _refresh_status(session: Session, contest_ids: Iterable[int], now: datetime) -> None:
    """Withdraw the problems of these contests that no contest lists any more; bring back those that one lists."""
    link, contest, problem = t.contest_problem.c, t.contest.c, t.problem.c
    among = select(link.problem_id).where(is_one_of(link.contest_id, contest_ids))
    rows = session.execute(
        select(
            problem.id,
            problem.status,
            problem.last_seen_at,
            contest.native_id,
            (link.withdrawn_at.is_not(None) | contest.withdrawn_at.is_not(None)).label("gone"),
        )
        .join(t.contest_problem, link.problem_id == problem.id)
        .join(t.contest, contest.id == link.contest_id)
        .where(problem.id.in_(among))
    ).all()
    for problem_id in {row.id for row in rows}:
        places = [row for row in rows if row.id == problem_id]
        if all(place.gone for place in places):
            names = ", ".join(sorted(place.native_id for place in places))
            seen = f", last seen on {places[0].last_seen_at:%Y-%m-%d}" if places[0].last_seen_at else ""
            reason = f"not listed any more ({LISTINGS_TO_WITHDRAW} listings in a row) in {names}{seen}"
            if places[0].status != WITHDRAWN:
                _set_status(session, problem_id, WITHDRAWN, now)
                sync_flags(session, problem_id, [(WITHDRAWN, reason)], by=_BY, now=now)
        elif places[0].status == WITHDRAWN:
            _set_status(session, problem_id, "active", None)
            sync_flags(session, problem_id, [], by=_BY, now=now)


def _set_status(session: Session, problem_id: int, status: str, withdrawn_at: datetime | None) -> None:
    session.execute(
        update(t.problem).where(t.problem.c.id == problem_id).values(status=status, withdrawn_at=withdrawn_at)
    )
