"""Problems whose tests are the samples alone: in no score, rank, board or comparison, counted, and reported apart."""

from __future__ import annotations

import csv
import gzip
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from db.records import MadeStrength, TestOrigin
from eval.audits.selection import select
from eval.board import build_board
from eval.common_window import CommonWindow, common_window
from eval.comparison import compare_runs, comparison_sheet
from eval.equated import equate_runs, equated_sheet
from eval.evaluation import Outcome, Repairs, RunOutcomes, evaluate, outcome_reason
from eval.ranking import rank_runs, ranking_sheet
from eval.render import print_table, to_csv, to_json, to_markdown
from eval.report import Report, Row, SamplesApart
from eval.settings import Settings
from eval.sheets import Sheet
from eval.window import ProblemFacts, Reason
from tests.eval.facts import NOW, model, problem, registry, run, utc

N, N_ALONE = 30, 12
"""So many problems with official tests, and after them so many with samples alone."""
EXPLICIT = Settings(after_cutoff=False, since=utc("2024-01-01"))


def mixed() -> list[ProblemFacts]:
    alone = [problem(number, samples_only=True) for number in range(N, N + N_ALONE)]
    return [*(problem(number, hidden_origins=(TestOrigin.OFFICIAL,)) for number in range(N)), *alone]


def gamer(name: str, **changes: Any) -> RunOutcomes:
    """Solves a third where tests are hidden, and all of the samples, twice each."""
    results = [(n, 2, 2 * (n % 3 == 0)) for n in range(N)]
    return run(name, [*results, *((n, 2, 2) for n in range(N, N + N_ALONE))], **changes)


def honest(name: str, **changes: Any) -> RunOutcomes:
    """Solves nine in ten where tests are hidden, and a third of the samples."""
    results = [(n, 2, 2 * (n % 10 != 0)) for n in range(N)]
    return run(name, [*results, *((n, 2, 2 * (n % 3 == 0)) for n in range(N, N + N_ALONE))], **changes)


def report_of(problems: list[ProblemFacts], *runs: RunOutcomes, settings: Settings | None = None) -> Report:
    known = registry(*(model(name) for name in sorted({one.model for one in runs})))
    return evaluate(problems, runs, known, settings or Settings(), now=NOW)


def row_of(problems: list[ProblemFacts], one: RunOutcomes, settings: Settings | None = None) -> Row:
    (row,) = report_of(problems, one, settings=settings).rows
    return row


def compared(problems: list[ProblemFacts], *runs: RunOutcomes) -> CommonWindow:
    known = registry(*(model(name) for name in sorted({one.model for one in runs})))
    return common_window(problems, runs, known, EXPLICIT, now=NOW)


def lines_of(sheet: Sheet) -> str:
    return "\n".join([*sheet.conditions, *(note for one in sheet.tables for note in one.notes), *sheet.notes])


def printed(report: Report) -> str:
    out = io.StringIO()
    print_table(report, Console(file=out, width=200))
    return out.getvalue()


def test_they_change_no_number_of_a_row_and_are_counted() -> None:
    row, without = row_of(mixed(), gamer("m"), Settings(ks=(2,))), row_of(mixed()[:N], gamer("m"), Settings(ks=(2,)))
    assert [one.value for one in row.scores] == [pytest.approx(1 / 3)] * 2
    assert (row.scores, row.by_platform, row.by_difficulty) == (
        without.scores,
        without.by_platform,
        without.by_difficulty,
    )
    assert row.problem_set_digest == without.problem_set_digest
    assert (row.n_universe, row.n_eligible, row.n_with_tests, row.n_judged, row.n_samples) == (42, 42, 30, 30, 60)
    assert row.left_out == {Reason.SAMPLES_ONLY: N_ALONE}
    assert row.samples_only == SamplesApart(12, 24, 24)
    assert (without.samples_only, without.left_out) == (None, {})
    assert row.warnings == without.warnings
    assert not [line for line in row.warnings if "eligible problems judged" in line]


def test_missing_answers_are_told_by_the_problems_that_count() -> None:
    few = replace(gamer("m"), outcomes=gamer("m").outcomes[10:])
    assert "only 20 of 30 eligible problems judged" in row_of(mixed(), few).warnings
    unanswered = replace(gamer("m"), outcomes=gamer("m").outcomes[:N])
    row = row_of(mixed(), unanswered)
    assert (row.left_out, row.samples_only) == ({Reason.SAMPLES_ONLY: N_ALONE}, None)


