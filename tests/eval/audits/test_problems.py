"""Signs that problems are broken: which are strong, what each says, and the command that goes with it."""

from __future__ import annotations

import csv
import io
import shlex
from dataclasses import replace
from typing import Any

from db.judged_tests import CaseResult, SuiteTest
from eval.audits.problem_evidence import (
    COMPARISON,
    Evidence,
    Groups,
    Likeness,
    Solution,
    independent_groups,
    outputs_of,
)
from eval.audits.problems import Finding, ProblemAudit, Signal, audit_problems
from eval.audits.problems_sheet import problems_sheet
from eval.audits.selection import select
from eval.evaluation import RunOutcomes
from eval.models import ModelEntry, Registry
from eval.settings import Settings
from eval.sheets import sheet_to_csv, sheet_to_json
from eval.window import ProblemFacts
from tests.eval.facts import NOW, model, problem, registry, run, utc

ANY_TIME = Settings(after_cutoff=False, since=utc("1970-01-01"), include_flagged=True)
SUITE = [SuiteTest("hidden", False), SuiteTest("sample", True)]
N = 60


def audited(
    problems: list[ProblemFacts], runs: list[RunOutcomes], evidence: Evidence, known: Registry | None = None
) -> ProblemAudit:
    known = known or registry()
    selection = select(problems, runs, known, ANY_TIME, now=NOW)
    return audit_problems(selection, problems, evidence, independent_groups(selection, known))


def of(audit: ProblemAudit, signal: Signal) -> list[Finding]:
    return [finding for finding in audit.findings if finding.signal is signal]


def runs_that_solve(*shares: float, fail: int = 0) -> list[RunOutcomes]:
    """Runs on ``N`` problems: each solves this share of them, and none solves problem ``fail``."""
    return [
        run(f"m{n}", [(p, 1, int(p != fail and p % 20 < 20 * share)) for p in range(N)], run_id=n)
        for n, share in enumerate(shares)
    ]


def test_what_the_wording_says_counts_unless_a_checker_takes_it() -> None:
    flagged = problem(2, flags=(("interactive", "by hand"),))
    problems = [problem(0), problem(1, has_checker=True), flagged, problem(3), problem(4)]
    said = [("multiple_answers", 'Print "any" of them.'), ("needs_image", "![](x)")]
    wordings = {0: said, 1: said, 2: [("interactive", "Flush.")], 3: [(COMPARISON, "absolute_tolerance 1e-06")], 4: []}
    audit = audited(problems, [], Evidence(wordings=wordings))
    several, interactive, comparison = audit.findings
    assert [finding.weak for finding in audit.findings] == [False] * 3
    assert (several.problem, several.signal) == ("atcoder:p0", Signal.SEVERAL_ANSWERS)
    assert several.command is not None
    assert shlex.split(several.command) == [
        *("live", "problems", "flag", "atcoder:p0", "multiple_answers", "--reason"),
        'the statement says: Print "any" of them.',
    ]
    assert (interactive.command, interactive.flags) == (None, ("interactive",))
    assert "absolute_tolerance 1e-06" in comparison.sentence
    assert audit.n_statements == 5


def test_what_strong_models_fail_together_is_strong_only_where_chance_does_not_explain_it() -> None:
    problems = [problem(number) for number in range(N)]
    audit = audited(problems, runs_that_solve(1.0, 1.0, 0.95, 0.95, 0.9, 0.1), Evidence())
    (found,) = of(audit, Signal.UNSOLVED)
    assert (found.problem, found.weak) == ("atcoder:p0", False)
    assert found.evidence["chance"] < 1e-6
    assert found.evidence["problems_looked_at"] == N
    table = problems_sheet(audit).tables[0]
    assert [column.heading for column in table.shown()] == ["problem", "signal", "evidence"]  # none is flagged already
    row = next(csv.DictReader(io.StringIO(sheet_to_csv(problems_sheet(audit)))))
    assert (row["models"], row["models_solving"], row["problems_looked_at"]) == ("6", "0", str(N))
    assert float(row["chance"]) == found.evidence["chance"]
    assert str(table.rows[0][2]).startswith(f"0 of {int(found.evidence['strong_models'])} strongest, 0 of 6; chance ")
    assert sum(line.startswith("no strong model solves it: labelled easy or medium") for line in table.notes) == 1
    assert found.sentence.startswith("labelled easy or medium")  # the whole, for programs
    weak_models = audited(problems, runs_that_solve(0.3, 0.3, 0.3, 0.3, 0.3), Evidence())
    assert all(finding.weak for finding in of(weak_models, Signal.UNSOLVED))
    assert "not looked at: what strong models fail; that needs 5 models with 30 results each, there are 2" in (
        audited(problems, runs_that_solve(1.0, 0.9), Evidence()).unseen
    )


def solutions(*answers: tuple[int, dict[str, str]]) -> list[Solution]:
    """Programs by run id with the detail of each test that they were run on ("" for a pass)."""
    return [
        Solution(
            number, [CaseResult(name, "wrong_answer" if said else "accepted", said) for name, said in facts.items()]
        )
        for number, facts in answers
    ]


def disputed(answers: dict[str, str], *, right: dict[str, str] | None = None) -> ProblemAudit:
    """Six runs that pass everything but a problem on which all but the last give these answers."""
    passes = {"sample": "", "hidden": ""}
    problems = [problem(number) for number in range(N)]
    given: dict[int, list[Solution]] = {
        number: solutions(*((run_id, passes) for run_id in range(6))) for number in range(1, N)
    }
    given[0] = solutions(*((run_id, answers) for run_id in range(5)), (5, right or answers))
    evidence = Evidence(suites=dict.fromkeys(range(N), SUITE), solutions=given)
    return audited(problems, runs_that_solve(*[1.0] * 6), evidence)


