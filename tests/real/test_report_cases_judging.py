"""Report cases of groups B and C that go through the store and the sandbox: imported, judged, kept and scored.

Each is played on both executors. What they say of single programs is in ``tests/sandbox/test_reports.py``.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from db.completions import RunRecord, save_completion, save_run
from db.engine import Store, StoreFull
from db.environments import latest_environment
from db.judgements import load_verdicts
from db.problems import list_problems, save_problem
from db.records import CompletionRecord, ProblemKey, ProblemRecord, SuiteRecord, TestCaseRecord, TestOrigin
from db.suites import load_suite
from eval.judging import Pending, judge_pending, register_environment, to_suite
from sandbox import Checker, Io, Judge, Limits, Program, Protocol, SandboxUnavailable, Suite, Test, Verdict, probing
from sandbox.docker_jail import IMAGES
from sandbox.plain import checker_as_plain
from sandbox.worker import Worker
from tests.db.builders import claim
from tests.ingest.reading import read, write_rows
from tests.live.command import Ended, Live
from tests.real.case_sites import scores
from tests.real.test_report_cases_tests import CUTOFFS, NOW, load, problem
from tests.sandbox import report_files
from tests.sandbox.report_files import CODES
from tests.sandbox.test_checking import skip_without

pytestmark = pytest.mark.shared

KEY = ProblemKey("nova", "case")
EXECUTORS = [
    pytest.param("docker", marks=pytest.mark.docker),
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
]


@pytest.fixture(scope="module", params=EXECUTORS)
def executor(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def judge(executor: str) -> Iterator[Judge]:
    try:
        judge = Judge(executor, jobs=1)
    except SandboxUnavailable as error:
        pytest.skip(f"{error.message} ({error.hint})")
    with judge:
        yield judge


def answered(store: Store, tests: list[dict[str, str]], *programs: Program, **suite: object) -> int:
    """Keep a problem with these tests, and these programs as a model's answers to it; the run's id."""
    cases = tuple(
        TestCaseRecord(str(number), test["in"].encode(), test["out"].encode(), TestOrigin.OFFICIAL)
        for number, test in enumerate(tests)
    )
    record = ProblemRecord(KEY, "Case", (claim("2026-02-01"),), "test", suite=SuiteRecord(cases, **suite))  # type: ignore[arg-type]
    with store.write() as session:
        save_problem(session, record, now=NOW)
        run_id = save_run(session, RunRecord("nova-1"), now=NOW)
        for index, one in enumerate(programs):
            save_completion(session, run_id, CompletionRecord(KEY, index, one.source, one.language))
    return run_id


def verdicts(store: Store, run_id: int) -> list[str | None]:
    """The verdicts of a run in the environment that was used last, by sample."""
    with store.read() as session:
        environment = latest_environment(session)
        found = load_verdicts(session, environment.environment_id if environment else -1, [run_id])
    return [row.verdict for row in found]


# --- group B -------------------------------------------------------------------------------------------------------


def test_b01_a_checker_takes_every_right_answer(judge: Judge, cases: Path) -> None:
    folder = cases / "B01"
    case = load(folder / "case.json")
    checker = Checker(report_files.program(folder, case["checker"]), Protocol.TESTLIB)
    suite = replace(report_files.suite(load(folder / case["tests"]), report_files.limits(case)), checker=checker)
    report_files.judge_all(judge, folder, case["submissions"], suite)


def test_b04_tests_that_break_the_limits_are_refused(
    executor: str, cases: Path, store: Store, live: Live, tmp_path: Path
) -> None:
    folder = cases / "B04"
    case, expected = load(folder / "case.json"), load(folder / "expected.json")
    rows = [problem("sum", load(folder / case["tests"]))]
    for number, test in enumerate(rows[0]["tests"]):
        test |= {"name": str(number), "origin": "generated"}
    words = ["import", "problems", write_rows(tmp_path / "rows.jsonl", rows), "-f", "jsonl", "--executor", executor]
    ended = live(*words, "--input-validator", folder / case["validator"], "--json")
    assert ended.code == 1
    assert [refusal["where"] for refusal in ended.document["refused"]] == [
        f"nova:sum, test {number}" for number in expected["rejected"]
    ]
    reasons = {refusal["reason"] for refusal in ended.document["refused"]}
    assert reasons == {"the input validator refuses its input: exit code 43"}
    with store.read() as session:
        (stored,) = list_problems(session)
        assert stored.suite_id is not None
        kept = [int(test.name) for test in load_suite(session, stored.suite_id).tests]
    assert kept == expected["kept"]
    assert dict(stored.flags) == {"partial_tests": "3 of 5 tests were refused by the input validator"}


def test_b12_answers_of_other_systems_judge_as_their_text_says(judge: Judge, cases: Path, tmp_path: Path) -> None:
    case = load(cases / "B12" / "case.json")
    for name in case["answers"]:
        secret = tmp_path / name / "data" / "secret"
        secret.mkdir(parents=True)
        (tmp_path / name / "problem.yaml").write_text("name: Encodings\n", encoding="utf-8")
        (secret / "1.ans").write_bytes((cases / "B12" / name).read_bytes())
        (secret / "1.in").write_bytes(b"")
    problems = read("kattis", tmp_path).problems
    assert len(problems) == len(case["answers"])
    for record in problems:
        assert record.suite is not None
        report_files.judge_all(judge, cases / "B12", case["submissions"], to_suite(record.suite))


def test_b15_what_a_checker_fails_to_say_is_no_verdict(
    judge: Judge, executor: str, cases: Path, store: Store, live: Live, tmp_path: Path
) -> None:
    folder = cases / "B15"
    case, expected = load(folder / "case.json"), load(folder / "expected.json")
    tests = load(folder / case["tests"])
    limits = Limits(cpu_s=1.0)
    missing = {"does_not_exist.py"}
    assert {name for name in expected if not (folder / name).is_file()} == missing
    for name in expected.keys() - missing:
        checker = Checker(report_files.program(folder, name), Protocol.TESTLIB, limits=limits)
        suite = replace(report_files.suite(tests, limits), checker=checker)
        outcome = judge.judge(report_files.program(folder, case["submission"]), suite)
        assert outcome.verdict in CODES[expected[name]], f"{name}: {outcome}"
    # A checker that is not there is seen at import: such a problem is set aside before anything is judged.
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "problem.yaml").write_text("name: No checker\nvalidation: custom\n", encoding="utf-8")
    assert [name for name, _ in read("kattis", tmp_path / "package").one.flags] == ["custom_validator"]
    # The run reports what was set aside, and no number holds it against the model.
    jury = checker_as_plain(Checker(report_files.program(folder, "jury.py"), Protocol.TESTLIB, limits=limits))
    answered(store, tests, report_files.program(folder, case["submission"]), checker=jury)
    scores(live, tmp_path, CUTOFFS)
    ended = live("--models", tmp_path / "models.toml", "judge", "--executor", executor, "--json")
    assert (ended.code, ended.document["n_internal"], ended.document["n_judged"]) == (1, 1, 0)
    row = scores(live, tmp_path, CUTOFFS)["nova-1"]
    assert (row["pass_at_1"], row["left_out"]) == (None, {"internal error of the judge": 1})


def test_b16_the_flags_of_a_package_and_of_its_groups_hold(judge: Judge, cases: Path) -> None:
    folder = cases / "B16"
    record = read("kattis", folder).one
    assert record.suite is not None
    outcome = judge.judge(report_files.program(folder, "sol.py"), to_suite(record.suite), run_all=True)
    found = {result.name.removeprefix("secret/"): result.verdict for result in outcome.tests}
    expected = load(folder / "expected.json")
    assert found.keys() == expected.keys()
    assert all(verdict in CODES[expected[name]] for name, verdict in found.items()), found


def test_b18_a_table_of_the_samples_passes_what_is_flagged_and_nothing_more(judge: Judge, cases: Path) -> None:
    folder = cases / "B18"
    (probe,) = load(folder / "case.json")["probes"]
    hidden = load(folder / "hidden.json")
    more = [*hidden, {"in": "1 1\n", "out": "2\n"}]
    found = {
        (name, len(tests)): judge.judge(
            report_files.program(folder, name), report_files.suite(tests, Limits(cpu_s=2.0))
        ).verdict
        for name in (probe, "honest.py")
        for tests in (hidden, more)
    }
    accepted = Verdict.ACCEPTED
    assert found == {
        (probe, 2): accepted,
        (probe, 3): Verdict.WRONG_ANSWER,
        ("honest.py", 2): accepted,
        ("honest.py", 3): accepted,
    }


def test_b20_a_program_that_changes_its_arguments_changes_no_test(judge: Judge, cases: Path) -> None:
    """The reference sorts its argument: twice over, each test has the input that was written, and the right answer."""
    folder = cases / "B20"
    case, expected = load(folder / "case.json"), load(folder / "expected.json")
    assert [one["args"] for one in expected] == load(folder / case["inputs"])
    tests = tuple(
        Test(str(number), report_files.arguments(one["args"]), report_files.value(one["expected"]))
        for number, one in enumerate(expected)
    )
    suite = Suite(tests, Io.FUNCTION, case["entry"])
    reference = report_files.program(folder, case["reference"])
    for _ in range(2):
        assert judge.judge(reference, suite, run_all=True).verdict is Verdict.ACCEPTED
    unchanged = tuple(replace(test, expected=test.input) for test in tests)
    echo = Program(f"class Solution:\n    def {case['entry']}(self, a):\n        return a\n")
    assert judge.judge(echo, replace(suite, tests=unchanged)).verdict is Verdict.ACCEPTED
    sorting = replace(echo, source=echo.source.replace("return a", "a.sort()\n        return a"))
    assert judge.judge(sorting, replace(suite, tests=unchanged)).verdict is Verdict.WRONG_ANSWER


# --- group C -------------------------------------------------------------------------------------------------------


def command(folder: Path, executor: str, root: Path, **variables: str) -> Ended:
    """``live judge`` as a process of its own, with these variables."""
    words = [sys.executable, "-m", "live", "--db", str(folder / "store.db"), "judge", "--executor", executor, "--json"]
    ended = subprocess.run(
        words, cwd=root, env={**os.environ, **variables}, capture_output=True, text=True, check=False, timeout=300
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def test_c09_what_the_machine_lacks_is_no_verdict(
    executor: str, cases: Path, store: Store, live: Live, tmp_path: Path, root: Path
) -> None:
    """(a) an image that is not there, (b) a daemon that does not answer; the same of bubblewrap's command."""
    folder = cases / "C09"
    expected = load(folder / "expected.json")
    run_id = answered(store, load(folder / "tests.json"), report_files.program(folder, "ok.py"))
    troubles = {
        "missing image": {"LIVE_SANDBOX_IMAGE": "livecut-nope:1"},
        "daemon unreachable": {"DOCKER_HOST": f"unix://{tmp_path}/absent.sock"},
    }
    if executor == "bubblewrap":
        troubles = {"daemon unreachable": {"PATH": str(tmp_path)}}
    for name, variables in troubles.items():
        assert expected[name] == "INFRA_ERROR"
        ended = command(tmp_path, executor, root, **variables)
        assert (ended.code, ended.out) == (4, "")
        assert ended.err.startswith("error: ")
        assert "what to do: " in ended.err
        assert verdicts(store, run_id) == [None]
        row = scores(live, tmp_path, CUTOFFS)["nova-1"]
        assert (row["n_judged"], row["pass_at_1"], row["left_out"]) == (0, None, {"not judged": 1})
    assert command(tmp_path, executor, root).code == 0
    assert verdicts(store, run_id) == ["accepted"]
    assert scores(live, tmp_path, CUTOFFS)["nova-1"]["pass_at_1"] == 1.0


