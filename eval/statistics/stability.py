"""Does the order of models hold when something that should not matter is changed?

The panel sets one order of models beside others: with one contest left out, with the window a month longer or shorter,
under other weights, with the samples drawn anew, by another metric, and under other wordings of the prompt. Functions
make the orders; ``stability_panel`` says how far each model moves, under what, and how alike the orders are (Kendall's
tau). Wordings have to be run: no resampling stands in for them.

All orders are over problems on which every model has a result: a mean over other problems is no rank.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eval.statistics.resampling import contest_totals

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MIN_MODELS = 5
MIN_PROBLEMS = 30
SAME = 1e-9


class Perturbation(StrEnum):
    """What was changed."""

    CONTEST = "a contest left out"
    WINDOW = "another window"
    WEIGHTS = "other weights"
    SAMPLES = "samples drawn anew"
    METRIC = "another metric"
    PROMPT = "another wording of the prompt"


@dataclass(frozen=True)
class Ordering:
    """Scores of the models after one change, higher is better, NaN for a model that was not run so.

    ``label`` tells the changes of a kind apart: the contest left out, or the place in what the caller gave.
    """

    kind: Perturbation
    label: int
    scores: FloatArray


@dataclass(frozen=True)
class Move:
    """A model's change of rank (negative: up) and what caused it; ``model`` is its place in the base scores."""

    model: int
    kind: Perturbation
    label: int
    shift: int


@dataclass(frozen=True)
class RankRange:
    """Best and worst rank of a model (1 is first; equal scores share the better rank).

    Over all orders of a kind; for samples drawn anew the middle 95 % of the draws, as the extremes grow with their
    number. Where some models were not run, ranks are among the others and count as moves from the base rank.
    """

    best: int
    worst: int


@dataclass(frozen=True)
class ModelStability:
    """One model: its base rank, the range over everything and by kind, and what moves it most (None: nothing does)."""

    rank: int
    overall: RankRange
    by_kind: dict[Perturbation, RankRange]
    largest: Move | None


@dataclass(frozen=True)
class KindStability:
    """One kind of change: Kendall's tau-b with the base order over the ``n`` orders, and the model that moves most.

    ``tau_*`` are None where the base or every order ties all models.
    """

    kind: Perturbation
    n: int
    tau_lowest: float | None
    tau_median: float | None
    largest: Move | None


@dataclass(frozen=True)
class StabilityPanel:
    """``models`` in the order of the base scores; ``not_run`` are kinds without an order. Empty with ``refusal``."""

    models: tuple[ModelStability, ...] = ()
    kinds: tuple[KindStability, ...] = ()
    not_run: tuple[Perturbation, ...] = ()
    refusal: str | None = None


def common_problems(scores: ArrayLike) -> NDArray[np.bool_]:
    """The problems on which every model has a result."""
    return np.asarray(~np.isnan(_matrix(scores)).any(axis=0))


def contests_left_out(scores: ArrayLike, clusters: ArrayLike) -> list[Ordering]:
    """The mean scores without each contest in turn, labelled by its number; none with fewer than two contests."""
    matrix, common = _matrix(scores), common_problems(scores)
    numbers = np.asarray(clusters)[common]
    totals = contest_totals(matrix[:, common], numbers)
    names = np.unique(numbers)
    if len(names) < 2:
        return []
    sums = totals.sums.sum(axis=1, keepdims=True) - totals.sums
    counts = totals.counts.sum(axis=1, keepdims=True) - totals.counts
    means = (sums / counts).T
    return [Ordering(Perturbation.CONTEST, int(name), row) for name, row in zip(names, means, strict=True)]


def other_windows(scores: ArrayLike, windows: Sequence[ArrayLike]) -> list[Ordering]:
    """The mean scores in other windows, each a mask over problems; windows without a common problem are left out."""
    return _weighted(scores, [np.asarray(window, dtype=bool) for window in windows], Perturbation.WINDOW)


def other_weights(scores: ArrayLike, weights: Sequence[ArrayLike]) -> list[Ordering]:
    """The mean scores under other weights of the problems (one number of at least 0 for each problem, any scale)."""
    rows = [np.asarray(row, dtype=np.float64) for row in weights]
    if any((row < 0).any() or not np.isfinite(row).all() for row in rows):
        raise ValueError("weights must be finite and not negative")
    return _weighted(scores, rows, Perturbation.WEIGHTS)


