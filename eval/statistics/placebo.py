"""When a gap may be called one: who serves as a control, placebos that can withhold a claim, and words for verdicts.

A control cannot know any of the problems, so a gap found in it is the fault of the method, here and at this date. Each
control is therefore tested like the model itself, against the other controls (a placebo). With

``gap found``      the model's own p by Holm over all models tested is below 5 %, and its gap is positive and, in
                   log-odds, larger than that of every placebo
``gap not found``  otherwise; always with the gap that could have been seen 4 times out of 5
``withheld``       a placebo is significant by Holm over the placebos, or as large as the model's gap; no control is
                   comparable; the run is broken, or looks so (it fails after the cut-off what nearly all controls
                   solve: :func:`eval.statistics.run_health.fails_easy`); all or no problems of a side are solved; there
                   is too little evidence; or (the caller says so) what is found on several platforms together is borne
                   out by none of them

A gap that is not found at a date does not make a model clean: what it was trained on may reach past that date.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eval.statistics.gap import (
    MIN_CONTESTS,
    MIN_CONTROLS,
    MIN_ITEMS,
    REACH,
    Gap,
    Sides,
    detectable_gap,
    find_gap,
    within_reach,
)
from eval.statistics.multiplicity import holm
from eval.statistics.run_health import EasyAfter, fails_easy
from eval.statistics.scores import FloatArray, IntArray

ALPHA = 0.05
DATES_PER_SIDE = 3
ODD_Z = -3.0


class Verdict(StrEnum):
    """The words of a verdict."""

    FOUND = "gap found"
    NOT_FOUND = "gap not found"
    PLACEBO = "withheld: placebo failed"
    NO_CONTROL = "withheld: no comparable control"
    BROKEN = "withheld: run broken"
    SUSPECT = "withheld: run broken?"
    ALL_ALIKE = "withheld: all or none solved"
    THIN = "withheld: too little evidence"
    PLATFORMS = "withheld: no platform bears it out"


@dataclass(frozen=True, eq=False)
class Case:
    """A model to judge: its row in the scores, the sides of its own cut-off, and the rows of its controls.

    ``broken`` says why its run must not be judged, if so.
    """

    model: int
    parts: Sides
    controls: tuple[int, ...]
    broken: str | None = None


@dataclass(frozen=True)
class Placebo:
    """A test that ought to find nothing. ``p_holm`` is None where the gap was refused.

    Of a control: ``control`` is its row. Of the model itself at another date: ``time`` is that of the last problem
    before it, and all problems are from the same side of the cut-off.
    """

    gap: Gap
    p_holm: float | None = None
    control: int | None = None
    time: float | None = None


@dataclass(frozen=True)
class Judgement:
    """A verdict with all that it rests on. ``p_holm`` is adjusted for ``n_tests`` models.

    ``sentence`` says the verdict, with its numbers where it is not withheld. ``detectable`` is the gap (a share, over
    the problems after the cut-off) that p would have found 4 times out of 5, with so many tests; a placebo may still
    withhold it. ``placebo_range`` (log-odds) spans the placebos of the controls that
    counted; ``against`` are the rows of those that withhold the claim. ``other_dates`` never withhold: a model whose
    break lies elsewhere shows it there, and ``warnings`` say so.
    """

    model: int
    verdict: Verdict
    sentence: str
    n_tests: int
    gap: Gap | None = None
    p_holm: float | None = None
    placebos: tuple[Placebo, ...] = ()
    placebo_range: tuple[float, float] | None = None
    other_dates: tuple[Placebo, ...] = ()
    warnings: tuple[str, ...] = ()
    against: tuple[int, ...] = ()
    detectable: float | None = None


@dataclass(frozen=True, eq=False)
class _Board:
    scores: FloatArray
    clusters: IntArray
    times: FloatArray
    families: IntArray

    def gap(
        self,
        row: int,
        controls: Sequence[int],
        parts: Sides,
        *,
        any_ability: bool = False,
        min_controls: int = MIN_CONTROLS,
    ) -> Gap:
        rows = np.asarray(controls, dtype=np.int64)
        return find_gap(
            self.scores[row],
            self.scores[rows],
            parts,
            self.clusters,
            families=self.families[rows],
            any_ability=any_ability,
            min_controls=min_controls,
        )

    def easy_after(self, case: Case) -> EasyAfter:
        peers = self.scores[np.asarray(case.controls, dtype=np.int64)]
        return fails_easy(self.scores[case.model], peers, case.parts.before, case.parts.after)


def judge_gaps(
    scores: ArrayLike,
    clusters: ArrayLike,
    times: ArrayLike,
    cases: Sequence[Case],
    *,
    families: ArrayLike | None = None,
    like_ability: bool = False,
) -> tuple[Judgement, ...]:
    """A verdict for each case, over ``scores`` (models x problems) with the contest and the time of each problem.

    A placebo leaves out the control's whole family. Every placebo counts; with ``like_ability`` that of a control which
    the others do not bracket counts only for models that lie within 0.5 logits of it, or beyond: it says what weak
    controls do to a strong model (or strong ones to a weak), and nothing about one in their midst.
    """
    table = np.asarray(scores, dtype=np.float64)
    kin = np.arange(len(table)) if families is None else np.asarray(families)
    moments = np.asarray(times, dtype=np.float64)
    board = _Board(table, np.asarray(clusters), moments, kin.astype(np.int64))
    if kin.shape != table.shape[:1] or board.times.shape != table.shape[1:]:
        raise ValueError(f"families of shape {kin.shape}, times of {board.times.shape}, scores of {table.shape}")
    if any(case.model in case.controls for case in cases):
        raise ValueError("a model cannot be a control of itself")
    gaps = [None if case.broken else board.gap(case.model, case.controls, case.parts) for case in cases]
    adjusted = _holm_of(gaps)
    n_tests = sum(p is not None for p in adjusted)
    known: dict[tuple[bytes, bytes, tuple[int, ...]], tuple[Placebo, ...]] = {}
    judged = []
    for case, gap, p in zip(cases, gaps, adjusted, strict=True):
        if gap is None or gap.logit is None or p is None:
            judged.append(_without_numbers(case, gap, n_tests))
            continue
        key = (case.parts.before.tobytes(), case.parts.after.tobytes(), case.controls)
        if key not in known:
            known[key] = _control_placebos(board, case)
        heard = [placebo for placebo in known[key] if not like_ability or _has_a_say(placebo, case, gap)]
        judged.append(_judged(board, case, gap, (p, n_tests), (known[key], heard)))
    return tuple(judged)


def other_dates(times: ArrayLike, clusters: ArrayLike, parts: Sides, per_side: int = DATES_PER_SIDE) -> list[Sides]:
    """Placebo dates: up to so many on each side of a cut-off, spread evenly, with the problems of that side alone.

    Each leaves at least 4 contests and 15 problems before and after it.
    """
    moments, groups = np.asarray(times, dtype=np.float64), np.asarray(clusters)
    found = []
    for side in (parts.before, parts.after):
        possible = []
        for moment in np.unique(moments[side]):
            halves = Sides(side & (moments <= moment), side & (moments > moment))
            if all(_enough(half, groups) for half in (halves.before, halves.after)):
                possible.append(halves)
        places = np.linspace(0, len(possible) - 1, per_side + 2)[1:-1] if possible else np.empty(0)
        found += [possible[place] for place in sorted({round(float(place)) for place in places})]
    return found


def _enough(half: NDArray[np.bool_], groups: IntArray) -> bool:
    return bool(half.sum() >= MIN_ITEMS and np.unique(groups[half]).size >= MIN_CONTESTS)


def _control_placebos(board: _Board, case: Case) -> tuple[Placebo, ...]:
    gaps = []
    for row in case.controls:
        others = [other for other in case.controls if board.families[other] != board.families[row]]
        # One control fewer than the model has: with three of them each is compared with the other two.
        gaps.append(board.gap(row, others, case.parts, any_ability=True, min_controls=MIN_CONTROLS - 1))
    return tuple(Placebo(gap, p, control=row) for gap, p, row in zip(gaps, _holm_of(gaps), case.controls, strict=True))


def _date_placebos(board: _Board, case: Case) -> tuple[Placebo, ...]:
    dates = other_dates(board.times, board.clusters, case.parts)
    gaps = [board.gap(case.model, case.controls, parts, any_ability=True) for parts in dates]
    moments = [float(board.times[parts.before].max()) for parts in dates]
    return tuple(Placebo(gap, p, time=moment) for gap, p, moment in zip(gaps, _holm_of(gaps), moments, strict=True))


def _holm_of(gaps: Sequence[Gap | None]) -> list[float | None]:
    """Adjusted p values of the gaps that have one, None for the rest, which were not tested."""
    values = [gap.logit.p if gap is not None and gap.logit is not None else None for gap in gaps]
    adjusted = iter(holm([value for value in values if value is not None]).tolist())
    return [None if value is None else float(next(adjusted)) for value in values]


def _without_numbers(case: Case, gap: Gap | None, n_tests: int) -> Judgement:
    if gap is None:
        return Judgement(case.model, Verdict.BROKEN, f"{Verdict.BROKEN} ({case.broken})", n_tests)
    enough = all(side.n_items >= MIN_ITEMS and side.n_contests >= MIN_CONTESTS for side in (gap.before, gap.after))
    alike = enough and (gap.before.bound is not None or gap.after.bound is not None)
    verdict = Verdict.NO_CONTROL if gap.comparable is False else Verdict.ALL_ALIKE if alike else Verdict.THIN
    return Judgement(case.model, verdict, f"{verdict} ({gap.refusal})", n_tests, gap, warnings=gap.warnings)


def _has_a_say(placebo: Placebo, case: Case, gap: Gap) -> bool:
    """Whether a placebo tells something about a model of this ability; where that is not known, it does."""
    used = [case.controls[place] for place in gap.controls]
    if placebo.gap.ability is None or gap.ability is None or placebo.control not in used:
        return True
    distance = gap.ability - gap.control_abilities[used.index(placebo.control)]
    return tells_of(placebo.gap.ability, placebo.gap.control_abilities, distance)


def tells_of(ability: float, others: ArrayLike, distance: float) -> bool:
    """Whether a control's placebo, beside ``others``, tells something about a model so far above it (in logits).

    One that the others do not bracket shows what they do to a model as far from them as itself: to one that lies within
    0.5 logits of it, or beyond.
    """
    among = np.asarray(others, dtype=np.float64)
    if within_reach(ability, among):
        return True
    return distance >= -REACH if ability > among.max() else distance <= REACH


def _judged(
    board: _Board, case: Case, gap: Gap, test: tuple[float, int], placebos: tuple[Sequence[Placebo], Sequence[Placebo]]
) -> Judgement:
    """The verdict where the model itself has been tested, with all placebos and those that count."""
    p_holm, n_tests = test
    shown, counted = placebos
    sizes = [placebo.gap.logit.value for placebo in counted if placebo.gap.logit is not None]
    failed = [placebo for placebo in counted if placebo.p_holm is not None and placebo.p_holm < ALPHA]
    assert gap.logit is not None
    assert gap.points is not None
    verdict, reason = _weighed(gap, p_holm, sizes, len(failed))
    easy = board.easy_after(case) if verdict is Verdict.FOUND else None
    if easy is not None and easy.fails:
        verdict, reason = Verdict.SUSPECT, _failing(easy)
    detectable = detectable_gap(gap.points.se, gap.points.degrees, n_tests)
    dates = _date_placebos(board, case)
    return Judgement(
        case.model,
        verdict,
        _sentence(verdict, reason, gap, test, detectable),
        n_tests,
        gap,
        p_holm,
        tuple(shown),
        (min(sizes), max(sizes)) if sizes else None,
        dates,
        (*gap.warnings, *_cautions(gap, p_holm, dates), *_doubts(easy)),
        _against(gap, counted, failed) if verdict is Verdict.PLACEBO else (),
        detectable,
    )


def _doubts(easy: EasyAfter | None) -> tuple[str, ...]:
    doubtful = easy is not None and easy.z is not None and easy.z < ODD_Z and not easy.fails
    return (f"the run may be broken in part: {_failing(easy)}",) if easy is not None and doubtful else ()


def _failing(easy: EasyAfter) -> str:
    assert easy.observed is not None
    assert easy.expected is not None
    return (
        f"after the cut-off it solves {easy.observed:.0%} of {easy.n} problems that nearly all controls solve, where "
        f"{easy.expected:.0%} at least were to be expected: look at its answers there"
    )


def _against(gap: Gap, counted: Sequence[Placebo], failed: Sequence[Placebo]) -> tuple[int, ...]:
    """The controls that show a gap which they cannot have; where none does, those with one as large as the model's."""
    assert gap.logit is not None
    size = gap.logit.value
    as_large = [one for one in counted if one.gap.logit is not None and abs(one.gap.logit.value) >= size]
    return tuple(one.control for one in failed or as_large if one.control is not None)


