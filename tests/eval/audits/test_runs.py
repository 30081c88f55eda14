"""Run health: broken months, lost answers and namesakes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from db.answer_counts import AnswersOfRun
from eval.audits.runs import RunsAudit, audit_runs, runs_sheet
from eval.audits.selection import select
from eval.evaluation import RunOutcomes
from eval.settings import Settings
from eval.window import ProblemFacts, parse_since
from tests.eval.facts import NOW, matrix, model, problem, registry, run

ALL = Settings(after_cutoff=False, since=parse_since("1970"))


def audited(
    problems: list[ProblemFacts], runs: list[RunOutcomes], answers: dict[int, AnswersOfRun] | None = None
) -> RunsAudit:
    models = registry(*(model(name) for name in {one.model for one in runs}))
    return audit_runs(select(problems, runs, models, ALL, now=NOW), answers or {})


@pytest.mark.shared
def test_the_two_broken_months_of_the_recorded_board_and_no_other(shared_data: Path) -> None:
    """lcb_easy_item_guard.csv: DeepSeek-V3 in January and March 2025, z -6.9 and -8.4."""
    problems, runs = matrix(shared_data, "lcb_v6_2025-04-22")
    audit = audited(problems, runs)
    broken = {(audit.selection.board.names[one.model], one.period) for one in audit.months if one.withheld}
    assert broken == {("DeepSeek-V3", 12 * 2025 + 0), ("DeepSeek-V3", 12 * 2025 + 2)}
    sheet = runs_sheet(audit)
    (advice,) = (note for note in sheet.notes if note.startswith("DeepSeek-V3: results of 2025-01 should not be used"))
    assert "fewer easy problems solved" in advice
    assert "import sound ones" in advice
    shown = [row[:2] for row in sheet.tables[0].rows if row[-1] == "broken"]
    assert shown == [("DeepSeek-V3", "2025-03"), ("DeepSeek-V3", "2025-01")]
    assert any("shown: the " in note and "with |z| > 3" in note for note in sheet.tables[0].notes)
    assert not any("no month can be judged" in note for note in sheet.tables[0].notes)
    months = np.array([one.exposed_at.strftime("%Y-%m") for one in problems if one.exposed_at is not None])
    lost = audit.withheld[audit.selection.board.names.index("DeepSeek-V3")]
    assert set(months[lost]) == {"2025-01", "2025-03"}
    assert not np.delete(audit.withheld, audit.selection.board.names.index("DeepSeek-V3"), axis=0).any()


def test_other_results_under_one_name_are_an_alarm() -> None:
    problems = [problem(number) for number in range(40)]
    first = run("a", [(number, 1, number % 2) for number in range(40)], origin="january", imported=True)
    same = run("a", [(number, 1, number % 2) for number in range(40)], origin="march", imported=True)
    other = run(
        "a", [(number, 1, int(number < 8) or number % 2) for number in range(40)], origin="april", imported=True
    )
    changes = {(one.first, one.second): one.change for one in audited(problems, [first, same, other]).others}
    assert changes["a (january)", "a (march)"].n_changed == 0
    assert changes["a (january)", "a (april)"].n_changed == 4
    assert changes["a (january)", "a (april)"].alarm
    table = runs_sheet(audited(problems, [first, other])).tables[2]
    assert table.rows[0][-1] == "the model behind the name or the harness is another"


def test_runs_under_other_settings_may_differ() -> None:
    problems = [problem(number) for number in range(40)]
    runs = [
        run("a", [(number, 1, int(number < share)) for number in range(40)], label=label, conditions={"effort": label})
        for label, share in (("high", 30), ("low", 10))
    ]
    table = runs_sheet(audited(problems, runs)).tables[2]
    assert table.rows[0][-1] == "under other settings: effort: 'high', 'low'"


def test_lost_answers_are_told_in_shares() -> None:
    answers = AnswersOfRun(200, 30, 0, 20, 2, 150, Counter(accepted=100, runtime_error=12, time_limit=3))
    audit = audited([problem(1)], [run("a", [(1, 1, 1)], run_id=7)], {7: answers})
    (health,) = audit.answers
    assert health is not None
    assert (health.empty, health.failed, health.timed_out, health.all_equal) == (0.15, 0.06, 0.015, 0.1)
    assert any("15.0" in note and "empty" in note for note in runs_sheet(audit).tables[1].notes)


def test_too_little_to_judge_is_said() -> None:
    sheet = runs_sheet(audited([problem(1)], [run("a", [(1, 1, 1)])]))
    assert sheet.tables[0].notes == ("no month can be judged: needs at least 5 easy problems with results",)
    assert not any("months of runs" in note for note in sheet.notes)


def test_a_run_that_is_shown_alone_is_judged_beside_all() -> None:
    problems = [problem(number, ("2024-06-01", "2024-07-01")[number // 10]) for number in range(20)]
    runs = [run(f"m{place}", [(number, 4, 3 if number % 2 else 4) for number in range(20)]) for place in range(6)]
    models = registry(*(model(one.model) for one in runs))
    whole = select(problems, runs, models, ALL, now=NOW)
    sheet, of_all = (runs_sheet(audit_runs(one, {})) for one in (whole.showing(["M2"]), whole))
    assert [(month["model"], month["period"]) for month in sheet.data["months"]] == [
        ("m2", "2024-06"),
        ("m2", "2024-07"),
    ]
    for month in sheet.data["months"]:
        assert month["z"] is not None
        assert month in of_all.data["months"]
    assert "shown: m2; all 6 runs take part in what is computed" in sheet.conditions


def test_who_keeps_broken_months_and_who_leaves_them_out_is_said() -> None:
    problems = [problem(number, f"2024-{1 + number % 4:02}-05") for number in range(80)]
    runs = [
        run(f"m{place}", [(n, 5, 0 if (place, n % 4) == (0, 3) else 4 + (n + place) % 2) for n in range(80)])
        for place in range(6)
    ]
    notes = runs_sheet(audited(problems, runs)).notes
    (advice, said) = notes[:2]
    assert advice.startswith("m0: results of 2024-04 should not be used: fewer")
    keeping = said.partition("leave broken months out by themselves; ")[2]
    for name in ("live eval (every table)", "live compare", "stability", "weights", "saturation", "split"):
        assert name in keeping
    for name in ("contamination", "composition", "difficulty", "memorisation"):
        assert name in said.partition("leave broken months out")[0]


def test_how_programs_were_found_is_counted_by_rule() -> None:
    answers = AnswersOfRun(4, 0, 0, 0, 0, 3, statuses=Counter(ok=3, wrong_language=1))
    rules = {7: Counter({("ok", "whole_block"): 3, ("wrong_language", "other_language:go"): 1})}
    models = registry(model("a"))
    board = select([problem(1)], [run("a", [(1, 1, 1)], run_id=7)], models, ALL, now=NOW)
    sheet = runs_sheet(audit_runs(board, {7: answers}, rules))
    (table,) = (table for table in sheet.tables if table.title == "Answers by rule")
    assert [row[:5] for row in table.rows] == [
        ("a", "ok", "whole_block", 3, 0.75),
        ("a", "wrong_language", "other_language:go", 1, 0.25),
    ]
    assert str(table.rows[1][5]).endswith("behind the colon: go")
    assert sheet.data["answers"][0]["rules"][0] == {"status": "ok", "rule": "whole_block", "answers": 3}


def test_a_run_without_answers_is_no_imported_one() -> None:
    models = registry(model("a"))
    board = select([problem(1)], [run("a", [(1, 1, 1)], run_id=7)], models, ALL, now=NOW)
    notes = runs_sheet(audit_runs(board, {}, {}, {7: {"timed_out": 2}})).tables[1].notes
    assert any("no answers yet: 2 requests failed" in note for note in notes)
    assert not any("imported" in note for note in notes)
