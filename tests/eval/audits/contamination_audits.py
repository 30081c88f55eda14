"""Contamination audits of recorded boards, and of a board that is made up."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from eval.audits.contamination import ContaminationAudit, Panel, audit_contamination
from eval.audits.runs import audit_runs
from eval.audits.selection import select
from eval.board import EPOCH
from eval.models import Registry
from eval.settings import Settings
from eval.statistics.changepoint import Break
from eval.statistics.placebo import Verdict
from eval.window import ProblemFacts, parse_since
from tests.eval.facts import NOW, model, problem, registry, run
from tests.eval.statistics.boards import Board, board
from tests.eval.statistics.recorded_gaps import instants

Runs = list[tuple[int, int, int]]


def facts(
    data: Path, name: str, of: Board, moments: np.ndarray[tuple[int], np.dtype[np.datetime64]]
) -> list[ProblemFacts]:
    """The problems of a recorded board at the instants of their contests."""
    return [
        problem(
            number,
            str(moment),
            platform=str(of.platforms[number]),
            native_id=of.problems[number],
            difficulty=str(of.difficulties[number]),
            contest=f"contest {of.contests[number]}",
        )
        for number, moment in enumerate(moments)
    ]


def audited(
    data: Path,
    name: str,
    models: Registry,
    *,
    since: str,
    until: str | None = None,
    platforms: tuple[str, ...] = (),
    at: datetime | None = None,
) -> ContaminationAudit:
    of, moments = board(data, name), instants(data, name)
    runs = [
        run(
            of.models[row],
            [
                (n, 10, round(10 * float(of.scores[row, n])))
                for n in np.flatnonzero(np.isfinite(of.scores[row])).tolist()
            ],
            imported=True,
            origin="site",
        )
        for row in range(len(of.models))
    ]
    settings = Settings(
        after_cutoff=False,
        since=parse_since(since),
        until=parse_since(until) if until else None,
        platforms=platforms or ("leetcode", "atcoder"),
    )
    selection = select(facts(data, name, of, moments), runs, models, settings, now=NOW)
    return audit_contamination(selection, models, audit_runs(selection, {}).months, 0, at=at)


def between(one: Break) -> tuple[str, str]:
    """The days of the last contest before a break and of the first after it."""
    assert one.last_before is not None
    assert one.first_after is not None
    first, last = (EPOCH + timedelta(days=days) for days in (one.last_before, one.first_after))
    return f"{first:%Y-%m-%d}", f"{last:%Y-%m-%d}"


def panel_of(audit: ContaminationAudit, platform: str) -> Panel:
    (panel,) = (one for one in audit.panels if one.platform == platform)
    return panel


def verdicts(audit: ContaminationAudit, platform: str) -> dict[str, Verdict]:
    return {audit.selection.board.names[one.model]: one.verdict for one in panel_of(audit, platform).judged}


def read_breaks(audit: ContaminationAudit, platform: str) -> dict[str, tuple[str, str]]:
    """By model the days between which it breaks off, where that may be read."""
    return {
        audit.selection.board.names[one.model]: between(one.found)
        for one in panel_of(audit, platform).breaks
        if one.is_break and one.found is not None
    }


def simulated(seed: int, learnt: bool, of: int = 8) -> tuple[list[ProblemFacts], list[tuple[str, Runs]]]:
    """Eight controls with cut-offs in 2022, one model with its own at the end of 2023; 60 contests over two years.

    If anything is ``learnt``, the one in row ``of`` has learnt it.
    """
    rng = np.random.default_rng(seed)
    problems, times = [], []
    for number in range(180):
        at = datetime(2023, 1, 7, tzinfo=UTC) + timedelta(days=12 * (number // 3))
        problems.append(problem(number, at.replace(tzinfo=None).isoformat(), contest=f"c{number // 3}"))
        times.append(at)
    hard = rng.normal(0, 1.2, 180)
    answers = []
    for place, ability in enumerate([*np.linspace(-1.5, 1.5, 8), 0.0]):
        chances = 1 / (1 + np.exp(hard - ability))
        if learnt and place == of:
            chances = np.where(np.array(times) < datetime(2023, 12, 1, tzinfo=UTC), 0.5 + chances / 2, chances)
        name = f"control{place}" if place < 8 else "tested"
        answers.append((name, [(n, 5, int(rng.binomial(5, chances[n]))) for n in range(180)]))
    return problems, answers


def of_simulated(seed: int, learnt: bool, **cutoffs: str | None) -> ContaminationAudit:
    return of_answers(*simulated(seed, learnt), cutoffs)


def of_control(without: tuple[int, ...] = (), **cutoffs: str | None) -> ContaminationAudit:
    """Of the controls, that in row 4 has learnt what it cannot have seen."""
    return of_answers(*simulated(7, True, of=4), cutoffs, without)


def of_answers(
    problems: list[ProblemFacts],
    answers: list[tuple[str, Runs]],
    cutoffs: Mapping[str, str | None],
    without: tuple[int, ...] = (),
) -> ContaminationAudit:
    models = registry(*(model(name, cutoffs.get(name, "2022-06")) for name, _ in answers))
    runs = [run(name, cells) for name, cells in answers]
    settings = Settings(after_cutoff=False, since=EPOCH)
    selection = select(problems, runs, models, settings, now=NOW)
    return audit_contamination(selection, models, (), 0, without=without)
