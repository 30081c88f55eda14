"""Where a set of problems measures and where it does not: information, what weighs how much, gaps and what to add.

All difficulties and abilities are logits on the scale of one fit (:mod:`eval.statistics.irt`). A problem that nobody or
everybody solves carries no information there: its place comes from the prior alone, and a heap of them would show as a
false peak. Such problems are counted apart, as beyond the strongest model or below the weakest.

Source of test information: Lord 1980, "Applications of Item Response Theory to Practical Testing Problems", chapter 5.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from eval.statistics.irt import Fit, Fixed, fit, observed_scores
from eval.statistics.irt_newton import BoolArray
from eval.statistics.item_rest import centred, rest_correlations
from eval.statistics.scores import FloatArray

BAND_WIDTH = 0.5
MIN_PROBLEMS = 5
MAX_SE = 0.3
BELOW_WEAKEST, ABOVE_STRONGEST = 0.5, 1.0
MIN_ITEM_REST = 0.2
MIN_MODELS = 5

Group = TypeVar("Group", bound=Hashable)


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
class Weight:
    """How much a group of problems counts: their number, their share of all problems and of all information, in [0, 1].

    Information is that at the abilities of the models, on average; its share is None where there is none at all.
    """

    n_problems: int
    share_of_problems: float
    share_of_information: float | None


@dataclass(frozen=True)
class Band:
    """A band of difficulty [low, high): its problems, without those that nobody or everybody solves; and its models.

    ``se`` is the error of an ability at its middle; ``information`` the test information there, and
    ``share_of_information`` what the band's problems weigh (see ``Weight``). ``near`` are the rows of the models of
    interest within one width of its middle. ``gap`` says what is too little, None where nothing is.
    """

    low: float
    high: float
    n_problems: int
    information: float
    share_of_information: float | None
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


def information_curve(fitted: Fit, scores: ArrayLike, points: ArrayLike) -> tuple[InformationPoint, ...]:
    """Test information I(t) = sum of a^2 P(1 - P) at each of ``points``, without problems that all or none solve."""
    at = np.asarray(points, dtype=np.float64)
    chosen = informative(scores)
    information = fitted.information(at)[:, chosen].sum(axis=1)
    difficulty, ability = fitted.items.difficulty[chosen], fitted.theta[fitted.cells_of_model > 0]
    return tuple(
        InformationPoint(theta, amount, _error(amount), _count(difficulty, theta), _count(ability, theta))
        for theta, amount in zip(at.tolist(), information.tolist(), strict=True)
    )


def group_weights(fitted: Fit, scores: ArrayLike, groups: Sequence[Group]) -> dict[Group, Weight]:
    """How much each group of problems weighs, most problems first; ``groups`` has one for each problem.

    Problems without a result do not count.
    """
    answered = ~np.isnan(observed_scores(scores)).all(axis=0)
    if len(groups) != answered.size:
        raise ValueError(f"groups of {len(groups)} problems for scores of {answered.size}")
    information = _mean_information(fitted) * informative(scores)
    total, n_answered = float(information.sum()), int(answered.sum())
    members: dict[Group, list[int]] = {}
    for place in np.flatnonzero(answered).tolist():
        members.setdefault(groups[place], []).append(place)
    return {
        group: Weight(
            len(places), len(places) / n_answered, float(information[places].sum()) / total if total > 0 else None
        )
        for group, places in sorted(members.items(), key=lambda one: -len(one[1]))
    }


def coverage(fitted: Fit, scores: ArrayLike, of_interest: Sequence[int] | None = None) -> Coverage:
    """Bands of half a logit about the models, with their gaps: fewer than 5 problems, or an ability's s.e. above 0.3.

    ``of_interest`` are the rows of the models that matter, None: all.
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
    weights = group_weights(fitted, scores, np.floor(fitted.items.difficulty / BAND_WIDTH + 0.5).tolist())
    matter = present if of_interest is None else np.intersect1d(present, np.asarray(of_interest, dtype=np.int64))
    bands = tuple(
        _band(
            point,
            weights.get(point.theta / BAND_WIDTH),
            tuple(matter[np.abs(fitted.theta[matter] - point.theta) <= BAND_WIDTH].tolist()),
        )
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
    correlation = float(rest_correlations(centred(np.column_stack([table, given])))[-1])
    reasons = []
    if not low <= difficulty < high:
        reasons.append(f"its difficulty is {difficulty:.2f} (s.e. {se:.2f}), outside {low:.2f} to {high:.2f}")
    if math.isnan(correlation):
        reasons.append("its correlation with the other problems cannot be computed")
    elif correlation <= min_item_rest:
        reasons.append(f"its correlation with the other problems is {correlation:.2f}, not above {min_item_rest:.2f}")
    sentence = "refused: " + "; ".join(reasons) if reasons else f"accepted: its difficulty is {difficulty:.2f}"
    return Acceptance(not reasons, sentence, difficulty, se, None if math.isnan(correlation) else correlation)


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


def _band(point: InformationPoint, weight: Weight | None, near: tuple[int, ...]) -> Band:
    share = 0.0 if weight is None else weight.share_of_information
    reasons = []
    if point.n_problems < MIN_PROBLEMS:
        reasons.append(f"{point.n_problems} of {MIN_PROBLEMS} problems")
    if point.se is None or point.se > MAX_SE:
        error = "not known" if point.se is None else f"{point.se:.2f}, above {MAX_SE}"
        reasons.append(f"the error of an ability here is {error}")
    low, high = point.theta - BAND_WIDTH / 2, point.theta + BAND_WIDTH / 2
    return Band(low, high, point.n_problems, point.information, share, point.se, near, "; ".join(reasons) or None)
