"""Which places of a run have an answer that counts: one to what the problem says now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from sqlalchemy import Row, bindparam, not_, select
from sqlalchemy.orm import Session

from db import tables as t
from db.records import Place
from db.revisions import is_older_statement
from db.sql import chunks, is_among

PLACE: Final = ("problem_id", "question_id", "sample_index")
"""The columns of a place, in the order of ``Place``."""
_AT_ONCE: Final = 200  # Few: all combinations of the problems, questions and samples at hand are looked up.

_answered, _current = t.revision.alias("answered"), t.revision.alias("current")
_OF_RUN = t.response.c.run_id == bindparam("run")
_AT_PLACES = [is_among(t.response.c[name], f"of_{name}") for name in PLACE]
_ANSWERED = (
    select(*(t.response.c[name] for name in PLACE))
    .select_from(t.response)
    .join(t.problem, t.problem.c.id == t.response.c.problem_id)
    .outerjoin(_answered, _answered.c.id == t.response.c.revision_id)
    .outerjoin(_current, _current.c.id == t.problem.c.current_revision_id)
    .where(_OF_RUN, not_(is_older_statement(_answered, _current)))
)
_AMONG = _ANSWERED.where(*_AT_PLACES)
_ROWS = select(t.response.c.id, t.response.c.revision_id, *(t.response.c[name] for name in PLACE)).where(
    _OF_RUN, *_AT_PLACES
)


def places_answered(session: Session, run_id: int) -> set[Place]:
    """The places of a run that have an answer to what the problem says now."""
    return {Place(*row) for row in session.execute(_ANSWERED, {"run": run_id})}


def answered_among(session: Session, run_id: int, places: Iterable[Place]) -> set[Place]:
    """Those of the places that have such an answer in a run; others of the same problems may be among them."""
    return {Place(*row) for wanted in _among(places) for row in session.execute(_AMONG, {**wanted, "run": run_id})}


def rows_at(session: Session, run_id: int, places: Iterable[Place]) -> list[Row[Any]]:
    """The stored answers at these places of a run, to whatever statement: id, ``revision_id`` and place of each."""
    sought = set(places)
    rows = [row for wanted in _among(sought) for row in session.execute(_ROWS, {**wanted, "run": run_id})]
    return [row for row in rows if Place(*(getattr(row, name) for name in PLACE)) in sought]


def _among(places: Iterable[Place]) -> Iterator[dict[str, list[int]]]:
    for some in chunks(places, _AT_ONCE):
        yield {f"of_{name}": sorted({getattr(one, name) for one in some}) for name in PLACE}
