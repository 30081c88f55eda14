"""Tables of collecting: responses, hosts, leases, runs, and what could not be taken."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, UniqueConstraint, false
from sqlmodel import Field

from db.tables.base import JSON_VALUE, Base


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
    headers: dict[str, Any] = Field(sa_type=JSON_VALUE)
    body_sha256: str = Field(foreign_key="blob.sha256")
    origin: str
    fetched_at: datetime
    validated_at: datetime


class HostGate(Base, table=True):
    """When a host may be asked next, over all processes, until when it wants to be left alone, and until when it must
    not be asked at all."""

    __tablename__ = "host_gate"

    host: str = Field(primary_key=True)
    next_at: datetime
    paused_until: datetime | None
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

    ``planned_at`` is the instant of the schedule that it is for, None for one started by hand; ``caught_up`` says that
    its window began where the last such run left off.
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
    caught_up: bool = Field(default=False, sa_column_kwargs={"server_default": false()})
    error_kind: str | None
    error: str | None
    counts: dict[str, Any] = Field(sa_type=JSON_VALUE)
    notes: list[str] = Field(sa_type=JSON_VALUE)


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


class RefusedRow(Base, table=True):
    """A row of a file that an import did not take: where it stands, why, and the beginning of what it says."""

    __tablename__ = "refused_row"
    __table_args__ = (UniqueConstraint("file", "place", "reason"),)

    id: int | None = Field(default=None, primary_key=True)
    file: str
    place: str
    reason: str
    hint: str
    raw: str
    refused_at: datetime
