"""Item response theory: how able a model is and how hard a problem is, estimated together from an incomplete table.

    logit P(model m solves problem i) = a_i (theta_m - b_i)

``Kind.TWO_PL`` estimates a_i, ``Kind.ONE_PL`` holds it at 1. The estimate is the maximum of the posterior with
theta ~ N(0, 1), which fixes place and scale, b ~ N(0, 2^2) and log a ~ N(0, 0.5^2). The likelihood is quasi-binomial
with weight 1 for each cell, whatever the number of samples behind it: samples of one model on one problem are almost
copies, and to count each would make errors about three times too small.

Where models have answered different problems, a prior with one mean for all takes part of the difference between easy
and hard times for chance, and pulls scores on what a model has not answered towards its own. ``strata`` (quarters,
say) gives each group of problems a mean of its own, estimated with the rest: b ~ N(mu_s, 2^2), mu_s ~ N(0, 2^2).

Sources: Birnbaum 1968 for the model; Mislevy 1986, "Bayes modal estimation in item response models", for priors as the
guard where models are few; Papke and Wooldridge 1996 for the quasi-likelihood of shares.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from eval.statistics.irt_newton import Maximum, Parameters, Posterior, Settings, climb
from eval.statistics.scores import FloatArray, IntArray

MIN_MODELS_FOR_DISCRIMINATION = 50
DEFAULTS = Settings()


class Kind(StrEnum):
    """Which model: difficulty alone (1PL), or difficulty and discrimination (2PL)."""

    ONE_PL = "1PL"
    TWO_PL = "2PL"


@dataclass(frozen=True, eq=False)
class Items:
    """Parameters of the problems, as a fit uses them: difficulties in logits, and slopes.

    Slopes are for computing with; ``Fit.discrimination`` says whether they may be published. Among fixed values a
    problem with a difficulty has a slope too (of a 1PL, which has none but 1, it is not asked).
    """

    difficulty: FloatArray
    slope: FloatArray


@dataclass(frozen=True, eq=False)
class Fixed:
    """What is known beforehand: an ability for each model (NaN = free), parameters of the problems (NaN = free)."""

    theta: ArrayLike | None = None
    items: Items | None = None


NOTHING_FIXED = Fixed()


@dataclass(frozen=True, eq=False)
class Fit:
    """What a fit gives. Arrays go by the rows (models) and columns (problems) of the scores.

    ``theta`` (logits) of a model without cells, and the parameters of a problem without cells, are those of the prior:
    ``cells_of_model`` and ``cells_of_problem`` tell them, and ``ability`` and ``difficulty`` are None for them.
    ``difficulty_se`` (logits) is that of a difficulty where abilities and slopes are known. ``strata`` numbers the
    strata of the problems from 0 where they have prior means of their own, and ``stratum_means`` are these (logits),
    else the one that all share.
    """

    kind: Kind
    theta: FloatArray
    items: Items
    difficulty_se: FloatArray
    cells_of_model: IntArray
    cells_of_problem: IntArray
    converged: bool
    iterations: int
    strata: IntArray | None
    stratum_means: FloatArray
    settings: Settings

    def ability(self, model: int) -> float | None:
        """The ability of one model in logits; None where it has no results."""
        return float(self.theta[model]) if self.cells_of_model[model] else None

    def difficulty(self, problem: int) -> float | None:
        """The difficulty of one problem in logits; None where no model has a result."""
        return float(self.items.difficulty[problem]) if self.cells_of_problem[problem] else None

    @property
    def discrimination(self) -> FloatArray | None:
        """The slopes of the problems, where they may be published; see ``discrimination_refusal``."""
        return None if self.discrimination_refusal else self.items.slope

    @property
    def discrimination_refusal(self) -> str | None:
        """Why none is published: with 25 models log a and its estimate correlate at 0.37, with 50 at 0.51."""
        if self.kind is Kind.ONE_PL:
            return "a 1PL fit holds the discrimination of every problem at 1"
        models = int(np.count_nonzero(self.cells_of_model))
        if models < MIN_MODELS_FOR_DISCRIMINATION:
            return (
                f"discrimination needs results of at least {MIN_MODELS_FOR_DISCRIMINATION} models, there are {models}"
            )
        return None

    def predict(self, theta: ArrayLike | None = None) -> FloatArray:
        """P(solved), abilities x problems: for the models' own abilities, or for those given."""
        abilities = self.theta if theta is None else np.asarray(theta, dtype=np.float64)
        return _logistic(self.items.slope * (abilities[:, None] - self.items.difficulty))

    def information(self, theta: ArrayLike) -> FloatArray:
        """Fisher's information a^2 P (1 - P) of each problem, abilities x problems."""
        solved = self.predict(theta)
        return np.asarray(np.square(self.items.slope) * solved * (1 - solved), dtype=np.float64)