def test_a_judged_report_says_what_became_of_them_in_every_form() -> None:
    report = report_of(mixed(), gamer("m"))
    said = "on sample tests alone, not in the score: 12 problems, 100.0 % of 24 samples pass"
    hint = "Problems with sample tests only are in no score: live tests build makes tests beyond the samples."
    tests = "tests beyond the samples of 30 problems: 30 official"
    for text in (printed(report), to_markdown(report)):
        for line in (said, hint, tests, "12 sample tests only"):
            assert text.count(line) == 1, line
    (row,) = json.loads(to_json(report))["rows"]
    counted = {"n_samples_only": 12, "samples_only_n_samples": 24, "samples_only_n_correct": 24}
    assert counted.items() <= row.items()
    assert (row["left_out"], row["tests"]["n_official"]) == ({"sample tests only": 12}, 30)
    (cells,) = csv.DictReader(io.StringIO(to_csv(report)))
    assert {name: int(cells[name]) for name in counted} == counted
    assert json.loads(cells["tests"])["n_problems"] == 30
    assert "sample tests only" not in to_markdown(report_of(mixed()[:N], gamer("m")))


def test_samples_alone_give_no_score_and_never_a_zero() -> None:
    report = report_of(mixed()[N:], honest("m"), settings=Settings(ks=(2,)))
    (row,) = report.rows
    assert (report.has_scores, row.n_eligible, row.n_judged) == (False, 12, 0)
    assert [(one.value, one.reason) for one in row.scores] == [
        (None, "no score, since all eligible problems have sample tests only")
    ] * 2
    assert row.warnings == ("live tests build makes tests beyond the samples",)
    (document,) = json.loads(to_json(report))["rows"]
    assert (document["pass_at_1"], document["reason"]) == (None, row.pass_at_1.reason)
    assert "no score, since all eligible problems have sample tests only" in printed(report)
    some = row_of([*mixed()[N:], problem(99)], honest("m"))
    assert some.pass_at_1.reason == "no score, since no problem with tests beyond the samples was judged"
    assert row_of([problem(99)], honest("m")).pass_at_1.reason == "no problem was judged"


def test_flags_that_are_to_be_ignored_do_not_bring_them_in() -> None:
    flagged = [replace(one, flags=(("weak_tests", "samples again"),)) for one in mixed()[N:]]
    assert row_of(flagged, gamer("m")).left_out == {Reason.WEAK_TESTS: 12}
    row = row_of(flagged, gamer("m"), replace(Settings(), include_flagged=True))
    assert (row.pass_at_1.value, row.left_out) == (None, {Reason.SAMPLES_ONLY: 12})


def test_imported_results_and_answers_to_questions_rest_on_no_tests_here() -> None:
    board = row_of(mixed(), gamer("m", imported=True, origin="a board"))
    assert (board.n_judged, board.left_out, board.samples_only, board.tests) == (42, {}, None, None)
    assert board.n_with_tests == 42
    assert board.pass_at_1.value == pytest.approx(22 / 42)
    assert "tests: not run here" in printed(report_of(mixed(), gamer("m", imported=True, origin="a board")))
    asked = row_of(mixed(), gamer("m", by_tests=False))
    assert (asked.n_judged, asked.left_out, asked.samples_only, asked.tests) == (42, {}, None, None)
    assert outcome_reason(mixed()[N], None, imported=False) is Reason.SAMPLES_ONLY
    assert outcome_reason(mixed()[N], None, imported=False, by_tests=False) is Reason.NO_COMPLETION
    assert outcome_reason(mixed()[N], None, imported=True) is Reason.NO_RESULT


def test_a_repair_is_measured_without_them() -> None:
    """Whether too many repairs are missing is asked of the problems that count alone."""
    repaired = [Outcome(n, 1, 1, repairs=Repairs(0, 1)) for n in range(N)]
    waiting = [Outcome(n, 0, 0, n_waiting=1, repairs=Repairs(0, 1)) for n in range(N, N + N_ALONE)]
    passed = Outcome(0, 1, 1, repairs=Repairs(1, 0))
    row = row_of(mixed(), RunOutcomes("m", (passed, *repaired[1:], *waiting)))
    assert (row.n_judged, row.left_out) == (N, {Reason.SAMPLES_ONLY: N_ALONE})


