"""What became of each attempt at each source: the account that ``live runs`` and the schedule go by.

A run is one row from its start on, so that a process that was killed leaves a row without an end. Whoever holds the
source's lease next closes it as failed, ``interrupted``. For one instant of the schedule there is at most one completed
run; attempts before it failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import Select, bindparam, func, or_, select, update
from sqlalchemy.orm import Session

from db import tables as t
from db.records import require_text, require_utc, storable_text
from db.sql import insert_row

INTERRUPTED: Final = "interrupted"
"""The ``error_kind`` of a run whose process was killed or told to stop: nothing is wrong with the source."""
FAILING_AFTER: Final = 3
"""So many failures in a row, and a source is failing."""
LATE_AFTER: Final = timedelta(hours=24)
"""A contest that ended longer ago than this should have all its problems in the store."""
_MAX_TEXT: Final = 2000

_run, _failure = t.ingest_run, t.ingest_failure
_N_FAILURES = select(func.count()).where(_failure.c.run_id == _run.c.id).scalar_subquery().label("n_failures")
_RUNS = select(_run, _N_FAILURES)
_FINISH = update(_run).where(_run.c.id == bindparam("row_id"), _run.c.finished_at.is_(None))


class IngestOutcome(StrEnum):
    """How an attempt ended. ``partial``: something of the source could not be taken; ``skipped``: it was not asked."""

    COMPLETED = "completed"
    PARTIAL = "partial"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class IngestRunSummary:
    """One attempt. ``outcome`` is None while it runs; ``planned_at`` is None for one that was started by hand.

    ``attempt`` counts the attempts at one planned instant from 1; ``n_failures`` counts what the run could not take.
    """

    run_id: int
    source: str
    planned_at: datetime | None
    attempt: int
    owner: str
    started_at: datetime
    finished_at: datetime | None
    outcome: IngestOutcome | None
    error_kind: str | None
    error: str | None
    counts: Mapping[str, int]
    notes: tuple[str, ...]
    n_failures: int

    @property
    def was_interrupted(self) -> bool:
        """Whether the run, not the source, came to an early end."""
        return self.outcome is IngestOutcome.FAILED and self.error_kind == INTERRUPTED


@dataclass(frozen=True)
class FailureSummary:
    """What a run could not take: a contest or a problem, why, and the response that shows it."""

    what: str
    kind: str
    error: str
    snapshot_id: int | None
    failed_at: datetime


@dataclass(frozen=True)
class LateContest:
    """A contest that ended long ago and is not whole. ``n_listed`` is None when its own page was never read."""

    native_id: str
    title: str | None
    ends_at: datetime
    n_stored: int
    n_listed: int | None


@dataclass(frozen=True)
class SourceHealth:
    """How a source does: its last good night, what is wrong since, newest first, and whether it is failing.

    ``newest_released_at`` is that of its newest problem; ``running`` an attempt that has not ended.
    """

    source: str
    last_good: IngestRunSummary | None
    newest_released_at: datetime | None
    running: IngestRunSummary | None
    wrong_since: tuple[IngestRunSummary, ...]
    failures_in_a_row: int
    late_contests: tuple[LateContest, ...]

    @property
    def is_failing(self) -> bool:
        """Whether somebody should look: `FAILING_AFTER` failures in a row, interruptions aside."""
        return self.failures_in_a_row >= FAILING_AFTER


def start_run(
    session: Session,
    source: str,
    owner: str,
    now: datetime,
    planned_at: datetime | None = None,
    *,
    caught_up: bool = True,
) -> int:
    """Open a run and give its id. It is the next attempt at ``planned_at``, or the only one of a run by hand.

    ``caught_up`` says that its window begins where the last such run left off, so that later ones may begin here.
    """
    require_utc("now", now)
    require_utc("planned_at", planned_at)
    require_text("source", source, allow_empty=False)
    require_text("owner", owner, allow_empty=False)
    tried = 0 if planned_at is None else count_attempts(session, source, planned_at)
    new = {"source": source, "planned_at": planned_at, "attempt": tried + 1, "owner": owner, "started_at": now}
    return insert_row(session, _run, new | {"caught_up": caught_up, "counts": {}, "notes": []})


def finish_run(
    session: Session,
    run_id: int,
    outcome: IngestOutcome,
    now: datetime,
    counts: Mapping[str, int] | None = None,
    notes: Sequence[str] = (),
    error_kind: str | None = None,
    error: str | None = None,
) -> bool:
    """Close a run. False, and nothing changed, when it is closed already: whoever took its lease has done that."""
    require_utc("now", now)
    values = {
        "outcome": str(outcome),
        "finished_at": now,
        "counts": dict(counts or {}),
        "notes": [_storable(note) for note in notes],
        "error_kind": error_kind,
        "error": None if error is None else _storable(error),
    }
    return bool(getattr(session.execute(_FINISH, values | {"row_id": run_id}), "rowcount", 0))


def add_failure(
    session: Session,
    run_id: int,
    what: str,
    kind: str,
    error: str,
    snapshot_id: int | None,
    now: datetime,
) -> None:
    """Keep what the run could not take. Any text is taken: an odd error message must not hide the error."""
    require_utc("now", now)
    row = {"run_id": run_id, "what": _storable(what), "kind": kind, "error": _storable(error)}
    insert_row(session, _failure, row | {"snapshot_id": snapshot_id, "failed_at": now})


def abandon_runs(session: Session, source: str, now: datetime) -> int:
    """Close the source's unfinished runs as failed, interrupted; how many. Only for the holder of its lease."""
    require_utc("now", now)
    query = _RUNS.where(_run.c.source == source, _run.c.finished_at.is_(None))
    left = _summaries(session, query)
    for run in left:
        error = f"{run.owner} went away without an end"
        finish_run(session, run.run_id, IngestOutcome.FAILED, now, run.counts, run.notes, INTERRUPTED, error)
    return len(left)


