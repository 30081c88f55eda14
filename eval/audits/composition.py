"""Composition against behaviour: whether a score changed because other problems were asked, or because of the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from eval import sheets
from eval.audits.selection import Selection
from eval.report import utc_text
from eval.sheets import Sheet, Table
from eval.statistics.composition import Decomposition, Estimate, Periods, decompose
from eval.window import Window


@dataclass(frozen=True)
class CompositionAudit:
    """What became of each run's score between two windows of publication, in the order of the selection's runs."""

    selection: Selection
    before: Window
    after: Window
    found: tuple[Decomposition, ...]
    seed: int


def audit_composition(selection: Selection, before: Window, after: Window, seed: int) -> CompositionAudit:
    """Decompose the change of each run's score by platform and difficulty; where a stratum is empty, by difficulty."""
    board = selection.board
    strata = np.array([" ".join(pair) for pair in zip(board.platforms, board.difficulties, strict=True)])
    found = decompose(
        board.scores,
        board.clusters,
        strata,
        Periods(_within(selection, before), _within(selection, after)),
        np.random.default_rng(seed),
        coarser=np.array(board.difficulties),
    )
    return CompositionAudit(selection, before, after, found, seed)


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
        sheets.text("s.e."),
        sheets.points("behaviour"),
        sheets.text("s.e."),
        sheets.points("of all models"),
        sheets.points("of this one"),
        sheets.text("s.e."),
    )
    names = audit.selection.board.names
    rows = tuple(_row(name, found) for name, found in zip(names, audit.found, strict=True))
    notes = tuple(_notes(audit))
    return Sheet(
        title="Composition against behaviour",
        conditions=(
            f"before: problems published in {_text(audit.before)}; after: in {_text(audit.after)}",
            *audit.selection.described(),
        ),
        tables=(Table("", columns, rows, notes),),
        data={"rows": [_as_dict(name, found) for name, found in zip(names, audit.found, strict=True)]},
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
        _value(found.own),
        _error(found.own),
    )


def _value(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.value


def _error(estimate: Estimate | None) -> str | None:
    return None if estimate is None or estimate.se is None else f"{100 * estimate.se:.1f}"


def _notes(audit: CompositionAudit) -> Iterator[str]:
    for name, found in zip(audit.selection.board.names, audit.found, strict=True):
        if found.refusal is not None:
            yield f"{name}: no number: {found.refusal}"
        yield from (f"{name}: {caution}" for caution in found.cautions)
    yield "points; change = composition (which problems were asked) + behaviour (how they were solved)"
    yield "behaviour of all models = harder problems under the same label; what this model does beyond that is its own"
    yield f"standard errors: contests drawn anew, seed {audit.seed}"
    yield "a break at a model's cut-off, or a broken run, shows as its own behaviour"


def _text(window: Window) -> str:
    return f"[{utc_text(window.start) or '...'}, {utc_text(window.end) or '...'})"


def _as_dict(name: str, found: Decomposition) -> Mapping[str, Any]:
    return {"model": name, **asdict(found)}
