"""Saving problems, so that the same record twice changes nothing and an edit overwrites nothing, and listing them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, select, update
from sqlalchemy.orm import Session

from db import tables as t
from db.blobs import encode_text, put_blobs
from db.dates import best_claim, disagreement, exposed_after
from db.digests import digest_of, suite_digest
from db.errors import AmbiguousProblem, UnknownProblem
from db.records import (
    ContestRecord,
    DateClaim,
    ProblemKey,
    ProblemRecord,
    SaveOutcome,
    require_text,
    require_utc,
)
from db.sql import chunks, insert_missing, insert_row
from db.suites import is_weaker, load_suite, save_suite
from db.summaries import CLAIMS_OF_ONE, ProblemRevision, ProblemSummary, list_problems, list_revisions, load_claims

__all__ = [
    "AmbiguousProblem",
    "ProblemRevision",
    "ProblemSummary",
    "SavedProblem",
    "UnknownProblem",
    "find_problem",
    "flag_problem",
    "list_problems",
    "list_revisions",
    "load_suite",
    "problem_ids",
    "save_problem",
]

# Built once: SQLAlchemy takes two to three times as long to build a statement as to run it.
_PROBLEM = select(t.problem).where(
    t.problem.c.platform == bindparam("platform"), t.problem.c.native_id == bindparam("native_id")
)
_CONTEST = select(t.contest).where(
    t.contest.c.platform == bindparam("platform"), t.contest.c.native_id == bindparam("native_id")
)
_LINK = (t.contest_problem.c.contest_id == bindparam("contest")) & (
    t.contest_problem.c.problem_id == bindparam("problem")
)
_INDEX = select(t.contest_problem.c.contest_index).where(_LINK)
_CHANGE_INDEX = update(t.contest_problem).where(_LINK)
_REVISION = select(t.revision.c.id).where(
    t.revision.c.problem_id == bindparam("problem"), t.revision.c.content_hash == bindparam("hash")
)
_FLAGS = select(t.flag.c.name, t.flag.c.reason).where(t.flag.c.problem_id == bindparam("problem"))
_CHANGE_PROBLEM = update(t.problem).where(t.problem.c.id == bindparam("row_id"))
_CHANGE_CONTEST = update(t.contest).where(t.contest.c.id == bindparam("row_id"))


@dataclass(frozen=True)
class SavedProblem:
    """What became of a record. ``date_note`` is one line, or None when all sources agree on the problem's date."""

    problem_id: int
    outcome: SaveOutcome
    date_note: str | None


def save_problem(session: Session, record: ProblemRecord, *, now: datetime) -> SavedProblem:
    """Save what a record says. What it does not say (None, empty text, no tests) leaves the stored value alone.

    Another statement becomes a new revision, other tests become a new suite, both current from then on (but samples
    alone do not take the place of a suite that has more); date claims and flags are added to those that are there.
    ``now`` is an aware UTC instant. A comparison that is not JSON raises ``ValueError`` or ``TypeError`` before
    anything is written.
    """
    require_utc("now", now)
    # Made before anything is written: it refuses what JSON cannot say, and a refused record must leave no trace.
    digest = suite_digest(record.suite) if record.suite is not None and record.suite.tests else None
    before = _problem_row(session, record.key)
    if before is None:
        new = _new_problem(record, now)
        problem_id = insert_row(session, t.problem, new)
        before = dict.fromkeys(t.problem.c.keys()) | new
        outcome = SaveOutcome.CREATED
        claims: list[DateClaim] = []
    else:
        problem_id = int(before["id"])
        outcome = SaveOutcome.UNCHANGED
        claims = load_claims(session, CLAIMS_OF_ONE, {"problem": problem_id})[problem_id]
    added = _add_claims(session, problem_id, claims, record.dates, now)
    claims += added
    touched = bool(added)
    touched |= _save_contest(session, problem_id, record)
    touched |= _add_flags(session, problem_id, record.flags, record.source, now)
    values = _stated(record) | _released(before, claims)
    values |= _save_content(session, problem_id, record, digest, before["current_suite_id"], now)
    changes = {name: value for name, value in values.items() if before[name] != value}
    if changes:
        session.execute(_CHANGE_PROBLEM, changes | {"row_id": problem_id})
    if outcome is SaveOutcome.UNCHANGED and (changes or touched):
        outcome = SaveOutcome.UPDATED
    return SavedProblem(problem_id, outcome, disagreement(claims))


def _problem_row(session: Session, key: ProblemKey) -> dict[str, Any] | None:
    row = session.execute(_PROBLEM, {"platform": key.platform, "native_id": key.native_id}).mappings().one_or_none()
    return None if row is None else {str(name): value for name, value in row.items()}


def _new_problem(record: ProblemRecord, now: datetime) -> dict[str, Any]:
    return {
        "platform": record.key.platform,
        "native_id": record.key.native_id,
        "title": record.title,
        "status": "active",
        "first_source": record.source,
        "first_seen_at": now,
    }


def _stated(record: ProblemRecord) -> dict[str, Any]:
    said = {"title": record.title, "url": record.url, "difficulty": record.difficulty}
    return {name: value for name, value in said.items() if value}


def _released(before: dict[str, Any], claims: Iterable[DateClaim]) -> dict[str, Any]:
    best = best_claim(claims)
    released = best.earliest if best else None
    return {
        "released_at": released,
        "released_precision": str(best.precision) if best else None,
        "exposed_at": exposed_after(before["released_at"], before["exposed_at"], released),
    }


