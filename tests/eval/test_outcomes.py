"""From a real store to the plain data of a report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from db.completions import RunRecord, save_completion, save_run
from db.engine import Store, open_store
from db.judgements import EnvironmentRecord, JudgementRecord, iter_pending, save_environment, save_judgements
from db.problems import flag_problem, save_problem
from db.records import (
    CompletionRecord,
    ContestRecord,
    DateClaim,
    Precision,
    ProblemKey,
    ProblemRecord,
    SuiteRecord,
    TallyRecord,
    TestCaseRecord,
    TestOrigin,
)
from db.tallies import save_tally
from eval.board import run_names
from eval.evaluation import Outcome, RunOutcomes, evaluate
from eval.outcomes import load_imported_runs, load_judged_runs, load_problem_facts, told_apart
from eval.settings import Settings
from tests.eval.facts import NOW, model, registry, utc

KEYS = [ProblemKey("atcoder", f"p{number}") for number in range(4)]


def problem_record(key: ProblemKey, day: str | None) -> ProblemRecord:
    tests = [TestCaseRecord("1", b"1\n", b"2\n", TestOrigin.SAMPLE)]
    if day is not None:
        tests.append(TestCaseRecord("2", b"2\n", b"3\n", TestOrigin.OFFICIAL))
    dates = () if day is None else (DateClaim(day, utc(day), Precision.DAY, "a test"),)
    contest = ContestRecord("atcoder", "abc300")
    return ProblemRecord(
        key, key.native_id, dates, "a test", difficulty="easy", contest=contest, suite=SuiteRecord(tuple(tests))
    )


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'live.db'}") as opened:
        with opened.write() as session:
            for key, day in zip(KEYS, ["2024-01-05", "2024-01-05", "2023-01-05", None], strict=True):
                save_problem(session, problem_record(key, day), now=NOW)
            flag_problem(session, KEYS[1], "bad_tests", "a wrong answer", by="a test", now=NOW)
        yield opened


def judge(store: Store, verdicts: list[str]) -> int:
    """Save one completion for each verdict on the first problem, and judge all but those called "waiting"."""
    with store.write() as session:
        run_id = save_run(session, RunRecord("m", "warm", {"temperature": 0.2, "ran_on": "2024-02-03"}), now=NOW)
        for sample in range(len(verdicts)):
            save_completion(
                session,
                run_id,
                CompletionRecord(KEYS[0], sample, f"print({sample})"),
            )
        environment_id = save_environment(session, EnvironmentRecord("e" * 64, "docker", {}), now=NOW)
    with store.write() as session:
        pending = {item.sample_index: item for item in iter_pending(session, environment_id, limit=100)}
        records = [
            JudgementRecord(pending[sample].completion_id, pending[sample].suite_id, verdict, [], NOW)
            for sample, verdict in enumerate(verdicts)
            if verdict != "waiting"
        ]
        save_judgements(session, environment_id, records)
    return environment_id


def test_problem_facts(store: Store) -> None:
    with store.read() as session:
        facts = {item.native_id: item for item in load_problem_facts(session)}
        assert load_problem_facts(session, platform="leetcode") == ()
    first = facts["p0"]
    assert (first.exposed_at, first.exposed_precision) == (utc("2024-01-05"), Precision.DAY)
    assert (first.difficulty, first.contest, first.n_tests, first.samples_only) == ("easy", "abc300", 2, False)
    assert (facts["p3"].n_tests, facts["p3"].samples_only, facts["p3"].hidden_origins) == (1, True, ())
    assert (first.hidden_origins, first.strength) == ((TestOrigin.OFFICIAL,), None)
    assert first.suite_digest
    assert facts["p1"].flags == (("bad_tests", "a wrong answer"),)
    assert facts["p3"].exposed_at is None


def test_verdicts_are_counted_by_problem(store: Store) -> None:
    verdicts = ["accepted", "wrong_answer", "accepted", "time_limit", "internal_error", "waiting"]
    environment_id = judge(store, verdicts)
    with store.read() as session:
        (found,) = load_judged_runs(session, environment_id, ["m"])
        (unjudged,) = load_judged_runs(session, None)
        assert load_judged_runs(session, environment_id, ["other"]) == ()
    assert (found.model, found.label, found.ran_on) == ("m", "warm", date(2024, 2, 3))
    ((problem_id, n, c, waiting, internal),) = [
        (item.problem_id, item.n_samples, item.n_correct, item.n_waiting, item.n_internal) for item in found.outcomes
    ]
    assert (n, c, waiting, internal) == (4, 2, 1, 1)
    assert unjudged.outcomes == (Outcome(problem_id, 0, 0, n_waiting=6),)


def test_answers_to_an_older_statement_are_left_out_and_counted(store: Store) -> None:
    first = ProblemRecord(ProblemKey("judge", "edited"), "Edited", (), "judge", statement="v1")
    with store.write() as session:
        problem_id = save_problem(session, first, now=NOW).problem_id
        run_id = save_run(session, RunRecord("m", "edits"), now=NOW)
        save_completion(session, run_id, CompletionRecord(first.key, 0, "print(1)"))
        save_problem(session, replace(first, statement="v2"), now=NOW)
    with store.read() as session:
        found = next(run for run in load_judged_runs(session, None) if run.label == "edits")
    assert found.outcomes == (Outcome(problem_id, 0, 0, n_older=1),)


def test_runs_under_one_label_are_told_apart(store: Store) -> None:
    with store.write() as session:
        for value in (0.2, 0.6):
            save_run(session, RunRecord("m", "", {"temperature": value}), now=NOW)
    with store.read() as session:
        labels = [(item.label, item.stored_label) for item in load_judged_runs(session, None)]
    assert labels == [("temperature 0.2", ""), ("temperature 0.6", "")]


@pytest.mark.parametrize(
    ("scenario", "by_tests"),
    [("code_generation", True), ("self_repair", True), ("output_prediction", False), ("code_execution", False)],
)
def test_answers_that_are_no_programs_rest_on_no_hidden_tests(store: Store, scenario: str, by_tests: bool) -> None:
    with store.write() as session:
        save_run(session, RunRecord("m", "", {"scenario": scenario}), now=NOW)
    with store.read() as session:
        (found,) = load_judged_runs(session, None, scenario=scenario)
    assert (found.by_tests, found.rests_on_tests) == (by_tests, by_tests)


PLAIN = {"temperature": 0.2, "prompt": "plain"}
LONG = "a prompt of a good many words, which would make any table too wide to read"


@pytest.mark.parametrize(
    ("label", "conditions", "labels"),
    [
        ("warm", [PLAIN], ["warm"]),
        ("", [PLAIN, {"temperature": 0.9, "prompt": "plain"}], ["temperature 0.2", "temperature 0.9"]),
        ("", [PLAIN, {"temperature": 0.9}], ["prompt plain, temperature 0.2", "no prompt, temperature 0.9"]),
        ("high", [{"stop": ["a"]}, {"stop": None}], ['high, stop ["a"]', "high, stop null"]),
        ("", [{"prompt": LONG}, {"prompt": f"{LONG} (2)"}, {}], ["run #2", "run #1", "run #3"]),
        ("cold", [{"prompt": f"{LONG} (2)"}, {"prompt": LONG}], ["cold #1", "cold #2"]),
        # A word that reads like a number: what is shown would be the same.
        ("", [{"seed": 1}, {"seed": "1"}], ["run #2", "run #1"]),
    ],
)
def test_labels_follow_from_conditions_alone(
    label: str, conditions: list[dict[str, Any]], labels: list[str], tmp_path: Path
) -> None:
    for order in (1, -1):
        with open_store(f"sqlite:///{tmp_path / str(order)}.db") as store:
            with store.write() as session:
                for one in conditions[::order]:
                    save_run(session, RunRecord("m", label, one), now=NOW)
                save_run(session, RunRecord("other", label, PLAIN), now=NOW)
            with store.read() as session:
                runs = load_judged_runs(session, None, ["m"])
            found = [next(run.label for run in runs if run.conditions == one) for one in conditions]
            assert found == labels, order
            assert told_apart(runs) == runs
            assert told_apart(runs[:1])[0].label == label


def test_names_do_not_depend_on_the_order_of_runs() -> None:
    # One label is the other's made one: a number is still needed.
    runs = [RunOutcomes("m", (), label="t 1", conditions={"t": value}) for value in (2, 1)]
    assert run_names(runs) == ("m (t 1) #2", "m (t 1)")
    assert run_names(runs[::-1]) == ("m (t 1)", "m (t 1) #2")
    assert run_names([*runs, RunOutcomes("n", (), name="m (t 1)")]) == ("m (t 1) #3", "m (t 1) #2", "m (t 1)")


def test_a_report_from_the_store(store: Store) -> None:
    environment_id = judge(store, ["accepted", "wrong_answer"])
    with store.write() as session:
        for key in KEYS:
            save_tally(session, TallyRecord(key, "m", 10, 4, "a board"))
    with store.read() as session:
        problems = load_problem_facts(session)
        runs = (*load_judged_runs(session, environment_id), *load_imported_runs(session))
        assert load_imported_runs(session, origin="another") == ()
    report = evaluate(problems, runs, registry(model("m")), Settings(), now=NOW, environment_digest="e" * 64)
    imported, judged = report.rows
    assert (judged.label, judged.pass_at_1.value, judged.n_samples) == ("warm", 0.5, 2)
    assert (imported.origin, imported.pass_at_1.value) == ("a board", 0.4)
    left_out = {"bad tests": 1, "publication date unknown": 1, "published before the cut-off": 1}
    assert judged.left_out == imported.left_out == left_out
