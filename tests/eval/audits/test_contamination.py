"""The contamination audit on recorded boards, as it would be run on a store that holds them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from db.records import Precision
from eval.audits.contamination import ALL_PLATFORMS, Panel, audit_contamination, borne_out
from eval.audits.contamination_sheet import contamination_sheet, overall
from eval.audits.selection import select
from eval.board import EPOCH, days_of
from eval.claims import Claim, ClaimKind
from eval.cutoffs import parse_cutoff
from eval.models import ModelEntry, Registry
from eval.settings import Settings
from eval.sheets import sheet_to_json
from eval.statistics.placebo import Judgement, Verdict
from tests.eval.audits.contamination_audits import (
    audited,
    of_control,
    of_simulated,
    panel_of,
    read_breaks,
    simulated,
    verdicts,
)
from tests.eval.facts import NOW, model, registry, run
from tests.eval.statistics.boards import board, table
from tests.eval.statistics.recorded_gaps import V1, V6, declared, v1_controls, v6_controls


@pytest.mark.shared
@pytest.mark.slow
def test_twelve_models_on_leetcode_none_on_atcoder_at_the_end_of_august_2023(shared_data: Path) -> None:
    """lcb_v1_did_aug2023.csv: 12 flagged on LeetCode, no control; none on AtCoder. The scan finds the same break."""
    controls = v1_controls(shared_data)
    names = board(shared_data, V1).models
    models = registry(*(model(name, "2023-03" if name in controls else None) for name in names))
    audit = audited(shared_data, V1, models, since="2023-05", at=datetime(2023, 8, 31, tzinfo=UTC))
    rows = [row for row in table(shared_data, "lcb_v1_did_aug2023") if row["platform"] == "leetcode"]
    flagged = {row["model"] for row in rows if float(row["did_p_holm"]) < 0.05}
    found = verdicts(audit, "leetcode")
    assert {name for name, verdict in found.items() if verdict is Verdict.FOUND} == flagged
    assert len(flagged) == 12
    assert not set(found) & set(controls)
    assert Verdict.FOUND not in verdicts(audit, "atcoder").values()
    panel = panel_of(audit, "leetcode")
    # lcb_v1_changepoint_scan.csv: no control has a break, so that these may be read.
    breaks = read_breaks(audit, "leetcode")
    assert breaks["DSCoder-33b-Base"] == ("2023-08-27", "2023-09-02")
    assert breaks["CodeQwen15-7B"] == ("2023-11-18", "2023-11-25")
    assert set(breaks) <= flagged
    assert not any(one.against for one in panel.breaks)
    assert {names[one.model] for one in panel.breaks} == set(names) - set(controls)
    sheet = contamination_sheet(audit)
    text = "\n".join(note for one in sheet.tables for note in one.notes)
    print(text)
    assert re.search(r"^DSCoder-33b-Base: gap found: \+[45][0-9]\.[0-9] points", text, re.MULTILINE)
    json.loads(sheet_to_json(sheet))


def v6_registry(data: Path) -> Registry:
    """The declared cut-offs; of the rest none is known."""
    rows = [row for row in table(data, "lcb_v6_did_declared_cutoffs") if row["platform"] == "all"]
    known = {row["model"]: declared(row)[:7] for row in rows if row["role"] == "tested"}
    known |= dict.fromkeys(v6_controls(data), "2023-10")
    return registry(*(model(name, known.get(name)) for name in board(data, V6).models))


@pytest.mark.shared
@pytest.mark.slow
def test_a_broken_month_is_left_out_before_any_gap_is_computed(shared_data: Path) -> None:
    """DeepSeek-V3 in January and March 2025, and nobody else. Its break is then in the summer of 2024, on LeetCode."""
    audit = audited(shared_data, V6, v6_registry(shared_data), since="2024-01")
    names = audit.selection.board.names
    assert read_breaks(audit, "leetcode")["DeepSeek-V3"] == ("2024-06-15", "2024-06-22")
    (v3,) = (one for one in panel_of(audit, "leetcode").breaks if names[one.model] == "DeepSeek-V3")
    assert v3.found is not None
    assert v3.found.earliest is not None
    assert v3.found.latest is not None
    # lcb_v6_changepoint_to2024-12.csv: the first clean month is July 2024, which the set of dates holds.
    assert v3.found.earliest < days_of(datetime(2024, 7, 1, tzinfo=UTC)) < v3.found.latest
    # On AtCoder, and on both, o3-mini has a break that it cannot have: nothing is read there, of nobody.
    for platform in ("atcoder", ALL_PLATFORMS):
        scans = panel_of(audit, platform).breaks
        assert not any(one.is_told for one in scans)
        assert {names[row] for one in scans for row in one.against} == {
            "O3-Mini-2025-01-31 (Low)",
            "O3-Mini-2025-01-31 (Med)",
        }
    assert not any(names[one.model].startswith("O3-Mini") for panel in audit.panels for one in panel.breaks)
    assert {(names[one.model], one.period % 12 + 1) for one in audit.broken} == {("DeepSeek-V3", 1), ("DeepSeek-V3", 3)}
    conditions = contamination_sheet(audit).conditions
    assert any(line.startswith("left out: results of DeepSeek-V3 in 2025-01 (broken run: z -") for line in conditions)


def test_what_was_learnt_is_found_and_nothing_where_nothing_was() -> None:
    learnt, clean = (of_simulated(7, learnt, tested="2023-12") for learnt in (True, False))
    assert verdicts(learnt, "all platforms") == {"tested": Verdict.FOUND}
    assert verdicts(clean, "all platforms") == {"tested": Verdict.NOT_FOUND}
    sheet = contamination_sheet(clean)
    assert sheet.tables[0].rows[0][-1] == "gap not found"
    assert sheet.tables[0].rows[0][8] is not None  # what could have been seen stands beside it


def test_problems_start_where_controls_can_be_had() -> None:
    """Without a bound of the user's: after the fifth of the stated cut-offs."""
    late = {f"control{place}": "2023-02" for place in range(4, 8)}
    audit = of_simulated(7, True, tested="2023-12", **late)
    at = audit.tested[8]
    assert at is not None
    assert at.start is not None
    assert EPOCH + timedelta(days=at.start) == datetime(2023, 3, 1, 12, tzinfo=UTC)
    assert audit.controls[8].sum() == 8