def samples_drawn_anew(n: ArrayLike, c: ArrayLike, rng: np.random.Generator, draws: int = 200) -> list[Ordering]:
    """The mean scores with the samples of each problem resampled, from n samples (0: no result) and c correct ones.

    Of n samples n - 1 are drawn, which corrects the variance by n/(n-1). Nothing with one sample for each problem: then
    only another run shows what a seed does.
    """
    samples, correct = np.asarray(n, dtype=np.int64), np.asarray(c, dtype=np.int64)
    if samples.ndim != 2 or samples.shape != correct.shape or (correct < 0).any() or (correct > samples).any():
        raise ValueError("n and c are models x problems with 0 <= c <= n")
    common = (samples > 0).all(axis=0)
    samples, correct = samples[:, common], correct[:, common]
    several = samples > 1
    if not several.any():
        return []
    shares = correct / samples
    trials = np.maximum(samples - 1, 1)
    orders = []
    for draw in range(draws):
        drawn = np.where(several, rng.binomial(trials, shares) / trials, shares)
        orders.append(Ordering(Perturbation.SAMPLES, draw, drawn.mean(axis=1)))
    return orders


def other_scores(kind: Perturbation, matrices: Sequence[ArrayLike]) -> list[Ordering]:
    """The mean scores of other matrices (models x problems): another metric, or another wording of the prompt.

    A model without any result in a matrix was not run so; the means are over what all others have.
    """
    orders = []
    for label, scores in enumerate(matrices):
        matrix = _matrix(scores)
        run = ~np.isnan(matrix).all(axis=1)
        common = common_problems(matrix[run])
        if run.any() and common.any():
            means = np.full(len(matrix), np.nan)
            means[run] = matrix[run][:, common].mean(axis=1)
            orders.append(Ordering(kind, label, means))
    return orders


def log_odds(n: ArrayLike, c: ArrayLike) -> FloatArray:
    """The log-odds of solving each problem, log((c + 1/2) / (n - c + 1/2)): a metric that values the rare success.

    NaN for no sample. The half is Haldane's and Anscombe's correction (Anscombe 1956). Whether an order depends on the
    metric: Schaeffer et al. 2023, "Are emergent abilities of large language models a mirage?".
    """
    samples, correct = np.asarray(n, dtype=np.float64), np.asarray(c, dtype=np.float64)
    odds = np.log((correct + 0.5) / (samples - correct + 0.5))
    return np.asarray(np.where(samples > 0, odds, np.nan), dtype=np.float64)


def stability_panel(
    base: ArrayLike,
    n_problems: int,
    orders: Sequence[Ordering],
    min_models: int = MIN_MODELS,
    n_models: int | None = None,
) -> StabilityPanel:
    """How the orders differ from the order of ``base``, the mean scores of the models over ``n_problems`` problems.

    Refused with fewer than 30 problems or ``min_models`` models: that is no ranking. Where wordings were run with fewer
    models, the caller may lower the latter to see whether their order changes. ``n_models`` is how many models the
    scores are of, where some are those of several runs of one.
    """
    scores = np.asarray(base, dtype=np.float64)
    if scores.ndim != 1 or np.isnan(scores).any() or any(order.scores.shape != scores.shape for order in orders):
        raise ValueError("base and orders need one score for each model, the base without gaps")
    there = scores.size if n_models is None else n_models
    if there < min_models or n_problems < MIN_PROBLEMS:
        needed = f"needs at least {min_models} models and {MIN_PROBLEMS} problems that all of them have"
        return StabilityPanel(refusal=f"{needed}, there are {there} and {n_problems}")
    kinds = [kind for kind in Perturbation if any(order.kind is kind for order in orders)]
    moves = {kind: _moves(scores, [order for order in orders if order.kind is kind]) for kind in kinds}
    ranks = competition_ranks(scores)
    return StabilityPanel(
        tuple(_model(model, int(rank), moves) for model, rank in enumerate(ranks)),
        tuple(_kind(kind, scores, orders, moves[kind]) for kind in kinds),
        tuple(kind for kind in Perturbation if kind not in kinds),
    )


def competition_ranks(scores: ArrayLike) -> IntArray:
    """1 + the number of better scores; scores closer than 1e-9 are equal."""
    array = np.asarray(scores, dtype=np.float64)
    return np.asarray(1 + (array[None, :] > array[:, None] + SAME).sum(axis=1), dtype=np.int64)


