"""Two models on the problems that both have: the difference of their scores, its error, and what could have been seen.

Scores of one problem go together, so the differences problem by problem vary much less than two means would let one
expect: pairing about halves the standard error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eval.statistics.intervals import FEW_CLUSTERS, MIN_CLUSTERS, cluster_se, item_se, t_p_value, t_quantile

FloatArray = NDArray[np.float64]

MIN_COMMON = 10
# Standard errors between nothing and a difference that is found 4 times out of 5: z(0.975) + z(0.8).
POWER_80 = 2.80


class PairMethod(StrEnum):
    """How the error of a difference was found: from contests, or (fewer than 8 of them) from contests and problems."""

    CONTEST_T = "contest_t"
    LARGER_T = "larger_t"
    NONE = "none"


@dataclass(frozen=True)
class McNemar:
    """The exact test where every score is 0 or 1: ``only_a`` and ``only_b`` problems are solved by one model alone."""

    only_a: int
    only_b: int
    p: float


@dataclass(frozen=True)
class Comparison:
    """Model a against model b on their common problems. Differences and errors are shares (0.05: five points).

    ``n_only_a`` and ``n_only_b`` problems have a result of one model and were left out. ``se`` is the one that the
    interval, ``p`` (two-sided) and ``detectable`` rest on: clustered by contest (``method`` contest_t) or, with fewer
    than 8 contests, the larger of ``se_contests`` and ``se_problems`` (larger_t); Student's t with (contests - 1)
    degrees of freedom in both. ``se_unpaired`` is what ignoring the pairing would give. ``detectable`` is the
    difference that would be found with 80 % power at 5 %. A ``refusal`` says why there is no difference; a ``caution``
    says why there is a difference without an error. What the evidence does not carry is None.
    """

    n_common: int
    n_contests: int
    n_only_a: int
    n_only_b: int
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    method: PairMethod = PairMethod.NONE
    se: float | None = None
    se_contests: float | None = None
    se_problems: float | None = None
    se_unpaired: float | None = None
    p: float | None = None
    detectable: float | None = None
    correlation: float | None = None
    mcnemar: McNemar | None = None
    refusal: str | None = None
    caution: str | None = None


def compare(a: ArrayLike, b: ArrayLike, clusters: ArrayLike) -> Comparison:
    """Compare two models: scores in [0, 1] for each problem, NaN where there is no result, and contest numbers.

    Fewer than 10 common problems: refused. One contest, or the same difference on every problem: no error.
    Sources: Miller 2024, "Adding Error Bars to Evals", sections 2 and 4; McNemar 1947.
    """
    first, second, numbers = _checked(a, b, clusters)
    has_a, has_b = ~np.isnan(first), ~np.isnan(second)
    both = has_a & has_b
    x, y, contests = first[both], second[both], numbers[both].tolist()
    n_contests = len(set(contests))
    counts = (int(both.sum()), n_contests, int((has_a & ~both).sum()), int((has_b & ~both).sum()))
    if len(x) < MIN_COMMON:
        return Comparison(*counts, refusal=f"needs at least {MIN_COMMON} common problems, there are {len(x)}")
    differences = x - y
    difference = float(differences.mean())
    se_problems, se_contests = item_se(differences), cluster_se(differences, contests)
    method, se, caution = _error(se_problems or 0.0, se_contests, n_contests, difference)
    half = None if se is None else t_quantile(n_contests - 1) * se
    return Comparison(
        *counts,
        difference=difference,
        low=None if half is None else max(-1.0, difference - half),
        high=None if half is None else min(1.0, difference + half),
        method=method,
        se=se,
        se_contests=se_contests,
        se_problems=se_problems,
        se_unpaired=math.hypot(item_se(x) or 0.0, item_se(y) or 0.0),
        p=None if se is None else t_p_value(difference / se, n_contests - 1),
        detectable=None if se is None else detectable_difference(se, n_contests),
        correlation=correlation(x, y),
        mcnemar=mcnemar(x, y) if _all_or_nothing(x) and _all_or_nothing(y) else None,
        caution=caution,
    )


def detectable_difference(se: float, n_contests: int | None = None) -> float:
    """The true difference that is found at 5 % in 80 % of all experiments with this standard error: 2.80 s.e.

    Fewer than 30 contests: the two quantiles that 2.80 adds up, 97.5 % and 80 %, are those of Student's t with
    (contests - 1) degrees of freedom, as in the test itself.
    """
    if n_contests is None or n_contests >= FEW_CLUSTERS:
        return POWER_80 * se
    return (t_quantile(n_contests - 1) + t_quantile(n_contests - 1, 0.8)) * se


def planned_problems(se: float, n_problems: int, difference: float) -> int:
    """How many common problems of the same kind would make a difference detectable (80 % power at 5 %).

    ``se`` is the standard error of the difference on ``n_problems``: the number is (2.80 sd / difference)^2, sd being
    se * sqrt(n_problems), rounded up. Raises ``ValueError`` for a difference or an error of nothing.
    """
    if n_problems < 1 or se <= 0 or not 0 < abs(difference) <= 1:
        raise ValueError(f"no number of problems for a difference of {difference} and a standard error of {se}")
    wanted = n_problems * (detectable_difference(se) / difference) ** 2
    # A hair above a whole number is rounding, not one more problem.
    return max(1, math.ceil(wanted - 1e-9))


def mcnemar(a: ArrayLike, b: ArrayLike) -> McNemar:
    """McNemar's exact test of two rows of 0 and 1: among the problems that one model alone solves, is it a fair coin?

    Two-sided, p = 2 * P(X <= min(only_a, only_b)) for X ~ Binomial(only_a + only_b, 1/2), at most 1. It takes problems
    as independent. Raises ``ValueError`` for scores between 0 and 1.
    """
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if x.shape != y.shape or not (_all_or_nothing(x) and _all_or_nothing(y)):
        raise ValueError("McNemar's test needs two rows of 0 and 1 of one length")
    from scipy.special import bdtr  # type: ignore[import-untyped]

    only_a, only_b = int((x > y).sum()), int((y > x).sum())
    p = 2 * float(bdtr(min(only_a, only_b), only_a + only_b, 0.5))
    return McNemar(only_a, only_b, min(1.0, p))


def correlation(a: ArrayLike, b: ArrayLike) -> float | None:
    """Pearson's correlation of two rows without gaps; None where one of them does not vary."""
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if len(x) < 2 or np.ptp(x) < 1e-12 or np.ptp(y) < 1e-12:
        return None
    return float(np.corrcoef(x, y)[0, 1])


