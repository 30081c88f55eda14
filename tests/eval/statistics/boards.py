"""Recorded leaderboards as arrays: models x problems."""

from __future__ import annotations

import csv
import gzip
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Board:
    """One matrix. ``scores`` (models x problems) are shares of samples correct, NaN where a model has no result.

    ``dates`` are the site's, a day after the contest; ``contests`` number the pairs of platform and date.
    """

    models: tuple[str, ...]
    problems: tuple[str, ...]
    platforms: NDArray[np.str_]
    difficulties: NDArray[np.str_]
    dates: NDArray[np.datetime64]
    contests: NDArray[np.int64]
    scores: NDArray[np.float64]

    def take(self, chosen: NDArray[Any]) -> Board:
        """The board of some problems, by a mask or by index."""
        index = np.arange(len(self.problems))[chosen]
        return replace(
            self,
            problems=tuple(self.problems[place] for place in index),
            platforms=self.platforms[index],
            difficulties=self.difficulties[index],
            dates=self.dates[index],
            contests=self.contests[index],
            scores=self.scores[:, index],
        )

    def row(self, model: str) -> NDArray[np.float64]:
        """The scores of one model."""
        return np.asarray(self.scores[self.models.index(model)], dtype=np.float64)


@cache
def board(data: Path, name: str) -> Board:
    """The matrix ``name`` of the recorded data. A problem that carries two dates has the one that most rows give."""
    rows = list(_rows(data / "leaderboards" / "matrices" / f"{name}.csv.gz"))
    models = tuple(dict.fromkeys(row["model"] for row in rows))
    days: dict[str, Counter[date]] = defaultdict(Counter)
    facts: dict[str, dict[str, str]] = {}
    for row in rows:
        days[row["question_id"]][datetime.fromisoformat(row["site_date"].replace("Z", "+00:00")).date()] += 1
        facts.setdefault(row["question_id"], row)
    problems = tuple(facts)
    scores = np.full((len(models), len(problems)), np.nan)
    model_index = {model: place for place, model in enumerate(models)}
    problem_index = {problem: place for place, problem in enumerate(problems)}
    for row in rows:
        scores[model_index[row["model"]], problem_index[row["question_id"]]] = float(row["pass@1"]) / 100
    dates = np.array([days[problem].most_common(1)[0][0] for problem in problems], dtype="datetime64[D]")
    keys = [(facts[problem]["platform"], day) for problem, day in zip(problems, dates.tolist(), strict=True)]
    numbers = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    return Board(
        models,
        problems,
        np.array([facts[problem]["platform"] for problem in problems]),
        np.array([facts[problem]["difficulty"] for problem in problems]),
        dates,
        np.array([numbers[key] for key in keys], dtype=np.int64),
        scores,
    )


def table(data: Path, name: str) -> list[dict[str, str]]:
    """The rows of a recorded table of results, ``leaderboards/NAME.csv``."""
    with (data / "leaderboards" / f"{name}.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from csv.DictReader(lines)
