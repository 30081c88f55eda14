"""Judging from the store and back: nothing twice, nothing lost, whatever ends a run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from db.completions import RunRecord, save_completion, save_run
from db.engine import Store, open_store
from db.environments import latest_environment
from db.judgements import load_test_results, load_verdicts
from db.problems import save_problem
from db.records import CompletionRecord, IoKind, ProblemKey, ProblemRecord, SuiteRecord, TestCaseRecord, TestOrigin
from eval.judging import DEFAULT_LIMITS, Pending, judge_pending, register_environment, to_suite
from sandbox import Io, Judge, SandboxUnavailable
from sandbox.mounts import DIRECTORY_PREFIX

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
