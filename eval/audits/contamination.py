"""Whether models do better on what was published before their cut-off than models that cannot know any of it.

Each model is tested at its own cut-off against controls: models whose stated cut-off lies before every problem used, of
other families, whose results were made alike. Months in which a run is broken are left out first. A scan that knows no
date stands beside it, and is believed by the same rules. What is found on several platforms together is withheld where
no platform bears it out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time

import numpy as np
from numpy.typing import NDArray

from eval.audits.runs import months_of
from eval.audits.selection import Selection
from eval.audits.sides import cutoff_sides
from eval.board import Board, days_of, numbered
from eval.eligibility import CutoffStatus, UsedCutoff
from eval.models import ModelEntry, Registry
from eval.plausibility import doubtful
from eval.statistics.breaks import Draws, JudgedBreak, ScanCase, judge_breaks
from eval.statistics.gap import MIN_CONTROLS, Sides
from eval.statistics.placebo import Case, Judgement, Verdict, judge_gaps
from eval.statistics.run_health import PeriodHealth, withheld_cells

ENOUGH_CONTROLS = 5
ALL_PLATFORMS = "all platforms"
NO_EVIDENCE = frozenset({Verdict.THIN, Verdict.ALL_ALIKE})
"""Verdicts that say of a platform that nothing could be told at that date."""


@dataclass(frozen=True)
class TestedAt:
    """Where a run is tested: problems public by ``low`` are before its cut-off, later than ``high`` after it (days).

    Only problems from ``start`` on count, so that the cut-offs of its controls lie before all of them; None: no model
    can be a control. ``written`` is the cut-off as it was stated. ``assumed``: a release date stands in for a cut-off
    that nobody has stated, so that ``low`` is not known (minus infinity) and nothing is surely from before it.
    """

    low: float
    high: float
    written: str
    why: str
    assumed: bool = False
    start: float | None = None


@dataclass(frozen=True)
class Panel:
    """The findings on one platform, or on all together. ``judged`` has a verdict for each tested run.

    ``breaks`` need no date: each run was scanned that is not known to be clean. ``n_problems`` are those that any run
    is tested on; each has those from its own start on.
    """

    platform: str
    n_problems: int
    judged: tuple[Judgement, ...]
    breaks: tuple[JudgedBreak, ...]


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
        """Which runs are controls of any other that is tested."""
        return np.asarray(self.controls.any(axis=0))

    @property
    def says_something(self) -> bool:
        """Whether there is a verdict, or a scan that may be read, of a run that is shown."""
        shown = set(self.selection.shown)
        return any(
            any(one.model in shown and not is_withheld(one) for one in panel.judged)
            or any(one.model in shown and one.is_told for one in panel.breaks)
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

    The problems of each run start where enough models of other families have a stated and sourced cut-off before them
    to serve as its controls, or at the selection's own start. ``health`` are the months that the runs were judged by.
    ``without`` are rows that must not be controls.
    """
    board = selection.board
    barred = tuple(sorted(without))
    stated = _stated_ends(selection, registry)
    ends = np.where(np.isin(np.arange(len(stated)), barred), np.nan, stated)
    families = _families(selection, registry)
    possible = (families[:, None] != families[None, :]) & _made_alike(board)
    dated = [_tested_at(*pair, at) for pair in zip(selection.entries, selection.cutoffs, strict=True)]
    bound = None if selection.window.start is None else days_of(selection.window.start)
    starts = [_start(one, ends[may], families[may], bound) for one, may in zip(dated, possible, strict=True)]
    tested = tuple(one and replace(one, start=start) for one, start in zip(dated, starts, strict=True))
    pairs = zip(possible, starts, strict=True)
    controls = np.zeros(possible.shape, dtype=np.bool_)
    for row, (may, start) in enumerate(pairs):
        controls[row] = may & (ends <= (-np.inf if start is None else start))
    clean = tuple(bool(end <= (-np.inf if start is None else start)) for end, start in zip(stated, starts, strict=True))
    begins = min((start for start in starts if start is not None), default=bound)
    chosen = np.asarray(board.days >= (-np.inf if begins is None else begins))
    months = months_of(board)
    scores = np.where(withheld_cells(health, months, len(board.runs)), np.nan, board.scores)
    names = [ALL_PLATFORMS, *sorted({board.platforms[place] for place in np.flatnonzero(chosen)})]
    whom = Tested(tested, tuple(starts), controls, clean, families, like_ability)
    panels = []
    for name in names if len(names) > 2 else names[:1]:
        here = chosen & ((np.array(board.platforms) == name) | (name == ALL_PLATFORMS))
        if here.any():
            panels.append(_panel(name, board.take(here), scores[:, here], whom, _draws(board, name, seed)))
    broken = tuple(one for one in health if one.withheld and one.period in months[chosen])
    used = selection.narrowed(chosen, begins, "published before enough cut-offs of controls were over")
    return ContaminationAudit(used, begins, tested, controls, families, borne_out(panels), broken, barred, seed)


