"""The three tables of `live eval`, from problems and runs to what is shown: own windows, a common one, equated. Pure.

The command line, editions and published pages all take their numbers from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

import numpy as np

from eval.audits.broken_months import BrokenRuns, broken_runs, still_in, told_broken, warned
from eval.board import build_board
from eval.common_window import CommonWindow, common_window, settings_of
from eval.equated import EquatedRuns, equate_runs, equated_sheet
from eval.evaluation import RunOutcomes, eligible_problems, evaluate
from eval.models import Registry
from eval.ranking import RankedGroup, rank_runs, ranking_sheet
from eval.report import Report
from eval.settings import Settings
from eval.sheets import Sheet
from eval.window import ProblemFacts, Window, classify


class UnknownSetting(ValueError):
    """A setting to rank across that no run has; ``hint`` names those that there are."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        self.message = f'--across: no run has a setting "{name}"'
        self.hint = f"there are {', '.join(known)}"
        super().__init__(self.message)


@dataclass(frozen=True)
class Material:
    """What tables are made from, as it stood at ``now``: problems, the runs to show, and ``everyone``, all runs.

    ``environment_digest`` is of the sandbox that programs were judged in; None where nothing was judged.
    ``known_broken`` are the broken months of the runs, by their given names, where not all runs are there to judge
    them by.
    """

    problems: tuple[ProblemFacts, ...]
    runs: tuple[RunOutcomes, ...]
    everyone: tuple[RunOutcomes, ...]
    registry: Registry
    now: datetime
    environment_digest: str | None = None
    known_broken: Mapping[str, Sequence[str]] | None = None

    @cached_property
    def broken(self) -> BrokenRuns:
        """The broken months of all runs, judged on all their results on sound and dated problems."""
        sound = (problem for problem in self.problems if classify(problem, Window()) is None)
        board = build_board(sound, self.everyone)
        return broken_runs(board) if self.known_broken is None else told_broken(board, self.known_broken)


def own_report(material: Material, settings: Settings, requested: Iterable[str] = ()) -> Report:
    """Each run on the problems after its own cut-off (or in an explicit window); its notes name broken months."""
    report = evaluate(
        material.problems,
        material.runs,
        material.registry,
        settings,
        now=material.now,
        environment_digest=material.environment_digest,
        requested=requested,
    )
    return replace(report, notes=(*_broken_notes(material, settings), *report.notes))


def _broken_notes(material: Material, settings: Settings) -> tuple[str, ...]:
    """Months in which runs look broken, as far as rows rest on them."""
    board = build_board(material.problems, material.runs)
    used = np.zeros(board.seen.shape, dtype=np.bool_)
    for place, run in enumerate(board.runs):
        found = eligible_problems(board.problems, run, material.registry, settings, now=material.now)
        eligible = {one.problem_id for one in found}
        used[place] = [one.problem_id in eligible for one in board.problems]
    return still_in(material.broken.within(board, used))


@dataclass(frozen=True)
class CommonTable:
    """The runs that can be compared, ranked group by group, and the sheet that shows them."""

    common: CommonWindow
    groups: tuple[RankedGroup, ...]
    sheet: Sheet

    @property
    def has_scores(self) -> bool:
        """Whether there is a problem that the runs of a group share."""
        return any(group.n_problems for group in self.groups)


def common_table(material: Material, settings: Settings, seed: int, across: Sequence[str] = ()) -> CommonTable:
    """All runs on the same problems, with ranks as ranges. Raises ``UnknownSetting``."""
    common = common_window(
        material.problems,
        material.runs,
        material.registry,
        settings,
        now=material.now,
        environment_digest=material.environment_digest,
    )
    known = sorted({key for run in common.board.runs for key in settings_of(run)})
    unknown = [name for name in across if name not in known]
    if unknown:
        raise UnknownSetting(unknown[0], known)
    groups = rank_runs(common, np.random.default_rng(seed), across=across)
    return CommonTable(common, groups, warned(ranking_sheet(common, groups, seed), common.board, material.broken))


def equated_table(material: Material, settings: Settings, seed: int) -> tuple[EquatedRuns, Sheet]:
    """Estimated scores of all runs on one reference set, and the sheet that shows them."""
    found = equate_runs(
        material.problems,
        material.runs,
        material.registry,
        settings,
        np.random.default_rng(seed),
        now=material.now,
        environment_digest=material.environment_digest,
    )
    return found, warned(equated_sheet(found, seed), found.own.board, material.broken)
