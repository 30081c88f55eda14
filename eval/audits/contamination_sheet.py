"""The contamination audit for people and programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from eval import sheets
from eval.audits.contamination import ContaminationAudit, Panel
from eval.board import EPOCH
from eval.report import utc_text
from eval.sheets import Sheet, Table
from eval.statistics.changepoint import Break, is_later_than
from eval.statistics.placebo import Judgement, Verdict

LEVEL = 0.05


def contamination_sheet(audit: ContaminationAudit) -> Sheet:
    """For each platform the gaps at the cut-offs with their verdicts, and the breaks that a scan finds by itself."""
    tables = [table for panel in audit.panels for table in _tables(audit, panel)]
    return Sheet(
        title="Contamination: before against after the cut-off, beside models that cannot know the problems",
        conditions=tuple(_conditions(audit)),
        tables=tuple(tables),
        notes=tuple(_notes(audit)),
        data=_as_dict(audit),
    )


def _conditions(audit: ContaminationAudit) -> Iterator[str]:
    yield from audit.selection.described()
    names = audit.selection.board.names
    controls = [name for name, serves in zip(names, np.any(audit.controls, axis=0).tolist(), strict=True) if serves]
    if audit.start is not None:
        yield f"problems from {_day(audit.start)} on, so that cut-offs of controls lie before all of them"
    yield f"controls: {', '.join(controls) if controls else 'none: no model has a stated cut-off before the problems'}"
    for one in audit.broken:
        month = f"{one.period // 12}-{one.period % 12 + 1:02}"
        yield f"left out: results of {names[one.model]} in {month} (broken run: z {one.z:.1f} on easy problems)"


def _tables(audit: ContaminationAudit, panel: Panel) -> Iterator[Table]:
    columns = (
        sheets.text("model"),
        sheets.text("cut-off"),
        sheets.count("before"),
        sheets.count("after"),
        sheets.points("gap"),
        sheets.number("s.e."),
        sheets.p_value("p (Holm)"),
        sheets.percent("could be seen"),
        sheets.text("verdict"),
    )
    rows = tuple(_row(audit, one) for one in sorted(panel.judged, key=_order))
    notes = [f"{audit.selection.board.names[one.model]}: {one.sentence}" for one in panel.judged if _speaks(one)]
    notes += [
        f"{audit.selection.board.names[one.model]}: {warning}" for one in panel.judged for warning in one.warnings
    ]
    notes += _refused(panel)
    yield Table(f"Gap at the cut-off: {panel.platform}", columns, rows, tuple(notes))
    found = [(row, one, p) for row, one, p in panel.breaks if one.p is not None]
    if found:
        yield _break_table(audit, panel, found)


def _order(one: Judgement) -> tuple[bool, float]:
    points = one.gap.points if one.gap is not None else None
    return points is None, -(points.value if points is not None else 0.0)


def _row(audit: ContaminationAudit, one: Judgement) -> tuple[sheets.Cell, ...]:
    tested, gap = audit.tested[one.model], one.gap
    cutoff = "" if tested is None else _span(tested.low, tested.high)
    points = gap.points if gap is not None else None
    return (
        audit.selection.board.names[one.model],
        cutoff,
        gap.before.n_items if gap is not None else None,
        gap.after.n_items if gap is not None else None,
        points.value if points is not None else None,
        100 * points.se if points is not None else None,
        one.p_holm,
        gap.detectable if gap is not None else None,
        one.verdict,
    )


def _speaks(one: Judgement) -> bool:
    """Whether a verdict needs its sentence: a claim, or one withheld for another reason than thin evidence."""
    return one.verdict in {Verdict.FOUND, Verdict.PLACEBO, Verdict.BROKEN}


def _refused(panel: Panel) -> list[str]:
    reasons = Counter(one.gap.refusal for one in panel.judged if one.gap is not None and one.gap.refusal is not None)
    return [f"{count} of {len(panel.judged)} without a number: {reason}" for reason, count in reasons.most_common(5)]


def _break_table(audit: ContaminationAudit, panel: Panel, found: list[tuple[int, Break, float | None]]) -> Table:
    columns = (
        sheets.text("model"),
        sheets.text("break after"),
        sheets.text("and before"),
        sheets.points("drop"),
        sheets.p_value("p (Holm)"),
        sheets.text("may lie from"),
        sheets.text("to"),
        sheets.text(""),
    )
    rows = []
    for row, one, p in sorted(found, key=lambda entry: (entry[2] if entry[2] is not None else 1.0, entry[0])):
        if p is None or p >= LEVEL:
            continue
        tested = audit.tested[row]
        late = tested is not None and is_later_than(one, tested.high)
        rows.append(
            (
                audit.selection.board.names[row],
                _day(one.last_before),
                _day(one.first_after),
                one.gap,
                p,
                _day(one.earliest),
                _day(one.latest),
                "later than its cut-off" if late else "",
            )
        )
    notes = [f"{len(found)} models scanned, {len(rows)} with a break at 5 % (Holm)"]
    return Table(f"Breaks found without a date: {panel.platform}", columns, tuple(rows), tuple(notes))


def _notes(audit: ContaminationAudit) -> Iterator[str]:
    yield "gap: percentage points better before the cut-off than models that can know none of it lead one to expect"
    yield '"could be seen": the gap that would be found 4 times out of 5; a gap not found does not make a model clean'
    untested = [name for name, at in zip(audit.selection.board.names, audit.tested, strict=True) if at is None]
    if untested:
        yield f"no cut-off to test at: {', '.join(untested)}"
    yield f"p values are adjusted over all models tested on a platform; scans permute contests, seed {audit.seed}"


def _day(days: float | None) -> str | None:
    return None if days is None else f"{EPOCH + timedelta(days=days):%Y-%m-%d}"


def _span(low: float, high: float) -> str:
    first, last = _day(low), _day(high)
    return str(first) if first == last else f"{first} to {last}"


def _instant(days: float | None) -> str | None:
    return None if days is None else utc_text(_moment(days))


def _moment(days: float) -> datetime:
    return EPOCH + timedelta(seconds=round(days * 86_400))


def _as_dict(audit: ContaminationAudit) -> Mapping[str, Any]:
    names = audit.selection.board.names
    return {
        "problems_from": _instant(audit.start),
        "controls": {
            name: [names[place] for place, serves in enumerate(row) if serves]
            for name, row in zip(names, audit.controls.tolist(), strict=True)
        },
        "tested_at": {
            name: None if at is None else {"low": _instant(at.low), "high": _instant(at.high), "why": at.why}
            for name, at in zip(names, audit.tested, strict=True)
        },
        "broken_months": [{**asdict(one), "model": names[one.model]} for one in audit.broken],
        "platforms": [
            {
                "platform": panel.platform,
                "n_problems": panel.n_problems,
                "judged": [{**asdict(one), "model": names[one.model]} for one in panel.judged],
                "breaks": [
                    {
                        "model": names[row],
                        **asdict(one),
                        "p_holm": p,
                        "last_before": _instant(one.last_before),
                        "first_after": _instant(one.first_after),
                        "earliest": _instant(one.earliest),
                        "latest": _instant(one.latest),
                    }
                    for row, one, p in panel.breaks
                ],
            }
            for panel in audit.panels
        ],
        "seed": audit.seed,
    }
