"""The tables. SQLModel appears here and nowhere else; the rest of the room speaks SQLAlchemy Core through ``t.NAME``.

Rules for every table: values and not names of enums are stored, as plain text, so that a new member needs no migration;
instants are ``UTCDateTime`` (SQLModel's own type for ``datetime`` from 0.0.45 on: aware, kept as UTC, naive refused);
a table class does not validate, so what comes in has been checked by the records.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, Index, LargeBinary, MetaData, Table, UniqueConstraint, text
from sqlmodel import Field, SQLModel

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}
_JSON = JSON(none_as_null=True)


def _starts_as(value: str) -> dict[str, Any]:
    """What rows that were there before the column get, and new ones that say nothing."""
    return {"server_default": value}


class Base(SQLModel):
    """Parent of all tables, with metadata of its own so that another library's SQLModel tables never mix in."""

    metadata = MetaData(naming_convention=NAMING)


class Contest(Base, table=True):
    """A contest of a platform. ``kind`` is a ``ContestKind``: only a round dates its problems.

    ``n_listed`` is the number of problems that its own page lists, ``collected_at`` the instant since which all of them
    are in the store. ``missed_listings`` counts the good listings in a row that lacked it.
    """

    __table_args__ = (UniqueConstraint("platform", "native_id"),)

    id: int | None = Field(default=None, primary_key=True)
    platform: str
    native_id: str
    title: str | None
    url: str | None
    kind: str = Field(default="round", sa_column_kwargs=_starts_as("round"))
    starts_at: datetime | None
    ends_at: datetime | None
    n_listed: int | None
    collected_at: datetime | None
    missed_listings: int = Field(default=0, sa_column_kwargs=_starts_as("0"))
    withdrawn_at: datetime | None


class ContestStart(Base, table=True):
    """A start that a contest was announced with, and who said so. The newest is the one that holds."""

    __tablename__ = "contest_start"

    id: int | None = Field(default=None, primary_key=True)
    contest_id: int = Field(foreign_key="contest.id", index=True)
    starts_at: datetime
    source: str
    first_seen_at: datetime


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
    last_seen_at: datetime | None
    withdrawn_at: datetime | None


class ProblemAlias(Base, table=True):
    """Another native id of a problem: its twin in the other division of a round."""

    __tablename__ = "problem_alias"

    platform: str = Field(primary_key=True)
    native_id: str = Field(primary_key=True)
    problem_id: int = Field(foreign_key="problem.id", index=True)
    reason: str
    first_seen_at: datetime


class ContestProblem(Base, table=True):
    """A problem's place in a contest. ``contest_index`` is the letter or number it has there.

    ``missed_listings`` counts the good listings of that contest in a row that lacked the problem.
    """

    __tablename__ = "contest_problem"

    contest_id: int = Field(primary_key=True, foreign_key="contest.id")
    problem_id: int = Field(primary_key=True, foreign_key="problem.id", index=True)
    contest_index: str | None
    missed_listings: int = Field(default=0, sa_column_kwargs=_starts_as("0"))
    withdrawn_at: datetime | None


class DateClaim(Base, table=True):
    """What one source said about a problem's date. Claims are only ever added; one that its source no longer makes
    (the contest moved) gets the instant at which that was seen, and counts no more.

    ``contest`` is the native id of the contest whose start it is, "" where it is no contest's.
    """

    __tablename__ = "date_claim"
    # Named here: PostgreSQL takes no more than 63 characters.
    __table_args__ = (
        UniqueConstraint(
            "problem_id", "source", "contest", "as_written", "earliest", "precision", name="uq_date_claim_key"
        ),
    )

    id: int | None = Field(default=None, primary_key=True)
    problem_id: int = Field(foreign_key="problem.id")
    source: str
    contest: str = Field(default="", sa_column_kwargs={"server_default": text("''")})
    as_written: str
    earliest: datetime
    precision: str
    first_seen_at: datetime
    superseded_at: datetime | None


class Sighting(Base, table=True):
    """The earliest instant at which a source was seen to show a problem. The problem itself may come later."""

    __table_args__ = (UniqueConstraint("platform", "native_id", "source"),)

    id: int | None = Field(default=None, primary_key=True)
    platform: str
    native_id: str
    source: str
    seen_at: datetime
    reason: str


class Duplicate(Base, table=True):
    """Two problems that were compared: ``verdict`` is same, related or different, ``first_id`` the smaller id."""

    __table_args__ = (UniqueConstraint("first_id", "second_id"),)

    id: int | None = Field(default=None, primary_key=True)
    first_id: int = Field(foreign_key="problem.id")
    second_id: int = Field(foreign_key="problem.id", index=True)
    verdict: str
    similarity: float
    method: str
    reason: str
    found_at: datetime


