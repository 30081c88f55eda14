"""The stability panels, as a sheet: rank ranges, and the changes with the models that they move most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from eval import sheets
from eval.audits.broken_months import still_in
from eval.audits.refusals import grouped
from eval.audits.stability import Group, StabilityAudit
from eval.cautions import MAX_MISSING
from eval.sheets import Sheet, Table
from eval.statistics.stability import KindStability, ModelStability, Move, Perturbation

_SHORT = {
    Perturbation.CONTEST: "contests",
    Perturbation.WINDOW: "windows",
    Perturbation.WEIGHTS: "weights",
    Perturbation.SAMPLES: "samples",
    Perturbation.METRIC: "metric",
    Perturbation.PROMPT: "wording",
}


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
        notes=(
            *(notes if audit.groups else ["no ranks: there is no run to rank in this window"]),
            *audit.common.cautions(),
            *audit.common.not_compared(),
        ),
        data={
            **audit.common.as_dict(),
            "groups": [_as_dict(group) for group in audit.groups],
            "seed": audit.seed,
            "broken_months": audit.broken,
        },
    )


def _tables(group: Group) -> Iterator[Table]:
    n_runs = len(group.models)
    models = "1 model" if group.n_models == 1 else f"{group.n_models} models"
    whom = models if n_runs == group.n_models else f"{n_runs} runs of {models}"
    title = f"{whom} on {group.n_problems} problems of {group.n_contests} contests"
    title += f" ({group.settings})" if group.settings else ""
    panel = group.panel
    if panel.refusal is not None:
        yield Table(title, (sheets.text("model"),), (), (f"no ranks: {panel.refusal}", *_weak(group)))
        return
    columns = (
        sheets.text("model"),
        sheets.percent("pass@1"),
        sheets.count("rank"),
        sheets.from_to("range"),
        *(sheets.from_to(_SHORT[one.kind]) for one in panel.kinds),
        sheets.text("moved most by"),
    )
    order = sorted(range(len(group.models)), key=lambda place: (panel.models[place].rank, group.models[place]))
    yield Table(
        title,
        columns,
        tuple(_model_row(group, place) for place in order),
        tuple(_weak(group)),
        name=group.settings or "ranks",
    )
    yield _kinds_table(group)


def _model_row(group: Group, place: int) -> tuple[sheets.Cell, ...]:
    model = group.panel.models[place]
    return (
        group.models[place],
        group.scores[place],
        model.rank,
        (model.overall.best, model.overall.worst),
        *((model.by_kind[one.kind].best, model.by_kind[one.kind].worst) for one in group.panel.kinds),
        "nothing" if model.largest is None else f"{group.said(model.largest)}: {model.largest.shift:+d}",
    )


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


def _weak(group: Group) -> Iterator[str]:
    """What a reader must know of the problems that a table rests on, and which runs lack many."""
    yield from group.cautions
    many = ((name, n) for name, n in group.lacking.items() if n > MAX_MISSING * group.n_window)
    lines = (
        (name, f"{n} problems of the window have no result; without this run there may be more") for name, n in many
    )
    yield from grouped(lines)


def _as_dict(group: Group) -> dict[str, Any]:
    return {
        "settings": group.settings,
        "n_models": group.n_models,
        "n_problems": group.n_problems,
        "n_contests": group.n_contests,
        "n_window": group.n_window,
        "problem_set_digest": group.digest,
        "cautions": group.cautions,
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
