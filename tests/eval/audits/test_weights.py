"""Scores under a user's workload."""

from __future__ import annotations

import csv
import io
import json

import pytest

from eval.audits.weights import WeightsAudit, audit_weights, weights_sheet
from eval.evaluation import RunOutcomes
from eval.models import Registry
from eval.settings import Settings
from eval.sheets import sheet_to_csv, sheet_to_json
from eval.workloads import Workload
from tests.eval.facts import NOW, model, problem, registry, run

PROBLEMS = [
    problem(
        number,
        f"2024-0{1 + number % 6}-15",
        difficulty="hard" if number % 3 == 0 else "easy",
        contest=f"c{number % 12}",
    )
    for number in range(60)
]
EVEN = Workload(difficulty={"easy": 1.0, "hard": 1.0})


def solver(name: str, n: int = 60) -> RunOutcomes:
    """Solves every easy problem and every second hard one."""
    return run(name, [(number, 2, 2 if number % 3 or number % 2 else 0) for number in range(n)])


def audited(runs: list[RunOutcomes], models: Registry, workload: Workload = EVEN) -> WeightsAudit:
    return audit_weights(PROBLEMS, runs, models, Settings(), workload, now=NOW)


def notes(audit: WeightsAudit) -> str:
    return "\n".join(note for one in weights_sheet(audit).tables for note in one.notes)


def test_the_weighted_score_by_hand() -> None:
    (found,) = audited([solver("m")], registry(model("m"))).runs
    assert found.n_problems == 60
    assert found.plain == pytest.approx(50 / 60)
    assert found.weighted.score == pytest.approx(0.5 * 1 + 0.5 * 0.5)
    # 40 easy problems of weight 1/80 and 20 hard ones of weight 1/40: 1 / (40 / 6400 + 20 / 1600).
    assert found.weighted.n_eff == pytest.approx(1 / (40 / 6400 + 20 / 1600))


def test_each_model_has_its_own_window() -> None:
    audit = audited([solver("old"), solver("new"), solver("nobody")], registry(model("old"), model("new", "2024-03")))
    assert [one.n_problems for one in audit.runs] == [60, 30]
    assert [one.model for one in audit.not_scored] == ["nobody"]
    sheet = weights_sheet(audit)
    assert any(line.startswith("not scored: nobody: ") for line in sheet.conditions)
    document = json.loads(sheet_to_json(sheet))
    assert document["weights"] == {"easy": 1.0, "hard": 1.0}
    assert document["rows"][1]["window_from"] == "2024-04-01T12:00:00Z"
    kinds = sheet.tables[1]
    assert [row[2] for row in kinds.rows] == [(2 / 3, 2 / 3), (1 / 3, 1 / 3)]
    assert [kinds.columns[2].text(row[2]) for row in kinds.rows] == ["67", "33"]


def test_csv_has_shares_and_not_percent_and_one_number_in_a_cell() -> None:
    sheet = weights_sheet(audited([solver("old"), solver("new", 45)], registry(model("old"), model("new", "2024-03"))))
    text = sheet_to_csv(sheet)
    easy = next(csv.DictReader(io.StringIO(text[text.rindex("table,kind,") :])))
    assert (float(easy["share_of_problems_low"]), float(easy["share_of_problems_high"])) == (2 / 3, 2 / 3)
    assert (int(easy["problems_low"]), int(easy["problems_high"])) == (14, 40)
    assert (float(easy["solved_low"]), float(easy["solved_high"])) == (1.0, 1.0)


def test_thin_kinds_are_warned_of_and_missing_ones_refused() -> None:
    audit = audited([solver("m", 20)], registry(model("m")))
    assert "m: stratum hard has a weight of 50% and 7 problems" in notes(audit)
    missing = audited([solver("m")], registry(model("m")), Workload(difficulty={"easy": 1, "extreme": 1}))
    assert missing.runs[0].weighted.score is None
    assert "m: no score under these weights: no problem with a result in stratum extreme (weight 50%)" in notes(missing)
    outside = audited([solver("m")], registry(model("m")), Workload(difficulty={"easy": 1}))
    assert "of a kind without a weight, so in plain alone: hard" in notes(outside)


def test_the_columns_say_what_they_count() -> None:
    """The plain score rests on all problems, the weighted one on those of a kind with a weight."""
    rows = [problem(n, difficulty="hard" if n >= 40 else "easy", contest=f"c{n // 4}") for n in range(60)]
    models, workload = registry(model("m")), Workload(difficulty={"easy": 1.0})
    audit = audit_weights(rows, [solver("m")], models, Settings(), workload, now=NOW)
    table = weights_sheet(audit).tables[0]
    cells = dict(zip([column.heading for column in table.columns], table.rows[0], strict=True))
    assert (cells["problems"], cells["used problems"], cells["used contests"]) == (60, 40, 10)
    assert "contests" not in cells


def test_a_mean_of_few_problems_of_a_kind_is_in_no_form() -> None:
    sheet = weights_sheet(audited([solver("m", 20)], registry(model("m"))))
    easy, hard = json.loads(sheet_to_json(sheet))["rows"][0]["weighted"]["strata"]
    assert (easy["n"], easy["mean"]) == (13, 1.0)
    assert (hard["n"], hard["mean"], hard["se"]) == (7, None, None)


def test_old_problems_are_said() -> None:
    said = notes(audited([solver("m")], registry(model("m"))))
    assert "published more than 12 months ago, so clean for this snapshot only: 60 of the problems" in said


def test_few_problems_and_none_give_no_percentage() -> None:
    audit = audited([solver("few", 9), solver("late")], registry(model("few"), model("late", "2025-06")))
    assert [(one.plain, one.weighted.score) for one in audit.runs] == [(None, None), (None, None)]
    assert "few: no weighted score: needs at least 10 problems of the kinds that have a weight, there are 9" in notes(
        audit
    )
    assert (
        "late: no weighted score: needs at least 10 problems of the kinds that have a weight, there is none in"
        in notes(audit)
    )
    assert "no score: no run has a usable cut-off" in notes(audited([], registry()))
