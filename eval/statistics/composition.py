"""How much of a change between two windows lies in which problems were asked, and how much in the model.

The problems are split into strata (platform x difficulty label, or bands of estimated difficulty). With w the share of
a side's problems that a stratum holds and m the mean score in it, A the side before and B the side after:

    composition = sum over strata of (w_B - w_A) * (m_A + m_B) / 2
    behaviour   = sum over strata of (m_B - m_A) * (w_A + w_B) / 2

which add up to mean_B - mean_A exactly. Source: Kitagawa 1955, "Components of a difference between two rates", JASA 50;
the same idea with regression lines is that of Oaxaca 1973 and Blinder 1973.

Labels drift: problems called "medium" may be harder in the later window. That shows as behaviour of every model. So
behaviour is split once more: ``common``, the peers' behaviour on the same problems at the same weights (residual
difficulty), and ``own``, what is left for this model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eval.statistics.strata import StratifiedProblems, StratumSums

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

MIN_PROBLEMS = 10
MIN_CONTESTS = 4
WARN_CONTESTS = 8
MIN_PEERS = 3


@dataclass(frozen=True)
class Periods:
    """The two sides of a comparison: masks over problems. A problem may be in both (two editions) or in neither."""

    before: BoolArray
    after: BoolArray


@dataclass(frozen=True)
class Estimate:
    """A difference of mean scores, in [-1, 1], and its standard error when contests are drawn anew (or None)."""

    value: float
    se: float | None


@dataclass(frozen=True)
class StratumChange:
    """One stratum: shares of a side's problems, mean scores in [0, 1], and what it adds to each part.

    ``codes`` are the caller's strata that it holds: more than one where strata were merged.
    """

    codes: tuple[str, ...]
    n_before: int
    n_after: int
    weight_before: float
    weight_after: float
    mean_before: float
    mean_after: float
    composition: float
    behaviour: float


@dataclass(frozen=True)
class Decomposition:
    """The change of one model's mean score. ``total`` = ``composition`` + ``behaviour``; all None with ``refusal``.

    ``behaviour`` = ``common`` + ``own``; these two are None with fewer than three peers. ``cautions`` are sentences.
    """

    n_before: int
    n_after: int
    contests_before: int
    contests_after: int
    total: Estimate | None = None
    composition: Estimate | None = None
    behaviour: Estimate | None = None
    common: Estimate | None = None
    own: Estimate | None = None
    n_peers: int = 0
    strata: tuple[StratumChange, ...] = ()
    cautions: tuple[str, ...] = ()
    refusal: str | None = None


def decompose(
    scores: ArrayLike,
    clusters: ArrayLike,
    strata: ArrayLike,
    periods: Periods,
    rng: np.random.Generator,
    *,
    coarser: ArrayLike | None = None,
    draws: int = 1000,
) -> tuple[Decomposition, ...]:
    """The decomposition of each model, in the order of ``scores`` (models x problems, NaN where there is no result).

    ``clusters`` are numbers, ``strata`` numbers or names, one for each problem. A stratum in which a model has problems
    on one side only is merged with all strata of the same ``coarser`` key; without one, or if that does not help, the
    model is refused. All other models are its peers. Contests that are only before, only after, and on both sides are
    resampled apart, ``draws`` times.
    """
    matrix = np.asarray(scores, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"scores are models x problems, not of shape {matrix.shape}")
    problems = StratifiedProblems.of(matrix.shape[1], clusters, strata, [periods.before, periods.after], coarser)
    if draws < 2:
        raise ValueError("standard errors need at least 2 draws")
    cells, weights = problems.cells(matrix), problems.redrawn_contests(draws, rng)
    board = _Board(problems, matrix, cells.observed(), weights)
    drawn = cells.redrawn(weights)
    return tuple(_decompose_one(board, model, drawn.of(model)) for model in range(len(matrix)))


@dataclass(frozen=True)
class _Board:
    """What the decomposition of any model needs: the observed sums of all, and the contests drawn."""

    problems: StratifiedProblems
    scores: FloatArray
    observed: StratumSums
    contest_weights: FloatArray


def _decompose_one(board: _Board, model: int, drawn: StratumSums) -> Decomposition:
    plain = _sizes(board, model)
    groups, why = _groups(board.problems, board.observed.counts[model], plain)
    if groups is None:
        return replace(plain, refusal=why)
    own, redrawn = board.observed.of(model).merged(groups), drawn.merged(groups)
    errors = _standard_errors(plain, redrawn, redrawn.complete())
    composition, behaviour = _parts(own)
    whole = own.totals.sum(axis=-1) / own.counts.sum(axis=-1)
    members = _members(board.problems, groups)
    result = replace(
        plain,
        total=Estimate(float(whole[1] - whole[0]), errors.get("total")),
        composition=Estimate(float(composition.sum()), errors.get("composition")),
        behaviour=Estimate(float(behaviour.sum()), errors.get("behaviour")),
        strata=tuple(_stratum_changes(own, composition, behaviour, members)),
        cautions=tuple(_cautions(plain, sum(len(names) for names in members if len(names) > 1), bool(errors))),
    )
    return _beyond_peers(result, board, model, groups, redrawn)


def _sizes(board: _Board, model: int) -> Decomposition:
    """A result that says only how many problems and contests there are."""
    present = ~np.isnan(board.scores[model])
    before, after = (board.problems.contests[side & present] for side in board.problems.sides)
    return Decomposition(before.size, after.size, len(np.unique(before)), len(np.unique(after)))


def _groups(problems: StratifiedProblems, counts: FloatArray, sizes: Decomposition) -> tuple[FloatArray | None, str]:
    """The strata to use, as a matrix strata x groups of 0 and 1; or None and the sentence of the refusal."""
    if min(sizes.n_before, sizes.n_after) < MIN_PROBLEMS:
        numbers = f"there are {sizes.n_before} and {sizes.n_after}"
        return None, f"needs at least {MIN_PROBLEMS} problems with a result on each side, {numbers}"
    groups = np.eye(len(problems.names))[:, counts.sum(axis=0) > 0]
    lone = _one_sided(counts)
    if lone.any() and problems.coarse is not None:
        keys = np.where(
            np.isin(problems.coarse, problems.coarse[lone]), -1 - problems.coarse, np.arange(len(problems.names))
        )
        groups = (keys[:, None] == np.unique(keys)[None, :]).astype(np.float64)
        groups = groups[:, (counts @ groups).sum(axis=0) > 0]
        lone = (groups[:, _one_sided(counts @ groups)]).any(axis=1) & (counts.sum(axis=0) > 0)
    if lone.any():
        codes = ", ".join(str(problems.names[place]) for place in np.flatnonzero(lone))
        return None, f"strata with problems on one side only cannot be compared: {codes}; merge them or leave them out"
    return groups, ""


def _one_sided(counts: FloatArray) -> BoolArray:
    return np.asarray((counts > 0).sum(axis=0) == 1)


def _parts(sums: StratumSums) -> tuple[FloatArray, FloatArray]:
    """Composition and behaviour of each stratum (the last axis)."""
    weights, means = sums.weights(), sums.means()
    composition = (weights[..., 1, :] - weights[..., 0, :]) * means.sum(axis=-2) / 2
    behaviour = (means[..., 1, :] - means[..., 0, :]) * weights.sum(axis=-2) / 2
    return composition, behaviour


def _standard_errors(sizes: Decomposition, drawn: StratumSums, complete: BoolArray) -> dict[str, float]:
    """Over the draws in which no stratum is empty; nothing where contests or such draws are too few."""
    if min(sizes.contests_before, sizes.contests_after) < MIN_CONTESTS or complete.mean() < 0.5:
        return {}
    composition, behaviour = (part.sum(axis=-1) for part in _parts(drawn.of(complete)))
    parts = {"composition": composition, "behaviour": behaviour, "total": composition + behaviour}
    return {name: _spread(values, sizes) for name, values in parts.items()}


def _spread(drawn: FloatArray, sizes: Decomposition) -> float:
    """The standard error from draws. Drawing G contests from G shows (G-1)/G of the variance between them; the smaller
    side's G is taken, which is right for sides alike and wide for others."""
    fewest = min(sizes.contests_before, sizes.contests_after)
    return float(drawn.std(ddof=1)) * math.sqrt(fewest / (fewest - 1))


