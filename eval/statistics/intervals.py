"""Standard errors and intervals for a mean over problems that come in contests.

The samples of one problem, and the problems of one contest, go together. Pooling samples as if each were a problem
makes error bars about three times too small; the standard errors here are over problems or over contests, and hold the
sampling noise already.

What ``interval`` gives, named in its ``method``:

``contest_t``       8 contests or more: s.e. clustered by contest, Student's t with (contests - 1) degrees of freedom
``contest_wilson``  the same s.e. as an effective number of problems, Wilson: where t would be near 0 or 1
``exact``           8 contests or more and every problem at 0, or every one at 1: Clopper and Pearson's bound
``item_wilson``     2 to 7 contests, or a clustered s.e. of zero: the larger of both s.e. likewise, Wilson
``none``            fewer than two problems or two contests: no interval, never one of width zero

Near 0 or 1 means that the mean is below 5 % or above 95 %, or that the t interval would leave [0, 1]. Wilson's formula
takes the quantile of Student's t with (contests - 1) degrees of freedom in the place of the normal one, which covers as
little as 78 % with 2 contests of differing difficulty, and 90 % with 3 (``benchmarks/ranks.py`` has the coverage now).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

Z95 = NormalDist().inv_cdf(0.975)
MIN_CLUSTERS = 8
FEW_CLUSTERS = 30
EDGE = 0.05


class IntervalMethod(StrEnum):
    """How an interval was made; see the module's docstring."""

    CONTEST_T = "contest_t"
    CONTEST_WILSON = "contest_wilson"
    EXACT = "exact"
    ITEM_WILSON = "item_wilson"
    NONE = "none"


@dataclass(frozen=True)
class Interval:
    """A 95 % interval for a mean in [0, 1]; both ends are None when there is none. ``n_clusters`` counts contests."""

    low: float | None
    high: float | None
    method: IntervalMethod
    n_items: int
    n_clusters: int
    se: float | None = None


def item_se(values: ArrayLike) -> float | None:
    """The standard error of the mean over problems, sd/sqrt(n); None for fewer than two."""
    array = np.asarray(values, dtype=np.float64)
    if array.size < 2:
        return None
    return float(array.std(ddof=1) / math.sqrt(array.size))


def cluster_se(values: ArrayLike, clusters: Sequence[Hashable]) -> float | None:
    """The standard error of the mean when clusters are drawn as a whole; None for fewer than two clusters.

    se^2 = G/(G-1) * sum over clusters of (sum of the cluster's residuals)^2 / n^2, for G clusters and n problems.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (len(clusters),):
        raise ValueError(f"{len(clusters)} clusters for values of shape {array.shape}")
    if array.size == 0:
        return None
    index: dict[Hashable, int] = {}
    rows = np.array([index.setdefault(cluster, len(index)) for cluster in clusters])
    groups = len(index)
    if groups < 2:
        return None
    sums = np.bincount(rows, weights=array - array.mean(), minlength=groups)
    return math.sqrt(groups / (groups - 1) * float(np.square(sums).sum())) / array.size


def t_quantile(degrees: float, level: float = 0.975) -> float:
    """A quantile of Student's t, the 97.5 % one unless ``level`` says otherwise."""
    # scipy.special takes a third of a second to import, and only reports with an interval need it.
    from scipy.special import stdtrit  # type: ignore[import-untyped]

    return float(stdtrit(degrees, level))


def t_p_value(t: float, degrees: float) -> float:
    """The two-sided p value of a statistic that has Student's t."""
    from scipy.special import stdtr

    return min(1.0, 2 * float(stdtr(degrees, -abs(t))))


def wilson(share: float, n: float, critical: float = Z95) -> tuple[float, float]:
    """Wilson's score interval for a share of n trials, where n may be an effective number. It stays within [0, 1]."""
    if n <= 0 or not 0.0 <= share <= 1.0:
        raise ValueError(f"no interval for a share of {share} in {n} trials")
    spread = critical * critical / n
    middle = (share + spread / 2) / (1 + spread)
    half = critical * math.sqrt(share * (1 - share) / n + spread / (4 * n)) / (1 + spread)
    # At 0 and 1 the end is exact in theory; rounding must not leave it a hair outside.
    low = 0.0 if share == 0.0 else max(0.0, middle - half)
    high = 1.0 if share == 1.0 else min(1.0, middle + half)
    return low, high


def clopper_pearson(successes: int, n: int) -> tuple[float, float]:
    """The exact interval for a number of successes in n independent trials; never too narrow, often too wide.

    For 0 of n its upper end is 1 - 0.025^(1/n), for n of n its lower end 0.025^(1/n).
    Source: Clopper and Pearson 1934, "The use of confidence or fiducial limits".
    """
    if n < 1 or not 0 <= successes <= n:
        raise ValueError(f"no interval for {successes} successes in {n} trials")
    from scipy.special import betaincinv

    low = 0.0 if successes == 0 else float(betaincinv(successes, n - successes + 1, 0.025))
    return low, 1.0 if successes == n else float(betaincinv(successes + 1, n - successes, 0.975))


def effective_n(share: float, se: float) -> float:
    """How many independent trials would give this standard error: p(1-p)/se^2 (infinite where se is 0)."""
    return share * (1 - share) / (se * se) if se > 0 else math.inf


def interval(values: ArrayLike, clusters: Sequence[Hashable]) -> Interval:
    """The 95 % interval of a mean over problems, by the method that their number and their contests allow.

    ``values`` has one number in [0, 1] for each problem, ``clusters`` its contest. Raises ``ValueError`` for a value
    that is no number.
    """
    array = np.asarray(values, dtype=np.float64)
    if np.isnan(array).any():
        raise ValueError(f"{int(np.isnan(array).sum())} of {array.size} values are no numbers: leave them out first")
    by_item, by_cluster = item_se(array), cluster_se(array, clusters)
    groups = len(set(clusters))
    if by_item is None or by_cluster is None:
        return Interval(None, None, IntervalMethod.NONE, array.size, groups)
    average = min(1.0, max(0.0, float(array.mean())))
    if groups < MIN_CLUSTERS:
        return _wilson(average, max(by_item, by_cluster), IntervalMethod.ITEM_WILSON, array.size, groups)
    if (array == 0.0).all() or (array == 1.0).all():
        # No spread to measure: every problem counts as one trial.
        low, high = clopper_pearson(round(average) * array.size, array.size)
        return Interval(low, high, IntervalMethod.EXACT, array.size, groups, by_cluster)
    if _is_zero(by_cluster) and not _is_zero(by_item):
        # Residuals that cancel within every contest: a clustered s.e. of zero would claim certainty.
        return _wilson(average, by_item, IntervalMethod.ITEM_WILSON, array.size, groups)
    half = t_quantile(groups - 1) * by_cluster
    if EDGE <= average <= 1 - EDGE and half > 0 and average >= half and average + half <= 1:
        return Interval(average - half, average + half, IntervalMethod.CONTEST_T, array.size, groups, by_cluster)
    return _wilson(average, by_cluster, IntervalMethod.CONTEST_WILSON, array.size, groups)


def _wilson(average: float, se: float, method: IntervalMethod, items: int, groups: int) -> Interval:
    """Wilson on the effective number of problems, which is never taken to be more than there are."""
    trials = items if _is_zero(se) or average in {0.0, 1.0} else min(float(items), effective_n(average, se))
    low, high = wilson(average, trials, t_quantile(groups - 1))
    return Interval(low, high, method, items, groups, se)


def _is_zero(se: float) -> bool:
    return se < 1e-9
