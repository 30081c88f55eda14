"""The solver behind :mod:`eval.statistics.irt`: Newton's method for the maximum of the posterior.

Abilities, and the prior means of strata, meet only through problems, and a problem has no more than two parameters of
its own: eliminating the problems leaves one small system, of models and strata. About ten steps reach the maximum to
the last digit. At a step the observed curvature is used where it has a maximum to step to, else the expected one
(Fisher scoring), which has one always.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eval.statistics.scores import FloatArray, IntArray

BoolArray = NDArray[np.bool_]

# Far from the maximum the expected curvature is the safer guide, near it the observed one is the faster.
_NEAR = 0.7
_LONGEST_STEP = 2.0
_SHORTEST_SHARE = 1e-6


@dataclass(frozen=True)
class Settings:
    """Standard deviations of the priors and the mean of the difficulties' prior, in logits, and when to stop.

    ``stratum_sd`` is that of the strata's means about ``difficulty_mean``, where problems come in strata.
    ``tolerance`` is the largest step of any parameter at which the fit has converged.
    """

    ability_sd: float = 1.0
    difficulty_mean: float = 0.0
    difficulty_sd: float = 2.0
    log_slope_sd: float = 0.5
    stratum_sd: float = 2.0
    tolerance: float = 1e-6
    max_iterations: int = 100

    def __post_init__(self) -> None:
        spreads = (self.ability_sd, self.difficulty_sd, self.log_slope_sd, self.stratum_sd)
        if min(*spreads, self.tolerance, self.max_iterations) <= 0:
            raise ValueError("standard deviations, tolerance and iterations must be above 0")


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is maximised. ``score`` and ``seen`` (models x problems) are 0 where there is no result.

    ``weights`` counts each problem that often; ``stratum`` has the number of the mean of each problem's prior. The
    three masks tell which parameters are free, ``free_means`` whether the strata's means are.
    """

    score: FloatArray
    seen: FloatArray
    weights: FloatArray
    stratum: IntArray
    free_theta: BoolArray
    free_difficulty: BoolArray
    free_slope: BoolArray
    free_means: bool
    settings: Settings

    def columns(self, chosen: BoolArray) -> Posterior:
        """The same for some of the problems."""
        return Posterior(
            self.score[:, chosen],
            self.seen[:, chosen],
            self.weights[chosen],
            self.stratum[chosen],
            self.free_theta,
            self.free_difficulty[chosen],
            self.free_slope[chosen],
            self.free_means,
            self.settings,
        )


@dataclass(frozen=True, eq=False)
class Parameters:
    """Abilities, difficulties and prior means of the strata in logits, logarithms of the slopes; or a step of them."""

    theta: FloatArray
    difficulty: FloatArray
    log_slope: FloatArray
    means: FloatArray

    def columns(self, chosen: BoolArray) -> Parameters:
        """The same for some of the problems."""
        return Parameters(self.theta, self.difficulty[chosen], self.log_slope[chosen], self.means)

    def moved(self, step: Parameters, share: float) -> Parameters:
        """These and so much of a step."""
        return Parameters(
            self.theta + share * step.theta,
            self.difficulty + share * step.difficulty,
            self.log_slope + share * step.log_slope,
            self.means + share * step.means,
        )

    def largest(self) -> float:
        """The largest entry by absolute value."""
        parts = (self.theta, self.difficulty, self.log_slope, self.means)
        return max(float(np.abs(part).max(initial=0.0)) for part in parts)


@dataclass(frozen=True, eq=False)
class Maximum:
    """Where the posterior is highest, in how many steps, and whether the last one was within the tolerance."""

    parameters: Parameters
    iterations: int
    converged: bool


@dataclass(frozen=True, eq=False)
class _Point:
    """Parameters, and at them: the logits of all cells, exp(-|logit|), and the logarithm of the posterior."""

    at: Parameters
    logits: FloatArray
    decay: FloatArray
    height: float


@dataclass(frozen=True, eq=False)
class _Curvature:
    """Of minus the posterior: each problem's block, and cross terms of the log slopes with the abilities."""

    difficulty: FloatArray
    both: FloatArray
    log_slope: FloatArray
    cross: FloatArray


