"""What an edition says, computed from its problems, runs and models: the tables, audits and months. Pure.

Everything is of the public problems; the private ones give one aggregate for each run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import combinations

import numpy as np

from eval.audits.contamination import audit_contamination
from eval.audits.contamination_sheet import contamination_sheet
from eval.audits.difficulty import audit_difficulty, difficulty_sheet
from eval.audits.runs import audit_runs, judged_months, month_name, months_of, runs_sheet
from eval.audits.saturation import audit_saturation, saturation_sheet
from eval.audits.selection import Selection, select
from eval.board import EPOCH, Board
from eval.common_window import CommonWindow
from eval.editions.document import (
    EditionProblem,
    EditionRun,
    EditionSettings,
    MonthScore,
    Numbers,
    PrivateScore,
    RankedWindow,
    RankRange,
    RunMonths,
)
from eval.eligibility import UsedCutoff
from eval.evaluation import Settings, evaluate
from eval.models import Registry
from eval.own_windows import own_windows
from eval.problem_sets import ProblemSet, read_problem_set
from eval.report import TOO_FEW_PROBLEMS, Report, utc_text
from eval.sheets import Sheet, plain
from eval.statistics.intervals import interval
from eval.tables import CommonTable, Material, common_table, equated_table, own_report
from eval.window import PRIVATE

MAX_RANKED_MONTHS = 12
"""Ranks are computed beforehand for windows of whole months, up to so many months from the end of the data on."""

MAX_RANKED_RUNS = 60
"""With more runs than this no ranks of other windows are computed beforehand: pairs grow with the square."""

MIN_FRESH = 30
"""So many problems the fresh side of the saturation picture has, if the cut-offs allow it."""


@dataclass(frozen=True)
class Inputs:
    """What numbers are computed from: an edition without its numbers."""

    problems: tuple[EditionProblem, ...]
    runs: tuple[EditionRun, ...]
    registry: Registry
    settings: EditionSettings
    as_of: datetime
    environment_digest: str | None

    def material(self) -> Material:
        """The problems and runs as the tables take them."""
        runs = tuple(run.as_outcomes() for run in self.runs)
        facts = tuple(one.facts for one in self.problems)
        return Material(facts, runs, runs, self.registry, self.as_of, self.environment_digest)


def numbers_of(inputs: Inputs) -> Numbers:
    """All that an edition says; the same inputs give the same numbers."""
    whole = inputs.material()
    public = replace(whole, problems=tuple(one for one in whole.problems if not one.is_private))
    after_cutoff, seed = inputs.settings.after_cutoff(), inputs.settings.seed
    any_time = replace(after_cutoff, after_cutoff=False, margin=timedelta(0), since=EPOCH)
    selection = select(public.problems, public.runs, public.registry, any_time, now=inputs.as_of)
    common = common_table(public, after_cutoff, seed, inputs.settings.across)
    health = judged_months(selection.board)
    gaps = audit_contamination(selection, public.registry, health, seed)
    own = own_windows(public.problems, public.runs, public.registry, after_cutoff, now=inputs.as_of)
    bands = audit_difficulty(own, after_cutoff, seed, now=inputs.as_of, broken=public.broken)
    return Numbers(
        own=_native_report(own_report(public, after_cutoff)),
        common=_native(common.sheet),
        equated=_native(equated_table(public, after_cutoff, seed)[1]),
        contamination=_native(contamination_sheet(gaps)),
        health=_native(runs_sheet(audit_runs(selection, {}, months=health))),
        difficulty=_native(difficulty_sheet(bands)),
        saturation=_saturation(public, selection, inputs.settings),
        months=tuple(_months(public, selection)),
        ranked_windows=tuple(_ranked_windows(public, common, any_time, inputs.settings)),
        broken_months={name: tuple(months) for name, months in public.broken.within(selection.board).items()},
        private=tuple(_private(whole, after_cutoff)),
    )


def _native(sheet: Sheet) -> Sheet:
    """The sheet with plain values alone. Raises ``ValueError`` for a number that is not finite."""
    tables = tuple(
        replace(one, rows=tuple(tuple(_native_cell(cell) for cell in row) for row in one.rows)) for one in sheet.tables
    )
    return replace(sheet, tables=tables, data=plain(sheet.data))


def _native_cell(cell: object) -> str | int | float | tuple[float, float] | None:
    value = plain(cell)
    return (value[0], value[1]) if isinstance(value, list) else value


def _native_report(report: Report) -> Report:
    """The report with settings and conditions as plain values."""
    rows = tuple(replace(row, conditions=plain(row.conditions)) for row in report.rows)
    return replace(report, rows=rows, settings=plain(report.settings))


def _saturation(material: Material, selection: Selection, settings: EditionSettings) -> Sheet | None:
    """The runs on what lies before all cut-offs beside what lies after them, or on the two sets that were named."""
    sets = _two_sets(selection, settings)
    if sets is None:
        return None
    audit = audit_saturation(
        material.problems,
        selection.board.runs,
        material.registry,
        *sets,
        now=material.now,
        include_flagged=settings.include_flagged,
        broken=material.broken,
    )
    return _native(saturation_sheet(audit))


def _two_sets(selection: Selection, settings: EditionSettings) -> tuple[ProblemSet, ProblemSet] | None:
    if settings.saturated is not None and settings.fresh is not None:
        return read_problem_set(settings.saturated), read_problem_set(settings.fresh)
    known = [used for used in selection.cutoffs if used is not None]
    fresh = _fresh_from(selection.board, known)
    if not known or fresh is None:
        return None
    first = min(used.cutoff.first for used in known)
    until = datetime(first.year, first.month, first.day, tzinfo=UTC)
    whole = ProblemSet("", settings.platforms, settings.difficulties)
    return (
        replace(whole, written=f"until {utc_text(until)}, before every cut-off", until=until),
        replace(whole, written=f"since {utc_text(fresh)}", since=fresh),
    )


def _fresh_from(board: Board, known: Sequence[UsedCutoff]) -> datetime | None:
    """The end of the latest cut-off after which there are problems enough, else of the earliest one."""
    ends = sorted({used.cutoff.after for used in known}, reverse=True)
    dates = [one.exposed_at for one in board.problems if one.exposed_at is not None]
    enough = (end for end in ends if sum(at >= end for at in dates) >= MIN_FRESH)
    return next(enough, ends[-1] if ends else None)


def _months(material: Material, selection: Selection) -> Iterator[RunMonths]:
    """Each run by month of publication, on all platforms together and on each."""
    board = selection.board
    months = months_of(board)
    broken = material.broken.cells(board)
    platforms = np.array(board.platforms)
    for row, run in enumerate(board.runs):
        found = []
        for platform in ("", *sorted(set(board.platforms))):
            here = board.seen[row] & ((platforms == platform) | (platform == ""))
            for month in np.unique(months[here]).tolist():
                chosen = here & (months == month)
                found.append(_month(board, row, chosen, month_name(month), platform, bool(broken[row, chosen].any())))
        yield RunMonths(run.name, tuple(found))


def _month(
    board: Board, row: int, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]], month: str, platform: str, broken: bool
) -> MonthScore:
    scores = board.scores[row, chosen]
    n = int(scores.size)
    solved = round(float(scores.sum()), 9)
    if n < TOO_FEW_PROBLEMS:
        return MonthScore(month, platform, n, solved, None, None, None, broken)
    found = interval(scores, board.clusters[chosen].tolist())
    return MonthScore(month, platform, n, solved, float(scores.mean()), found.low, found.high, broken)


def _ranked_windows(
    material: Material, common: CommonTable, any_time: Settings, chosen: EditionSettings
) -> Iterator[RankedWindow]:
    """Ranks of the windows of whole months that lie after the latest cut-off, as far as there are any."""
    if len(common.groups) != 1 or len(common.common.board.runs) > MAX_RANKED_RUNS:
        return
    starts = _month_starts(common.common)
    for since, until in combinations(starts, 2):
        yield from _ranked(material, replace(any_time, since=since, until=until), chosen)
    for since in starts[:-1]:
        yield from _ranked(material, replace(any_time, since=since), chosen)


def _month_starts(common: CommonWindow) -> list[datetime]:
    """The first instants of the last months of the data that begin after the latest cut-off, and of the one after."""
    dates = [one.exposed_at for one in common.board.problems if one.exposed_at is not None]
    start = common.window.start
    if not dates or start is None:
        return []
    last = max(dates)
    months = [12 * last.year + last.month - back for back in range(MAX_RANKED_MONTHS + 1)]
    starts = [datetime(month // 12, month % 12 + 1, 1, tzinfo=UTC) for month in reversed(months)]
    return [one for one in starts if one >= start]


def _ranked(material: Material, settings: Settings, chosen: EditionSettings) -> Iterator[RankedWindow]:
    table = common_table(material, settings, chosen.seed, chosen.across)
    assert settings.since is not None  # each window here begins with a month
    for group in table.groups:
        if group.ranks.refusal is None:
            ranks = [
                RankRange(run.name, one.low, one.high, one.simultaneous_low, one.simultaneous_high, one.tier)
                for run, one in zip(group.runs, group.ranks.sets, strict=True)
                if one is not None
            ]
            yield RankedWindow(settings.since, settings.until, tuple(ranks))


def _private(material: Material, after_cutoff: Settings) -> Iterator[PrivateScore]:
    """Each run on the private problems after its own cut-off; nothing where there are none."""
    if not any(one.is_private for one in material.problems):
        return
    report = evaluate(
        material.problems,
        material.runs,
        material.registry,
        replace(after_cutoff, split=PRIVATE),
        now=material.now,
        environment_digest=material.environment_digest,
    )
    for row in report.rows:
        score = row.pass_at_1
        if score.is_rate:
            yield PrivateScore(row.run, row.n_judged, score.value, score.ci_low, score.ci_high, None)
        else:
            yield PrivateScore(row.run, row.n_judged, None, None, None, score.reason)
