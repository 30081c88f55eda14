"""How much better a model is on problems from before a cut-off than its peers would make one expect.

The plain difference of two means says little: problems become harder with time. Models whose cut-off lies before every
problem (the controls) meet the same problems, and their own change is taken away. For problem i with the score y_i:

``linear``  y_i less the mean of the controls' scores, regressed on "before the cut-off" (E1; easy to read)
``logit``   logit p_i = a + s * (-b_i) + delta * before_i, where b_i is the difficulty by the controls alone, s is free
            (E2; what a verdict rests on)
``points``  what delta is worth in shares of problems solved, on average over the problems after the cut-off

Standard errors are clustered by contest and take difficulties as known; p values are by Student's t with (contests - 2)
degrees of freedom. A cut-off is an interval: problems within it are undecidable and left out. Thin evidence is refused
with a sentence. The difficulties before and after the cut-off have prior means of their own: with one mean for all, few
controls and problems that become harder, the prior takes part of the change back and leaves a false gap.

Sources: Bertrand, Duflo and Mullainathan 2004, "How much should we trust differences-in-differences estimates?", for
the errors; the difficulty fit is :mod:`eval.statistics.irt`, the regressions :mod:`eval.statistics.regression`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eval.statistics.intervals import clopper_pearson, t_quantile
from eval.statistics.irt import Fixed, Items, Kind, fit
from eval.statistics.irt_newton import Settings
from eval.statistics.regression import Estimate, Refusal, average_effect, logit, ols
from eval.statistics.scores import FloatArray, IntArray

BoolArray = NDArray[np.bool_]

# Below 4 contests on a side, draws from real ones gave false positives in up to 24 % of tests, where 5 % are promised.
MIN_CONTESTS = 4
FEW_CONTESTS = 8
MIN_ITEMS = 15
MIN_CONTROLS = 3
# How far, in logits, a model may lie outside the abilities of its controls.
REACH = 0.5
LEVEL, POWER = 0.05, 0.8
CEILING, FLOOR = 0.90, 0.05
# Controls are few and of very different ability: the priors must not pull them together.
PRIOR = Settings(ability_sd=2.0, difficulty_sd=3.0)


@dataclass(frozen=True, eq=False)
class Sides:
    """Which problems are from before a cut-off and which from after it (two masks); undecidable ones are in neither."""

    before: BoolArray
    after: BoolArray


@dataclass(frozen=True)
class Side:
    """The problems of one side that have results: how many, of how many contests, and mean scores as shares.

    ``control_mean`` is over those that all controls have. ``bound`` is the exact 95 % interval of the model's mean,
    given where every one of its scores here is 0 or every one is 1.
    """

    n_items: int
    n_contests: int
    mean: float | None = None
    control_mean: float | None = None
    bound: tuple[float, float] | None = None


@dataclass(frozen=True)
class Gap:
    """A model's gap at a cut-off; positive: better on the problems before it.

    ``linear``, ``points`` (over the problems after the cut-off) and ``points_all`` (over all) are shares: 0.05 is five
    points; ``logit`` is in log-odds. ``controls`` are the rows that were used: those with 15 results on each side.
    ``ability`` and, in the order of the controls, ``control_abilities`` are in logits; ``comparable`` says whether the
    one lies within the others, or up to 0.5 outside (False as well where there are too few controls). ``n_undecidable``
    problems lie within the cut-off, ``n_missing`` others have no result of the model or of any control.

    With a ``refusal`` there is no estimate. ``linear`` alone is None where too few problems have all controls.
    """

    before: Side
    after: Side
    n_undecidable: int
    n_missing: int
    controls: tuple[int, ...]
    linear: Estimate | None = None
    logit: Estimate | None = None
    points: Estimate | None = None
    points_all: Estimate | None = None
    ability: float | None = None
    control_abilities: tuple[float, ...] = ()
    comparable: bool | None = None
    refusal: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Scale:
    """Difficulties of problems, the ability of a model and those of the controls, in logits on the controls' scale."""

    difficulty: FloatArray
    ability: float
    controls: FloatArray


@dataclass(frozen=True, eq=False)
class _Data:
    """The problems in use: the model's scores (n), the controls' (controls x n), side and contest of each."""

    tested: FloatArray
    controls: FloatArray
    before: BoolArray
    clusters: IntArray

    def side(self, before: bool) -> Side:
        here = self.before if before else ~self.before
        values, complete = self.tested[here], np.isfinite(self.controls[:, here]).all(axis=0)
        if not values.size:
            return Side(0, 0)
        peers = self.controls[:, here][:, complete]
        every = values.max() == 0 or values.min() == 1
        return Side(
            int(values.size),
            int(np.unique(self.clusters[here]).size),
            float(values.mean()),
            float(peers.mean()) if peers.size else None,
            clopper_pearson(int(values.sum()), int(values.size)) if every else None,
        )


