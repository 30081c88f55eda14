"""Programs with what became of them, and the tests that they met, as text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from db.completions import RunRecord, save_completions, save_run
from db.engine import Store
from db.judged_programs import load_judged_programs, load_right_programs
from db.judgements import EnvironmentRecord, JudgementRecord, iter_pending, save_environment, save_judgements
from db.problems import problem_ids, save_problem
from db.records import CompletionRecord, ProgramRole, ReferenceRecord, TestCaseRecord, TestOrigin
from db.references import ReferenceVerdictRecord, pending_references, save_reference_verdicts
from db.test_texts import ShownTest, load_named_tests, load_short_tests
from tests.db.builders import NOW, case, completion, key_of, problem, suite_of

CASES = (
    case("s", "1\n", "1\n", TestOrigin.SAMPLE),
    case("a", "2\n", "4\n"),
    case("a", "3\n", "9\n"),
    case("long", "4" * 11, "1\n"),
    case("wide", "5\n", "5" * 11),
    case("open", "6\n", None),
    TestCaseRecord("bytes", b"\xff\n", b"\xfe\n", TestOrigin.OFFICIAL),
    TestCaseRecord("own", b"7\n", b"7\n", TestOrigin.OFFICIAL, comparison={"case_sensitive": False}),
)


@pytest.fixture
def problem_id(store: Store) -> int:

    references = tuple(ReferenceRecord(name, "python3", f"print({name!r})") for name in ("b.py", "a.py", "wrong.py"))
    others = (
        ReferenceRecord("x.cpp", "cpp17", "x"),
        ReferenceRecord("no.py", "python3", "print(1)", ProgramRole.WRONG),
        ReferenceRecord("inputs.py", "python3", "print(2)", ProgramRole.GENERATOR),
    )
    record = replace(problem(suite=suite_of(*CASES)), references=(*references, *others))
    with store.write() as session:
        save_problem(session, record, now=NOW)

        return problem_ids(session, [key_of()])[key_of()]


def test_short_tests(store: Store, problem_id: int) -> None:
    with store.read() as session:
        found = load_short_tests(session, [problem_id, 999], max_input_bytes=10, max_expected_bytes=10)
    assert found.keys() == {problem_id}
    short = found[problem_id]
    assert short.tests == (
        ShownTest("1\n", "1\n", True),
        ShownTest("2\n", "4\n", False),
        ShownTest("3\n", "9\n", False),
    )
    assert (short.n_hidden, short.has_checker, short.comparison) == (6, False, {})


def test_tests_by_name(store: Store, problem_id: int) -> None:
    wanted = [(problem_id, name) for name in ("a", "bytes", "open", "gone")]
    with store.read() as session:
        found = load_named_tests(session, wanted)
    assert found == {(problem_id, "a"): ("2\n", "4\n"), (problem_id, "bytes"): ("\\xff\n", "\\xfe\n")}


def judge(store: Store, verdicts: dict[str, str]) -> int:
    with store.write() as session:
        environment_id = save_environment(session, EnvironmentRecord("e", "docker"), now=NOW)
        tests = [{"name": "a", "verdict": "wrong_answer", "detail": "got 5"}]
        records = [
            JudgementRecord(one.completion_id, one.suite_id, verdicts[one.code], tests, NOW)
            for one in iter_pending(session, environment_id)
            if one.code in verdicts
        ]
        save_judgements(session, environment_id, records)
    return environment_id


def test_programs_of_a_run(store: Store, problem_id: int) -> None:
    with store.write() as session:
        run_id = save_run(session, RunRecord("m"), now=NOW)
        save_completions(session, run_id, [completion(sample=1, code="two"), completion(sample=0, code="one")])
    environment_id = judge(store, {"one": "wrong_answer"})
    with store.read() as session:
        first, second = load_judged_programs(session, run_id, environment_id, [problem_id])
        assert load_judged_programs(session, run_id, environment_id, []) == []
    assert (first.code, first.sample_index, first.verdict, first.is_older) == ("one", 0, "wrong_answer", False)
    assert [(test.name, test.detail) for test in first.tests] == [("a", "got 5")]
    assert (second.code, second.verdict, second.tests) == ("two", None, ())


def test_programs_that_are_right(store: Store, problem_id: int) -> None:
    with store.write() as session:
        run_id = save_run(session, RunRecord("m", "first"), now=NOW)
        done = [CompletionRecord(key_of(), index, code) for index, code in enumerate(("no", "yes", "y" * 60))]
        save_completions(session, run_id, [*done, CompletionRecord(key_of(), 3, "other", "rust")])
        repaired = save_run(session, RunRecord("m", "second", {"scenario": "self_repair"}), now=NOW)
        save_completions(session, repaired, [CompletionRecord(key_of(), 0, "repaired")])
    accepted = dict.fromkeys(("yes", "y" * 60, "other", "repaired"), "accepted")
    environment_id = judge(store, {"no": "wrong_answer"} | accepted)
    with store.write() as session:
        wrong = [one for one in pending_references(session, environment_id) if one.name == "wrong.py"]
        verdicts = [ReferenceVerdictRecord(one.reference_id, one.suite_id, "wrong_answer", "", NOW) for one in wrong]
        save_reference_verdicts(session, environment_id, verdicts)
    with store.read() as session:
        found = load_right_programs(session, environment_id, [problem_id], language="python3", max_bytes=50)
        unjudged = load_right_programs(session, None, [problem_id], language="python3", max_bytes=50)
    assert [(one.name, one.model, one.code) for one in found[problem_id]] == [
        ("solution a.py of list", None, "print('a.py')"),
        ("solution b.py of list", None, "print('b.py')"),
        ("sample 1 of m, run 'first'", "m", "yes"),
    ]
    assert [one.name for one in unjudged[problem_id]] == [f"solution {name}.py of list" for name in ("a", "b", "wrong")]
