"""Whether a run is fit to be judged at all: a broken run looks exactly like contamination.

``easy_guard``       easy problems of one period that a model of this ability ought to solve, and does not
``fails_easy``       after a cut-off, problems that nearly all controls solve and that it ought to solve, and does not
``answer_health``    shares of answers that are empty, cut off, failed or timed out, and samples that are all the same
``changed_answers``  the same name on the same problems, with other results than before

For a model and a period (a month, say), with y over its easy problems and P by a 1PL fit,

    z = (sum y - sum P) / sqrt(sum P (1 - P) + 0.25)

and the period is withheld where |z| is above 5. P comes from the other models, and from what this one did in other
periods. Each of them knows nothing of the cells it is compared with: a broken month would otherwise pull its own
expectation down. So would the other broken months of a run: what is withheld is left out of the ability, and all
periods are judged again, until no more of them are.

Limits: a run that is broken in most of its periods may pull its ability down so far that none of them stands out, or
that a sound one does (|z| above 5 upwards). ``fails_easy`` is there for those, at the one date where it matters. It
does not see a run that loses less than half of what is easy after that date, and it cannot tell a broken run from a
model that can do nothing but what it has learnt by heart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eval.statistics.gap import MIN_CONTROLS, PRIOR
from eval.statistics.irt import Fit, Fixed, Items, Kind, fit, observed_scores
from eval.statistics.irt_newton import Settings
from eval.statistics.scores import FloatArray, IntArray

BoolArray = NDArray[np.bool_]

MAX_Z = 5.0
MIN_EASY = 5
MIN_MODELS = 5
MAX_SHARE = 0.05
MIN_COMMON = 20
MIN_REPEATED = 10
NEARLY_ALL = 0.8


@dataclass(frozen=True)
class PeriodHealth:
    """A model (its row) in a period (its number), over the ``n_easy`` easy problems it has results on.

    ``observed`` and ``expected`` are mean scores; without a judgement, ``refusal`` says why and ``z`` is None.
    """

    model: int
    period: int
    n_easy: int
    observed: float | None = None
    expected: float | None = None
    z: float | None = None
    withheld: bool = False
    refusal: str | None = None


@dataclass(frozen=True)
class EasyAfter:
    """Over the ``n`` easy problems after a cut-off: mean score, what was to be expected, and z of the difference.

    ``fails``: z is below -5, and less than half of what was expected is solved. With fewer than 5 problems there are no
    numbers, and it is not said to fail.
    """

    n: int
    observed: float | None = None
    expected: float | None = None
    z: float | None = None
    fails: bool = False


@dataclass(frozen=True)
class AnswerCounts:
    """What became of a run's samples. ``asked`` counts all; one sample may be in several of the next four.

    ``repeated`` problems have two samples or more, ``all_equal`` of them only copies of one. ``distinct`` counts
    different outputs over the whole run, None where that is not known.
    """

    asked: int
    empty: int = 0
    truncated: int = 0
    failed: int = 0
    timed_out: int = 0
    repeated: int = 0
    all_equal: int = 0
    distinct: int | None = None


@dataclass(frozen=True)
class AnswerHealth:
    """Shares of all samples, and of the problems with several samples; None of nothing. Warnings are sentences."""

    empty: float | None
    truncated: float | None
    failed: float | None
    timed_out: float | None
    all_equal: float | None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Change:
    """Results of one name on the problems of two revisions; ``share`` changed of ``n_common``.

    ``alarm``: more than 5 %, so that the model behind the name or the harness is another. None with a ``refusal``.
    """

    n_common: int
    n_changed: int
    share: float | None = None
    alarm: bool | None = None
    refusal: str | None = None


@dataclass(frozen=True, eq=False)
class _Periods:
    """The results of a model (its row), the period of each problem, and for each period which of the cells count."""

    model: int
    numbers: IntArray
    of_problem: IntArray
    row: FloatArray
    cells: list[BoolArray]
    n_models: int

    def judged(self, expected: FloatArray) -> list[PeriodHealth]:
        """By P(solved), periods x problems."""
        periods = zip(self.numbers.tolist(), expected, self.cells, strict=True)
        return [
            _judged(self.model, number, self.row[here], chances[here], self.n_models)
            for number, chances, here in periods
        ]

    def judged_apart(self, known: Fixed, settings: Settings) -> list[PeriodHealth]:
        """By known difficulties, and by the model's ability in the periods that are neither judged nor withheld."""
        withheld: set[int] = set()
        while True:
            row = np.where(np.isin(self.of_problem, sorted(withheld)), np.nan, self.row)
            apart = np.where(self.of_problem == self.numbers[:, None], np.nan, row)
            found = self.judged(fit(apart, Kind.ONE_PL, fixed=known, settings=settings).predict())
            enough = np.isfinite(apart).sum(axis=1) >= MIN_EASY
            found = [one if it_is else _nothing_else(one) for one, it_is in zip(found, enough.tolist(), strict=True)]
            now = {one.period for one in found if one.withheld}
            if now <= withheld:
                return found
            withheld |= now


