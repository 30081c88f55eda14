"""Whether the order of models holds when something that should not matter is changed: a panel of rank ranges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

import numpy as np

from eval import sheets
from eval.audits import perturbations
from eval.audits.broken_months import BrokenRuns, still_in
from eval.audits.perturbations import Shares
from eval.audits.refusals import grouped
from eval.board import Board, build_board
from eval.cautions import differing_fields
from eval.common_window import CommonWindow, by_settings, common_window
from eval.evaluation import RunOutcomes, Settings
from eval.models import Registry
from eval.sheets import Sheet, Table
from eval.statistics.stability import (
    MIN_MODELS,
    KindStability,
    ModelStability,
    Move,
    Perturbation,
    RankRange,
    StabilityPanel,
    stability_panel,
)
from eval.window import ProblemFacts, Window, classify
from eval.workloads import Workload

LABEL = "label"
MAX_LOST = 0.05

_SHORT = {
    Perturbation.CONTEST: "contests",
    Perturbation.WINDOW: "windows",
    Perturbation.WEIGHTS: "weights",
    Perturbation.SAMPLES: "samples",
    Perturbation.METRIC: "metric",
    Perturbation.PROMPT: "wording",
}


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

    ``settings`` are what tells the group from others; ``names`` the changes by kind and label; ``lacking`` how many
    problems of the window each run has no result on.
    """

    settings: str
    models: tuple[str, ...]
    scores: tuple[float, ...]
    n_problems: int
    n_contests: int
    lacking: Mapping[str, int]
    panel: StabilityPanel
    names: Mapping[tuple[Perturbation, int], str]
    not_run: tuple[str, ...]

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
        reason = f"a window that begins a month earlier: {whom} may have seen its problems"
        return Window(window.after_cutoff, None, end), reason
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


