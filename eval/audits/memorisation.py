"""Does memorisation explain the gap? A measure for each model from a file, set against the models' gaps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval import sheets
from eval.audits.broken_months import BrokenRuns, broken_runs, left_out
from eval.audits.contamination import ALL_PLATFORMS, ContaminationAudit, is_withheld
from eval.audits.refusals import grouped
from eval.audits.selection import Selection
from eval.audits.sides import cutoff_sides, without_sides
from eval.measures import Measures
from eval.models import Registry
from eval.sheets import Sheet, Table
from eval.statistics.correlation import MIN_MODELS, RankCorrelation, rank_correlation
from eval.statistics.placebo import Judgement
from eval.statistics.splits import MIN_CONTESTS, MIN_PROBLEMS, SplitGap, split_gaps

FloatArray = NDArray[np.float64]

MIN_OTHERS = 3
FROM_STORE = (
    "before less after each model's own cut-off, of its score less the mean of all other models on the same problem: a "
    "plain difference in differences, without a choice of controls of like ability and without placebos"
)
JUDGED = (
    "that of live audit contamination at each model's own cut-off, on all platforms together, beside controls of like "
    "ability; where the verdict is withheld there is none"
)


@dataclass(frozen=True)
class CutoffGap:
    """The gap of one run at its own cut-off (a difference of shares), or why there is none."""

    name: str
    model: str
    gap: float | None
    se: float | None
    n_before: int
    n_after: int
    refusal: str | None = None


@dataclass(frozen=True)
class Point:
    """One model of the file: its measure, its gap with error, and why one of them is missing."""

    model: str
    measure: float | None
    gap: float | None
    se: float | None
    origin: str
    missing: str | None = None


@dataclass(frozen=True)
class MemorisationAudit:
    """The points and their correlation; ``which_gap`` says in words what the gap is."""

    points: tuple[Point, ...]
    found: RankCorrelation
    measure: str
    which_gap: str
    conditions: tuple[str, ...]
    seed: int


def plain_gaps(selection: Selection, registry: Registry, broken: BrokenRuns) -> tuple[CutoffGap, ...]:
    """For each run of the selection the difference in differences at its own cut-off, against all other models.

    d_i = y_i less the mean of the other models with a result on problem i (at least 3; several runs of one count as
    their mean); gap = mean of d before less mean of d after the cut-off, error over contests. Problems of which nobody
    can tell the side are left out, likewise the months of runs that look broken. A cut-off that is not stated, or is in
    doubt, has no sides.
    """
    board, models = selection.board, [name.casefold() for name in selection.models]
    scores = np.where(broken.cells(board), np.nan, board.scores)
    names = list(dict.fromkeys(models))
    rows = [_mean(scores[[row for row, model in enumerate(models) if model == name]], 1) for name in names]
    of_model = np.array(rows, dtype=np.float64).reshape(len(names), len(board.problems))
    found = []
    for place, (entry, used) in enumerate(zip(selection.entries, selection.cutoffs, strict=True)):
        name, model = board.names[place], selection.models[place]
        refusal = without_sides(entry, used, registry)
        if used is None or refusal is not None:
            found.append(CutoffGap(name, model, None, None, 0, 0, refusal))
            continue
        means = _mean(of_model[[row for row, other in enumerate(names) if other != models[place]]], MIN_OTHERS)
        sides = cutoff_sides(entry, used)
        before, after = sides.before(board), sides.after(board)
        difference = np.where(before | after, scores[place] - means, np.nan)
        (split,) = split_gaps(difference[None, :], board.clusters, np.zeros(len(after), dtype=np.int64), after)
        found.append(_as_gap(name, model, split))
    return tuple(found)


def _mean(scores: FloatArray, least: int) -> FloatArray:
    """The mean over rows of each problem that so many rows have a result on, NaN of any other."""
    present = ~np.isnan(scores)
    counts = present.sum(axis=0)
    sums = np.where(present, scores, 0.0).sum(axis=0)
    return np.asarray(np.divide(sums, counts, out=np.full(counts.shape, np.nan), where=counts >= least))


def _as_gap(name: str, model: str, split: SplitGap) -> CutoffGap:
    """The gap of a split at the cut-off: "public" is before, "private" after."""
    n_before, n_after = split.n_public, split.n_private
    if split.gap is not None:
        return CutoffGap(name, model, split.gap, split.se, n_before, n_after)
    contests = f"{split.contests_public} and {split.contests_private} contests"
    refusal = (
        f"needs at least {MIN_PROBLEMS} problems and {MIN_CONTESTS} contests on each side of the cut-off that "
        f"{MIN_OTHERS} other models have, there are {n_before} and {n_after} problems of {contests}"
    )
    # Problems on one side alone are in no matched stratum: neither side is counted then.
    if not (n_before or n_after):
        refusal = f"all problems that it shares with {MIN_OTHERS} other models lie on one side of the cut-off"
    return CutoffGap(name, model, None, None, n_before, n_after, refusal)


def judged_gaps(audit: ContaminationAudit) -> tuple[CutoffGap, ...]:
    """For each run of the selection the gap of the contamination audit on all platforms together, unless withheld."""
    panel = next((one for one in audit.panels if one.platform == ALL_PLATFORMS), None)
    judged = {one.model: one for one in panel.judged} if panel is not None else {}
    selection = audit.selection
    return tuple(
        _of_judgement(name, selection.models[place], judged.get(place), selection.cutoffs[place] is not None)
        for place, name in enumerate(selection.board.names)
    )


def _of_judgement(name: str, model: str, one: Judgement | None, has_cutoff: bool) -> CutoffGap:
    if one is None:
        untested = "not tested: it serves as a control, or has no result" if has_cutoff else "no cut-off is known"
        return CutoffGap(name, model, None, None, 0, 0, untested)
    gap = one.gap
    n_before, n_after = (gap.before.n_items, gap.after.n_items) if gap is not None else (0, 0)
    if gap is None or gap.points is None or is_withheld(one):
        return CutoffGap(name, model, None, None, n_before, n_after, str(one.verdict))
    return CutoffGap(name, model, gap.points.value, gap.points.se, n_before, n_after)


def audit_file(measures: Measures, seed: int) -> MemorisationAudit:
    """Correlate a file's measures with the gaps that stand in the same file."""
    points = [
        Point(one.model, one.measure, one.gap, None, one.origin, _lacks(one.measure, one.gap)) for one in measures.rows
    ]
    return _correlated(measures, points, f'the column "{measures.gap}" of the file', (), seed)


