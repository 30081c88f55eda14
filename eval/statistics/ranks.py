"""Which ranks the evidence allows each model: confidence sets for ranks, and who may be first.

Every pair of models is compared on the problems that both have, and the differences are tested together, with the joint
distribution that comes of drawing contests. A model's rank lies between one more than the number of models shown to be
better, and the number of models less those shown to be worse.

marginal      holds for one model looked at on its own, with 95 %: for a table
simultaneous  holds for all models at once, with 95 %: for "who is first" and for tiers

Source: Mogstad, Romano, Shaikh, Wilhelm 2024, "Inference for Ranks with Applications to Mobility across Neighbourhoods
and Academic Achievement across Countries", Review of Economic Studies 91(1), sections 3.1 to 3.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eval.statistics.intervals import FEW_CLUSTERS, MIN_CLUSTERS, Z95
from eval.statistics.resampling import contest_numbers, contest_slices, contest_weights

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Deviations = NDArray[np.float32]

MIN_MODELS = 5
MIN_COMMON = 30
MIN_DRAWS = 100
_ZERO = 1e-9
_ROUNDING = 1e-12
_SIGN_TEST = 0.005
_PRODUCT_ROWS = 1000


@dataclass(frozen=True)
class RankSet:
    """The ranks that one model may have, 1 for the best; both ends are meant in.

    ``tier`` is 1 for a model that no other is shown to beat, all models at once (so it may be first); else 1 more than
    the worst tier of those shown to beat it. ``n_better`` and ``n_worse`` models are shown to be above and below it,
    likewise at once; ``n_compared`` are those that it could be compared with.
    """

    low: int
    high: int
    simultaneous_low: int
    simultaneous_high: int
    tier: int
    n_better: int
    n_worse: int
    n_compared: int


@dataclass(frozen=True)
class RankSets:
    """Rank sets of all models, in the order of the rows of the scores.

    ``sets`` has None for a model that could not be compared with any other; it counts as a model in the ranks of the
    others. ``may_be_first`` are the rows in tier 1. ``n_tests`` pairs were tested together (two-sided), and in the
    marginal sets those of each model. No evidence came from ``n_too_few`` pairs with fewer than 30 common problems (or
    fewer than 8 common contests, where contests are drawn) and ``n_no_spread`` pairs that are equal on every problem.
    ``beats[j, k]``: j is shown to be better than k, all pairs at once. ``unit`` is what was drawn: "contest", or
    "problem" where there are fewer than 8 contests. With a ``refusal``, a sentence, there are no sets.
    """

    sets: tuple[RankSet | None, ...]
    may_be_first: tuple[int, ...]
    n_tests: int
    n_too_few: int
    n_no_spread: int
    n_contests: int
    draws: int
    unit: str
    beats: BoolArray
    refusal: str | None = None


@dataclass(frozen=True)
class _Pairs:
    """The pairs that can be tested: two models each, t statistics (positive: ``first`` is better), deviations.

    ``deviations`` (pairs x draws) are the absolute deviations of the resampled from the measured difference, in s.e.
    """

    first: IntArray
    second: IntArray
    t: FloatArray
    deviations: Deviations
    n_too_few: int
    n_no_spread: int


@dataclass(frozen=True)
class _Board:
    """Scores with the problems of a unit side by side, 0 where there is none, and what to draw.

    ``starts`` are the first problems of the units drawn, ``contest_starts`` those of the contests.
    """

    filled: FloatArray
    present: BoolArray
    starts: IntArray
    contest_starts: IntArray
    weights: Deviations


def rank_sets(
    scores: ArrayLike, clusters: ArrayLike, rng: np.random.Generator, *, draws: int = 2000, level: float = 0.95
) -> RankSets:
    """Rank sets from ``scores`` (models x problems in [0, 1], NaN where there is no result) and contest numbers.

    Contests are drawn ``draws`` times, and all pairs see the same draws; it needs 4 bytes for each pair and draw. A
    pair with fewer than 30 common contests has to be as much further apart as Student's t asks for. Fewer than 8
    contests in all: problems are drawn, and errors are the larger of both. With 2,000 draws another seed moves a few
    ends by a rank, seldom by more. Refused: fewer than 5 models, fewer than 2 contests, or no pair with 30 common
    problems.
    """
    matrix, numbers = _checked(scores, clusters, draws, level)
    n_models, n_problems = matrix.shape
    n_contests = int(numbers.max()) + 1 if n_problems else 0
    unit = "contest" if n_contests >= MIN_CLUSTERS else "problem"
    refusal = _refusal(n_models, n_problems, n_contests)
    if refusal is None:
        pairs = _tested_pairs(_board(matrix, numbers, unit, draws, rng))
        if len(pairs.t):
            return _sets(pairs, n_models, n_contests, unit, level)
        refusal = (
            f"no two models can be compared: {pairs.n_too_few} pairs have fewer than {MIN_COMMON} common problems or "
            f"{MIN_CLUSTERS} common contests, {pairs.n_no_spread} are equal on every problem"
        )
    nobody = np.zeros((n_models, n_models), dtype=np.bool_)
    return RankSets((None,) * n_models, (), 0, 0, 0, n_contests, draws, unit, nobody, refusal)


def _checked(scores: ArrayLike, clusters: ArrayLike, draws: int, level: float) -> tuple[FloatArray, IntArray]:
    matrix = np.asarray(scores, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"scores are models x problems, not of shape {matrix.shape}")
    if ((matrix < 0) | (matrix > 1)).any():
        raise ValueError("scores lie between 0 and 1")
    if draws < MIN_DRAWS or not 0.5 <= level < 1:
        raise ValueError(f"rank sets need {MIN_DRAWS} draws or more and a level from 0.5 to 1, not {draws} and {level}")
    return matrix, contest_numbers(clusters, matrix.shape[1])


def _refusal(n_models: int, n_problems: int, n_contests: int) -> str | None:
    if n_models < MIN_MODELS:
        return f"ranks need at least {MIN_MODELS} models, there are {n_models}"
    if n_problems < MIN_COMMON:
        return f"ranks need at least {MIN_COMMON} common problems, there are {n_problems}"
    if n_contests < 2:
        return "ranks need problems of at least 2 contests, all are of one"
    return None


def _board(matrix: FloatArray, numbers: IntArray, unit: str, draws: int, rng: np.random.Generator) -> _Board:
    order, contest_starts = contest_slices(numbers)
    starts = contest_starts if unit == "contest" else np.arange(len(numbers))
    ordered = matrix[:, order]
    present = ~np.isnan(ordered)
    return _Board(
        np.where(present, ordered, 0.0), present, starts, contest_starts, contest_weights(len(starts), draws, rng)
    )


def _tested_pairs(board: _Board) -> _Pairs:
    """Every pair with evidence: one model against all after it at a time, some models to a matrix product."""
    n_models, draws = len(board.filled), len(board.weights)
    t = np.empty(n_models * (n_models - 1) // 2)
    first, second = np.empty(len(t), dtype=np.int64), np.empty(len(t), dtype=np.int64)
    deviations = np.empty((len(t), draws), dtype=np.float32)
    n, n_too_few, n_no_spread = 0, 0, 0
    waiting: list[Deviations] = []
    for model in range(n_models - 1):
        found = _against_later(board, model, len(t))
        rows = slice(n, n + len(found.t))
        first[rows], second[rows], t[rows] = found.first, found.second, found.t
        n, n_too_few, n_no_spread = rows.stop, n_too_few + found.n_too_few, n_no_spread + found.n_no_spread
        waiting.append(found.deviations)
        n_waiting = sum(map(len, waiting))
        if n_waiting >= _PRODUCT_ROWS or model == n_models - 2:
            np.matmul(np.concatenate(waiting), board.weights.T, out=deviations[n - n_waiting : n])
            waiting.clear()
    np.abs(deviations[:n], out=deviations[:n])
    return _Pairs(first[:n], second[:n], t[:n], deviations[:n], n_too_few, n_no_spread)


def _against_later(board: _Board, model: int, n_pairs: int) -> _Pairs:
    """The pairs of a model with every later one; ``deviations`` (pairs x units) is what a unit drawn once more adds.

    The mean of a draw is taken as linear in the weights, d + sum over units of weight * residual sum / n, which is what
    the clustered standard error does too; so a unit without a common problem is no trouble.
    """
    common = board.present[model] & board.present[model + 1 :]
    differences = (board.filled[model] - board.filled[model + 1 :]) * common
    n = common.sum(axis=1)
    mean = differences.sum(axis=1) / np.maximum(n, 1)
    residuals, units = _residual_sums(common, differences, mean, board.starts)
    by_contest, contests = residuals, units
    if len(board.starts) > len(board.contest_starts):
        by_contest, contests = _residual_sums(common, differences, mean, board.contest_starts)
    enough = (n >= MIN_COMMON) & (units >= MIN_CLUSTERS) & (contests >= 2)
    n, units, contests, mean = n[enough], units[enough], contests[enough], mean[enough]
    se = _clustered_se(residuals[enough], units, n)
    # Residuals that cancel within every unit: a clustered s.e. of zero would claim certainty.
    squares = np.square(differences[enough]).sum(axis=1) - n * np.square(mean)
    se = np.where(se > _ZERO, se, np.sqrt(np.where(squares > _ROUNDING * n, squares, 0.0) / (n - 1) / n))
    larger = np.maximum(se, _clustered_se(by_contest[enough], contests, n))
    # The same difference on every problem cannot be studentised: a sign test over units, for all pairs, decides.
    certain = (se <= _ZERO) & (np.abs(mean) > _ZERO) & (2.0 ** (1.0 - units) * n_pairs <= _SIGN_TEST)
    t = np.where(certain, np.copysign(np.inf, mean), mean / np.maximum(larger, _ZERO) * _student_factor(contests))
    kept = (se > _ZERO) | certain
    return _Pairs(
        first=np.full(int(kept.sum()), model),
        second=np.arange(model + 1, len(board.filled))[enough][kept],
        t=t[kept],
        deviations=(residuals[enough][kept] / (n * np.maximum(se, _ZERO))[kept, None]).astype(np.float32),
        n_too_few=int((~enough).sum()),
        n_no_spread=int((~kept).sum()),
    )


def _student_factor(contests: IntArray) -> FloatArray:
    """What a t statistic of few contests is worth: the normal over Student's 97.5 % quantile below 30 contests."""
    from scipy.special import stdtrit  # type: ignore[import-untyped]

    return np.where(contests < FEW_CLUSTERS, Z95 / stdtrit(np.maximum(contests - 1, 1), 0.975), 1.0)