def test_models_without_stated_cut_offs_are_no_controls() -> None:
    nobody = {f"control{place}": None for place in range(8)}
    audit = of_simulated(7, True, tested="2023-12", **nobody)
    assert verdicts(audit, "all platforms") == {"tested": Verdict.NO_CONTROL}
    sheet = contamination_sheet(audit)
    assert "controls: none: no model has a stated cut-off before the problems" in sheet.conditions
    assert any(note.startswith("no cut-off to test at: control0") for note in sheet.notes)


def test_nobody_is_a_control_of_its_own_family() -> None:
    problems, answers = simulated(7, True)
    entries = [
        model(name, "2023-12" if name == "tested" else "2022-06", base_models=("control3",) if name == "tested" else ())
        for name, _ in answers
    ]
    models = registry(*entries)
    settings = Settings(after_cutoff=False, since=EPOCH)
    selection = select(problems, [run(*one) for one in answers], models, settings, now=NOW)
    audit = audit_contamination(selection, models, (), 0)
    assert audit.controls[8].tolist() == [place != 3 and place < 8 for place in range(9)]


def test_a_failed_placebo_is_said_once_for_all_that_it_withholds() -> None:
    audit = of_control(tested="2023-12", control7="2023-11", control6="2023-11")
    sheet = contamination_sheet(audit)
    notes = [line for line in sheet.tables[0].notes if "the control control4" in line]
    assert len(notes) == 1
    assert {name for name in ("tested", "control6", "control7") if name in notes[0].split("cut-offs of")[1]} == {
        name for name, verdict in verdicts(audit, "all platforms").items() if verdict is Verdict.PLACEBO
    }


def test_without_the_control_that_fails_there_is_a_verdict() -> None:
    audit = of_control(without=(4,), tested="2023-12")
    assert verdicts(audit, "all platforms") == {"tested": Verdict.NOT_FOUND}  # and control4 is not tested
    assert "left out as controls, by --without-control: control4" in contamination_sheet(audit).conditions


def panels(all_together: Verdict, **single: Verdict) -> list[Panel]:
    verdicts = {ALL_PLATFORMS: all_together} | single
    return [Panel(name, 9, (Judgement(0, verdict, "as found", 1),), ()) for name, verdict in verdicts.items()]


@pytest.mark.parametrize(
    ("single", "kept"),
    [
        ({"atcoder": Verdict.PLACEBO, "leetcode": Verdict.NO_CONTROL}, False),
        ({"atcoder": Verdict.PLACEBO, "leetcode": Verdict.THIN}, False),
        ({"atcoder": Verdict.THIN, "leetcode": Verdict.THIN}, True),  # could be tested on neither
        ({"atcoder": Verdict.PLACEBO, "leetcode": Verdict.NOT_FOUND}, True),
        ({"atcoder": Verdict.PLACEBO, "leetcode": Verdict.FOUND}, True),
    ],
)
def test_a_gap_on_all_together_needs_a_platform_that_bears_it_out(single: dict[str, Verdict], kept: bool) -> None:
    (judged,) = borne_out(panels(Verdict.FOUND, **single))[0].judged
    assert judged.verdict is (Verdict.FOUND if kept else Verdict.PLATFORMS)
    if not kept:
        assert "atcoder: withheld: placebo failed" in judged.sentence
    (other,) = borne_out(panels(Verdict.NOT_FOUND, **single))[0].judged
    assert other.verdict is Verdict.NOT_FOUND


