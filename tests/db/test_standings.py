"""How strong a model is, over the whole store: by its newest verdicts on tests that were not made here."""

from __future__ import annotations

from db.completions import RunRecord, save_completions, save_run
from db.engine import Store
from db.judgements import EnvironmentRecord, JudgementRecord, count_pending_runs, iter_pending, save_environment
from db.judgements import save_judgements as save
from db.made_suites import MadeSuiteRecord, base_suite_id, save_made_suite
from db.problems import save_problem
from db.records import AnswerStatus, CompletionRecord, MadeStrength, TestOrigin
from db.standings import Standing, load_standings
from tests.db.builders import LATER, NOW, case, completion, key_of, problem, suite_of


def give(store: Store, native_id: str, expected: str = "5\n") -> int:
    with store.write() as session:
        record = problem(native_id, suite=suite_of(case("1", "2 3\n", expected)))
        return save_problem(session, record, now=NOW).problem_id


def answer(store: Store, model: str, *answers: CompletionRecord, label: str = "", scenario: str | None = None) -> None:
    with store.write() as session:
        conditions = {} if scenario is None else {"scenario": scenario}
        save_completions(session, save_run(session, RunRecord(model, label, conditions), now=NOW), answers)


def judge(store: Store, verdicts: dict[str, str], environment: str = "here") -> None:
    """Give what waits in an environment these verdicts, by code; other codes stay as they are."""
    with store.write() as session:
        environment_id = save_environment(session, EnvironmentRecord(environment, "docker", {}), now=NOW)
        waiting = [one for one in iter_pending(session, environment_id) if one.code in verdicts]
        records = [JudgementRecord(one.completion_id, one.suite_id, verdicts[one.code], [], LATER) for one in waiting]
        save(session, environment_id, records)


def standings(store: Store) -> dict[str, Standing]:
    with store.read() as session:
        return load_standings(session)


def test_samples_of_all_runs_and_problems_are_counted(store: Store) -> None:
    for name in ("p1", "p2"):
        give(store, name)
    answer(store, "oak", completion("p1", code="a"), completion("p1", 1, "b"), label="one")
    answer(store, "oak", completion("p2", code="c"), label="two")
    answer(store, "elm", completion("p2", code="d"))
    judge(store, {"a": "accepted", "b": "wrong_answer", "c": "accepted", "d": "internal_error"})
    assert standings(store) == {"oak": Standing(2, 3)}
    assert standings(store)["oak"].share == 2 / 3
    assert Standing(0, 0).share == 0.0


def test_the_word_of_former_tests_holds_until_there_is_a_newer_one(store: Store) -> None:
    give(store, "p1")
    answer(store, "oak", completion("p1", code="a"))
    judge(store, {"a": "accepted"})
    give(store, "p1", expected="6\n")
    assert standings(store) == {"oak": Standing(1, 1)}
    judge(store, {"a": "time_limit"})
    assert standings(store) == {"oak": Standing(0, 1)}


def test_made_tests_have_no_say(store: Store) -> None:
    sample = case("s", "2 3\n", "5\n", TestOrigin.SAMPLE)
    with store.write() as session:
        problem_id = save_problem(session, problem("p1", suite=suite_of(sample)), now=NOW).problem_id
    answer(store, "oak", completion("p1", code="a"))
    answer(store, "elm", completion("p1", code="b"))
    judge(store, {"a": "accepted"})
    with store.write() as session:
        base = base_suite_id(session, problem_id)
        assert base is not None
        made = suite_of(sample, case("m", "0 0\n", "0\n", TestOrigin.GENERATED))
        save_made_suite(session, problem_id, MadeSuiteRecord(made, base, None, "recipe", 0, MadeStrength()), now=NOW)
    judge(store, {"a": "wrong_answer", "b": "accepted"})
    assert standings(store) == {"oak": Standing(1, 1)}


def test_the_newest_verdict_counts_once(store: Store) -> None:
    give(store, "p1")
    answer(store, "oak", completion("p1", code="a"))
    judge(store, {"a": "time_limit"})
    judge(store, {"a": "accepted"}, "a faster machine")
    judge(store, {"a": "internal_error"}, "a broken machine")
    assert standings(store) == {"oak": Standing(1, 1)}


def test_repairs_and_answers_without_a_program_say_nothing(store: Store) -> None:
    give(store, "p1")
    answer(store, "oak", completion("p1", code="a"), scenario="self_repair")
    answer(store, "elm", CompletionRecord(key_of("p1"), 0, "", status=AnswerStatus.NO_CODE))
    judge(store, {"a": "accepted"})
    assert standings(store) == {}


def test_the_runs_that_wait(store: Store) -> None:
    first, second = give(store, "p1"), give(store, "p2")
    answer(store, "oak", completion("p1", code="a"), completion("p1", 1, "b"), completion("p2", code="c"))
    answer(store, "elm", completion("p2", code="d"))
    judge(store, {"a": "accepted"})
    with store.read() as session:
        assert count_pending_runs(session, 1) == 2
        assert count_pending_runs(session, 1, problem_ids=[first]) == 1
        assert count_pending_runs(session, 1, problem_ids=[second]) == 2
        assert count_pending_runs(session, 1, problem_ids=[]) == 0
