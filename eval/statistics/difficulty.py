"""Where a set of problems measures and where it does not: information, gaps, what to add, and problems that drift.

All difficulties and abilities are logits on the scale of one fit (:mod:`eval.statistics.irt`). A problem that nobody or
everybody solves carries no information there: its place comes from the prior alone, and a heap of them would show as a
false peak. Such problems are counted apart, as beyond the strongest model or below the weakest.

Source of test information: Lord 1980, "Applications of Item Response Theory to Practical Testing Problems", chapter 5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from eval.statistics.irt import Fit, Fixed, Items, fit, observed_scores
from eval.statistics.irt_newton import BoolArray
from eval.statistics.scores import FloatArray

BAND_WIDTH = 0.5
MIN_PROBLEMS = 5
MAX_SE = 0.3
BELOW_WEAKEST, ABOVE_STRONGEST = 0.5, 1.0
MIN_ITEM_REST = 0.2
MIN_MODELS = 5
DRIFT_ERRORS = 3.0


@dataclass(frozen=True)
class InformationPoint:
    """Test information at one ability, and the s.e. of an ability there, 1/sqrt(I); None where there is none.

    ``n_problems`` and ``n_models`` lie within half a band's width of it, the lower end counted in.
    """

    theta: float
    information: float
    se: float | None
    n_problems: int
    n_models: int


@dataclass(frozen=True)
class BandWeight:
    """How much a band of difficulty [low, high) counts: shares of all problems and of all information, and as wanted.

    Information is that at the abilities of the models, on average. Shares are in [0, 1]; None where the total is 0, and
    ``wanted`` None where nothing was asked for.
    """

    low: float
    high: float
    n_problems: int
    share_of_problems: float | None
    share_of_information: float | None
    wanted: float | None


@dataclass(frozen=True)
class Band:
    """A band of difficulty [low, high): its problems, without those that nobody or everybody solves; and its models.

    ``se`` is the error of an ability at its middle; ``information`` the test information there. ``near`` are the rows
    of the models of interest within one width of its middle. ``gap`` says what is too little, None where nothing is.
    """

    low: float
    high: float
    n_problems: int
    information: float
    se: float | None
    near: tuple[int, ...]
    gap: str | None


@dataclass(frozen=True)
class Coverage:
    """The bands from half a logit below the weakest model to one above the strongest, and what is outside of all.

    ``beyond`` problems are solved by no model, ``below`` by every one that tried. ``typical_slope`` is the geometric
    mean over the other problems. With a ``refusal`` there are no bands.
    """

    bands: tuple[Band, ...]
    beyond: int
    below: int
    typical_slope: float
    refusal: str | None = None

    @property
    def gaps(self) -> tuple[Band, ...]:
        """The bands with too few problems or too large an error."""
        return tuple(band for band in self.bands if band.gap)

    @property
    def sentence(self) -> str:
        """What lies beyond reach, as a report says it."""
        return f"beyond the strongest model: {self.beyond} {'problem' if self.beyond == 1 else 'problems'}"


@dataclass(frozen=True)
class Fill:
    """A band [low, high) that needs ``missing`` new problems, and why; ``near`` are the models of interest there."""

    low: float
    high: float
    missing: int
    reason: str
    near: tuple[int, ...]


@dataclass(frozen=True)
class Acceptance:
    """Whether a new problem fills a band, with a sentence; what it was judged by, None where that cannot be had."""

    accepted: bool
    sentence: str
    difficulty: float | None = None
    difficulty_se: float | None = None
    item_rest: float | None = None


@dataclass(frozen=True)
class Drift:
    """One problem's difficulty (logits) from the models of before and of after, and whether it has moved."""

    problem: int
    before: float
    after: float
    se: float
    drifted: bool

    @property
    def delta(self) -> float:
        """After minus before: negative where the problem has become easier."""
        return self.after - self.before


@dataclass(frozen=True)
class Drifts:
    """Every problem that could be tested, in order; ``untested`` had too few models on a side."""

    problems: tuple[Drift, ...]
    untested: int
    refusal: str | None = None


