"""Published results without their programs: so many samples, so many of them right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, select, update
from sqlalchemy.orm import Session

from db import tables as t
from db.errors import UnknownProblem
from db.problems import problem_ids
from db.records import CODE_GENERATION, SaveOutcome, TallyRecord
from db.sql import insert_rows, is_one_of

__all__ = ["TallyRow", "UnknownProblem", "list_tally_models", "load_tallies", "save_tallies", "save_tally"]


@dataclass(frozen=True)
class TallyRow:
    """A stored tally: ``n_correct`` of ``n_samples`` were graded right by ``origin``, in one scenario."""

    problem_id: int
    model: str
    origin: str
    n_samples: int
    n_correct: int
    scenario: str = CODE_GENERATION


_Place = tuple[int, str, str, str]
"""What a tally is of: problem id, model, origin, scenario."""
_IDENTITY = ("problem_id", "model", "origin", "scenario")
_CHANGE = update(t.tally).where(
    t.tally.c.problem_id == bindparam("problem"),
    t.tally.c.model == bindparam("of_model"),
    t.tally.c.origin == bindparam("by"),
    t.tally.c.scenario == bindparam("asked_for"),
)


def save_tally(session: Session, record: TallyRecord) -> SaveOutcome:
    """Save one tally; other counts from the same origin take its place. Raises ``UnknownProblem``."""
    result = save_tallies(session, [record])[0]
    if isinstance(result, Exception):
        raise result
    return result


def save_tallies(session: Session, records: Sequence[TallyRecord]) -> list[SaveOutcome | UnknownProblem]:
    """Save many tallies; the result of each, or why it was refused, stands at its place."""
    ids = problem_ids(session, (record.key for record in records))
    stored = _stored(session, set(ids.values()))
    results: list[SaveOutcome | UnknownProblem] = []
    new: dict[_Place, tuple[int, int]] = {}
    changed: dict[_Place, tuple[int, int]] = {}
    for record in records:
        problem_id = ids.get(record.key)
        if problem_id is None:
            results.append(UnknownProblem(record.key))
            continue
        place = (problem_id, record.model, record.origin, record.scenario)
        counts = (record.n_samples, record.n_correct)
        before = stored.get(place)
        stored[place] = counts
        if before is None or place in new:
            new[place] = counts
        elif before != counts:
            changed[place] = counts
        same = SaveOutcome.UNCHANGED if before == counts else SaveOutcome.UPDATED
        results.append(SaveOutcome.CREATED if before is None else same)
    insert_rows(
        session,
        t.tally,
        [
            dict(zip(_IDENTITY, place, strict=True)) | {"n_samples": n, "n_correct": correct}
            for place, (n, correct) in new.items()
        ],
    )
    for (problem, model, origin, scenario), (n, correct) in changed.items():
        here = {"problem": problem, "of_model": model, "by": origin, "asked_for": scenario}
        session.execute(_CHANGE, here | {"n_samples": n, "n_correct": correct})
    return results


def _stored(session: Session, problems: set[int]) -> dict[_Place, tuple[int, int]]:
    query = select(t.tally).where(is_one_of(t.tally.c.problem_id, problems))
    return {
        (row.problem_id, row.model, row.origin, row.scenario): (row.n_samples, row.n_correct)
        for row in session.execute(query)
    }


def load_tallies(
    session: Session,
    models: Iterable[str] | None = None,
    origin: str | None = None,
    *,
    scenario: str | None = CODE_GENERATION,
) -> list[TallyRow]:
    """All tallies of a scenario (None: of every one), or those of some models and of one origin, by model, origin,
    scenario and problem."""
    columns = t.tally.c
    query = select(
        columns.problem_id, columns.model, columns.origin, columns.n_samples, columns.n_correct, columns.scenario
    )
    if scenario is not None:
        query = query.where(columns.scenario == scenario)
    if models is not None:
        query = query.where(columns.model.in_(list(models)))
    if origin is not None:
        query = query.where(columns.origin == origin)
    query = query.order_by(columns.model, columns.origin, columns.scenario, columns.problem_id)
    return [TallyRow(*row) for row in session.execute(query)]


def list_tally_models(session: Session) -> list[str]:
    """The models that have tallies, by name."""
    return list(session.execute(select(t.tally.c.model).distinct().order_by(t.tally.c.model)).scalars())
