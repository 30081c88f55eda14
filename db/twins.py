"""Twins: one problem under two ids, in the two divisions of a round that start together."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from db import tables as t
from db.identity import problem_ids
from db.records import ProblemRecord


@dataclass(frozen=True)
class Twin:
    """The problem that a record is another id of. ``other_id`` is the record's own row, where it has one already."""

    problem_id: int
    name: str
    reason: str
    other_id: int | None = None


def find_twin(session: Session, record: ProblemRecord) -> Twin | None:
    """The problem of the same title in another contest of the platform with the same start; None if not just one.

    Ids of twins are not always consecutive, and short titles come again in other rounds: it is the start that tells.
    """
    contest = record.contest
    if contest is None or contest.starts_at is None:
        return None
    own = problem_ids(session, [record.key]).get(record.key)
    query = (
        select(t.problem.c.id, t.problem.c.native_id, t.problem.c.title, t.contest.c.native_id.label("contest"))
        .join(t.contest_problem, t.contest_problem.c.problem_id == t.problem.c.id)
        .join(t.contest, t.contest.c.id == t.contest_problem.c.contest_id)
        .where(t.contest.c.platform == contest.platform, t.contest.c.starts_at == contest.starts_at)
    )
    rows = session.execute(query).all()
    here = {row.id for row in rows if row.contest == contest.native_id}
    alike = {row.id: row for row in rows if row.contest != contest.native_id and _same_title(row.title, record.title)}
    found = [row for row in alike.values() if row.id not in here]
    if len(found) != 1 or own == found[0].id:
        return None
    row = found[0]
    reason = f'"{record.title}" is in the contests {row.contest} and {contest.native_id}, which start together'
    return Twin(row.id, f"{contest.platform}:{row.native_id}", reason, own)


def _same_title(first: str, second: str) -> bool:
    return first.split() == second.split() and bool(first.split())