def fit(
    scores: ArrayLike,
    kind: Kind = Kind.TWO_PL,
    *,
    left_out: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    fixed: Fixed = NOTHING_FIXED,
    start: Fit | None = None,
    settings: Settings = DEFAULTS,
) -> Fit:
    """The maximum of the posterior for ``scores``, models x problems in [0, 1], NaN = no result.

    ``left_out`` is true in the cells that must not bend the fit, such as what a model may have been trained on.
    ``weights`` counts each problem that often (a draw of a bootstrap). A problem's parameters, given the abilities, do
    not depend on its weight, so that problems of weight 0 have theirs as well. ``strata`` has one number for each
    problem, where groups of problems have prior means of their own. ``start`` is a fit of the same shape to set out
    from.

    Raises ``ValueError`` for shapes that do not match, scores outside [0, 1] and negative weights.
    """
    table = observed_scores(scores, left_out)
    problems = table.shape[1]
    counts = np.ones(problems) if weights is None else np.asarray(weights, dtype=np.float64)
    groups = np.zeros(problems) if strata is None else np.asarray(strata)
    if counts.shape != (problems,) or groups.shape != (problems,) or not (counts >= 0).all():
        raise ValueError(f"weights {counts.shape} and strata {groups.shape} for scores of shape {table.shape}")
    stratum = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    known = _known(table.shape, kind, fixed)
    first = _starting_point(known, stratum, start, settings)
    target = _posterior(table, counts, stratum, known, strata is not None, settings)
    found = _maximum(target, first, start is not None)
    return _result(table, found, kind, None if strata is None else stratum, settings)


def refit(
    fitted: Fit,
    scores: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    settings: Settings | None = None,
) -> Fit:
    """The same fit, nothing held fixed, to other cells or with other weights; it sets out from ``fitted``."""
    return fit(
        scores,
        fitted.kind,
        weights=weights,
        strata=fitted.strata,
        start=fitted,
        settings=settings or fitted.settings,
    )


def observed_scores(scores: ArrayLike, left_out: ArrayLike | None = None) -> FloatArray:
    """The scores with NaN in the cells left out; ``ValueError`` where they are not models x problems in [0, 1]."""
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"scores are models x problems, not of shape {table.shape}")
    if ((table < 0) | (table > 1)).any():
        raise ValueError("scores must lie between 0 and 1")
    if left_out is None:
        return table
    mask = np.asarray(left_out, dtype=np.bool_)
    if mask.shape != table.shape:
        raise ValueError(f"a mask of shape {mask.shape} for scores of shape {table.shape}")
    return np.where(mask, np.nan, table)


