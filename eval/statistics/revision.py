"""Why a mean over problems moved when both the problems and their results may have changed.

A is the set of problems before, B the one after, a_i and b_i the scores on problem i, n_A and n_B the sizes, m_A and
m_B the means. The change m_B - m_A splits exactly into

    results      = sum over i in both sets of (b_i - a_i) / n_B
    problem set  = the rest = (mean over B of y_i) - m_A,   y_i = a_i where i is in A, else b_i

so that ``problem set`` is what had moved with every result held. It splits exactly in two ways. By problem
(`set_moves`): one that came adds (b_i - m_A) / n_B, one that went (m_A - a_i) / n_B, since

    n_B * (mean over B of y) = n_A * m_A + (sum of b_i that came) - (sum of a_i that went),   n_B = n_A + came - went

And over strata of problems into ``composition`` (another mix of strata) and ``within`` (the problems that came or went
are easier or harder for this model than those of their stratum), by Kitagawa's identity for y on A and on B
(`eval.statistics.composition`). With ``behaviour`` = ``results`` + ``within``

    change = composition + behaviour

Errors are clustered by contest, from what each problem adds to a part (its influence, by the delta method): with n
problems in A and B together, for the change n * ((b_i - m_B) / n_B - (a_i - m_A) / n_A), each term where i is in that
set. For equal sets that is the paired error of b - a, for sets without a common problem that of two means. Contests in
which nothing moved add next to nothing, so that Student's t has one degree of freedom less than there are others; with
fewer than 8 of these the larger of the errors by contest and by problem is taken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eval.statistics.composition import Decomposition, Estimate, Periods, decompose
from eval.statistics.intervals import MIN_CLUSTERS, cluster_se, item_se, t_quantile

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

MIN_PROBLEMS = 10
_ZERO = 1e-9
_FEWEST_DRAWS = 4
"""`decompose` is asked for its identity alone: its errors draw the contests that came apart from all others, and say
nothing where there is one such. Of fewer draws there may be one that can be used, which has no spread."""


@dataclass(frozen=True)
class Revision:
    """The means before and after, in [0, 1], and the parts of the change with their standard errors.

    ``change`` = ``results`` + ``problem_set`` = ``composition`` + ``behaviour``; ``problem_set`` = ``composition`` +
    ``within``; ``behaviour`` = ``results`` + ``within``. ``low`` and ``high`` are the 95 % interval of the change. With
    a ``refusal`` composition, within and behaviour are None. ``merged`` are strata that were put together, since one of
    them is empty on one side. A part has no error where nothing moved, where all that moved is of one contest, or with
    fewer than 10 problems.
    """

    n_before: int
    n_after: int
    n_common: int
    before: float
    after: float
    change: Estimate
    results: Estimate
    problem_set: Estimate
    low: float | None = None
    high: float | None = None
    composition: Estimate | None = None
    within: Estimate | None = None
    behaviour: Estimate | None = None
    refusal: str | None = None
    merged: tuple[tuple[str, ...], ...] = ()
    n_contests_moved: int = 0


def explain(
    before: ArrayLike, after: ArrayLike, clusters: ArrayLike, strata: ArrayLike, *, coarser: ArrayLike | None = None
) -> Revision:
    """The parts of a change; see the module's docstring. Everything has one entry for each problem of both sets.

    Scores are NaN where a problem is not in the set; ``clusters`` are contest numbers; ``strata`` and ``coarser`` as in
    `eval.statistics.composition.decompose`. Raises ``ValueError`` for a set without a problem.
    """
    sets = _Sets.of(before, after, clusters)
    m_a, m_b = _mean(sets.a[sets.in_a]), _mean(sets.b[sets.in_b])
    results = math.fsum(sets.differences) / sets.n_b
    influence = {
        "change": (sets.centred(sets.b, sets.in_b, m_b) - sets.centred(sets.a, sets.in_a, m_a)),
        "results": np.where(sets.in_b, sets.differences - results, 0.0) / sets.n_b,
    }
    swapped, changed = sets.in_a != sets.in_b, sets.differences != 0
    moved = swapped | changed
    change_se = sets.error(influence["change"], moved)
    contests = len(np.unique(sets.contests[moved]))
    half = None if change_se is None else t_quantile(contests - 1) * change_se
    change, problem_set = m_b - m_a, math.fsum(set_moves(before, after))
    found = Revision(
        n_before=sets.n_a,
        n_after=sets.n_b,
        n_common=int((sets.in_a & sets.in_b).sum()),
        before=m_a,
        after=m_b,
        change=Estimate(change, change_se),
        results=Estimate(results, sets.error(influence["results"], changed)),
        problem_set=Estimate(problem_set, sets.error(influence["change"] - influence["results"], swapped)),
        low=None if half is None else max(-1.0, change - half),
        high=None if half is None else min(1.0, change + half),
        n_contests_moved=contests,
    )
    return _with_strata(found, sets, influence, np.asarray(strata), coarser)


def set_moves(before: ArrayLike, after: ArrayLike) -> FloatArray:
    """What each problem adds to the part ``problem_set``: nothing for one in both sets. Scores as in `explain`."""
    a, b = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    in_a, in_b = ~np.isnan(a), ~np.isnan(b)
    m_a, n_b = _mean(a[in_a]), int(in_b.sum())
    return np.where(in_b & ~in_a, b - m_a, np.where(in_a & ~in_b, m_a - a, 0.0)) / n_b


@dataclass(frozen=True)
class _Sets:
    """Both sets over the problems of either."""

    a: FloatArray
    b: FloatArray
    in_a: BoolArray
    in_b: BoolArray
    contests: NDArray[np.int64]

    @staticmethod
    def of(before: ArrayLike, after: ArrayLike, clusters: ArrayLike) -> _Sets:
        a, b = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
        contests = np.asarray(clusters, dtype=np.int64)
        if a.ndim != 1 or not a.shape == b.shape == contests.shape:
            raise ValueError(f"rows of shapes {a.shape} and {b.shape} for {contests.shape} contest numbers")
        in_a, in_b = ~np.isnan(a), ~np.isnan(b)
        if not (in_a.any() and in_b.any()):
            raise ValueError("a set without a problem has no mean")
        if not (in_a | in_b).all():
            raise ValueError(f"{int((~(in_a | in_b)).sum())} problems are in neither set: leave them out first")
        return _Sets(a, b, in_a, in_b, contests)

    @property
    def n_a(self) -> int:
        return int(self.in_a.sum())

    @property
    def n_b(self) -> int:
        return int(self.in_b.sum())

    @property
    def held(self) -> FloatArray:
        """The scores with no result changed: those before, where there are any."""
        return np.where(self.in_a, self.a, self.b)

    @property
    def differences(self) -> FloatArray:
        """How results changed on the problems of both sets, nothing on others."""
        return np.where(self.in_a & self.in_b, self.b - self.a, 0.0)

    def centred(self, scores: FloatArray, chosen: BoolArray, mean: float) -> FloatArray:
        """What each problem adds to a mean over the chosen ones, less its share."""
        return np.where(chosen, scores - mean, 0.0) / int(chosen.sum())

    def error(self, influence: FloatArray, moved: BoolArray) -> float | None:
        """The standard error of a part from what each problem adds to it; ``moved`` are those that it is about."""
        contests = len(np.unique(self.contests[moved]))
        if min(self.n_a, self.n_b) < MIN_PROBLEMS or contests < 2:
            return None
        values = influence * len(influence)
        by_contest, by_problem = cluster_se(values, self.contests.tolist()), item_se(values)
        if by_contest is None or by_problem is None or max(by_contest, by_problem) < _ZERO:
            return None
        # Also where contributions cancel within every contest: an error of zero would claim certainty.
        return max(by_contest, by_problem) if contests < MIN_CLUSTERS or by_contest < _ZERO else by_contest


def _with_strata(
    found: Revision,
    sets: _Sets,
    influence: dict[str, FloatArray],
    strata: NDArray[np.generic],
    coarser: ArrayLike | None,
) -> Revision:
    """The revision with its problem set's part split over strata, or with the refusal."""
    swapped = sets.in_a != sets.in_b
    if not swapped.any():
        nothing = Estimate(0.0, None)
        return replace(found, composition=nothing, within=nothing, behaviour=found.results)
    periods = Periods(sets.in_a, sets.in_b)
    (parts,) = decompose(
        sets.held[None, :],
        sets.contests,
        strata,
        periods,
        np.random.default_rng(0),
        coarser=coarser,
        draws=_FEWEST_DRAWS,
    )
    if parts.composition is None or parts.behaviour is None:
        return replace(found, refusal=parts.refusal)
    composition, within = parts.composition.value, parts.behaviour.value
    mix = _influence_on_composition(sets, parts, strata)
    moved = swapped | (sets.differences != 0)
    rest = influence["change"] - influence["results"] - mix
    return replace(
        found,
        composition=Estimate(composition, sets.error(mix, swapped)),
        within=Estimate(within, sets.error(rest, swapped)),
        behaviour=Estimate(found.results.value + within, sets.error(influence["change"] - mix, moved)),
        merged=tuple(one.codes for one in parts.strata if len(one.codes) > 1),
    )


def _influence_on_composition(sets: _Sets, parts: Decomposition, strata: NDArray[np.generic]) -> FloatArray:
    """What each problem adds to composition = sum over strata of (w_B - w_A) * (m_A + m_B) / 2.

    That is through the share of its stratum, and through the mean in it.
    """
    group_of = {code: place for place, one in enumerate(parts.strata) for code in one.codes}
    group = np.array([group_of[str(code)] for code in strata])
    weights = np.array([[one.weight_before, one.weight_after] for one in parts.strata])
    means = np.array([[one.mean_before, one.mean_after] for one in parts.strata])
    middle = means.mean(axis=1)
    shift = (weights[:, 1] - weights[:, 0]) / 2
    total = np.zeros(len(group))
    for side, (chosen, sign) in enumerate(((sets.in_a, -1), (sets.in_b, 1))):
        n = int(chosen.sum())
        by_share = sign * (middle - weights[:, side] @ middle)[group] / n
        by_mean = shift[group] * (sets.held - means[group, side]) / (weights[group, side] * n)
        total += np.where(chosen, by_share + by_mean, 0.0)
    return total


def _mean(values: FloatArray) -> float:
    """The same whatever the order of the values."""
    return math.fsum(values) / len(values)