class Fingerprint(Base, table=True):
    """The MinHash of a revision's statement, to find candidates of near-duplicates; ``kind`` names its parameters."""

    revision_id: int = Field(primary_key=True, foreign_key="revision.id")
    kind: str
    data: bytes = Field(sa_type=LargeBinary)


class Revision(Base, table=True):
    """What a problem's statement and starter code said at one time, in one language (None: not known)."""

    __table_args__ = (UniqueConstraint("problem_id", "content_hash"),)

    id: int | None = Field(default=None, primary_key=True)
    problem_id: int = Field(foreign_key="problem.id")
    content_hash: str
    statement_sha256: str = Field(foreign_key="blob.sha256")
    starter_sha256: str = Field(foreign_key="blob.sha256")
    language: str | None
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
    """One sampled answer. ``revision_id`` is the statement that it answers, None where that is not known (no foreign
    key: SQLite cannot add one to a table that exists)."""

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
    """An erratum or audit finding on a problem. ``flagged_by`` is a source or a person; a cleared one holds no more."""

    __table_args__ = (UniqueConstraint("problem_id", "name", "reason", "flagged_by"),)

    id: int | None = Field(default=None, primary_key=True)
    problem_id: int = Field(foreign_key="problem.id")
    name: str
    reason: str
    flagged_by: str
    since: datetime
    cleared_at: datetime | None


class Snapshot(Base, table=True):
    """One response as it came: ``origin`` is fetched, recorded for a page that a person handed in, or refused for what
    a host sent in place of the page.

    ``request_sha256`` is that of the request's body, "" for a GET. ``validated_at`` is the last time that the server
    gave the same bytes, or said that they have not changed.
    """

    __table_args__ = (Index("ix_snapshot_url_request_sha256", "url", "request_sha256"),)

    id: int | None = Field(default=None, primary_key=True)
    source: str
    method: str
    url: str
    request_sha256: str
    final_url: str
    status: int
    headers: dict[str, Any] = Field(sa_type=_JSON)
    body_sha256: str = Field(foreign_key="blob.sha256")
    origin: str
    fetched_at: datetime
    validated_at: datetime


class HostGate(Base, table=True):
    """When a host may be asked next, over all processes, and until when it must not be asked at all."""

    __tablename__ = "host_gate"

    host: str = Field(primary_key=True)
    next_at: datetime
    blocked_until: datetime | None
    blocked_reason: str | None


class Lease(Base, table=True):
    """Who may do something alone, and until when without a sign of life."""

    name: str = Field(primary_key=True)
    owner: str
    taken_at: datetime
    expires_at: datetime


class IngestRun(Base, table=True):
    """One attempt at one source. ``outcome`` is None while it runs, then an ``IngestOutcome``.

    ``planned_at`` is the instant of the schedule that it is for, None for one started by hand.
    """

    __tablename__ = "ingest_run"
    __table_args__ = (UniqueConstraint("source", "planned_at", "attempt"),)

    id: int | None = Field(default=None, primary_key=True)
    source: str
    planned_at: datetime | None
    attempt: int
    owner: str
    started_at: datetime
    finished_at: datetime | None
    outcome: str | None
    error_kind: str | None
    error: str | None
    counts: dict[str, Any] = Field(sa_type=_JSON)
    notes: list[str] = Field(sa_type=_JSON)


class IngestFailure(Base, table=True):
    """What one run could not take: a contest or a problem, why, and the response that shows it."""

    __tablename__ = "ingest_failure"

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="ingest_run.id", index=True)
    what: str
    kind: str
    error: str
    snapshot_id: int | None = Field(foreign_key="snapshot.id")
    failed_at: datetime


def _table(name: str) -> Table:
    return Base.metadata.tables[name]


contest = _table("contest")
problem = _table("problem")
contest_start = _table("contest_start")
contest_problem = _table("contest_problem")
problem_alias = _table("problem_alias")
date_claim = _table("date_claim")
sighting = _table("sighting")
duplicate = _table("duplicate")
revision = _table("revision")
fingerprint = _table("fingerprint")
test_suite = _table("test_suite")
test_case = _table("test_case")
blob = _table("blob")
run = _table("run")
completion = _table("completion")
environment = _table("environment")
judgement = _table("judgement")
tally = _table("tally")
flag = _table("flag")
snapshot = _table("snapshot")
host_gate = _table("host_gate")
lease = _table("lease")
ingest_run = _table("ingest_run")
ingest_failure = _table("ingest_failure")
