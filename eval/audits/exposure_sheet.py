"""What is found of a measure of problems, as a sheet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from eval import sheets
from eval.audits.exposure import ExposureAudit, RunExposure, Side
from eval.audits.refusals import grouped, named
from eval.common_window import cutoff_text
from eval.sheets import Sheet, Table
from eval.statistics.exposure import OddsRatio


def exposure_sheet(audit: ExposureAudit) -> Sheet:
    """Two rows for each run with odds ratios, and one for how they differ."""
    columns = (
        sheets.text("model"),
        sheets.text("side"),
        sheets.text("cut-off"),
        sheets.count("problems"),
        sheets.percent("solved"),
        sheets.number("odds ratio"),
        sheets.Column("95 %", "z.2f", between=" to ", key="ci"),
        sheets.p_value("p"),
        sheets.p_value("Holm p", key="p_holm"),
    )
    shown = [audit.rows[row] for row in audit.shown]
    rows = tuple(row for one in shown for row in _rows(one))
    origin = f" ({audit.origin})" if audit.origin else ""
    return Sheet(
        title="Memorisation by problem",
        conditions=(
            f'measure: the column "{audit.measure}" of the file{origin}, of {audit.n_problems} problems with results',
            *audit.conditions,
        ),
        tables=(Table("Solving by log(1 + measure)", columns, rows, tuple(_notes(audit, shown)), n_keys=2),),
        data={
            "measure": audit.measure,
            "origin": audit.origin,
            "n_problems": audit.n_problems,
            "unknown": list(audit.unknown),
            "n_tests": {"before": audit.n_tests[0], "after": audit.n_tests[1]},
            "rows": [_as_dict(one) for one in shown],
        },
    )


def _rows(one: RunExposure) -> Iterator[tuple[sheets.Cell, ...]]:
    assert one.cutoff is not None or not one.sides
    cutoff = None if one.cutoff is None else cutoff_text(one.cutoff)
    for name, side in one.sides:
        found = side.found
        share = found.solved / found.n if found.n else None
        yield (one.name, name, cutoff, found.n, share, *_numbers(found.count), side.p_holm)
    if one.change is not None:
        yield (one.name, "before / after", cutoff, None, None, *_numbers(one.change), None)


def _numbers(ratio: OddsRatio | None) -> tuple[sheets.Cell, sheets.Cell, sheets.Cell]:
    return (None, None, None) if ratio is None else (ratio.value, (ratio.low, ratio.high), ratio.p)


def _notes(audit: ExposureAudit, shown: list[RunExposure]) -> Iterator[str]:
    yield from grouped((one.name, one.refusal and f"left out: {one.refusal}") for one in shown)
    for side in ("before", "after"):
        yield from grouped((f"{one.name}, {side}", refusal) for one in shown if (refusal := _refusal(one, side)))
    if audit.unknown:
        yield (
            f"{len(audit.unknown)} problems of the file have no result here, or are not sound and dated: "
            f"{named(list(audit.unknown))}"
        )
    yield from grouped((one.name, one.difficulty_by and f"difficulty by {one.difficulty_by}") for one in shown)
    if not any(audit.n_tests):
        return
    yield (
        "odds ratio: by what the odds of solving are multiplied where log(1 + measure) is greater by 1, difficulty "
        "held constant; 1: the measure has no bearing"
    )
    yield (
        "above 1 before the cut-off and not after it is what learning by heart looks like; after it, it is something "
        'else that goes with the measure; only "before / after" tests whether the two differ'
    )
    yield (
        "problems of which nobody can tell the side are on none; errors are clustered by contest, or over problems "
        "where there are fewer than 8 contests and that is larger; "
        f"Holm p: over {audit.n_tests[0]} tests before and, apart from them, {audit.n_tests[1]} after"
    )


def _refusal(one: RunExposure, name: str) -> str | None:
    side = dict(one.sides).get(name)
    return None if side is None or side.found.refusal is None else f"no odds ratio: {side.found.refusal}"


def _as_dict(one: RunExposure) -> dict[str, Any]:
    return {
        "model": one.name,
        "cutoff": one.cutoff and one.cutoff.cutoff.as_written,
        "cutoff_status": one.cutoff and one.cutoff.status,
        "difficulty_by": one.difficulty_by,
        "before": _side_dict(one.before),
        "after": _side_dict(one.after),
        "before_over_after": one.change and asdict(one.change),
        "refusal": one.refusal,
    }


def _side_dict(side: Side | None) -> dict[str, Any] | None:
    return None if side is None else {**asdict(side.found), "p_holm": side.p_holm}
