"""Scores of the judged problems of one run: pass@k with its error, by difficulty and platform, and problem by problem.

Each problem weighs the same, whatever its number of samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eval.report import ProblemResult, Score, Stratum
from eval.statistics.intervals import IntervalMethod, interval
from eval.statistics.scores import enough_samples, pass_at_k
from eval.window import ProblemFacts

UNKNOWN = "unknown"


@dataclass(frozen=True)
class Judged:
    """Problems that have a result, with ``n`` samples and ``c`` correct ones in the same order."""

    problems: tuple[ProblemFacts, ...]
    n: NDArray[np.int64]
    c: NDArray[np.int64]

    def take(self, rows: Sequence[int]) -> Judged:
        """Those at these places."""
        index = np.asarray(rows, dtype=np.int64)
        return Judged(tuple(self.problems[row] for row in rows), self.n[index], self.c[index])

    def results(self) -> tuple[ProblemResult, ...]:
        """Each problem with its counts, the oldest first."""
        rows = sorted(zip(self.problems, self.n.tolist(), self.c.tolist(), strict=True), key=lambda row: _age(row[0]))
        return tuple(ProblemResult(f"{one.platform}:{one.native_id}", n, c) for one, n, c in rows)


def score(judged: Judged, k: int, *, unjudged: str | None = None) -> Score:
    """pass@k over the judged problems that have at least k samples, and how many have fewer.

    ``unjudged`` says why there are no judged problems, where that is the case.
    """
    rows = np.flatnonzero(enough_samples(judged.n, k))
    part = judged.take([int(row) for row in rows])
    too_few = len(judged.problems) - len(part.problems)
    if not part.problems:
        return Score(k, None, None, None, IntervalMethod.NONE.value, 0, 0, too_few, unjudged=unjudged)
    values = pass_at_k(part.n, part.c, k)
    found = interval(values, [problem.cluster for problem in part.problems])
    return Score(
        k,
        float(values.mean()),
        found.low,
        found.high,
        found.method.value,
        found.n_items,
        found.n_clusters,
        too_few,
        found.se,
    )


def strata(judged: Judged, names: Sequence[str], ks: Sequence[int]) -> tuple[Stratum, ...]:
    """The scores of the problems of each name, in the order of `_stratum_order`."""
    members: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        members.setdefault(name, []).append(row)
    found = []
    for name in sorted(members, key=_stratum_order):
        part = judged.take(members[name])
        found.append(Stratum(name, len(part.problems), int(part.n.sum()), tuple(score(part, k) for k in ks)))
    return tuple(found)


def _age(problem: ProblemFacts) -> tuple[bool, float, str]:
    at = problem.exposed_at
    return at is None, 0.0 if at is None else at.timestamp(), problem.native_id


def _stratum_order(name: str) -> tuple[int, float, str]:
    """Easy before medium before hard, numbers by size, "unknown" last."""
    words = {"easy": 0, "medium": 1, "hard": 2, UNKNOWN: 9}
    if name.casefold() in words:
        return (words[name.casefold()], 0.0, name)
    return (3, float(name), name) if name.isdecimal() else (4, 0.0, name)
