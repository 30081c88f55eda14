"""The table of a common window: every run on the same problems, with the ranks that the evidence allows each. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from eval import sheets
from eval.board import Board
from eval.cautions import differing_fields
from eval.common_window import CommonWindow
from eval.sheets import Sheet, Table
from eval.statistics.intervals import FEW_CLUSTERS, Interval, interval
from eval.statistics.ranks import RankSets, rank_sets

MAX_LOST = 0.05
NO_SETTINGS = frozenset({"ran_on"})
"""Conditions that are no setting of the model: when it ran changes no answer."""


@dataclass(frozen=True)
class RankedRun:
    """One run on the common problems: its score (a share, None without problems), interval, and how many it lacks."""

    name: str
    score: float | None
    interval: Interval
    n_missing: int


@dataclass(frozen=True)
class RankedGroup:
    """Runs under the same settings, on the problems that all of them have answered, with their rank sets.

    ``settings`` are what the runs of the group share and other groups do not.
    """

    settings: str
    runs: tuple[RankedRun, ...]
    ranks: RankSets
    n_problems: int
    n_contests: int
    n_not_common: int


def rank_runs(common: CommonWindow, rng: np.random.Generator, *, across: Sequence[str] = ()) -> tuple[RankedGroup, ...]:
    """Rank the runs of each group of equal settings; ``across`` names settings whose differences are meant.

    Results of a run here and imported ones are never in one group, nor are imports of two origins: they were not judged
    alike.
    """
    groups: dict[tuple[tuple[str, str], ...], list[int]] = {}
    for place, run in enumerate(common.board.runs):
        settings = {key: value for key, value in run.conditions.items() if key not in {*NO_SETTINGS, *across}}
        settings["results"] = f"imported ({run.origin})" if run.imported else "judged here"
        groups.setdefault(tuple(sorted((key, str(value)) for key, value in settings.items())), []).append(place)
    differing = list(differing_fields([dict(key) for key in groups]))
    fields = [line.split(":")[0] for line in differing]
    return tuple(
        _group(common.board.take_runs(places), ", ".join(f"{name} {dict(key).get(name)}" for name in fields), rng)
        for key, places in groups.items()
    )


def _group(board: Board, settings: str, rng: np.random.Generator) -> RankedGroup:
    complete = np.asarray(board.seen.all(axis=0))
    shared = board.take(complete)
    clusters = shared.clusters.tolist()
    runs = tuple(
        RankedRun(
            name,
            float(scores.mean()) if scores.size else None,
            interval(scores, clusters),
            int((~seen).sum()),
        )
        for name, scores, seen in zip(board.names, shared.scores, board.seen, strict=True)
    )
    ranks = rank_sets(shared.scores, shared.clusters, rng)
    return RankedGroup(settings, runs, ranks, len(shared.problems), len(set(clusters)), int((~complete).sum()))


def ranking_sheet(common: CommonWindow, groups: Sequence[RankedGroup], seed: int) -> Sheet:
    """One table for each group, best score first; ranks are intervals."""
    notes = []
    if len(groups) > 1:
        notes.append(
            "runs under different settings are ranked apart; where a difference is meant, say so with --across NAME"
        )
    notes.append(f"intervals and ranks hold with 95 %; seed {seed}")
    return Sheet(
        title="Models on the same problems",
        conditions=common.described(),
        tables=tuple(_table(group) for group in groups),
        notes=tuple(notes),
        data={"groups": [_as_dict(group) for group in groups], "seed": seed},
    )


def _table(group: RankedGroup) -> Table:
    columns = (
        sheets.text("model"),
        sheets.percent("pass@1"),
        sheets.text("95 %"),
        sheets.text("rank"),
        sheets.text("tier"),
        sheets.count("lacks"),
    )
    rows = []
    for place in _order(group):
        run, found = group.runs[place], group.ranks.sets[place]
        rank = None if found is None else _span(found.low, found.high)
        tier = None if found is None else str(found.tier)
        rows.append((run.name, run.score, sheets.span(run.interval.low, run.interval.high), rank, tier, run.n_missing))
    title = f"{len(group.runs)} runs on {group.n_problems} problems of {group.n_contests} contests"
    if group.settings:
        title += f" ({group.settings})"
    return Table(title, columns, tuple(rows), tuple(_notes(group)))


def _order(group: RankedGroup) -> list[int]:
    """Best score first; equal ones by name."""
    return sorted(range(len(group.runs)), key=lambda place: (-(group.runs[place].score or 0), group.runs[place].name))


def _notes(group: RankedGroup) -> Iterator[str]:
    if group.ranks.refusal is not None:
        yield f"no ranks: {group.ranks.refusal}"
    elif len(group.ranks.may_be_first) == 1:
        yield f"first is {group.runs[group.ranks.may_be_first[0]].name}, all pairs tested at once"
    else:
        first = [group.runs[place].name for place in _order(group) if place in group.ranks.may_be_first]
        yield f"any of {len(first)} may be first: {', '.join(first)}"
    if group.ranks.n_tests:
        yield (
            f"{group.ranks.n_tests} pairs were tested together, {group.ranks.unit}s drawn {group.ranks.draws} times; "
            "tier 1 are those that no other is shown to beat"
        )
        if group.ranks.n_contests < FEW_CLUSTERS:
            yield f"only {group.ranks.n_contests} contests: sets are widened by Student's t"
    if group.ranks.n_no_spread and group.ranks.refusal is None:
        yield f"{group.ranks.n_no_spread} pairs are equal on every problem and gave no evidence"
    if group.n_not_common:
        yield f"{group.n_not_common} problems are not in it: a run has no result there (see lacks)"
    for run in group.runs:
        if run.n_missing > MAX_LOST * (group.n_problems + group.n_not_common):
            yield f"{run.name} lacks {run.n_missing} problems; without this run the table may hold more"


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}–{high}"


def _as_dict(group: RankedGroup) -> Mapping[str, Any]:
    rows = []
    for place in _order(group):
        run, found = group.runs[place], group.ranks.sets[place]
        rows.append(
            {
                "model": run.name,
                "score": run.score,
                "low": run.interval.low,
                "high": run.interval.high,
                "interval_method": run.interval.method,
                "n_missing": run.n_missing,
                "ranks": None if found is None else asdict(found),
            }
        )
    return {
        "settings": group.settings,
        "n_problems": group.n_problems,
        "n_contests": group.n_contests,
        "n_not_common": group.n_not_common,
        "n_tests": group.ranks.n_tests,
        "refusal": group.ranks.refusal,
        "rows": rows,
    }
