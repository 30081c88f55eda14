"""Equated scores: what models that answered different problems would have scored on the same ones.

A model with an early cut-off has answered many old, easy problems, one with a late cut-off few new and hard ones; their
raw means do not compare. An item response fit ties both to the problems that they share, and gives for each the mean of
P(solved) over one fixed reference set. Such a score is estimated, never measured, and its type says so. It needs
overlap: where that is missing there is a sentence in its place.

Source: Kolen and Brennan, "Test Equating, Scaling, and Linking", chapter 6 (true-score equating under item response
theory, with concurrent calibration).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from eval.statistics.intervals import t_quantile
from eval.statistics.irt import DEFAULTS, Fit, Kind, fit, observed_scores
from eval.statistics.irt_newton import BoolArray, Settings
from eval.statistics.irt_sampling import refits, resampling_units, spread_of_draws
from eval.statistics.scores import FloatArray, IntArray

MIN_MODELS = 5
MIN_ANCHORS = 30
MODELS_OF_AN_ANCHOR = 3
FEW_ANCHORS = f"needs results on at least {MIN_ANCHORS} problems that {MODELS_OF_AN_ANCHOR} models share"


@dataclass(frozen=True, eq=False)
class Overlap:
    """Whether results hang together well enough for abilities on one scale.

    ``anchors`` is true for problems with results of 3 models or more, ``n_anchors`` of them. ``refusal`` says what is
    missing, None where nothing is.
    """

    n_anchors: int
    anchors: BoolArray
    refusal: str | None


@dataclass(frozen=True)
class EstimatedScore:
    """The equated score of one model, a share in [0, 1]: estimated by item response theory, not measured.

    ``low`` and ``high`` are the ends of its 95 % interval and ``se`` its standard error on the same scale, all for this
    reference set as it is. ``by_1pl`` is the same score from the 1PL, ``difference`` what the 2PL gives more: a large
    one means that the estimate leans on the model. ``answered`` is the share of the reference set that the model has
    results for. Everything is None with a ``refusal``.
    """

    estimate: float | None
    low: float | None
    high: float | None
    se: float | None
    by_1pl: float | None
    difference: float | None
    answered: float
    refusal: str | None = None


@dataclass(frozen=True, eq=False)
class EquatedScores:
    """Estimated scores of all models on one reference set of ``n_reference`` problems.

    Problems without a result are not in it. ``units`` names what was drawn for the intervals (see
    ``irt_sampling.resampling_units``), ``draws`` how often. ``largest_difference`` is the largest between a score of
    the 2PL and one of the 1PL, a share. ``refusal`` is that of the overlap or of the reference set, each model's too.
    """

    scores: tuple[EstimatedScore, ...]
    overlap: Overlap
    n_reference: int
    refusal: str | None
    units: tuple[str, ...] = ()
    draws: int = 0
    largest_difference: float | None = None
    converged: bool | None = None


def overlap(scores: ArrayLike, models: Sequence[Hashable] | None = None) -> Overlap:
    """What ``scores`` (runs x problems, NaN = no result) share, and whether it is enough.

    ``models`` says of which model each row is a run: several of one count once. None: each is of its own.
    """
    seen = ~np.isnan(observed_scores(scores))
    by_model = _by_model(seen, models)
    anchors = by_model.sum(axis=0) >= MODELS_OF_AN_ANCHOR
    groups = _chained(seen[:, anchors].astype(np.float64))
    n_models, n_anchors, n_groups = int(by_model.any(axis=1).sum()), int(anchors.sum()), int(groups.max(initial=-1)) + 1
    missing = _missing(n_models, _parts(seen), n_anchors, n_groups)
    return Overlap(n_anchors, anchors, missing)


def linked(scores: ArrayLike, models: Sequence[Hashable] | None = None) -> tuple[BoolArray, Overlap]:
    """Which rows have 30 anchors (see ``FEW_ANCHORS``), and what these share."""
    table = observed_scores(scores)
    kept = _with_anchors(~np.isnan(table), models)
    shared = overlap(np.where(kept[:, None], table, np.nan), models)
    if shared.refusal is None:
        return kept, shared
    # Where all rows together fall short, that says more than what is left without the worst of them.
    return kept, replace(shared, refusal=overlap(table, models).refusal or shared.refusal)


def equate(
    scores: ArrayLike,
    clusters: ArrayLike,
    reference: ArrayLike,
    rng: np.random.Generator,
    draws: int = 100,
    strata: ArrayLike | None = None,
    settings: Settings = DEFAULTS,
    models: Sequence[Hashable] | None = None,
) -> EquatedScores:
    """Equated scores on the problems where ``reference`` is true.

    ``scores`` are models x problems in [0, 1], NaN where there is no result or the cell may be contaminated;
    ``clusters`` has the number of the contest of each problem. The interval is Student's t on the logit scale, with the
    standard error over ``draws`` refits to contests drawn anew; with fewer than 8 contests the larger of that and of
    problems drawn anew, with fewer than 2 there is none. It is for the mean that the model would have on this reference
    set if item response theory described it: on simulated boards 95 % of the intervals hold that (87 % without strata),
    on a recorded one, with models that were better on older problems than on newer ones, 76 %
    (``benchmarks/item_response.py``). A model with fewer than 30 anchors bends nothing and gets no score.

    ``strata`` (one number for each problem, quarters of its date, say) lets each have its own prior mean of difficulty;
    without, where new problems are harder than old ones, scores of models that have only answered one kind are pulled
    towards that kind: by 2 points on a recorded board. ``models`` says of which model each row is a run, where one has
    several: they make no overlap.
    """
    table, chosen = observed_scores(scores), np.asarray(reference, dtype=np.bool_)
    if chosen.shape != table.shape[1:] or np.shape(clusters) != table.shape[1:]:
        raise ValueError(f"reference {chosen.shape} and clusters {np.shape(clusters)} for scores {table.shape}")
    kept, shared = linked(table, models)
    table = np.where(kept[:, None], table, np.nan)
    within = chosen & ~np.isnan(table).all(axis=0)
    problems = int(within.sum())
    answered = _shares(~np.isnan(observed_scores(scores)), within)
    refusal = shared.refusal or (None if problems else "no problem of the reference set has a result")
    if refusal:
        return EquatedScores(tuple(_refused(refusal, share) for share in answered), shared, problems, refusal)
    fitted, simple = (fit(table, kind, strata=strata, settings=settings) for kind in (Kind.TWO_PL, Kind.ONE_PL))
    estimates, by_1pl = reference_means(fitted, within), reference_means(simple, within)
    spread = _spread(fitted, table, clusters, within, draws, rng)
    published = tuple(
        _estimated(float(estimates[model]), float(by_1pl[model]), spread, model, share)
        if kept[model]
        else _refused(FEW_ANCHORS, share)
        for model, share in enumerate(answered)
    )
    return EquatedScores(
        published,
        shared,
        problems,
        None,
        spread.units,
        spread.draws,
        float(np.abs(estimates - by_1pl)[kept].max()),
        fitted.converged and simple.converged,
    )


def reference_means(fitted: Fit, reference: BoolArray) -> FloatArray:
    """The mean of P(solved) over the reference set for each model, in [0, 1]: the number that equating is about."""
    return np.asarray(fitted.predict()[:, reference].mean(axis=1), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class _Spread:
    """Errors of the reference means over the draws, on both scales; of no length where nothing could be drawn."""

    se: FloatArray
    logit_se: FloatArray
    degrees: int
    units: tuple[str, ...]
    draws: int


def _parts(seen: BoolArray) -> int:
    """Into how many parts models and problems fall where a result joins one with the other."""
    from scipy.sparse import coo_array  # type: ignore[import-untyped]
    from scipy.sparse.csgraph import connected_components  # type: ignore[import-untyped]

    results = seen[np.ix_(seen.any(axis=1), seen.any(axis=0))]
    if not results.size:
        return 0
    model, problem = np.nonzero(results)
    size = sum(results.shape)
    graph = coo_array((np.ones(model.size), (model, problem + results.shape[0])), shape=(size, size))
    return int(connected_components(graph, directed=False, return_labels=False))


def _chained(anchored: FloatArray) -> IntArray:
    """Groups of models that a chain of pairs with 30 common anchors joins; -1 for a model with fewer of its own."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    groups = np.full(anchored.shape[0], -1, dtype=np.int64)
    enough = anchored.sum(axis=1) >= MIN_ANCHORS
    if enough.any():
        common = anchored[enough] @ anchored[enough].T
        groups[enough] = connected_components(csr_array(common >= MIN_ANCHORS), directed=False)[1]
    return groups


