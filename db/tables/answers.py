"""Tables of answers: runs of models, their completions, verdicts, and published tallies."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import LargeBinary, UniqueConstraint
from sqlmodel import Field

from db.records import CODE_GENERATION, ProgramRole
from db.tables.base import JSON_VALUE, Base, starts_as


class Run(Base, table=True):
    """Answers of one model under one label and one set of conditions; ``digest`` is made of the three."""

    id: int | None = Field(default=None, primary_key=True)
    digest: str = Field(unique=True)
    model: str = Field(index=True)
    label: str
    conditions: dict[str, Any] = Field(sa_type=JSON_VALUE)
    created_at: datetime


class Completion(Base, table=True):
    """One sampled answer. ``revision_id`` is the statement that it answers, None where that is not known (no foreign
    key: SQLite cannot add one to a table that exists). ``status`` is an ``AnswerStatus``, ``rule`` what it was found
    by; None: the program came as one."""

    __table_args__ = (UniqueConstraint("run_id", "problem_id", "sample_index"),)

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id")
    problem_id: int = Field(foreign_key="problem.id", index=True)
    sample_index: int
    language: str
    finish_reason: str | None
    code_sha256: str = Field(foreign_key="blob.sha256")
    raw_sha256: str | None = Field(foreign_key="blob.sha256")
    revision_id: int | None
    status: str | None
    rule: str | None


class Environment(Base, table=True):
    """What programs were run in: kind of executor, image, language versions, limit policy."""

    id: int | None = Field(default=None, primary_key=True)
    digest: str = Field(unique=True)
    executor: str
    details: dict[str, Any] = Field(sa_type=JSON_VALUE)
    created_at: datetime


class Judgement(Base, table=True):
    """The verdict of one completion on one suite in one environment. ``tests`` is zstd of a JSON list of facts."""

    __table_args__ = (UniqueConstraint("completion_id", "suite_id", "environment_id"),)

    id: int | None = Field(default=None, primary_key=True)
    completion_id: int = Field(foreign_key="completion.id")
    suite_id: int = Field(foreign_key="test_suite.id")
    environment_id: int = Field(foreign_key="environment.id")
    verdict: str
    judged_at: datetime
    tests: bytes = Field(sa_type=LargeBinary)


class Tally(Base, table=True):
    """A published result without its programs."""

    __table_args__ = (UniqueConstraint("problem_id", "model", "origin", "scenario"),)

    id: int | None = Field(default=None, primary_key=True)
    problem_id: int = Field(foreign_key="problem.id")
    model: str = Field(index=True)
    origin: str
    n_samples: int
    n_correct: int
    scenario: str = Field(default=CODE_GENERATION, sa_column_kwargs=starts_as(CODE_GENERATION))


class Reference(Base, table=True):
    """A program that comes with a problem; ``role`` is a ``ProgramRole``, by the word of ``source``."""

    __table_args__ = (UniqueConstraint("problem_id", "source", "name"),)

    id: int | None = Field(default=None, primary_key=True)
    problem_id: int = Field(foreign_key="problem.id")
    name: str
    language: str
    code_sha256: str = Field(foreign_key="blob.sha256")
    source: str
    role: str = Field(default=str(ProgramRole.ACCEPTED), sa_column_kwargs=starts_as(str(ProgramRole.ACCEPTED)))


class ReferenceVerdict(Base, table=True):
    """What became of a reference solution on one suite in one environment."""

    __tablename__ = "reference_verdict"
    __table_args__ = (UniqueConstraint("reference_id", "suite_id", "environment_id"),)

    id: int | None = Field(default=None, primary_key=True)
    reference_id: int = Field(foreign_key="reference.id")
    suite_id: int = Field(foreign_key="test_suite.id")
    environment_id: int = Field(foreign_key="environment.id")
    verdict: str
    detail: str
    judged_at: datetime