def climb(target: Posterior, first: Parameters, *, near: bool = False) -> Maximum:
    """Newton's steps up to the maximum; each is halved until it does not lead down.

    ``near`` says that ``first`` is the maximum of much the same posterior.
    """
    point, length = _evaluate(target, first), 0.0 if near else math.inf
    for iteration in range(1, target.settings.max_iterations + 1):
        step = _newton_step(target, point, observed=length < _NEAR)
        length = step.largest()
        share = min(1.0, _LONGEST_STEP / length) if length > 0 else 1.0
        following = _evaluate(target, point.at.moved(step, share))
        while following.height < point.height - 1e-10 * abs(point.height) and share > _SHORTEST_SHARE:
            share /= 2
            following = _evaluate(target, point.at.moved(step, share))
        point = following
        if length < target.settings.tolerance:
            return Maximum(point.at, iteration, True)
    return Maximum(point.at, target.settings.max_iterations, False)


def _evaluate(target: Posterior, at: Parameters) -> _Point:
    prior = target.settings
    # In place where it can be: to ask for memory costs as much here as to compute.
    logits = np.subtract.outer(at.theta, at.difficulty)
    logits *= np.exp(at.log_slope)
    decay = np.abs(logits)
    np.exp(np.negative(decay, out=decay), out=decay)
    log_of_sum = np.log1p(decay)
    log_of_sum += np.maximum(logits, 0.0)
    cells = np.einsum("mi,mi->i", target.score, logits) - np.einsum("mi,mi->i", target.seen, log_of_sum)
    of_items = np.square((at.difficulty - at.means[target.stratum]) / prior.difficulty_sd)
    of_items += np.square(at.log_slope / prior.log_slope_sd)
    others = np.square(at.theta / prior.ability_sd).sum()
    others += np.square((at.means - prior.difficulty_mean) / prior.stratum_sd).sum()
    return _Point(at, logits, decay, float(target.weights @ (cells - of_items / 2) - others / 2))


def _newton_step(target: Posterior, point: _Point, *, observed: bool) -> Parameters:
    slope = np.exp(point.at.log_slope)
    more = 1 + point.decay
    likely = target.seen / more
    unlikely = likely * point.decay
    residual = target.score - np.where(point.logits >= 0, likely, unlikely)
    variance = np.divide(unlikely, more, out=unlikely)
    gradient = _gradient(target, point, slope, residual)
    expected = _expected_curvature(target, point, slope, variance)
    if observed:
        sharper = _Curvature(
            expected.difficulty,
            expected.both + slope * residual.sum(axis=0),
            expected.log_slope - np.einsum("mi,mi->i", residual, point.logits),
            expected.cross - slope * residual,
        )
        step = _solve(target, slope, variance, gradient, sharper)
        if step is not None:
            return step
    step = _solve(target, slope, variance, gradient, expected)
    assert step is not None, "with proper priors the expected curvature is always that of a maximum"
    return step


def _gradient(target: Posterior, point: _Point, slope: FloatArray, residual: FloatArray) -> Parameters:
    at, prior = point.at, target.settings
    pull = (at.difficulty - at.means[target.stratum]) / prior.difficulty_sd**2
    means = np.bincount(target.stratum, target.weights * pull, minlength=at.means.size)
    return Parameters(
        residual @ (target.weights * slope) - at.theta / prior.ability_sd**2,
        -slope * residual.sum(axis=0) - pull,
        np.einsum("mi,mi->i", residual, point.logits) - at.log_slope / prior.log_slope_sd**2,
        means - (at.means - prior.difficulty_mean) / prior.stratum_sd**2,
    )


def _expected_curvature(target: Posterior, point: _Point, slope: FloatArray, variance: FloatArray) -> _Curvature:
    prior = target.settings
    varied = variance * point.logits
    return _Curvature(
        np.square(slope) * variance.sum(axis=0) + 1 / prior.difficulty_sd**2,
        -slope * varied.sum(axis=0),
        np.einsum("mi,mi->i", varied, point.logits) + 1 / prior.log_slope_sd**2,
        slope * varied,
    )


