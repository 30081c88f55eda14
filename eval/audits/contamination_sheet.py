"""The contamination audit for people and programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from eval import sheets
from eval.audits.breaks_sheet import break_table, breaks_as_dicts, day_text, instant_text, spread
from eval.audits.contamination import ALL_PLATFORMS, ContaminationAudit, Panel, is_withheld, verdicts_on
from eval.audits.refusals import grouped, named
from eval.audits.runs import left_out_lines, month_name
from eval.sheets import Sheet, Table
from eval.statistics.gap import Gap
from eval.statistics.placebo import Judgement, Placebo, Verdict

SHORT = {
    Verdict.FOUND: "found",
    Verdict.NOT_FOUND: "not found",
    Verdict.PLACEBO: "withheld: placebo",
    Verdict.NO_CONTROL: "withheld: no control",
    Verdict.BROKEN: "withheld: broken",
    Verdict.SUSPECT: "withheld: broken?",
    Verdict.ALL_ALIKE: "withheld: all or none",
    Verdict.THIN: "withheld: too little",
    Verdict.PLATFORMS: "withheld: no platform",
}
"""Verdicts as they stand side by side in the summary."""


def contamination_sheet(audit: ContaminationAudit) -> Sheet:
    """First all verdicts side by side; then for each platform the gaps, and the breaks that a scan finds by itself."""
    shown = [_shown(audit, panel) for panel in audit.panels]
    tables = [table for panel in shown for table in _tables(audit, panel)]
    if len(shown) > 1 and shown[0].judged:
        tables.insert(0, _summary_table(audit, shown))
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
        starts = {audit.tested[one.model] for panel in audit.panels for one in panel.judged}
        several = len({at.start for at in starts if at is not None}) > 1
        since = 'or later (for each model from the day under "from" on)' if several else "on"
        yield f"problems from {day_text(audit.start)} {since}, so that cut-offs of controls lie before all of them"
    yield f"controls: {', '.join(controls) if controls else 'none: no model has a stated cut-off before the problems'}"
    if audit.without:
        yield f"left out as controls, by --without-control: {', '.join(names[row] for row in audit.without)}"
    yield from left_out_lines(names, audit.broken)


def _shown(audit: ContaminationAudit, panel: Panel) -> Panel:
    """A panel with the runs that were asked for."""
    rows = set(audit.selection.shown)
    judged = tuple(one for one in panel.judged if one.model in rows)
    return replace(panel, judged=judged, breaks=tuple(one for one in panel.breaks if one.model in rows))


def _summary_table(audit: ContaminationAudit, shown: Sequence[Panel]) -> Table:
    columns = [sheets.text("model"), *(sheets.text(panel.platform) for panel in shown), sheets.text("in all")]
    found = verdicts_on(shown)
    names = audit.selection.board.names
    rows = [
        (
            names[one.model],
            *(SHORT[at[panel.platform].verdict] if panel.platform in at else None for panel in shown),
            overall(at),
        )
        for one in sorted(shown[0].judged, key=_order)
        for at in [found[one.model]]
    ]
    notes = list(grouped((names[row], _disagreement(at)) for row, at in found.items()))
    notes += grouped((names[one.model], one.sentence) for one in shown[0].judged if one.verdict is Verdict.PLATFORMS)
    return Table("Verdicts", tuple(columns), tuple(rows), tuple(notes))


def overall(at: Mapping[str, Judgement]) -> str:
    """One word for a run from its verdicts by platform, with the platforms that it rests on."""
    for verdict in (Verdict.FOUND, Verdict.NOT_FOUND):
        single = [name for name, one in at.items() if name != ALL_PLATFORMS and one.verdict is verdict]
        if single:
            everywhere = len(single) == len(set(at) - {ALL_PLATFORMS})
            return f"{verdict} on {'every platform' if everywhere else ', '.join(single)}"
        if ALL_PLATFORMS in at and at[ALL_PLATFORMS].verdict is verdict:
            return f"{verdict} on all together, on no platform by itself" if len(at) > 1 else str(verdict)
    return "withheld"


def _disagreement(at: Mapping[str, Judgement]) -> str | None:
    """What to make of it where a gap is found here and not there."""
    found = [name for name, one in at.items() if one.verdict is Verdict.FOUND]
    if not found or len(found) == len(at):
        return None
    others = [name for name in at if name not in found]
    words = ", ".join(
        f"{'not found' if at[name].verdict is Verdict.NOT_FOUND else 'withheld'} on {name}" for name in others
    ).replace(f"on {ALL_PLATFORMS}", "on all together")
    why = (
        f"the test on all platforms together rests on {', '.join(others)} too"
        if ALL_PLATFORMS in found
        else "what is known of one platform may be too little to show on all together"
    )
    return f"found on {', '.join(found)}, {words}: {why}"


def _tables(audit: ContaminationAudit, panel: Panel) -> Iterator[Table]:
    columns = (
        sheets.text("model"),
        sheets.text("cut-off"),
        sheets.text("from"),
        sheets.count("before"),
        sheets.count("after"),
        sheets.count("undecidable"),
        sheets.points("gap"),
        sheets.percent("s.e."),
        sheets.p_value("p (Holm)"),
        sheets.percent("could be seen"),
        sheets.text("verdict"),
    )
    rows = tuple(_row(audit, one) for one in sorted(panel.judged, key=_order))
    if rows:
        yield Table(f"Gap at the cut-off: {panel.platform}", columns, rows, tuple(_gap_notes(audit, panel)))
    breaks = break_table(audit, panel)
    if breaks is not None:
        yield breaks


def _gap_notes(audit: ContaminationAudit, panel: Panel) -> Iterator[str]:
    names = audit.selection.board.names
    yield from (f"{names[one.model]}: {one.sentence}" for one in panel.judged if one.verdict is Verdict.FOUND)
    yield from _failed_placebos(audit, panel)
    yield from grouped(
        (names[one.model], warning) for one in panel.judged if not is_withheld(one) for warning in one.warnings
    )
    without = [one for one in panel.judged if one.gap is not None and one.gap.refusal is not None]
    yield from grouped((names[one.model], f"no number: {one.gap.refusal}") for one in without if one.gap is not None)
    n_tests = panel.judged[0].n_tests
    if n_tests:
        yield f"p: adjusted (Holm) over the {n_tests} {'test' if n_tests == 1 else 'tests'} on {panel.platform}"


def _failed_placebos(audit: ContaminationAudit, panel: Panel) -> Iterator[str]:
    """For each control that withholds a claim the gap that it shows, and at whose cut-offs."""
    names = audit.selection.board.names
    against: dict[int, list[tuple[str, float]]] = {}
    for one in panel.judged:
        sizes = {found.control: found.gap.points for found in one.placebos}
        for control in one.against:
            points = sizes.get(control)
            if points is not None:
                against.setdefault(control, []).append((names[one.model], 100 * points.value))
    for control, found in sorted(against.items(), key=lambda entry: names[entry[0]]):
        yield (
            f"placebo failed on {panel.platform}: the control {names[control]} shows a gap of "
            f"{spread([size for _, size in found])} points that it cannot have, at the cut-offs of "
            f"{named([name for name, _ in found])}"
        )
    if against:
        yield "look at the runs of such controls (live audit runs); --without-control MODEL leaves one out, and says so"


def _order(one: Judgement) -> tuple[bool, bool, float]:
    """What is found first, then by size; what is withheld, whose size must not be read, in the order of the store."""
    points = None if one.gap is None or is_withheld(one) else one.gap.points
    return one.verdict is not Verdict.FOUND, points is None, -(points.value if points is not None else 0.0)


def _row(audit: ContaminationAudit, one: Judgement) -> tuple[sheets.Cell, ...]:
    tested, gap = audit.tested[one.model], one.gap
    points = gap.points if gap is not None and not is_withheld(one) else None
    return (
        audit.selection.board.names[one.model],
        tested.written if tested is not None else None,
        day_text(tested.start) if tested is not None else None,
        gap.before.n_items if gap is not None else None,
        gap.after.n_items if gap is not None else None,
        gap.n_undecidable if gap is not None else None,
        points.value if points is not None else None,
        points.se if points is not None else None,
        one.p_holm if points is not None else None,
        one.detectable if points is not None else None,
        one.verdict,
    )


def _notes(audit: ContaminationAudit) -> Iterator[str]:
    reason = nothing_tested(audit)
    if reason is not None:
        yield reason
        return
    yield "gap: percentage points better before the cut-off than models that can know none of it lead one to expect"
    yield (
        '"could be seen": the gap that p would find 4 times out of 5 after Holm over all tests on the platform; a gap '
        "not found does not make a model clean"
    )
    judged = [one for panel in audit.panels for one in panel.judged if one.model in set(audit.selection.shown)]
    if any(map(is_withheld, judged)):
        yield "withheld: no gap and no p is given, as they could not be told from a fault of the method or the run"
    yield from grouped(
        (audit.selection.board.names[one.model], f"{panel.platform}: {one.sentence}")
        for panel in audit.panels
        for one in panel.judged
        if one.model in set(audit.selection.shown) and one.verdict in {Verdict.BROKEN, Verdict.SUSPECT}
    )
    if any(at is not None and at.assumed for at in (audit.tested[one.model] for one in judged)):
        yield "?: no cut-off is stated, only the release date is known: nothing can be told to be from before it"
    yield from _untested(audit)
    yield (
        "p values are adjusted over the models tested on a platform, shown or not, and not over platforms; scans "
        f"permute contests, seed {audit.seed}"
    )


def nothing_tested(audit: ContaminationAudit) -> str | None:
    """Why no run that was asked for is tested, as a sentence; None where one is."""
    selection, shown = audit.selection, audit.selection.shown
    if any(one.model in shown for panel in audit.panels for one in panel.judged):
        return None
    if not shown:
        return "nothing left to test: the store has no results of the models that were asked for"
    if not selection.board.problems:
        return "nothing left to test: no problem with results is left by --platform, --difficulty, --since and --until"
    early = _too_early(audit)
    if early:
        names, first = named([selection.board.names[row] for row in early]), day_text(float(selection.board.days.min()))
        return (
            f"nothing left to test: the cut-offs of {names} lie before the first problem used ({first}): an earlier "
            "--since leaves some to test"
        )
    return "nothing left to test: no model shown has a cut-off: --at DAY tests all at one day"


def _too_early(audit: ContaminationAudit) -> list[int]:
    """The rows shown whose cut-off lies before every problem used: controls, if they can be, and not tested."""
    first = float(audit.selection.board.days.min())
    places = ((row, audit.tested[row]) for row in audit.selection.shown)
    return [row for row, at in places if at is not None and at.high < first]


def _untested(audit: ContaminationAudit) -> Iterator[str]:
    names, shown = audit.selection.board.names, audit.selection.shown
    undated = [names[row] for row in shown if audit.tested[row] is None]
    if undated:
        yield f"no cut-off to test at: {named(undated)}"
    serves = audit.serves
    early = [names[row] for row in _too_early(audit) if audit.selection.wanted is not None or not serves[row]]
    if early:
        yield f"not tested, as the cut-off lies before all problems used: {named(early)}"


def _as_dict(audit: ContaminationAudit) -> Mapping[str, Any]:
    names = audit.selection.board.names
    return {
        "problems_from": instant_text(audit.start),
        "controls": {
            name: [names[place] for place, serves in enumerate(row) if serves]
            for name, row in zip(names, audit.controls.tolist(), strict=True)
        },
        "tested_at": {
            names[row]: None
            if at is None
            else {
                **asdict(at),
                "low": instant_text(at.low),
                "high": instant_text(at.high),
                "start": instant_text(at.start),
            }
            for row, at in enumerate(audit.tested)
            if row in set(audit.selection.shown)
        },
        "without_control": [names[row] for row in audit.without],
        "broken_months": [
            {**asdict(one), "model": names[one.model], "period": month_name(one.period)} for one in audit.broken
        ],
        "nothing_tested": nothing_tested(audit),
        "summary": [
            {"model": names[row], "in_all": overall(at), "verdicts": {name: one.verdict for name, one in at.items()}}
            for row, at in verdicts_on([_shown(audit, panel) for panel in audit.panels]).items()
        ],
        "platforms": [
            {
                "platform": panel.platform,
                "n_problems": panel.n_problems,
                "judged": [_judged_as_dict(audit, one) for one in panel.judged],
                "breaks": breaks_as_dicts(audit, panel),
            }
            for panel in (_shown(audit, panel) for panel in audit.panels)
        ],
        "seed": audit.seed,
    }


def _judged_as_dict(audit: ContaminationAudit, one: Judgement) -> dict[str, Any]:
    """A verdict by names; where it is withheld, with the numbers of the controls alone."""
    names, kin = audit.selection.board.names, audit.families
    controls = np.flatnonzero(audit.controls[one.model]).tolist()

    def placebo(found: Placebo) -> dict[str, Any]:
        others = controls if found.control is None else [row for row in controls if kin[row] != kin[found.control]]
        return {
            "control": None if found.control is None else names[found.control],
            "after": instant_text(found.time),
            "p_holm": found.p_holm,
            "gap": _gap_as_dict(found.gap, [names[row] for row in others]),
        }

    hidden = is_withheld(one)
    numbers: dict[str, Any] = {
        "gap": None if one.gap is None else _gap_as_dict(one.gap, [names[row] for row in controls]),
        "p_holm": one.p_holm,
        "detectable": one.detectable,
        "placebo_range": one.placebo_range,
        "other_dates": [placebo(found) for found in one.other_dates],
        "warnings": one.warnings,
    }
    return {
        "model": names[one.model],
        "verdict": one.verdict,
        "sentence": one.sentence,
        "n_tests": one.n_tests,
        "n_before": None if one.gap is None else one.gap.before.n_items,
        "n_after": None if one.gap is None else one.gap.after.n_items,
        **{key: None if hidden else value for key, value in numbers.items()},
        "placebos": [placebo(found) for found in one.placebos],
        "failed_controls": [names[row] for row in one.against],
    }


def _gap_as_dict(gap: Gap, controls: Sequence[str]) -> dict[str, Any]:
    return {**asdict(gap), "controls": [controls[place] for place in gap.controls]}
