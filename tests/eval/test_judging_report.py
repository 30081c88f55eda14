"""What a run of judging reports: what it left alone, what it has to try again, what casts doubt on its verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest

from db.completions import RunRecord, save_completion, save_run
from db.engine import Store, open_store
from db.environments import latest_environment
from db.judgements import load_test_results, load_verdicts
from db.problems import save_problem
from db.records import CompletionRecord, ProblemKey, ProblemRecord, SuiteRecord, TestCaseRecord, TestOrigin
from eval.judging import JudgingReport, Pending, judge_pending, register_environment
from sandbox import Checker, Environment, Facts, Judge, Limits, Outcome, Program, Suite, TestResult, Verdict
from sandbox.plain import checker_as_plain
from tests.eval.echo_judge import BREAKS_JAILS, EchoJudge

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TESTS = (TestCaseRecord("t", b"1 2\n", b"3", TestOrigin.OFFICIAL),)
PLAIN = SuiteRecord(TESTS)
UNREADABLE = SuiteRecord(TESTS, comparison={"fuzzy": True})
CHECKED_IN_NO_LANGUAGE = SuiteRecord(TESTS, checker=checker_as_plain(Checker(Program("", "cobol"))))
ADD = "print(sum(map(int, input().split())))\n"
NUMPY = "import numpy as np\na, b = map(int, input().split())\nprint(int(np.add(a, b)))\n"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path}/store.db") as store:
        yield store


def fill_with(store: Store, suites: dict[str, SuiteRecord], answers: list[tuple[str, str]]) -> int:
    """A run with these answers, as (problem, program), each its problem's next sample."""
    with store.write() as session:
        for name, record in suites.items():
            save_problem(session, ProblemRecord(ProblemKey("nova", name), name, (), "test", suite=record), now=NOW)
        run_id = save_run(session, RunRecord("nova-1"), now=NOW)
        for index, (name, code) in enumerate(answers):
            save_completion(session, run_id, CompletionRecord(ProblemKey("nova", name), index, code))
    return run_id


def judged(store: Store, judge: EchoJudge, told: list[int] | None = None) -> JudgingReport:
    environment_id = register_environment(store, Environment("echo", {}), now=NOW)
    pending = Pending(store, environment_id)
    return judge_pending(
        store,
        cast("Judge", judge),
        environment_id,
        pending,
        now=lambda: NOW,
        on_judged=lambda count, counters: (told if told is not None else []).append(count),
    )


def verdicts(store: Store, run_id: int) -> dict[int, str | None]:
    with store.read() as session:
        environment = latest_environment(session)
        assert environment is not None
        rows = load_verdicts(session, environment.environment_id, [run_id])
    return {row.sample_index: row.verdict for row in rows}


@pytest.mark.docker
def test_what_the_image_does_not_have_waits_for_one_that_has_it(store: Store) -> None:
    run_id = fill_with(store, {"sum": PLAIN}, [("sum", NUMPY), ("sum", ADD)])
    with Judge("docker", jobs=1, image="slim") as judge:
        if "numpy" in judge.environment.details["packages"]:
            pytest.skip("the slim image that is named here has numpy")
        environment_id = register_environment(store, judge.environment, now=NOW)
        report = judge_pending(store, judge, environment_id, Pending(store, environment_id), now=lambda: NOW)
    assert (report.verdicts, report.n_judged, report.missing) == ({"accepted": 1}, 1, {"numpy": 1})
    assert verdicts(store, run_id) == {0: None, 1: "accepted"}
    with store.read() as session:
        assert load_test_results(session, 1, environment_id) == []


