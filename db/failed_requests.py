"""Requests that brought no answer: they are asked again, and never scored."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, delete, func, literal_column, select
from sqlalchemy.orm import Session

from db import tables as t
from db.completions import require_run
from db.places import PLACE, answered_among
from db.records import MAX_SAMPLES, Place, require_text, require_utc, storable_text
from db.sql import is_one_of, upsert_rows

_failed = t.failed_request.c
_FORGET = delete(t.failed_request).where(
    _failed.run_id == bindparam("run"),
    _failed.problem_id == bindparam("problem"),
    _failed.question_id == bindparam("question"),
    _failed.sample_index == bindparam("sample"),
)


@dataclass(frozen=True)
class FailureRecord:
    """That a place got no answer: why, in one word and in one line, after how many attempts."""

    place: Place
    failed_at: datetime
    reason: str
    message: str
    attempts: int = 1

    def __post_init__(self) -> None:
        require_utc("FailureRecord.failed_at", self.failed_at)
        require_text("FailureRecord.reason", self.reason, allow_empty=False)
        if not 0 <= self.attempts <= MAX_SAMPLES:
            raise ValueError(f"FailureRecord.attempts must be between 0 and {MAX_SAMPLES}, not {self.attempts!r}")


def save_failures(session: Session, run_id: int, records: Sequence[FailureRecord]) -> None:
    """Keep the last failure of each place that has no answer, its attempts added to those before.

    A failure that is not later than the one that stands is that one, or older, and changes nothing. Raises
    ``UnknownRow`` when there is no such run.
    """
    require_run(session, run_id)
    answered = answered_among(session, run_id, [record.place for record in records])
    upsert_rows(
        session,
        t.failed_request,
        [
            {
                "run_id": run_id,
                "problem_id": record.place.problem_id,
                "question_id": record.place.question_id,
                "sample_index": record.place.sample_index,
                "failed_at": record.failed_at,
                "reason": str(record.reason),
                "message": storable_text(record.message),
                "attempts": record.attempts,
            }
            for record in records
            if record.place not in answered
        ],
        key=("run_id", *PLACE),
        replace=("failed_at", "reason", "message"),
        add=("attempts",),
        only_where=literal_column("excluded.failed_at") > _failed.failed_at,
    )


def forget_failures(session: Session, run_id: int, places: Iterable[Place]) -> None:
    """Take away the failures of places that have an answer now."""
    gone = [
        {"run": run_id, "problem": one.problem_id, "question": one.question_id, "sample": one.sample_index}
        for one in places
    ]
    if gone:
        session.execute(_FORGET, gone)


def count_failures(session: Session, run_ids: Iterable[int]) -> dict[int, Counter[str]]:
    """By run, the places without an answer by the reason of their last failure; runs without any are left out."""
    query = (
        select(_failed.run_id, _failed.reason, func.count())
        .where(is_one_of(_failed.run_id, run_ids))
        .group_by(_failed.run_id, _failed.reason)
    )
    found: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for run_id, reason, n_places in session.execute(query):
        found[run_id][reason] = n_places
    return dict(found)


def failures_of(session: Session, run_ids: Iterable[int]) -> dict[int, dict[int, int]]:
    """By run and problem id, the number of failed samples that have no answer."""
    query = (
        select(_failed.run_id, _failed.problem_id, func.count())
        .where(is_one_of(_failed.run_id, run_ids))
        .group_by(_failed.run_id, _failed.problem_id)
    )
    found: defaultdict[int, dict[int, int]] = defaultdict(dict)
    for run_id, problem_id, n_places in session.execute(query):
        found[run_id][problem_id] = n_places
    return dict(found)
