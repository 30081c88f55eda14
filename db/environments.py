"""Which environments verdicts were reached in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db import tables as t

OWN_GRADER: Final = "live"
"""The grader of an environment whose details name none."""


@dataclass(frozen=True)
class EnvironmentRow:
    """An environment in the store."""

    environment_id: int
    digest: str
    executor: str


def environment_details(session: Session, environment_id: int) -> dict[str, Any]:
    """What makes an environment: image, versions of languages, limit policy, as JSON values."""
    query = select(t.environment.c.details).where(t.environment.c.id == environment_id)
    return dict(session.execute(query).scalar_one())


def load_environment(session: Session, environment_id: int) -> EnvironmentRow:
    """The environment with this id."""
    columns = t.environment.c
    query = select(columns.id, columns.digest, columns.executor).where(columns.id == environment_id)
    return EnvironmentRow(*session.execute(query).one())


def find_environment(session: Session, digest: str) -> EnvironmentRow | None:
    """The environment with this digest; None where the store knows none."""
    columns = t.environment.c
    found = session.execute(
        select(columns.id, columns.digest, columns.executor).where(columns.digest == digest)
    ).first()
    return None if found is None else EnvironmentRow(*found)


def latest_environment(
    session: Session, models: Iterable[str] | None = None, *, grader: str = OWN_GRADER
) -> EnvironmentRow | None:
    """The environment in which some of these models' completions (None: any) were judged last by this grader; None if
    never. Verdicts by the rules of another grader are never taken for ours."""
    judged, columns = t.judgement.c, t.environment.c
    query = (
        select(columns.id, columns.digest, columns.executor, columns.details)
        .join(t.judgement, judged.environment_id == columns.id)
        .group_by(columns.id)
        .order_by(func.max(judged.judged_at).desc(), columns.id.desc())
    )
    if models is not None:
        query = (
            query.join(t.completion, t.completion.c.id == judged.completion_id)
            .join(t.run, t.run.c.id == t.completion.c.run_id)
            .where(t.run.c.model.in_(list(models)))
        )
    found = (row for row in session.execute(query) if row.details.get("grader", OWN_GRADER) == grader)
    return next((EnvironmentRow(row.id, row.digest, row.executor) for row in found), None)