def easy_guard(
    scores: ArrayLike,
    easy: ArrayLike,
    periods: ArrayLike,
    *,
    leave_out: bool = True,
    screen: float = 0.0,
    settings: Settings = PRIOR,
) -> tuple[PeriodHealth, ...]:
    """Each model in each period, models first: ``scores`` (models x problems), a mask and a period for each problem.

    Fewer than 5 easy problems in the period, fewer than 5 results in others that are not withheld, or fewer than 5
    models with results: no judgement. ``leave_out=False`` takes P from one fit to all cells, which is cheaper and sees
    less; ``screen`` does so for models none of whose periods is beyond that z in that fit: what is broken stands out
    there, too.
    """
    table = observed_scores(scores)
    chosen, of_problem = np.asarray(easy, dtype=np.bool_), np.asarray(periods)
    if not chosen.shape == of_problem.shape == table.shape[1:]:
        raise ValueError(f"scores {table.shape}, easy {chosen.shape}, periods {of_problem.shape}")
    numbers = np.unique(of_problem)
    n_models = int(np.isfinite(table).any(axis=1).sum())
    whole = fit(table, Kind.ONE_PL, settings=settings)
    found: list[PeriodHealth] = []
    for model, row in enumerate(table):
        cells = [chosen & (of_problem == number) & np.isfinite(row) for number in numbers]
        places = _Periods(model, numbers, of_problem, row, cells, n_models)
        of_model = places.judged(np.tile(whole.predict(whole.theta[[model]]), (numbers.size, 1)))
        suspect = any(one.z is not None and abs(one.z) >= screen for one in of_model)
        if leave_out and suspect and n_models >= MIN_MODELS:
            of_model = places.judged_apart(_difficulties_without(table, model, whole), settings)
        found += of_model
    return tuple(found)


def withheld_cells(health: tuple[PeriodHealth, ...], periods: ArrayLike, n_models: int) -> BoolArray:
    """The cells (models x problems) of the periods that are withheld, not of their easy problems alone."""
    of_problem = np.asarray(periods)
    mask = np.zeros((n_models, of_problem.size), dtype=np.bool_)
    for one in health:
        if one.withheld:
            mask[one.model] |= of_problem == one.period
    return mask


def fails_easy(tested: ArrayLike, controls: ArrayLike, before: ArrayLike, after: ArrayLike) -> EasyAfter:
    """Whether a model that looks better before a cut-off solves even what is easy after it.

    ``tested`` has its scores, ``controls`` (models x problems) those of its peers, ``before`` and ``after`` are masks.
    Easy are problems after the cut-off that 3 controls or more have a result on, and solve at 80 % on average. P is by
    difficulties from the controls, at the ability that the model shows before the cut-off, and 80 % at most: a little
    is always lost to form, and P near 1 would make much of it. A model that has lost what it knew by heart still solves
    what weak ones solve; a run that has broken off does not.
    """
    scores, peers = observed_scores(np.asarray(tested, dtype=np.float64)[None])[0], observed_scores(controls)
    old, new = (np.asarray(mask, dtype=np.bool_) & np.isfinite(scores) for mask in (before, after))
    counts = np.isfinite(peers).sum(axis=0)
    solved = np.where(np.isfinite(peers), peers, 0.0).sum(axis=0)
    easy = new & (counts >= MIN_CONTROLS) & (solved >= NEARLY_ALL * counts)
    n = int(easy.sum())
    if n < MIN_EASY or not old.any():
        return EasyAfter(n)
    hard = fit(peers, Kind.ONE_PL, settings=PRIOR, strata=old).items
    known = Fixed(items=Items(hard.difficulty, hard.slope))
    alone = fit(np.where(old, scores, np.nan)[None], Kind.ONE_PL, fixed=known, settings=PRIOR)
    judged = _judged(0, 0, scores[easy], np.minimum(alone.predict()[0, easy], NEARLY_ALL), MIN_MODELS)
    assert judged.observed is not None
    assert judged.expected is not None
    assert judged.z is not None
    fails = judged.z < -MAX_Z and judged.observed < judged.expected / 2
    return EasyAfter(n, judged.observed, judged.expected, judged.z, fails)


