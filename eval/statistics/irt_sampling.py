"""How sure an item response fit is: errors by drawing contests anew, and the loss on cells that it did not see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from eval.statistics.intervals import MIN_CLUSTERS
from eval.statistics.irt import DEFAULTS, Fit, Kind, cell_log_loss, fit, observed_scores, refit
from eval.statistics.irt_newton import Settings
from eval.statistics.resampling import contest_numbers, contest_weights
from eval.statistics.scores import FloatArray, IntArray

# Newton squares the distance at each step: what is left after one of 0.05 logits changes errors by about 1 %.
_REFIT_TOLERANCE = 0.05
# An additive prediction may leave [0, 1].
_EDGE = 0.01
FOLDS = 5
ENOUGH_CELLS = 2000


@dataclass(frozen=True)
class AbilityErrors:
    """Standard errors of the abilities in logits from ``draws`` refits; None for a model without results.

    ``units`` says what was drawn: "contests"; or, for fewer than 8 of them, "problems" and "contests", and each error
    is the larger of the two. ``refusal`` is a sentence where there are none at all.
    """

    se: tuple[float | None, ...]
    units: tuple[str, ...]
    n_clusters: int
    draws: int
    refusal: str | None = None


@dataclass(frozen=True)
class HeldOut:
    """Mean log-loss in nats over ``n_cells`` cells that the predictions were made without, all None with a refusal.

    ``item_mean`` predicts a problem's mean over models, ``additive`` model + problem by least squares. Lower is better.
    """

    item_mean: float | None
    additive: float | None
    one_pl: float | None
    two_pl: float | None
    n_cells: int
    refusal: str | None = None


def refits(fitted: Fit, scores: ArrayLike, clusters: ArrayLike, draws: int, rng: np.random.Generator) -> Iterator[Fit]:
    """Refits on ``draws`` samples of whole contests, drawn with replacement; each sets out from ``fitted``.

    ``scores`` (models x problems) are those of the fit, NaN in the cells that it left out; ``clusters`` has the number
    of the contest of each problem. Problems that a draw does not hold have parameters all the same.
    """
    table = observed_scores(scores)
    member = contest_numbers(clusters, table.shape[1])
    if not member.size:
        return
    rough = replace(fitted.settings, tolerance=max(_REFIT_TOLERANCE, fitted.settings.tolerance))
    for drawn in contest_weights(int(member.max()) + 1, draws, rng):
        yield refit(fitted, table, weights=drawn[member], settings=rough)


def resampling_units(clusters: ArrayLike) -> dict[str, IntArray]:
    """What a bootstrap may draw, by name, as the number of the unit of each problem.

    Contests; where they are fewer than 8, problems besides; fewer than 2 contests: nothing, for one is no sample.
    """
    contests = contest_numbers(clusters, np.size(clusters))
    groups = int(contests.max(initial=-1)) + 1
    if groups < 2:
        return {}
    if groups >= MIN_CLUSTERS:
        return {"contests": contests}
    return {"problems": np.arange(contests.size, dtype=np.int64), "contests": contests}


def spread_of_draws(estimates: ArrayLike, unit: IntArray) -> FloatArray:
    """The standard error that draws x estimates show, by the number of the unit of each problem.

    Draws of G units vary by (G-1)/G of what the units do (Efron and Tibshirani 1993, section 5.3): that is made up for.
    """
    groups = int(unit.max()) + 1
    drawn = np.asarray(estimates, dtype=np.float64)
    return np.asarray(drawn.std(axis=0, ddof=1) * np.sqrt(groups / (groups - 1)), dtype=np.float64)


def ability_errors(
    fitted: Fit, scores: ArrayLike, clusters: ArrayLike, draws: int, rng: np.random.Generator
) -> AbilityErrors:
    """Sampling errors of the abilities by drawing contests, which does not lean on the model being right.

    ``scores`` and ``clusters`` as for ``refits``. 30 draws give an error to about 13 %, 200 to 5 %.
    """
    units = resampling_units(clusters)
    groups = int(np.unique(np.asarray(clusters)).size)
    if not units or draws < 2:
        missing = f"an error needs at least 2 contests and 2 draws, not {groups} and {draws}"
        return AbilityErrors((None,) * fitted.theta.size, (), groups, 0, missing)
    spreads = [
        spread_of_draws([drawn.theta for drawn in refits(fitted, scores, unit, draws, rng)], unit)
        for unit in units.values()
    ]
    errors = np.max(spreads, axis=0).tolist()
    seen = fitted.cells_of_model.tolist()
    published = tuple(error if cells else None for error, cells in zip(errors, seen, strict=True))
    return AbilityErrors(published, tuple(units), groups, draws)


def held_out(scores: ArrayLike, rng: np.random.Generator, settings: Settings = DEFAULTS) -> HeldOut:
    """How well cells of models x problems are predicted that no fit has seen.

    A random fifth of the cells is held out at a time, until 2,000 are predicted or all have been: a large table says
    enough with one fifth, and a small one would leave the comparison to chance. A 2PL that does no better than the 1PL
    here earns no trust in its slopes.
    """
    table = observed_scores(scores)
    fold = np.where(np.isnan(table), -1, rng.integers(0, FOLDS, table.shape))
    n_cells, sums = 0, np.zeros(4)
    for held in range(FOLDS):
        test = fold == held
        training = np.where(test, np.nan, table)
        if not test.any() or np.isnan(training).all():
            continue
        losses = [cell_log_loss(table[test], one[test]) or 0.0 for one in _predictions(training, settings)]
        n_cells, sums = n_cells + int(test.sum()), sums + int(test.sum()) * np.array(losses)
        if n_cells >= ENOUGH_CELLS:
            break
    if not n_cells:
        return HeldOut(None, None, None, None, 0, "there are too few results to hold some out")
    item_mean, additive, one_pl, two_pl = (sums / n_cells).tolist()
    return HeldOut(item_mean, additive, one_pl, two_pl, n_cells)


def _predictions(training: FloatArray, settings: Settings) -> tuple[FloatArray, ...]:
    """What each way of predicting makes of all cells, in the order of ``HeldOut``."""
    return (
        _item_means(training),
        np.clip(_additive(training), _EDGE, 1 - _EDGE),
        fit(training, Kind.ONE_PL, settings=settings).predict(),
        fit(training, Kind.TWO_PL, settings=settings).predict(),
    )


def _item_means(table: FloatArray) -> FloatArray:
    """Each problem's mean over models with half a success and half a failure added (Jeffreys), for every model."""
    means = (np.nansum(table, axis=0) + 0.5) / (np.count_nonzero(~np.isnan(table), axis=0) + 1)
    return np.broadcast_to(means, table.shape)


def _additive(table: FloatArray, rounds: int = 200) -> FloatArray:
    """Model + problem by least squares on the cells that are there, by turns until neither moves."""
    seen = ~np.isnan(table)
    score = np.where(seen, table, 0.0)
    of_model, of_problem = np.maximum(seen.sum(axis=1), 1), np.maximum(seen.sum(axis=0), 1)
    model, problem = np.zeros(table.shape[0]), np.zeros(table.shape[1])
    for _ in range(rounds):
        before = problem
        model = (score - seen * problem).sum(axis=1) / of_model
        problem = (score - seen * model[:, None]).sum(axis=0) / of_problem
        if np.abs(problem - before).max() < 1e-6:
            break
    return np.asarray(model[:, None] + problem, dtype=np.float64)
