"""Does a model solve what is found more often? The odds of solving a problem by how widely it is spread.

Source: Roberts et al. 2023, "To the cutoff... and beyond? A longitudinal perspective on LLM data contamination": logit
of "solved" on log(1 + count in public code) and difficulty, before and after the cut-off apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from eval.statistics.gap import MIN_CONTESTS, MIN_ITEMS
from eval.statistics.intervals import MIN_CLUSTERS, clopper_pearson, t_quantile
from eval.statistics.regression import Refusal, Regression, estimate, logit

MIN_OUTCOMES = 10
# Beyond this many log-odds a number cannot be written.
_LARGEST = 700.0


@dataclass(frozen=True)
class OddsRatio:
    """By what the odds of solving are multiplied: 95 % interval and two-sided p, by Student's t with so many degrees.

    ``se`` is that of its logarithm.
    """

    value: float
    low: float
    high: float
    p: float
    se: float
    degrees: float


@dataclass(frozen=True)
class ExposureRegression:
    """A logistic regression of solved on log(1 + count) and difficulty, over problems on one side of a cut-off.

    ``solved`` adds up the shares of samples that solve each of the ``n`` problems. ``bound`` is the exact 95 % interval
    of the share solved where none or all are, which is all that can be said there. No odds ratios with a ``refusal``.
    """

    n: int
    n_contests: int
    solved: float
    bound: tuple[float, float] | None = None
    count: OddsRatio | None = None
    difficulty: OddsRatio | None = None
    refusal: str | None = None


def exposure_regression(
    scores: ArrayLike, counts: ArrayLike, difficulty: ArrayLike, clusters: ArrayLike
) -> ExposureRegression:
    """The odds ratio of solving per unit of log(1 + count), difficulty held constant.

    One entry for each problem: the share of samples that solve it, how often it is found (any number of at least 0),
    its difficulty and its contest. Errors are clustered by contest; with fewer than 8 contests they are the larger of
    that and of errors over problems. Refused with fewer than 15 problems or 4 contests, fewer than 10 problems solved
    or 10 not, and where the likelihood has no maximum.
    """
    rows = [np.asarray(row, dtype=np.float64) for row in (scores, counts, difficulty)]
    if rows[0].ndim != 1 or any(row.shape != rows[0].shape or not np.isfinite(row).all() for row in rows):
        raise ValueError("scores, counts and difficulty need one finite number for each problem")
    if ((rows[0] < 0) | (rows[0] > 1)).any() or (rows[1] < 0).any():
        raise ValueError("scores lie in [0, 1], and counts are not negative")
    contests = np.asarray(clusters)
    n, groups, solved = rows[0].size, int(np.unique(contests).size), float(rows[0].sum())
    bound = clopper_pearson(round(solved), n) if n and solved in {0.0, float(n)} else None
    refusal = _thin(n, groups, solved, bound)
    if refusal is not None:
        return ExposureRegression(n, groups, solved, bound, refusal=refusal)
    design = np.column_stack([np.ones(n), np.log1p(rows[1]), rows[2]])
    fits = [logit(rows[0], design, contests)]
    if groups < MIN_CLUSTERS:
        fits.append(logit(rows[0], design, np.arange(n)))
    sound = []
    for one in fits:
        if isinstance(one, Refusal):
            return ExposureRegression(n, groups, solved, refusal=one.reason)
        sound.append(one)
    count, hard = (max((_ratio(one, column, groups) for one in sound), key=lambda ratio: ratio.se) for column in (1, 2))
    return ExposureRegression(n, groups, solved, None, count, hard)


def compared(first: OddsRatio, second: OddsRatio) -> OddsRatio:
    """How many times as large the first odds ratio is as the second, which is of other problems.

    Degrees of freedom by Welch and Satterthwaite. That one of two ratios is significant and the other is not does not
    show that they differ: this does.
    """
    variances = first.se**2, second.se**2
    freedom = sum(variances) ** 2 / (variances[0] ** 2 / first.degrees + variances[1] ** 2 / second.degrees)
    return _of_logarithm(math.log(first.value) - math.log(second.value), math.sqrt(sum(variances)), freedom)


def _thin(n: int, groups: int, solved: float, bound: tuple[float, float] | None) -> str | None:
    """What is missing for a regression, as a sentence."""
    if n < MIN_ITEMS or groups < MIN_CONTESTS:
        return f"needs at least {MIN_ITEMS} problems of {MIN_CONTESTS} contests, there are {n} of {groups}"
    if bound is not None and solved == 0:
        return f"none of {n} problems is solved: the share solved is at most {100 * bound[1]:.1f} % (exact bound)"
    if bound is not None:
        return f"all of {n} problems are solved: the share solved is at least {100 * bound[0]:.1f} % (exact bound)"
    if min(solved, n - solved) < MIN_OUTCOMES:
        return f"needs at least {MIN_OUTCOMES} problems solved and {MIN_OUTCOMES} not, {solved:.3g} of {n} are solved"
    return None


def _ratio(fitted: Regression, column: int, groups: int) -> OddsRatio:
    found = fitted.estimate(column, groups - 1)
    return _of_logarithm(found.value, found.se, found.degrees)


def _of_logarithm(value: float, se: float, degrees: float) -> OddsRatio:
    found, half = estimate(value, se, degrees), t_quantile(degrees) * se
    ratio, low, high = (math.exp(max(-_LARGEST, min(end, _LARGEST))) for end in (value, value - half, value + half))
    return OddsRatio(ratio, low, high, found.p, se, degrees)
