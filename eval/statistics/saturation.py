"""Scores on a saturated set beside scores on a fresh one: a gap for each model, and how far the sets can be trusted.

The gap of one model says little: the fresh set may only be harder, and a weak model cannot fall as far as a strong one.
What speaks is a gap beyond that of other models (``beyond_peers``); a fresh score below that of models with the same
saturated score (``below_line``); and an order of models that one set gives and the other does not (``rho``). Near the
top of a set differences are squeezed: where models are above 90 %, a table says so, likewise below 5 %.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eval.statistics.correlation import MIN_MODELS, spearman
from eval.statistics.intervals import MIN_CLUSTERS, cluster_se, item_se, t_quantile

FloatArray = NDArray[np.float64]

CEILING, FLOOR = 0.9, 0.05
MIN_PROBLEMS = 10
MIN_PEERS = 3


@dataclass(frozen=True)
class SetScores:
    """The models' scores on one set of problems: one entry for each model, NaN where it has none.

    ``means`` in [0, 1]; ``errors`` are standard errors (NaN: not known) with ``degrees`` of freedom; ``counts`` are
    numbers of problems. Make one with ``measured`` or ``published``.
    """

    means: FloatArray
    errors: FloatArray
    degrees: FloatArray
    counts: FloatArray


@dataclass(frozen=True)
class SetGap:
    """One model: its scores on the saturated and on the fresh set, in [0, 1], and the first less the second.

    ``low`` and ``high`` are a 95 % interval of the gap, cut at -1 and 1 (None where an error is not known).
    ``beyond_peers`` is the gap less the median gap of the other models, None with fewer than three of them.
    ``below_line`` is the fresh score that a straight line through the log-odds of the other models leads one to expect,
    less the observed one; None with fewer than ten others. All None with ``refusal``.
    """

    saturated: float | None = None
    fresh: float | None = None
    gap: float | None = None
    se: float | None = None
    low: float | None = None
    high: float | None = None
    beyond_peers: float | None = None
    below_line: float | None = None
    refusal: str | None = None


@dataclass(frozen=True)
class GapTable:
    """The rows are in the order of the models.

    ``ceiling_*`` is the share of the models with a score on 10 problems that are above 90 %, ``floor_*`` of those below
    5 % (None: no model). ``rho`` is Spearman's over the models with a gap, None with fewer than ten.
    """

    rows: tuple[SetGap, ...]
    ceiling_saturated: float | None
    ceiling_fresh: float | None
    floor_saturated: float | None
    floor_fresh: float | None
    rho: float | None


def measured(scores: ArrayLike, clusters: ArrayLike) -> SetScores:
    """From results for each problem: ``scores`` is models x problems, NaN for no result, ``clusters`` their contests.

    The error is over contests; over problems, if that is larger, with fewer than 8 contests. A set without contests has
    one number for each problem as its clusters.
    """
    matrix, contests = np.asarray(scores, dtype=np.float64), np.asarray(clusters)
    if matrix.ndim != 2 or contests.shape != matrix.shape[1:]:
        raise ValueError(f"{contests.shape} clusters for scores of shape {matrix.shape}")
    rows = [_summary(row[~np.isnan(row)], contests[~np.isnan(row)]) for row in matrix]
    return SetScores(*np.array(rows, dtype=np.float64).reshape(-1, 4).T)


def published(shares: ArrayLike, n: ArrayLike) -> SetScores:
    """From a table of shares in [0, 1] over ``n`` problems each, with one answer to each problem.

    Then the variance over problems is p(1-p) and the error sqrt(p(1-p)/(n-1)). NaN where a model has no score.
    """
    means = np.atleast_1d(np.asarray(shares, dtype=np.float64))
    known = ~np.isnan(means)
    counts = np.broadcast_to(np.asarray(n, dtype=np.float64), means.shape)
    if ((means[known] < 0) | (means[known] > 1)).any() or (counts[known] < 1).any():
        raise ValueError("shares lie in [0, 1] and need a positive number of problems")
    errors = np.full(means.shape, np.nan)
    several = known & (counts > 1)
    errors[several] = np.sqrt(means[several] * (1 - means[several]) / (counts[several] - 1))
    return SetScores(means, errors, np.maximum(counts - 1, 1), np.where(known, counts, 0.0))


def _summary(values: FloatArray, contests: NDArray[np.generic]) -> tuple[float, float, float, float]:
    """Mean, error, degrees of freedom and number of problems."""
    by_item = item_se(values)
    if by_item is None:
        return (float(values[0]) if values.size else math.nan), math.nan, 1.0, float(values.size)
    by_cluster, groups = cluster_se(values, contests.tolist()), len(np.unique(contests))
    if by_cluster is None:
        return float(values.mean()), math.nan, 1.0, float(values.size)
    se = by_cluster if groups >= MIN_CLUSTERS else max(by_item, by_cluster)
    return float(values.mean()), se, float(groups - 1), float(values.size)


def gap_table(saturated: SetScores, fresh: SetScores) -> GapTable:
    """The gaps of the same models, in the same order, between two sets that share no problem."""
    if saturated.means.shape != fresh.means.shape:
        raise ValueError(f"{saturated.means.size} models on one set, {fresh.means.size} on the other")
    rows = [_row(saturated, fresh, place) for place in range(saturated.means.size)]
    gaps = np.array([math.nan if row.gap is None else row.gap for row in rows])
    known = ~np.isnan(gaps)
    odds = [_log_odds(scores, known) for scores in (saturated, fresh)]
    rows = [
        replace(row, beyond_peers=_beyond_peers(gaps, place), below_line=_below_line(odds, row, place))
        for place, row in enumerate(rows)
    ]
    enough = int(known.sum()) >= MIN_MODELS
    return GapTable(
        tuple(rows),
        _share(above_ceiling(saturated), saturated),
        _share(above_ceiling(fresh), fresh),
        _share(below_floor(saturated), saturated),
        _share(below_floor(fresh), fresh),
        spearman(saturated.means[known], fresh.means[known]) if enough else None,
    )


def _row(saturated: SetScores, fresh: SetScores, place: int) -> SetGap:
    counts = [int(scores.counts[place]) for scores in (saturated, fresh)]
    if min(counts) < MIN_PROBLEMS:
        there = f"there are {counts[0]} in the saturated and {counts[1]} in the fresh one"
        return SetGap(refusal=f"needs a result on at least {MIN_PROBLEMS} problems of each set, {there}")
    first, second = float(saturated.means[place]), float(fresh.means[place])
    row = SetGap(first, second, first - second)
    variances = [float(scores.errors[place]) ** 2 for scores in (saturated, fresh)]
    se = math.sqrt(sum(variances))
    if math.isnan(se) or se == 0.0:
        return row
    half = se * t_quantile(_degrees(variances, [float(scores.degrees[place]) for scores in (saturated, fresh)]))
    return replace(row, se=se, low=max(-1.0, first - second - half), high=min(1.0, first - second + half))


def _degrees(variances: list[float], degrees: list[float]) -> float:
    """Welch's and Satterthwaite's degrees of freedom of a difference (Satterthwaite 1946)."""
    return sum(variances) ** 2 / sum(variance**2 / df for variance, df in zip(variances, degrees, strict=True))


def _beyond_peers(gaps: FloatArray, place: int) -> float | None:
    others = np.delete(gaps, place)
    others = others[~np.isnan(others)]
    if math.isnan(gaps[place]) or others.size < MIN_PEERS:
        return None
    return float(gaps[place] - np.median(others))


def _log_odds(scores: SetScores, known: NDArray[np.bool_]) -> FloatArray:
    """Log-odds of the means, half a problem added to right and wrong; NaN for a model without a gap."""
    right = np.where(known, scores.means * scores.counts, np.nan)
    return np.asarray(np.log(right + 0.5) - np.log(scores.counts - right + 0.5), dtype=np.float64)


def _below_line(odds: list[FloatArray], row: SetGap, place: int) -> float | None:
    others = ~np.isnan(odds[0])
    others[place] = False
    if row.fresh is None or int(others.sum()) < MIN_MODELS:
        return None
    x, y = odds[0][others], odds[1][others]
    spread = float(np.square(x - x.mean()).sum())
    if spread == 0.0:
        return None
    slope = float(((x - x.mean()) * (y - y.mean())).sum()) / spread
    expected = 1 / (1 + math.exp(-(float(y.mean()) + slope * (float(odds[0][place]) - float(x.mean())))))
    return expected - row.fresh


def has_rate(scores: SetScores) -> NDArray[np.bool_]:
    """Which models have a score on enough problems for a rate: 10."""
    return np.asarray(~np.isnan(scores.means) & (scores.counts >= MIN_PROBLEMS))


def above_ceiling(scores: SetScores) -> NDArray[np.bool_]:
    """Which models are above 90 %, on 10 problems or more."""
    return np.asarray(has_rate(scores) & (scores.means > CEILING))


def below_floor(scores: SetScores) -> NDArray[np.bool_]:
    """Which models are below 5 %, on 10 problems or more."""
    return np.asarray(has_rate(scores) & (scores.means < FLOOR))


def _share(chosen: NDArray[np.bool_], scores: SetScores) -> float | None:
    known = has_rate(scores)
    return float(chosen[known].mean()) if known.any() else None
