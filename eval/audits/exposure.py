"""Do models solve what is found more often, before their cut-off and after it? A measure of each problem from a file.

Each model is its own experiment: the odds of solving by log(1 + measure), difficulty held constant, on the problems
from before its cut-off, and on those from after it. What is learnt by heart shows before alone (Roberts et al. 2023).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from eval.audits.broken_months import BrokenRuns, broken_runs, left_out
from eval.audits.selection import Selection
from eval.audits.sides import NOT_STATED, cutoff_sides, without_sides
from eval.board import Board
from eval.eligibility import UsedCutoff
from eval.labels import LEVELS
from eval.measures import MeasuresError, ProblemMeasures
from eval.models import Registry
from eval.statistics.exposure import ExposureRegression, OddsRatio, compared, exposure_regression
from eval.statistics.gap import MIN_ITEMS
from eval.statistics.irt import Kind, fit
from eval.statistics.linking import overlap
from eval.statistics.multiplicity import holm

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

CLEAN = "other models' results from after their own cut-offs (item response theory)"
EVERY = (
    "all results of other models (item response theory), as too few lie after their own cut-offs: what all of them "
    "know by heart passes for easy"
)
LABELS = "the platforms' labels, as other models' results do not hang together well enough"
NONE = "nothing: neither other models' results nor labels give one"


@dataclass(frozen=True)
class Side:
    """The regression of one run on one side of its cut-off; ``p_holm`` is adjusted over all runs on that side."""

    found: ExposureRegression
    p_holm: float | None = None


@dataclass(frozen=True)
class RunExposure:
    """One run. ``change`` is the odds ratio before over that after; ``difficulty_by`` what difficulties come from.

    With a ``refusal`` there is no side at all.
    """

    name: str
    cutoff: UsedCutoff | None
    difficulty_by: str | None = None
    before: Side | None = None
    after: Side | None = None
    change: OddsRatio | None = None
    refusal: str | None = None

    @property
    def sides(self) -> tuple[tuple[str, Side], ...]:
        """The sides that there are, by name."""
        both = (("before", self.before), ("after", self.after))
        return tuple((name, side) for name, side in both if side is not None)


@dataclass(frozen=True)
class ExposureAudit:
    """All runs; ``n_tests`` counts the regressions before and after. ``unknown`` are problems of the file not used."""

    rows: tuple[RunExposure, ...]
    n_tests: tuple[int, int]
    n_problems: int
    unknown: tuple[str, ...]
    measure: str
    origin: str
    conditions: tuple[str, ...]
    shown: tuple[int, ...]

    @property
    def says_something(self) -> bool:
        """Whether any run that is shown has an odds ratio."""
        return any(side.found.count for row in self.shown for _, side in self.rows[row].sides)


def audit_exposure(
    measures: ProblemMeasures, selection: Selection, registry: Registry, broken: BrokenRuns | None = None
) -> ExposureAudit:
    """Regress each run of the selection on the file's measures. Raises ``MeasuresError`` for a problem that is twice.

    ``broken`` is what the runs were found to be elsewhere, by default on the selection's own problems; left out.
    """
    board = selection.board
    broken = broken or broken_runs(board)
    values, unknown = _placed(measures, board)
    material = _material(selection, registry, np.where(broken.cells(board), np.nan, board.scores), values)
    rows = [_run(material, selection, place) for place in range(len(board.runs))]
    adjusted, n_before = _adjusted([row.before for row in rows])
    adjusted_after, n_after = _adjusted([row.after for row in rows])
    return ExposureAudit(
        tuple(
            replace(row, before=before, after=after)
            for row, before, after in zip(rows, adjusted, adjusted_after, strict=True)
        ),
        (n_before, n_after),
        int(np.isfinite(values).sum()),
        unknown,
        measures.measure,
        measures.origin,
        (*selection.described(), *left_out(broken.within(board))),
        selection.shown,
    )


def _placed(measures: ProblemMeasures, board: Board) -> tuple[FloatArray, tuple[str, ...]]:
    """The measure of each problem of the board (NaN: none), and the names in the file that are no problem of it.

    A problem is PLATFORM:ID, or its id where no other platform has it too.
    """
    places: dict[str, list[int]] = {}
    for place, one in enumerate(board.problems):
        for key in (f"{one.platform}:{one.native_id}", one.native_id):
            places.setdefault(key.casefold(), []).append(place)
    values = np.full(len(board.problems), np.nan)
    lines: dict[int, str] = {}
    unknown: list[str] = []
    for name, value in measures.values.items():
        found = places.get(name.casefold(), [])
        if len(found) > 1:
            raise MeasuresError(
                f"{measures.lines[name]}: several platforms have a problem {name}", "write it as PLATFORM:ID"
            )
        if not found:
            unknown.append(name)
            continue
        if found[0] in lines:
            raise MeasuresError(
                f"{measures.lines[name]}: {name} is on {lines[found[0]]} already", "keep one line for it"
            )
        values[found[0]], lines[found[0]] = value, measures.lines[name].rpartition(", ")[2]
    return values, tuple(unknown)


@dataclass(frozen=True, eq=False)
class _Material:
    """The results and the measures, and of each run which problems lie before and after its cut-off (runs x problems).

    ``refusals`` say why a run has no sides, None of one that has both. ``bases`` are what difficulties may come from: a
    name and the results, the best first.
    """

    board: Board
    models: Sequence[str]
    refusals: Sequence[str | None]
    scores: FloatArray
    values: FloatArray
    before: BoolArray
    after: BoolArray
    bases: tuple[tuple[str, FloatArray], ...]


def _material(selection: Selection, registry: Registry, scores: FloatArray, values: FloatArray) -> _Material:
    board = selection.board
    before, after = np.zeros(scores.shape, dtype=np.bool_), np.zeros(scores.shape, dtype=np.bool_)
    refusals = []
    for place, (entry, used) in enumerate(zip(selection.entries, selection.cutoffs, strict=True)):
        refusal = without_sides(entry, used, registry)
        # Where a release date stands in for a cut-off there is no side before it, yet one after it.
        if used is not None and refusal in {None, NOT_STATED}:
            sides = cutoff_sides(entry, used)
            before[place], after[place] = sides.before(board), sides.after(board)
        refusals.append(refusal)
    models = [name.casefold() for name in selection.models]
    bases = ((CLEAN, np.where(after, scores, np.nan)), (EVERY, scores))
    return _Material(board, models, refusals, scores, values, before, after, bases)


def _run(material: _Material, selection: Selection, place: int) -> RunExposure:
    name, used = selection.board.names[place], selection.cutoffs[place]
    without = material.refusals[place]
    if without not in {None, NOT_STATED}:
        return RunExposure(name, used, refusal=without)
    measured = np.isfinite(material.values) & np.isfinite(material.scores[place])
    if not measured.any():
        return RunExposure(name, used, refusal="no result on a problem of the file")
    difficulty, basis = _difficulty(material, place, measured)
    before, after = (
        _side(material, place, measured & side[place], difficulty) for side in (material.before, material.after)
    )
    if without is not None:
        before = replace(before, found=ExposureRegression(0, 0, 0.0, refusal=without))
    ratios = before.found.count, after.found.count
    change = compared(ratios[0], ratios[1]) if ratios[0] and ratios[1] else None
    return RunExposure(name, used, basis, before, after, change)


def _side(material: _Material, place: int, chosen: BoolArray, difficulty: FloatArray) -> Side:
    """The regression on the chosen problems that have a difficulty."""
    chosen = chosen & np.isfinite(difficulty)
    return Side(
        exposure_regression(
            material.scores[place, chosen], material.values[chosen], difficulty[chosen], material.board.clusters[chosen]
        )
    )


def _difficulty(material: _Material, place: int, measured: BoolArray) -> tuple[FloatArray, str]:
    """How hard each problem is by others than this run's model (NaN: not known), and what that comes from.

    By results that the others cannot have learnt by heart, where these serve as many sides of the cut-off as all of
    their results do; by labels where results do not hang together.
    """
    best: tuple[int, FloatArray, str] | None = None
    for basis, scores in material.bases:
        values = _by_others(scores, material.models, place)
        if values is None:
            continue
        sides = (measured & side[place] & np.isfinite(values) for side in (material.before, material.after))
        served = sum(int(side.sum()) >= MIN_ITEMS for side in sides)
        if best is None or served > best[0]:
            best = served, values, basis
        if served == 2:
            break
    if best is not None:
        return best[1:]
    labels = _by_labels(material.board)
    return labels, LABELS if np.isfinite(labels).any() else NONE


def _by_others(scores: FloatArray, models: Sequence[str], place: int) -> FloatArray | None:
    """Difficulties (logits, 1PL) of problems that 3 other models have a result on; None where too little is for it."""
    own = np.array([model == models[place] for model in models], dtype=np.bool_)
    others = np.where(own[:, None], np.nan, scores)
    shared = overlap(others, models)
    if shared.refusal is not None:
        return None
    return np.where(shared.anchors, fit(others, Kind.ONE_PL).items.difficulty, np.nan)


def _by_labels(board: Board) -> FloatArray:
    """Easy, medium and hard as 0, 1 and 2; numbers as they are where no problem has such a word; else NaN."""
    labels = [label.casefold() for label in board.difficulties]
    if any(label in LEVELS for label in labels):
        found = [LEVELS.index(label) if label in LEVELS else math.nan for label in labels]
    else:
        found = [float(label) if label.isdecimal() else math.nan for label in labels]
    return np.array(found, dtype=np.float64)


def _adjusted(sides: Sequence[Side | None]) -> tuple[list[Side | None], int]:
    """The sides with their p values by Holm over those that have one, and how many these are."""
    values = [side.found.count.p for side in sides if side is not None and side.found.count is not None]
    adjusted = iter(holm(values).tolist())
    found = [
        replace(side, p_holm=float(next(adjusted))) if side is not None and side.found.count is not None else side
        for side in sides
    ]
    return found, len(values)
