"""Months that `live audit runs` calls broken are named wherever results of them are used, or are left out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from eval.audits.broken_months import BrokenRuns, broken_months, broken_runs, left_out, still_in, together
from eval.audits.memorisation import audit_memorisation, memorisation_sheet, plain_gaps
from eval.audits.saturation import audit_saturation, saturation_sheet
from eval.audits.selection import select
from eval.audits.split import KeyedSplit, audit_split, split_sheet
from eval.audits.stability import Changes, audit_stability
from eval.audits.stability_sheet import stability_sheet
from eval.audits.weights import audit_weights, weights_sheet
from eval.board import EPOCH, build_board
from eval.evaluation import RunOutcomes
from eval.measures import read_measures
from eval.problem_sets import read_problem_set
from eval.settings import Settings
from eval.sheets import Sheet, sheet_to_json
from eval.workloads import Workload
from tests.eval.facts import NOW, matrix, model, problem, registry, run

MONTHS = [f"2024-{month:02}-15" for month in range(1, 11)]
PROBLEMS = [
    problem(
        number,
        MONTHS[number % 10],
        contest=f"c{number % 10} {number // 40}",
        difficulty=("easy", "hard")[number // 160],
    )
    for number in range(240)
]
NAMES = [f"m{place}" for place in range(7)]
LOST = 7  # the month of August, of m0


def solver(name: str) -> RunOutcomes:
    """Solves 9 of 10 samples of easy problems and 4 of hard ones; m0 none of its samples of August."""
    place = NAMES.index(name)
    results = []
    for number in range(240):
        right = (9 if number < 160 else 4) - (number + place) % 2
        results.append((number, 10, 0 if name == "m0" and number % 10 == LOST else right))
    return run(name, results)


RUNS = [solver(name) for name in NAMES]
MODELS = registry(*(model(name) for name in NAMES))
SAID = "m0: results of 2024-08 look broken (live audit runs) and are in these numbers"
ALL = Settings(after_cutoff=False, since=EPOCH)


def health() -> BrokenRuns:
    return broken_runs(build_board(PROBLEMS, RUNS))


def test_by_name_and_only_where_results_are_used() -> None:
    board = build_board(PROBLEMS, RUNS)
    assert broken_months(board) == {"m0": ["2024-08"]}
    found = health()
    assert found.cells(board).sum() == 24
    # Two runs cannot be judged by themselves; what all of them told holds for them, too, under another name.
    two = build_board(PROBLEMS, [replace(RUNS[0], model="renamed"), RUNS[1]])
    assert broken_months(two) == {}
    assert found.within(two) == {"renamed": ["2024-08"]}
    early = build_board([one for one in PROBLEMS if one.problem_id % 10 < LOST], RUNS)
    assert found.within(early) == {}
    assert found.within(board, board.seen & (board.days < 0)) == {}
    assert broken_months(build_board([], [])) == {}


def test_sentences() -> None:
    both = together({"a": ["2025-01"], "b": ["2025-02"]}, {"a": ["2024-12", "2025-01"]})
    assert both == {"a": ["2024-12", "2025-01"], "b": ["2025-02"]}
    assert still_in(both)[0] == (
        "a: results of 2024-12, 2025-01 look broken (live audit runs) and are in these numbers"
    )
    assert left_out({"b": ["2025-02"]}) == ("left out: b: results of 2025-02, which look broken (live audit runs)",)


def sheets_of_all() -> dict[str, Sheet]:
    workload = Workload(difficulty={"easy": 1.0, "hard": 1.0})
    sets = read_problem_set("until=2024-05"), read_problem_set("since=2024-06")
    settings = Settings()
    selection = select(PROBLEMS, RUNS, MODELS, ALL, now=NOW)
    return {
        "weights": weights_sheet(
            audit_weights(PROBLEMS, RUNS[:2], MODELS, settings, workload, now=NOW, broken=health())
        ),
        "stability": stability_sheet(
            audit_stability(PROBLEMS, RUNS, MODELS, settings, Changes(), 0, now=NOW, broken=health())
        ),
        "saturation": saturation_sheet(audit_saturation(PROBLEMS, RUNS, MODELS, *sets, now=NOW, broken=health())),
        "split": split_sheet(audit_split(selection, KeyedSplit(b"0123456789abcdef", 0.3))),
    }


def test_every_audit_that_uses_them_says_so() -> None:
    for name, sheet in sheets_of_all().items():
        assert SAID in sheet.conditions, name
        assert json.loads(sheet_to_json(sheet))["broken_months"] == {"m0": ["2024-08"]}, name


def test_nothing_is_said_where_none_is_used() -> None:
    before = Settings(until=PROBLEMS[LOST].exposed_at)
    workload = Workload(difficulty={"easy": 1.0})
    audit = audit_weights(PROBLEMS, RUNS, MODELS, before, workload, now=NOW, broken=health())
    assert SAID not in weights_sheet(audit).conditions


def test_gaps_at_the_cut_off_leave_them_out() -> None:
    models = registry(*(model(name, "2024-05") for name in NAMES))
    selection = select(PROBLEMS, RUNS, models, ALL, now=NOW)
    (first, *_) = plain_gaps(selection, models, broken_runs(selection.board))
    assert first.gap == pytest.approx(0.0, abs=0.02)  # August alone would make it 0.16
    assert first.n_after == 24 * 4  # June, July, September and October
    measures = read_measures("model,measure\nm0,1\n", "f")
    sheet = memorisation_sheet(audit_memorisation(measures, selection, models, 0))
    assert "left out: m0: results of 2024-08, which look broken (live audit runs)" in sheet.conditions


@pytest.mark.shared
def test_the_recorded_board(shared_data: Path) -> None:
    """lcb_easy_item_guard.csv: DeepSeek-V3 in January and March 2025, and no other."""
    problems, runs = matrix(shared_data, "lcb_v6_2025-04-22")
    assert broken_months(build_board(problems, runs)) == {"DeepSeek-V3": ["2025-01", "2025-03"]}
