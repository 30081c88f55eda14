"""Whether models do better on what was published before their cut-off than models that cannot know any of it.

Each model is tested at its own cut-off against controls: models whose stated cut-off lies before every problem used, of
other families, whose results were made alike. Months in which a run is broken are left out first. A scan that knows no
date stands beside it. A gap on several platforms together is withheld where no platform bears it out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from eval.audits.runs import months_of
from eval.audits.selection import Selection
from eval.board import DAY_S, EPOCH, Board, numbered
from eval.claims import ClaimKind, holding
from eval.eligibility import CutoffStatus, UsedCutoff
from eval.models import ModelEntry, Registry
from eval.statistics.changepoint import Break, differences, scan
from eval.statistics.gap import MIN_CONTROLS, sides
from eval.statistics.multiplicity import holm
from eval.statistics.placebo import Case, Judgement, Verdict, eligible_controls, judge_gaps
from eval.statistics.run_health import PeriodHealth, withheld_cells

ENOUGH_CONTROLS = 5
EARLIEST_ZONE = timedelta(hours=14)
"""How long before its beginning in UTC a day has begun somewhere."""

ALL_PLATFORMS = "all platforms"


@dataclass(frozen=True)
class TestedAt:
    """Where a run is tested: problems up to ``low`` are before its cut-off, later than ``high`` after it (days).

    ``assumed``: a release date stands in for a cut-off that nobody has stated.
    """

    low: float
    high: float
    why: str
    assumed: bool = False


@dataclass(frozen=True)
class Panel:
    """The findings on one platform, or on all together. ``judged`` has a verdict for each tested run.

    ``breaks`` (a run, its break, its p value by Holm over all runs scanned) need no date.
    """

    platform: str
    n_problems: int
    judged: tuple[Judgement, ...]
    breaks: tuple[tuple[int, Break, float | None], ...]


@dataclass(frozen=True)
class ContaminationAudit:
    """What was tested where, with which controls, and what was found; ``tested`` is None for a run without a date.

    ``selection`` holds the problems that were used. ``families`` numbers kin alike; ``without`` are rows that were kept
    from being controls.
    """

    selection: Selection
    start: float | None
    tested: tuple[TestedAt | None, ...]
    controls: NDArray[np.bool_]
    families: NDArray[np.int64]
    panels: tuple[Panel, ...]
    broken: tuple[PeriodHealth, ...]
    without: tuple[int, ...]
    seed: int

    @property
    def serves(self) -> NDArray[np.bool_]:
        """Which runs are controls of any other, and so are not tested."""
        return np.asarray(self.controls.any(axis=0))

    @property
    def says_something(self) -> bool:
        """Whether there is a verdict that is not withheld, or a break, of a run that is shown."""
        shown = set(self.selection.shown)
        return any(
            any(one.model in shown and not is_withheld(one) for one in panel.judged)
            or any(row in shown and one.p is not None for row, one, _ in panel.breaks)
            for panel in self.panels
        )


def is_withheld(one: Judgement) -> bool:
    """Whether a verdict is withheld, so that its numbers must not be read."""
    return one.verdict not in {Verdict.FOUND, Verdict.NOT_FOUND}


def audit_contamination(
    selection: Selection,
    registry: Registry,
    health: tuple[PeriodHealth, ...],
    seed: int,
    *,
    at: datetime | None = None,
    like_ability: bool = False,
    without: Collection[int] = (),
) -> ContaminationAudit:
    """Test every run at its own cut-off, or all at one instant (``at``), on each platform and on all together.

    Problems start where enough models have a stated cut-off before them to serve as controls, or at the selection's own
    start. ``health`` are the months that the runs were judged by. ``without`` are rows that must not be controls.
    """
    board = selection.board
    tested = tuple(_tested_at(*pair, at) for pair in zip(selection.entries, selection.cutoffs, strict=True))
    barred = tuple(sorted(without))
    ends = _stated_ends(selection.cutoffs)
    ends[list(barred)] = np.nan
    start = _start(selection, ends)
    chosen = np.asarray(board.days >= (start if start is not None else -np.inf))
    lost = withheld_cells(health, months_of(board), len(board.runs))
    scores = np.where(lost, np.nan, board.scores)
    families = _families(selection.entries, registry)
    earliest = float(board.days[chosen].min()) if chosen.any() else np.inf
    controls = eligible_controls(ends, families, earliest) & _made_alike(board)
    names = [ALL_PLATFORMS, *sorted({board.platforms[place] for place in np.flatnonzero(chosen)})]
    testable = [None if one is None or one.high < earliest else one for one in tested]
    rng = np.random.default_rng(seed)
    panels = []
    for name in names if len(names) > 2 else names[:1]:
        here = chosen & ((np.array(board.platforms) == name) | (name == ALL_PLATFORMS))
        if here.any():
            panels.append(
                _panel(name, board.take(here), scores[:, here], testable, controls, families, like_ability, rng)
            )
    months = set(months_of(board.take(chosen)).tolist())
    broken = tuple(one for one in health if one.withheld and one.period in months)
    used = selection.narrowed(chosen, start, "published before enough cut-offs of controls were over")
    judged = borne_out(panels)
    return ContaminationAudit(used, start, tested, controls, families, judged, broken, barred, seed)


def verdicts_on(panels: Sequence[Panel]) -> Mapping[int, Mapping[str, Judgement]]:
    """For each tested run its verdicts by platform, in the order of the panels."""
    found: dict[int, dict[str, Judgement]] = {}
    for panel in panels:
        for one in panel.judged:
            found.setdefault(one.model, {})[panel.platform] = one
    return found


def borne_out(panels: Sequence[Panel]) -> tuple[Panel, ...]:
    """The panels; what is found on all platforms together is withheld where every platform that has evidence is."""
    if len(panels) < 2:
        return tuple(panels)
    pooled, *single = panels
    by_run = verdicts_on(single)
    judged = []
    for one in pooled.judged:
        here = {name: found for name, found in by_run.get(one.model, {}).items() if found.verdict is not Verdict.THIN}
        if one.verdict is Verdict.FOUND and here and all(map(is_withheld, here.values())):
            reasons = ", ".join(f"{name}: {found.verdict}" for name, found in here.items())
            sentence = f"{Verdict.PLATFORMS} ({reasons})"
            judged.append(replace(one, verdict=Verdict.PLATFORMS, sentence=sentence))
        else:
            judged.append(one)
    return (replace(pooled, judged=tuple(judged)), *single)


def _panel(
    name: str,
    board: Board,
    scores: NDArray[np.float64],
    tested: Sequence[TestedAt | None],
    controls: NDArray[np.bool_],
    families: NDArray[np.int64],
    like_ability: bool,
    rng: np.random.Generator,
) -> Panel:
    serves = np.asarray(controls.any(axis=0))
    cases = [
        Case(row, sides(board.days, one.low, one.high), tuple(np.flatnonzero(controls[row]).tolist()))
        for row, one in enumerate(tested)
        if one is not None and not serves[row] and np.isfinite(scores[row]).any()
    ]
    judged = judge_gaps(scores, board.clusters, board.days, cases, families=families, like_ability=like_ability)
    rows = [row for row in range(len(scores)) if controls[row].sum() >= MIN_CONTROLS and not serves[row]]
    found = scan(differences(scores, controls)[rows], board.clusters, _contest_days(board), rng) if rows else ()
    tested_breaks = [one.p for one in found if one.p is not None]
    adjusted = iter(holm(tested_breaks).tolist())
    breaks = tuple(
        (row, one, None if one.p is None else float(next(adjusted))) for row, one in zip(rows, found, strict=True)
    )
    return Panel(name, len(board.problems), judged, breaks)


def _contest_days(board: Board) -> NDArray[np.float64]:
    """The time of each problem's contest: that of the first of its problems."""
    first = np.full(int(board.clusters.max(initial=-1)) + 1, np.inf)
    np.minimum.at(first, board.clusters, board.days)
    return np.asarray(first[board.clusters], dtype=np.float64)