def _save_content(
    session: Session,
    problem_id: int,
    record: ProblemRecord,
    digest: str | None,
    current_suite: int | None,
    now: datetime,
) -> dict[str, Any]:
    """Write the record's statement and tests where they are new; which ones are current from now on.

    Samples alone never take the place of a suite that has more.
    """
    current: dict[str, Any] = {}
    if record.statement or record.starter_code:
        current["current_revision_id"] = _save_revision(session, problem_id, record, now)
    if record.suite is not None and digest is not None:
        suite_id = save_suite(session, problem_id, record.suite, digest, source=record.source, now=now)
        if not is_weaker(session, suite_id, current_suite):
            current["current_suite_id"] = suite_id
    return current


def _save_revision(session: Session, problem_id: int, record: ProblemRecord, now: datetime) -> int:
    content_hash = digest_of([record.statement, record.starter_code])
    known = session.execute(_REVISION, {"problem": problem_id, "hash": content_hash}).scalar()
    if known is not None:
        return int(known)
    statement, starter = put_blobs(session, [encode_text(record.statement), encode_text(record.starter_code)])
    return insert_row(
        session,
        t.revision,
        {
            "problem_id": problem_id,
            "content_hash": content_hash,
            "statement_sha256": statement,
            "starter_sha256": starter,
            "source": record.source,
            "first_seen_at": now,
        },
    )


def _add_claims(
    session: Session, problem_id: int, known: list[DateClaim], claims: Iterable[DateClaim], now: datetime
) -> list[DateClaim]:
    new = [claim for claim in dict.fromkeys(claims) if claim not in known]
    insert_missing(
        session,
        t.date_claim,
        [
            {
                "problem_id": problem_id,
                "source": claim.source,
                "as_written": claim.as_written,
                "earliest": claim.earliest,
                "precision": str(claim.precision),
                "first_seen_at": now,
            }
            for claim in new
        ],
    )
    return new


def _save_contest(session: Session, problem_id: int, record: ProblemRecord) -> bool:
    """Save the record's contest and the problem's place in it; whether anything changed."""
    if record.contest is None:
        return False
    contest_id, changed = _upsert_contest(session, record.contest)
    here = {"contest": contest_id, "problem": problem_id}
    link = session.execute(_INDEX, here).one_or_none()
    if link is None:
        insert_missing(
            session,
            t.contest_problem,
            [{"contest_id": contest_id, "problem_id": problem_id, "contest_index": record.contest_index}],
        )
        return True
    if record.contest_index is not None and record.contest_index != link.contest_index:
        session.execute(_CHANGE_INDEX, here | {"contest_index": record.contest_index})
        return True
    return changed


def _upsert_contest(session: Session, contest: ContestRecord) -> tuple[int, bool]:
    said = {name: value for name in ("title", "starts_at", "ends_at") if (value := getattr(contest, name)) is not None}
    key = {"platform": contest.platform, "native_id": contest.native_id}
    row = session.execute(_CONTEST, key).one_or_none()
    if row is None:
        return insert_row(session, t.contest, key | said), True
    changes = {name: value for name, value in said.items() if getattr(row, name) != value}
    if changes:
        session.execute(_CHANGE_CONTEST, changes | {"row_id": row.id})
    return int(row.id), bool(changes)


def _add_flags(session: Session, problem_id: int, flags: Iterable[tuple[str, str]], by: str, now: datetime) -> bool:
    """Add the flags that are not there yet; whether there were any."""
    wanted = dict.fromkeys(flags)
    if not wanted:
        return False
    there = {(name, reason) for name, reason in session.execute(_FLAGS, {"problem": problem_id})}
    rows = [
        {"problem_id": problem_id, "name": name, "reason": reason, "flagged_by": by, "since": now}
        for name, reason in wanted
        if (name, reason) not in there
    ]
    insert_missing(session, t.flag, rows)
    return bool(rows)


def flag_problem(session: Session, key: ProblemKey, name: str, reason: str, *, by: str, now: datetime) -> SaveOutcome:
    """Put a flag on a problem: CREATED, or UNCHANGED when it has this one already. ``UnknownProblem`` if missing."""
    require_utc("now", now)
    require_text("flag name", name, allow_empty=False)
    require_text("flag reason", reason)
    require_text("flag by", by, allow_empty=False)
    problem_id = problem_ids(session, [key]).get(key)
    if problem_id is None:
        raise UnknownProblem(key)
    added = _add_flags(session, problem_id, [(name, reason)], by, now)
    return SaveOutcome.CREATED if added else SaveOutcome.UNCHANGED


def problem_ids(session: Session, keys: Iterable[ProblemKey]) -> dict[ProblemKey, int]:
    """The ids of those of the keys that the store holds."""
    wanted = set(keys)
    found: dict[ProblemKey, int] = {}
    for platform in sorted({key.platform for key in wanted}):
        for natives in chunks(key.native_id for key in wanted if key.platform == platform):
            query = select(t.problem.c.native_id, t.problem.c.id).where(
                t.problem.c.platform == platform, t.problem.c.native_id.in_(natives)
            )
            found |= {ProblemKey(platform, native): problem_id for native, problem_id in session.execute(query)}
    return found


def find_problem(session: Session, native_id: str, platform: str | None = None) -> ProblemKey | None:
    """The problem with this native id, or None. ``AmbiguousProblem`` when no platform is named and several have it."""
    query = select(t.problem.c.platform).where(t.problem.c.native_id == native_id).order_by(t.problem.c.platform)
    if platform is not None:
        query = query.where(t.problem.c.platform == platform)
    keys = tuple(ProblemKey(found, native_id) for found in session.execute(query).scalars())
    if len(keys) > 1:
        raise AmbiguousProblem(native_id, keys)
    return keys[0] if keys else None
