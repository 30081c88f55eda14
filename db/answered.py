"""Which problems runs have answered, and what they leave unanswered between the first and the last of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from db import tables as t
from db.records import CODE_GENERATION, ProblemKey
from db.sql import is_one_of


@dataclass(frozen=True)
class Gaps:
    """Of ``n_within`` problems between the first and the last answered one by date, the unanswered ones, oldest first.

    Only platforms of answered problems count, and only dated problems that have not been withdrawn.
    """

    n_within: int
    unanswered: tuple[ProblemKey, ...]


def problems_of_runs(session: Session, run_ids: Iterable[int]) -> dict[int, set[int]]:
    """The ids of the problems that each run has completions for."""
    done = t.completion.c
    query = select(done.run_id, done.problem_id).where(is_one_of(done.run_id, run_ids)).distinct()
    found: defaultdict[int, set[int]] = defaultdict(set)
    for run_id, problem_id in session.execute(query):
        found[run_id].add(problem_id)
    return dict(found)


def problems_of_tallies(
    session: Session, models: Iterable[str], *, scenario: str = CODE_GENERATION
) -> dict[tuple[str, str], set[int]]:
    """The ids of the problems that have a result in a scenario, by model and origin."""
    tally = t.tally.c
    query = select(tally.model, tally.origin, tally.problem_id).where(
        tally.model.in_(list(models)), tally.scenario == scenario
    )
    found: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    for model, origin, problem_id in session.execute(query):
        found[model, origin].add(problem_id)
    return dict(found)


def find_gaps(session: Session, answered: Iterable[Set[int]]) -> list[Gaps]:
    """What each of these sets of problem ids leaves out."""
    problem = t.problem.c
    query = (
        select(problem.id, problem.platform, problem.native_id, problem.exposed_at)
        .where(problem.exposed_at.is_not(None), problem.status == "active")
        .order_by(problem.exposed_at, problem.platform, problem.native_id)
    )
    dated = [_Dated(row[0], ProblemKey(row[1], row[2]), row[3]) for row in session.execute(query)]
    return [_gaps(dated, one) for one in answered]


class _Dated(NamedTuple):
    problem_id: int
    key: ProblemKey
    exposed_at: datetime


def _gaps(dated: Sequence[_Dated], answered: Set[int]) -> Gaps:
    has = [one for one in dated if one.problem_id in answered]
    if not has:
        return Gaps(0, ())
    # By instant, not by place: the other problems of the first and of the last contest belong to it.
    first, last, platforms = has[0].exposed_at, has[-1].exposed_at, {one.key.platform for one in has}
    within = [one for one in dated if first <= one.exposed_at <= last and one.key.platform in platforms]
    return Gaps(len(within), tuple(one.key for one in within if one.problem_id not in answered))
