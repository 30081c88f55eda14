"""Boards to fit item response models to: drawn from such a model, or recorded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.eval.statistics.boards import Board, board, table

FloatArray = NDArray[np.float64]


def simulated(
    models: int, problems: int, rng: np.random.Generator, missing: float = 0.0
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Scores of one sample for each cell, and the abilities, difficulties and slopes behind them."""
    theta, b, a = rng.normal(size=models), rng.normal(0, 2, problems), np.exp(rng.normal(0, 0.5, problems))
    chance = 1 / (1 + np.exp(-a * (theta[:, None] - b)))
    scores = (rng.random(chance.shape) < chance).astype(np.float64)
    scores[rng.random(chance.shape) < missing] = np.nan
    return scores, theta, b, a


def recorded_window(data: Path) -> Board:
    """The recorded board of 45 models since September 2023, in the order of the recorded table of its problems."""
    whole = board(data, "lcb_v1_2024-04-17")
    rows = table(data, "lcb_v1_post2023-09_items_irt")
    return whole.take(np.array([whole.problems.index(row["question_id"]) for row in rows]))
