"""Which problem an id means: its own native id, or another one of it (a twin's)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from db import tables as t
from db.errors import AmbiguousProblem
from db.records import ProblemKey
from db.sql import chunks, insert_rows

# In this order: a problem's own id counts before another problem's other id.
_IDS = [
    select(table.c.native_id, column).where(
        table.c.platform == bindparam("of_platform"), table.c.native_id.in_(bindparam("natives", expanding=True))
    )
    for table, column in ((t.problem_alias, t.problem_alias.c.problem_id), (t.problem, t.problem.c.id))
]


def problem_ids(session: Session, keys: Iterable[ProblemKey]) -> dict[ProblemKey, int]:
    """The ids of those of the keys that the store holds, under their own id or another one."""
    wanted = set(keys)
    found: dict[ProblemKey, int] = {}
    for platform in sorted({key.platform for key in wanted}):
        for natives in chunks(key.native_id for key in wanted if key.platform == platform):
            for query in _IDS:
                rows = session.execute(query, {"of_platform": platform, "natives": natives})
                found |= {ProblemKey(platform, native): problem_id for native, problem_id in rows}
    return found


def add_other_id(session: Session, problem_id: int, other: ProblemKey, reason: str, *, now: datetime) -> bool:
    """Make `other` another id of a problem; False when it is that already, or a problem of its own."""
    if other in problem_ids(session, [other]):
        return False
    row = {"platform": other.platform, "native_id": other.native_id, "problem_id": problem_id, "reason": reason}
    insert_rows(session, t.problem_alias, [row | {"first_seen_at": now}])
    return True


def other_ids(session: Session, problem_id: int) -> list[tuple[str, str]]:
    """The other native ids of a problem, each with the reason why it is one."""
    alias = t.problem_alias.c
    query = select(alias.native_id, alias.reason).where(alias.problem_id == problem_id).order_by(alias.native_id)
    return [(row.native_id, row.reason) for row in session.execute(query)]


def find_problem(session: Session, native_id: str, platform: str | None = None) -> ProblemKey | None:
    """The problem with this native id (its own, else another one), or None.

    ``AmbiguousProblem`` when no platform is named and several have it.
    """
    own = select(t.problem.c.platform, t.problem.c.native_id).where(t.problem.c.native_id == native_id)
    alias = (
        select(t.problem.c.platform, t.problem.c.native_id)
        .join(t.problem_alias, t.problem_alias.c.problem_id == t.problem.c.id)
        .where(t.problem_alias.c.native_id == native_id)
    )
    keys: set[ProblemKey] = set()
    for query in (own, alias):
        wanted = query if platform is None else query.where(t.problem.c.platform == platform)
        keys |= {ProblemKey(*row) for row in session.execute(wanted)}
    if len(keys) > 1:
        raise AmbiguousProblem(native_id, tuple(sorted(keys, key=str)))
    return next(iter(keys), None)