def _residual_sums(
    common: BoolArray, differences: FloatArray, mean: FloatArray, starts: IntArray
) -> tuple[FloatArray, IntArray]:
    """Sums over each unit of difference less mean (pairs x units), and in how many units a pair has problems."""
    counts = np.add.reduceat(common, starts, axis=1, dtype=np.float64)
    sums = np.add.reduceat(differences, starts, axis=1)
    return sums - mean[:, None] * counts, (counts > 0).sum(axis=1)


def _clustered_se(residuals: FloatArray, units: IntArray, n: IntArray) -> FloatArray:
    """As ``intervals.cluster_se``, for each pair; 0 for pairs of one unit."""
    factor = units / np.maximum(units - 1, 1)
    return np.asarray(np.sqrt(factor * np.square(residuals).sum(axis=1)) / n)


def _rejected(pairs: _Pairs, tested: IntArray, level: float) -> IntArray:
    """Which of the ``tested`` pairs differ. Step-down: those left are held against the largest deviation among them."""
    left = tested
    while len(left):
        critical = np.quantile(pairs.deviations[left].max(axis=0), level)
        found = np.abs(pairs.t[left]) > critical
        if not found.any():
            break
        left = left[~found]
    return np.setdiff1d(tested, left, assume_unique=True)


def _sets(pairs: _Pairs, n_models: int, n_contests: int, unit: str, level: float) -> RankSets:
    """Test all pairs at once, then those of each model alone, and count who is shown to be above and below."""
    beats = np.zeros((n_models, n_models), dtype=np.bool_)
    shown = _rejected(pairs, np.arange(len(pairs.t)), level)
    a, b, a_wins = pairs.first[shown], pairs.second[shown], pairs.t[shown] > 0
    beats[np.where(a_wins, a, b), np.where(a_wins, b, a)] = True
    tiers = _tiers(beats)
    sets = tuple(_rank_set(pairs, model, beats, int(tiers[model]), level) for model in range(n_models))
    return RankSets(
        sets=sets,
        may_be_first=tuple(place for place, one in enumerate(sets) if one is not None and one.tier == 1),
        n_tests=len(pairs.t),
        n_too_few=pairs.n_too_few,
        n_no_spread=pairs.n_no_spread,
        n_contests=n_contests,
        draws=pairs.deviations.shape[1],
        unit=unit,
        beats=beats,
    )


