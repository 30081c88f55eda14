"""Does memorisation explain the gap? A measure for each model from a file, set against the models' gaps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval import sheets
from eval.audits.broken_months import BrokenRuns, broken_runs, left_out
from eval.audits.contamination import ALL_PLATFORMS, ContaminationAudit, is_withheld
from eval.audits.refusals import grouped
from eval.audits.selection import Selection
from eval.eligibility import UsedCutoff
from eval.measures import Measures
from eval.sheets import Sheet, Table
from eval.statistics.correlation import MIN_MODELS, RankCorrelation, rank_correlation
from eval.statistics.placebo import Judgement
from eval.statistics.splits import MIN_CONTESTS, MIN_PROBLEMS, SplitGap, split_gaps
from eval.window import Reason, date_reason, window_for

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


def cutoff_gaps(selection: Selection) -> tuple[CutoffGap, ...]:
    """For each run of the selection the difference in differences at its own cut-off, against all other models.

    d_i = y_i less the mean of the other models with a result on problem i (at least 3); gap = mean of d before less
    mean of d after the cut-off, error over contests. Problems of which nobody can tell the side are left out, likewise
    the months of runs that look broken.
    """
    return _plain_gaps(selection, broken_runs(selection.board))


def _plain_gaps(selection: Selection, broken: BrokenRuns) -> tuple[CutoffGap, ...]:
    board = selection.board
    scores = np.where(broken.cells(board), np.nan, board.scores)
    models = [model_name(selection, place) for place in range(len(board.runs))]
    found = []
    for place, used in enumerate(selection.cutoffs):
        if used is None:
            found.append(CutoffGap(board.names[place], models[place], None, None, 0, 0, "no cut-off is known"))
            continue
        others = scores[[row for row, model in enumerate(models) if model != models[place]]]
        present = ~np.isnan(others)
        counts = present.sum(axis=0)
        sums = np.where(present, others, 0.0).sum(axis=0)
        enough = counts >= MIN_OTHERS
        means = np.divide(sums, counts, out=np.full(counts.shape, np.nan), where=enough)
        before, after = sides_of(selection, used)
        difference = np.where(before | after, scores[place] - means, np.nan)
        (split,) = split_gaps(difference[None, :], board.clusters, np.zeros(len(after), dtype=np.int64), after)
        found.append(_as_gap(board.names[place], models[place], split))
    return tuple(found)


def model_name(selection: Selection, place: int) -> str:
    """The model of a run, as the registry spells it where it is known."""
    entry = selection.entries[place]
    return entry.name if entry is not None else selection.board.runs[place].model


def sides_of(selection: Selection, used: UsedCutoff) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Masks of the problems that were certainly public before the cut-off's first day, and certainly not by its end."""
    first = used.cutoff.first
    begins = datetime(first.year, first.month, first.day, tzinfo=UTC)
    window = window_for(used.cutoff)
    before, after = [], []
    for one in selection.board.problems:
        before.append(one.exposed_before is not None and one.exposed_before <= begins)
        after.append(date_reason(one, window) is None)
        assert not (before[-1] and after[-1]), Reason.TOO_NEAR
    return np.array(before, dtype=np.bool_), np.array(after, dtype=np.bool_)


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
        _of_judgement(name, model_name(selection, place), judged.get(place), selection.cutoffs[place] is not None)
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


def audit_memorisation(
    measures: Measures,
    selection: Selection | None,
    canonical: Callable[[str], str],
    seed: int,
    contamination: ContaminationAudit | None = None,
    broken: BrokenRuns | None = None,
) -> MemorisationAudit:
    """Correlate a file's measures with its own gaps, or with those of a selection's runs (named by ``canonical``).

    The gaps of the contamination audit of that selection are used if 10 models of the file have one, else plain ones.
    ``broken`` is what the runs were found to be elsewhere, by default on the selection's own problems.
    """
    conditions: tuple[str, ...] = ()
    if selection is None:
        points = tuple(
            Point(one.model, one.measure, one.gap, None, one.origin, _lacks(one.measure, one.gap))
            for one in measures.rows
        )
        which = f'the column "{measures.gap}" of the file'
    else:
        broken = broken or broken_runs(selection.board)
        points, which = _chosen_points(measures, selection, canonical, contamination, broken)
        conditions = (*selection.described(), *left_out(broken.within(selection.board)))
    numbers = [[math.nan if value is None else value for value in (one.measure, one.gap)] for one in points]
    table = np.array(numbers, dtype=np.float64).reshape(-1, 2)
    found = rank_correlation(table[:, 0], table[:, 1], np.random.default_rng(seed))
    if measures.n_problems is not None:
        conditions = (
            f"the measure of a model is its mean over {measures.n_problems} problems of the file",
            *conditions,
        )
    return MemorisationAudit(points, found, measures.measure, which, conditions, seed)


def _chosen_points(
    measures: Measures,
    selection: Selection,
    canonical: Callable[[str], str],
    contamination: ContaminationAudit | None,
    broken: BrokenRuns,
) -> tuple[tuple[Point, ...], str]:
    """The points, and in words what their gaps are."""
    if contamination is None:
        return tuple(_from_store(measures, _plain_gaps(selection, broken), canonical)), FROM_STORE
    points = tuple(_from_store(measures, judged_gaps(contamination), canonical))
    enough = sum(one.missing is None for one in points)
    if enough >= MIN_MODELS:
        return points, JUDGED
    why = f"live audit contamination has one, not withheld, for {enough} of the file's models: {MIN_MODELS} are needed"
    return tuple(_from_store(measures, _plain_gaps(selection, broken), canonical)), f"{FROM_STORE} ({why})"


def _lacks(measure: float | None, gap: float | None) -> str | None:
    return "no measure" if measure is None else "no gap" if gap is None else None


def _from_store(measures: Measures, gaps: tuple[CutoffGap, ...], canonical: Callable[[str], str]) -> Iterator[Point]:
    """Each row of the file with the gap of its model; of several runs the one that rests on most problems."""
    best: dict[str, CutoffGap] = {}
    for one in gaps:
        key, size = one.model.casefold(), one.n_before + one.n_after
        if key not in best or (one.gap is not None, size) > (best[key].gap is not None, _size(best[key])):
            best[key] = one
    taken: set[str] = set()
    for row in measures.rows:
        key = canonical(row.model).casefold()
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
        sheets.text("95 %"),
        sheets.p_value("p"),
        sheets.text("without one model"),
    )
    ends = [audit.found.without_low, audit.found.without_high]
    without = " to ".join(f"{value:.2f} ({audit.points[place].model})" for place, value in filter(None, ends))
    row = (found.n, found.rho, f"{found.low:.2f} to {found.high:.2f}", found.p, without)
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
