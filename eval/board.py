"""Runs x problems as arrays: what every statistic over several models starts from. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval.evaluation import RunOutcomes, want_of_tests
from eval.scoring import UNKNOWN
from eval.window import ProblemFacts, Reason

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY_S = 86_400.0


@dataclass(frozen=True)
class Board:
    """The results of some runs on some problems.

    ``n_samples`` and ``n_correct`` (runs x problems) count judged samples; no sample means no result. ``names`` tell
    runs apart: the model, with the run's label or the import's origin where one model has several.
    """

    names: tuple[str, ...]
    runs: tuple[RunOutcomes, ...]
    problems: tuple[ProblemFacts, ...]
    n_samples: NDArray[np.int64]
    n_correct: NDArray[np.int64]

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        """The share of samples that were accepted, runs x problems; NaN where there is no result."""
        shares = np.full(self.n_samples.shape, np.nan)
        np.divide(self.n_correct, self.n_samples, out=shares, where=self.n_samples > 0)
        return shares

    @cached_property
    def seen(self) -> NDArray[np.bool_]:
        """Where there is a result, runs x problems."""
        return np.asarray(self.n_samples > 0)

    @cached_property
    def clusters(self) -> NDArray[np.int64]:
        """The contest of each problem as a number from 0."""
        return numbered([problem.cluster for problem in self.problems])

    @cached_property
    def days(self) -> NDArray[np.float64]:
        """When each problem may first have been public, in days since 1970 (UTC); NaN where no date is known."""
        return np.array([_days_or_nan(problem.exposed_at) for problem in self.problems], dtype=np.float64)

    @cached_property
    def days_latest(self) -> NDArray[np.float64]:
        """By when each problem was certainly public, in days since 1970: the end of what a coarse date names."""
        return np.array([_days_or_nan(problem.exposed_before) for problem in self.problems], dtype=np.float64)

    @cached_property
    def n_models(self) -> int:
        """How many models there are: several runs of one count once."""
        return len({run.model.casefold() for run in self.runs})

    @cached_property
    def platforms(self) -> tuple[str, ...]:
        """The platform of each problem."""
        return tuple(problem.platform for problem in self.problems)

    @cached_property
    def difficulties(self) -> tuple[str, ...]:
        """The difficulty label of each problem, "unknown" where its platform gives none."""
        return tuple(problem.difficulty or UNKNOWN for problem in self.problems)

    def take(self, chosen: NDArray[Any]) -> Board:
        """The board of some problems, by a mask or by index."""
        index = np.arange(len(self.problems))[chosen]
        return replace(
            self,
            problems=tuple(self.problems[place] for place in index),
            n_samples=self.n_samples[:, index],
            n_correct=self.n_correct[:, index],
        )

    def take_runs(self, chosen: Sequence[int]) -> Board:
        """The board of some runs, in the order given."""
        index = np.asarray(chosen, dtype=np.int64)
        return replace(
            self,
            names=tuple(self.names[place] for place in index),
            runs=tuple(self.runs[place] for place in index),
            n_samples=self.n_samples[index],
            n_correct=self.n_correct[index],
        )


def build_board(problems: Iterable[ProblemFacts], runs: Iterable[RunOutcomes]) -> Board:
    """The board of these runs on those of the problems on which any of them has a result, in the problems' order.

    Joins by problem id; a result on a problem that is not among them is left out, and one that counts in no score: of
    a program on the samples alone.
    """
    rows = tuple(runs)
    given = tuple(problems)
    may_count = {
        kind: {one.problem_id for one in given if want_of_tests(one, kind[0], by_tests=kind[1]) is None}
        for kind in {(run.imported, run.by_tests) for run in rows}
    }
    results = [
        [one for one in run.outcomes if one.n_samples > 0 and one.problem_id in may_count[run.imported, run.by_tests]]
        for run in rows
    ]
    answered = {outcome.problem_id for found in results for outcome in found}
    columns = tuple(problem for problem in given if problem.problem_id in answered)
    place = {problem.problem_id: column for column, problem in enumerate(columns)}
    n = np.zeros((len(rows), len(columns)), dtype=np.int64)
    c = np.zeros_like(n)
    for row, run in enumerate(rows):
        if len({outcome.problem_id for outcome in run.outcomes}) != len(run.outcomes):
            raise ValueError(
                f"two outcomes for one problem in the run of {run.model}: results must be joined by id first"
            )
        for outcome in results[row]:
            column = place[outcome.problem_id]
            n[row, column], c[row, column] = outcome.n_samples, outcome.n_correct
    return Board(run_names(rows), rows, columns, n, c)


def on_samples_alone(problems: Iterable[ProblemFacts], runs: Iterable[RunOutcomes]) -> dict[str, int]:
    """How many of the problems no board of these runs has, whatever they answered, since the samples are all tests, by
    that reason; nothing where there is none."""
    kinds = {(run.imported, run.by_tests) for run in runs}
    n = sum(
        all(want_of_tests(one, imported, by_tests=by_tests) is Reason.SAMPLES_ONLY for imported, by_tests in kinds)
        for one in problems
    )
    return {str(Reason.SAMPLES_ONLY): n} if n and kinds else {}


def run_names(runs: Sequence[RunOutcomes]) -> tuple[str, ...]:
    """A name for each run: the one given to it, else its model alone where that has one run, else with what tells its
    runs apart; all differ. A number that has still to be added follows what the runs are, not the order they come in.
    """
    models = Counter(run.model for run in runs)
    names: dict[int, str] = {}
    taken: set[str] = set()
    for place in sorted(range(len(runs)), key=lambda place: _identity(runs[place])):
        run = runs[place]
        extra = [part for part in (run.label, run.origin if run.imported else "") if part]
        name = f"{run.model} ({', '.join(extra)})" if models[run.model] > 1 and extra else run.model
        name = run.name or name
        numbered_names = (f"{name} #{number}" for number in count(2))
        names[place] = name if name not in taken else next(one for one in numbered_names if one not in taken)
        taken.add(names[place])
    return tuple(names[place] for place in range(len(runs)))


def _identity(run: RunOutcomes) -> tuple[bool, str, str, bool, str, str]:
    """What a run is, without its place in a store; given names come first, since they are kept."""
    conditions = json.dumps(run.conditions, sort_keys=True, default=str)
    return not run.name, run.model, run.label, run.imported, run.origin, conditions


def numbered(keys: Iterable[object]) -> NDArray[np.int64]:
    """The same number, counted from 0 in order of appearance, for the same key."""
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def days_of(instant: datetime) -> float:
    """An instant in days since 1970 (UTC)."""
    return (instant - EPOCH).total_seconds() / DAY_S


def _days_or_nan(instant: datetime | None) -> float:
    return np.nan if instant is None else days_of(instant)