def unanimous(scores: ArrayLike) -> tuple[BoolArray, BoolArray]:
    """Which problems (columns of models x problems) no model solves, and which every model that tried solves wholly."""
    table = observed_scores(scores)
    seen = ~np.isnan(table)
    answered = seen.any(axis=0)
    none = answered & (np.where(seen, table, 0.0).max(axis=0, initial=0.0) == 0)
    every = answered & (np.where(seen, table, 1.0).min(axis=0, initial=1.0) == 1)
    return np.asarray(none), np.asarray(every)


def informative(scores: ArrayLike) -> BoolArray:
    """Which problems have results that are neither all wrong nor all right."""
    none, every = unanimous(scores)
    answered = ~np.isnan(observed_scores(scores)).all(axis=0)
    return np.asarray(answered & ~none & ~every)


def information_curve(
    fitted: Fit, scores: ArrayLike, points: ArrayLike, *, with_unanimous: bool = False
) -> tuple[InformationPoint, ...]:
    """Test information I(t) = sum of a^2 P(1 - P) at each of ``points``, without problems that all or none solve.

    ``with_unanimous`` takes these in, to show what they would feign.
    """
    at = np.asarray(points, dtype=np.float64)
    chosen = ~np.isnan(observed_scores(scores)).all(axis=0) if with_unanimous else informative(scores)
    information = fitted.information(at)[:, chosen].sum(axis=1)
    difficulty, ability = fitted.items.difficulty[chosen], fitted.theta[fitted.cells_of_model > 0]
    return tuple(
        InformationPoint(theta, amount, _error(amount), _count(difficulty, theta), _count(ability, theta))
        for theta, amount in zip(at.tolist(), information.tolist(), strict=True)
    )


def band_weights(
    fitted: Fit, scores: ArrayLike, edges: Sequence[float], wanted: Sequence[float] | None = None
) -> tuple[BandWeight, ...]:
    """How much each band between two ``edges`` (ascending, may be infinite) weighs, beside the share ``wanted``.

    Raises ``ValueError`` where wanted shares are not one for each band, or do not sum to 1.
    """
    bands = list(pairwise(edges))
    if any(low >= high for low, high in bands) or not bands:
        raise ValueError("edges must ascend")
    if wanted is not None and (len(wanted) != len(bands) or min(wanted) < 0 or not math.isclose(sum(wanted), 1.0)):
        raise ValueError(f"{len(bands)} bands need as many wanted shares, which sum to 1")
    answered = ~np.isnan(observed_scores(scores)).all(axis=0)
    difficulty = fitted.items.difficulty
    information = _mean_information(fitted) * informative(scores)
    total = float(information.sum())
    rows = []
    for index, (low, high) in enumerate(bands):
        inside = answered & (difficulty >= low) & (difficulty < high)
        count = int(inside.sum())
        of_problems = count / int(answered.sum()) if answered.any() else None
        of_information = float(information[inside].sum()) / total if total > 0 else None
        rows.append(
            BandWeight(low, high, count, of_problems, of_information, None if wanted is None else wanted[index])
        )
    return tuple(rows)


def coverage(fitted: Fit, scores: ArrayLike, of_interest: Sequence[int] | None = None) -> Coverage:
    """Bands of half a logit about the models, with their gaps: fewer than 5 problems, or an ability's s.e. above 0.3.

    ``of_interest`` are the rows of the models that matter, all by default.
    """
    none, every = unanimous(scores)
    chosen = informative(scores)
    outside = int(none.sum()), int(every.sum())
    present = np.flatnonzero(fitted.cells_of_model > 0)
    if not present.size or not chosen.any():
        return Coverage((), *outside, 1.0, "no problem is solved by some models and not by others")
    ability = fitted.theta[present]
    first = math.ceil((float(ability.min()) - BELOW_WEAKEST) / BAND_WIDTH)
    last = math.floor((float(ability.max()) + ABOVE_STRONGEST) / BAND_WIDTH)
    points = np.arange(first, last + 1) * BAND_WIDTH
    matter = present if of_interest is None else np.intersect1d(present, np.asarray(of_interest, dtype=np.int64))
    bands = tuple(
        _band(point, tuple(matter[np.abs(fitted.theta[matter] - point.theta) <= BAND_WIDTH].tolist()))
        for point in information_curve(fitted, scores, points)
    )
    return Coverage(bands, *outside, float(np.exp(np.log(fitted.items.slope[chosen]).mean())))