def count_attempts(session: Session, source: str, planned_at: datetime) -> int:
    """How many runs there are for one instant of the schedule."""
    query = select(func.count()).where(_run.c.source == source, _run.c.planned_at == planned_at)
    return session.execute(query).scalar_one()


def list_attempts(session: Session, source: str, planned_at: datetime) -> list[IngestRunSummary]:
    """The runs for one instant of the schedule, the first attempt first."""
    query = _RUNS.where(_run.c.source == source, _run.c.planned_at == planned_at).order_by(_run.c.attempt)
    return _summaries(session, query)


def last_completed(session: Session, source: str, *, planned_only: bool = False) -> IngestRunSummary | None:
    """The newest completed run: the one for the newest planned instant, or, runs by hand too, the last started."""
    query = _RUNS.where(_run.c.source == source, _run.c.outcome == str(IngestOutcome.COMPLETED))
    if planned_only:
        query = query.where(_run.c.planned_at.is_not(None)).order_by(_run.c.planned_at.desc())
    return next(iter(_summaries(session, query.order_by(_run.c.id.desc()).limit(1))), None)


def last_caught_up(session: Session, source: str) -> IngestRunSummary | None:
    """The newest run whose list of contests held all that came since the one before it.

    A partial one is such, too: what it could not take is known by name from then on.
    """
    ended = [str(IngestOutcome.COMPLETED), str(IngestOutcome.PARTIAL)]
    query = _RUNS.where(_run.c.source == source, _run.c.caught_up, _run.c.outcome.in_(ended))
    return next(iter(_summaries(session, query.order_by(_run.c.id.desc()).limit(1))), None)


def sources_tried(session: Session) -> list[str]:
    """The sources that have been run at least once, sorted."""
    return sorted(session.execute(select(_run.c.source).distinct()).scalars())


def list_runs(session: Session, source: str | None = None, limit: int = 20) -> list[IngestRunSummary]:
    """The last ``limit`` runs of one source or of all, newest first."""
    query = _RUNS if source is None else _RUNS.where(_run.c.source == source)
    return _summaries(session, query.order_by(_run.c.id.desc()).limit(limit))


