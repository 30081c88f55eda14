"""Composition against behaviour: whether a score changed because other problems were asked, or because of the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval import sheets
from eval.audits.refusals import grouped
from eval.audits.runs import left_out_lines, month_name, months_of
from eval.audits.selection import Selection, published
from eval.sheets import Sheet, Table
from eval.statistics.composition import Decomposition, Estimate, Periods, decompose
from eval.statistics.gap import CEILING, FLOOR
from eval.statistics.run_health import PeriodHealth, withheld_cells
from eval.window import Window


@dataclass(frozen=True)
class CompositionAudit:
    """What became of each run's score between two windows of publication, in the order of the selection's runs."""

    selection: Selection
    before: Window
    after: Window
    found: tuple[Decomposition, ...]
    broken: tuple[PeriodHealth, ...]
    seed: int


def audit_composition(
    selection: Selection, before: Window, after: Window, seed: int, health: tuple[PeriodHealth, ...]
) -> CompositionAudit:
    """Decompose the change of each run's score by platform and difficulty; where a stratum is empty, by difficulty.

    ``health`` are the months that the runs were judged by: broken ones are left out.
    """
    periods = Periods(_within(selection, before), _within(selection, after))
    used = periods.before | periods.after
    periods = Periods(periods.before[used], periods.after[used])
    selection = selection.narrowed(used, None, "in neither window")
    board = selection.board
    months = months_of(board)
    scores = np.where(withheld_cells(health, months, len(board.runs)), np.nan, board.scores)
    strata = np.array([" ".join(pair) for pair in zip(board.platforms, board.difficulties, strict=True)])
    found = decompose(
        scores,
        board.clusters,
        strata,
        periods,
        np.random.default_rng(seed),
        coarser=np.array(board.difficulties),
    )
    broken = tuple(one for one in health if one.withheld and one.period in set(months.tolist()))
    found = tuple(_warned(one, scores[row], periods) for row, one in enumerate(found))
    return CompositionAudit(selection, before, after, found, broken, seed)


def _warned(found: Decomposition, scores: NDArray[np.float64], periods: Periods) -> Decomposition:
    """With a caution for a side on which nearly nothing or nearly everything is solved."""
    if found.total is None:
        return found
    cautions = []
    for name, side in (("before", periods.before), ("after", periods.after)):
        mean = float(np.nanmean(scores[side]))
        if mean < FLOOR:
            cautions.append(f"under {100 * FLOOR:g} % solved {name}: near the floor, a change in points says little")
        elif mean > CEILING:
            cautions.append(f"over {100 * CEILING:g} % solved {name}: near the ceiling, a change in points says little")
    return replace(found, cautions=(*found.cautions, *cautions))


def _within(selection: Selection, window: Window) -> np.ndarray[Any, np.dtype[np.bool_]]:
    start, end = window.start, window.end
    return np.array(
        [
            one.exposed_at is not None
            and (start is None or one.exposed_at >= start)
            and (end is None or one.exposed_at < end)
            for one in selection.board.problems
        ],
        dtype=np.bool_,
    )


def composition_sheet(audit: CompositionAudit) -> Sheet:
    """One row for each run: the change, and its parts with their standard errors."""
    columns = (
        sheets.text("model"),
        sheets.count("before"),
        sheets.count("after"),
        sheets.points("change"),
        sheets.points("composition"),
        sheets.percent("s.e.", key="composition_se"),
        sheets.points("behaviour"),
        sheets.percent("s.e.", key="behaviour_se"),
        sheets.points("of all models"),
        sheets.percent("s.e.", key="of_all_models_se"),
        sheets.points("of this one"),
        sheets.percent("s.e.", key="own_se"),
    )
    names = audit.selection.board.names
    shown = audit.selection.shown
    rows = tuple(_row(names[row], audit.found[row]) for row in shown)
    notes = tuple(_notes(audit))
    return Sheet(
        title="Composition against behaviour",
        conditions=(
            f"before: problems published {published(audit.before)}; after: {published(audit.after)}",
            *audit.selection.described(),
            *left_out_lines(names, audit.broken),
        ),
        tables=(Table("", columns, rows, notes),),
        data={
            "before": {"from": audit.before.start, "to": audit.before.end},
            "after": {"from": audit.after.start, "to": audit.after.end},
            "problem_set_digest": audit.selection.digest,
            "seed": audit.seed,
            "rows": [_as_dict(names[row], audit.found[row]) for row in shown],
            "broken_months": [
                {**asdict(one), "model": names[one.model], "period": month_name(one.period)} for one in audit.broken
            ],
        },
    )


def _row(name: str, found: Decomposition) -> tuple[sheets.Cell, ...]:
    return (
        name,
        found.n_before,
        found.n_after,
        _value(found.total),
        _value(found.composition),
        _error(found.composition),
        _value(found.behaviour),
        _error(found.behaviour),
        _value(found.common),
        _error(found.common),
        _value(found.own),
        _error(found.own),
    )


def _value(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.value


def _error(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.se


def _notes(audit: CompositionAudit) -> Iterator[str]:
    named = [(audit.selection.board.names[row], audit.found[row]) for row in audit.selection.shown]
    yield from grouped((name, None if one.refusal is None else f"no number: {one.refusal}") for name, one in named)
    yield from grouped((name, caution) for name, one in named for caution in one.cautions)
    yield "points; change = composition (which problems were asked) + behaviour (how they were solved)"
    yield "behaviour of all models = harder problems under the same label; what this model does beyond that is its own"
    yield f"standard errors: contests drawn anew, seed {audit.seed}"
    yield "a break at a model's cut-off, or a broken run, shows as its own behaviour"


def _as_dict(name: str, found: Decomposition) -> Mapping[str, Any]:
    return {"model": name, **asdict(found)}