def _rank_set(pairs: _Pairs, model: int, beats: BoolArray, tier: int, level: float) -> RankSet | None:
    own = np.flatnonzero((pairs.first == model) | (pairs.second == model))
    if not len(own):
        return None
    shown = _rejected(pairs, own, level)
    wins = int(((pairs.first[shown] == model) == (pairs.t[shown] > 0)).sum())
    n_better, n_worse = int(beats[:, model].sum()), int(beats[model].sum())
    return RankSet(
        low=1 + len(shown) - wins,
        high=len(beats) - wins,
        simultaneous_low=1 + n_better,
        simultaneous_high=len(beats) - n_worse,
        tier=tier,
        n_better=n_better,
        n_worse=n_worse,
        n_compared=len(own),
    )


def _tiers(beats: BoolArray) -> IntArray:
    """Tier 1: beaten by nobody. Each next tier: beaten by nobody but members of the tiers above."""
    tiers = np.zeros(len(beats), dtype=np.int64)
    left = np.ones(len(beats), dtype=np.bool_)
    while left.any():
        unbeaten = left & ~beats[left].any(axis=0)
        # Pairs rest on different problems where cells are missing, so that wins may run in a circle: one tier then.
        members = unbeaten if unbeaten.any() else left
        tiers[members] = tiers.max() + 1
        left = left & ~members
    return tiers