def list_failures(session: Session, run_id: int) -> list[FailureSummary]:
    """What one run could not take, in the order in which it met it."""
    rows = session.execute(select(_failure).where(_failure.c.run_id == run_id).order_by(_failure.c.id))
    return [FailureSummary(row.what, row.kind, row.error, row.snapshot_id, row.failed_at) for row in rows]


def source_health(session: Session, sources: Iterable[str], now: datetime) -> list[SourceHealth]:
    """How each of these sources does, in their order."""
    require_utc("now", now)
    return [_health(session, source, now) for source in sources]


def _health(session: Session, source: str, now: datetime) -> SourceHealth:
    last_good = last_completed(session, source)
    # A run offline, or over a window of the user's own, says nothing of how the source does.
    query = _RUNS.where(_run.c.source == source, _run.c.caught_up).order_by(_run.c.id.desc())
    since = _summaries(session, query.where(_run.c.id > last_good.run_id) if last_good else query)
    wrong = [run for run in since if run.outcome in {IngestOutcome.FAILED, IngestOutcome.PARTIAL}]
    return SourceHealth(
        source=source,
        last_good=last_good,
        newest_released_at=_newest_released(session, source),
        running=next((run for run in since if run.outcome is None), None),
        wrong_since=tuple(wrong),
        failures_in_a_row=_failures_in_a_row(wrong),
        late_contests=tuple(_late_contests(session, source, now - LATE_AFTER)),
    )


def _failures_in_a_row(wrong: Iterable[IngestRunSummary]) -> int:
    """How many of the newest runs failed: a partial one ends the row, an interrupted one says nothing."""
    n_failed = 0
    for run in wrong:
        if run.outcome is IngestOutcome.PARTIAL:
            break
        n_failed += not run.was_interrupted
    return n_failed


def _newest_released(session: Session, source: str) -> datetime | None:
    problem = t.problem.c
    mine = or_(problem.first_source == source, problem.platform == source)
    # Not max(): on SQLite an aggregate loses the column's type, and with it the zone.
    query = select(problem.released_at).where(mine, problem.released_at.is_not(None))
    return session.execute(query.order_by(problem.released_at.desc()).limit(1)).scalar()


def _late_contests(session: Session, source: str, ended_by: datetime) -> list[LateContest]:
    """Contests that ended by then, with fewer problems than they list; rounds also where their page was never read."""
    contest, link = t.contest.c, t.contest_problem.c
    stored = select(func.count()).where(link.contest_id == contest.id, link.withdrawn_at.is_(None)).scalar_subquery()
    query = (
        select(contest.native_id, contest.title, contest.ends_at, stored.label("n_stored"), contest.n_listed)
        .where(contest.platform == source, contest.ends_at <= ended_by, contest.withdrawn_at.is_(None))
        .where(or_(contest.n_listed > stored, (contest.n_listed.is_(None)) & (contest.kind == "round")))
        .order_by(contest.ends_at.desc(), contest.native_id)
    )
    return [LateContest(*row) for row in session.execute(query)]


def _summaries(session: Session, query: Select[Any]) -> list[IngestRunSummary]:
    return [_summary(row) for row in session.execute(query)]


def _summary(row: Any) -> IngestRunSummary:
    outcome, error = _read_outcome(row.outcome)
    return IngestRunSummary(
        run_id=row.id,
        source=row.source,
        planned_at=row.planned_at,
        attempt=row.attempt,
        owner=row.owner,
        started_at=row.started_at,
        finished_at=row.finished_at,
        outcome=outcome,
        error_kind=row.error_kind,
        error=row.error or error,
        counts=row.counts,
        notes=tuple(row.notes),
        n_failures=row.n_failures,
    )


def _read_outcome(text: str | None) -> tuple[IngestOutcome | None, str | None]:
    """The outcome, and what is wrong with its spelling: one odd row must not hide all the others."""
    if text is None:
        return None, None
    if text in set(IngestOutcome):
        return IngestOutcome(text), None
    return IngestOutcome.FAILED, f"its outcome is written {text!r}, which this version does not know"


def _storable(text: str) -> str:
    """Text that every database takes, of a length that a person reads."""
    plain = storable_text(text)
    return plain if len(plain) <= _MAX_TEXT else plain[: _MAX_TEXT - 1] + "…"
