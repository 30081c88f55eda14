"""Difficulties as platforms give them: they appear, and change, after the problem itself."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from db import tables as t
from db.identity import problem_ids
from db.records import ProblemKey
from db.sql import is_one_of


def fill_difficulties(session: Session, platform: str, difficulties: Mapping[str, str]) -> int:
    """Set the difficulties by native id of those problems that have none, or an older number; how many changed.

    A word that an import gave (easy, medium, hard) stays: filters go by it.
    """
    ids = problem_ids(session, (ProblemKey(platform, native) for native in difficulties))
    said = {problem_id: difficulties[key.native_id] for key, problem_id in sorted(ids.items(), key=str)}
    known = select(t.problem.c.id, t.problem.c.difficulty).where(is_one_of(t.problem.c.id, said))
    changed = 0
    for problem_id, difficulty in session.execute(known).all():
        if difficulty != said[problem_id] and (difficulty is None or difficulty.lstrip("-").isdecimal()):
            where = t.problem.c.id == problem_id
            session.execute(update(t.problem).where(where).values(difficulty=said[problem_id]))
            changed += 1
    return changed
