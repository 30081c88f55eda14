"""A mean score under a user's own mix of work: post-stratified on platform, difficulty, tag, or any other grouping.

With weights w* that add up to one, m_s the mean score of stratum s and n_s its problems:

    score = sum over s of w*_s * m_s            se^2 = sum over s of w*_s^2 * se_s^2, se_s = sd_s / sqrt(n_s)
    n_eff = (sum over problems of v)^2 / (sum over problems of v^2), v = w*_s / n_s for a problem of stratum s

``n_eff`` is how many equally weighted problems would say as much (Kish 1965, "Survey Sampling", section 11.7). The
standard error by contest uses the same weighted residuals, summed within each contest before they are squared, so that
it holds what strata of one contest have in common. Groups may overlap (tags); both errors then hold the overlap too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eval.statistics.intervals import EDGE, MIN_CLUSTERS, effective_n, t_quantile, wilson

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Code = TypeVar("Code", bound=int | str)

MIN_PROBLEMS = 10
HEAVY_WEIGHT = 0.1


@dataclass(frozen=True)
class WeightedStratum:
    """One stratum: its weight (of all that add up to 1), how many problems have a result, their mean in [0, 1].

    ``se`` is over problems, None for fewer than two.
    """

    code: int | str
    weight: float
    n: int
    mean: float | None
    se: float | None


@dataclass(frozen=True)
class WeightedScore:
    """A post-stratified score in [0, 1]; all numbers None with ``refusal``, the errors None with one of ``warnings``.

    ``item_se`` is over problems, ``cluster_se`` over contests; ``low`` and ``high`` are a 95 % interval: Student's t on
    ``cluster_se`` with contests - 1 degrees of freedom, or Wilson's on the larger error with fewer than 8 contests or
    near 0 and 1; None for a single contest. ``n_outside`` problems with a result are in no stratum that has a weight.
    """

    strata: tuple[WeightedStratum, ...]
    n: int
    n_outside: int
    n_contests: int
    score: float | None = None
    item_se: float | None = None
    cluster_se: float | None = None
    n_eff: float | None = None
    low: float | None = None
    high: float | None = None
    warnings: tuple[str, ...] = ()
    refusal: str | None = None


def post_stratified(
    values: ArrayLike, clusters: ArrayLike, strata: ArrayLike, weights: Mapping[Code, float]
) -> WeightedScore:
    """The score of one model (``values``: one number in [0, 1] for each problem, NaN for no result) under ``weights``.

    ``strata`` has the stratum of each problem, a number or a name, ``clusters`` its contest. Weights need not add up to
    one; strata without a weight are left out. A weighted stratum with no result is a refusal, not a smaller sum.
    """
    codes = np.asarray(strata)
    members = {code: np.asarray(codes == code) for code in weights}
    return weighted_by_groups(values, clusters, members, weights)


def weighted_by_groups(
    values: ArrayLike, clusters: ArrayLike, members: Mapping[Code, ArrayLike], weights: Mapping[Code, float]
) -> WeightedScore:
    """The same for groups that may overlap, as tags do: ``members`` has a mask over problems for each code."""
    array, contests = np.asarray(values, dtype=np.float64), np.asarray(clusters)
    shares = _normalised(weights)
    masks = {code: np.asarray(members[code], dtype=bool) for code in shares}
    if array.ndim != 1 or any(row.shape != array.shape for row in (contests, *masks.values())):
        raise ValueError("values, clusters and groups need one entry for each problem")
    present = ~np.isnan(array)
    masks = {code: mask & present for code, mask in masks.items()}
    strata = tuple(_stratum(code, share, array[masks[code]]) for code, share in shares.items())
    used = np.any(list(masks.values()), axis=0)
    result = WeightedScore(
        strata=strata,
        n=int(used.sum()),
        n_outside=int((present & ~used).sum()),
        n_contests=len(np.unique(contests[used])),
        warnings=tuple(_warnings(strata)),
    )
    empty = [stratum for stratum in strata if not stratum.n]
    if empty:
        named = ", ".join(f"stratum {stratum.code} (weight {stratum.weight:.0%})" for stratum in empty)
        return replace(
            result, warnings=(), refusal=f"no score under these weights: no problem with a result in {named}"
        )
    return _with_numbers(result, array, contests, list(masks.values()))


def _normalised(weights: Mapping[Code, float]) -> dict[Code, float]:
    """Weights that add up to one; strata of weight zero are dropped."""
    if any(not math.isfinite(weight) or weight < 0 for weight in weights.values()):
        raise ValueError("weights must be finite and not negative")
    largest = max(weights.values(), default=0.0)
    if largest <= 0:
        raise ValueError("at least one weight must be above zero")
    # By the largest first: the sum of weights near the end of what a float holds has none.
    scaled = {code: weight / largest for code, weight in weights.items() if weight > 0}
    total = math.fsum(scaled.values())
    return {code: weight / total for code, weight in scaled.items()}


def _stratum(code: int | str, share: float, values: FloatArray) -> WeightedStratum:
    mean = float(values.mean()) if values.size else None
    se = float(values.std(ddof=1) / math.sqrt(values.size)) if values.size > 1 else None
    return WeightedStratum(code, share, values.size, mean, se)


def _warnings(strata: tuple[WeightedStratum, ...]) -> list[str]:
    thin = [
        f"stratum {stratum.code} has a weight of {stratum.weight:.0%} and {stratum.n} problems"
        for stratum in strata
        if stratum.weight > HEAVY_WEIGHT and stratum.n < MIN_PROBLEMS
    ]
    single = [
        f"no standard error: stratum {stratum.code} has one problem, which says nothing about its spread"
        for stratum in strata
        if stratum.n == 1
    ]
    return thin + single


def _with_numbers(
    result: WeightedScore, values: FloatArray, contests: NDArray[np.generic], masks: Sequence[BoolArray]
) -> WeightedScore:
    per_problem, residuals, by_item = np.zeros(values.size), np.zeros(values.size), np.zeros(values.size)
    score = 0.0
    for stratum, mask in zip(result.strata, masks, strict=True):
        mean = stratum.mean or 0.0
        each = stratum.weight / stratum.n
        score += stratum.weight * mean
        per_problem[mask] += each
        part = each * (values[mask] - mean)
        residuals[mask] += part
        # n/(n-1) inside each stratum: the sum of squares is then w^2 * sd^2 / n, as in the formula above.
        by_item[mask] += part * math.sqrt(stratum.n / max(1, stratum.n - 1))
    n_eff = 1.0 / float(np.square(per_problem).sum())
    result = replace(result, score=score, n_eff=n_eff)
    if any(stratum.n == 1 for stratum in result.strata):
        return result
    item_se = math.sqrt(float(np.square(by_item).sum()))
    return _with_interval(replace(result, item_se=item_se, cluster_se=_cluster_se(residuals, contests, masks)))


def _cluster_se(residuals: FloatArray, contests: NDArray[np.generic], masks: Sequence[BoolArray]) -> float | None:
    used = np.any(masks, axis=0)
    names, index = np.unique(contests[used], return_inverse=True)
    groups = len(names)
    if groups < 2:
        return None
    sums = np.bincount(index.reshape(-1), weights=residuals[used], minlength=groups)
    return math.sqrt(groups / (groups - 1) * float(np.square(sums).sum()))


def _with_interval(result: WeightedScore) -> WeightedScore:
    """The interval by the rules of ``eval.statistics.intervals``, with ``n_eff`` for the number of problems."""
    score, by_item, by_cluster = result.score or 0.0, result.item_se or 0.0, result.cluster_se
    n_eff, groups = result.n_eff or 0.0, result.n_contests
    if by_cluster is None:
        return replace(result, warnings=(*result.warnings, "no interval: all problems are of one contest"))
    if by_item == 0.0 and score in {0.0, 1.0}:
        # No spread to measure: the exact bound for none (or all) of n_eff trials.
        reach = 1 - 0.025 ** (1 / n_eff)
        return replace(result, low=0.0, high=reach) if score == 0.0 else replace(result, low=1 - reach, high=1.0)
    critical = t_quantile(groups - 1)
    clustered = groups >= MIN_CLUSTERS and by_cluster > 1e-9
    half = critical * by_cluster
    if clustered and EDGE <= score <= 1 - EDGE and half <= score <= 1 - half:
        return replace(result, low=score - half, high=score + half)
    se = by_cluster if clustered else max(by_item, by_cluster)
    # An error below what n_eff trials allow would claim too much.
    share = min(1.0, max(0.0, score))
    low, high = wilson(share, min(n_eff, effective_n(share, se)) if 0 < share < 1 else n_eff, critical)
    return replace(result, low=low, high=high)
