"""Snapshots: every response as it came, kept before anyone parses it, and found again by its request.

A request is its method, its address and the sha256 of its body ("" without one). Of one request's snapshots the newest
is the one that was validated last. A usable one has a status of 2xx, or one that the asker accepts, and is no page that
the host sent in place of the one asked for: so an error never hides the last good page.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Row, Select, bindparam, select, update
from sqlalchemy.orm import Session

from db import tables as t
from db.blobs import get_blob, put_blob
from db.errors import UnknownRow
from db.records import require_text, require_utc
from db.sql import insert_row


class SnapshotOrigin(StrEnum):
    """How a response came into the store."""

    FETCHED = "fetched"
    RECORDED = "recorded"
    """A person handed it in."""
    REFUSED = "refused"
    """Fetched, but what the host sent in place of the page, a challenge say. Never usable."""


@dataclass(frozen=True)
class ResponseRecord:
    """A response to a request. ``headers`` have lower-case names; none of them is a credential."""

    source: str
    method: str
    url: str
    request_sha256: str
    final_url: str
    status: int
    headers: dict[str, str]
    body: bytes
    origin: SnapshotOrigin = SnapshotOrigin.FETCHED

    def __post_init__(self) -> None:
        require_text("ResponseRecord.source", self.source, allow_empty=False)
        require_text("ResponseRecord.method", self.method, allow_empty=False)
        require_text("ResponseRecord.url", self.url, allow_empty=False)
        require_text("ResponseRecord.final_url", self.final_url, allow_empty=False)
        for name, value in self.headers.items():
            require_text("ResponseRecord.headers", name, allow_empty=False)
            require_text("ResponseRecord.headers", value)


@dataclass(frozen=True, kw_only=True)
class SnapshotRecord(ResponseRecord):
    """A response in the store: ``fetched_at`` is when these bytes came first, ``validated_at`` when they last held."""

    id: int
    fetched_at: datetime
    validated_at: datetime


@dataclass(frozen=True)
class SnapshotSummary:
    """A snapshot without its headers and its body. ``size`` is that of the body in bytes."""

    id: int
    source: str
    method: str
    url: str
    final_url: str
    status: int
    origin: SnapshotOrigin
    size: int
    fetched_at: datetime
    validated_at: datetime


_c = t.snapshot.c
_OF_REQUEST = (
    (_c.url == bindparam("url"))
    & (_c.request_sha256 == bindparam("request_sha256"))
    & (_c.method == bindparam("method"))
)
_NEWEST_FIRST = (_c.validated_at.desc(), _c.id.desc())
# Built once: SQLAlchemy takes two to three times as long to build a statement as to run it.
_SAME_KIND = (
    select(t.snapshot)
    .where(
        _OF_REQUEST,
        _c.status == bindparam("status"),
        (_c.origin == SnapshotOrigin.REFUSED.value) == bindparam("refused"),
    )
    .order_by(*_NEWEST_FIRST)
    .limit(1)
)
_USABLE = (
    select(t.snapshot)
    .where(
        _OF_REQUEST,
        _c.origin != SnapshotOrigin.REFUSED.value,
        _c.status.between(200, 299) | _c.status.in_(bindparam("accept", expanding=True)),
    )
    .order_by(*_NEWEST_FIRST)
    .limit(1)
)
_RECORDED = (
    select(t.snapshot)
    .where(_OF_REQUEST, _c.origin == SnapshotOrigin.RECORDED.value, _c.status.between(200, 299))
    .order_by(*_NEWEST_FIRST)
    .limit(1)
)
_BY_ID = select(t.snapshot).where(_c.id == bindparam("row_id"))
_HOLDS = update(t.snapshot).where(_c.id == bindparam("row_id"))


def save_snapshot(session: Session, response: ResponseRecord, *, now: datetime) -> SnapshotRecord:
    """Keep a response that came at the aware UTC instant ``now``, and give its snapshot.

    The same bytes from the same final address as the request's newest snapshot of that status add no row: that snapshot
    is validated, and takes over the headers (an entity tag may have changed) and the origin of this time.
    """
    require_utc("now", now)
    refused = response.origin is SnapshotOrigin.REFUSED
    key = {"url": response.url, "request_sha256": response.request_sha256, "method": response.method}
    row = session.execute(_SAME_KIND, key | {"status": response.status, "refused": refused}).one_or_none()
    sha256 = put_blob(session, response.body)
    if row is not None and row.body_sha256 == sha256 and row.final_url == response.final_url:
        holds = {"validated_at": max(row.validated_at, now), "headers": response.headers or row.headers}
        holds["origin"] = response.origin.value
        session.execute(_HOLDS, holds | {"row_id": row.id})
        return _record(row, response.body, **holds)
    said = {"source": response.source, "final_url": response.final_url, "status": response.status}
    said |= {"headers": response.headers, "body_sha256": sha256, "origin": response.origin.value}
    snapshot_id = insert_row(session, t.snapshot, key | said | {"fetched_at": now, "validated_at": now})
    return SnapshotRecord(**vars(response), id=snapshot_id, fetched_at=now, validated_at=now)


def validate_snapshot(session: Session, snapshot_id: int, *, now: datetime) -> SnapshotRecord:
    """Note that the server said at ``now`` that a snapshot's bytes still hold. ``UnknownRow`` when it is not there.

    One that a person handed in counts as fetched from then on.
    """
    require_utc("now", now)
    row = _row(session, snapshot_id)
    origin = SnapshotOrigin.FETCHED if row.origin == SnapshotOrigin.RECORDED else row.origin
    holds = {"validated_at": max(row.validated_at, now), "origin": origin}
    session.execute(_HOLDS, holds | {"row_id": snapshot_id})
    return _record(row, get_blob(session, row.body_sha256), **holds)


def newest_snapshot(
    session: Session, method: str, url: str, request_sha256: str = "", *, accept: Collection[int] = ()
) -> SnapshotRecord | None:
    """The newest usable snapshot of a request, or None. ``accept`` are statuses that count beside 2xx."""
    key = {"method": method, "url": url, "request_sha256": request_sha256}
    row = session.execute(_USABLE, key | {"accept": list(accept)}).one_or_none()
    return None if row is None else _record(row, get_blob(session, row.body_sha256))


def newest_recorded(session: Session, url: str) -> SnapshotRecord | None:
    """The newest page that a person handed in for a GET of an address, or None."""
    row = session.execute(_RECORDED, {"method": "GET", "url": url, "request_sha256": ""}).one_or_none()
    return None if row is None else _record(row, get_blob(session, row.body_sha256))


def get_snapshot(session: Session, snapshot_id: int) -> SnapshotRecord:
    """The snapshot with this id. ``UnknownRow`` when it is not there."""
    row = _row(session, snapshot_id)
    return _record(row, get_blob(session, row.body_sha256))


def list_snapshots(session: Session, source: str | None = None) -> list[SnapshotSummary]:
    """All snapshots of a source (None: of all sources) without their bodies, in the order in which they came."""
    columns = (_c.id, _c.source, _c.method, _c.url, _c.final_url, _c.status, _c.origin)
    query: Select[Any] = (
        select(*columns, t.blob.c.size, _c.fetched_at, _c.validated_at)
        .join(t.blob, t.blob.c.sha256 == _c.body_sha256)
        .order_by(_c.id)
    )
    if source is not None:
        query = query.where(_c.source == source)
    found = (row._asdict() for row in session.execute(query))
    return [SnapshotSummary(**row | {"origin": _origin(row["origin"])}) for row in found]


def _origin(text: str) -> SnapshotOrigin:
    """An origin that this version does not know is none that an answer may be taken from."""
    return SnapshotOrigin(text) if text in set(SnapshotOrigin) else SnapshotOrigin.REFUSED


def _row(session: Session, snapshot_id: int) -> Row[Any]:
    row = session.execute(_BY_ID, {"row_id": snapshot_id}).one_or_none()
    if row is None:
        raise UnknownRow("snapshot", snapshot_id)
    return row


def _record(row: Row[Any], body: bytes, **changed: Any) -> SnapshotRecord:
    values = row._asdict() | changed
    del values["body_sha256"]
    return SnapshotRecord(**values | {"body": body, "origin": _origin(values["origin"])})
