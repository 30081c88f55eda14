"""Runs and their completions: what models answered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, distinct, func, select, update
from sqlalchemy.orm import Session

from db import tables as t
from db.blobs import encode_text, put_blobs
from db.digests import digest_of, sha256_hex
from db.errors import CompletionConflict, UnknownProblem, UnknownRow
from db.problems import problem_ids
from db.records import CompletionRecord, SaveOutcome, require_text, require_utc
from db.sql import insert_missing, insert_rows, is_among

__all__ = [
    "CompletionConflict",
    "RunRecord",
    "RunSummary",
    "SaveResult",
    "UnknownProblem",
    "list_runs",
    "require_run",
    "save_completion",
    "save_completions",
    "save_run",
]

_RUN = select(t.run.c.id).where(t.run.c.id == bindparam("run"))
_REVISIONS = select(t.problem.c.id, t.problem.c.current_revision_id).where(is_among(t.problem.c.id, "problems"))
_STORED = select(t.completion).where(
    t.completion.c.run_id == bindparam("run"),
    is_among(t.completion.c.problem_id, "problems"),
    is_among(t.completion.c.sample_index, "samples"),
)
SaveResult = SaveOutcome | CompletionConflict | UnknownProblem


@dataclass(frozen=True)
class RunRecord:
    """Answers of one model under one set of conditions (JSON values: prompt version, sampling, effort).

    The three fields together are its identity.
    """

    model: str
    label: str = ""
    conditions: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_text("RunRecord.model", self.model, allow_empty=False)
        require_text("RunRecord.label", self.label)

    @property
    def digest(self) -> str:
        """The sha256 of model, label and conditions."""
        return digest_of({"model": self.model, "label": self.label, "conditions": self.conditions})


@dataclass(frozen=True)
class RunSummary:
    """A run with the number of its completions and of the problems that they answer."""

    run_id: int
    model: str
    label: str
    conditions: dict[str, Any]
    n_completions: int
    n_problems: int


def save_run(session: Session, record: RunRecord, *, now: datetime) -> int:
    """The id of this run, made if it is not there yet. ``now`` is an aware UTC instant."""
    require_utc("now", now)
    row = {
        "digest": record.digest,
        "model": record.model,
        "label": record.label,
        "conditions": record.conditions,
        "created_at": now,
    }
    known = select(t.run.c.id).where(t.run.c.digest == record.digest)
    if session.execute(known).scalar() is None:
        insert_missing(session, t.run, [row])
    return int(session.execute(known).scalar_one())


def require_run(session: Session, run_id: int) -> None:
    """Raise ``UnknownRow`` when there is no such run."""
    if session.execute(_RUN, {"run": run_id}).scalar() is None:
        raise UnknownRow("run", run_id)


def list_runs(session: Session, models: Iterable[str] | None = None) -> list[RunSummary]:
    """All runs, or those of some models, by model, label and id."""
    counted = t.completion.c
    counts = (
        select(
            counted.run_id,
            func.count().label("n_completions"),
            func.count(distinct(counted.problem_id)).label("n_problems"),
        )
        .group_by(counted.run_id)
        .subquery()
    )
    query = (
        select(t.run, counts.c.n_completions, counts.c.n_problems)
        .outerjoin(counts, counts.c.run_id == t.run.c.id)
        .order_by(t.run.c.model, t.run.c.label, t.run.c.id)
    )
    if models is not None:
        query = query.where(t.run.c.model.in_(list(models)))
    return [
        RunSummary(row.id, row.model, row.label, row.conditions, row.n_completions or 0, row.n_problems or 0)
        for row in session.execute(query)
    ]


def save_completion(session: Session, run_id: int, record: CompletionRecord) -> SaveOutcome:
    """Save one answer. Raises ``CompletionConflict``, or ``UnknownProblem`` when the problem is not in the store."""
    result = save_completions(session, run_id, [record])[0]
    if isinstance(result, Exception):
        raise result
    return result


def save_completions(
    session: Session,
    run_id: int,
    records: Sequence[CompletionRecord],
    *,
    revision_ids: Sequence[int | None] | None = None,
) -> list[SaveResult]:
    """Save many answers of one run; the result of each stands at its place.

    ``revision_ids`` are the statements that they answer, one for each record; where that is None, what the problem says
    now is taken for it. A refused record is returned as the exception that ``save_completion`` would raise and leaves
    no trace; the others are saved. Raises ``UnknownRow`` when there is no such run.
    """
    require_run(session, run_id)
    ids = problem_ids(session, (record.key for record in records))
    places = {(ids[record.key], record.sample_index) for record in records if record.key in ids}
    stored = _stored_rows(session, run_id, places)
    revisions = _current_revisions(session, set(ids.values()))
    results: list[SaveResult] = []
    new: dict[tuple[int, int], dict[str, Any]] = {}
    gaps: list[dict[str, Any]] = []
    kept: list[bytes] = []
    for record, asked in zip(records, revision_ids or [None] * len(records), strict=True):
        problem_id = ids.get(record.key)
        if problem_id is None:
            results.append(UnknownProblem(record.key))
            continue
        place = (problem_id, record.sample_index)
        row, parts = _row_of(record, run_id, problem_id)
        row["revision_id"] = revisions[problem_id] if asked is None else asked
        old = stored.get(place)
        if old is None:
            stored[place] = new[place] = row
            results.append(SaveOutcome.CREATED)
            kept += parts
            continue
        differing = _difference(old, row)
        if differing is not None:
            results.append(CompletionConflict(run_id, record.key, record.sample_index, differing))
            continue
        filled = {name: row[name] for name in _OPTIONAL if old[name] is None and row[name] is not None}
        if filled:
            old.update(filled)
            kept += parts
            if place not in new:
                gaps.append({"id": old["id"]} | filled)
        results.append(SaveOutcome.UPDATED if filled else SaveOutcome.UNCHANGED)
    put_blobs(session, kept)
    insert_rows(session, t.completion, list(new.values()))
    for gap in gaps:
        session.execute(update(t.completion).where(t.completion.c.id == gap.pop("id")).values(gap))
    return results


def _current_revisions(session: Session, problems: set[int]) -> dict[int, int | None]:
    """What each problem says now."""
    rows = session.execute(_REVISIONS, {"problems": sorted(problems)})
    return {problem_id: revision_id for problem_id, revision_id in rows}


_OPTIONAL = {"finish_reason": "finish_reason", "raw_sha256": "raw_output", "status": "status", "rule": "rule"}
_DECIDING = {"code_sha256": "code", "language": "language"}


def _row_of(record: CompletionRecord, run_id: int, problem_id: int) -> tuple[dict[str, Any], list[bytes]]:
    """A record as its row, and the bytes that the row points to."""
    code = encode_text(record.code)
    raw = None if record.raw_output is None else encode_text(record.raw_output)
    row = {
        "run_id": run_id,
        "problem_id": problem_id,
        "sample_index": record.sample_index,
        "language": record.language,
        "finish_reason": record.finish_reason,
        "code_sha256": sha256_hex(code),
        "raw_sha256": None if raw is None else sha256_hex(raw),
        "status": None if record.status is None else str(record.status),
        "rule": record.rule,
    }
    return row, [code] if raw is None else [code, raw]


def _difference(old: dict[str, Any], new: dict[str, Any]) -> str | None:
    """The first field in which two answers contradict each other. What one of them leaves open does not count."""
    for column, name in _DECIDING.items():
        if old[column] != new[column]:
            return name
    for column, name in _OPTIONAL.items():
        if old[column] is not None and new[column] is not None and old[column] != new[column]:
            return name
    return None


def _stored_rows(session: Session, run_id: int, places: set[tuple[int, int]]) -> dict[tuple[int, int], dict[str, Any]]:
    """What stands at these (problem, sample) already."""
    problems, samples = sorted({problem for problem, _ in places}), sorted({sample for _, sample in places})
    rows = session.execute(_STORED, {"run": run_id, "problems": problems, "samples": samples})
    # All combinations were looked up.
    there = ((place, row) for row in rows if (place := (row.problem_id, row.sample_index)) in places)
    return {place: dict(row._mapping) for place, row in there}
