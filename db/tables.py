"""The tables. SQLModel appears here and nowhere else; the rest of the room speaks SQLAlchemy Core through ``t.NAME``.

Rules for every table: values and not names of enums are stored, as plain text, so that a new member needs no migration;
instants are ``UTCDateTime`` (SQLModel's own type for ``datetime`` from 0.0.45 on: aware, kept as UTC, naive refused);
a table class does not validate, so what comes in has been checked by the records.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, Index, LargeBinary, MetaData, Table, UniqueConstraint
from sqlmodel import Field, SQLModel

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}
_JSON = JSON(none_as_null=True)


class Base(SQLModel):
    """Parent of all tables, with metadata of its own so that another library's SQLModel tables never mix in."""

    metadata = MetaData(naming_convention=NAMING)


class Contest(Base, table=True):
    """A contest of a platform."""

    __table_args__ = (UniqueConstraint("platform", "native_id"),)

    id: int | None = Field(default=None, primary_key=True)
    platform: str
    native_id: str
    title: str | None
    starts_at: datetime | None
    ends_at: datetime | None


class Problem(Base, table=True):
    """A problem of a platform. ``released_*`` repeat its best date claim; a problem without one has none.

    ``current_*_id`` carry no foreign key: it would be circular with ``problem_id`` of those tables, and SQLite cannot
    add a constraint to a table that exists.
    """

    __table_args__ = (
        UniqueConstraint("platform", "native_id"),
        Index("ix_problem_native_id", "native_id"),
        # The order in which pending judgements are paged; a suite belongs to one problem.
        Index("ix_problem_current_suite_id", "current_suite_id", unique=True),
    )

    id: int | None = Field(default=None, primary_key=True)
    platform: str
    native_id: str
    title: str
    url: str | None
    difficulty: str | None
    status: str = "active"
    released_at: datetime | None
    released_precision: str | None
    exposed_at: datetime | None
    current_revision_id: int | None
    current_suite_id: int | None
    first_source: str
    first_seen_at: datetime


class ContestProblem(Base, table=True):
    """A problem's place in a contest. ``contest_index`` is the letter or number it has there."""

    __tablename__ = "contest_problem"

    contest_id: int = Field(primary_key=True, foreign_key="contest.id")
    problem_id: int = Field(primary_key=True, foreign_key="problem.id", index=True)
    contest_index: str | None


class DateClaim(Base, table=True):
    """What one source said about a problem's date. Claims are only ever added."""

    __tablename__ = "date_claim"
    __table_args__ = (UniqueConstraint("problem_id", "source", "as_written", "earliest", "precision"),)

    id: int | None = Field(default=None, primary_key=True)
    problem_id: int = Field(foreign_key="problem.id")
    source: str
    as_written: str
    earliest: datetime
    precision: str
    first_seen_at: datetime


class Revision(Base, table=True):
    """What a problem's statement and starter code said at one time."""

    __table_args__ = (UniqueConstraint("problem_id", "content_hash"),)

    id: int | None = Field(default=None, primary_key=True)
    problem_id: int = Field(foreign_key="problem.id")
    content_hash: str
    statement_sha256: str = Field(foreign_key="blob.sha256")
    starter_sha256: str = Field(foreign_key="blob.sha256")
    source: str
    first_seen_at: datetime


class TestSuite(Base, table=True):
    """A problem's tests with everything else that decides a verdict. Never changed once written.

    ``n_tests`` counts the tests that can be judged, those with an expected output; ``samples_only`` says that all
    of these are samples from the statement.
    """

    __test__ = False
    __tablename__ = "test_suite"
    __table_args__ = (UniqueConstraint("problem_id", "digest"),)

    id: int | None = Field(default=None, primary_key=True)
    problem_id: int = Field(foreign_key="problem.id")
    digest: str
    io_kind: str
    entry_point: str | None
    comparison: dict[str, Any] = Field(sa_type=_JSON)
    time_limit_s: float | None
    memory_limit_bytes: int | None = Field(sa_type=BigInteger)
    n_tests: int
    samples_only: bool
    source: str
    first_seen_at: datetime


class TestCase(Base, table=True):
    """One test of a suite, by its place in it."""

    __test__ = False
    __tablename__ = "test_case"

    suite_id: int = Field(primary_key=True, foreign_key="test_suite.id")
    position: int = Field(primary_key=True)
    name: str
    input_sha256: str = Field(foreign_key="blob.sha256")
    expected_sha256: str | None = Field(foreign_key="blob.sha256")
    origin: str
    comparison: dict[str, Any] | None = Field(sa_type=_JSON)


class Blob(Base, table=True):
    """Bytes by the sha256 of what they are uncompressed. ``size`` is the uncompressed length in bytes."""

    sha256: str = Field(primary_key=True)
    size: int = Field(sa_type=BigInteger)
    zstd: bytes = Field(sa_type=LargeBinary)


class Run(Base, table=True):
    """Answers of one model under one label and one set of conditions; ``digest`` is made of the three."""

    id: int | None = Field(default=None, primary_key=True)
    digest: str = Field(unique=True)
    model: str = Field(index=True)
    label: str
    conditions: dict[str, Any] = Field(sa_type=_JSON)
    created_at: datetime


class Completion(Base, table=True):
    """One sampled answer."""

    __table_args__ = (UniqueConstraint("run_id", "problem_id", "sample_index"),)

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id")
    problem_id: int = Field(foreign_key="problem.id", index=True)
    sample_index: int
    language: str
    finish_reason: str | None
    code_sha256: str = Field(foreign_key="blob.sha256")
    raw_sha256: str | None = Field(foreign_key="blob.sha256")


class Environment(Base, table=True):
    """What programs were run in: kind of executor, image, language versions, limit policy."""

    id: int | None = Field(default=None, primary_key=True)
    digest: str = Field(unique=True)
    executor: str
    details: dict[str, Any] = Field(sa_type=_JSON)
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

    __table_args__ = (UniqueConstraint("problem_id", "model", "origin"),)

    id: int | None = Field(default=None, primary_key=True)
    problem_id: int = Field(foreign_key="problem.id")
    model: str = Field(index=True)
    origin: str
    n_samples: int
    n_correct: int


class Flag(Base, table=True):
    """An erratum or audit finding on a problem. ``flagged_by`` is a source or a person."""

    __table_args__ = (UniqueConstraint("problem_id", "name", "reason"),)

    id: int | None = Field(default=None, primary_key=True)
    problem_id: int = Field(foreign_key="problem.id")
    name: str
    reason: str
    flagged_by: str
    since: datetime


def _table(name: str) -> Table:
    return Base.metadata.tables[name]


contest = _table("contest")
problem = _table("problem")
contest_problem = _table("contest_problem")
date_claim = _table("date_claim")
revision = _table("revision")
test_suite = _table("test_suite")
test_case = _table("test_case")
blob = _table("blob")
run = _table("run")
completion = _table("completion")
environment = _table("environment")
judgement = _table("judgement")
tally = _table("tally")
flag = _table("flag")