def test_boards_and_audits_hold_no_such_result() -> None:
    both = [gamer("m"), honest("published", imported=True)]
    assert [one.problem_id for one in build_board(mixed(), both[:1]).problems] == list(range(N))
    board = build_board(mixed(), both)
    assert board.seen.sum(axis=1).tolist() == [N, N + N_ALONE]
    looked_at = select(mixed(), both[:1], registry(model("m")), EXPLICIT, now=NOW)
    assert (len(looked_at.board.problems), looked_at.left_out) == (N, {"sample tests only": N_ALONE})
    beside = select(mixed(), both, registry(model("m"), model("published")), EXPLICIT, now=NOW)
    assert (len(beside.board.problems), beside.left_out) == (N + N_ALONE, {})


def test_ranks_and_comparisons_rest_on_hidden_tests_and_say_what_was_left() -> None:
    """On the samples alone the gamer of each pair would win."""
    runs = [gamer(f"g{place}") for place in range(3)] + [honest(f"h{place}") for place in range(3)]
    common = compared(mixed(), *runs)
    (group,) = rank_runs(common, np.random.default_rng(0))
    assert (group.n_problems, group.n_not_common, group.ranks.refusal) == (N, 0, None)
    worst = {one.name: found and found.high for one, found in zip(group.runs, group.ranks.sets, strict=True)}
    assert worst == {"g0": 6, "g1": 6, "g2": 6, "h0": 3, "h1": 3, "h2": 3}
    assert all(one.n_missing == 0 for one in group.runs)
    pair = compare_runs(compared(mixed(), gamer("g"), honest("h")))[0]
    assert (pair.found.n_common, pair.found.n_only_a) == (N, 0)
    assert pair.found.difference == pytest.approx((10 - 27) / 30)
    for sheet in (ranking_sheet(common, (group,), 0), comparison_sheet(common, compare_runs(common))):
        said = lines_of(sheet)
        assert "on sample tests alone, in no score, rank or comparison: 12 problems; live tests build" in said
        assert "left out: 12 sample tests only" in said
        assert "tests beyond the samples of 30 problems: 30 official" in said
        assert "eligible problems have a result" not in said
        assert (sheet.data["n_samples_only"], sheet.data["tests"]["n_official"]) == (N_ALONE, N)
        assert [one["samples_only_n_correct"] for one in sheet.data["runs"]] == [24, 24, 24, 8, 8, 8]


