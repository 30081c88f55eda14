"""How many of its judged programs each model has right, over the whole store.

Tests that were made here have no say: models decided what they expect, and who is strong says which models do. Judging
by them changes no standing, so that the same store makes the same tests again.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final, NamedTuple

from sqlalchemy import case, func, select
from sqlalchemy.orm import Session

from db import tables as t
from db.judgements import INTERNAL_ERROR
from db.records import CODE_GENERATION

ACCEPTED: Final = "accepted"

_done, _run, _verdict = t.completion.c, t.run.c, t.judgement.c
_NEWEST = (
    select(func.max(_verdict.id).label("id"))
    .select_from(t.judgement)
    .outerjoin(t.made_suite, t.made_suite.c.suite_id == _verdict.suite_id)
    .where(t.made_suite.c.suite_id.is_(None), _verdict.verdict != INTERNAL_ERROR)
    .group_by(_verdict.completion_id)
    .subquery()
)
_BY_RUN = (
    select(
        _run.model,
        _run.conditions,
        func.count().label("n"),
        func.sum(case((_verdict.verdict == ACCEPTED, 1), else_=0)).label("n_accepted"),
    )
    .select_from(_NEWEST)
    .join(t.judgement, _verdict.id == _NEWEST.c.id)
    .join(t.completion, _done.id == _verdict.completion_id)
    .join(t.run, _run.id == _done.run_id)
    .group_by(_run.id)  # the key of its table: the other columns follow from it
)


class Standing(NamedTuple):
    """Of ``n_judged`` programs ``n_accepted`` were accepted."""

    n_accepted: int
    n_judged: int

    @property
    def share(self) -> float:
        """The share of accepted ones; 0 where none was judged."""
        return self.n_accepted / self.n_judged if self.n_judged else 0.0


def load_standings(session: Session) -> dict[str, Standing]:
    """By model, what became of its programs of code generation on tests that were not made here.

    Of each program the newest verdict counts that is no internal error, by whatever suite and in whatever environment;
    answers without a program were not judged.
    """
    counts: defaultdict[str, Standing] = defaultdict(lambda: Standing(0, 0))
    for model, conditions, n, n_accepted in session.execute(_BY_RUN):
        if conditions.get("scenario", CODE_GENERATION) == CODE_GENERATION:
            before = counts[model]
            counts[model] = Standing(before.n_accepted + int(n_accepted), before.n_judged + n)
    return dict(counts)
