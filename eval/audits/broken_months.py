"""Months in which a run looks broken (what `live audit runs` finds), named wherever its results are used. Pure.

A run is judged beside all runs of the store, not beside those that a table happens to show, which may be too few.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from eval.audits.refusals import named
from eval.audits.runs import judged_months, month_name, months_of
from eval.board import Board
from eval.sheets import Sheet

SUSPECT = 3.0
"""A month that is broken is beyond this z even in a fit that holds it; only such runs are judged the long way."""


@dataclass(frozen=True)
class BrokenRuns:
    """The broken months of runs, by the identity of their outcomes: a run may have another name or place elsewhere.

    ``periods`` are keyed by it, their months numbered as `months_of` numbers them; the board keeps the outcomes alive.
    """

    board: Board
    periods: Mapping[int, frozenset[int]]

    def cells(self, board: Board) -> NDArray[np.bool_]:
        """Which results (runs x problems) of a board of some of these runs lie in a broken month of their run."""
        months = months_of(board)
        rows = [np.isin(months, sorted(self.periods.get(id(run.outcomes), ()))) for run in board.runs]
        return np.array(rows, dtype=np.bool_).reshape(board.seen.shape) & board.seen

    def within(self, board: Board, used: NDArray[np.bool_] | None = None) -> dict[str, list[str]]:
        """By the name of a run on this board its broken months ("2025-01") with a result; runs without are not there.

        ``used`` (runs x problems) says which results count, by default all.
        """
        cells = self.cells(board)
        if used is not None:
            cells &= used
        months = months_of(board)
        found: dict[str, list[str]] = {}
        for name, row in zip(board.names, cells, strict=True):
            if row.any():
                found[name] = sorted({*found.get(name, ()), *map(month_name, months[row].tolist())})
        return found


def broken_runs(board: Board) -> BrokenRuns:
    """Judge the runs of a board month by month by their easy problems; with fewer than 5 runs nothing is broken."""
    health = judged_months(board, screen=SUSPECT)
    periods: dict[int, frozenset[int]] = {}
    for one in health:
        if one.withheld:
            key = id(board.runs[one.model].outcomes)
            periods[key] = periods.get(key, frozenset()) | {one.period}
    return BrokenRuns(board, periods)


def told_broken(board: Board, found: Mapping[str, Sequence[str]]) -> BrokenRuns:
    """The broken months that are known already, by the names on this board."""
    periods = {
        id(run.outcomes): frozenset(
            period for period in set(months_of(board).tolist()) if month_name(period) in found.get(name, ())
        )
        for name, run in zip(board.names, board.runs, strict=True)
    }
    return BrokenRuns(board, periods)


def broken_months(board: Board) -> dict[str, list[str]]:
    """By the name of a run its broken months, "2025-01"; runs without any are not there."""
    return broken_runs(board).within(board)


def together(first: Mapping[str, Sequence[str]], second: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The months of two boards of the same runs."""
    return {name: sorted({*first.get(name, ()), *second.get(name, ())}) for name in dict.fromkeys([*first, *second])}


def still_in(found: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """For conditions: which broken months are part of the numbers that follow."""
    return tuple(
        f"{name}: results of {named(list(months))} look broken (live audit runs) and are in these numbers"
        for name, months in found.items()
    )


def warned(sheet: Sheet, board: Board, broken: BrokenRuns) -> Sheet:
    """A sheet that rests on the results of a board, with the broken months among them in its conditions and data."""
    found = broken.within(board)
    return replace(sheet, conditions=(*sheet.conditions, *still_in(found)), data={**sheet.data, "broken_months": found})


def left_out(found: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """For conditions: which broken months are no part of the numbers that follow."""
    return tuple(
        f"left out: {name}: results of {named(list(months))}, which look broken (live audit runs)"
        for name, months in found.items()
    )