def test_a_group_says_what_its_own_tests_are() -> None:
    """Under the others' settings only half of the problems were answered, and those have made tests."""
    made = [replace(one, hidden_origins=(TestOrigin.GENERATED,)) for one in mixed()[: N // 2]]
    half = replace(honest("h", conditions={"temperature": 1}), outcomes=honest("h").outcomes[: N // 2])
    common = compared([*made, *mixed()[N // 2 :]], gamer("g"), half)
    groups = rank_runs(common, np.random.default_rng(0))
    assert [one.tests and (one.tests.n_official, one.tests.n_made) for one in groups] == [(15, 15), (0, 15)]
    whole, part = ranking_sheet(common, groups, 0).tables
    assert "tests beyond the samples of 15 problems: 15 made; strength not recorded of 15 made ones" in part.notes
    assert not [note for note in whole.notes if "tests beyond" in note]  # it stands above all tables
    assert [one["tests"]["n_made"] for one in ranking_sheet(common, groups, 0).data["groups"]] == [15, 15]


def test_results_on_samples_alone_are_no_common_ground() -> None:
    only = replace(gamer("only"), outcomes=gamer("only").outcomes[N:])
    common = compared(mixed(), gamer("g"), honest("h"), only)
    assert common.board.names == ("g", "h")
    assert [(one.model, one.reason) for one in common.not_scored] == [
        (
            "only",
            "it has results in the window on sample tests only, which count in no comparison: "
            "live tests build makes tests beyond the samples",
        )
    ]
    none = compared(mixed()[N:], gamer("g"), honest("h"))
    assert (len(none.board.problems), none.n_samples_only, none.left_out) == (0, 12, {"sample tests only": 12})
    assert compare_runs(none)[0].found.difference is None
    assert rank_runs(none, np.random.default_rng(0))[0].few is not None


def test_imported_results_beside_judged_ones_keep_their_problems() -> None:
    published = [honest(f"p{place}", imported=True, origin="a board") for place in range(2)]
    common = compared(mixed(), gamer("g"), honest("h"), *published)
    assert (len(common.board.problems), common.left_out) == (N + N_ALONE, {})
    judged, imported = sorted(
        rank_runs(common, np.random.default_rng(0)), key=lambda group: group.settings, reverse=True
    )
    assert (judged.n_problems, judged.n_not_common, [one.n_missing for one in judged.runs]) == (N, 0, [0, 0])
    assert (judged.tests, imported.tests) == (common.tests, None)
    assert (imported.n_problems, imported.n_not_common) == (N + N_ALONE, 0)
    assert common.tests is not None
    assert common.tests.n_problems == N
    alone = compared(mixed(), *published)
    assert "tests: not run here" in alone.described()


def test_estimates_rest_on_hidden_tests() -> None:
    """The reference set lacks what no program can be scored on, and says so apart from what nobody answered."""
    rng = np.random.default_rng(5)
    problems = [problem(n, f"2024-{1 + n % 12:02}-10", hidden_origins=(TestOrigin.OFFICIAL,)) for n in range(90)]
    alone = [problem(n, "2024-05-10", samples_only=True) for n in range(90, 100)]
    runs = [
        run(f"m{place}", [(n, 10, int(rng.binomial(10, 0.3 + 0.08 * place))) for n in range(100)]) for place in range(6)
    ]
    known = registry(*(model(one.model) for one in runs))
    found = equate_runs([*problems, *alone], runs, known, Settings(), np.random.default_rng(0), now=NOW)
    without = equate_runs(problems, runs, known, Settings(), np.random.default_rng(0), now=NOW)
    assert found.found.scores == without.found.scores
    assert (found.n_samples_only, found.n_unanswered, without.n_samples_only) == (10, 0, 0)
    said = lines_of(equated_sheet(found, 0))
    assert "10 have sample tests only and are not in it: live tests build" in said
    assert "tests beyond the samples of 90 problems: 90 official" in said
    assert equated_sheet(found, 0).data["tests"]["n_official"] == 90


def test_a_row_says_how_strong_made_tests_are() -> None:
    strength = MadeStrength(n_wrong=4, n_wrong_killed=3, n_right=2)
    problems = [problem(n, hidden_origins=(TestOrigin.GENERATED,), strength=strength) for n in range(3)]
    row = row_of(problems, run("m", [(0, 1, 1), (1, 1, 0)]))
    assert row.tests is not None
    assert (row.tests.n_made, row.tests.strength) == (2, MadeStrength(n_wrong=8, n_wrong_killed=6, n_right=4))


@pytest.fixture(scope="module")
def gamed(shared_data: Path) -> tuple[RunOutcomes, RunOutcomes]:
    """The programs that hard-code the samples of 467 problems, and the honest ones by the same model, as two runs."""
    with gzip.open(shared_data / "gamed" / "joined.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    assert len(rows) == 467
    cheat, fair = (
        run(name, [(n, 1, int(row[f"{kind}_passes_sample"])) for n, row in enumerate(rows)])
        for name, kind in (("cheat", "hack"), ("fair", "honest"))
    )
    return cheat, fair


@pytest.mark.shared
def test_hard_coded_samples_win_nothing(gamed: tuple[RunOutcomes, RunOutcomes]) -> None:
    """By their samples the cheat is ahead, 397 to 140: so it would be ranked if samples were tests as others are."""
    shown = [problem(n) for n in range(467)]
    taken = {row.model: row.pass_at_1.value for row in report_of(shown, *gamed).rows}
    assert taken == {"cheat": pytest.approx(397 / 467), "fair": pytest.approx(140 / 467)}
    (pair,) = compare_runs(compared(shown, *gamed))
    assert pair.found.p is not None
    assert pair.found.p < 1e-9
    problems = [replace(one, samples_only=True) for one in shown]
    report = report_of(problems, *gamed)
    assert not report.has_scores
    for row, n_correct in zip(report.rows, (397, 140), strict=True):
        assert (row.pass_at_1.value, row.left_out) == (None, {Reason.SAMPLES_ONLY: 467})
        assert row.samples_only == SamplesApart(467, 467, n_correct)
    common = compared(problems, *gamed)
    (withheld,) = compare_runs(common)
    assert (withheld.found.difference, withheld.found.p, len(common.board.problems)) == (None, None, 0)
    (group,) = rank_runs(common, np.random.default_rng(0))
    assert group.ranks.refusal is not None
    assert [one.score for one in group.runs] == [None, None]