def test_agreement_on_a_hidden_test_is_strong_and_on_a_sample_it_is_weak() -> None:
    hidden = disputed({"sample": "", "hidden": "token 1: expected '5', got '7'"})
    (found,) = of(hidden, Signal.OTHER_ANSWER)
    assert (found.test, found.weak) == ("hidden", False)
    assert "6 of 6 models differ alike from the expected answer to test hidden" in found.sentence
    assert found.evidence["difference"] == "token 1: expected '5', got '7'"
    assert found.evidence["tests_looked_at"] == 2 * N
    (on_sample,) = of(disputed({"sample": "expected 5, got 7"}), Signal.OTHER_ANSWER)
    assert (on_sample.test, on_sample.weak) == ("sample", True)
    one_passes = disputed({"sample": "", "hidden": "expected 5, got 7"}, right={"sample": "", "hidden": ""})
    assert [finding.weak for finding in of(one_passes, Signal.OTHER_ANSWER)] == [True]


def test_an_answer_is_its_first_difference_and_lengths_are_none() -> None:
    given = solutions(
        (0, {"sample": "", "hidden": ""}),
        (1, {"sample": "", "hidden": "token 3: expected '5', got '7'"}),
        (2, {"sample": "", "hidden": "expected 4 tokens, got 0"}),
        (3, {"sample": "returned another value"}),
        (9, {"sample": ""}),
    )
    outputs = outputs_of(SUITE, given, Groups({0: 0, 1: 1, 2: 2, 3: 3}, "models"))
    assert outputs.n_samples == 1
    assert outputs.outputs.tolist() == [[0, 0], [0, 1], [0, -1], [-1, -1]]
    assert outputs.accepted is not None
    assert outputs.accepted.tolist() == [[True, True], [True, False], [True, False], [False, False]]


def test_models_of_one_provider_are_one_source_once_there_are_five_providers() -> None:
    entries = [
        *(model(f"m{n}", provider=f"vendor {n % 5}") for n in range(6)),
        ModelEntry("m6", base_models=("m1",)),
    ]
    known = registry(*entries)
    runs = [run(f"m{n}", [(0, 1, 1)], run_id=n) for n in range(7)] + [run("m0", [(0, 1, 1)], imported=True)]
    groups = independent_groups(select([problem(0)], runs, known, ANY_TIME, now=NOW), known)
    assert (groups.count, groups.unit) == (5, "families")
    assert groups.numbers[0] == groups.numbers[5]
    assert groups.numbers[1] == groups.numbers[6]
    few = independent_groups(select([problem(0)], runs[:4], known, ANY_TIME, now=NOW), known)
    assert (few.count, few.unit) == (4, "models")


def test_tests_that_pass_what_fails_a_sample_or_another_grader() -> None:
    problems = [problem(0), problem(1, samples_only=True)]
    here = run("m", [(0, 10, 9), (1, 10, 9)], run_id=1)
    there = run("m", [(0, 10, 4), (1, 10, 4)], imported=True, origin="a board")
    whole = solutions((1, {"sample": "expected 5, got 7", "hidden": ""}), (1, {"sample": "", "hidden": ""}))
    audit = audited(problems, [here, there], Evidence(suites={0: SUITE}, solutions={0: whole}))
    by_sample, by_grader = of(audit, Signal.WEAK_TESTS)
    assert by_sample.sentence == "of 2 solutions that pass all tests, 1 fail a sample (from 1 sources)"
    assert by_grader.sentence.startswith("more solutions are accepted here than were published: ")
    assert "9 against 4 of 10" in by_grader.sentence
    assert (by_sample.weak, by_grader.weak) == (False, True)  # perhaps other solutions
    assert {by_sample.problem, by_grader.problem} == {"atcoder:p0"}  # what passes samples alone is a result of neither
    (only,) = of(audit, Signal.SAMPLES_ONLY)
    assert (only.problem, only.weak) == ("atcoder:p1", True)


def test_runs_of_one_model_are_one_strong_model() -> None:
    problems = [problem(number) for number in range(N)]
    runs = [replace(one, model="m", label=f"t{place}") for place, one in enumerate(runs_that_solve(*[0.9] * 6))]
    audit = audited(problems, runs, Evidence())
    assert of(audit, Signal.UNSOLVED) == []
    assert (
        "not looked at: what strong models fail; that needs 5 models with 30 results each, there are 1" in audit.unseen
    )


def test_undecided_likeness_names_its_own_command() -> None:
    alike = [Likeness("atcoder:p0", "leetcode:9", 0.63, "samples shared"), Likeness("x:1", "x:2", 0.9, "elsewhere")]
    (found,) = audited([problem(0)], [], Evidence(alike=alike)).findings
    assert found.command == "live duplicates same atcoder:p0 leetcode:9 --reason 'samples shared'"


def test_the_sheet_lists_strong_ones_and_counts_the_weak() -> None:
    problems = [replace(problem(number), samples_only=True) for number in range(3)]
    evidence = Evidence(wordings={0: [("multiple_answers", "Print any.")], 1: [], 2: []})
    audit = audited(problems, [], evidence)
    sheet = problems_sheet(audit)
    assert [row[0] for row in sheet.tables[0].rows] == ["atcoder:p0"]
    assert len(sheet.tables[1].rows) == 1
    assert "weak signals, listed with --all: 3 no tests but the samples" in sheet.tables[0].notes
    everything: dict[str, Any] = dict(problems_sheet(audit, show_weak=True).data)
    assert len(everything["findings"]) == 4
    assert everything["n_weak"] == {"no tests but the samples": 3}
    assert '"sentence"' in sheet_to_json(sheet)
    assert problems_sheet(audited([problem(0)], [], Evidence())).tables[0].title == "Nothing was found"
