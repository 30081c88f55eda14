"""Saving problems, so that the same record twice changes nothing and an edit overwrites nothing, and listing them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, select, update
from sqlalchemy.orm import Session

from db import tables as t
from db.claims import released_by, save_claims
from db.contests import save_contest
from db.dates import disagreement
from db.digests import suite_digest
from db.errors import AmbiguousProblem, UnknownProblem
from db.exposure import refresh_exposure
from db.flags import add_flags, sync_flags
from db.identity import add_other_id, find_problem, problem_ids
from db.records import ProblemKey, ProblemRecord, SaveOutcome, require_text, require_utc
from db.references import save_references
from db.revisions import ProblemRevision, list_revisions, save_revisions
from db.sql import insert_missing, insert_row
from db.suites import is_weaker, load_suite, save_suite
from db.summaries import ProblemSummary, list_problems

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
_ALIAS = (
    select(t.problem)
    .join(t.problem_alias, t.problem_alias.c.problem_id == t.problem.c.id)
    .where(t.problem_alias.c.platform == bindparam("platform"), t.problem_alias.c.native_id == bindparam("native_id"))
)
_LINK = (t.contest_problem.c.contest_id == bindparam("contest")) & (
    t.contest_problem.c.problem_id == bindparam("problem")
)
_INDEX = select(t.contest_problem.c.contest_index).where(_LINK)
_CHANGE_INDEX = update(t.contest_problem).where(_LINK)
_CHANGE_PROBLEM = update(t.problem).where(t.problem.c.id == bindparam("row_id"))


@dataclass(frozen=True)
class SavedProblem:
    """What became of a record. ``date_note`` is one line, or None when all sources agree on the problem's date."""

    problem_id: int
    outcome: SaveOutcome
    date_note: str | None


def save_problem(session: Session, record: ProblemRecord, *, now: datetime) -> SavedProblem:
    """Save what a record says. What it does not say (None, empty text, no tests) leaves the stored value alone.

    Another statement becomes a new revision, other tests become a new suite, both current from then on (but samples
    alone do not take the place of a suite that has more). A source's newest date, flags and programs (references) take
    the place of its former ones. A record under another id of a known problem (its twin) adds its contest and dates,
    and no second text. ``now`` is an aware UTC instant. A comparison that is not JSON raises ``ValueError`` or
    ``TypeError`` before anything is written.
    """
    require_utc("now", now)
    # Made before anything is written: it refuses what JSON cannot say, and a refused record must leave no trace.
    digest = suite_digest(record.suite) if record.suite is not None and record.suite.tests else None
    before, is_twin = _problem_row(session, record.key)
    if before is None:
        new = _new_problem(record, now)
        problem_id = insert_row(session, t.problem, new)
        before = dict.fromkeys(t.problem.c.keys()) | new
        outcome = SaveOutcome.CREATED
    else:
        problem_id = int(before["id"])
        outcome = SaveOutcome.UNCHANGED
    claims, touched = save_claims(session, problem_id, record.dates, now=now)
    touched |= _save_place(session, problem_id, record, now)
    for other in record.other_ids:
        key = ProblemKey(record.key.platform, other)
        touched |= add_other_id(session, problem_id, key, f"so called by {record.source}", now=now)
    values = released_by(claims)
    if not is_twin:
        touched |= _save_flags(session, problem_id, record, now)
        if record.references is not None:
            touched |= save_references(session, problem_id, record.references, source=record.source)
        values |= _stated(record, before) | _save_content(session, problem_id, record, digest, before, now)
    changes = {name: value for name, value in values.items() if before[name] != value}
    session.execute(_CHANGE_PROBLEM, changes | {"row_id": problem_id, "last_seen_at": now})
    refresh_exposure(session, [problem_id], now=now)
    if outcome is SaveOutcome.UNCHANGED and (changes or touched):
        outcome = SaveOutcome.UPDATED
    return SavedProblem(problem_id, outcome, disagreement(claims))


def _problem_row(session: Session, key: ProblemKey) -> tuple[dict[str, Any] | None, bool]:
    """The row of the problem with this id, and whether the id is another one than its own."""
    wanted = {"platform": key.platform, "native_id": key.native_id}
    for query, is_twin in ((_PROBLEM, False), (_ALIAS, True)):
        row = session.execute(query, wanted).mappings().one_or_none()
        if row is not None:
            return {str(name): value for name, value in row.items()}, is_twin
    return None, False


def _new_problem(record: ProblemRecord, now: datetime) -> dict[str, Any]:
    return {
        "platform": record.key.platform,
        "native_id": record.key.native_id,
        "title": record.title,
        "status": "active",
        "first_source": record.source,
        "first_seen_at": now,
    }


def _stated(record: ProblemRecord, before: Mapping[str, Any]) -> dict[str, Any]:
    said = {"title": record.title, "difficulty": record.difficulty}
    if not before["url"] or record.source != record.key.platform:
        # A platform's own address names a contest: of two that list the problem, neither takes it from the other.
        said["url"] = record.url
    return {name: value for name, value in said.items() if value}


def _save_content(
    session: Session,
    problem_id: int,
    record: ProblemRecord,
    digest: str | None,
    before: Mapping[str, Any],
    now: datetime,
) -> dict[str, Any]:
    """Write the record's statement and tests where they are new; which ones are current from now on."""
    current: dict[str, Any] = {}
    if record.statement or record.starter_code:
        revision = save_revisions(session, problem_id, record, current=before["current_revision_id"], now=now)
        current["current_revision_id"] = revision
    if record.suite is not None and digest is not None:
        suite_id = save_suite(session, problem_id, record.suite, digest, source=record.source, now=now)
        if not is_weaker(session, suite_id, before["current_suite_id"]):
            current["current_suite_id"] = suite_id
    return current


def _save_place(session: Session, problem_id: int, record: ProblemRecord, now: datetime) -> bool:
    """Save the record's contest and the problem's place in it; whether anything changed."""
    if record.contest is None:
        return False
    contest = save_contest(session, record.contest, source=record.source, now=now)
    here = {"contest": contest.contest_id, "problem": problem_id}
    link = session.execute(_INDEX, here).one_or_none()
    if link is None:
        insert_missing(
            session,
            t.contest_problem,
            [{"contest_id": contest.contest_id, "problem_id": problem_id, "contest_index": record.contest_index}],
        )
        return True
    if record.contest_index is not None and record.contest_index != link.contest_index:
        session.execute(_CHANGE_INDEX, here | {"contest_index": record.contest_index})
        return True
    return contest.outcome is not SaveOutcome.UNCHANGED


def _save_flags(session: Session, problem_id: int, record: ProblemRecord, now: datetime) -> bool:
    """A record that has the problem whole states all flags of its source; a bare one only adds."""
    is_whole = bool(record.statement or record.suite)
    save = sync_flags if is_whole else add_flags
    return save(session, problem_id, record.flags, by=record.source, now=now)


def flag_problem(session: Session, key: ProblemKey, name: str, reason: str, *, by: str, now: datetime) -> SaveOutcome:
    """Put a flag on a problem: CREATED, or UNCHANGED when it has this one already. ``UnknownProblem`` if missing."""
    require_utc("now", now)
    require_text("flag name", name, allow_empty=False)
    require_text("flag reason", reason)
    require_text("flag by", by, allow_empty=False)
    problem_id = problem_ids(session, [key]).get(key)
    if problem_id is None:
        raise UnknownProblem(key)
    added = add_flags(session, problem_id, [(name, reason)], by=by, now=now)
    return SaveOutcome.CREATED if added else SaveOutcome.UNCHANGED
