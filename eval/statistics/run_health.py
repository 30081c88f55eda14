"""Whether a run is fit to be judged at all: a broken run looks exactly like contamination.

``easy_guard``       easy problems of one period that a model of this ability ought to solve, and does not
``answer_health``    shares of answers that are empty, cut off, failed or timed out, and samples that are all the same
``changed_answers``  the same name on the same problems, with other results than before

For a model and a period (a month, say), with y over its easy problems and P by a 1PL fit,

    z = (sum y - sum P) / sqrt(sum P (1 - P) + 0.25)

and the period is withheld where |z| is above 5. P comes from the other models, and from what this one did in other
periods. Each of them knows nothing of the cells it is compared with: a broken month would otherwise pull its own
expectation down.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eval.statistics.gap import PRIOR
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
    """The results of a model (its row) and, for each period, which of its cells count."""

    model: int
    numbers: IntArray
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

    Fewer than 5 easy problems in the period, or fewer than 5 models with results: no judgement. ``leave_out=False``
    takes P from one fit to all cells, which is cheaper and sees less; ``screen`` does so for models none of whose
    periods is beyond that z in that fit: what is broken stands out there, too.
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
        places = _Periods(model, numbers, row, cells, n_models)
        of_model = places.judged(np.tile(whole.predict(whole.theta[[model]]), (numbers.size, 1)))
        suspect = any(one.z is not None and abs(one.z) >= screen for one in of_model)
        if leave_out and suspect and n_models >= MIN_MODELS:
            of_model = places.judged(_expected_without(table, model, whole, of_problem))
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


def _expected_without(table: FloatArray, model: int, whole: Fit, periods: IntArray) -> FloatArray:
    """P of one model, periods x problems, by difficulties from the others and its ability in the other periods.

    The others keep their abilities: a month of one model hardly moves them.
    """
    without = table.copy()
    without[model] = np.nan
    hard = fit(without, Kind.ONE_PL, fixed=Fixed(theta=whole.theta), start=whole, settings=whole.settings).items
    apart = np.where(periods == np.unique(periods)[:, None], np.nan, table[model])
    alone = fit(apart, Kind.ONE_PL, fixed=Fixed(items=Items(hard.difficulty, hard.slope)), settings=whole.settings)
    return alone.predict()


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