def _solve(
    target: Posterior, slope: FloatArray, variance: FloatArray, gradient: Parameters, curvature: _Curvature
) -> Parameters | None:
    """The Newton step by elimination of the problems; None where the curvature is not that of a maximum.

    Each problem's 2 x 2 block is split by Cholesky into l11, l21 and l22. ``u1`` and ``u2`` are its cross terms with
    what problems share (abilities, then means) divided by that factor, so that the shared system is
    D - u1 W u1' - u2 W u2'. A problem's weight falls out of its own step: given the rest, its parameters do not depend
    on how often it counts.
    """
    models = gradient.theta.size
    l11 = np.sqrt(curvature.difficulty)
    l21 = curvature.both / l11
    pivot = np.where(target.free_slope, curvature.log_slope - np.square(l21), 1.0)
    if (pivot <= 0).any():
        return None
    l22 = np.sqrt(pivot)
    into_difficulty, into_slope = target.free_difficulty / l11, target.free_slope / l22
    u1 = variance * (-np.square(slope) * into_difficulty)
    u2 = curvature.cross - u1 * l21
    u2 *= into_slope
    if target.free_means:
        of_means = -_membership(target, gradient.means.size) * into_difficulty / target.settings.difficulty_sd**2
        u1, u2 = np.vstack([u1, of_means]), np.vstack([u2, -of_means * l21 * into_slope])
    z1 = gradient.difficulty * into_difficulty
    z2 = (gradient.log_slope - l21 * z1) * into_slope
    shared = _shared_step(target, gradient, _diagonal(target, slope, variance, gradient.means.size), (u1, u2), (z1, z2))
    if shared is None:
        return None
    log_slope = (z2 - shared @ u2) * into_slope
    difficulty = (z1 - shared @ u1 - l21 * log_slope) * into_difficulty
    means = shared[models:] if target.free_means else np.zeros(gradient.means.size)
    return Parameters(shared[:models], difficulty, log_slope, means)


def _membership(target: Posterior, strata: int) -> FloatArray:
    return np.asarray(np.arange(strata)[:, None] == target.stratum, dtype=np.float64)


def _diagonal(target: Posterior, slope: FloatArray, variance: FloatArray, strata: int) -> FloatArray:
    """The curvature in what problems share, before they are eliminated: abilities, then means where these are free."""
    prior = target.settings
    of_abilities = variance @ (target.weights * np.square(slope)) + 1 / prior.ability_sd**2
    if not target.free_means:
        return of_abilities
    of_means = np.bincount(target.stratum, target.weights, strata) / prior.difficulty_sd**2 + 1 / prior.stratum_sd**2
    return np.asarray(np.concatenate([of_abilities, of_means]), dtype=np.float64)


def _shared_step(
    target: Posterior,
    gradient: Parameters,
    diagonal: FloatArray,
    crossed: tuple[FloatArray, FloatArray],
    reduced: tuple[FloatArray, FloatArray],
) -> FloatArray | None:
    """The step of abilities and means, 0 for those that are fixed."""
    weights, step = target.weights, np.zeros(diagonal.size)
    free = np.concatenate([target.free_theta, np.ones(diagonal.size - target.free_theta.size, dtype=np.bool_)])
    if not free.any():
        return step
    uphill = np.concatenate([gradient.theta, gradient.means])[: diagonal.size]
    system = np.diag(diagonal[free])
    for part, of_problems in zip(crossed, reduced, strict=True):
        if part is crossed[1] and not target.free_slope.any():
            break
        uphill = uphill - part @ (weights * of_problems)
        scaled = part[free] * np.sqrt(weights)
        system -= scaled @ scaled.T
    try:
        # numpy has no solver from this factor; it is taken for its verdict, which costs little beside the products.
        np.linalg.cholesky(system)
    except np.linalg.LinAlgError:
        return None
    step[free] = np.linalg.solve(system, uphill[free])
    return step