def _members(problems: StratifiedProblems, groups: FloatArray) -> list[tuple[str, ...]]:
    return [tuple(problems.names[place] for place in np.flatnonzero(column)) for column in groups.T]


def _stratum_changes(
    own: StratumSums, composition: FloatArray, behaviour: FloatArray, members: Sequence[tuple[str, ...]]
) -> list[StratumChange]:
    weights, means = own.weights(), own.means()
    return [
        StratumChange(
            codes=codes,
            n_before=int(own.counts[0, place]),
            n_after=int(own.counts[1, place]),
            weight_before=float(weights[0, place]),
            weight_after=float(weights[1, place]),
            mean_before=float(means[0, place]),
            mean_after=float(means[1, place]),
            composition=float(composition[place]),
            behaviour=float(behaviour[place]),
        )
        for place, codes in enumerate(members)
    ]


def _cautions(sizes: Decomposition, merged: int, has_errors: bool) -> list[str]:
    fewest = min(sizes.contests_before, sizes.contests_after)
    sentences = []
    if fewest < MIN_CONTESTS:
        sentences.append(f"no standard error: needs at least {MIN_CONTESTS} contests on each side, one has {fewest}")
    elif not has_errors:
        sentences.append("no standard error: a stratum rests on so few contests that most draws leave it empty")
    elif fewest < WARN_CONTESTS:
        sentences.append(f"fewer than {WARN_CONTESTS} contests on a side ({fewest}): the standard errors are rough")
    if merged:
        sentences.append(f"{merged} strata were merged because one of their kind is empty on one side")
    return sentences