def test_what_is_left_alone_is_counted_in_words(store: Store) -> None:
    run_id = fill_with(
        store,
        {"odd": UNREADABLE, "other": CHECKED_IN_NO_LANGUAGE, "sum": PLAIN},
        [("odd", "3"), ("odd", "4"), ("other", "3"), ("sum", "import numpy"), ("sum", "3"), ("sum", "4")],
    )
    report = judged(store, EchoJudge())
    assert report.verdicts == {"accepted": 1, "wrong_answer": 1}
    newer = "another version of this command (nova:odd: a comparison has no field 'fuzzy'; its fields are "
    (words,) = [what for what in report.missing if what.startswith(newer)]
    # The checker's language is what is not there, not that of the programs.
    assert report.missing == {words: 2, "cobol": 1, "numpy": 1}
    assert verdicts(store, run_id) == {0: None, 1: None, 2: None, 3: None, 4: "accepted", 5: "wrong_answer"}


def test_what_is_left_alone_is_judged_once_it_can_be(store: Store) -> None:
    run_id = fill_with(store, {"odd": UNREADABLE}, [("odd", "3")])
    assert judged(store, EchoJudge()).n_judged == 0
    fill_with(store, {"odd": replace(UNREADABLE, comparison={})}, [])
    report = judged(store, EchoJudge())
    assert (report.n_judged, report.missing) == (1, {})
    assert verdicts(store, run_id) == {0: "accepted"}


def test_progress_adds_up_to_what_was_pending(store: Store) -> None:
    answers = [("sum", code) for code in ("3", "3", "import numpy", "4", BREAKS_JAILS, "import numpy")]
    fill_with(store, {"odd": UNREADABLE, "sum": PLAIN}, [("odd", "3"), *answers])
    told: list[int] = []
    report = judged(store, EchoJudge(), told)
    assert sum(told) == 1 + len(answers)
    assert (report.n_judged, report.n_internal, report.n_programs) == (3, 1, 3)


def test_an_internal_error_is_judged_again(store: Store) -> None:
    run_id = fill_with(store, {"sum": PLAIN}, [("sum", BREAKS_JAILS), ("sum", "3")])
    assert judged(store, EchoJudge()).n_internal == 1
    judge = EchoJudge()
    assert judged(store, judge).n_internal == 1
    assert judge.judged == [BREAKS_JAILS]
    assert verdicts(store, run_id) == {0: "internal_error", 1: "accepted"}


def facts(cpu_s: float, wait_status: int = 0) -> Facts:
    return Facts(2, 0, wait_status, cpu_s, cpu_s, 2**20, 2, Limits(cpu_s=2.0))


class Timed(EchoJudge):
    """Programs are the CPU seconds that they take, of two; more than 2.4 s, and they are ended."""

    def _judge(self, source: str, suite: Suite) -> Outcome:
        cpu_s = float(source)
        verdict = Verdict.ACCEPTED if cpu_s <= 2.0 else Verdict.TIME_LIMIT
        tests = (
            TestResult("1", Verdict.ACCEPTED, facts(0.1)),
            TestResult("2", verdict, facts(cpu_s, 9 * (cpu_s > 2.4))),
        )
        return Outcome(verdict, tests)


def test_what_came_near_to_its_time_limit_is_counted(store: Store) -> None:
    # A fifth on either side: 2.0 / 1.2 and 2.0 * 1.2 seconds.
    times = ["0.5", "1.6", "1.7", "2.0", "2.1", "2.39", "2.41"]
    fill_with(store, {"sum": PLAIN}, [("sum", time) for time in times])
    assert judged(store, Timed()).n_near_limit == 4


class Importing(EchoJudge):
    """Programs import what they are called, and have none of it."""

    def _judge(self, source: str, suite: Suite) -> Outcome:
        error = f"ModuleNotFoundError: No module named '{source}' (exit code 1)"
        return Outcome(Verdict.RUNTIME_ERROR, (TestResult("1", Verdict.RUNTIME_ERROR, facts(0.1, 256), error),), error)


def test_modules_that_are_not_there_are_counted(store: Store) -> None:
    fill_with(store, {"sum": PLAIN}, [("sum", name) for name in ("foo", "foo.bar", "foo", "bar")])
    assert judged(store, Importing()).missing_modules == {"foo": 3, "bar": 1}
