"""Which environments verdicts were reached in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db import tables as t


@dataclass(frozen=True)
class EnvironmentRow:
    """An environment in the store."""

    environment_id: int
    digest: str
    executor: str


def load_environment(session: Session, environment_id: int) -> EnvironmentRow:
    """The environment with this id."""
    columns = t.environment.c
    query = select(columns.id, columns.digest, columns.executor).where(columns.id == environment_id)
    return EnvironmentRow(*session.execute(query).one())


def latest_environment(session: Session, models: Iterable[str] | None = None) -> EnvironmentRow | None:
    """The environment in which some of these models' completions (None: any) were judged last; None if never."""
    judged, columns = t.judgement.c, t.environment.c
    query = (
        select(columns.id, columns.digest, columns.executor)
        .join(t.judgement, judged.environment_id == columns.id)
        .group_by(columns.id, columns.digest, columns.executor)
        .order_by(func.max(judged.judged_at).desc(), columns.id.desc())
        .limit(1)
    )
    if models is not None:
        query = (
            query.join(t.completion, t.completion.c.id == judged.completion_id)
            .join(t.run, t.run.c.id == t.completion.c.run_id)
            .where(t.run.c.model.in_(list(models)))
        )
    found = session.execute(query).one_or_none()
    return None if found is None else EnvironmentRow(*found)
