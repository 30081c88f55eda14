"""Tables of problems: contests, dates, texts, tests, flags, and what is the same as what."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Index, LargeBinary, UniqueConstraint, false, text
from sqlmodel import Field

from db.tables.base import JSON_VALUE, Base, starts_as


class Contest(Base, table=True):
    """A contest of a platform. ``kind`` is a ``ContestKind``: only a round dates its problems.

    ``n_listed`` is the number of problems that its own page lists, ``collected_at`` the instant since which all of them
    are in the store. ``missed_listings`` counts the good listings in a row that lacked it, ``missed_at`` is the last.
    """

    __table_args__ = (UniqueConstraint("platform", "native_id"),)

    id: int | None = Field(default=None, primary_key=True)
    platform: str
    native_id: str
    title: str | None
    url: str | None
    kind: str = Field(default="round", sa_column_kwargs=starts_as("round"))
    starts_at: datetime | None
    ends_at: datetime | None
    n_listed: int | None
    collected_at: datetime | None
    missed_listings: int = Field(default=0, sa_column_kwargs=starts_as("0"))
    missed_at: datetime | None
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
    missed_listings: int = Field(default=0, sa_column_kwargs=starts_as("0"))
    missed_at: datetime | None
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
    page_sha256: str | None
    source: str
    first_seen_at: datetime


class TestSuite(Base, table=True):
    """A problem's tests with everything else that decides a verdict. Never changed once written.

    ``n_tests`` counts the tests that can be judged, those with an expected output; ``samples_only`` says that all
    of these are samples from the statement. ``rules_sha256`` is that of the canonical JSON of its ``signature``,
    ``checker`` and ``groups``, those that it has; it came later and carries no foreign key, which SQLite cannot add to
    a table that exists. ``has_checker`` tells without a look into it. ``hidden_origins`` are the sorted origins of the
    judged tests that are no samples, nor samples again, joined by commas.
    """

    __test__ = False
    __tablename__ = "test_suite"
    __table_args__ = (UniqueConstraint("problem_id", "digest"),)

    id: int | None = Field(default=None, primary_key=True)
    problem_id: int = Field(foreign_key="problem.id")
    digest: str
    io_kind: str
    entry_point: str | None
    comparison: dict[str, Any] = Field(sa_type=JSON_VALUE)
    time_limit_s: float | None
    memory_limit_bytes: int | None = Field(sa_type=BigInteger)
    n_tests: int
    samples_only: bool
    source: str
    first_seen_at: datetime
    rules_sha256: str | None
    has_checker: bool = Field(default=False, sa_column_kwargs={"server_default": false()})
    hidden_origins: str = Field(default="", sa_column_kwargs={"server_default": text("''")})


class MadeSuite(Base, table=True):
    """A suite whose tests beyond the samples were made here: from what, and how strong they are.

    ``base_suite_id`` is the suite that its samples and rules come from, ``revision_id`` the statement, ``recipe`` the
    digest of all that it is made from. ``n_made`` counts its tests that were made; the other counts are those of a
    ``MadeStrength``, here as columns so that a list of problems need not look further. ``details_sha256`` is that of
    the canonical JSON of the rest.
    """

    __tablename__ = "made_suite"

    suite_id: int = Field(primary_key=True, foreign_key="test_suite.id")
    base_suite_id: int = Field(foreign_key="test_suite.id")
    revision_id: int | None = Field(foreign_key="revision.id")
    recipe: str
    seed: int = Field(sa_type=BigInteger)
    made_at: datetime
    n_made: int
    n_wrong: int
    n_wrong_killed: int
    n_slow: int
    n_slow_killed: int
    n_mutants: int
    n_mutants_killed: int
    n_right: int
    n_right_killed: int
    details_sha256: str = Field(foreign_key="blob.sha256")


class TestCase(Base, table=True):
    """One test of a suite, by its place in it. ``checker_flags`` is a list of texts, None: as its suite's checker."""

    __test__ = False
    __tablename__ = "test_case"

    suite_id: int = Field(primary_key=True, foreign_key="test_suite.id")
    position: int = Field(primary_key=True)
    name: str
    input_sha256: str = Field(foreign_key="blob.sha256")
    expected_sha256: str | None = Field(foreign_key="blob.sha256")
    origin: str
    comparison: dict[str, Any] | None = Field(sa_type=JSON_VALUE)
    checker_flags: list[str] | None = Field(sa_type=JSON_VALUE)


class Blob(Base, table=True):
    """Bytes by the sha256 of what they are uncompressed. ``size`` is the uncompressed length in bytes."""

    sha256: str = Field(primary_key=True)
    size: int = Field(sa_type=BigInteger)
    zstd: bytes = Field(sa_type=LargeBinary)


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