def _beyond_peers(
    result: Decomposition, board: _Board, model: int, groups: FloatArray, drawn: StratumSums
) -> Decomposition:
    """The result with behaviour split into what its peers show on the same problems and what is this model's own."""
    n_peers, residuals = _peer_residuals(board, model, groups)
    cells = board.problems.cells(residuals[None, :])
    peers = cells.observed().of(0).merged(groups)
    result = replace(result, n_peers=n_peers)
    if n_peers < MIN_PEERS or not peers.complete():
        sentence = f"needs at least {MIN_PEERS} other models with problems of the same kinds, there are {n_peers}"
        if n_peers >= MIN_PEERS:
            sentence = "the others lack this model's problems on a side of some kind"
        sentence = f"what all models show cannot be told from what is this one's own: {sentence}"
        return replace(result, cautions=(*result.cautions, sentence))
    own = board.observed.of(model).merged(groups)
    behaviour = float(_parts(own)[1].sum())
    common = float(_at_weights_of(own, peers).sum())
    common_se = own_se = None
    if result.behaviour and result.behaviour.se is not None:
        redrawn = cells.redrawn(board.contest_weights).of(0).merged(groups)
        usable = drawn.complete() & redrawn.complete()
        if usable.mean() >= 0.5:
            often = _at_weights_of(drawn.of(usable), redrawn.of(usable)).sum(axis=-1)
            rest = _parts(drawn.of(usable))[1].sum(axis=-1) - often
            common_se, own_se = _spread(often, result), _spread(rest, result)
    return replace(result, common=Estimate(common, common_se), own=Estimate(behaviour - common, own_se))


def _at_weights_of(own: StratumSums, peers: StratumSums) -> FloatArray:
    """The peers' behaviour in each stratum at the model's own weights."""
    means = peers.means()
    return np.asarray((means[..., 1, :] - means[..., 0, :]) * own.weights().sum(axis=-2) / 2)


def _peer_residuals(board: _Board, model: int, groups: FloatArray) -> tuple[int, FloatArray]:
    """The number of peers, and their mean residual on each problem of the model (NaN: none has it, or the model not).

    A peer has results on both sides of every stratum. Its residuals are taken from the middle of its two means in the
    stratum, so that it does not matter which of strong and weak peers has which problem.
    """
    sums = board.observed.merged(groups)
    useful = sums.complete()
    useful[model] = False
    stratum = groups.argmax(axis=1)[board.problems.strata]
    middles = sums.of(useful).means().mean(axis=-2)
    residuals = board.scores[useful] - middles[:, stratum]
    known = ~np.isnan(residuals) & ~np.isnan(board.scores[model])
    total, number = np.where(known, residuals, 0.0).sum(axis=0), known.sum(axis=0)
    average = np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0)
    return int(useful.sum()), np.asarray(average)