def sides(times: ArrayLike, low: float, high: float) -> Sides:
    """Problems by their times, in the unit of the cut-off, which lies somewhere in [low, high].

    Before is up to ``low``, after is later than ``high``; what lies between is undecidable, as is NaN (no time).
    """
    moments = np.asarray(times, dtype=np.float64)
    if not low <= high:
        raise ValueError(f"a cut-off from {low} to {high} ends before it starts")
    return Sides(moments <= low, moments > high)


def find_gap(
    tested: ArrayLike,
    controls: ArrayLike,
    parts: Sides,
    clusters: ArrayLike,
    *,
    families: ArrayLike | None = None,
    any_ability: bool = False,
    min_controls: int = MIN_CONTROLS,
) -> Gap:
    """The gap of one model: ``tested`` has its scores, ``controls`` (models x problems) those of its peers, NaN = none.

    Refused: fewer than 4 contests or 15 problems on a side, controls of fewer than 3 families (``families`` numbers kin
    among them alike, so that two runs of one model count once; by default each is its own), a side on which the model
    solves all or nothing, and a model more than 0.5 logits outside the abilities of the controls (``any_ability``: only
    warned of). Raises ``ValueError`` for shapes that do not match.
    """
    scores, peers, groups = _checked(tested, controls, parts, clusters)
    kin = np.arange(len(peers)) if families is None else np.asarray(families)
    if kin.shape != peers.shape[:1]:
        raise ValueError(f"families of shape {kin.shape} for {len(peers)} controls")
    decided = parts.before | parts.after
    there = decided & np.isfinite(scores)
    used = tuple(
        row
        for row, results in enumerate(np.isfinite(peers))
        if all((results & there & half).sum() >= MIN_ITEMS for half in (parts.before, parts.after))
    )
    usable = there & np.isfinite(peers[list(used)]).any(axis=0) if used else there
    data = _Data(scores[usable], peers[list(used)][:, usable], parts.before[usable], groups[usable])
    shown = Gap(
        data.side(before=True), data.side(before=False), int((~decided).sum()), int((decided & ~usable).sum()), used
    )
    missing = _missing(shown)
    if missing:
        return replace(shown, refusal="; ".join(missing))
    lacking = too_few_controls(kin[list(used)], f"with {MIN_ITEMS} results on each side", min_controls)
    if lacking is not None:
        return replace(shown, comparable=False, refusal=lacking)
    return _estimated(shown, data, control_scale(data.tested, data.controls, strata=data.before), any_ability)


def too_few_controls(families: ArrayLike, condition: str, least: int = MIN_CONTROLS) -> str | None:
    """Why controls of these families (those that meet a condition, in words) are too few; None where they are not."""
    n_runs, n_families = np.size(families), np.unique(families).size
    if n_families >= least:
        return None
    runs = f" ({n_runs} runs)" if n_runs > n_families else ""
    return f"needs at least {least} controls of different families {condition}, there are {n_families}{runs}"


def within_reach(ability: float, controls: ArrayLike) -> bool:
    """Whether controls of these abilities bracket a model: it lies between them, or up to 0.5 logits outside."""
    among = np.asarray(controls, dtype=np.float64)
    return bool(among.min() - REACH <= ability <= among.max() + REACH)


def detectable_gap(se: float, degrees: float, n_tests: int = 1) -> float:
    """The true gap, in the unit of its standard error, that p finds 4 times out of 5 where it is one of several tests.

    (t(1 - 0.025 / n_tests) + t(0.8)) s.e., by quantiles of Student's t: Holm holds the smallest of n p values against
    0.05 / n, and that step is the one that a lone gap has to pass. For one test and many contests it is 2.80 s.e.
    """
    return (t_quantile(degrees, 1 - LEVEL / 2 / n_tests) + t_quantile(degrees, POWER)) * se


def control_scale(
    tested: ArrayLike, controls: ArrayLike, settings: Settings = PRIOR, strata: ArrayLike | None = None
) -> Scale:
    """Difficulties and abilities by the controls alone (models x problems), and the ability of a model on their scale.

    A one-parameter fit; ``strata`` numbers groups of problems whose difficulties have a prior mean of their own. The
    model's ability is that on all problems given, before the cut-off and after it: on those after it alone a model that
    has lost a lot would look weaker than its controls.
    """
    peers = fit(controls, Kind.ONE_PL, settings=settings, strata=strata)
    known = Fixed(items=Items(peers.items.difficulty, peers.items.slope))
    alone = fit(np.asarray(tested, dtype=np.float64)[None], Kind.ONE_PL, fixed=known, settings=settings)
    return Scale(peers.items.difficulty, float(alone.theta[0]), peers.theta)