def answer_health(counts: AnswerCounts) -> AnswerHealth:
    """The shares of a run's answers, with a warning for each that is above 5 %, and for copies in place of samples."""
    named = {
        "are empty": counts.empty,
        "are cut off": counts.truncated,
        "failed": counts.failed,
        "timed out": counts.timed_out,
    }
    if min(counts.asked, *named.values()) < 0 or max(named.values()) > counts.asked:
        raise ValueError("each count must lie between 0 and the number of samples")
    if not 0 <= counts.all_equal <= counts.repeated <= counts.asked:
        raise ValueError("problems whose samples are all equal are some of those with several samples")
    warnings = [
        f"{100 * count / counts.asked:.1f} % of {counts.asked} answers {name}"
        for name, count in named.items()
        if count > MAX_SHARE * counts.asked
    ]
    if counts.distinct == 1 and counts.asked >= MIN_REPEATED:
        warnings.append(f"all {counts.asked} answers of the run are the same text")
    if counts.repeated >= MIN_REPEATED and counts.all_equal == counts.repeated:
        warnings.append(f"the samples of each of {counts.repeated} problems are copies: they count as one sample")
    return AnswerHealth(
        _share(counts.empty, counts.asked),
        _share(counts.truncated, counts.asked),
        _share(counts.failed, counts.asked),
        _share(counts.timed_out, counts.asked),
        _share(counts.all_equal, counts.repeated),
        tuple(warnings),
    )


def _share(count: int, of: int) -> float | None:
    return count / of if of else None


def changed_answers(first: ArrayLike, second: ArrayLike, tolerance: float = 1e-9) -> Change:
    """How many results of one name differ between two revisions: scores by problem in one order, NaN = none.

    Fixed snapshots change 3 to 18 of 400 results when they are graded again; the alias of a newer model changed 157.
    Fewer than 20 common problems: no judgement.
    """
    before, after = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if before.ndim != 1 or before.shape != after.shape:
        raise ValueError(f"results of shapes {before.shape} and {after.shape}")
    common = np.isfinite(before) & np.isfinite(after)
    n_common = int(common.sum())
    n_changed = int((np.abs(before[common] - after[common]) > tolerance).sum())
    if n_common < MIN_COMMON:
        return Change(n_common, n_changed, refusal=f"needs at least {MIN_COMMON} common problems, there are {n_common}")
    share = n_changed / n_common
    return Change(n_common, n_changed, share, share > MAX_SHARE)


def _difficulties_without(table: FloatArray, model: int, whole: Fit) -> Fixed:
    """The difficulties by all models but one. The others keep their abilities: one model hardly moves them."""
    without = table.copy()
    without[model] = np.nan
    hard = fit(without, Kind.ONE_PL, fixed=Fixed(theta=whole.theta), start=whole, settings=whole.settings).items
    return Fixed(items=Items(hard.difficulty, hard.slope))


def _nothing_else(one: PeriodHealth) -> PeriodHealth:
    """A period without enough of the run beside it: a prior alone would stand for the model's ability."""
    refusal = one.refusal or f"needs at least {MIN_EASY} results of the run in other months to judge it by"
    return PeriodHealth(one.model, one.period, one.n_easy, refusal=refusal)


def _judged(model: int, period: int, values: FloatArray, chances: FloatArray, n_models: int) -> PeriodHealth:
    if values.size < MIN_EASY or n_models < MIN_MODELS:
        refusal = (
            f"needs at least {MIN_EASY} easy problems with results, there are {values.size}"
            if values.size < MIN_EASY
            else f"needs at least {MIN_MODELS} models with results, there are {n_models}"
        )
        return PeriodHealth(model, period, int(values.size), refusal=refusal)
    z = float((values.sum() - chances.sum()) / math.sqrt(float((chances * (1 - chances)).sum()) + 0.25))
    return PeriodHealth(model, period, int(values.size), float(values.mean()), float(chances.mean()), z, abs(z) > MAX_Z)