def cell_log_loss(scores: ArrayLike, predicted: ArrayLike) -> float | None:
    """Mean of -y log p - (1 - y) log(1 - p) in nats, for scores and predictions of one shape; None for no cell."""
    y, p = np.asarray(scores, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
    if y.shape != p.shape:
        raise ValueError(f"predictions of shape {p.shape} for scores of shape {y.shape}")
    if y.size == 0:
        return None
    # A prediction of exactly 0 or 1 comes from rounding alone; it must not let one cell outweigh all others.
    p = np.clip(p, 1e-12, 1 - 1e-12)
    return float(-(y * np.log(p) + (1 - y) * np.log1p(-p)).mean())


def _logistic(logits: FloatArray) -> FloatArray:
    decay = np.exp(-np.abs(logits))
    return np.asarray(np.where(logits >= 0, 1.0, decay) / (1 + decay), dtype=np.float64)


def _known(shape: tuple[int, ...], kind: Kind, fixed: Fixed) -> Parameters:
    """What is known beforehand, NaN elsewhere."""
    models, problems = shape
    theta = np.full(models, np.nan) if fixed.theta is None else np.asarray(fixed.theta, dtype=np.float64)
    nothing = np.full(problems, np.nan)
    difficulty, slope = (nothing, nothing) if fixed.items is None else (fixed.items.difficulty, fixed.items.slope)
    if kind is Kind.ONE_PL:
        slope = np.ones(problems)
    if (theta.shape, difficulty.shape, slope.shape) != ((models,), (problems,), (problems,)):
        raise ValueError(f"fixed: {theta.size} abilities and {difficulty.size} problems for scores of shape {shape}")
    if (np.isfinite(difficulty) & np.isnan(slope)).any() or (slope <= 0).any():
        raise ValueError("a problem with a fixed difficulty needs a fixed slope above 0")
    return Parameters(theta, difficulty, np.log(slope), np.empty(0))


def _starting_point(known: Parameters, stratum: IntArray, start: Fit | None, settings: Settings) -> Parameters:
    """Known values where there are any, else those of ``start``, else the middle of the priors."""
    strata = int(stratum.max(initial=0)) + 1
    first = Parameters(
        np.zeros(known.theta.size),
        np.full(known.difficulty.size, settings.difficulty_mean),
        np.zeros(known.difficulty.size),
        np.full(strata, settings.difficulty_mean),
    )
    if start is not None:
        items = start.items
        if (start.theta.size, items.slope.size) != (first.theta.size, first.difficulty.size):
            raise ValueError(f"a start of {start.theta.size} models and {items.slope.size} problems")
        means = start.stratum_means if start.stratum_means.size == strata else first.means
        first = Parameters(start.theta, items.difficulty, np.log(items.slope), means)
    return Parameters(
        np.where(np.isnan(known.theta), first.theta, known.theta),
        np.where(np.isnan(known.difficulty), first.difficulty, known.difficulty),
        np.where(np.isnan(known.log_slope), first.log_slope, known.log_slope),
        first.means,
    )


def _posterior(
    table: FloatArray, weights: FloatArray, stratum: IntArray, known: Parameters, free_means: bool, settings: Settings
) -> Posterior:
    missing = np.isnan(table)
    return Posterior(
        np.where(missing, 0.0, table),
        (~missing).astype(np.float64),
        weights,
        stratum,
        np.isnan(known.theta),
        np.isnan(known.difficulty),
        np.isnan(known.log_slope),
        free_means,
        settings,
    )


def _maximum(target: Posterior, first: Parameters, near: bool) -> Maximum:
    """The maximum over what counts; then, with the abilities held there, that of each problem of weight 0."""
    counted = target.weights > 0
    if counted.all():
        return climb(target, first, near=near)
    found = climb(target.columns(counted), first.columns(counted), near=near)
    held = replace(first, theta=found.parameters.theta, means=found.parameters.means)
    alone = replace(
        target,
        weights=np.ones(counted.size),
        free_theta=np.zeros(held.theta.size, dtype=np.bool_),
        free_means=False,
    )
    rest = climb(alone.columns(~counted), held.columns(~counted), near=near)
    difficulty, log_slope = np.empty(counted.size), np.empty(counted.size)
    for chosen, part in ((counted, found.parameters), (~counted, rest.parameters)):
        difficulty[chosen], log_slope[chosen] = part.difficulty, part.log_slope
    both = replace(held, difficulty=difficulty, log_slope=log_slope)
    return Maximum(both, found.iterations, found.converged and rest.converged)


def _result(table: FloatArray, found: Maximum, kind: Kind, strata: IntArray | None, settings: Settings) -> Fit:
    seen = ~np.isnan(table)
    at = found.parameters
    slope = np.exp(at.log_slope)
    solved = _logistic(slope * (at.theta[:, None] - at.difficulty))
    information = np.square(slope) * (solved * (1 - solved) * seen).sum(axis=0)
    return Fit(
        kind,
        at.theta,
        Items(at.difficulty, slope),
        1 / np.sqrt(information + 1 / settings.difficulty_sd**2),
        seen.sum(axis=1),
        seen.sum(axis=0),
        found.converged,
        found.iterations,
        strata,
        at.means,
        settings,
    )
