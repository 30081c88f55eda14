"""Judging from the store and back: nothing twice, nothing lost, whatever ends a run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
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
from db.records import CompletionRecord, IoKind, ProblemKey, ProblemRecord, SuiteRecord, TestCaseRecord, TestOrigin
from eval.judging import DEFAULT_LIMITS, JudgingReport, Pending, judge_pending, register_environment, to_suite
from sandbox import (
    Checker,
    Environment,
    Facts,
    Io,
    Judge,
    Limits,
    Outcome,
    Program,
    SandboxUnavailable,
    Suite,
    TestResult,
    Verdict,
)
from sandbox.mounts import DIRECTORY_PREFIX
from sandbox.plain import checker_as_plain
from tests.eval.echo_judge import BREAKS_JAILS, EchoJudge

NOW = datetime(2026, 1, 1, tzinfo=UTC)
EXECUTORS = [
    pytest.param("docker", marks=pytest.mark.docker),
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
]
ANSWERS = {
    "right": ("print(sum(map(int, input().split())))", "accepted"),
    "wrong": ("print(4)", "wrong_answer"),
    "crash": ("raise SystemExit(3)", "runtime_error"),
    "no program": ("", "wrong_answer"),
}


def suite(*tests: TestCaseRecord, **rest: object) -> SuiteRecord:
    return SuiteRecord(tests, **rest)  # type: ignore[arg-type]


def case(text: bytes, expected: bytes | None) -> TestCaseRecord:
    return TestCaseRecord("t", text, expected, TestOrigin.OFFICIAL)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path}/store.db") as store:
        yield store


def fill(store: Store, copies: int = 1, *, same: bool = True) -> int:
    """A run with ``copies`` of each answer, the same to the byte or told apart by a comment."""
    key = ProblemKey("nova", "sum")
    with store.write() as session:
        record = ProblemRecord(key, "Sum", (), "test", suite=suite(case(b"1 2\n", b"3\n"), case(b"2 2\n", b"4\n")))
        save_problem(session, record, now=NOW)
        run_id = save_run(session, RunRecord("nova-1"), now=NOW)
        codes = [code if same else f"{code}\n# copy {copy}" for copy in range(copies) for code, _ in ANSWERS.values()]
        for index, code in enumerate(codes):
            save_completion(session, run_id, CompletionRecord(key, index, code))
        save_completion(session, run_id, CompletionRecord(key, len(codes), "main = 1", language="haskell"))
    return run_id


def verdicts(store: Store, run_id: int) -> dict[int, str | None]:
    with store.read() as session:
        environment = latest_environment(session)
        assert environment is not None
        rows = load_verdicts(session, environment.environment_id, [run_id])
    return {row.sample_index: row.verdict for row in rows}


@pytest.mark.parametrize("executor", EXECUTORS)
def test_each_completion_gets_its_verdict_once(store: Store, executor: str) -> None:
    run_id = fill(store, copies=2)
    n_answers = 2 * len(ANSWERS)
    with Judge(executor, jobs=2) as judge:
        environment_id = register_environment(store, judge.environment, now=NOW)
        pending = Pending(store, environment_id)
        assert pending.count() == n_answers + 1
        report = judge_pending(store, judge, environment_id, pending, now=lambda: NOW)
        assert (report.n_judged, report.n_internal, report.missing) == (n_answers, 0, {"haskell": 1})
        assert report.n_programs == len(ANSWERS)  # the same program is run once
        again = judge_pending(store, judge, environment_id, Pending(store, environment_id), now=lambda: NOW)
        assert again.n_judged == 0
    expected: dict[int, str | None] = dict(enumerate(2 * [verdict for _, verdict in ANSWERS.values()]))
    assert verdicts(store, run_id) == expected | {n_answers: None}
    with store.read() as session:
        facts = load_test_results(session, 1, environment_id)
    assert [test["verdict"] for test in facts] == ["accepted", "accepted"]
    assert all(test["facts"]["wait_status"] == 0 and test["facts"]["cpu_s"] > 0 for test in facts)


def test_limits_that_a_problem_does_not_state() -> None:
    taken = to_suite(suite(case(b"", b""), case(b"1", None), time_limit_s=2.5))
    assert len(taken.tests) == 1  # one has no expected output
    assert (taken.limits.cpu_s, taken.limits.memory_bytes) == (2.5, DEFAULT_LIMITS.memory_bytes)
    taken = to_suite(
        suite(case(b"1", b"1"), io_kind=IoKind.FUNCTION, entry_point="f", comparison={"case_sensitive": False})
    )
    assert (taken.io, taken.entry_point, taken.comparison.case_sensitive) == (Io.FUNCTION, "f", False)
    assert taken.limits == DEFAULT_LIMITS


class _Stopping:
    """A judge that loses its daemon after a few outcomes."""

    def __init__(self, judge: Judge, after: int) -> None:
        self._judge = judge
        self._after = after
        self.lacks = judge.lacks
        self.counters = judge.counters

    def map(self, jobs, *, run_all):  # type: ignore[no-untyped-def]
        for number, item in enumerate(self._judge.map(jobs, run_all=run_all)):
            if number == self._after:
                raise SandboxUnavailable("Docker does not answer", "start it")
            yield item


@pytest.mark.bubblewrap
def test_what_was_judged_before_the_executor_went_away_is_kept(store: Store) -> None:
    run_id = fill(store)
    with Judge("bubblewrap", jobs=1) as judge:
        environment_id = register_environment(store, judge.environment, now=NOW)
        stopping = _Stopping(judge, after=3)
        with pytest.raises(SandboxUnavailable):
            judge_pending(store, stopping, environment_id, Pending(store, environment_id), now=lambda: NOW)  # type: ignore[arg-type]
        assert sum(verdict is not None for verdict in verdicts(store, run_id).values()) == 3
        judge_pending(store, judge, environment_id, Pending(store, environment_id), now=lambda: NOW)
    assert sum(verdict is not None for verdict in verdicts(store, run_id).values()) == len(ANSWERS)


PLAIN = suite(case(b"", b"3"))
UNREADABLE = suite(case(b"", b"3"), comparison={"fuzzy": True})
CHECKED_BY = checker_as_plain(Checker(Program("", "cobol")))
IN_NO_LANGUAGE = suite(case(b"", b"3"), checker=CHECKED_BY)
NUMPY = "import numpy as np\na, b = map(int, input().split())\nprint(int(np.add(a, b)))\n"


@pytest.mark.docker
def test_what_the_image_does_not_have_waits_for_one_that_has_it(store: Store) -> None:
    run_id = fill_with(store, {"sum": suite(case(b"1 2\n", b"3\n"))}, [("sum", NUMPY), ("sum", ANSWERS["right"][0])])
    with Judge("docker", jobs=1, image="slim") as judge:
        if "numpy" in judge.environment.details["packages"]:
            pytest.skip("the slim image that is named here has numpy")
        environment_id = register_environment(store, judge.environment, now=NOW)
        report = judge_pending(store, judge, environment_id, Pending(store, environment_id), now=lambda: NOW)
    assert (report.verdicts, report.n_judged, report.missing) == ({"accepted": 1}, 1, {"numpy": 1})
    assert verdicts(store, run_id) == {0: None, 1: "accepted"}
    with store.read() as session:
        assert load_test_results(session, 1, environment_id) == []


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


def test_what_is_left_alone_is_counted_in_words(store: Store) -> None:
    run_id = fill_with(
        store,
        {"odd": UNREADABLE, "other": IN_NO_LANGUAGE, "sum": PLAIN},
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


@pytest.mark.slow
@pytest.mark.parametrize("executor", EXECUTORS)
def test_killed_at_any_moment_it_goes_on_where_it_stopped(store: Store, tmp_path: Path, executor: str) -> None:
    copies = 150
    run_id = fill(store, copies, same=False)
    command = [
        sys.executable,
        "-m",
        "live",
        "--db",
        str(tmp_path / "store.db"),
        "--quiet",
        "judge",
        "--executor",
        executor,
    ]
    kills = 0
    for moment in range(4):
        process = subprocess.Popen(command, start_new_session=True)
        time.sleep(1.2 + 0.45 * moment)
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
            kills += 1
        process.wait()
    assert kills > 0
    subprocess.run(command, check=True)
    wanted = [verdict for _, verdict in ANSWERS.values()] * copies
    assert verdicts(store, run_id) == dict(enumerate(wanted)) | {len(wanted): None}
    assert left_directories() == []


def left_directories() -> list[Path]:
    return [
        path
        for path in Path("/tmp").glob(f"{DIRECTORY_PREFIX}*")
        if not Path(f"/proc/{path.name.split('-')[2]}").exists()
    ]
