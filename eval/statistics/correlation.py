"""Does memorisation explain the gap? Measures of memorisation set against gaps over models, and what goes with them.

Zhang et al. 2024, "A careful examination of large language model performance on grade school arithmetic" (GSM1k): the
rank correlation over models between the log-likelihood of the test set per character and the gap between old and new
problems; a two-proportion Z for each gap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eval.statistics.intervals import t_p_value
from eval.statistics.multiplicity import benjamini_hochberg, holm

FloatArray = NDArray[np.float64]

MIN_MODELS = 10


@dataclass(frozen=True)
class RankCorrelation:
    """Spearman's rho over ``n`` models, in [-1, 1]; all numbers None with ``refusal``.

    ``p`` is two-sided; ``low`` and ``high`` are a 95 % percentile interval with models resampled; ``without_low`` and
    ``without_high`` are the least and greatest rho when one model is left out, and the models (places) that do it.
    """

    n: int
    rho: float | None = None
    p: float | None = None
    low: float | None = None
    high: float | None = None
    without_low: tuple[int, float] | None = None
    without_high: tuple[int, float] | None = None
    refusal: str | None = None


@dataclass(frozen=True)
class ProportionGap:
    """A difference of two shares, first less second, in [-1, 1], and the one-sided test that it is above zero.

    ``p_holm`` and ``p_bh`` are adjusted for all ``n_tests``. All but the gap and that number are None where every
    answer of both sets is right, or every one wrong.
    """

    gap: float
    n_tests: int
    z: float | None = None
    p: float | None = None
    p_holm: float | None = None
    p_bh: float | None = None


def rank_correlation(
    measure: ArrayLike, gaps: ArrayLike, rng: np.random.Generator, draws: int = 2000
) -> RankCorrelation:
    """Spearman's rho between a memorisation measure and the gap, one number of each for each model; NaN is left out.

    p is that of t = rho * sqrt((n-2) / (1-rho^2)) with n-2 degrees of freedom; where the orders are the same, or one is
    the other turned round, that of these two of n! orders. Fewer than 10 models are refused: show the points. The
    places in ``without_low`` and ``without_high`` count models as given, missing ones included.
    """
    first, second = np.asarray(measure, dtype=np.float64), np.asarray(gaps, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(f"a measure of shape {first.shape} against gaps of shape {second.shape}")
    places = np.flatnonzero(np.isfinite(first) & np.isfinite(second))
    first, second, n = first[places], second[places], places.size
    if n < MIN_MODELS:
        sentence = f"needs at least {MIN_MODELS} models with a measure and a gap, there are {n}: look at the points"
        return RankCorrelation(n, refusal=sentence)
    rho = spearman(first, second)
    if rho is None:
        return RankCorrelation(n, refusal="the measure or the gap is the same for all models: nothing to correlate")
    without = [(int(places[left]), spearman(np.delete(first, left), np.delete(second, left))) for left in range(n)]
    known = [(place, value) for place, value in without if value is not None]
    samples = rng.integers(0, n, size=(draws, n))
    redrawn = [spearman(first[row], second[row]) for row in samples]
    low, high = np.percentile([value for value in redrawn if value is not None], [2.5, 97.5])
    return RankCorrelation(
        n,
        rho,
        _p_value(rho, n),
        float(low),
        float(high),
        min(known, key=lambda entry: entry[1], default=None),
        max(known, key=lambda entry: entry[1], default=None),
    )


def spearman(first: ArrayLike, second: ArrayLike) -> float | None:
    """Pearson's correlation of the ranks, ties sharing their mean rank; None where one side does not vary."""
    ranks = [mean_ranks(values) for values in (first, second)]
    centred = [row - row.mean() if row.size else row for row in ranks]
    scale = math.sqrt(math.prod(float(np.square(row).sum()) for row in centred))
    if scale == 0:
        return None
    return float(np.clip((centred[0] * centred[1]).sum() / scale, -1.0, 1.0))


def mean_ranks(values: ArrayLike) -> FloatArray:
    """Ranks from 1 for the least; equal values share the mean of their ranks."""
    _, index, counts = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[index.reshape(-1)], dtype=np.float64)


def _p_value(rho: float, n: int) -> float:
    # No t stands for a perfect order, and its p is not 0.
    return 2 / math.factorial(n) if abs(rho) >= 1 else t_p_value(rho * math.sqrt((n - 2) / (1 - rho * rho)), n - 2)


def proportion_gaps(
    first: ArrayLike, n_first: ArrayLike, second: ArrayLike, n_second: ArrayLike
) -> tuple[ProportionGap, ...]:
    """The gap of each model between two sets of single answers, each with the share right and the number of answers.

    z = (p1 - p2) / sqrt(p (1 - p) (1/n1 + 1/n2)), p pooled over both sets: it takes problems as independent. Numbers of
    answers may be given once for all models. Source: GSM1k, appendix F (n = 1,319 and 1,205).
    """
    shares = [np.atleast_1d(np.asarray(share, dtype=np.float64)) for share in (first, second)]
    sizes = [np.broadcast_to(np.asarray(size, dtype=np.float64), shares[0].shape) for size in (n_first, n_second)]
    if any(((share < 0) | (share > 1)).any() for share in shares) or any((size <= 0).any() for size in sizes):
        raise ValueError("shares lie in [0, 1] and need a positive number of answers")
    pooled = (shares[0] * sizes[0] + shares[1] * sizes[1]) / (sizes[0] + sizes[1])
    variance = pooled * (1 - pooled) * (1 / sizes[0] + 1 / sizes[1])
    known = np.flatnonzero(variance > 0)
    z = (shares[0] - shares[1])[known] / np.sqrt(variance[known])
    p = _upper_tail(z)
    tests = zip(known.tolist(), z, p, holm(p), benjamini_hochberg(p), strict=True)
    tested = {place: tuple(float(number) for number in numbers) for place, *numbers in tests}
    gaps = [float(gap) for gap in shares[0] - shares[1]]
    return tuple(ProportionGap(gap, len(known), *tested.get(place, ())) for place, gap in enumerate(gaps))


def _upper_tail(z: ArrayLike) -> FloatArray:
    """The chance of a greater normal number."""
    from scipy.special import ndtr  # type: ignore[import-untyped]

    return np.asarray(ndtr(-np.asarray(z, dtype=np.float64)), dtype=np.float64)
