"""The breaks that scans find without a date, for people and programs: part of the contamination audit's sheet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from eval import sheets
from eval.audits.contamination import ContaminationAudit, Panel
from eval.audits.refusals import grouped, named
from eval.board import EPOCH
from eval.report import utc_text
from eval.sheets import Table
from eval.statistics.breaks import JudgedBreak
from eval.statistics.changepoint import PERMUTATIONS, Break, is_later_than
from eval.statistics.placebo import ALPHA

_TIMES = ("last_before", "first_after", "earliest", "latest")


def break_table(audit: ContaminationAudit, panel: Panel) -> Table | None:
    """The breaks at 5 % that may be read, then what is withheld, without a number; None without a run to scan."""
    if not panel.breaks:
        return None
    columns = (
        sheets.text("model"),
        sheets.count("problems"),
        sheets.text("break after"),
        sheets.text("and before"),
        sheets.points("drop"),
        sheets.p_value("p (Holm)"),
        sheets.text("may lie from"),
        sheets.text("to"),
        sheets.text("remark"),
    )
    found = sorted((one for one in panel.breaks if one.is_break), key=lambda one: (one.p_holm, one.model))
    rows = [*(_row(audit, one) for one in found), *(_hidden(audit, one) for one in panel.breaks if _is_hidden(one))]
    return Table(f"Breaks found without a date: {panel.platform}", columns, tuple(rows), tuple(_notes(audit, panel)))


def breaks_as_dicts(audit: ContaminationAudit, panel: Panel) -> list[dict[str, Any]]:
    """Each scan by names; without its numbers where it is withheld, with those of the controls in any case."""
    names = audit.selection.board.names
    return [
        {
            "model": names[one.model],
            "n_problems": None if one.found is None else one.found.n_items,
            "n_left_out": one.n_left_out,
            "controls": [names[row] for row in one.controls],
            **_break_as_dict(one.found if one.is_told else None),
            "p_holm": one.p_holm if one.is_told else None,
            "withheld": one.withheld,
            "refusal": one.refusal,
            "failed_controls": [names[row] for row in one.against],
            "placebos": [
                {"control": names[placebo.control], **_break_as_dict(placebo.found), "p_holm": placebo.p_holm}
                for placebo in one.placebos
            ],
        }
        for one in panel.breaks
    ]


def _break_as_dict(found: Break | None) -> dict[str, Any]:
    keys = ("n_boundaries", "last_before", "first_after", "gap", "t", "p", "earliest", "latest")
    if found is None:
        return dict.fromkeys(keys)
    values = asdict(found)
    return {key: instant_text(values[key]) if key in _TIMES else values[key] for key in keys}


def _is_hidden(one: JudgedBreak) -> bool:
    return one.p_holm is not None and one.withheld is not None


def _row(audit: ContaminationAudit, one: JudgedBreak) -> tuple[sheets.Cell, ...]:
    found, tested = one.found, audit.tested[one.model]
    assert found is not None
    late = tested is not None and is_later_than(found, tested.high)
    return (
        audit.selection.board.names[one.model],
        found.n_items,
        day_text(found.last_before),
        day_text(found.first_after),
        found.gap,
        one.p_holm,
        day_text(found.earliest),
        day_text(found.latest),
        "later than its cut-off" if late else "",
    )


def _hidden(audit: ContaminationAudit, one: JudgedBreak) -> tuple[sheets.Cell, ...]:
    assert one.found is not None
    assert one.withheld is not None
    nothing = (None,) * 6
    return (audit.selection.board.names[one.model], one.found.n_items, *nothing, one.withheld.split(" (")[0])


def _notes(audit: ContaminationAudit, panel: Panel) -> Iterator[str]:
    names = audit.selection.board.names
    scanned = [one for one in panel.breaks if one.p_holm is not None]
    if scanned:
        hidden = sum(map(_is_hidden, scanned))
        models = "model" if len(scanned) == 1 else "models"
        yield (
            f"{len(scanned)} {models} scanned, {sum(one.is_break for one in scanned)} with a break at 5 % (Holm)"
            + (f"; of {hidden} nothing can be said" if hidden else "")
        )
    yield from _failed_placebos(panel, names.__getitem__)
    yield from grouped((names[one.model], one.withheld) for one in scanned if not one.against)
    yield from grouped((names[one.model], f"not scanned: {one.refusal}") for one in panel.breaks if one.refusal)
    yield from grouped(
        (names[one.model], f"{one.n_left_out} of its problems are not in its scan, as a control lacks them")
        for one in scanned
        if one.n_left_out
    )
    if len(scanned) >= ALPHA * (PERMUTATIONS + 1):
        yield f"with {len(scanned)} models p by {PERMUTATIONS:,} orders cannot fall below 5 % by Holm"


def _failed_placebos(panel: Panel, name: Callable[[int], str]) -> Iterator[str]:
    """For each control that withholds a break the break that it shows, and in whose scans."""
    drops: dict[int, list[float]] = {}
    scans: dict[int, list[str]] = {}
    for one in panel.breaks:
        for placebo in one.placebos:
            if placebo.control in one.against and placebo.found.gap is not None:
                drops.setdefault(placebo.control, []).append(100 * placebo.found.gap)
                scans.setdefault(placebo.control, []).append(name(one.model))
    for control in sorted(drops, key=name):
        yield (
            f"placebo failed on {panel.platform}: the control {name(control)} shows a break of "
            f"{spread(drops[control])} points that it cannot have, in the scans of {named(scans[control])}"
        )


def spread(sizes: Sequence[float]) -> str:
    """One size, or the smallest and the largest, with signs: "+3.1", "+3.1 to +4.0"."""
    low, high = (f"{pick(sizes):+.1f}" for pick in (min, max))
    return low if low == high else f"{low} to {high}"


def day_text(days: float | None) -> str | None:
    """The day (UTC) of a time in days since 1970."""
    return None if days is None else f"{EPOCH + timedelta(days=days):%Y-%m-%d}"


def instant_text(days: float | None) -> str | None:
    """The instant of a time in days since 1970, to the second; None where it is not known or at no end."""
    return None if days is None or not np.isfinite(days) else utc_text(_moment(days))


def _moment(days: float) -> datetime:
    return EPOCH + timedelta(seconds=round(days * 86_400))
