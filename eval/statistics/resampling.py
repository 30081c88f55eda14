"""The bootstrap by contest: contests are drawn with replacement and keep their problems.

For means it is a matrix product: the sums of each contest times how often it was drawn (``contest_totals``,
``contest_weights``, ``resampled_means``). For anything that is not a mean (abilities, ranks, a decomposition),
``bootstrap`` builds each resampled matrix of scores and hands it to a function.

Source: Davison and Hinkley 1997, "Bootstrap Methods and their Application", sections 2.4 and 3.8.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eval.statistics.intervals import MIN_CLUSTERS

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Statistic = Callable[[FloatArray, IntArray], ArrayLike]

_CHUNK_CELLS = 4_000_000


@dataclass(frozen=True)
class ContestTotals:
    """What a mean needs of each contest. Both arrays are models x contests.

    ``sums`` adds up the scores that a model has in a contest, ``counts`` says how many those are (missing cells are in
    neither). Contests are in the order of their numbers.
    """

    sums: FloatArray
    counts: FloatArray


@dataclass(frozen=True)
class Bootstrap:
    """A statistic under resampling.

    ``estimate`` is the statistic of the data themselves; ``draws`` (draws x its shape) has only the draws in which
    every part of it was finite, ``n_failed`` counts the others. ``unit`` is what was drawn: "contest", or "problem"
    where there are fewer than 8 contests. With a ``refusal``, a sentence, there is no estimate and no draw.
    """

    estimate: FloatArray | None
    draws: FloatArray
    n_failed: int
    unit: str
    refusal: str | None = None

    def se(self) -> FloatArray | None:
        """The standard deviation over draws; None for fewer than two."""
        return np.asarray(self.draws.std(axis=0, ddof=1)) if len(self.draws) > 1 else None

    def interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray] | None:
        """The percentile interval, lower and upper ends; None for fewer than two draws."""
        if len(self.draws) < 2:
            return None
        low, high = np.quantile(self.draws, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return np.asarray(low), np.asarray(high)


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


def bootstrap(
    n: ArrayLike,
    c: ArrayLike,
    clusters: ArrayLike,
    statistic: Statistic,
    rng: np.random.Generator,
    *,
    draws: int = 2000,
    samples_too: bool = True,
) -> Bootstrap:
    """The hierarchical bootstrap of any statistic: contests are drawn, then the samples of each problem in them.

    ``n`` and ``c`` (models x problems) count the samples and the correct ones; 0 samples: no result. ``statistic``
    gets a matrix of scores (models x problems drawn, NaN where there is no result) and the index of the problem in each
    column, and returns numbers of one shape, NaN or infinite where it has none for this draw.

    Of the n samples of a problem n - 1 are drawn: that is the correction n/(n-1) of the variance within a problem, and
    keeps scores in [0, 1]. One sample is not resampled. Drawing contests alone already holds the noise of the samples;
    drawing those too adds it once more, which errs on the wide side: by the share of the variance that samples have,
    1-3 % at low temperature. ``samples_too=False`` leaves it out.

    Fewer than 8 contests: problems are drawn one by one; fewer than 2: refused.
    """
    samples, correct = _checked_counts(n, c)
    numbers = contest_numbers(clusters, samples.shape[1])
    n_contests = int(numbers.max()) + 1 if numbers.size else 0
    if n_contests < 2:
        return Bootstrap(None, np.empty((0,)), 0, "contest", f"needs at least 2 contests, there are {n_contests}")
    unit = "contest" if n_contests >= MIN_CLUSTERS else "problem"
    order, starts = contest_slices(numbers if unit == "contest" else np.arange(len(numbers)))
    members = np.split(order, starts[1:])
    scores = np.full(samples.shape, np.nan)
    np.divide(correct, samples, out=scores, where=samples > 0)
    estimate = np.asarray(statistic(scores.copy(), np.arange(len(numbers))), dtype=np.float64)
    kept = []
    for _ in range(draws):
        chosen = rng.integers(0, len(members), len(members))
        problems = np.concatenate([members[place] for place in chosen])
        drawn = (
            _resampled_scores(scores[:, problems], samples[:, problems], rng) if samples_too else scores[:, problems]
        )
        value = np.asarray(statistic(drawn, problems), dtype=np.float64)
        if value.shape != estimate.shape:
            raise ValueError(f"the statistic has shape {value.shape} for a draw and {estimate.shape} for the data")
        if np.isfinite(value).all():
            kept.append(value)
    return Bootstrap(estimate, np.array(kept).reshape(-1, *estimate.shape), draws - len(kept), unit)


def _resampled_scores(scores: FloatArray, samples: IntArray, rng: np.random.Generator) -> FloatArray:
    """Scores of n - 1 samples drawn from the n of each cell; cells with one sample or none stay as they are."""
    several = samples > 1
    drawn = scores.copy()
    trials = samples[several] - 1
    drawn[several] = rng.binomial(trials, scores[several]) / trials
    return drawn


def _checked_counts(n: ArrayLike, c: ArrayLike) -> tuple[IntArray, IntArray]:
    samples, correct = np.asarray(n, dtype=np.int64), np.asarray(c, dtype=np.int64)
    if samples.ndim != 2 or samples.shape != correct.shape:
        raise ValueError(f"n and c are models x problems, not of shapes {samples.shape} and {correct.shape}")
    if (correct < 0).any() or (correct > samples).any():
        raise ValueError("the number correct must lie between 0 and the number of samples")
    return samples, correct


def _chunks(n_rows: int, n_columns: int) -> list[slice]:
    """Slices of rows with about four million cells each: 32 MB as float64."""
    step = max(1, _CHUNK_CELLS // max(1, n_columns))
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]
