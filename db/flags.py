"""Flags on problems: what a source or a person found, until they no longer say so."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import bindparam, select, update
from sqlalchemy.orm import Session

from db import tables as t
from db.sql import insert_rows

_FLAGS = select(t.flag).where(t.flag.c.problem_id == bindparam("problem"))
_CHANGE = update(t.flag).where(t.flag.c.id == bindparam("row_id"))


def add_flags(session: Session, problem_id: int, flags: Iterable[tuple[str, str]], *, by: str, now: datetime) -> bool:
    """Put (name, reason) flags on a problem; whether one of them did not hold before, whoever said so."""
    return _save(session, problem_id, dict.fromkeys(flags), by, now, clear=False)


def sync_flags(session: Session, problem_id: int, flags: Iterable[tuple[str, str]], *, by: str, now: datetime) -> bool:
    """Make these all the flags that ``by`` has on a problem; whether any came or went. Those of others stay."""
    return _save(session, problem_id, dict.fromkeys(flags), by, now, clear=True)


def clear_flags(session: Session, problem_id: int, name: str, *, now: datetime) -> int:
    """Take every flag of this name off a problem, whoever put it there; how many there were."""
    rows = session.execute(_FLAGS, {"problem": problem_id}).all()
    holding = [row for row in rows if row.name == name and row.cleared_at is None]
    for row in holding:
        session.execute(_CHANGE, {"row_id": row.id, "cleared_at": now})
    return len(holding)


def list_flag_names(session: Session) -> list[str]:
    """The names of all flags that were ever put on a problem."""
    return list(session.execute(select(t.flag.c.name).distinct().order_by(t.flag.c.name)).scalars())


def _save(
    session: Session, problem_id: int, wanted: dict[tuple[str, str], None], by: str, now: datetime, *, clear: bool
) -> bool:
    rows = session.execute(_FLAGS, {"problem": problem_id}).all()
    own = [row for row in rows if row.flagged_by == by]
    before = {(row.name, row.reason) for row in rows if row.cleared_at is None}
    for row in own:
        is_wanted = (row.name, row.reason) in wanted
        if is_wanted and row.cleared_at is not None:
            session.execute(_CHANGE, {"row_id": row.id, "cleared_at": None, "since": now})
        elif clear and not is_wanted and row.cleared_at is None:
            session.execute(_CHANGE, {"row_id": row.id, "cleared_at": now})
    there = {(row.name, row.reason) for row in own}
    new = [
        {"problem_id": problem_id, "name": name, "reason": reason, "flagged_by": by, "since": now}
        for name, reason in wanted
        if (name, reason) not in there
    ]
    insert_rows(session, t.flag, new)
    others = {(row.name, row.reason) for row in rows if row.flagged_by != by and row.cleared_at is None}
    return before != (others if clear else before) | set(wanted)
