"""Reference solutions first: what fails takes its problem out of scores, and nothing else does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from db.completions import RunRecord, save_completion, save_run
from db.engine import Store, open_store
from db.judgements import EnvironmentRecord, save_environment
from db.problems import flag_problem, save_problem
from db.records import (
    CompletionRecord,
    DateClaim,
    Precision,
    ProblemKey,
    ProblemRecord,
    ReferenceRecord,
    SuiteRecord,
    TestCaseRecord,
    TestOrigin,
)
from eval.evaluation import evaluate
from eval.judging import OnJudged, Pending, judge_pending, register_environment
from eval.outcomes import load_judged_runs, load_problem_facts
from eval.references import ReferenceReport, check_references
from eval.settings import Settings
from sandbox import Grader, Job, Judge, Outcome, Suite, Verdict
from tests.eval.echo_judge import BREAKS_JAILS, EchoJudge
from tests.eval.facts import model, registry

NOW = datetime(2026, 1, 1, tzinfo=UTC)
EXECUTORS = [
    pytest.param("docker", marks=pytest.mark.docker),
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
]
ADD = "print(sum(map(int, input().split())))\n"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path}/store.db") as store:
        yield store


def problem(name: str, expected: str, *references: str | ReferenceRecord, **changes: Any) -> ProblemRecord:
    """A problem of one test with reference solutions, which are what they print unless more is said."""
    claim = DateClaim("2025-06-01", datetime(2025, 6, 1, tzinfo=UTC), Precision.INSTANT, "test")
    test = TestCaseRecord("1", b"1 2\n", expected.encode(), TestOrigin.OFFICIAL)
    named = (
        one if isinstance(one, ReferenceRecord) else ReferenceRecord(f"jury{index}.py", "python3", one)
        for index, one in enumerate(references)
    )
    suite = SuiteRecord((test,), **changes)
    return ProblemRecord(ProblemKey("nova", name), name, (claim,), "test", suite=suite, references=tuple(named))


def save(store: Store, *problems: ProblemRecord, run: str = "nova-1") -> int:
    """The id of a run that answers all of these problems."""
    with store.write() as session:
        run_id = save_run(session, RunRecord(run), now=NOW)
        for one in problems:
            save_problem(session, one, now=NOW)
            save_completion(session, run_id, CompletionRecord(one.key, 0, ADD))
    return run_id


def environment(store: Store, digest: str = "a") -> int:
    with store.write() as session:
        return save_environment(session, EnvironmentRecord(digest, "fake"), now=NOW)


def check(
    store: Store, judge: EchoJudge, environment_id: int, run_ids: list[int] | None = None, **more: Any
) -> ReferenceReport:
    return check_references(store, cast("Judge", judge), environment_id, run_ids, now=lambda: NOW, **more)


def flags(store: Store, environment_id: int | None = None) -> dict[str, list[tuple[str, str]]]:
    """The flags, with their reasons, of each problem that has any where this environment is scored."""
    with store.read() as session:
        problems = load_problem_facts(session, environment_id=environment_id)
        return {one.native_id: list(one.flags) for one in problems if one.flags}


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_problem_whose_reference_fails_is_flagged_and_not_scored(store: Store, executor: str) -> None:
    run_id = save(store, problem("sound", "3\n", ADD), problem("broken", "4\n", ADD, "print(4)\n"))
    with Judge(executor, jobs=1) as judge:
        environment_id = register_environment(store, judge.environment, now=NOW)
        report = check_references(store, judge, environment_id, [run_id], now=lambda: NOW)
        why = report.flagged["nova:broken"]
        assert why.startswith("its solution jury0.py gets wrong_answer (1: ")
        assert "jury1.py" not in why
        assert report == ReferenceReport(3, {"nova:broken": why})
        again = check_references(store, judge, environment_id, [run_id], now=lambda: NOW)
        assert again == ReferenceReport(0, {"nova:broken": why})
        judge_pending(store, judge, environment_id, Pending(store, environment_id), now=lambda: NOW)
    assert flags(store, environment_id) == {"broken": [("reference_fails", why)]}

    with store.read() as session:
        problems = load_problem_facts(session, environment_id=environment_id)
        runs = load_judged_runs(session, environment_id)
    known = registry(model("nova-1", "2024-10"))
    (row,) = evaluate(problems, runs, known, Settings(), now=NOW + timedelta(days=1)).rows
    assert (row.n_judged, row.pass_at_1.value) == (1, 1.0)
    assert row.left_out == {"flagged: reference_fails": 1}


def test_tests_that_were_put_right_clear_the_flag(store: Store) -> None:
    judge, here = EchoJudge(), environment(store)
    save(store, problem("sum", "4", "3"))
    assert list(check(store, judge, here).flagged) == ["nova:sum"]
    save(store, problem("sum", "3", "3"))
    assert check(store, judge, here) == ReferenceReport(1, {})
    assert flags(store, here) == {}
    assert check(store, judge, here) == ReferenceReport(0, {})


def test_a_reference_that_was_put_right_clears_the_flag(store: Store) -> None:
    judge, here = EchoJudge(), environment(store)
    save(store, problem("sum", "3", "4", "3"))
    check(store, judge, here)
    save(store, problem("sum", "3", "3"))
    assert check(store, judge, here) == ReferenceReport(1, {})
    assert flags(store, here) == {}


def test_all_that_fail_are_named(store: Store) -> None:
    save(store, problem("sum", "3", "4", "3", "5"))
    here = environment(store)
    why = check(store, EchoJudge(), here).flagged["nova:sum"]
    assert why == "its solution jury0.py gets wrong_answer (got 4); its solution jury2.py gets wrong_answer (got 5)"
    assert flags(store, here)["sum"] == [("reference_fails", reason) for reason in why.split("; ")]


def test_an_internal_error_flags_nothing_and_is_tried_again(store: Store) -> None:
    judge, here = EchoJudge(), environment(store)
    save(store, problem("sum", "3", BREAKS_JAILS))
    for _ in range(2):
        assert check(store, judge, here) == ReferenceReport(0, {})
    assert judge.judged == [BREAKS_JAILS, BREAKS_JAILS]
    assert flags(store, here) == {}


def test_what_the_sandbox_does_not_have_is_left_alone(store: Store) -> None:
    judge, here = EchoJudge(), environment(store)
    save(
        store,
        problem("a", "3", ReferenceRecord("a.cpp", "cpp20", "4")),
        problem("b", "3", ReferenceRecord("b.cob", "cobol", "4")),
        problem("c", "3", "import numpy"),
        problem("d", "3", "4", comparison={"of": "a newer version"}),
        problem("e", "3", "3"),
    )
    assert check(store, judge, here) == ReferenceReport(1, {})
    assert judge.judged == ["3"]
    assert flags(store, here) == {}


def test_the_other_grader_says_nothing_of_problems(store: Store) -> None:
    other, here, there = EchoJudge(Grader.LIVECODEBENCH), environment(store), environment(store, "b")
    save(store, problem("sum", "3", "4"))
    check(store, EchoJudge(), here)
    assert check(store, other, there) == ReferenceReport(0, {})
    assert (other.judged, flags(store, there)) == ([], {})


def test_what_fails_in_one_environment_is_scored_in_another(store: Store) -> None:
    class Lenient(EchoJudge):
        def _judge(self, source: str, suite: Suite) -> Outcome:
            return Outcome(Verdict.ACCEPTED, ())

    save(store, problem("sum", "3", "4"))
    slow, fast = environment(store), environment(store, "b")
    why = "its solution jury0.py gets wrong_answer (got 4)"
    assert check(store, Lenient(), fast) == ReferenceReport(1, {})
    assert check(store, EchoJudge(), slow).flagged == {"nova:sum": why}
    assert flags(store, slow) == {"sum": [("reference_fails", why)]}
    assert flags(store, fast) == flags(store) == {}
    # Judging elsewhere takes nothing back either.
    check(store, Lenient(), fast)
    assert check(store, EchoJudge(), slow) == ReferenceReport(0, {"nova:sum": why})

    with store.read() as session:
        for environment_id, left_out in ((slow, "flagged: reference_fails"), (fast, "not judged")):
            problems = load_problem_facts(session, environment_id=environment_id)
            runs = load_judged_runs(session, environment_id)
            known = registry(model("nova-1", "2024-10"))
            (row,) = evaluate(problems, runs, known, Settings(), now=NOW + timedelta(days=1)).rows
            assert row.left_out == {left_out: 1}


def test_only_what_the_runs_answer_is_judged(store: Store) -> None:
    judge, here = EchoJudge(), environment(store)
    first = save(store, problem("a", "3", "4"), run="nova-1")
    second = save(store, problem("b", "3", "5"), run="nova-2")
    assert list(check(store, judge, here, [second]).flagged) == ["nova:b"]
    assert judge.judged == ["5"]
    assert check(store, judge, here, []) == ReferenceReport(0, {})
    assert list(check(store, judge, here, [first]).flagged) == ["nova:a"]


def test_a_persons_flag_is_not_taken_off(store: Store) -> None:
    judge, here = EchoJudge(), environment(store)
    record = problem("sum", "3", "3")
    save(store, record)
    with store.write() as session:
        flag_problem(session, record.key, "reference_fails", "by hand", by="maintainer", now=NOW)
    assert check(store, judge, here) == ReferenceReport(1, {})
    assert flags(store, here) == {"sum": [("reference_fails", "by hand")]}


def test_what_was_judged_before_an_interruption_is_kept(store: Store) -> None:
    class Interrupted(EchoJudge):
        def map(self, jobs: Iterable[Job[Any]], *, run_all: bool = False) -> Iterator[tuple[Any, Outcome]]:
            for number, item in enumerate(super().map(jobs, run_all=run_all)):
                if number == 2:
                    raise KeyboardInterrupt
                yield item

    here = environment(store)
    save(store, problem("sum", "3", "4", "3", "5"))
    with pytest.raises(KeyboardInterrupt):
        check(store, Interrupted(), here)
    judge = EchoJudge()
    assert check(store, judge, here).n_judged == 1
    assert judge.judged == ["5"]
    assert [reason for _, reason in flags(store, here)["sum"]] == [
        "its solution jury0.py gets wrong_answer (got 4)",
        "its solution jury2.py gets wrong_answer (got 5)",
    ]


def test_progress_is_told_of_each(store: Store) -> None:
    told: list[int] = []

    @contextmanager
    def progress(total: int) -> Iterator[OnJudged]:
        told.append(total)
        yield lambda count, counters: told.append(count)

    save(store, problem("sum", "3", "4", "3", "5"))
    check(store, EchoJudge(), environment(store), progress=progress)
    assert told == [3, 1, 1, 1]


def test_any_text_that_a_program_prints_can_be_a_reason(store: Store) -> None:
    save(store, problem("sum", "3", "a\0b\ud800c"))
    assert check(store, EchoJudge(), environment(store)).flagged == {
        "nova:sum": r"its solution jury0.py gets wrong_answer (got a\0b\ud800c)"
    }