def fill_list(covered: Coverage) -> tuple[Fill, ...]:
    """Which bands need how many new problems, those next to most models of interest first.

    As many as make 5, and as bring the s.e. of an ability in the middle down to 0.3 if each new problem lies there with
    the typical slope: it then gives slope^2 / 4 of information.
    """
    gives = covered.typical_slope**2 / 4
    fills = []
    for band in covered.gaps:
        for_count = MIN_PROBLEMS - band.n_problems
        for_error = math.ceil(round((1 / MAX_SE**2 - band.information) / gives, 9))
        fills.append(Fill(band.low, band.high, max(for_count, for_error, 1), band.gap or "", band.near))
    return tuple(sorted(fills, key=lambda fill: (-len(fill.near), fill.low)))


def accept_problem(
    answers: ArrayLike, fitted: Fit, scores: ArrayLike, low: float, high: float, min_item_rest: float = MIN_ITEM_REST
) -> Acceptance:
    """The acceptance test of one new problem for the band [low, high).

    ``answers`` has the score of each model of the fit on it, NaN = no result; ``scores`` are those of the fit, and the
    new problem is not among them. Its difficulty is fitted with the abilities held, and it must tell strong models from
    weak as the others do: the correlation of the answers with the mean of the rest must exceed ``min_item_rest``.
    """
    given, table = np.asarray(answers, dtype=np.float64), observed_scores(scores)
    if given.shape != fitted.theta.shape or given.size != table.shape[0]:
        raise ValueError(f"answers of shape {given.shape} for {table.shape[0]} models")
    given = np.where(fitted.cells_of_model > 0, given, np.nan)
    told = given[~np.isnan(given)]
    if told.size < MIN_MODELS:
        return Acceptance(False, f"refused: needs answers of at least {MIN_MODELS} models, there are {told.size}")
    if told.max() == 0 or told.min() == 1:
        who = "no model solves it" if told.max() == 0 else "every model solves it"
        return Acceptance(False, f"refused: {who}, so that its difficulty is not known")
    alone = fit(given[:, None], fitted.kind, fixed=Fixed(theta=fitted.theta), settings=fitted.settings)
    difficulty, se = float(alone.items.difficulty[0]), float(alone.difficulty_se[0])
    correlation = _correlation(given, _rest(table)[1])
    reasons = []
    if not low <= difficulty < high:
        reasons.append(f"its difficulty is {difficulty:.2f} (s.e. {se:.2f}), outside {low:.2f} to {high:.2f}")
    if correlation is None:
        reasons.append("its correlation with the other problems cannot be computed")
    elif correlation <= min_item_rest:
        reasons.append(f"its correlation with the other problems is {correlation:.2f}, not above {min_item_rest:.2f}")
    sentence = "refused: " + "; ".join(reasons) if reasons else f"accepted: its difficulty is {difficulty:.2f}"
    return Acceptance(not reasons, sentence, difficulty, se, correlation)


def item_rest_correlations(scores: ArrayLike) -> tuple[float | None, ...]:
    """Pearson's correlation over models of each problem with the mean of the others; None where there is none.

    Scores are taken as differences from their problem's mean, so that a model is not thought weak for having answered
    hard problems; where nothing is missing that changes nothing. A flag for a look at the problem, never a verdict.
    """
    table = observed_scores(scores)
    apart, _ = _rest(table)
    return tuple(_correlation(table[:, problem], apart[:, problem]) for problem in range(table.shape[1]))


