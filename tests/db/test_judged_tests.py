"""Facts of many judgements, tests of many suites and many statements, each at one go."""

from __future__ import annotations

from dataclasses import replace

from db.completions import RunRecord, save_completions, save_run
from db.engine import Store
from db.judged_tests import (
    CaseResult,
    SuiteRules,
    SuiteTest,
    iter_judged_tests,
    iter_statements,
    load_suite_rules,
    load_suite_tests,
)
from db.judgements import EnvironmentRecord, JudgementRecord, iter_pending, save_environment, save_judgements
from db.problems import problem_ids, save_problem
from db.records import TestOrigin
from tests.db.builders import LATER, NOW, case, completion, key_of, problem, suite_of

SUITE = suite_of(case("s", "1", "2", TestOrigin.SAMPLE), case("h", "3", "4"), case("open", "5", None))


def test_facts_of_each_test_come_with_their_run_and_problem(store: Store) -> None:
    facts = [{"name": "s", "verdict": "accepted", "detail": ""}, {"name": "h", "verdict": "wrong_answer"}]
    with store.write() as session:
        for native in ("p1", "p2"):
            save_problem(session, problem(native, suite=SUITE), now=NOW)
        run, other = (save_run(session, RunRecord(name), now=NOW) for name in ("a", "b"))
        save_completions(session, run, [completion("p1", 1), completion("p2")])
        save_completions(session, other, [completion("p1")])
        here, there = (save_environment(session, EnvironmentRecord(sha, "docker"), now=NOW) for sha in ("x", "y"))
        for environment in (here, there):
            pending = iter_pending(session, environment)
            records = [JudgementRecord(one.completion_id, one.suite_id, "wrong_answer", facts, NOW) for one in pending]
            save_judgements(session, environment, records)
        ids = problem_ids(session, [key_of("p1"), key_of("p2")])
    with store.read() as session:
        found = list(iter_judged_tests(session, here, [run]))
        assert [(one.run_id, one.problem_id, one.sample_index, one.verdict) for one in found] == [
            (run, ids[key_of("p1")], 1, "wrong_answer"),
            (run, ids[key_of("p2")], 0, "wrong_answer"),
        ]
        assert found[0].tests == (CaseResult("s", "accepted", ""), CaseResult("h", "wrong_answer", ""))
        assert len(list(iter_judged_tests(session, here, [run, other]))) == 3
    with store.write() as session:  # another suite: what was judged on the former one no longer counts
        save_problem(session, problem("p1", suite=suite_of(case("h", "3", "5"))), now=LATER)
    with store.read() as session:
        assert [one.problem_id for one in iter_judged_tests(session, here, [run, other])] == [ids[key_of("p2")]]


def test_suites_rules_and_statements_by_problem(store: Store) -> None:
    with store.write() as session:
        unordered = replace(SUITE, comparison={"unordered": "list"})
        first = save_problem(session, replace(problem("p1", suite=unordered), statement="Any."), now=NOW).problem_id
        bare = replace(problem("p2"), statement="", suite=None)
        second = save_problem(session, bare, now=NOW).problem_id
    with store.read() as session:
        assert load_suite_tests(session, [first, second]) == {first: (SuiteTest("s", True), SuiteTest("h", False))}
        assert load_suite_rules(session, [first, second]) == {first: SuiteRules(False, {"unordered": "list"})}
        assert list(iter_statements(session, [second, first])) == [(first, "Any.")]
