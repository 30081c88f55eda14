"""The bootstrap by contest: contests are drawn with replacement and keep their problems.

For means it is a matrix product: the sums of each contest times how often it was drawn (``contest_totals``,
``contest_weights``, ``resampled_means``). What is not a mean (ranks, the parts of a decomposition, abilities) is
computed anew for each draw of ``contest_weights``, where that is done.

The samples of a problem are not drawn besides. The score of a problem is itself a draw, so that the spread of scores
over problems and contests already holds the noise of the samples: var(c/n) = var(p) + E[p(1-p)]/n. To draw contests and
then samples (a hierarchical bootstrap) counts the second part twice.

Source: Davison and Hinkley 1997, "Bootstrap Methods and their Application", sections 2.4 and 3.8.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_CHUNK_CELLS = 4_000_000


@dataclass(frozen=True)
class ContestTotals:
    """What a mean needs of each contest. Both arrays are models x contests.

    ``sums`` adds up the scores that a model has in a contest, ``counts`` says how many those are (missing cells are in
    neither). Contests are in the order of their numbers.
    """

    sums: FloatArray
    counts: FloatArray


def contest_numbers(clusters: ArrayLike, n_problems: int) -> IntArray:
    """The contests of ``n_problems`` problems numbered 0, 1, 2... in the order of the numbers given."""
    array = np.asarray(clusters)
    if array.shape != (n_problems,):
        raise ValueError(f"clusters of shape {array.shape} for {n_problems} problems")
    return np.asarray(np.unique(array, return_inverse=True)[1], dtype=np.int64)


def contest_totals(scores: ArrayLike, clusters: ArrayLike) -> ContestTotals:
    """Sums and counts by contest of ``scores`` (models x problems, NaN where there is no result)."""
    matrix = np.asarray(scores, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"scores are models x problems, not of shape {matrix.shape}")
    if not matrix.size:
        return ContestTotals(np.zeros((len(matrix), 0)), np.zeros((len(matrix), 0)))
    present = ~np.isnan(matrix)
    order, starts = contest_slices(contest_numbers(clusters, matrix.shape[1]))
    filled = np.where(present, matrix, 0.0)[:, order]
    return ContestTotals(
        np.add.reduceat(filled, starts, axis=1),
        np.add.reduceat(present[:, order].astype(np.float64), starts, axis=1),
    )


def contest_slices(numbers: IntArray) -> tuple[IntArray, IntArray]:
    """The order that puts the problems of a contest side by side, and where each contest starts in it."""
    order = np.argsort(numbers, kind="stable")
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    return np.asarray(order, dtype=np.int64), np.asarray(starts, dtype=np.int64)


def contest_weights(n_contests: int, n_draws: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """How often each contest is drawn: draws x contests, every row adding up to ``n_contests``.

    The counts are whole numbers, held as floats of 4 bytes because they go into matrix products.
    """
    if n_contests < 1 or n_draws < 1:
        raise ValueError(f"nothing to draw: {n_draws} draws of {n_contests} contests")
    weights = np.empty((n_draws, n_contests), dtype=np.float32)
    for rows in _chunks(n_draws, n_contests):
        size = rows.stop - rows.start
        weights[rows] = rng.multinomial(n_contests, np.full(n_contests, 1 / n_contests), size=size)
    return weights


def resampled_means(totals: ContestTotals, weights: NDArray[np.float32]) -> FloatArray:
    """The mean of every model under every draw: draws x models.

    A mean is over the problems that the model has in the contests drawn; NaN where it has none of them.
    """
    n_draws, n_contests = weights.shape
    if totals.sums.shape[1] != n_contests:
        raise ValueError(f"weights for {n_contests} contests, totals of {totals.sums.shape[1]}")
    means = np.full((n_draws, len(totals.sums)), np.nan)
    for rows in _chunks(n_draws, n_contests):
        drawn = weights[rows].astype(np.float64)
        counts = drawn @ totals.counts.T
        np.divide(drawn @ totals.sums.T, counts, out=means[rows], where=counts > 0)
    return means


def _chunks(n_rows: int, n_columns: int) -> list[slice]:
    """Slices of rows with about four million cells each: 32 MB as float64."""
    step = max(1, _CHUNK_CELLS // max(1, n_columns))
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]
