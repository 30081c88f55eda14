"""Each run's results on the problems that its own cut-off allows, side by side: what estimates start from. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from eval.board import Board, build_board
from eval.comparable import comparable_runs
from eval.eligibility import NotScored, UsedCutoff
from eval.evaluation import RunOutcomes
from eval.models import Registry
from eval.settings import Settings
from eval.window import ProblemFacts, classify


@dataclass(frozen=True)
class OwnWindows:
    """Runs whose models have a usable cut-off, on the problems that any of them has answered.

    ``clean`` (runs x problems) is true for a result on a sound problem in the run's own window.
    """

    board: Board
    clean: NDArray[np.bool_]
    cutoffs: tuple[UsedCutoff | None, ...]
    not_scored: tuple[NotScored, ...]

    @property
    def scores(self) -> NDArray[np.float64]:
        """The shares of samples accepted where the result is clean, NaN elsewhere."""
        return np.where(self.clean, self.board.scores, np.nan)

    def own(self, run: int) -> tuple[float | None, int]:
        """A run's mean score over its own problems, a share (None without any), and how many they are."""
        scores = self.board.scores[run, self.clean[run]]
        return (float(scores.mean()) if scores.size else None), int(scores.size)


def own_windows(
    problems: Iterable[ProblemFacts],
    runs: Iterable[RunOutcomes],
    registry: Registry,
    settings: Settings,
    *,
    now: datetime,
) -> OwnWindows:
    """What lies in each run's own window under these settings; a run without a usable cut-off is not scored."""
    kept, refused = comparable_runs(runs, registry, settings, now=now)
    board = build_board([one for one in problems if settings.admits(one)], [run for run, _ in kept])
    inside = [
        [classify(one, window, include_flagged=settings.include_flagged) is None for one in board.problems]
        for window in (basis.window for _, basis in kept)
    ]
    clean = np.array(inside, dtype=np.bool_).reshape(board.seen.shape) & board.seen
    return OwnWindows(board, clean, tuple(basis.known for _, basis in kept), refused)
