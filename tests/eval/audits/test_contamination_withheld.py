"""What a contamination audit keeps back: gaps and breaks that are withheld, runs that are broken, too few controls."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime

from eval.audits.contamination import audit_contamination, borne_out
from eval.audits.contamination_sheet import contamination_sheet
from eval.audits.selection import select
from eval.board import EPOCH
from eval.claims import Claim, ClaimKind
from eval.cutoffs import parse_cutoff
from eval.settings import Settings
from eval.sheets import sheet_to_csv, sheet_to_json
from eval.statistics.placebo import Verdict
from eval.statistics.run_health import PeriodHealth
from eval.window import parse_since
from tests.eval.audits.contamination_audits import (
    of_answers,
    of_control,
    of_simulated,
    simulated,
    verdicts,
)
from tests.eval.facts import NOW, model, registry, run


def numbers_in(value: object) -> list[float]:
    """Every number of a JSON document that is not whole, wherever it stands."""
    if isinstance(value, dict):
        return [found for one in value.values() for found in numbers_in(one)]
    if isinstance(value, list):
        return [found for one in value for found in numbers_in(one)]
    return [value] if isinstance(value, float) else []


def test_a_withheld_gap_is_nowhere_to_be_copied_and_its_control_is_named() -> None:
    audit = of_control(tested="2023-12")
    assert verdicts(audit, "all platforms") == {"tested": Verdict.PLACEBO}
    assert not audit.says_something
    sheet = contamination_sheet(audit)
    assert sheet.tables[0].rows[0][5:] == (6, None, None, None, None, "withheld: placebo failed")
    row = next(line for line in sheet_to_csv(sheet).splitlines() if line.startswith("Gap at the cut-off"))
    assert ",84,90,6,,,,,withheld: placebo failed," in row
    note = next(line for line in sheet.tables[0].notes if "the control control4" in line)
    assert re.match(
        r"placebo failed on all platforms: the control control4 shows a gap of \+[0-9]+\.[0-9] points", note
    )
    assert note.endswith("at the cut-offs of tested")
    (judged,) = json.loads(sheet_to_json(sheet))["platforms"][0]["judged"]
    assert "control4" in judged["failed_controls"]
    assert judged["sentence"].startswith("withheld: placebo failed (")
    assert (judged["gap"], judged["p_holm"], judged["other_dates"], judged["detectable"]) == (None,) * 4
    assert (judged["n_before"], judged["n_after"]) == (84, 90)
    names = {one["control"]: one["gap"]["controls"] for one in judged["placebos"]}
    assert list(names) == [f"control{place}" for place in range(8)]
    assert all(name not in others and len(others) == 7 for name, others in names.items())
    # No number of the model's own, under any key.
    (own,) = audit.panels[0].judged
    assert own.gap is not None
    assert own.gap.points is not None
    assert own.gap.logit is not None
    hidden = {own.p_holm, own.gap.points.value, own.gap.points.se, own.gap.logit.value, own.gap.logit.p}
    assert not hidden & set(numbers_in(sheet.data))


def test_the_scan_is_withheld_with_the_gap_and_beside_a_control_that_breaks_off() -> None:
    """control4 has learnt what it cannot have seen: no drop, no p, in no form, and no exit code of something found."""
    audit = of_control(tested="2023-12")
    (scan,) = audit.panels[0].breaks
    assert (scan.model, scan.against) == (8, (4,))
    assert scan.found is not None
    sheet = contamination_sheet(audit)
    table = sheet.tables[1]
    assert table.title == "Breaks found without a date: all platforms"
    assert table.rows == (("tested", 180, *(None,) * 6, "withheld: placebo failed"),)
    assert table.notes[0] == "1 model scanned, 0 with a break at 5 % (Holm); of 1 nothing can be said"
    assert re.match(
        r"placebo failed on all platforms: the control control4 shows a break of \+[0-9.]+ points that it cannot have, "
        "in the scans of tested$",
        table.notes[1],
    )
    (shown,) = json.loads(sheet_to_json(sheet))["platforms"][0]["breaks"]
    assert (shown["gap"], shown["t"], shown["p"], shown["p_holm"], shown["last_before"]) == (None,) * 5
    assert shown["failed_controls"] == ["control4"]
    assert not {scan.p_holm, scan.found.gap, scan.found.t} & set(numbers_in(shown))
    # Where the scan itself is sound, a verdict that is withheld withholds it.
    clean = of_simulated(7, True, tested="2023-12").panels[0]
    assert clean.breaks[0].is_break
    for verdict, kept in ((Verdict.PLACEBO, False), (Verdict.NO_CONTROL, False), (Verdict.THIN, True)):
        (panel,) = borne_out([replace(clean, judged=(replace(clean.judged[0], verdict=verdict),))])
        assert panel.breaks[0].is_break is kept


def test_a_control_is_a_placebo_and_accused_of_nothing() -> None:
    audit = of_simulated(7, True, tested="2023-12")
    assert {one.model for one in audit.panels[0].breaks} == {8}
    (own,) = audit.panels[0].breaks
    assert {one.control for one in own.placebos} == set(range(8))


def test_a_scan_is_the_same_whoever_else_has_results() -> None:
    problems, answers = simulated(7, True)
    cutoffs = {"tested": "2023-12", "other": "2023-12"}
    alone = of_answers(problems, answers, cutoffs).panels[0].breaks
    among = of_answers(problems, [("other", answers[3][1]), *answers], cutoffs).panels[0].breaks
    (found,) = (one for one in among if one.model == 9)
    assert found.found == alone[0].found
    assert [one.found for one in found.placebos] == [one.found for one in alone[0].placebos]


def test_a_run_whose_months_are_all_broken_has_a_verdict() -> None:
    problems, answers = simulated(7, True)
    models = registry(*(model(name, "2023-12" if name == "tested" else "2022-06") for name, _ in answers))
    runs = [run(name, cells) for name, cells in answers]
    selection = select(problems, runs, models, Settings(after_cutoff=False, since=EPOCH), now=NOW)
    months = sorted({12 * one.exposed_at.year + one.exposed_at.month - 1 for one in problems if one.exposed_at})
    every = tuple(PeriodHealth(8, month, 9, 0.0, 0.9, -9.0, True) for month in months)
    for health, sentence in (
        (every, "withheld: run broken (all months with results of it are broken)"),
        (every[12:], "withheld: run broken (all months with results of it after the cut-off are broken)"),
    ):
        audit = audit_contamination(selection, models, health, 0)
        (one,) = audit.panels[0].judged
        assert (one.verdict, one.sentence) == (Verdict.BROKEN, sentence)
        sheet = contamination_sheet(audit)
        assert sheet.tables[0].rows[0][-1] == "withheld: run broken"
        assert f"tested: all platforms: {sentence}" in sheet.notes
        assert not audit.says_something
        assert json.loads(sheet_to_json(sheet))["platforms"][0]["judged"][0]["gap"] is None


def test_two_runs_of_one_model_are_one_control() -> None:
    problems, answers = simulated(7, True)
    rename = {f"control{place}": f"control{place // 4}" for place in range(8)}
    runs = [run(rename.get(name, name), cells, label=name) for name, cells in answers]
    models = registry(model("control0", "2022-06"), model("control1", "2022-06"), model("tested", "2023-12"))
    since = Settings(after_cutoff=False, since=parse_since("2023"))
    for settings in (since, Settings(after_cutoff=False, since=EPOCH)):
        audit = audit_contamination(select(problems, runs, models, settings, now=NOW), models, (), 0)
        assert verdicts(audit, "all platforms") == {"tested": Verdict.NO_CONTROL}
        assert not audit.says_something
    sheet = contamination_sheet(audit_contamination(select(problems, runs, models, since, now=NOW), models, (), 0))
    (note,) = sheet.tables[1].notes
    assert note == (
        "tested: not scanned: needs at least 3 controls of different families with results on 90% of its problems, "
        "there are 2 (8 runs)"
    )


def test_the_cut_off_stands_as_it_was_written() -> None:
    audit = of_simulated(7, True, tested="2023-11")
    sheet = contamination_sheet(audit)
    assert sheet.tables[0].rows[0][1:3] == ("2023-11", "2022-07-01")
    at = sheet.data["tested_at"]["tested"]
    # Some place is 14 hours ahead of UTC, and another 12 behind.
    assert (at["low"], at["high"]) == ("2023-10-31T10:00:00Z", "2023-12-01T12:00:00Z")
    problems, answers = simulated(7, True)
    earlier = Claim(ClaimKind.TRAINING_DATA, parse_cutoff("2023-09"), source="https://example.org/other")
    entries = [model(name, "2023-11" if name == "tested" else "2022-06") for name, _ in answers]
    entries[8] = replace(entries[8], claims=(*entries[8].claims, earlier))
    models = registry(*entries)
    runs = [run(name, cells) for name, cells in answers]
    selection = select(problems, runs, models, Settings(after_cutoff=False, since=EPOCH), now=NOW)
    assert (
        contamination_sheet(audit_contamination(selection, models, (), 0)).tables[0].rows[0][1] == "2023-09 to 2023-11"
    )
    day = datetime(2023, 10, 5, tzinfo=UTC)
    assert (
        contamination_sheet(audit_contamination(selection, models, (), 0, at=day)).tables[0].rows[0][1] == "2023-10-05"
    )


def test_each_model_has_the_start_of_its_own_test() -> None:
    """Three controls of 2022, and five of May 2023 that are tested against them and serve the last model."""
    middle = {f"control{place}": "2023-05" for place in range(3, 8)}
    sheet = contamination_sheet(of_simulated(7, True, tested="2023-12", **middle))
    assert any(
        line.startswith('problems from 2022-07-01 or later (for each model from the day under "from" on)')
        for line in sheet.conditions
    )
    starts = {row[0]: row[2] for row in sheet.tables[0].rows}
    assert starts == {**dict.fromkeys(middle, "2022-07-01"), "tested": "2023-06-01"}
    same = contamination_sheet(of_simulated(7, True, tested="2023-12"))
    assert any(line.startswith("problems from 2022-07-01 on, so that") for line in same.conditions)