def _error(
    se_problems: float, se_contests: float | None, n_contests: int, difference: float
) -> tuple[PairMethod, float | None, str | None]:
    """The standard error to use, how it was found, and why there is none."""
    if se_contests is None:
        return PairMethod.NONE, None, "all common problems are of one contest: the error of the difference is unknown"
    larger = max(se_problems, se_contests)
    if larger < 1e-9:
        equal = "equal" if abs(difference) < 1e-9 else "apart by the same difference"
        return (
            PairMethod.NONE,
            None,
            f"the models are {equal} on every problem: there is no spread to measure an error by",
        )
    # Also where differences cancel within every contest: a clustered s.e. of zero would claim certainty.
    if n_contests < MIN_CLUSTERS or se_contests < 1e-9:
        return PairMethod.LARGER_T, larger, None
    return PairMethod.CONTEST_T, se_contests, None


def _checked(a: ArrayLike, b: ArrayLike, clusters: ArrayLike) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    numbers = np.asarray(clusters)
    if x.ndim != 1 or not x.shape == y.shape == numbers.shape:
        raise ValueError(f"rows of shapes {x.shape} and {y.shape} for {numbers.shape} contest numbers")
    for row in (x, y):
        known = row[~np.isnan(row)]
        if known.size and (known.min() < 0 or known.max() > 1):
            raise ValueError("scores lie between 0 and 1")
    return x, y, numbers


def _all_or_nothing(row: FloatArray) -> bool:
    return bool(((row == 0) | (row == 1)).all())
