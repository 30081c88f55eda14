"""References: programs that come with a problem, and what became of those known to solve it on its tests.

A problem whose reference solutions (role ``accepted``) are not accepted has something wrong with its tests, its limits
or the sandbox. Programs of other roles are never judged as solutions; nor are those of a role that this version does
not know, which are left out wherever they are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, and_, bindparam, delete, select
from sqlalchemy.orm import Session

from db import tables as t
from db.blobs import decode_text, encode_text, get_blobs, put_blobs
from db.judgements import INTERNAL_ERROR
from db.records import ProgramRole, ReferenceRecord, require_text, require_utc
from db.sql import insert_rows, is_one_of, upsert_rows

_OF_SOURCE = select(t.reference).where(
    t.reference.c.problem_id == bindparam("problem"), t.reference.c.source == bindparam("source")
)
_OF_PROBLEM = (
    select(t.reference)
    .where(
        t.reference.c.problem_id == bindparam("problem"),
        t.reference.c.role.in_([str(role) for role in ProgramRole]),
    )
    .order_by(t.reference.c.source, t.reference.c.name)
)
_IS_SOLUTION = t.reference.c.role == str(ProgramRole.ACCEPTED)


@dataclass(frozen=True)
class StoredReference:
    """A program that comes with a problem, what it is to it, and who says so."""

    name: str
    language: str
    code: str
    role: ProgramRole
    source: str


@dataclass(frozen=True)
class PendingReference:
    """A reference solution that has not been judged yet on its problem's current suite."""

    reference_id: int
    problem_id: int
    suite_id: int
    name: str
    language: str
    code: str


@dataclass(frozen=True)
class ReferenceVerdictRecord:
    """The verdict of a reference solution; ``detail`` is a line for a person."""

    reference_id: int
    suite_id: int
    verdict: str
    detail: str
    judged_at: datetime

    def __post_init__(self) -> None:
        require_text("ReferenceVerdictRecord.verdict", self.verdict, allow_empty=False)
        require_utc("ReferenceVerdictRecord.judged_at", self.judged_at)


@dataclass(frozen=True)
class FailedReference:
    """A reference solution that is not accepted on its problem's current suite."""

    problem_id: int
    name: str
    verdict: str
    detail: str

    @property
    def reason(self) -> str:
        """Why its problem is not scored, in a line."""
        return f"its solution {self.name} gets {self.verdict}" + (f" ({self.detail})" if self.detail else "")


def save_references(session: Session, problem_id: int, references: Sequence[ReferenceRecord], *, source: str) -> bool:
    """Make these all the programs that ``source`` has for a problem; verdicts of changed ones go, also where nothing
    but the role has changed.

    Returns whether that changed anything. ``ValueError`` when two have one name.
    """
    names = [one.name for one in references]
    if len(set(names)) < len(names):
        raise ValueError(f"programs of {source} have a name twice: {sorted(names)}")
    hashes = put_blobs(session, [encode_text(one.code) for one in references])
    wanted = {
        (one.name, one.language, sha256, str(one.role)): {
            "problem_id": problem_id,
            "name": one.name,
            "language": one.language,
            "code_sha256": sha256,
            "source": source,
            "role": str(one.role),
        }
        for one, sha256 in zip(references, hashes, strict=True)
    }
    there = session.execute(_OF_SOURCE, {"problem": problem_id, "source": source}).all()
    gone = [row.id for row in there if (row.name, row.language, row.code_sha256, row.role) not in wanted]
    verdicts = t.reference_verdict
    session.execute(delete(verdicts).where(is_one_of(verdicts.c.reference_id, gone)))
    session.execute(delete(t.reference).where(is_one_of(t.reference.c.id, gone)))
    known = {(row.name, row.language, row.code_sha256, row.role) for row in there}
    new = [row for key, row in wanted.items() if key not in known]
    insert_rows(session, t.reference, new)
    return bool(gone or new)


def list_references(session: Session, problem_id: int) -> list[StoredReference]:
    """The programs of a problem, by source and name."""
    rows = session.execute(_OF_PROBLEM, {"problem": problem_id}).all()
    code = get_blobs(session, {row.code_sha256 for row in rows})
    return [
        StoredReference(row.name, row.language, decode_text(code[row.code_sha256]), ProgramRole(row.role), row.source)
        for row in rows
    ]