@dataclass(frozen=True, eq=False)
class Tested:
    """Who is tested where, from when on, against whom, by run. ``clean``: it can know no problem that is used."""

    at: tuple[TestedAt | None, ...]
    starts: tuple[float | None, ...]
    controls: NDArray[np.bool_]
    clean: tuple[bool, ...]
    families: NDArray[np.int64]
    like_ability: bool


def verdicts_on(panels: Sequence[Panel]) -> Mapping[int, Mapping[str, Judgement]]:
    """For each tested run its verdicts by platform, in the order of the panels."""
    found: dict[int, dict[str, Judgement]] = {}
    for panel in panels:
        for one in panel.judged:
            found.setdefault(one.model, {})[panel.platform] = one
    return found


def borne_out(panels: Sequence[Panel]) -> tuple[Panel, ...]:
    """The panels; what is found on all platforms together is withheld where every platform that has evidence is.

    A break is withheld where the verdict at the cut-off is, unless for want of evidence at that date alone.
    """
    found = [replace(panel, breaks=_beside_verdicts(panel.breaks, panel.judged)) for panel in panels]
    if len(found) < 2:
        return tuple(found)
    pooled, *single = found
    by_run = verdicts_on(single)
    judged = tuple(_verdict_borne_out(one, by_run.get(one.model, {})) for one in pooled.judged)
    scanned = _beside_verdicts(pooled.breaks, judged)
    breaks = tuple(
        _break_borne_out(one, {panel.platform: of for panel in single for of in panel.breaks if of.model == one.model})
        for one in scanned
    )
    return (replace(pooled, judged=judged, breaks=breaks), *single)


def _verdict_borne_out(one: Judgement, elsewhere: Mapping[str, Judgement]) -> Judgement:
    evident = {name: found for name, found in elsewhere.items() if found.verdict not in NO_EVIDENCE}
    if one.verdict is not Verdict.FOUND or not evident or not all(map(is_withheld, evident.values())):
        return one
    sentence = _nowhere({name: str(found.verdict) for name, found in evident.items()})
    return replace(one, verdict=Verdict.PLATFORMS, sentence=sentence)


def _break_borne_out(one: JudgedBreak, elsewhere: Mapping[str, JudgedBreak]) -> JudgedBreak:
    scanned = {name: found.withheld for name, found in elsewhere.items() if found.p_holm is not None}
    if not one.is_break or not scanned or None in scanned.values():
        return one
    return replace(one, withheld=_nowhere({name: str(why).split(" (")[0] for name, why in scanned.items()}))


def _nowhere(reasons: Mapping[str, str]) -> str:
    return f"{Verdict.PLATFORMS} ({', '.join(f'{name}: {why}' for name, why in reasons.items())})"


def _beside_verdicts(breaks: Sequence[JudgedBreak], judged: Sequence[Judgement]) -> tuple[JudgedBreak, ...]:
    verdicts = {one.model: one.verdict for one in judged if is_withheld(one) and one.verdict not in NO_EVIDENCE}
    return tuple(
        replace(one, withheld=f"{verdicts[one.model]} (at its cut-off)")
        if one.withheld is None and one.p_holm is not None and one.model in verdicts
        else one
        for one in breaks
    )


def _panel(name: str, board: Board, scores: NDArray[np.float64], whom: Tested, draws: Draws) -> Panel:
    cases, scans = [], []
    for row, one in enumerate(whom.at):
        start = whom.starts[row]
        controls = tuple(np.flatnonzero(whom.controls[row]).tolist())
        if not board.seen[row].any():
            continue
        since = np.asarray(board.days >= (-np.inf if start is None else start))
        # What is clean, or has no controls and serves as one, is looked at in the scans of others.
        if not whom.clean[row] and not (start is None and whom.controls[:, row].any()):
            scans.append(ScanCase(row, since, controls))
        if one is None:
            continue
        parts = Sides(since & (board.days_latest <= one.low), since & (board.days > one.high))
        # With nothing from before its cut-off, or a cut-off before all problems of its test, it can only be a control.
        if (parts.before.any() and not whom.clean[row]) or one.assumed:
            cases.append(Case(row, parts, controls, _lost(board.seen[row], np.isfinite(scores[row]), parts)))
    days, kin = _contest_days(board), whom.families
    judged = judge_gaps(scores, board.clusters, board.days, cases, families=kin, like_ability=whom.like_ability)
    breaks = judge_breaks(scores, board.clusters, days, scans, draws, families=kin, like_ability=whom.like_ability)
    return Panel(name, len(board.problems), judged, breaks)


