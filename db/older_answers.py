"""Answers to statements that have been edited since: kept, in a run beside their own, once another answer takes their
place.

The run beside has the model and the conditions of the run, a label of its own, and ``OLDER`` among the conditions: the
revision that its answers are to. Verdicts go along with their completions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from db import tables as t
from db.completions import RunRecord
from db.places import PLACE, rows_at
from db.records import Place
from db.sql import insert_missing

OLDER: Final = "older_statement"
"""The condition of a run that holds answers to a statement of before an edit."""


def is_of_older_statement(conditions: Mapping[str, Any]) -> bool:
    """Whether a run with these conditions holds what was set aside."""
    return OLDER in conditions


def set_aside(session: Session, run_id: int, places: Mapping[Place, int | None]) -> set[Place]:
    """Move the answers of a run at these places, all of them to older statements, to the run beside it.

    ``places`` have the revision that the new answers are to. Those whose answer is to that very revision are given
    back: it stands.
    """
    by_revision: defaultdict[int, list[tuple[int, Place]]] = defaultdict(list)
    standing = set()
    for row in rows_at(session, run_id, places):
        place = Place(*(getattr(row, name) for name in PLACE))
        if row.revision_id == places[place]:
            standing.add(place)
        else:
            by_revision[row.revision_id].append((row.id, place))
    for revision_id, found in by_revision.items():
        beside = _run_beside(session, run_id, revision_id)
        for response_id, place in found:
            session.execute(update(t.response).where(t.response.c.id == response_id).values(run_id=beside))
            session.execute(
                update(t.completion)
                .where(
                    t.completion.c.run_id == run_id,
                    t.completion.c.problem_id == place.problem_id,
                    t.completion.c.sample_index == place.sample_index,
                    t.completion.c.revision_id == revision_id,
                )
                .values(run_id=beside)
            )
    return standing


def _run_beside(session: Session, run_id: int, revision_id: int) -> int:
    run = session.execute(select(t.run).where(t.run.c.id == run_id)).one()
    label = f"{run.label} (statement {revision_id}, edited since)"
    record = RunRecord(run.model, label, {**run.conditions, OLDER: revision_id})
    known = select(t.run.c.id).where(t.run.c.digest == record.digest)
    if session.execute(known).scalar() is None:
        row = {"model": run.model, "label": label, "conditions": record.conditions, "created_at": run.created_at}
        insert_missing(session, t.run, [{"digest": record.digest, **row}])
    return int(session.execute(known).scalar_one())