def _estimated(shown: Gap, data: _Data, scale: Scale, any_ability: bool) -> Gap:
    """The numbers, once there is enough of everything."""
    low, high = float(scale.controls.min()), float(scale.controls.max())
    comparable = within_reach(scale.ability, scale.controls)
    shown = replace(
        shown, ability=scale.ability, control_abilities=tuple(scale.controls.tolist()), comparable=comparable
    )
    outside = f"its ability is {scale.ability:.2f} logits, those of its controls lie between {low:.2f} and {high:.2f}"
    if not comparable and not any_ability:
        return replace(shown, refusal=outside)
    design = np.column_stack([np.ones(data.tested.size), -scale.difficulty, data.before])
    fitted = logit(data.tested, design, data.clusters)
    if isinstance(fitted, Refusal):
        return replace(shown, refusal=fitted.reason)
    degrees = fitted.n_clusters - 2
    points = average_effect(fitted, design, 2, ~data.before, degrees)
    return replace(
        shown,
        linear=_linear(data),
        logit=fitted.estimate(2, degrees),
        points=points,
        points_all=average_effect(fitted, design, 2, None, degrees),
        warnings=(*_warnings(shown), *(() if comparable else (outside,))),
    )


def _linear(data: _Data) -> Estimate | None:
    """E1, over the problems that all controls have: means of different controls could not be compared."""
    complete = np.isfinite(data.controls).all(axis=0)
    before, clusters = data.before[complete], data.clusters[complete]
    for half in (before, ~before):
        if half.sum() < MIN_ITEMS or np.unique(clusters[half]).size < MIN_CONTESTS:
            return None
    differences = data.tested[complete] - data.controls[:, complete].mean(axis=0)
    fitted = ols(differences, np.column_stack([np.ones(before.size), before]), clusters)
    return None if isinstance(fitted, Refusal) else fitted.estimate(1, fitted.n_clusters - 2)


def _missing(shown: Gap) -> list[str]:
    """What the two sides lack, a clause for each."""
    clauses = []
    for side, where in ((shown.before, "before"), (shown.after, "after")):
        if side.n_contests < MIN_CONTESTS:
            clauses.append(f"needs at least {MIN_CONTESTS} contests {where} the cut-off, there are {side.n_contests}")
        if side.n_items < MIN_ITEMS:
            clauses.append(f"needs at least {MIN_ITEMS} problems {where} the cut-off, there are {side.n_items}")
        elif side.bound is not None:
            clauses.append(_all_alike(side, where))
    return clauses


def _all_alike(side: Side, where: str) -> str:
    assert side.bound is not None
    problems = f"of the {side.n_items} problems {where} the cut-off"
    if side.mean == 0:
        return (
            f"the model solves none {problems} (of all such, at most {side.bound[1]:.1%}): the gap has no finite size"
        )
    return f"the model solves all {problems} (of all such, at least {side.bound[0]:.1%}): the gap has no finite size"


def _warnings(shown: Gap) -> tuple[str, ...]:
    found = []
    for side, where in ((shown.before, "before"), (shown.after, "after")):
        if side.n_contests < FEW_CONTESTS:
            found.append(f"fewer than {FEW_CONTESTS} contests {where} the cut-off ({side.n_contests}): a rough error")
        if side.mean is not None and not FLOOR <= side.mean <= CEILING:
            found.append(f"{side.mean:.1%} of the problems {where} the cut-off are solved: little room for a gap")
    return tuple(found)


def _checked(
    tested: ArrayLike, controls: ArrayLike, parts: Sides, clusters: ArrayLike
) -> tuple[FloatArray, FloatArray, IntArray]:
    scores, peers = np.asarray(tested, dtype=np.float64), np.asarray(controls, dtype=np.float64)
    groups = np.asarray(clusters)
    if scores.ndim != 1 or peers.ndim != 2 or peers.shape[1] != scores.size:
        raise ValueError(f"scores of shape {scores.shape}, and of the controls {peers.shape}")
    if not groups.shape == parts.before.shape == parts.after.shape == scores.shape:
        raise ValueError(f"{scores.size} problems, clusters of shape {groups.shape}, sides of {parts.before.shape}")
    if (parts.before & parts.after).any():
        raise ValueError("a problem cannot be from before and from after a cut-off")
    if any(((table < 0) | (table > 1)).any() for table in (scores, peers)):
        raise ValueError("scores must lie between 0 and 1")
    return scores, peers, groups.astype(np.int64)
