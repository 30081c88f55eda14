"""The window of the recorded comparisons of 45 models: problems from 2023-09-01 on, with the contests used there."""

from __future__ import annotations

import csv
import gzip
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from tests.eval.statistics.boards import Board, board

NAME = "lcb_v1_2024-04-17"


@cache
def recorded_window(data: Path) -> Board:
    """238 problems of 62 contests, numbered in the order of their problems' ids.

    Five problems carry two dates. The recorded tables of pairs and ranks give each the date of its first row (the
    board takes the one that most rows give, which makes 61 contests), and their draws depend on this numbering.
    """
    first: dict[str, tuple[str, str]] = {}
    path = data / "leaderboards" / "matrices" / f"{NAME}.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            first.setdefault(row["question_id"], (row["platform"], row["site_date"][:10]))
    whole = board(data, NAME)
    window = whole.take(whole.dates >= np.datetime64("2023-09-01"))
    numbers = {key: place for place, key in enumerate(dict.fromkeys(first[name] for name in sorted(window.problems)))}
    return replace(window, contests=np.array([numbers[first[name]] for name in window.problems], dtype=np.int64))
