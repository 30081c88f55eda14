"""Sums of scores by side, stratum and contest: what means within strata need, and what a bootstrap by contest redraws.

A *side* is one of two sets of problems that are compared (two windows, two editions); a problem may be on both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eval.statistics.resampling import contest_numbers, contest_weights

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class StratumSums:
    """Numbers of results and sums of scores; the last two axes are side and stratum, the first is model or draw."""

    counts: FloatArray
    totals: FloatArray

    def merged(self, groups: FloatArray) -> StratumSums:
        """With strata put together: ``groups`` (strata x groups) has 1 where a stratum belongs to a group, else 0."""
        return StratumSums(self.counts @ groups, self.totals @ groups)

    def of(self, chosen: int | BoolArray) -> StratumSums:
        """Of one model, of some models, or of some draws: by the first axis."""
        return StratumSums(np.asarray(self.counts[chosen]), np.asarray(self.totals[chosen]))

    def complete(self) -> BoolArray:
        """Where no side of any stratum is empty."""
        return np.asarray((self.counts > 0).all(axis=(-2, -1)))

    def means(self) -> FloatArray:
        """Means in each side and stratum, NaN where there is nothing."""
        return _ratio(self.totals, self.counts)

    def weights(self) -> FloatArray:
        """The share of a side's results that a stratum holds; NaN for an empty side."""
        return _ratio(self.counts, np.broadcast_to(self.counts.sum(axis=-1, keepdims=True), self.counts.shape))


@dataclass(frozen=True)
class StratumCells:
    """The same by contest: the axes are model, side, stratum and contest."""

    counts: FloatArray
    totals: FloatArray

    def observed(self) -> StratumSums:
        """Over all contests: models x sides x strata."""
        return StratumSums(self.counts.sum(axis=-1), self.totals.sum(axis=-1))

    def redrawn(self, weights: FloatArray) -> StratumSums:
        """Over contests drawn anew (``weights``: draws x contests): models x draws x sides x strata."""
        return StratumSums(_redraw(weights, self.counts), _redraw(weights, self.totals))


@dataclass(frozen=True)
class StratifiedProblems:
    """Where problems belong: contest and stratum as indices, ``sides`` as masks (2 x problems).

    ``names`` are the caller's strata, ``coarse`` is a coarser key for each of them, if there is one.
    """

    contests: IntArray
    strata: IntArray
    names: tuple[str, ...]
    coarse: IntArray | None
    sides: BoolArray

    @staticmethod
    def of(
        n_problems: int, clusters: ArrayLike, strata: ArrayLike, sides: ArrayLike, coarser: ArrayLike | None = None
    ) -> StratifiedProblems:
        """From one entry for each problem (``sides``: two rows); ``ValueError`` where a shape is another."""
        keys, masks = np.asarray(strata), np.asarray(sides, dtype=bool)
        if keys.shape != (n_problems,) or masks.shape != (2, n_problems):
            raise ValueError(f"{n_problems} problems, but strata of shape {keys.shape} and sides of {masks.shape}")
        names, index = np.unique(keys, return_inverse=True)
        places = np.asarray(index.reshape(-1), dtype=np.int64)
        coarse = None if coarser is None else _coarse_of_strata(np.asarray(coarser), places, len(names))
        return StratifiedProblems(contest_numbers(clusters, n_problems), places, tuple(map(str, names)), coarse, masks)

    @property
    def n_contests(self) -> int:
        """The number of contests, those outside both sides included."""
        return int(self.contests.max(initial=-1)) + 1

    def cells(self, scores: FloatArray) -> StratumCells:
        """Of scores (models x problems), NaN where there is no result."""
        shape = (len(scores), 2, len(self.names), self.n_contests)
        counts, totals = np.zeros(shape), np.zeros(shape)
        place = self.strata * self.n_contests + self.contests
        size = len(self.names) * self.n_contests
        for model, row in enumerate(scores):
            for side in range(2):
                chosen = self.sides[side] & ~np.isnan(row)
                counts[model, side] = np.bincount(place[chosen], minlength=size).reshape(shape[2:])
                totals[model, side] = np.bincount(place[chosen], row[chosen], size).reshape(shape[2:])
        return StratumCells(counts, totals)

    def redrawn_contests(self, draws: int, rng: np.random.Generator) -> FloatArray:
        """How often each contest is drawn (draws x contests), resampled within the first side, the second and both."""
        on_side = np.zeros((2, self.n_contests), dtype=bool)
        for side in range(2):
            on_side[side, self.contests[self.sides[side]]] = True
        weights = np.zeros((draws, self.n_contests))
        for members in (on_side[0] & ~on_side[1], on_side[1] & ~on_side[0], on_side[0] & on_side[1]):
            size = int(members.sum())
            if size:
                weights[:, members] = contest_weights(size, draws, rng)
        return weights


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    return np.asarray(np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0))


def _coarse_of_strata(coarser: NDArray[np.generic], strata: IntArray, size: int) -> IntArray:
    if coarser.shape != strata.shape:
        raise ValueError(f"a coarser key of shape {coarser.shape} for {strata.size} problems")
    keys = np.unique(coarser, return_inverse=True)[1].reshape(strata.shape)
    found = np.zeros(size, dtype=np.int64)
    found[strata] = keys
    if (found[strata] != keys).any():
        raise ValueError("a stratum lies in two groups of the coarser key")
    return found


def _redraw(weights: FloatArray, cells: FloatArray) -> FloatArray:
    """Models x draws x sides x strata."""
    models, sides, strata, contests = cells.shape
    flat = cells.reshape(models, sides * strata, contests) @ weights.T
    return np.moveaxis(flat, -1, 1).reshape(models, len(weights), sides, strata)
