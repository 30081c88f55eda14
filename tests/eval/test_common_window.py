"""Models on the same problems: the common window, comparisons, ranks and estimated scores."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eval.common_window import CommonWindow, common_window
from eval.comparison import compare_runs, comparison_sheet
from eval.cutoffs import parse_cutoff
from eval.equated import EquatedRuns, equate_runs, equated_sheet
from eval.evaluation import RunOutcomes
from eval.models import Registry
from eval.ranking import rank_runs, ranking_sheet
from eval.settings import Settings
from eval.sheets import Sheet, sheet_to_csv, sheet_to_json
from eval.window import ProblemFacts, parse_since
from tests.eval.facts import NOW, matrix, model, problem, registry, run
from tests.eval.statistics.boards import table

AFTER = Settings(after_cutoff=True)
EXPLICIT = Settings(after_cutoff=False, since=parse_since("2024-01"))
MONTHS = [f"2024-{month:02}-15" for month in range(1, 13)]


def one_a_month(n: int = 12) -> list[ProblemFacts]:
    return [problem(number, MONTHS[number % 12], contest=f"c{number}") for number in range(n)]


def compared(
    problems: list[ProblemFacts], runs: list[RunOutcomes], models: Registry, settings: Settings = AFTER
) -> CommonWindow:
    return common_window(problems, runs, models, settings, now=NOW)


def all_right(name: str, n: int = 12, **changes: Any) -> RunOutcomes:
    return run(name, [(number, 1, 1) for number in range(n)], **changes)


def texts(sheet: Sheet) -> str:
    return "\n".join([*sheet.conditions, *(note for one in sheet.tables for note in one.notes), *sheet.notes])


def test_the_window_follows_the_latest_cut_off_of_those_compared() -> None:
    models = registry(model("a", "2023-10"), model("b", "2024-03"))
    common = compared(one_a_month(), [all_right("a"), all_right("b")], models)
    assert [one.problem_id for one in common.board.problems] == list(range(3, 12))
    assert common.left_out == {"published before the cut-off": 3}
    assert "window [2024-04-01T12:00:00Z, ...), after the latest cut-off: 2024-03 (b)" in common.described()


def test_a_model_without_a_cut_off_is_not_compared_unless_the_window_is_given() -> None:
    models = registry(model("a"), model("b", None))
    runs = [all_right("a"), all_right("b")]
    assert compared(one_a_month(), runs, models).board.names == ("a",)
    assert any("not compared: b: no" in line for line in compared(one_a_month(), runs, models).not_compared())
    assert compared(one_a_month(), runs, models, EXPLICIT).board.names == ("a", "b")


def test_a_comparison_rests_on_problems_that_both_have_answered() -> None:
    """Ten common problems, 6 of 10 each; six more that only b has answered are told and not counted."""
    problems = one_a_month(16)
    a = run("a", [(number, 1, int(number < 6)) for number in range(10)])
    b = run("b", [(number, 1, int(number < 6 or number in {10, 11})) for number in range(16)])
    common = compared(problems, [a, b], registry(model("a"), model("b")), EXPLICIT)
    (pair,) = compare_runs(common)
    assert (pair.found.n_common, pair.found.n_only_b, pair.found.difference) == (10, 6, 0.0)
    assert "left out since only one of them has a result there: 0 of the first, 6 of the second" in texts(
        comparison_sheet(common, (pair,))
    )


def test_few_common_problems_give_no_comparison() -> None:
    common = compared(one_a_month(9), [all_right("a", 9), all_right("b", 9)], registry(model("a"), model("b")))
    pairs = compare_runs(common)
    assert pairs[0].found.difference is None
    sheet = comparison_sheet(common, pairs)
    assert "a and b: no comparison: needs at least 10 common problems, there are 9" in texts(sheet)
    assert json.loads(sheet_to_json(sheet))["pairs"][0]["difference"] is None


def test_mcnemar_of_the_two_o1_runs_is_the_published_one() -> None:
    """o1-mini alone solves 39 problems and o1-preview alone 13: p = .0004."""
    problems = one_a_month(100)
    only_a, only_b = range(39), range(39, 52)
    a = run("a", [(number, 1, int(number in only_a or number >= 52)) for number in range(100)])
    b = run("b", [(number, 1, int(number in only_b or number >= 52)) for number in range(100)])
    common = compared(problems, [a, b], registry(model("a"), model("b")), EXPLICIT)
    sheet = comparison_sheet(common, compare_runs(common))
    assert "39 problems solved by the first alone, 13 by the second alone (McNemar's exact test: p = 0.0004)" in texts(
        sheet
    )
    assert "a solves more than b" in texts(sheet)


def test_p_values_of_several_pairs_are_adjusted() -> None:
    rng = np.random.default_rng(5)
    runs = [
        run(name, [(number, 10, int(rng.binomial(10, share))) for number in range(60)])
        for name, share in (("a", 0.5), ("b", 0.55), ("c", 0.8))
    ]
    common = compared(one_a_month(60), runs, registry(*(model(name) for name in "abc")), EXPLICIT)
    found = compare_runs(common)
    for pair in found:
        assert pair.p_holm is not None
        assert pair.found.p is not None
        assert pair.p_holm >= pair.found.p
    assert "3 pairs were tested" in texts(comparison_sheet(common, found))


def test_ranks_are_given_only_among_runs_under_the_same_settings() -> None:
    rng = np.random.default_rng(3)
    runs = [
        run(
            f"m{place}",
            [(number, 10, int(rng.binomial(10, 0.2 + 0.1 * place))) for number in range(60)],
            conditions={"temperature": 0.6 if place == 5 else 0.2, "ran_on": f"2025-01-0{place + 1}"},
        )
        for place in range(6)
    ]
    common = compared(one_a_month(60), runs, registry(*(model(f"m{place}") for place in range(6))), EXPLICIT)
    apart = rank_runs(common, np.random.default_rng(0))
    assert [(len(group.runs), group.settings) for group in apart] == [(5, "temperature 0.2"), (1, "temperature 0.6")]
    assert apart[1].ranks.refusal == "ranks need at least 5 models, there are 1"
    together = rank_runs(common, np.random.default_rng(0), across=["temperature"])
    assert [len(group.runs) for group in together] == [6]
    sheet = ranking_sheet(common, apart, 0)
    assert "say so with --across NAME" in texts(sheet)
    assert "no ranks: ranks need at least 5 models, there are 1" in texts(sheet)
    assert any("temperature: 0.2, 0.6" in line for line in sheet.conditions)


def test_a_run_that_lacks_many_problems_is_named() -> None:
    runs = [*(all_right(f"m{place}", 40) for place in range(5)), run("m5", [(number, 1, 1) for number in range(30)])]
    common = compared(one_a_month(40), runs, registry(*(model(f"m{place}") for place in range(6))), EXPLICIT)
    (group,) = rank_runs(common, np.random.default_rng(0))
    assert (group.n_problems, group.n_not_common) == (30, 10)
    assert "m5 lacks 10 problems; without this run the table may hold more" in texts(ranking_sheet(common, [group], 0))
    assert [one.n_missing for one in group.runs] == [0, 0, 0, 0, 0, 10]


@pytest.mark.shared
def test_ranks_of_the_recorded_board(shared_data: Path) -> None:
    """lcb_v1_rank_intervals.csv: problems from 2023-09 on, the first two models are placed.

    The problems that carry two dates are in nobody's common set here, so that an end may differ by a rank more than in
    ``test_ranks.py``, which has the very matrix of the table.
    """
    problems, runs = matrix(shared_data, "lcb_v1_2024-04-17")
    models = registry(*(model(one.model, "2023-03") for one in runs))
    common = compared(problems, runs, models, Settings(after_cutoff=False, since=parse_since("2023-09-01")))
    (group,) = rank_runs(common, np.random.default_rng(0))
    assert [row[4] for row in ranking_sheet(common, [group], 0).tables[0].rows[:2]] == [(1, 1), (2, 2)]
    expected = {row["model"]: row for row in table(shared_data, "lcb_v1_rank_intervals")}
    assert len(expected) == len(group.runs) == 45
    for one, found in zip(group.runs, group.ranks.sets, strict=True):
        row = expected[one.name]
        assert found is not None
        assert found.low == pytest.approx(int(row["csrank_lo"]), abs=2), one.name
        assert found.high == pytest.approx(int(row["csrank_hi"]), abs=2), one.name


def equated(shared_data: Path, since: str | None = None) -> EquatedRuns:
    """The board of 19 models with three cut-offs among them."""
    problems, runs = matrix(shared_data, "lcb_v5_2025-01-15")
    cutoffs = ["2023-08", "2024-01", "2024-06"]
    models = registry(*(model(one.model, cutoffs[place % 3]) for place, one in enumerate(runs)))
    settings = Settings(after_cutoff=True, since=parse_since(since) if since else None)
    return equate_runs(problems, runs, models, settings, np.random.default_rng(0), now=NOW)


@pytest.mark.shared
@pytest.mark.slow
def test_models_with_different_windows_share_a_table_of_estimates(shared_data: Path) -> None:
    """Against what each model solved of the whole reference set, which the recorded board knows."""
    found = equated(shared_data, "2023-10")
    assert found.found.refusal is None
    truth = found.own.board.scores[:, found.reference].mean(axis=1)
    estimates = np.array([one.estimate for one in found.found.scores], dtype=np.float64)
    own = np.array([row[clean].mean() for row, clean in zip(found.own.board.scores, found.own.clean, strict=True)])
    assert float(np.abs(estimates - truth).mean()) < 0.5 * float(np.abs(own - truth).mean())
    text = texts(equated_sheet(found, 0))
    assert "they were not measured" in text


def test_a_quarter_that_few_have_answered_has_no_mean_of_its_own() -> None:
    """Two strong models alone have answered the first quarter, and everybody else the other three. With a mean of its
    own that quarter would count as easy for all: the six others would seem to solve more than anybody has measured.
    """
    rng = np.random.default_rng(2)
    problems = one_a_month(240)
    strong, others = np.array([2.0, 1.8]), np.linspace(-1.2, 0.2, 6)
    runs = []
    for place, ability in enumerate([*strong, *others]):
        old_gain = 2.0 if place < 2 else 0.0  # what helps the strong there helps nobody else
        chances = [1 / (1 + np.exp(-(ability + old_gain * (number % 12 < 3)))) for number in range(240)]
        cells = [n for n in range(240) if place < 2 or n % 12 >= 3]
        runs.append(run(f"m{place}", [(n, 10, int(rng.binomial(10, chances[n]))) for n in cells]))
    models = registry(*(model(f"m{place}", "2023-06") for place in range(8)))
    found = equate_runs(problems, runs, models, AFTER, np.random.default_rng(0), now=NOW)
    assert found.n_thin == 60
    estimates = [one.estimate for one in found.found.scores[2:]]
    own = [found.own.own(place)[0] for place in range(2, 8)]
    assert estimates == pytest.approx(own, abs=0.06)
    assert any("60 of its problems" in note for note in equated_sheet(found, 0).tables[0].notes)


def test_too_few_models_cannot_be_equated() -> None:
    models = registry(model("a"), model("b", "2024-03"))
    found = equate_runs(
        one_a_month(), [all_right("a"), all_right("b")], models, AFTER, np.random.default_rng(0), now=NOW
    )
    assert found.found.refusal is not None
    sheet = equated_sheet(found, 0)
    assert any(note.startswith("no estimate: ") for note in sheet.tables[0].notes)
    np.testing.assert_array_equal(found.own.clean.sum(axis=1), [12, 9])


def test_several_runs_of_one_model_are_one_model() -> None:
    """Five settings of one model are no five models: nobody is ranked, and nothing is equated."""
    rng = np.random.default_rng(3)
    runs = [
        run("a", [(number, 10, int(rng.binomial(10, 0.3 + place / 10))) for number in range(60)], label=label)
        for place, label in enumerate("vwxyz")
    ]
    common = compared(one_a_month(60), runs, registry(model("a")), EXPLICIT)
    assert common.board.names == ("a (v)", "a (w)", "a (x)", "a (y)", "a (z)")
    (group,) = rank_runs(common, np.random.default_rng(0))
    assert group.ranks.refusal == "ranks need at least 5 models, there are 1"
    found = equate_runs(one_a_month(60), runs, registry(model("a")), AFTER, np.random.default_rng(0), now=NOW)
    assert found.refusal == "equating needs at least 5 models, there are 1"
    assert all(row[4] is None for row in equated_sheet(found, 0).tables[0].rows)


def test_a_run_without_results_here_narrows_nobodys_window() -> None:
    models = registry(*(model(f"m{place}") for place in range(5)), model("newcomer", "2024-10"))
    runs = [*(all_right(f"m{place}") for place in range(5)), run("newcomer", [(1, 1, 1)])]
    common = compared(one_a_month(), runs, models)
    assert "newcomer" not in common.board.names
    assert len(common.board.problems) == 12
    assert "not compared: newcomer: no result in the window" in common.not_compared()


def test_a_cut_off_that_empties_the_window_is_named_with_what_is_left_without_it() -> None:
    models = registry(*(model(f"m{place}") for place in range(3)), model("newest", "2025-04"))
    runs = [*(all_right(f"m{place}") for place in range(3)), all_right("newest")]
    common = compared(one_a_month(), runs, models)
    assert len(common.board.problems) == 0
    said = texts(ranking_sheet(common, rank_runs(common, np.random.default_rng(0)), 0))
    assert (
        "without newest the other 3 runs have results on 12 problems of the window from 2023-11-01T12:00:00Z on" in said
    )
    two = compared(one_a_month(), runs[2:], models)
    assert two.suggestion is None  # one run alone compares with nobody


def test_a_run_alone_is_not_told_to_leave_itself_out() -> None:
    runs = [all_right("a", 40), run("b", [(n, 1, 1) for n in range(20)], imported=True, origin="board")]
    common = compared(one_a_month(40), runs, registry(model("a"), model("b")), EXPLICIT)
    sheet = ranking_sheet(common, rank_runs(common, np.random.default_rng(0)), 0)
    assert "without this run" not in texts(sheet)
    assert [one.title.split(" on ")[0] for one in sheet.tables] == ["1 run", "1 run"]


def test_ranks_are_two_numbers_in_csv() -> None:
    rng = np.random.default_rng(3)
    runs = [run(f"m{k}", [(n, 10, int(rng.binomial(10, 0.2 + 0.1 * k))) for n in range(60)]) for k in range(6)]
    common = compared(one_a_month(60), runs, registry(*(model(f"m{k}") for k in range(6))), EXPLICIT)
    groups = rank_runs(common, np.random.default_rng(0))
    sheet = ranking_sheet(common, groups, 0)
    rows = list(csv.DictReader(io.StringIO(sheet_to_csv(sheet))))
    assert [row["table"] for row in rows] == ["same problems"] * 6
    assert rows[0]["notes"].startswith("6 runs on 60 problems of ")
    for row, cells in zip(rows, sheet.tables[0].rows, strict=True):
        assert f"({row['rank_low']}, {row['rank_high']})" == str(cells[4])
        assert row["cutoff"] == "2023-10"


def test_runs_that_share_little_are_told_who_to_leave_out() -> None:
    runs = [*(all_right(f"m{place}", 60) for place in range(5)), run("m5", [(number, 1, 1) for number in range(5)])]
    common = compared(one_a_month(60), runs, registry(*(model(f"m{place}") for place in range(6))), EXPLICIT)
    (group,) = rank_runs(common, np.random.default_rng(0))
    assert group.suggestion == "without m5 the other 5 share 60 problems"
    assert group.suggestion in texts(ranking_sheet(common, [group], 0))


def test_cautions_of_a_comparison_are_those_of_its_pair() -> None:
    """a and b share 110 problems, c has answered 5 of them: what is said of a and b is not what is said of c."""
    problems = one_a_month(110)
    runs = [run(name, [(number, 2, number % 2) for number in range(110)]) for name in ("a", "b")]
    runs.append(run("c", [(number, 2, 1) for number in range(5)]))
    common = compared(problems, runs, registry(*map(model, "abc")), EXPLICIT)
    said = texts(comparison_sheet(common, compare_runs(common)))
    assert "a and c, b and c: fewer than 100 problems (5)" in said
    assert "a and b: fewer" not in said


def test_what_a_group_draws_does_not_depend_on_other_groups() -> None:
    rng = np.random.default_rng(8)
    shares = rng.uniform(0.3, 0.6, 6)
    runs = [
        run(f"m{place}", [(number, 10, int(rng.binomial(10, share))) for number in range(40)], conditions={"p": "v1"})
        for place, share in enumerate(shares)
    ]
    others = [RunOutcomes(f"n{one.model}", one.outcomes, conditions={"p": "a"}) for one in runs]
    models = registry(*(model(one.model) for one in [*runs, *others]))
    alone = rank_runs(compared(one_a_month(40), runs, models, EXPLICIT), np.random.default_rng(1))
    both = rank_runs(compared(one_a_month(40), [*others, *runs], models, EXPLICIT), np.random.default_rng(1))
    assert alone[0].ranks.sets in [group.ranks.sets for group in both]


def test_a_mean_of_fewer_than_ten_problems_has_no_interval_and_says_why() -> None:
    problems = one_a_month(8)
    common = compared(problems, [run("a", [(number, 4, 3) for number in range(8)])], registry(model("a")), EXPLICIT)
    document = json.loads(sheet_to_json(ranking_sheet(common, rank_runs(common, np.random.default_rng(0)), 0)))
    (row,) = document["groups"][0]["rows"]
    assert (row["score"], row["low"], row["high"]) == (0.75, None, None)
    assert row["reason"] == "fewer than 10 problems (8): read it as a list, not as a rate"


def test_a_refused_estimate_is_in_no_form() -> None:
    equated = equate_runs(
        one_a_month(60), [all_right("a", 60)], registry(model("a")), AFTER, np.random.default_rng(0), now=NOW
    )
    document = json.loads(sheet_to_json(equated_sheet(equated, 0)))
    assert document["n_reference"] == 60  # what the digest is of
    assert equated_sheet(equated, 0).conditions[0].startswith("reference set: 60 problems")
    assert document["refusal"] == "equating needs at least 5 models, there are 1"
    (row,) = document["rows"]
    assert [row[name] for name in ("estimate", "low", "high")] == [None] * 3


def test_a_weak_cut_off_is_told_under_every_table() -> None:
    models = registry(model("a", None, release=parse_cutoff("2024-02-03")), model("b", "2024"), model("c", "2024-01"))
    problems = [problem(number, f"2025-06-{number + 1:02}", contest=f"c{number}") for number in range(12)]
    settings = Settings(after_cutoff=True, until=parse_since("2025-06-20"), since=parse_since("2025-06-01"))
    common = compared(problems, [all_right("a"), all_right("b"), all_right("c")], models, settings)
    said = "\n".join(common.cautions())
    assert "a: cut-off unknown: release date used (2024-02-03)" in said
    assert 'b: cut-off known only as "2024": its last day counts' in said
    assert 'b: the window of 19 days is shorter than what the cut-off "2024" leaves open' in said
    assert 'c: the window of 19 days is shorter than what the cut-off "2024-01" leaves open' in said
    assert (
        texts(ranking_sheet(common, rank_runs(common, np.random.default_rng(0)), 0)).count("its last day counts") == 1
    )