def _weighed(gap: Gap, p_holm: float, sizes: list[float], n_failed: int) -> tuple[Verdict, str]:
    assert gap.logit is not None
    if not sizes:
        return Verdict.NO_CONTROL, "no placebo could be computed from the controls"
    if n_failed:
        return Verdict.PLACEBO, f"{n_failed} of {len(sizes)} controls show a gap that they cannot have"
    if p_holm >= ALPHA or gap.logit.value <= 0:
        return Verdict.NOT_FOUND, ""
    largest = max(abs(size) for size in sizes)
    if gap.logit.value <= largest:
        return Verdict.PLACEBO, f"a control shows a gap as large as the model's, {largest:.2f} in log-odds"
    return Verdict.FOUND, f"controls show {largest:.2f} at most in log-odds, the model {gap.logit.value:.2f}"


def _sentence(verdict: Verdict, reason: str, gap: Gap, test: tuple[float, int], detectable: float) -> str:
    assert gap.points is not None
    size = (
        f"{100 * gap.points.value:+.1f} points (s.e. {100 * gap.points.se:.1f}; Holm p {test[0]:.2g}, {test[1]} tests)"
    )
    if verdict is Verdict.FOUND:
        return f"{verdict}: {size}; {reason}"
    if verdict is Verdict.NOT_FOUND:
        return f"{verdict} (could have seen >= {100 * detectable:.1f} points): {size}"
    return f"{verdict} ({reason})"


def _cautions(gap: Gap, p_holm: float, dates: tuple[Placebo, ...]) -> tuple[str, ...]:
    assert gap.logit is not None
    found = []
    if p_holm < ALPHA and gap.logit.value < 0:
        found.append("the model does better after the cut-off than its peers: look at the run and at the controls")
    elsewhere = [
        date
        for date in dates
        if date.gap.logit is not None and date.p_holm is not None and date.p_holm < ALPHA and date.gap.logit.value > 0
    ]
    if elsewhere:
        found.append(f"a gap shows at {len(elsewhere)} of {len(dates)} other dates too: its break may lie elsewhere")
    return tuple(found)
