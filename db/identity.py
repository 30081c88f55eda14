"""Which problem an id means: its own native id, or another one of it (a twin's)."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import select
from sqlalchemy.orm import Session

from db import tables as t
from db.errors import AmbiguousProblem
from db.records import ProblemKey
from db.sql import chunks


def problem_ids(session: Session, keys: Iterable[ProblemKey]) -> dict[ProblemKey, int]:
    """The ids of those of the keys that the store holds, under their own id or another one."""
    wanted = set(keys)
    found: dict[ProblemKey, int] = {}
    for platform in sorted({key.platform for key in wanted}):
        for natives in chunks(key.native_id for key in wanted if key.platform == platform):
            for table, column in ((t.problem_alias, t.problem_alias.c.problem_id), (t.problem, t.problem.c.id)):
                query = select(table.c.native_id, column).where(
                    table.c.platform == platform, table.c.native_id.in_(natives)
                )
                found |= {ProblemKey(platform, native): problem_id for native, problem_id in session.execute(query)}
    return found


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