def audit_memorisation(
    measures: Measures,
    selection: Selection,
    registry: Registry,
    seed: int,
    contamination: ContaminationAudit | None = None,
    broken: BrokenRuns | None = None,
) -> MemorisationAudit:
    """Correlate a file's measures with the gaps of a selection's runs, joined by the registry's names.

    The gaps of the contamination audit of that selection are used if 10 models of the file have one, else plain ones.
    ``broken`` is what the runs were found to be elsewhere, by default on the selection's own problems.
    """
    broken = broken or broken_runs(selection.board)
    points, which = _chosen_points(measures, selection, registry, contamination, broken)
    conditions = (*selection.described(), *left_out(broken.within(selection.board)))
    return _correlated(measures, points, which, conditions, seed)


def _correlated(
    measures: Measures, points: Sequence[Point], which: str, conditions: tuple[str, ...], seed: int
) -> MemorisationAudit:
    numbers = [[math.nan if value is None else value for value in (one.measure, one.gap)] for one in points]
    table = np.array(numbers, dtype=np.float64).reshape(-1, 2)
    found = rank_correlation(table[:, 0], table[:, 1], np.random.default_rng(seed))
    if measures.n_problems is not None:
        mean = f"the measure of a model is its mean over {measures.n_problems} problems of the file"
        conditions = (mean, *conditions)
    return MemorisationAudit(tuple(points), found, measures.measure, which, conditions, seed)


def _chosen_points(
    measures: Measures,
    selection: Selection,
    registry: Registry,
    contamination: ContaminationAudit | None,
    broken: BrokenRuns,
) -> tuple[tuple[Point, ...], str]:
    """The points, and in words what their gaps are."""
    if contamination is None:
        return tuple(_from_store(measures, plain_gaps(selection, registry, broken), registry)), FROM_STORE
    points = tuple(_from_store(measures, judged_gaps(contamination), registry))
    enough = sum(one.missing is None for one in points)
    if enough >= MIN_MODELS:
        return points, JUDGED
    why = f"live audit contamination has one, not withheld, for {enough} of the file's models: {MIN_MODELS} are needed"
    return tuple(_from_store(measures, plain_gaps(selection, registry, broken), registry)), f"{FROM_STORE} ({why})"