def _group(material: _Material, settings: str, changes: Changes, rng: np.random.Generator) -> Group:
    wide, window = material.wide, material.common.window
    inside = np.array([classify(one, window, include_flagged=True) is None for one in wide.problems], dtype=np.bool_)
    base, others, lacking = _wordings(wide, material.places, changes.variant)
    own = wide.take_runs(base)
    own = replace(own, names=tuple(own.runs[row].model for row in range(len(base)))) if changes.variant else own
    complete = np.asarray(inside & own.seen.all(axis=0))
    board = own.take(complete)
    made = [perturbations.other_wordings(board, {text: one.take(complete) for text, one in others.items()}, lacking)]
    if len(board.problems) and len(base) >= MIN_MODELS:
        after = window.after_cutoff
        shifted = [
            (name, one)
            for name, one in perturbations.months_either_way(window, _dates(board))
            if after is None or (one.since is not None and one.since >= after)
        ]
        made = [
            perturbations.without_contests(board),
            perturbations.other_windows(own, inside, shifted, material.seen),
            perturbations.other_weights(board, changes.workload),
            perturbations.samples_anew(board, rng),
            perturbations.other_metrics(board, changes.shares),
            *made,
        ]
    scores = board.scores.mean(axis=1) if len(board.problems) else np.zeros(len(base))
    orders = [order for one in made for order in one.orders]
    # Where wordings were run, the order of two models already says whether the wording changes it.
    enough = min(MIN_MODELS, perturbations.MIN_RUNS) if others else MIN_MODELS
    return Group(
        settings,
        board.names,
        tuple(scores.tolist()) if len(board.problems) else (),
        len(board.problems),
        len(set(board.clusters.tolist())),
        {name: int((inside & ~seen).sum()) for name, seen in zip(own.names, own.seen, strict=True)},
        stability_panel(scores, len(board.problems), orders, enough),
        {pair: name for one in made for pair, name in one.names.items()},
        tuple(line for one in made for line in one.not_run),
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


def stability_sheet(audit: StabilityAudit) -> Sheet:
    """For each group, models with their rank ranges, and the changes with the models that they move most."""
    notes = []
    if len(audit.groups) > 1:
        notes.append("runs under different settings are ranked apart")
    if any(group.panel.models for group in audit.groups):
        notes.append(f"1 is the best rank; equal scores share it; seed {audit.seed}")
        notes.append(
            "a range says what these changes do to the order, not how sure it is: for that see live eval --table common"
        )
    return Sheet(
        title="Stability of ranks",
        conditions=(*audit.common.described(), *still_in(audit.broken)),
        tables=tuple(table for group in audit.groups for table in _tables(group)),
        notes=tuple(notes) if audit.groups else ("no ranks: there is no run to rank in this window",),
        data={
            "groups": [_as_dict(group) for group in audit.groups],
            "seed": audit.seed,
            "broken_months": audit.broken,
        },
    )


def _tables(group: Group) -> Iterator[Table]:
    title = f"{len(group.models)} models on {group.n_problems} problems of {group.n_contests} contests"
    title += f" ({group.settings})" if group.settings else ""
    panel = group.panel
    if panel.refusal is not None:
        yield Table(title, (sheets.text("model"),), (), (f"no ranks: {panel.refusal}", *_lacking(group)))
        return
    columns = (
        sheets.text("model"),
        sheets.percent("pass@1"),
        sheets.count("rank"),
        sheets.text("range"),
        *(sheets.text(_SHORT[one.kind]) for one in panel.kinds),
        sheets.text("moved most by"),
    )
    order = sorted(range(len(group.models)), key=lambda place: (panel.models[place].rank, group.models[place]))
    yield Table(title, columns, tuple(_model_row(group, place) for place in order), tuple(_lacking(group)))
    yield _kinds_table(group)


def _model_row(group: Group, place: int) -> tuple[sheets.Cell, ...]:
    model = group.panel.models[place]
    return (
        group.models[place],
        group.scores[place],
        model.rank,
        _range(model.overall),
        *(_range(model.by_kind[one.kind]) for one in group.panel.kinds),
        "nothing" if model.largest is None else f"{group.said(model.largest)}: {model.largest.shift:+d}",
    )


def _tells(kind: Perturbation) -> bool:
    """Whether the single order says something to a reader; a draw's number does not."""
    return kind is not Perturbation.SAMPLES


def _range(one: RankRange) -> str:
    return str(one.best) if one.best == one.worst else f"{one.best}–{one.worst}"


def _kinds_table(group: Group) -> Table:
    columns = (
        sheets.text("changed"),
        sheets.count("orders"),
        sheets.number("tau, least"),
        sheets.number("tau, middle"),
        sheets.text("moves most"),
        sheets.text("by"),
    )
    rows = tuple(_kind_row(group, one) for one in group.panel.kinds)
    return Table("What was changed", columns, rows, tuple(_kind_notes(group)))


def _kind_row(group: Group, one: KindStability) -> tuple[sheets.Cell, ...]:
    move = one.largest
    whom = "nobody" if move is None else f"{group.models[move.model]} ({move.shift:+d})"
    return (str(one.kind), one.n, one.tau_lowest, one.tau_median, whom, "" if move is None else group.said(move))


def _kind_notes(group: Group) -> Iterator[str]:
    moves = [(one, one.largest) for one in group.panel.kinds if one.largest is not None]
    if moves:
        most = max(abs(move.shift) for _, move in moves)
        largest = [
            (group.models[move.model], group.said(move), move.shift) for _, move in moves if abs(move.shift) == most
        ]
        where = "; ".join(f"{name} by {shift:+d} ({why})" for name, why, shift in largest)
        yield f"most is moved: {where}; minus is towards the first rank"
    elif group.panel.kinds:
        yield "no change that was tried moves any model"
    yield "tau: how alike the order is to the one above (Kendall's), 1 for the same, 0 for no likeness"
    if any(one.kind is Perturbation.SAMPLES for one in group.panel.kinds):
        yield "for samples drawn anew the range is the middle 95 % of the draws"
    yield from (f"not run: {line}" for line in group.not_run)


def _lacking(group: Group) -> Iterator[str]:
    total = group.n_problems + max(group.lacking.values(), default=0)
    many = ((name, n) for name, n in group.lacking.items() if n > MAX_LOST * total)
    lines = (
        (name, f"{n} problems of the window have no result; without this run there may be more") for name, n in many
    )
    yield from grouped(lines)


def _as_dict(group: Group) -> dict[str, Any]:
    return {
        "settings": group.settings,
        "n_problems": group.n_problems,
        "n_contests": group.n_contests,
        "refusal": group.panel.refusal,
        "models": [_model_dict(group, place, one) for place, one in enumerate(group.panel.models)],
        "changes": [{**asdict(one), "largest": _move_dict(group, one.largest)} for one in group.panel.kinds],
        "kinds_not_run": list(group.panel.not_run),
        "not_run": list(group.not_run),
        "lacking": dict(group.lacking),
    }


def _model_dict(group: Group, place: int, one: ModelStability) -> dict[str, Any]:
    return {
        "model": group.models[place],
        "score": group.scores[place],
        "rank": one.rank,
        "overall": asdict(one.overall),
        "by_change": {str(kind): asdict(found) for kind, found in one.by_kind.items()},
        "largest": _move_dict(group, one.largest),
    }


def _move_dict(group: Group, move: Move | None) -> dict[str, Any] | None:
    if move is None:
        return None
    return {"model": group.models[move.model], "change": str(move.kind), "by": group.said(move), "shift": move.shift}
