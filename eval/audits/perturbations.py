"""What the stability panel changes: which other orders of the same models can be made from the same results. Pure.

Each function gives orders with a name for each, and a sentence for each that could not be made.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from eval.board import Board
from eval.statistics import stability
from eval.statistics.stability import MIN_PROBLEMS, Ordering, Perturbation
from eval.window import ProblemFacts, Window, classify
from eval.workloads import UNKNOWN, Workload

BoolArray = NDArray[np.bool_]
MIN_RUNS = 2


@dataclass(frozen=True)
class Orders:
    """Orders of one kind, a name for the label of each, and sentences on those that were not made."""

    orders: tuple[Ordering, ...] = ()
    names: Mapping[tuple[Perturbation, int], str] = field(default_factory=dict)
    not_run: tuple[str, ...] = ()


def without_contests(board: Board) -> Orders:
    """The order without each contest in turn."""
    orders = stability.contests_left_out(board.scores, board.clusters)
    if not orders:
        return Orders(not_run=("a contest left out: all problems are of one",))
    clusters = {int(number): one for number, one in zip(board.clusters, board.problems, strict=True)}
    return _named(orders, {number: f"without {_contest(one)}" for number, one in clusters.items()})


def _contest(problem: ProblemFacts) -> str:
    return f"{problem.platform} {problem.contest or problem.native_id}"


def months_either_way(window: Window, dates: Sequence[datetime]) -> list[tuple[str, Window]]:
    """The window with its start, its end or both a month earlier or later; an open end is at the problems' own."""
    start, end = window.start or min(dates), window.end or max(dates) + timedelta(microseconds=1)
    moved = []
    for months, word in ((-1, "earlier"), (1, "later")):
        early, late = _months_on(start, months), _months_on(end, months)
        moved += [
            (f"begins a month {word}", Window(None, early, end)),
            (f"ends a month {word}", Window(None, start, late)),
            (f"a month {word}", Window(None, early, late)),
        ]
    return [(name, one) for name, one in moved if one.since and one.until and one.since < one.until]


def _months_on(instant: datetime, months: int) -> datetime:
    years, month = divmod(instant.month - 1 + months, 12)
    year = instant.year + years
    return instant.replace(year=year, month=month + 1, day=min(instant.day, monthrange(year, month + 1)[1]))


def other_windows(board: Board, base: BoolArray, windows: Sequence[tuple[str, Window]], seen: str | None) -> Orders:
    """The order in other windows. ``board`` has the problems of all of them, ``base`` is a mask of the window's own.

    A window that holds the same problems as another is left out. ``seen`` says why those that begin earlier were not
    tried, None if they are among them.
    """
    common = board.seen.all(axis=0)
    kept: dict[bytes, tuple[str, BoolArray]] = {}
    not_run = [] if seen is None else [seen]
    known = {(base & common).tobytes()}
    for name, window in windows:
        mask = common & np.array([classify(one, window, include_flagged=True) is None for one in board.problems])
        if mask.tobytes() in known:
            continue
        known.add(mask.tobytes())
        if int(mask.sum()) < MIN_PROBLEMS:
            not_run.append(f"a window that {_verb(name)}: {int(mask.sum())} problems, needs {MIN_PROBLEMS}")
            continue
        kept[mask.tobytes()] = (f"{name} ({int(mask.sum())} problems)", mask)
    orders = stability.other_windows(board.scores, [mask for _, mask in kept.values()])
    if not orders and not not_run:
        not_run.append("another window: a month either way holds the same problems")
    return _named(orders, dict(enumerate(name for name, _ in kept.values())), not_run)


def _verb(name: str) -> str:
    return name if name.startswith(("begins", "ends")) else f"lies {name}"


def other_weights(board: Board, workload: Workload | None) -> Orders:
    """The order with equal weight for each platform, for each difficulty, and under the user's workload."""
    platforms = [one.casefold() for one in board.platforms]
    difficulties = [(one.difficulty or UNKNOWN).casefold() for one in board.problems]
    wanted: list[tuple[str, list[str], dict[str, float] | None]] = [
        ("platforms weigh the same", platforms, None),
        ("difficulties weigh the same", difficulties, None),
    ]
    if workload is not None:
        wanted.append(("your weights", workload.strata(board.problems), workload.weights()))
    rows: list[list[float]] = []
    names: dict[int, str] = {}
    not_run = []
    for name, strata, weights in wanted:
        present = set(strata)
        missing = sorted(set(weights or ()) - present)
        if missing:
            not_run.append(f"{name}: no problem is {', '.join(missing)}")
        elif weights is None and len(present) < 2:
            not_run.append(f"{name}: all problems are {next(iter(present), 'missing')}")
        else:
            each = weights or dict.fromkeys(present, 1.0)
            rows.append([each.get(code, 0.0) / strata.count(code) for code in strata])
            names[len(rows) - 1] = name
    return _named(stability.other_weights(board.scores, rows), names, not_run)