def _lacks(measure: float | None, gap: float | None) -> str | None:
    return "no measure" if measure is None else "no gap" if gap is None else None


def _from_store(measures: Measures, gaps: tuple[CutoffGap, ...], registry: Registry) -> Iterator[Point]:
    """Each row of the file with the gap of its model; of several runs the one that rests on most problems."""
    best: dict[str, CutoffGap] = {}
    for one in gaps:
        key, size = one.model.casefold(), one.n_before + one.n_after
        if key not in best or (one.gap is not None, size) > (best[key].gap is not None, _size(best[key])):
            best[key] = one
    taken: set[str] = set()
    for row in measures.rows:
        key = registry.canonical(row.model).casefold()
        gap = best.get(key)
        if gap is None:
            yield Point(row.model, row.measure, None, None, row.origin, "no run and no imported result")
        elif key in taken:
            yield Point(row.model, row.measure, None, None, row.origin, "the same model stands on an earlier line")
        else:
            taken.add(key)
            missing = "no measure" if row.measure is None else gap.refusal
            yield Point(gap.name, row.measure, gap.gap, gap.se, row.origin, missing)


def _size(gap: CutoffGap) -> int:
    return gap.n_before + gap.n_after


def memorisation_sheet(audit: MemorisationAudit) -> Sheet:
    """The correlation with its leave-one-out range, and the points."""
    return Sheet(
        title="Memorisation against gap",
        conditions=(
            f'measure: the column "{audit.measure}" of the file',
            f"gap: {audit.which_gap}",
            *audit.conditions,
        ),
        tables=(_correlation_table(audit), _points_table(audit)),
        data={
            "measure": audit.measure,
            "gap": audit.which_gap,
            "correlation": _correlation_dict(audit),
            "points": [asdict(one) for one in audit.points],
            "seed": audit.seed,
        },
    )


def _correlation_table(audit: MemorisationAudit) -> Table:
    found = audit.found
    if found.rho is None or found.low is None or found.high is None:
        return Table("Rank correlation", (sheets.number("rho"),), (), (f"no correlation: {found.refusal}",))
    columns = (
        sheets.count("models"),
        sheets.number("rho", 3),
        sheets.Column("95 %", "z.2f", between=" to ", key="ci"),
        sheets.p_value("p"),
        sheets.text("without one model"),
        sheets.for_programs(sheets.Column("without", "z.2f", between=" to ")),
    )
    ends = [audit.found.without_low, audit.found.without_high]
    without = " to ".join(f"{value:.2f} ({audit.points[place].model})" for place, value in filter(None, ends))
    least, most = (None if end is None else end[1] for end in ends)
    row = (found.n, found.rho, (found.low, found.high), found.p, without, sheets.span(least, most))
    notes = [
        "rho is Spearman's rank correlation over models, not a share of variance explained (r2)",
        f"the interval draws models anew, seed {audit.seed}; models that share their training data are not "
        "independent, so that it is, if anything, too narrow",
    ]
    if found.low <= 0 <= found.high:
        notes.append("the interval holds 0: these models do not show that measure and gap go together")
    return Table("Rank correlation", columns, (row,), tuple(notes))


def _points_table(audit: MemorisationAudit) -> Table:
    complete = [one for one in audit.points if one.missing is None]
    lacking = [one for one in audit.points if one.missing is not None]
    columns = (
        sheets.text("model"),
        sheets.number("measure", 4),
        sheets.points("gap"),
        sheets.percent("s.e."),
        sheets.text("origin"),
    )
    ordered = sorted(complete, key=lambda one: one.measure or 0.0, reverse=True)
    rows = tuple((one.model, one.measure, one.gap, one.se, one.origin) for one in ordered)
    notes = ["gap and its standard error in percentage points; above 0: better on what may have been seen"]
    notes += grouped((one.model, f"left out: {one.missing}") for one in lacking)
    return Table("Points", columns, rows, tuple(notes))


def _correlation_dict(audit: MemorisationAudit) -> dict[str, Any]:
    found = asdict(audit.found)
    for key in ("without_low", "without_high"):
        if found[key] is not None:
            place, rho = found[key]
            found[key] = {"model": audit.points[place].model, "rho": rho}
    return found
