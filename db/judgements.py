"""Environments, what is still to be judged in them, and verdicts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Select, and_, case, distinct, func, or_, select
from sqlalchemy.orm import Session

from db import tables as t
from db.blobs import decode_text, get_blobs, pack, unpack
from db.digests import canonical_json
from db.records import WITHOUT_PROGRAM, AnswerStatus, IoKind, ProblemKey, require_text, require_utc
from db.revisions import is_older_statement
from db.sql import insert_missing, is_one_of, upsert_rows

INTERNAL_ERROR: Final = "internal_error"
"""The verdict that is the judge's own fault: it counts as not judged, and only it may be replaced."""
_WITH_PROGRAM = [str(status) for status in AnswerStatus if status.has_program]
# A status that this version does not know is in neither: such an answer waits for a version that does.


@dataclass(frozen=True)
class EnvironmentRecord:
    """What programs are run in. ``details`` are JSON values; ``digest`` is the identity."""

    digest: str
    executor: str
    details: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_text("EnvironmentRecord.digest", self.digest, allow_empty=False)
        require_text("EnvironmentRecord.executor", self.executor, allow_empty=False)


@dataclass(frozen=True)
class PendingJudgement:
    """A completion that has no verdict yet on its problem's current suite."""

    completion_id: int
    problem_key: ProblemKey
    suite_id: int
    code: str
    language: str
    sample_index: int
    model: str


@dataclass(frozen=True)
class JudgementRecord:
    """A verdict. ``tests`` are the facts of each test, as JSON values, in the order of the suite."""

    completion_id: int
    suite_id: int
    verdict: str
    tests: Sequence[dict[str, Any]]
    judged_at: datetime

    def __post_init__(self) -> None:
        require_text("JudgementRecord.verdict", self.verdict, allow_empty=False)
        require_utc("JudgementRecord.judged_at", self.judged_at)


@dataclass(frozen=True)
class VerdictRow:
    """A completion with its verdict on its problem's current suite; None where it has not been judged there. An answer
    without a program has its ``AnswerStatus`` for a verdict, in every environment.

    ``is_older`` says that it answers a statement that its source has changed since, or written in another language.
    """

    run_id: int
    problem_id: int
    sample_index: int
    verdict: str | None
    completion_id: int
    is_older: bool = False


def save_environment(session: Session, record: EnvironmentRecord, *, now: datetime) -> int:
    """The id of this environment, made if it is not there yet. ``now`` is an aware UTC instant."""
    require_utc("now", now)
    known = select(t.environment.c.id).where(t.environment.c.digest == record.digest)
    if session.execute(known).scalar() is None:
        canonical_json(record.details)
        row = {"digest": record.digest, "executor": record.executor, "details": record.details, "created_at": now}
        insert_missing(session, t.environment, [row])
    return int(session.execute(known).scalar_one())


def _pending(
    query: Select[Any], environment_id: int, run_ids: Iterable[int] | None, problem_ids: Iterable[int] | None
) -> Select[Any]:
    """Join and filter a query down to what is not judged: suites with tests, answers with a program, no final verdict
    in the environment."""
    verdict = t.judgement
    judged = (
        select(verdict.c.id)
        .where(
            verdict.c.completion_id == t.completion.c.id,
            verdict.c.suite_id == t.problem.c.current_suite_id,
            verdict.c.environment_id == environment_id,
            verdict.c.verdict != INTERNAL_ERROR,
        )
        .exists()
    )
    query = (
        query.select_from(t.problem)
        .join(t.test_suite, t.test_suite.c.id == t.problem.c.current_suite_id)
        .join(t.completion, t.completion.c.problem_id == t.problem.c.id)
        # A way to meet the tests that this version does not know is left to one that does.
        .where(t.test_suite.c.n_tests > 0, t.test_suite.c.io_kind.in_([str(kind) for kind in IoKind]), ~judged)
        .where(or_(t.completion.c.status.is_(None), t.completion.c.status.in_(_WITH_PROGRAM)))
    )
    if run_ids is not None:
        query = query.where(is_one_of(t.completion.c.run_id, run_ids))
    if problem_ids is not None:
        query = query.where(is_one_of(t.problem.c.id, problem_ids))
    return query


def count_pending(
    session: Session,
    environment_id: int,
    *,
    run_ids: Iterable[int] | None = None,
    problem_ids: Iterable[int] | None = None,
) -> int:
    """How many completions with a program are not judged yet in an environment, on suites that have at least one test
    to judge."""
    query = _pending(select(func.count()), environment_id, run_ids, problem_ids)
    return int(session.execute(query).scalar_one())