def test_c09_without_a_compiler_there_is_no_verdict(
    executor: str, cases: Path, store: Store, live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = cases / "C09"
    assert load(folder / "expected.json")["no compiler (exit 127)"] == "INFRA_ERROR"
    if executor == "docker":  # the small image has none
        monkeypatch.setenv("LIVE_SANDBOX_IMAGE", IMAGES["slim"])
    else:  # the machine's own compiler cannot be taken away
        find = probing.find_versions
        monkeypatch.setattr(
            probing,
            "find_versions",
            lambda *given: {name: found for name, found in find(*given).items() if name != "cpp17"},
        )
    run_id = answered(
        store,
        load(folder / "tests.json"),
        report_files.program(folder, "ok.cpp", "cpp17"),
        report_files.program(folder, "bad.cpp", "cpp17"),
    )
    ended = live("judge", "--executor", executor, "--json")
    assert ended.document["missing"] == {"cpp17": 2}
    assert (ended.code, ended.document["verdicts"]) == (1, {})
    assert verdicts(store, run_id) == [None, None]
    row = scores(live, tmp_path, CUTOFFS)["nova-1"]
    assert (row["pass_at_1"], row["left_out"]) == (None, {"not judged": 1})


def test_c09_a_worker_that_breaks_gives_no_verdict(
    executor: str, cases: Path, store: Store, live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = cases / "C09"
    assert load(folder / "expected.json")["worker exception"] == "INFRA_ERROR"
    right = report_files.program(folder, "ok.py")
    run_id = answered(
        store, load(folder / "tests.json"), *(replace(right, source=f"{right.source}# {n}") for n in range(4))
    )
    whole, seen = Worker.judge, []

    def broken(worker: Worker, *given: Any, **more: Any) -> Any:
        seen.append(worker)
        if len(seen) == 3:
            raise RuntimeError("the worker broke")
        return whole(worker, *given, **more)

    with monkeypatch.context() as patch:
        patch.setattr(Worker, "judge", broken)
        with pytest.raises(RuntimeError, match="the worker broke"):  # the command ends with it, and with exit code 1
            live("judge", "--executor", executor, "--jobs", "1")
    assert verdicts(store, run_id) == ["accepted", "accepted", None, None]
    assert live("judge", "--executor", executor, "--jobs", "1").code == 0
    assert verdicts(store, run_id) == ["accepted"] * 4


def test_c09_a_compile_error_proper_is_one(judge: Judge, cases: Path) -> None:
    skip_without(judge, frozenset({"cpp17"}))
    folder = cases / "C09"
    suite = report_files.suite(load(folder / "tests.json"), Limits(cpu_s=2.0))
    outcome = judge.judge(report_files.program(folder, "bad.cpp", "cpp17"), suite)
    assert outcome.verdict in CODES[load(folder / "expected.json")["bad.cpp with compiler"]]
    assert "undeclared" in outcome.detail
    assert judge.judge(report_files.program(folder, "ok.cpp", "cpp17"), suite).verdict is Verdict.ACCEPTED


def test_c16_the_report_counts_what_is_near_its_limit(judge: Judge, cases: Path, store: Store) -> None:
    """The case's program takes 60 % of its limit; under a limit of 1.3 s it is within 20 % of it."""
    folder = cases / "C16"
    case = load(folder / "case.json")
    busy = report_files.program(folder, case["submissions"][0]["file"])
    found = []
    for time_limit_s in (case["time_limit_ms"] / 1000, 1.3):
        answered(store, load(folder / case["tests"]), busy, time_limit_s=time_limit_s)
        environment_id = register_environment(store, judge.environment, now=NOW)
        report = judge_pending(store, judge, environment_id, Pending(store, environment_id), now=lambda: NOW)
        found.append((report.verdicts, report.n_near_limit))
    assert found == [({"accepted": 1}, 0), ({"accepted": 1}, 1)]


def test_c15_a_disk_that_is_full_when_verdicts_are_saved(
    judge: Judge, cases: Path, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = cases / "C15"
    right = report_files.program(folder, "tmp_ok.py")
    programs = [replace(right, source=f"{right.source}# {number}") for number in range(40)]
    run_id = answered(store, load(folder / "tests.json"), *programs)
    monkeypatch.setattr("eval.judging._BATCH", 10)

    def limit_pages(pages: str) -> None:
        with store.write() as session:
            session.execute(text(f"PRAGMA max_page_count = {pages}"))

    def fill_up(count: int, counters: object) -> None:
        judged.append(count)
        if len(judged) == 25:  # two batches are saved; the file may not grow any more
            limit_pages("1")

    judged: list[int] = []
    environment_id = register_environment(store, judge.environment, now=NOW)
    pending = Pending(store, environment_id)
    with pytest.raises(StoreFull, match="the disk is full"):
        judge_pending(store, judge, environment_id, pending, now=lambda: NOW, on_judged=fill_up)
    saved = [verdict for verdict in verdicts(store, run_id) if verdict is not None]
    assert set(saved) == {"accepted"}
    assert 20 <= len(saved) < 40
    with sqlite3.connect(tmp_path / "store.db") as file:
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    file.close()
    limit_pages("1000000")
    report = judge_pending(store, judge, environment_id, Pending(store, environment_id), now=lambda: NOW)
    assert report.n_judged == 40 - len(saved)
    assert verdicts(store, run_id) == ["accepted"] * 40


def test_c22_modules_that_are_not_there_are_counted(judge: Judge, store: Store) -> None:
    programs = [Program(f"import {name}\n") for name in ("nowhere", "nowhere.deep", "elsewhere")]
    run_id = answered(store, [{"in": "", "out": ""}], *programs, Program(""))
    environment_id = register_environment(store, judge.environment, now=NOW)
    report = judge_pending(store, judge, environment_id, Pending(store, environment_id), now=lambda: NOW)
    assert verdicts(store, run_id) == ["runtime_error"] * 3 + ["accepted"]
    assert report.missing_modules == {"nowhere": 2, "elsewhere": 1}


@pytest.mark.docker
def test_c22_verdicts_of_two_images_are_not_pooled(cases: Path, store: Store, live: Live, tmp_path: Path) -> None:
    from docker.errors import ImageNotFound

    from tests.sandbox.jails import docker_client

    try:
        docker_client().images.get(IMAGES["full"])
    except ImageNotFound:
        pytest.skip(f"Docker has no image {IMAGES['full']} (make full-image builds it)")
    folder = cases / "C22"
    programs = [report_files.program(folder, name) for name in load(folder / "case.json")["submissions"]]
    run_id = answered(store, load(folder / "tests.json"), *programs)
    digests = []
    for image, numpy in (("full", "accepted"), ("slim", None)):
        with Judge("docker", jobs=1, image=image) as judge:
            environment_id = register_environment(store, judge.environment, now=NOW)
            report = judge_pending(
                store, judge, environment_id, Pending(store, environment_id), now=lambda: datetime.now(UTC)
            )
        assert report.missing == ({} if numpy else {"numpy": 1})
        assert verdicts(store, run_id) == [numpy, "accepted"]
        row = scores(live, tmp_path, CUTOFFS)["nova-1"]
        assert row["n_samples"] == (2 if numpy else 1)
        digests.append(row["environment_digest"])
    assert digests[0] != digests[1]
