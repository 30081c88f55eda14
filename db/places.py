"""Which places of a run have an answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from db import tables as t
from db.records import Place
from db.sql import chunks, is_among

PLACE: Final = ("problem_id", "question_id", "sample_index")
"""The columns of a place, in the order of ``Place``."""
_AT_ONCE: Final = 200  # Few: all combinations of the problems, questions and samples at hand are looked up.

_ANSWERED = select(*(t.response.c[name] for name in PLACE)).where(t.response.c.run_id == bindparam("run"))
_AMONG = _ANSWERED.where(*(is_among(t.response.c[name], f"of_{name}") for name in PLACE))


def places_answered(session: Session, run_id: int) -> set[Place]:
    """The places of a run that have an answer."""
    return {Place(*row) for row in session.execute(_ANSWERED, {"run": run_id})}


def answered_among(session: Session, run_id: int, places: Iterable[Place]) -> set[Place]:
    """Those of the places that have an answer in a run; others of the same problems may be among them."""
    found: set[Place] = set()
    for some in chunks(places, _AT_ONCE):
        wanted = {f"of_{name}": sorted({getattr(one, name) for one in some}) for name in PLACE}
        found |= {Place(*row) for row in session.execute(_AMONG, wanted | {"run": run_id})}
    return found