def _tested_at(entry: ModelEntry | None, used: UsedCutoff | None, at: datetime | None) -> TestedAt | None:
    if at is not None:
        return TestedAt(_days(at), _days(at), f"tested at {at:%Y-%m-%dT%H:%MZ}")
    if used is None:
        return None
    claims = holding(entry.claims, ClaimKind.TRAINING_DATA) if entry is not None else ()
    first = min([used.cutoff.first, *(claim.cutoff.first for claim in claims)])
    begins = datetime(first.year, first.month, first.day, tzinfo=used.cutoff.after.tzinfo) - EARLIEST_ZONE
    return TestedAt(_days(begins), _days(used.cutoff.after), used.why, assumed=used.status is CutoffStatus.ASSUMED)


def _days(instant: datetime) -> float:
    return (instant - EPOCH).total_seconds() / DAY_S


def _stated_ends(cutoffs: Sequence[UsedCutoff | None]) -> NDArray[np.float64]:
    """When each run's stated cut-off is over, in days; NaN where none is stated."""
    return np.array(
        [
            _days(used.cutoff.after) if used is not None and used.status is CutoffStatus.STATED else np.nan
            for used in cutoffs
        ],
        dtype=np.float64,
    )


def _start(selection: Selection, ends: NDArray[np.float64]) -> float | None:
    """The first day that counts, so that 5 models (or all there are) can be controls; None: no bound."""
    if selection.window.start is not None:
        return _days(selection.window.start)
    stated = np.sort(np.unique(ends[np.isfinite(ends)]))
    counts = [(place, int((ends <= end).sum())) for place, end in enumerate(stated)]
    enough = next((place for place, count in counts if count >= ENOUGH_CONTROLS), None)
    return float(stated[enough]) if enough is not None else None


def _families(entries: Sequence[ModelEntry | None], registry: Registry) -> NDArray[np.int64]:
    """The same number for models that have an ancestor in common; a model that is not known is a family of its own."""
    roots: dict[str, str] = {}

    def root(name: str) -> str:
        while roots.setdefault(name, name) != name:
            name = roots[name]
        return name

    for entry in entries:
        for ancestor in registry.ancestors(entry) if entry is not None else ():
            roots[root(ancestor.name)] = root(entry.name if entry is not None else ancestor.name)
    return numbered(f"run {place}" if one is None else root(one.name) for place, one in enumerate(entries))


def _made_alike(board: Board) -> NDArray[np.bool_]:
    """Which pairs of runs were judged by the same hands: here, or in one published table."""
    origins = numbered(run.origin if run.imported else "judged here" for run in board.runs)
    return np.asarray(origins[:, None] == origins[None, :])
