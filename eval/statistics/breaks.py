"""When a break that a scan finds may be called one: the rules of :mod:`eval.statistics.placebo`, without a date.

A model is scanned beside controls that bracket its ability; what is much stronger than its controls breaks off from
them as soon as problems become harder. A control knows none of the problems, so a break in it is the fault of the
method: each control is scanned like the model, against the other controls (a placebo), and one that has a break at 5 %
(Holm over the placebos) withholds that of the model. A difference of means still leans where problems become harder:
at its date a break has to pass as a gap, which takes difficulty into account, with the placebos of that date and the
look at easy problems. p is that of the scan: the date was chosen by looking, and the p of the gap there means little.

What a scan is compared with hangs on nothing but the model and its controls, draws included.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eval.statistics.changepoint import Break, differences, scan
from eval.statistics.gap import MIN_CONTROLS, REACH, Sides, control_scale, too_few_controls, within_reach
from eval.statistics.multiplicity import holm
from eval.statistics.placebo import ALPHA, Case, Verdict, judge_gaps, tells_of
from eval.statistics.scores import FloatArray, IntArray

BoolArray = NDArray[np.bool_]

# The mean of the controls is over problems that all of them have: one with few results would cost the others theirs.
NEARLY_ALL = 0.9

Draws = Callable[[int], np.random.Generator]
"""A fresh generator for the scan of a model (its row), the same whoever else is scanned."""


@dataclass(frozen=True, eq=False)
class ScanCase:
    """A model to scan: its row in the scores, the problems that may be used (a mask), and the rows of its controls."""

    model: int
    problems: BoolArray
    controls: tuple[int, ...]


@dataclass(frozen=True)
class PlaceboBreak:
    """The scan of a control (its row) against the others; ``p_holm`` is None where the scan was refused."""

    control: int
    found: Break
    p_holm: float | None = None


@dataclass(frozen=True)
class JudgedBreak:
    """The scan of a model by ``controls``, those with results on 90 % of its problems.

    ``p_holm`` is adjusted over all models scanned. ``n_left_out`` problems of the model are ones that a control lacks.
    With a ``refusal`` it was not scanned; with ``withheld`` (a verdict and why) nothing of ``found`` is to be read.
    ``against`` are the rows of the controls that withhold it.
    """

    model: int
    controls: tuple[int, ...] = ()
    found: Break | None = None
    p_holm: float | None = None
    n_left_out: int = 0
    placebos: tuple[PlaceboBreak, ...] = ()
    against: tuple[int, ...] = ()
    withheld: str | None = None
    refusal: str | None = None

    @property
    def is_told(self) -> bool:
        """Whether it was scanned, and what the scan says may be read."""
        return self.p_holm is not None and self.withheld is None

    @property
    def is_break(self) -> bool:
        """Whether there is a break at 5 % that may be read."""
        return self.is_told and self.p_holm is not None and self.p_holm < ALPHA


@dataclass(frozen=True, eq=False)
class _Board:
    scores: FloatArray
    clusters: IntArray
    times: FloatArray
    families: IntArray
    draws: Draws

    def scanned(self, row: int, controls: Sequence[int], problems: BoolArray) -> Break:
        values = np.where(problems, differences(self.scores[row], self.scores[list(controls)]), np.nan)
        return scan(values, self.clusters, self.times, self.draws(row))


def judge_breaks(
    scores: ArrayLike,
    clusters: ArrayLike,
    times: ArrayLike,
    cases: Sequence[ScanCase],
    draws: Draws,
    *,
    families: ArrayLike | None = None,
    like_ability: bool = False,
) -> tuple[JudgedBreak, ...]:
    """The scan of each case over ``scores`` (models x problems); ``families`` and ``like_ability`` as `judge_gaps` has.

    Refused: controls of fewer than 3 families with results on nearly all that the model has, a model more than 0.5
    logits outside their abilities, and too few contests for any boundary.
    """
    table = np.asarray(scores, dtype=np.float64)
    kin = np.arange(len(table)) if families is None else np.asarray(families)
    numbers = np.asarray(clusters).astype(np.int64)
    board = _Board(table, numbers, np.asarray(times, dtype=np.float64), kin.astype(np.int64), draws)
    known: dict[tuple[bytes, tuple[int, ...]], tuple[PlaceboBreak, ...]] = {}
    scanned = [_scanned(board, case) for case in cases]
    p_values = holm([one.found.p for one in scanned if one.found is not None and one.found.p is not None])
    adjusted = iter(p_values.tolist())
    judged = []
    for case, one in zip(cases, scanned, strict=True):
        if one.found is None or one.found.p is None:
            judged.append(one)
            continue
        key = (case.problems.tobytes(), one.controls)
        if key not in known:
            known[key] = _placebos(board, case, one.controls)
        heard = known[key] if not like_ability else _with_a_say(board, case, one, known[key])
        weighed = _judged(replace(one, p_holm=float(next(adjusted)), placebos=known[key]), heard)
        judged.append(_borne_out(board, case, weighed, like_ability) if weighed.is_break else weighed)
    return tuple(judged)


def _scanned(board: _Board, case: ScanCase) -> JudgedBreak:
    """The scan of a model, or why there is none; nothing is weighed yet."""
    has = np.isfinite(board.scores)
    own = case.problems & has[case.model]
    if not own.any():
        return JudgedBreak(case.model, refusal="has no results on the problems of the scan")
    controls = tuple(row for row in case.controls if has[row, own].mean() >= NEARLY_ALL)
    rows = list(controls)
    lacking = too_few_controls(board.families[rows], f"with results on {NEARLY_ALL:.0%} of its problems")
    if lacking is not None:
        return JudgedBreak(case.model, controls, refusal=lacking)
    used = own & has[rows].all(axis=0)
    if not used.any():
        return JudgedBreak(case.model, controls, refusal="has no problem that all of its controls have")
    scale = control_scale(board.scores[case.model, used], board.scores[rows][:, used])
    if not within_reach(scale.ability, scale.controls):
        return JudgedBreak(
            case.model, controls, refusal=f"its ability lies more than {REACH} logits outside those of its controls"
        )
    found = board.scanned(case.model, controls, used)
    return JudgedBreak(case.model, controls, found, n_left_out=int((own & ~used).sum()), refusal=found.refusal)


def _placebos(board: _Board, case: ScanCase, controls: tuple[int, ...]) -> tuple[PlaceboBreak, ...]:
    found = []
    for row in controls:
        others = _others(board, row, controls)
        # One family fewer than the model has, as where the date is known.
        if np.unique(board.families[others]).size >= MIN_CONTROLS - 1:
            found.append(PlaceboBreak(row, board.scanned(row, others, case.problems)))
    adjusted = iter(holm([one.found.p for one in found if one.found.p is not None]).tolist())
    return tuple(one if one.found.p is None else replace(one, p_holm=float(next(adjusted))) for one in found)


def _others(board: _Board, control: int, controls: Sequence[int]) -> list[int]:
    return [row for row in controls if board.families[row] != board.families[control]]


def _with_a_say(
    board: _Board, case: ScanCase, one: JudgedBreak, placebos: Sequence[PlaceboBreak]
) -> list[PlaceboBreak]:
    """The placebos that tell something about a model of this ability."""
    scores = board.scores[:, case.problems & np.isfinite(board.scores[case.model])]
    beside = control_scale(scores[case.model], scores[list(one.controls)])
    abilities = dict(zip(one.controls, beside.controls.tolist(), strict=True))
    heard = []
    for placebo in placebos:
        own = control_scale(scores[placebo.control], scores[_others(board, placebo.control, one.controls)])
        if tells_of(own.ability, own.controls, beside.ability - abilities[placebo.control]):
            heard.append(placebo)
    return heard


def _judged(one: JudgedBreak, heard: Sequence[PlaceboBreak]) -> JudgedBreak:
    """The scan with the reason why it must not be read, if there is one."""
    judged = [placebo for placebo in heard if placebo.p_holm is not None]
    if not judged:
        return replace(one, withheld=f"{Verdict.NO_CONTROL} (no placebo could be computed from the controls)")
    failed = tuple(placebo.control for placebo in judged if placebo.p_holm is not None and placebo.p_holm < ALPHA)
    if failed:
        reason = f"{Verdict.PLACEBO} ({len(failed)} of {len(judged)} controls have a break that they cannot have)"
        return replace(one, withheld=reason, against=failed)
    return one


def _borne_out(board: _Board, case: ScanCase, one: JudgedBreak, like_ability: bool) -> JudgedBreak:
    """A break, withheld unless a gap is found at its date, or one without a finite size: nothing is solved after it."""
    assert one.found is not None
    assert one.found.last_before is not None
    assert one.found.first_after is not None
    before, after = board.times <= one.found.last_before, board.times >= one.found.first_after
    at_break = Case(case.model, Sides(case.problems & before, case.problems & after), one.controls)
    (there,) = judge_gaps(
        board.scores, board.clusters, board.times, [at_break], families=board.families, like_ability=like_ability
    )
    if there.verdict in {Verdict.FOUND, Verdict.ALL_ALIKE}:
        return one
    if there.verdict is Verdict.NOT_FOUND:
        return replace(one, withheld=f"{Verdict.THIN} (at the date of a break the test of a gap finds none)")
    return replace(one, withheld=f"{there.verdict} (at the date of a break)")
