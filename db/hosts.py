"""The gate of each host: when it may be asked next, and whether it may be asked at all, over all threads and processes.

Only a write transaction may pass it, with a ``now`` that was read inside that transaction: one read before waiting for
the other writers would be too early. A host is the place that is really asked, with its port where it is no usual one.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.orm import Session

from db import tables as t
from db.records import require_text, require_utc


@dataclass(frozen=True)
class HostBlock:
    """That a host is left alone until an instant, and why."""

    until: datetime
    reason: str


_c = t.host_gate.c
# Built once: SQLAlchemy takes two to three times as long to build a statement as to run it.
_GATE = select(t.host_gate).where(_c.host == bindparam("name"))
_CHANGE = update(t.host_gate).where(_c.host == bindparam("name"))
_NEW = insert(t.host_gate)


def reserve(session: Session, host: str, interval_s: float, now: datetime) -> datetime:
    """The instant at which this caller may send: `now` itself, or a later one at which it has to ask again.

    With `now` the turn is the caller's, and the host's next one is `interval_s` seconds later. Nothing is promised for
    a later instant, so that a pause which a host demands meanwhile holds for those who already wait, and so that a
    process that dies while it waits costs nobody a turn.
    """
    require_utc("now", now)
    gate = session.execute(_GATE, {"name": host}).one_or_none()
    if gate is not None:
        earliest: datetime = max(gate.next_at, gate.paused_until or gate.next_at)
        if earliest > now:
            return earliest
    _write(session, host, gate is None, {"next_at": now + timedelta(seconds=interval_s)}, now)
    return now


def settle(session: Session, host: str, *, reserved_until: datetime, next_at: datetime) -> None:
    """End a turn that was reserved for longer than it took: the host's next one is at `next_at`.

    `reserved_until` is where the caller's own reservation ends; what somebody else has set meanwhile stays.
    """
    require_utc("next_at", next_at)
    gate = session.execute(_GATE, {"name": host}).one_or_none()
    if gate is not None and (gate.next_at == reserved_until or gate.next_at < next_at):
        session.execute(_CHANGE, {"name": host, "next_at": next_at})


def forget(session: Session, host: str, now: datetime) -> None:
    """Nobody's turn and no pause holds for a host any more; a block does."""
    require_utc("now", now)
    session.execute(_CHANGE, {"name": host, "next_at": now, "paused_until": None})


def postpone(session: Session, host: str, until: datetime) -> None:
    """Nobody sends to a host before `until`. A longer pause that holds already stays."""
    require_text("host", host, allow_empty=False)
    require_utc("until", until)
    gate = session.execute(_GATE, {"name": host}).one_or_none()
    if gate is None or gate.paused_until is None or gate.paused_until < until:
        _write(session, host, gate is None, {"paused_until": until}, until)


def block(session: Session, host: str, until: datetime, reason: str) -> None:
    """Open a host's circuit: it is not asked before `until`. A block that lasts longer already stays as it is."""
    require_text("host", host, allow_empty=False)
    require_text("reason", reason)
    require_utc("until", until)
    gate = session.execute(_GATE, {"name": host}).one_or_none()
    if gate is None or gate.blocked_until is None or gate.blocked_until < until:
        _write(session, host, gate is None, {"blocked_until": until, "blocked_reason": reason}, until)


def blocked(session: Session, host: str, now: datetime) -> HostBlock | None:
    """The block that holds for a host at `now`; None when it may be asked."""
    require_utc("now", now)
    gate = session.execute(_GATE, {"name": host}).one_or_none()
    if gate is None or gate.blocked_until is None or gate.blocked_until <= now:
        return None
    return HostBlock(gate.blocked_until, gate.blocked_reason or "")


def _write(session: Session, host: str, is_new: bool, values: dict[str, Any], at: datetime) -> None:
    """Change a host's row, or make it with `at` for its next turn where the values name none."""
    if is_new:
        empty = {"paused_until": None, "blocked_until": None, "blocked_reason": None}
        session.execute(_NEW, {"host": host, "next_at": at} | empty | values)
    else:
        session.execute(_CHANGE, {"name": host} | values)
