"""Scores of self-repair: a run before and after it, and the share of failing samples that were repaired. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from eval.cautions import MAX_MISSING
from eval.report import RepairScores
from eval.scoring import Judged, score
from eval.window import ProblemFacts

if TYPE_CHECKING:
    from eval.evaluation import Outcome

NO_REPAIR_NEEDED: Final = "no repair was needed, and many repairs are missing"
"""Why a problem is left out that was not asked at all."""


def lacks_repairs(outcomes: Iterable[Outcome]) -> bool:
    """Whether more than 5 % of the problems with something to repair have no judged repair.

    What needs none must not be counted then: the problems that are left would be those that passed from the start.
    """
    asked = [one for one in outcomes if one.repairs is not None and one.repairs.n_asked]
    missing = sum(not one.n_samples for one in asked)
    return missing > MAX_MISSING * len(asked)


def repair_scores(judged: Sequence[tuple[ProblemFacts, Outcome]]) -> RepairScores | None:
    """The scores of the problems of a row; None where nothing is known of the time before the repair.

    ``before`` is pass@1 of the same problems. ``repaired`` is the mean over the problems that had something to repair
    of the share of their failing samples whose repair passes: each problem weighs the same, and the interval is
    clustered by contest, as everywhere.
    """
    known = [(problem, outcome, one) for problem, outcome in judged if (one := outcome.repairs) is not None]
    if not known or len(known) < len(judged):
        return None
    before = _judged((problem, outcome.n_samples, one.n_before) for problem, outcome, one in known)
    asked = [(p, one.n_asked, outcome.n_correct - one.n_before) for p, outcome, one in known if one.n_asked]
    return RepairScores(
        before=score(before, 1),
        repaired=score(_judged(asked), 1),
        n_asked=sum(n for _, n, _ in asked),
        n_repaired=sum(n for _, _, n in asked),
    )


def _judged(counts: Iterable[tuple[ProblemFacts, int, int]]) -> Judged:
    rows: Collection[tuple[ProblemFacts, int, int]] = list(counts)
    return Judged(
        tuple(problem for problem, _, _ in rows),
        np.array([n for _, n, _ in rows], dtype=np.int64),
        np.array([right for _, _, right in rows], dtype=np.int64),
    )