def kendall_tau(first: ArrayLike, second: ArrayLike) -> float | None:
    """Kendall's tau-b of two orders of the same models, in [-1, 1]; None where one of them ties all (Kendall 1945)."""
    signs = [_signs(np.asarray(scores, dtype=np.float64)) for scores in (first, second)]
    scale = math.sqrt(math.prod(float(np.square(sign).sum()) for sign in signs))
    return float((signs[0] * signs[1]).sum()) / scale if scale else None


def _signs(scores: FloatArray) -> FloatArray:
    difference = scores[:, None] - scores[None, :]
    return np.where(np.abs(difference) > SAME, np.sign(difference), 0.0)


def _matrix(scores: ArrayLike) -> FloatArray:
    matrix = np.asarray(scores, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"scores are models x problems, not of shape {matrix.shape}")
    return matrix


def _weighted(scores: ArrayLike, weights: Sequence[NDArray[np.generic]], kind: Perturbation) -> list[Ordering]:
    matrix, common = _matrix(scores), common_problems(scores)
    if any(row.shape != common.shape for row in weights):
        raise ValueError(f"one entry for each of {common.size} problems")
    filled = np.where(common, matrix, 0.0)
    rows = [np.where(common, row, 0).astype(np.float64) for row in weights]
    return [Ordering(kind, label, filled @ row / row.sum()) for label, row in enumerate(rows) if row.sum() > 0]


@dataclass(frozen=True)
class _Moves:
    """Of the orders of one kind: labels, changes of rank (orders x models) and which models they have."""

    labels: IntArray
    shifts: IntArray
    run: NDArray[np.bool_]
    kind: Perturbation

    def ends(self, model: int) -> IntArray:
        """The largest move up and down of a model, 0 among them if it was never run."""
        shifts = self.shifts[self.run[:, model], model]
        if not shifts.size:
            return np.zeros(2, dtype=np.int64)
        levels = [0.025, 0.975] if self.kind is Perturbation.SAMPLES else [0.0, 1.0]
        return np.asarray(np.quantile(shifts, levels, method="inverted_cdf"), dtype=np.int64)

    def largest(self, model: int) -> Move | None:
        shift = int(max(self.ends(model), key=abs))
        if not shift:
            return None
        place = int(np.flatnonzero(self.run[:, model] & (self.shifts[:, model] == shift))[0])
        return Move(model, self.kind, int(self.labels[place]), shift)


def _moves(base: FloatArray, orders: Sequence[Ordering]) -> _Moves:
    shifts, run = np.zeros((len(orders), base.size), dtype=np.int64), np.zeros((len(orders), base.size), dtype=bool)
    for place, order in enumerate(orders):
        run[place] = ~np.isnan(order.scores)
        there = run[place]
        shifts[place, there] = competition_ranks(order.scores[there]) - competition_ranks(base[there])
    return _Moves(np.array([order.label for order in orders], dtype=np.int64), shifts, run, orders[0].kind)


def _model(model: int, rank: int, moves: dict[Perturbation, _Moves]) -> ModelStability:
    ends = {kind: one.ends(model) for kind, one in moves.items()}
    by_kind = {kind: RankRange(rank + min(0, int(pair[0])), rank + max(0, int(pair[1]))) for kind, pair in ends.items()}
    overall = RankRange(
        min((one.best for one in by_kind.values()), default=rank),
        max((one.worst for one in by_kind.values()), default=rank),
    )
    return ModelStability(rank, overall, by_kind, _largest([one.largest(model) for one in moves.values()]))


def _kind(kind: Perturbation, base: FloatArray, orders: Sequence[Ordering], moves: _Moves) -> KindStability:
    chosen = [order.scores for order in orders if order.kind is kind]
    taus = [kendall_tau(base[~np.isnan(scores)], scores[~np.isnan(scores)]) for scores in chosen]
    known = [tau for tau in taus if tau is not None]
    largest = _largest([moves.largest(model) for model in range(base.size)])
    lowest, median = (min(known), float(np.median(known))) if known else (None, None)
    return KindStability(kind, len(chosen), lowest, median, largest)


def _largest(moves: Sequence[Move | None]) -> Move | None:
    """The first of the largest moves."""
    return max((move for move in moves if move), key=lambda move: abs(move.shift), default=None)