def _lost(seen: NDArray[np.bool_], kept: NDArray[np.bool_], parts: Sides) -> str | None:
    """Which results of a run lie in broken months alone, so that nothing is left to judge."""
    if not kept.any():
        return "all months with results of it are broken"
    sides = {"before": parts.before, "after": parts.after}
    lost = [where for where, side in sides.items() if (seen & side).any() and not (kept & side).any()]
    return f"all months with results of it {' and '.join(lost)} the cut-off are broken" if lost else None


def _draws(board: Board, platform: str, seed: int) -> Draws:
    """Generators by the seed, the platform and what a run is called: whoever else has results changes none of them."""

    def of(row: int) -> np.random.Generator:
        run = board.runs[row]
        key = "\0".join((platform, run.model.casefold(), run.label, run.origin))
        return np.random.default_rng([seed, int.from_bytes(hashlib.sha256(key.encode()).digest()[:8])])

    return of


def _contest_days(board: Board) -> NDArray[np.float64]:
    """The time of each problem's contest: that of the first of its problems."""
    first = np.full(int(board.clusters.max(initial=-1)) + 1, np.inf)
    np.minimum.at(first, board.clusters, board.days)
    return np.asarray(first[board.clusters], dtype=np.float64)


def _tested_at(entry: ModelEntry | None, used: UsedCutoff | None, at: datetime | None) -> TestedAt | None:
    if at is not None:
        written = f"{at:%Y-%m-%d}" if at.time() == time.min else f"{at:%Y-%m-%dT%H:%MZ}"
        return TestedAt(days_of(at), days_of(at), written, f"tested at {at:%Y-%m-%dT%H:%MZ}")
    if used is None:
        return None
    sides = cutoff_sides(entry, used)
    return TestedAt(sides.low, sides.high, sides.written, used.why, sides.assumed)


def _stated_ends(selection: Selection, registry: Registry) -> NDArray[np.float64]:
    """When each run's cut-off is over, in days; NaN where none is stated with a source, or where it is in doubt."""
    ends = np.full(len(selection.cutoffs), np.nan)
    for row, (entry, used) in enumerate(zip(selection.entries, selection.cutoffs, strict=True)):
        if entry is None or used is None or used.status is not CutoffStatus.STATED or used.source is None:
            continue
        if doubtful(entry, used, registry) is None:
            ends[row] = days_of(used.cutoff.after)
    return ends


def _start(
    tested: TestedAt | None, ends: NDArray[np.float64], families: NDArray[np.int64], bound: float | None
) -> float | None:
    """The day from which problems count for a run, given the ends of the cut-offs that its controls may have.

    After the fifth of these, one of each family, or after as many as lie before the run's own cut-off, three at least;
    the user's bound where there is one. None: there are not three.
    """
    if bound is not None:
        return bound
    early = ends < (np.inf if tested is None or tested.assumed else tested.low)
    first = {int(kin): float(ends[early & (families == kin)].min()) for kin in np.unique(families[early])}
    before = sorted(first.values())
    return before[min(len(before), ENOUGH_CONTROLS) - 1] if len(before) >= MIN_CONTROLS else None


def _families(selection: Selection, registry: Registry) -> NDArray[np.int64]:
    """The same number for models that have an ancestor in common; a model that is not known is a family of its own."""
    roots: dict[str, str] = {}

    def root(name: str) -> str:
        while roots.setdefault(name, name) != name:
            name = roots[name]
        return name

    for entry in selection.entries:
        for ancestor in registry.ancestors(entry) if entry is not None else ():
            roots[root(ancestor.name)] = root(entry.name if entry is not None else ancestor.name)
    pairs = zip(selection.entries, selection.board.runs, strict=True)
    return numbered(("not known", run.model.casefold()) if one is None else root(one.name) for one, run in pairs)


def _made_alike(board: Board) -> NDArray[np.bool_]:
    """Which pairs of runs were judged by the same hands: here, or in one published table."""
    origins = numbered(run.origin if run.imported else "judged here" for run in board.runs)
    return np.asarray(origins[:, None] == origins[None, :])