def _missing(models: int, parts: int, anchors: int, groups: int) -> str | None:
    if models < MIN_MODELS:
        return f"needs at least {MIN_MODELS} models that share problems, there are {models}"
    if parts > 1:
        return f"the results fall into {parts} parts without a common problem"
    if anchors < MIN_ANCHORS:
        return (
            f"needs at least {MIN_ANCHORS} problems with results of {MODELS_OF_AN_ANCHOR} models, there are {anchors}"
        )
    if groups > 1:
        return f"the models fall into {groups} groups that share fewer than {MIN_ANCHORS} problems"
    return None


def _by_model(seen: BoolArray, models: Sequence[Hashable] | None) -> BoolArray:
    """Where any run of a model has a result, models x problems."""
    if models is None:
        return seen
    names = list(dict.fromkeys(models))
    rows = [seen[[row for row, model in enumerate(models) if model == name]].any(axis=0) for name in names]
    return np.array(rows, dtype=np.bool_).reshape(len(names), seen.shape[1])


def _with_anchors(seen: BoolArray, models: Sequence[Hashable] | None) -> BoolArray:
    """Which rows have 30 anchors; a row that has not takes those with it that only it made anchors."""
    kept = np.asarray(seen.any(axis=1))
    while True:
        anchors = _by_model(seen & kept[:, None], models).sum(axis=0) >= MODELS_OF_AN_ANCHOR
        still = np.asarray(kept & ((seen & anchors).sum(axis=1) >= MIN_ANCHORS))
        if still.sum() == kept.sum():
            return kept
        kept = still


