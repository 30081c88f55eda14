"""Whether the order of models holds when something that should not matter is changed: a panel of rank ranges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from eval.audits import perturbations
from eval.audits.broken_months import BrokenRuns
from eval.audits.perturbations import Shares
from eval.board import Board, build_board
from eval.cautions import differing_fields
from eval.common_window import CommonWindow, by_settings, cautions_of, common_window
from eval.evaluation import RunOutcomes, digest_of_problems
from eval.freshness import not_fresh
from eval.models import Registry
from eval.settings import Settings
from eval.statistics.stability import MIN_MODELS, Move, Perturbation, StabilityPanel, stability_panel
from eval.window import ProblemFacts, Window, classify
from eval.workloads import Workload

LABEL = "label"


@dataclass(frozen=True)
class Changes:
    """What the panel may change beyond what the results hold themselves.

    ``variant`` is the condition (or "label") in which the runs of a model differ by the wording of the prompt alone;
    ``shares`` gives the shares of tests that runs passed on problems, where they are kept.
    """

    workload: Workload | None = None
    variant: str | None = None
    shares: Callable[[Iterable[int], Iterable[int]], Shares] | None = None


@dataclass(frozen=True)
class Group:
    """Runs under the same settings on the problems that all of them have: their scores (shares) and the panel.

    ``settings`` are what tells the group from others; ``names`` the changes by kind and label; ``lacking`` how many of
    the ``n_window`` problems of the window each run has no result on. ``n_models``: several runs of one count once.
    ``digest`` is of the problems that all have.
    """

    settings: str
    models: tuple[str, ...]
    scores: tuple[float, ...]
    n_models: int
    n_problems: int
    n_contests: int
    n_window: int
    digest: str
    lacking: Mapping[str, int]
    panel: StabilityPanel
    names: Mapping[tuple[Perturbation, int], str]
    not_run: tuple[str, ...]
    cautions: tuple[str, ...]

    def said(self, move: Move) -> str:
        """What moved a model, in words."""
        return self.names.get((move.kind, move.label), str(move.kind)) if _tells(move.kind) else str(move.kind)


@dataclass(frozen=True)
class StabilityAudit:
    """A panel for each group of runs that can be ranked together.

    ``broken`` are the months of runs that look broken and are counted all the same.
    """

    common: CommonWindow
    groups: tuple[Group, ...]
    seed: int
    broken: Mapping[str, Sequence[str]] = field(default_factory=dict)


def audit_stability(
    problems: Iterable[ProblemFacts],
    runs: Iterable[RunOutcomes],
    registry: Registry,
    settings: Settings,
    changes: Changes,
    seed: int,
    *,
    now: datetime,
    broken: BrokenRuns | None = None,
) -> StabilityAudit:
    """The panels of the runs in their common window: after the latest cut-off, or the one that the settings give."""
    universe = tuple(problems)
    common = common_window(universe, runs, registry, settings, now=now)
    reach, seen = _reach(common)
    admitted = [one for one in universe if settings.admits(one)]
    wide = build_board(
        [one for one in admitted if classify(one, reach, include_flagged=settings.include_flagged) is None],
        common.board.runs,
    )
    boards = by_settings(wide.runs, [changes.variant] if changes.variant else [])
    differing = [line.split(":")[0] for line in differing_fields([dict(key) for key in boards])]
    groups = []
    for key, places in boards.items():
        text = ", ".join(f"{name} {dict(key).get(name)}" for name in differing)
        groups.append(_group(_Material(wide, places, common, seen), text, changes, np.random.default_rng(seed)))
    found = {} if broken is None else broken.within(common.board)
    return StabilityAudit(common, tuple(groups), seed, found)


def _reach(common: CommonWindow) -> tuple[Window, str | None]:
    """The window that all shifted ones lie in, and why none begins earlier, where that is so."""
    window, latest = common.window, common.latest
    dates = _dates(common.board)
    if not dates:
        return window, None
    ends = [one for _, one in perturbations.months_either_way(window, dates)]
    start, end = min(one.since for one in ends if one.since), max(one.until for one in ends if one.until)
    if window.after_cutoff is not None and start < window.after_cutoff:
        whom = latest[0] if latest else "a model"
        return Window(window.after_cutoff, None, end), _seen_earlier(whom)
    return Window(None, start, end), None


def _dates(board: Board) -> list[datetime]:
    return [one.exposed_at for one in board.problems if one.exposed_at is not None]


@dataclass(frozen=True)
class _Material:
    """What the panel of one group is made of: the board of the widest window, and the group's rows in it."""

    wide: Board
    places: Sequence[int]
    common: CommonWindow
    seen: str | None

    def shifted(self, own: Board, board: Board) -> tuple[list[tuple[str, Window]], str | None]:
        """Windows a month either way that nobody can have seen problems of, and why there is none that begins earlier.

        ``own`` are the group's results in the widest window, ``board`` those on the problems that all of it have.
        """
        every = perturbations.months_either_way(self.common.window, _dates(board))
        latest = self.common.latest
        if latest is None:
            return every, self.seen
        name, used = latest
        early = np.array([one.exposed_at is not None and one.exposed_at < used.cutoff.after for one in own.problems])
        fresh = [pair for pair in every if not (early & _inside(own, pair[1])).any()]
        return fresh, self.seen or (_seen_earlier(name) if len(fresh) < len(every) else None)

    def exposed(self, rows: Sequence[int], board: Board) -> str | None:
        """Why these rows of the wide board are not to be ranked on the problems of ``board``."""
        counts = [self.common.n_exposed(row, board.problems) for row in rows]
        refusal = not_fresh(board.names, counts, len(board.problems))
        return refusal and f"{refusal}: leave out --any-time"


