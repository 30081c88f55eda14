"""Programs of models for a problem: each once, with the word of tests that were not made here."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from db.completions import RunRecord, save_completions, save_run
from db.engine import Store
from db.judgements import EnvironmentRecord, JudgementRecord, iter_pending, save_environment, save_judgements
from db.known_programs import CompletionProgram, completions_of
from db.made_suites import MadeSuiteRecord, base_suite_id, save_made_suite
from db.problems import problem_ids, save_problem
from db.records import AnswerStatus, CompletionRecord, MadeStrength, SuiteRecord, TestOrigin
from tests.db.builders import LATER, NOW, case, completion, key_of, problem, suite_of

SAMPLE = case("s", "2 3\n", "5\n", TestOrigin.SAMPLE)
OFFICIAL = case("1", "4 5\n", "9\n")
MADE = case("m", "0 0\n", "0\n", TestOrigin.GENERATED)


def give(store: Store, suite: SuiteRecord, statement: str = "Add two numbers.") -> int:
    with store.write() as session:
        return save_problem(session, problem(suite=suite, statement=statement), now=NOW).problem_id


@pytest.fixture
def problem_id(store: Store) -> int:
    return give(store, suite_of(SAMPLE))


def answer(store: Store, model: str, *answers: CompletionRecord, label: str = "", **conditions: Any) -> int:
    with store.write() as session:
        run = save_run(session, RunRecord(model, label, conditions), now=NOW)
        save_completions(session, run, answers)
        return run


def judge(store: Store, verdicts: dict[str, str], environment: str = "sha", days: int = 0) -> None:
    """Give what waits on the current suite these verdicts, by code."""
    with store.write() as session:
        environment_id = save_environment(session, EnvironmentRecord(environment, "docker", {}), now=NOW)
        at = NOW + timedelta(days=days)
        records = [
            JudgementRecord(one.completion_id, one.suite_id, verdicts[one.code], [], at)
            for one in iter_pending(session, environment_id)
            if one.code in verdicts
        ]
        save_judgements(session, environment_id, records)


def programs(store: Store, problem_id: int) -> list[CompletionProgram]:
    with store.read() as session:
        return completions_of(session, problem_id)


def verdicts_of(store: Store, problem_id: int) -> dict[str, str | None]:
    return {one.code: one.verdict for one in programs(store, problem_id)}


def make_tests(store: Store, problem_id: int) -> None:
    with store.write() as session:
        base = base_suite_id(session, problem_id)
        assert base is not None
        record = MadeSuiteRecord(suite_of(SAMPLE, MADE), base, None, "recipe", 0, MadeStrength())
        save_made_suite(session, problem_id, record, now=NOW)


def test_each_program_of_a_model_comes_once(store: Store, problem_id: int) -> None:
    answer(store, "birch", completion(sample=0, code="b\ud800"), completion(sample=1, code="a"), temperature=0.2)
    answer(store, "amber", completion(sample=3, code="a"), completion(sample=4, code="a"))
    answer(store, "amber", completion(sample=0, code="a"), completion(sample=1, code="c"), label="second")
    answer(store, "cedar", replace(completion(code="a"), language="cpp20"), completion(sample=1, code="a"))
    assert programs(store, problem_id) == [
        CompletionProgram("amber", "", {}, 3, "a", "python3", None),
        CompletionProgram("amber", "second", {}, 1, "c", "python3", None),
        CompletionProgram("birch", "", {"temperature": 0.2}, 0, "b\ud800", "python3", None),
        CompletionProgram("birch", "", {"temperature": 0.2}, 1, "a", "python3", None),
        CompletionProgram("cedar", "", {}, 0, "a", "cpp20", None),
        CompletionProgram("cedar", "", {}, 1, "a", "python3", None),
    ]
    assert programs(store, problem_id + 1) == []


def test_only_programs_that_solve_the_problem_itself(store: Store, problem_id: int) -> None:
    found = {status: replace(completion(code=f"{status}"), status=status, rule="rule") for status in AnswerStatus}
    for status, one in found.items():
        answer(store, f"model {status}", one)
    answer(store, "empty", completion(code=""))
    answer(store, "repairs", completion(code="repaired"), scenario="self_repair")
    answer(store, "generates", completion(code="generated"), scenario="code_generation")
    assert {one.code for one in programs(store, problem_id)} == {"ok", "ok_unfenced", "generated"}


def test_an_answer_to_a_changed_statement_is_none_to_this_one(store: Store, problem_id: int) -> None:
    answer(store, "amber", completion(code="old"), completion(sample=1, code="both"))
    give(store, suite_of(SAMPLE), statement="Multiply two numbers.")
    answer(store, "birch", completion(code="new"), completion(sample=1, code="both"))
    assert [(one.model, one.code) for one in programs(store, problem_id)] == [("birch", "new"), ("birch", "both")]


def test_verdicts_are_those_of_hidden_tests_that_were_not_made_here(store: Store, problem_id: int) -> None:
    answer(store, "amber", completion(code="a"), completion(sample=1, code="b"))
    judge(store, {"a": "accepted", "b": "wrong_answer"})
    assert verdicts_of(store, problem_id) == {"a": None, "b": None}, "samples alone say little"
    make_tests(store, problem_id)
    judge(store, {"a": "accepted", "b": "accepted"})
    assert verdicts_of(store, problem_id) == {"a": None, "b": None}, "made tests must not measure themselves"
    give(store, suite_of(SAMPLE, OFFICIAL))
    judge(store, {"a": "wrong_answer", "b": "internal_error"})
    assert verdicts_of(store, problem_id) == {"a": "wrong_answer", "b": None}
    # Made tests and other samples after that change nothing.
    give(store, suite_of(SAMPLE, replace(OFFICIAL, input=b"1 1\n", expected=b"2\n")))
    assert verdicts_of(store, problem_id) == {"a": "wrong_answer", "b": None}


def test_the_newest_final_verdict_counts_in_whichever_environment(store: Store, problem_id: int) -> None:
    give(store, suite_of(SAMPLE, OFFICIAL))
    answer(store, "amber", completion(code="a"), completion(sample=1, code="b"))
    judge(store, {"a": "time_limit", "b": "accepted"}, "new", days=2)
    judge(store, {"a": "accepted", "b": "wrong_answer"}, "old", days=1)
    judge(store, {"a": "internal_error"}, "broken", days=3)
    assert verdicts_of(store, problem_id) == {"a": "time_limit", "b": "accepted"}


def test_copies_of_a_program_share_its_verdict(store: Store, problem_id: int) -> None:
    give(store, suite_of(SAMPLE, OFFICIAL))
    answer(store, "birch", completion(code="a"))
    judge(store, {"a": "wrong_answer"})
    answer(store, "amber", completion(code="a"), replace(completion(sample=1, code="a"), language="cpp20"))
    found = [(one.model, one.language, one.verdict) for one in programs(store, problem_id)]
    assert found == [
        ("amber", "python3", "wrong_answer"),
        ("amber", "cpp20", None),
        ("birch", "python3", "wrong_answer"),
    ]


def test_other_problems_say_nothing(store: Store, problem_id: int) -> None:
    with store.write() as session:
        save_problem(session, problem("p2", suite=suite_of(SAMPLE, OFFICIAL)), now=LATER)
        other = problem_ids(session, [key_of("p2")])[key_of("p2")]
    answer(store, "amber", completion(code="a"), completion("p2", code="a"))
    judge(store, {"a": "accepted"})
    assert verdicts_of(store, other) == {"a": "accepted"}
    assert verdicts_of(store, problem_id) == {"a": None}