def samples_anew(board: Board, rng: np.random.Generator) -> Orders:
    """The order with the samples of each problem drawn anew."""
    orders = stability.samples_drawn_anew(board.n_samples, board.n_correct, rng)
    if not orders:
        return Orders(
            not_run=("samples drawn anew: there is one for each problem; another run shows what a seed does",)
        )
    single = sorted({name for name, n in zip(board.names, board.n_samples, strict=True) if (n <= 1).all()})
    note = [f"samples drawn anew: one each of {', '.join(single)}, whose scores stay as they are"] if single else []
    return _named(orders, {order.label: f"draw {order.label + 1}" for order in orders}, note)


Shares = Mapping[int, Mapping[int, float]]
"""By run and problem of the store: the mean share of tests that its samples passed; no entry where it is not known."""


def other_metrics(board: Board, shares: Callable[[Iterable[int], Iterable[int]], Shares] | None) -> Orders:
    """The order by log-odds, and by the share of tests passed where every judged sample was run on all of its tests.

    ``shares`` gives the shares of runs on problems; None: there are none.
    """
    matrices = [stability.log_odds(board.n_samples, board.n_correct)]
    names, not_run = {0: "log-odds of solving"}, []
    passed = _passed(board, shares)
    known = np.asarray(~np.isnan(passed).all(axis=1))
    if known.sum() >= MIN_RUNS:
        matrices.append(passed)
        names[1] = "share of tests passed"
    if not known.all():
        missing = [name for name, there in zip(board.names, known.tolist(), strict=True) if not there]
        not_run.append(f"share of tests passed: {_why_not(board, missing)}")
    return _named(stability.other_scores(Perturbation.METRIC, matrices), names, not_run)


def _why_not(board: Board, missing: Sequence[str]) -> str:
    if all(run.imported for run in board.runs):
        return "imported results tell no tests"
    whom = "all models" if len(missing) == len(board.names) else ", ".join(missing)
    return f"not known of {whom}: judging ended at the first failed test (live judge --all-tests goes on)"


def _passed(board: Board, shares: Callable[[Iterable[int], Iterable[int]], Shares] | None) -> NDArray[np.float64]:
    """Runs x problems; a run of which a share is missing has none at all: the rest would be the easy problems."""
    passed = np.full(board.scores.shape, np.nan)
    ids = [run.run_id for run in board.runs if run.run_id is not None]
    if shares is None or not ids:
        return passed
    problems = [one.problem_id for one in board.problems]
    found = shares(ids, problems)
    for row, run in enumerate(board.runs):
        of_run = found.get(run.run_id, {}) if run.run_id is not None else {}
        if all(one in of_run for one in problems):
            passed[row] = [of_run[one] for one in problems]
    return passed


def other_wordings(board: Board, variants: Mapping[str, Board], lacking: Sequence[str]) -> Orders:
    """The order under each other wording, on the problems of ``board`` that all runs of that wording have.

    ``variants`` has a board for each wording, with a row for every row of ``board`` (without any result: not run so).
    """
    matrices: list[NDArray[np.float64]] = []
    names, not_run = {}, list(lacking)
    for wording, other in variants.items():
        run = other.seen.any(axis=1)
        n = int(other.seen[run].all(axis=0).sum()) if run.any() else 0
        if int(run.sum()) < MIN_RUNS or n < MIN_PROBLEMS:
            found = f"{int(run.sum())} models were run so, on {n} common problems"
            not_run.append(f"wording {wording}: {found}; needs {MIN_RUNS} and {MIN_PROBLEMS}")
            continue
        names[len(matrices)] = f"wording {wording} ({int(run.sum())} models, {n} of {len(board.problems)} problems)"
        matrices.append(other.scores)
    return _named(stability.other_scores(Perturbation.PROMPT, matrices), names, not_run)


def _named(orders: Sequence[Ordering], names: Mapping[int, str], not_run: Iterable[str] = ()) -> Orders:
    kinds = {order.kind for order in orders}
    return Orders(
        tuple(orders), {(kind, label): name for kind in kinds for label, name in names.items()}, tuple(not_run)
    )