@pytest.mark.parametrize(
    ("verdicts_of", "said"),
    [
        ((Verdict.FOUND, Verdict.FOUND, Verdict.FOUND), "gap found on every platform"),
        ((Verdict.NOT_FOUND, Verdict.NOT_FOUND, Verdict.FOUND), "gap found on leetcode"),
        ((Verdict.FOUND, Verdict.NOT_FOUND, Verdict.THIN), "gap found on all together, on no platform by itself"),
        ((Verdict.PLACEBO, Verdict.PLACEBO, Verdict.NOT_FOUND), "gap not found on leetcode"),
        ((Verdict.PLATFORMS, Verdict.PLACEBO, Verdict.THIN), "withheld"),
    ],
)
def test_the_word_for_all_platforms(verdicts_of: tuple[Verdict, Verdict, Verdict], said: str) -> None:
    names = (ALL_PLATFORMS, "atcoder", "leetcode")
    at = {name: Judgement(0, verdict, "", 1) for name, verdict in zip(names, verdicts_of, strict=True)}
    assert overall(at) == said


def test_a_release_date_in_place_of_a_cut_off_is_marked() -> None:
    problems, answers = simulated(7, True)
    entries = [
        model(name, None, release=parse_cutoff("2023-12")) if name == "tested" else model(name, "2022-06")
        for name, _ in answers
    ]
    models = registry(*entries)
    settings = Settings(after_cutoff=False, since=EPOCH)
    selection = select(problems, [run(*one) for one in answers], models, settings, now=NOW)
    sheet = contamination_sheet(audit_contamination(selection, models, (), 0))
    assert str(sheet.tables[0].rows[0][1]).endswith("?")
    assert sheet.tables[0].rows[0][-1] == "withheld: too little evidence"
    said = "?: no cut-off is stated, only the release date is known: nothing can be told to be from before it"
    assert said in sheet.notes
    assert not any(note.startswith("?") for note in contamination_sheet(of_simulated(7, True, tested="2023-12")).notes)


def test_a_coarse_date_around_the_cut_off_is_undecidable() -> None:
    """Problems of 2023 dated by year alone: nobody can tell whether they are from before July or after it."""
    problems, answers = simulated(7, True)
    coarse = [
        replace(one, exposed_at=datetime(2023, 1, 1, tzinfo=UTC), exposed_precision=Precision.YEAR)
        if one.exposed_at is not None and one.exposed_at.year == 2023
        else one
        for one in problems
    ]
    models = registry(*(model(name, "2023-07-15" if name == "tested" else "2022-06") for name, _ in answers))
    settings = Settings(after_cutoff=False, since=EPOCH)
    selection = select(coarse, [run(*one) for one in answers], models, settings, now=NOW)
    audit = audit_contamination(selection, models, (), 0)
    assert verdicts(audit, "all platforms") == {}
    sharp = select(problems, [run(*one) for one in answers], models, settings, now=NOW)
    assert verdicts(audit_contamination(sharp, models, (), 0), "all platforms") == {"tested": Verdict.FOUND}


def test_a_control_needs_a_source() -> None:
    problems, answers = simulated(7, True)
    claim = Claim(ClaimKind.TRAINING_DATA, parse_cutoff("2022-06"))
    entries = [model(name, "2023-12") if name == "tested" else ModelEntry(name, claims=(claim,)) for name, _ in answers]
    models = registry(*entries)
    settings = Settings(after_cutoff=False, since=EPOCH)
    selection = select(problems, [run(*one) for one in answers], models, settings, now=NOW)
    assert not audit_contamination(selection, models, (), 0).controls.any()


def test_a_model_may_be_tested_and_serve_a_later_one() -> None:
    """Three models of 2022, then five of May 2023: these are tested against the three, and serve the last."""
    middle = {f"control{place}": "2023-05" for place in range(3, 8)}
    audit = of_simulated(7, True, tested="2023-12", **middle)
    found = verdicts(audit, "all platforms")
    assert set(found) == {*middle, "tested"}
    assert audit.controls[8].tolist() == [place < 8 for place in range(9)]
    assert audit.controls[3].tolist() == [place < 3 for place in range(9)]


def test_a_round_at_the_very_end_of_a_cut_off_is_after_it() -> None:
    """Cut-offs are over at noon UTC, when rounds begin: such a round is from after it, for controls, too."""
    problems, answers = simulated(7, False)
    moved = [
        replace(one, exposed_at=one.exposed_at + timedelta(hours=12)) for one in problems if one.exposed_at is not None
    ]
    first = min(one.exposed_at for one in moved if one.exposed_at is not None)
    day_before = (first - timedelta(days=1)).strftime("%Y-%m-%d")
    models = registry(*(model(name, "2023-12-14" if name == "tested" else day_before) for name, _ in answers))
    settings = Settings(after_cutoff=False, since=EPOCH)
    selection = select(moved, [run(*one) for one in answers], models, settings, now=NOW)
    audit = audit_contamination(selection, models, (), 0)
    assert len(audit.selection.board.problems) == 180
    assert audit.controls[8].sum() == 8
