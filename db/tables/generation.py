"""Tables of asking models: what was asked beyond the problem itself, what endpoints said, and what got no answer."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, UniqueConstraint
from sqlmodel import Field

from db.tables.base import Base


class Question(Base, table=True):
    """What is asked about a problem beyond the problem itself. ``digest`` is made of all its texts."""

    __table_args__ = (UniqueConstraint("problem_id", "scenario", "digest"),)

    id: int | None = Field(default=None, primary_key=True)
    problem_id: int = Field(foreign_key="problem.id")
    scenario: str
    digest: str
    language: str | None
    program_sha256: str | None = Field(foreign_key="blob.sha256")
    input_sha256: str | None = Field(foreign_key="blob.sha256")
    expected_sha256: str = Field(foreign_key="blob.sha256")
    feedback_sha256: str | None = Field(foreign_key="blob.sha256")
    made_at: datetime


class Response(Base, table=True):
    """What an endpoint said at a place of a run, and what was found in it. Never changed once written.

    ``question_id`` is 0 for the problem itself, so that it can be part of the key, and carries no foreign key for that
    reason; ``revision_id`` is the statement that was asked. ``status`` is an ``AnswerStatus``, ``endpoint`` host and
    path of the base URL; ``cost`` is in ``currency``.
    """

    __table_args__ = (UniqueConstraint("run_id", "problem_id", "question_id", "sample_index"),)

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id")
    problem_id: int = Field(foreign_key="problem.id")
    question_id: int
    sample_index: int
    requested_at: datetime | None
    latency_s: float | None
    attempts: int
    endpoint: str
    served_model: str | None
    fingerprint: str | None
    response_id: str | None
    finish_reason: str | None
    tokens_in: int | None = Field(sa_type=BigInteger)
    tokens_out: int | None = Field(sa_type=BigInteger)
    tokens_reasoning: int | None = Field(sa_type=BigInteger)
    cost: float | None
    currency: str | None
    prompt_sha256: str | None = Field(foreign_key="blob.sha256")
    raw_sha256: str | None = Field(foreign_key="blob.sha256")
    reasoning_sha256: str | None = Field(foreign_key="blob.sha256")
    answer_sha256: str | None = Field(foreign_key="blob.sha256")
    status: str
    rule: str | None
    revision_id: int | None


class FailedRequest(Base, table=True):
    """The last failure of a place that has no answer. ``attempts`` are all that were made there, tokens and ``cost``
    (in ``currency``) all that the endpoint said they took; NULL where it said nothing.

    ``is_answered``: the place got its answer since, and the row stays for what was paid.
    """

    __tablename__ = "failed_request"
    __table_args__ = (UniqueConstraint("run_id", "problem_id", "question_id", "sample_index"),)

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id")
    problem_id: int = Field(foreign_key="problem.id")
    question_id: int
    sample_index: int
    failed_at: datetime
    reason: str
    message: str
    attempts: int
    tokens_in: int | None = Field(sa_type=BigInteger)
    tokens_out: int | None = Field(sa_type=BigInteger)
    cost: float | None
    currency: str | None
    is_answered: bool
