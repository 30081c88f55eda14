"""Requests that brought no answer: they are asked again, and never scored.

What they took is kept when the answer has come: it was paid for.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby

from sqlalchemy import ColumnElement, bindparam, case, delete, func, literal_column, select, update
from sqlalchemy.orm import Session

from db import tables as t
from db.completions import require_run
from db.places import PLACE, answered_among
from db.records import MAX_SAMPLES, Place, require_text, require_utc, storable_text
from db.sql import is_one_of, summed, upsert_rows

_failed = t.failed_request.c
_AT_PLACE = (
    _failed.run_id == bindparam("run"),
    _failed.problem_id == bindparam("problem"),
    _failed.question_id == bindparam("question"),
    _failed.sample_index == bindparam("sample"),
)
_TOOK = ("tokens_in", "tokens_out", "cost")
_TOOK_NOTHING = func.coalesce(*(_failed[name] for name in _TOOK)).is_(None)
_FORGET = delete(t.failed_request).where(*_AT_PLACE, _TOOK_NOTHING)
_new_cost: ColumnElement[float] = literal_column("excluded.cost")
_new_currency: ColumnElement[str] = literal_column("excluded.currency")
_COST = case((_new_currency != _failed.currency, _new_cost), else_=summed(_new_cost, _failed.cost))
_SETTLE = update(t.failed_request).where(*_AT_PLACE).values(is_answered=True)


@dataclass(frozen=True)
class FailureRecord:
    """That a place got no answer: why, in one word and in one line, after how many attempts.

    Tokens and ``cost``, which is in ``currency``, are what it took all the same; None where nobody said.
    """

    place: Place
    failed_at: datetime
    reason: str
    message: str
    attempts: int = 1
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    currency: str | None = None

    def __post_init__(self) -> None:
        require_utc("FailureRecord.failed_at", self.failed_at)
        require_text("FailureRecord.reason", self.reason, allow_empty=False)
        if not 0 <= self.attempts <= MAX_SAMPLES:
            raise ValueError(f"FailureRecord.attempts must be between 0 and {MAX_SAMPLES}, not {self.attempts!r}")
        if (self.cost is None) != (self.currency is None):
            raise ValueError("FailureRecord.cost and FailureRecord.currency go together")


def save_failures(session: Session, run_id: int, records: Sequence[FailureRecord]) -> None:
    """Keep the last failure of each place that has no answer, its attempts, tokens and cost added to those before.

    What was paid in another currency is forgotten.

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
                **{name: getattr(record, name) for name in (*_TOOK, "currency")},
                "is_answered": False,
            }
            for record in records
            if record.place not in answered
        ],
        key=("run_id", *PLACE),
        replace=("failed_at", "reason", "message", "is_answered"),
        add=("attempts", "tokens_in", "tokens_out"),
        computed={"cost": _COST, "currency": func.coalesce(_new_currency, _failed.currency)},
        only_where=literal_column("excluded.failed_at") > _failed.failed_at,
    )


def forget_failures(session: Session, run_id: int, places: Iterable[Place]) -> None:
    """Count the failures of places that have an answer now no longer; what they took is kept."""
    gone = [
        {"run": run_id, "problem": one.problem_id, "question": one.question_id, "sample": one.sample_index}
        for one in places
    ]
    if gone:
        session.execute(_FORGET, gone)
        session.execute(_SETTLE, gone)


def count_failures(session: Session, run_ids: Iterable[int]) -> dict[int, Counter[str]]:
    """By run, the places without an answer by the reason of their last failure; runs without any are left out."""
    query = (
        select(_failed.run_id, _failed.reason, func.count())
        .where(is_one_of(_failed.run_id, run_ids), ~_failed.is_answered)
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
        .where(is_one_of(_failed.run_id, run_ids), ~_failed.is_answered)
        .group_by(_failed.run_id, _failed.problem_id)
    )
    found: defaultdict[int, dict[int, int]] = defaultdict(dict)
    for run_id, problem_id, n_places in session.execute(query):
        found[run_id][problem_id] = n_places
    return dict(found)


@dataclass(frozen=True)
class FailedUsage:
    """What the failed requests of one run took, those of places that were answered since among them: tokens, None where
    none was stated, and cost by currency."""

    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: dict[str, float] = field(default_factory=dict)


def usage_of_failures(session: Session, run_ids: Iterable[int]) -> dict[int, FailedUsage]:
    """By run, what failed requests took; runs without any that took something are left out."""
    query = (
        select(_failed.run_id, _failed.currency, *(func.sum(_failed[name]).label(name) for name in _TOOK))
        .where(is_one_of(_failed.run_id, run_ids), ~_TOOK_NOTHING)
        .group_by(_failed.run_id, _failed.currency)
        .order_by(_failed.run_id)
    )
    found: dict[int, FailedUsage] = {}
    for run_id, rows in groupby(session.execute(query).all(), key=lambda row: row.run_id):
        sums = list(rows)
        found[run_id] = FailedUsage(
            sum_of(row.tokens_in for row in sums),
            sum_of(row.tokens_out for row in sums),
            {row.currency: row.cost for row in sums if row.currency is not None},
        )
    return found


def sum_of(values: Iterable[int | None]) -> int | None:
    """The sum of what is stated; None where nothing is."""
    stated = [int(value) for value in values if value is not None]
    return sum(stated) if stated else None