def _seen_earlier(name: str) -> str:
    return f"a window that begins a month earlier: {name} may have seen its problems"


def _inside(board: Board, window: Window) -> NDArray[np.bool_]:
    return np.array([classify(one, window, include_flagged=True) is None for one in board.problems], dtype=np.bool_)


def _group(material: _Material, settings: str, changes: Changes, rng: np.random.Generator) -> Group:
    wide = material.wide
    inside = _inside(wide, material.common.window)
    base, others, lacking = _wordings(wide, material.places, changes.variant)
    own = wide.take_runs(base)
    own = replace(own, names=tuple(own.runs[row].model for row in range(len(base)))) if changes.variant else own
    complete = np.asarray(inside & own.seen.all(axis=0))
    board = own.take(complete)
    made = [perturbations.other_wordings(board, {text: one.take(complete) for text, one in others.items()}, lacking)]
    exposed = material.exposed(base, board)
    if len(board.problems) and own.n_models >= MIN_MODELS and exposed is None:
        made = [
            perturbations.without_contests(board),
            perturbations.other_windows(own, inside, *material.shifted(own, board)),
            perturbations.other_weights(board, changes.workload),
            perturbations.samples_anew(board, rng),
            perturbations.other_metrics(board, changes.shares),
            *made,
        ]
    scores = board.scores.mean(axis=1) if len(board.problems) else np.zeros(len(base))
    orders = [order for one in made for order in one.orders]
    # Where wordings were run, the order of two models already says whether the wording changes it.
    enough = min(MIN_MODELS, perturbations.MIN_RUNS) if others else MIN_MODELS
    panel = stability_panel(scores, len(board.problems), orders, enough, own.n_models)
    return Group(
        settings,
        board.names,
        tuple(scores.tolist()) if len(board.problems) else (),
        own.n_models,
        len(board.problems),
        len(set(board.clusters.tolist())),
        int(inside.sum()),
        digest_of_problems(board.problems, imported=all(run.imported for run in board.runs)),
        {name: int((inside & ~seen).sum()) for name, seen in zip(own.names, own.seen, strict=True)},
        panel if panel.refusal or exposed is None else StabilityPanel(refusal=exposed),
        {pair: name for one in made for pair, name in one.names.items()},
        tuple(line for one in made for line in one.not_run),
        tuple(cautions_of(board)),
    )


def _wordings(
    board: Board, places: Sequence[int], variant: str | None
) -> tuple[list[int], dict[str, Board], list[str]]:
    """The rows of the wording that most models were run with, boards of the other wordings with the same rows, and what
    cannot be compared. Without a variant every row is its own."""
    if variant is None:
        return list(places), {}, ["another wording of the prompt: no condition is named that tells it (--variant)"]
    by_wording: dict[str, dict[str, int]] = {}
    twice = set()
    for place in places:
        wording, model = _wording(board.runs[place], variant), board.runs[place].model
        if by_wording.setdefault(wording, {}).setdefault(model, place) != place:
            twice.add(f"{model} has several runs of wording {wording}: the first is used")
    counts = Counter({wording: len(rows) for wording, rows in by_wording.items()})
    usual = counts.most_common(1)[0][0]
    models = list(by_wording[usual])
    left_out = sorted({board.runs[place].model for place in places} - set(models))
    lines = [*sorted(twice), *(f"{model} was not run with wording {usual}: left out" for model in left_out)]
    if len(by_wording) == 1:
        lines.append(f"another wording of the prompt: all runs have {variant} {usual}")
    others = {}
    for wording, rows in by_wording.items():
        if wording != usual:
            others[wording] = _rows(board, [rows.get(model) for model in models])
    return [by_wording[usual][model] for model in models], others, lines


def _wording(run: RunOutcomes, variant: str) -> str:
    value = run.conditions.get(variant, run.label if variant == LABEL else None)
    return "none" if value in {None, ""} else str(value)


def _rows(board: Board, places: Sequence[int | None]) -> Board:
    """The rows in these places; one without any result where there is none."""
    picked = board.take_runs([place or 0 for place in places])
    absent = np.array([place is None for place in places])[:, None]
    return replace(
        picked, n_samples=np.where(absent, 0, picked.n_samples), n_correct=np.where(absent, 0, picked.n_correct)
    )


def _tells(kind: Perturbation) -> bool:
    """Whether the single order says something to a reader; a draw's number does not."""
    return kind is not Perturbation.SAMPLES
