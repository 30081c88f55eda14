"""What sources say about a problem's date: claims are added, and what a source no longer says is put aside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, select, update
from sqlalchemy.orm import Session

from db import tables as t
from db.dates import best_claim
from db.records import DateClaim, read_precision
from db.sql import insert_rows

_CLAIMS = select(
    t.date_claim.c.id,
    t.date_claim.c.as_written,
    t.date_claim.c.earliest,
    t.date_claim.c.precision,
    t.date_claim.c.source,
    t.date_claim.c.contest,
    t.date_claim.c.superseded_at,
).where(t.date_claim.c.problem_id == bindparam("problem"))
_SUPERSEDE = update(t.date_claim).where(t.date_claim.c.id == bindparam("row_id"))


def save_claims(
    session: Session, problem_id: int, claims: Iterable[DateClaim], *, now: datetime
) -> tuple[list[DateClaim], bool]:
    """The claims that hold once these are added, and whether anything changed.

    A source's newest word on a contest takes the place of its former ones: a contest that was moved has one start. The
    former ones stay in the table with the instant at which that was seen.
    """
    said = list(dict.fromkeys(claims))
    rows = session.execute(_CLAIMS, {"problem": problem_id}).all()
    stored = [(row.id, _claim_of(row), row.superseded_at) for row in rows]
    spoken = {(claim.source, claim.contest) for claim in said}
    known = {claim for _, claim, _ in stored}
    holding = [claim for claim in said if claim not in known]
    changed = bool(holding)
    insert_rows(session, t.date_claim, [_row_of(claim, problem_id, now) for claim in holding])
    for row_id, claim, superseded_at in stored:
        if (claim.source, claim.contest) not in spoken:
            holds = superseded_at is None
        else:
            holds = claim in said
            if holds != (superseded_at is None):
                changed = True
                session.execute(_SUPERSEDE, {"row_id": row_id, "superseded_at": None if holds else now})
        if holds:
            holding.append(claim)
    return holding, changed


def _claim_of(row: Any) -> DateClaim:
    return DateClaim(row.as_written, row.earliest, read_precision(row.precision), row.source, row.contest)


def _row_of(claim: DateClaim, problem_id: int, now: datetime) -> dict[str, Any]:
    return {
        "problem_id": problem_id,
        "source": claim.source,
        "contest": claim.contest,
        "as_written": claim.as_written,
        "earliest": claim.earliest,
        "precision": str(claim.precision),
        "first_seen_at": now,
    }


def supersede_contest(session: Session, problem_ids: Sequence[int], contest: str, *, now: datetime) -> None:
    """Put aside what any source says of these problems by the start of a contest, and date them by what is left."""
    for problem_id in problem_ids:
        rows = session.execute(_CLAIMS, {"problem": problem_id}).all()
        holding = [row for row in rows if row.superseded_at is None]
        for row in holding:
            if row.contest == contest:
                session.execute(_SUPERSEDE, {"row_id": row.id, "superseded_at": now})
        released = released_by(_claim_of(row) for row in holding if row.contest != contest)
        session.execute(update(t.problem).where(t.problem.c.id == problem_id).values(released))


def released_by(claims: Iterable[DateClaim]) -> dict[str, Any]:
    """What these claims make of a problem's columns."""
    best = best_claim(claims)
    return {
        "released_at": best.earliest if best else None,
        "released_precision": str(best.precision) if best else None,
    }


def superseded_claims(session: Session, problem_id: int) -> Sequence[tuple[DateClaim, datetime]]:
    """The claims that no longer hold, each with the instant at which that was seen, oldest first."""
    rows = session.execute(_CLAIMS, {"problem": problem_id}).all()
    found = [(_claim_of(row), row.superseded_at) for row in rows if row.superseded_at is not None]
    return sorted(found, key=lambda pair: pair[1])
