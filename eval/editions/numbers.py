"""What an edition says, computed from its problems, runs and models: the tables, audits and months. Pure.

Everything is of the public problems; the private ones give one aggregate for each run. Runs that are not shown are
peers: months are judged and contamination is tested beside them, as on the command line, and no table has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from eval.audits.contamination import audit_contamination
from eval.audits.contamination_sheet import contamination_sheet
from eval.audits.difficulty import DifficultyAudit, audit_difficulty, difficulty_sheet
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
from eval.evaluation import evaluate
from eval.models import Registry
from eval.own_windows import own_windows
from eval.problem_sets import ProblemSet, read_problem_set
from eval.report import TOO_FEW_PROBLEMS, Report, Score, utc_text
from eval.settings import ALL, Settings
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

DIGITS = 12
"""Significant digits that are frozen of a number that is counted."""

FITTED_DIGITS = 9
"""Of a number that a fit gave: kinds of CPU differ in the last digits, by up to 2e-10 of a value (OpenBLAS)."""

_FITTED = frozenset({"equated", "contamination", "health", "difficulty", "saturation"})


@dataclass(frozen=True)
class Inputs:
    """What numbers are computed from: an edition without its numbers.

    ``known_broken`` are the broken months by run, for an edition whose peers are not there any more (`shown_part`).
    With ``counts_samples`` results on sample tests alone count (`Edition.counts_samples`).
    """

    problems: tuple[EditionProblem, ...]
    runs: tuple[EditionRun, ...]
    registry: Registry
    settings: EditionSettings
    as_of: datetime
    environment_digest: str | None
    known_broken: Mapping[str, Sequence[str]] | None = None
    counts_samples: bool = False

    def material(self) -> Material:
        """The problems and runs as the tables take them; those to show are among all."""
        everyone = tuple(run.as_outcomes(counts_samples=self.counts_samples) for run in self.runs)
        shown = tuple(one for one, run in zip(everyone, self.runs, strict=True) if run.is_shown)
        facts = tuple(one.facts for one in self.problems)
        return Material(facts, shown, everyone, self.registry, self.as_of, self.environment_digest, self.known_broken)


def numbers_of(inputs: Inputs) -> Numbers:
    """All that an edition says; the same inputs give the same numbers."""
    whole = inputs.material()
    public = replace(whole, problems=tuple(one for one in whole.problems if not one.is_private))
    after_cutoff, seed = inputs.settings.after_cutoff(), inputs.settings.seed
    any_time = replace(after_cutoff, after_cutoff=False, margin=timedelta(0), since=EPOCH)
    selection = select(public.problems, public.runs, public.registry, any_time, now=inputs.as_of)
    panel, whole_board = _panel(public, any_time), _whole_board(public)
    health = judged_months(whole_board)
    # Without a filter the runs' health is looked at on the very board that they were judged on.
    months = health if panel.board.problems == whole_board.problems else None
    common = common_table(public, after_cutoff, seed, inputs.settings.across)
    gaps = audit_contamination(panel, public.registry, health, seed)
    numbers = Numbers(
        own=_native_report(own_report(public, after_cutoff)),
        common=_native(common.sheet),
        equated=_native(equated_table(public, after_cutoff, seed)[1]),
        contamination=_native(contamination_sheet(gaps)),
        health=_native(runs_sheet(audit_runs(panel, {}, months=months))),
        difficulty=_native(difficulty_sheet(_difficulty(public, after_cutoff, seed))),
        saturation=_saturation(public, selection, inputs.settings),
        months=tuple(_months(public, selection)),
        ranked_windows=tuple(_ranked_windows(public, common, any_time, inputs.settings)),
        broken_months={name: tuple(months) for name, months in public.broken.within(selection.board).items()},
        private=tuple(_private(whole, after_cutoff)),
    )
    return rounded(replace(numbers, own=_without_intervals_of_lists(numbers.own)))


def rounded(numbers: Numbers) -> Numbers:
    """The numbers with as many digits as every machine gives: the same inputs give the same bytes on each."""
    document = _adapter().dump_python(numbers)
    return _adapter().validate_python(
        {name: _rounded(part, FITTED_DIGITS if name in _FITTED else DIGITS) for name, part in document.items()}
    )


def _rounded(value: Any, digits: int) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{digits}g}")
    if isinstance(value, dict):
        return {key: _rounded(item, digits) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_rounded(item, digits) for item in value)
    return value


@cache
def _adapter() -> TypeAdapter[Numbers]:
    return TypeAdapter(Numbers)


def _panel(public: Material, any_time: Settings) -> Selection:
    """All runs on the problems that the filters admit; those to show are shown."""
    panel = select(public.problems, public.everyone, public.registry, any_time, now=public.now)
    return panel if len(public.runs) == len(public.everyone) else replace(panel, wanted=_places(public, panel.board))


def _places(public: Material, board: Board) -> tuple[int, ...]:
    """The rows of a board of all runs that are to be shown."""
    names = {run.name for run in public.runs}
    return tuple(row for row, name in enumerate(board.names) if name in names)


def _whole_board(public: Material) -> Board:
    """All results of all runs, to judge months by: a filter may leave too few easy problems for that."""
    unfiltered = Settings(after_cutoff=False, since=EPOCH)
    return select(public.problems, public.everyone, public.registry, unfiltered, now=public.now).board


def _difficulty(public: Material, after_cutoff: Settings, seed: int) -> DifficultyAudit:
    """The bands that the problems cover; all runs take part in the fit."""
    own = own_windows(public.problems, public.everyone, public.registry, after_cutoff, now=public.now)
    shown = None if len(public.runs) == len(public.everyone) else _places(public, own.board)
    return audit_difficulty(
        own, after_cutoff, seed, now=public.now, of_interest=shown, broken=public.broken, shown=shown
    )


def _without_intervals_of_lists(report: Report) -> Report:
    """The report with no interval where there is no rate: of few problems the value is a count, not an estimate."""
    return replace(report, rows=tuple(replace(row, scores=tuple(map(_count_alone, row.scores))) for row in report.rows))


def _count_alone(score: Score) -> Score:
    if score.is_rate:
        return score
    return replace(score, se=None, ci_low=None, ci_high=None, interval_method="none")


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
    admits = replace(settings.after_cutoff(), split=ALL).admits
    audit = audit_saturation(
        [one for one in material.problems if admits(one)],
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
    """Each run on the private problems after its own cut-off; nothing where there are none.

    Shares are in whole percent, so that two editions which differ in one of many private problems do not tell by their
    difference what became of it; of few problems (less than about 100) they still may.
    """
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
            value, low, high = map(_whole_percent, (score.value, score.ci_low, score.ci_high))
            yield PrivateScore(row.run, row.n_judged, value, low, high, None)
        else:
            yield PrivateScore(row.run, row.n_judged, None, None, None, score.reason)


def _whole_percent(share: float | None) -> float | None:
    return None if share is None else round(share, 2)