def _shares(seen: BoolArray, reference: BoolArray) -> list[float]:
    """Of the reference set, how much each model has results for."""
    count = max(1, int(reference.sum()))
    return [found / count for found in seen[:, reference].sum(axis=1).tolist()]


def _spread(
    fitted: Fit, table: FloatArray, clusters: ArrayLike, reference: BoolArray, draws: int, rng: np.random.Generator
) -> _Spread:
    units = resampling_units(clusters)
    if not units or draws < 2:
        return _Spread(np.empty(0), np.empty(0), 0, (), 0)
    estimates = [
        np.array([reference_means(drawn, reference) for drawn in refits(fitted, table, unit, draws, rng)])
        for unit in units.values()
    ]
    drawn = list(zip(estimates, units.values(), strict=True))
    se = np.max([spread_of_draws(means, unit) for means, unit in drawn], axis=0)
    logit_se = np.max([spread_of_draws(np.log(means / (1 - means)), unit) for means, unit in drawn], axis=0)
    degrees = int(np.unique(list(units.values())[-1]).size) - 1
    return _Spread(se, logit_se, degrees, tuple(units), draws)


def _refused(refusal: str, answered: float) -> EstimatedScore:
    return EstimatedScore(None, None, None, None, None, None, answered, refusal)


def _estimated(estimate: float, by_1pl: float, spread: _Spread, model: int, answered: float) -> EstimatedScore:
    if not spread.draws:
        return EstimatedScore(estimate, None, None, None, by_1pl, estimate - by_1pl, answered)
    middle = math.log(estimate / (1 - estimate))
    half = t_quantile(spread.degrees) * float(spread.logit_se[model])
    low, high = (1 / (1 + math.exp(-end)) for end in (middle - half, middle + half))
    return EstimatedScore(estimate, low, high, float(spread.se[model]), by_1pl, estimate - by_1pl, answered)