def count_pending_runs(session: Session, environment_id: int, *, problem_ids: Iterable[int] | None = None) -> int:
    """How many runs the completions are of that ``count_pending`` counts."""
    query = _pending(select(func.count(distinct(t.completion.c.run_id))), environment_id, None, problem_ids)
    return int(session.execute(query).scalar_one())


def iter_pending(
    session: Session,
    environment_id: int,
    *,
    run_ids: Iterable[int] | None = None,
    problem_ids: Iterable[int] | None = None,
    limit: int = 500,
    after: tuple[int, int] | None = None,
) -> list[PendingJudgement]:
    """The next page of what ``count_pending`` counts, by suite id and completion id.

    ``after`` is the (suite id, completion id) of the last one of the page before; an empty list is the end.
    """
    suite_id, completion_id = t.problem.c.current_suite_id, t.completion.c.id
    columns = (
        completion_id.label("completion_id"),
        suite_id.label("suite_id"),
        t.problem.c.platform,
        t.problem.c.native_id,
        t.completion.c.code_sha256,
        t.completion.c.language,
        t.completion.c.sample_index,
        t.run.c.model,
    )
    query = _pending(select(*columns), environment_id, run_ids, problem_ids)
    query = query.join(t.run, t.run.c.id == t.completion.c.run_id)
    if after is not None:
        last_suite, last_completion = after
        query = query.where(
            suite_id >= last_suite,
            or_(suite_id > last_suite, and_(suite_id == last_suite, completion_id > last_completion)),
        )
    rows = session.execute(query.order_by(suite_id, completion_id).limit(limit)).all()
    code = get_blobs(session, {row.code_sha256 for row in rows})
    return [
        PendingJudgement(
            completion_id=row.completion_id,
            problem_key=ProblemKey(row.platform, row.native_id),
            suite_id=row.suite_id,
            code=decode_text(code[row.code_sha256]),
            language=row.language,
            sample_index=row.sample_index,
            model=row.model,
        )
        for row in rows
    ]


def save_judgements(session: Session, environment_id: int, records: Sequence[JudgementRecord]) -> None:
    """Save verdicts. A verdict that stands is kept, unless it is an internal error: then the new one replaces it."""
    upsert_rows(
        session,
        t.judgement,
        [
            {
                "completion_id": record.completion_id,
                "suite_id": record.suite_id,
                "environment_id": environment_id,
                "verdict": str(record.verdict),
                "judged_at": record.judged_at,
                "tests": pack(canonical_json(list(record.tests))),
            }
            for record in records
        ],
        key=("completion_id", "suite_id", "environment_id"),
        replace=("verdict", "judged_at", "tests"),
        only_where=t.judgement.c.verdict == INTERNAL_ERROR,
    )


def load_verdicts(session: Session, environment_id: int, run_ids: Iterable[int]) -> list[VerdictRow]:
    """All completions of some runs with their verdicts in an environment, by run, problem and sample.

    Only verdicts on a problem's current suite count. An internal error is given as such, for the table to name it.
    """
    done, verdict = t.completion.c, t.judgement
    answered, current = t.revision.alias("answered"), t.revision.alias("current")
    query = (
        select(
            done.run_id,
            done.problem_id,
            done.sample_index,
            case((done.status.in_(WITHOUT_PROGRAM), done.status), else_=verdict.c.verdict),
            done.id,
            is_older_statement(answered, current),
        )
        .select_from(t.completion)
        .join(t.problem, t.problem.c.id == done.problem_id)
        .outerjoin(answered, answered.c.id == done.revision_id)
        .outerjoin(current, current.c.id == t.problem.c.current_revision_id)
        .outerjoin(
            verdict,
            and_(
                verdict.c.completion_id == done.id,
                verdict.c.suite_id == t.problem.c.current_suite_id,
                verdict.c.environment_id == environment_id,
            ),
        )
        .where(is_one_of(done.run_id, run_ids))
        .order_by(done.run_id, done.problem_id, done.sample_index)
    )
    return [VerdictRow(*row) for row in session.execute(query)]


def load_test_results(session: Session, completion_id: int, environment_id: int) -> list[dict[str, Any]]:
    """The facts of each test of a completion on its problem's current suite; empty where it has not been judged."""
    query = (
        select(t.judgement.c.tests)
        .join(t.completion, t.completion.c.id == t.judgement.c.completion_id)
        .join(t.problem, t.problem.c.id == t.completion.c.problem_id)
        .where(
            t.judgement.c.completion_id == completion_id,
            t.judgement.c.suite_id == t.problem.c.current_suite_id,
            t.judgement.c.environment_id == environment_id,
        )
    )
    packed = session.execute(query).scalar()
    if packed is None:
        return []
    facts: list[dict[str, Any]] = json.loads(unpack(packed))
    return facts
