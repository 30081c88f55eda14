"""Runs that are not whole: samples without an answer and answers without a program, in rows and ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from db.answer_counts import AnswersOfRun
from db.completions import RunRecord, save_completion, save_run
from db.engine import Store, open_store
from db.problems import problem_ids, save_problem
from db.records import AnswerStatus, CompletionRecord, Place, ProblemKey
from db.responses import FailureRecord, save_failures
from eval.audits.runs import audit_runs, runs_sheet
from eval.audits.selection import select
from eval.common_window import common_window
from eval.evaluation import Outcome, RunOutcomes, evaluate
from eval.outcomes import load_judged_runs
from eval.ranking import rank_runs, ranking_sheet
from eval.report import Row, row_to_dict
from eval.settings import Settings
from eval.window import parse_since
from tests.db.builders import problem as stored_problem
from tests.eval.facts import NOW, model, problem, registry, run

EXPLICIT = Settings(after_cutoff=False, since=parse_since("2024-01"))


def row_of(outcomes: list[Outcome], n_problems: int = 20) -> Row:
    problems = [problem(number) for number in range(n_problems)]
    (row,) = evaluate(problems, [RunOutcomes("m", tuple(outcomes))], registry(model("m")), EXPLICIT, now=NOW).rows
    return row


def test_a_row_says_which_samples_have_no_answer() -> None:
    answered = [Outcome(number, 1, 1) for number in range(7)]
    row = row_of([*answered, *(Outcome(number, 0, 0, n_failed=1) for number in (7, 8, 9))])
    assert "unhealthy run: 3 of 10 samples have no answer (failed requests)" in row.warnings
    assert row_to_dict(row)["n_failed"] == 3
    assert row.n_judged == 7  # a failed request is no answer: it does not count as unsolved
    assert row.pass_at_1.value == 1.0
    assert row.left_out["no completion"] == 13


def test_a_few_are_said_without_alarm() -> None:
    row = row_of([Outcome(number, 10, 5, n_failed=int(number == 0)) for number in range(20)])
    assert "1 of 201 samples have no answer (failed requests)" in row.warnings
    assert not any("unhealthy" in warning for warning in row.warnings)


def test_failures_outside_the_window_are_not_of_the_row() -> None:
    row = row_of([Outcome(0, 1, 1), Outcome(99, 0, 0, n_failed=5)])
    assert row.n_failed == 0
    assert not any("no answer" in warning for warning in row.warnings)


def test_answers_without_a_program_are_counted_by_status_and_named() -> None:
    statuses = {"truncated": 2, "no_code": 1}
    row = row_of([Outcome(0, 10, 4, statuses=statuses), Outcome(1, 10, 5, statuses={"no_code": 4})])
    assert row_to_dict(row)["without_program"] == {"no_code": 5, "truncated": 2}
    assert "answers without a program, which count as not solved: 5 no_code, 2 truncated" in row.warnings
    assert "unhealthy run: 2 of 20 answers are cut off" in row.warnings


def test_a_whole_run_has_nothing_to_say() -> None:
    row = row_of([Outcome(number, 10, 5) for number in range(20)])
    assert not any("answer" in warning for warning in row.warnings)
    document = row_to_dict(row)
    assert (document["n_failed"], document["without_program"]) == (0, {})


def test_a_run_with_too_many_failures_is_not_ranked() -> None:
    problems = [problem(number) for number in range(40)]
    names = "abcdef"
    runs = [run(name, [(number, 1, (number + len(name)) % 2) for number in range(40)]) for name in names]
    lost = tuple(
        replace(one, n_samples=0, n_correct=0, n_failed=1) if one.problem_id < 3 else one for one in runs[0].outcomes
    )
    runs[0] = replace(runs[0], outcomes=lost)
    common = common_window(problems, runs, registry(*(model(name) for name in names)), EXPLICIT, now=NOW)
    (group,) = rank_runs(common, np.random.default_rng(0))
    assert [one.name for one in group.runs] == list("bcdef")
    assert group.n_problems == 40  # what it lacks is not taken from the others
    said = "a is not ranked: 3 of 40 samples have no answer (failed requests); live generate asks for them again"
    assert group.unfit == (("a", said.removeprefix("a is not ranked: ")),)
    sheet = ranking_sheet(common, (group,), seed=0)
    assert said in sheet.tables[0].notes
    assert sheet.data["groups"][0]["not_ranked"] == group.unfit


def test_when_all_have_too_many_nobody_is_ranked() -> None:
    problems = [problem(number) for number in range(10)]
    runs = [RunOutcomes(name, tuple(Outcome(number, 1, 1, n_failed=1) for number in range(10))) for name in "ab"]
    common = common_window(problems, runs, registry(model("a"), model("b")), EXPLICIT, now=NOW)
    (group,) = rank_runs(common, np.random.default_rng(0))
    assert group.runs == ()
    assert len(group.unfit) == 2
    ranking_sheet(common, (group,), seed=0)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "live.db")) as opened:
        yield opened


def test_outcomes_have_them_from_the_store(store: Store) -> None:
    keys = [ProblemKey("judge", name) for name in ("p1", "p2", "p3")]
    with store.write() as session:
        for key in keys:
            save_problem(session, stored_problem(key.native_id), now=NOW)
        ids = problem_ids(session, keys)
        run_id = save_run(session, RunRecord("m"), now=NOW)
        for sample, status in enumerate([AnswerStatus.OK, AnswerStatus.TRUNCATED, AnswerStatus.TRUNCATED]):
            code = "print(5)" if status.has_program else ""
            save_completion(session, run_id, CompletionRecord(keys[0], sample, code, status=status))
        failed = [Place(ids[keys[0]], 0, 3), Place(ids[keys[1]], 0, 0), Place(ids[keys[1]], 0, 1)]
        save_failures(session, run_id, [FailureRecord(place, NOW, "timed_out", "no answer") for place in failed])
    with store.read() as session:
        (found,) = load_judged_runs(session, None)
    assert {one.problem_id: (one.n_answers, one.n_failed, dict(one.statuses)) for one in found.outcomes} == {
        ids[keys[0]]: (3, 1, {"truncated": 2}),
        ids[keys[1]]: (0, 2, {}),
    }


def test_models_are_ranked_together_whatever_their_endpoints_call_them() -> None:
    runs = [
        run(name, [(number, 1, number % 2) for number in range(40)], conditions={"asked_as": name, "prompt": "plain-1"})
        for name in "abcdef"
    ]
    common = common_window(
        [problem(number) for number in range(40)], runs, registry(*map(model, "abcdef")), EXPLICIT, now=NOW
    )
    (group,) = rank_runs(common, np.random.default_rng(0))
    assert len(group.runs) == 6


def test_the_audit_of_runs_says_how_asking_went() -> None:
    answers = AnswersOfRun(20, 0, 2, 0, 0, 18, statuses=Counter(ok=18, truncated=2), n_failed=3)
    runs = [replace(run("m", [(number, 1, 1) for number in range(20)]), run_id=1)]
    chosen = select([problem(number) for number in range(20)], runs, registry(model("m")), EXPLICIT, now=NOW)
    sheet = runs_sheet(audit_runs(chosen, {1: answers}))
    (notes,) = (one.notes for one in sheet.tables if one.title == "Answers")
    said = "\n".join(notes)
    assert "m: unhealthy run: 2 of 20 answers are cut off" in said
    assert "m: unhealthy run: 3 of 23 samples have no answer (failed requests)" in said
    assert "m: answers without a program, which count as not solved: 2 truncated" in said
    assert sheet.data["answers"][0]["asked"]["is_unhealthy"] is True