def item_drift(fitted: Fit, scores: ArrayLike, later: ArrayLike) -> Drifts:
    """Which problems have become easier or harder between two periods, by more than 3 standard errors.

    ``later`` is true for the rows (models, or runs of models) of the later period. Difficulties are fitted to each
    period apart, with the abilities and slopes of ``fitted`` held, so that both are on one scale. A problem that drifts
    must not serve as an anchor.
    """
    table, after = observed_scores(scores), np.asarray(later, dtype=np.bool_)
    if after.shape != fitted.theta.shape or after.size != table.shape[0]:
        raise ValueError(f"periods of shape {after.shape} for {table.shape[0]} models")
    held = Fixed(fitted.theta, Items(np.full(table.shape[1], np.nan), fitted.items.slope))
    first, second = (
        fit(np.where(side[:, None], table, np.nan), fitted.kind, fixed=held, settings=fitted.settings)
        for side in (~after, after)
    )
    enough = np.minimum(first.cells_of_problem, second.cells_of_problem) >= MIN_MODELS
    if not enough.any():
        missing = f"no problem has results of at least {MIN_MODELS} models in each period"
        return Drifts((), table.shape[1], missing)
    se = np.hypot(first.difficulty_se, second.difficulty_se)
    delta = second.items.difficulty - first.items.difficulty
    rows = tuple(
        Drift(
            problem,
            float(first.items.difficulty[problem]),
            float(second.items.difficulty[problem]),
            float(se[problem]),
            bool(abs(delta[problem]) > DRIFT_ERRORS * se[problem]),
        )
        for problem in np.flatnonzero(enough).tolist()
    )
    return Drifts(rows, int((~enough).sum()))


def _error(information: float) -> float | None:
    return 1 / math.sqrt(information) if information > 0 else None


def _count(values: FloatArray, middle: float) -> int:
    """How many lie in the band about that middle."""
    half = BAND_WIDTH / 2
    return int(((values >= middle - half) & (values < middle + half)).sum())


def _mean_information(fitted: Fit) -> FloatArray:
    """Each problem's information at the models' abilities, on average over models with results."""
    present = fitted.theta[fitted.cells_of_model > 0]
    if not present.size:
        return np.zeros(fitted.items.slope.size)
    return np.asarray(fitted.information(present).mean(axis=0), dtype=np.float64)


def _band(point: InformationPoint, near: tuple[int, ...]) -> Band:
    reasons = []
    if point.n_problems < MIN_PROBLEMS:
        reasons.append(f"{point.n_problems} of {MIN_PROBLEMS} problems")
    if point.se is None or point.se > MAX_SE:
        error = "not known" if point.se is None else f"{point.se:.2f}, above {MAX_SE}"
        reasons.append(f"the error of an ability here is {error}")
    low, high = point.theta - BAND_WIDTH / 2, point.theta + BAND_WIDTH / 2
    return Band(low, high, point.n_problems, point.information, point.se, near, "; ".join(reasons) or None)


def _rest(table: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Means of each model's centred scores: without each problem in turn (models x problems), and with all; or NaN."""
    seen = ~np.isnan(table)
    filled = np.where(seen, table, 0.0)
    centred = np.where(seen, filled - filled.sum(axis=0) / np.maximum(seen.sum(axis=0), 1), 0.0)
    total, count = centred.sum(axis=1), seen.sum(axis=1)
    others = count[:, None] - seen
    apart = np.where(others > 0, (total[:, None] - centred) / np.maximum(others, 1), np.nan)
    return apart, np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _correlation(first: FloatArray, second: FloatArray) -> float | None:
    """Pearson's, where both are there; None for fewer than three pairs or one that does not vary."""
    both = ~np.isnan(first) & ~np.isnan(second)
    if both.sum() < 3:
        return None
    x, y = first[both] - first[both].mean(), second[both] - second[both].mean()
    scale = math.sqrt(float(x @ x) * float(y @ y))
    return float(x @ y) / scale if scale > 1e-12 else None