def pending_references(
    session: Session, environment_id: int, *, run_ids: Iterable[int] | None = None
) -> list[PendingReference]:
    """The reference solutions without a final verdict in an environment, of problems that some runs (None: any run)
    have answered."""
    verdict = t.reference_verdict.c
    judged = (
        select(verdict.id)
        .where(
            verdict.reference_id == t.reference.c.id,
            verdict.suite_id == t.problem.c.current_suite_id,
            verdict.environment_id == environment_id,
            verdict.verdict != INTERNAL_ERROR,
        )
        .exists()
    )
    query = (
        select(t.reference, t.problem.c.current_suite_id)
        .join(t.problem, t.problem.c.id == t.reference.c.problem_id)
        .join(t.test_suite, t.test_suite.c.id == t.problem.c.current_suite_id)
        .where(_IS_SOLUTION, t.test_suite.c.n_tests > 0, ~judged, _is_answered(run_ids))
        .order_by(t.reference.c.problem_id, t.reference.c.id)
    )
    rows = session.execute(query).all()
    code = get_blobs(session, {row.code_sha256 for row in rows})
    return [
        PendingReference(
            reference_id=row.id,
            problem_id=row.problem_id,
            suite_id=row.current_suite_id,
            name=row.name,
            language=row.language,
            code=decode_text(code[row.code_sha256]),
        )
        for row in rows
    ]


def save_reference_verdicts(session: Session, environment_id: int, records: Sequence[ReferenceVerdictRecord]) -> None:
    """Save verdicts; one that stands is kept unless it is an internal error."""
    upsert_rows(
        session,
        t.reference_verdict,
        [
            {
                "reference_id": record.reference_id,
                "suite_id": record.suite_id,
                "environment_id": environment_id,
                "verdict": record.verdict,
                "detail": record.detail,
                "judged_at": record.judged_at,
            }
            for record in records
        ],
        key=("reference_id", "suite_id", "environment_id"),
        replace=("verdict", "detail", "judged_at"),
        only_where=t.reference_verdict.c.verdict == INTERNAL_ERROR,
    )


def failed_references(
    session: Session, environment_id: int, *, accepted: str, run_ids: Iterable[int] | None = None
) -> list[FailedReference]:
    """The reference solutions whose verdict in an environment, on the current suite, is not ``accepted`` (internal
    errors are not theirs), of problems that some runs (None: any run) have answered."""
    verdict = t.reference_verdict.c
    query = (
        select(t.reference.c.problem_id, t.reference.c.name, verdict.verdict, verdict.detail)
        .join(t.problem, t.problem.c.id == t.reference.c.problem_id)
        .join(
            t.reference_verdict,
            and_(verdict.reference_id == t.reference.c.id, verdict.suite_id == t.problem.c.current_suite_id),
        )
        .where(
            _IS_SOLUTION,
            verdict.environment_id == environment_id,
            verdict.verdict.not_in([accepted, INTERNAL_ERROR]),
            _is_answered(run_ids),
        )
        .order_by(t.reference.c.problem_id, t.reference.c.name)
    )
    return [FailedReference(*row) for row in session.execute(query)]


def last_environment(session: Session, problem_id: int) -> int | None:
    """The environment in which a reference solution of this problem was judged last; None if none was."""
    verdict = t.reference_verdict.c
    query = (
        select(verdict.environment_id)
        .join(t.reference, t.reference.c.id == verdict.reference_id)
        .where(t.reference.c.problem_id == problem_id, _IS_SOLUTION)
        .order_by(verdict.judged_at.desc(), verdict.id.desc())
        .limit(1)
    )
    return session.execute(query).scalar()


def _is_answered(run_ids: Iterable[int] | None) -> ColumnElement[bool]:
    answered = t.completion.c
    answers = select(answered.id).where(answered.problem_id == t.problem.c.id)
    return (answers if run_ids is None else answers.where(is_one_of(answered.run_id, run_ids))).exists()
