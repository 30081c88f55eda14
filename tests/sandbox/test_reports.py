"""Cases made from public bug reports, run from the shared folder as they stand: programs and comparisons of groups B
(tests) and C (executor).

Which test shows which case stands in ``tests/real/report_cases.py``. B22 has no tests of its own: its answers are
worked out here.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox import Comparison, Io, Job, Judge, Limits, Suite, Test, Verdict, comparison, values
from sandbox.programs import MIB
from sandbox.verdicts import CPU_GRACE
from tests.sandbox import jails, report_files
from tests.sandbox.report_files import CODES, judge_all, limits, read
from tests.sandbox.test_checking import skip_without
from tests.sandbox.test_hostile import AFTERWARDS, PLAIN_SUITE, assert_nothing_left

pytestmark = pytest.mark.shared

JUDGED = ["B06", "B12", "C01", "C05", "C07", "C13", "C15", "C18", "C19", "C23"]


@pytest.mark.parametrize("name", JUDGED)
def test_programs_get_the_verdicts_of_the_case(lone_judge: Judge, cases: Path, name: str) -> None:
    folder = cases / name
    case = read(folder / "case.json")
    variants = case.get("variants") or [case]
    for variant in variants:
        suite = report_files.suite(read(folder / variant["tests"]), limits(case))
        judge_all(lone_judge, folder, variant["submissions"], suite)
        assert lone_judge.judge(AFTERWARDS, PLAIN_SUITE).verdict is Verdict.ACCEPTED
        assert_nothing_left(lone_judge)


def test_b06_empty_strings_in_calls(judge: Judge, cases: Path) -> None:
    function = read(cases / "B06" / "case.json")["function"]
    tests = [
        Test(str(index), report_files.arguments(test["args"]), report_files.value(test["expected"]))
        for index, test in enumerate(read(cases / "B06" / function["tests"]), start=1)
    ]
    suite = Suite(tuple(tests), Io.FUNCTION, function["entry"], limits=Limits(cpu_s=2.0))
    judge_all(judge, cases / "B06", function["submissions"], suite)


@pytest.mark.parametrize("name", ["B09", "B11", "B14"])
def test_comparisons_are_those_of_the_case(cases: Path, name: str) -> None:
    for row in read(cases / name / "compare.json"):
        tolerance = row.get("tol")
        rule = Comparison(tolerance, tolerance, case_sensitive=row.get("rule") != "yesno")
        compare = values.first_difference if row["expected"].startswith("[") else comparison.first_difference
        difference = compare(row["expected"].encode(), row["actual"].encode(), rule)
        if " or " not in row["verdict"]:  # those are ours to choose; compare.toml says what was chosen
            assert (difference is None) == (row["verdict"] == "AC"), row


@pytest.mark.parametrize("name", ["big.py", "bigger.py"])
def test_b22_very_long_integers(judge: Judge, cases: Path, name: str) -> None:
    program = report_files.program(cases / "B22", name)
    answer = subprocess.run(
        [sys.executable, "-X", "int_max_str_digits=0", "-c", program.source], capture_output=True, check=True
    )
    suite = Suite((Test("1", b"", answer.stdout),), limits=Limits(cpu_s=4.0))
    assert judge.judge(program, suite).verdict is Verdict.ACCEPTED
    wrong = Suite(
        (Test("1", b"", answer.stdout[:-2] + (b"1\n" if answer.stdout[-2:] != b"1\n" else b"2\n")),),
        limits=Limits(cpu_s=4.0),
    )
    assert judge.judge(program, wrong).verdict is Verdict.WRONG_ANSWER
    assert read(cases / "B22" / "profile.json")["python3"]["int_max_str_digits"] == 0
    assert "no limit on the digits" in judge.environment.details["languages"]["python3"]["profile"]


def test_c03_an_endless_program_ends_two_seconds_after_its_limit(lone_judge: Judge, cases: Path) -> None:
    """In CPU time for what computes: how long that takes is up to the machine. A run that slept is run once more."""
    folder = cases / "C03"
    case = read(folder / "case.json")
    suite = report_files.suite(read(folder / case["tests"]), limits(case, wall_s=case["max_wall_s"]))
    for submission in case["submissions"]:
        outcome = lone_judge.judge(report_files.program(folder, submission["file"]), suite)
        assert outcome.verdict in CODES[submission["expected"]], outcome
        facts = outcome.tests[0].facts
        assert facts is not None
        if outcome.tests[0].idle:
            assert facts.wall_s <= case["max_wall_s"] + 0.5
        else:
            assert suite.limits.cpu_s < facts.cpu_s <= suite.limits.cpu_s * CPU_GRACE + 0.5
        assert_nothing_left(lone_judge)
    assert lone_judge.judge(AFTERWARDS, PLAIN_SUITE).verdict is Verdict.ACCEPTED


def test_c05_an_array_that_no_memory_holds(lone_judge: Judge, cases: Path) -> None:
    case = read(cases / "C05" / "case.json")
    extra = case["extra"]
    skip_without(lone_judge, frozenset({extra["language"]}))
    before_kib = report_files.memory_kib("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak counts from now on
    suite = report_files.suite(read(cases / "C05" / case["tests"]), limits(case))
    judge_all(lone_judge, cases / "C05", [extra, *case["submissions"]], suite)
    assert report_files.memory_kib("VmHWM") - before_kib < 64 * 1024
    assert lone_judge.judge(AFTERWARDS, PLAIN_SUITE).verdict is Verdict.ACCEPTED


def test_c07_no_more_than_the_limit_is_kept(lone_judge: Judge, cases: Path) -> None:
    folder = cases / "C07"
    case = read(folder / "case.json")
    outcome = lone_judge.judge(
        report_files.program(folder, "flood.py"), report_files.suite(read(folder / case["tests"]), limits(case))
    )
    result = outcome.tests[0]
    assert result.verdict is Verdict.OUTPUT_LIMIT
    assert result.facts is not None
    assert result.facts.output_bytes <= case["output_limit_mb"] * MIB
    assert len(str(result.as_dict())) < 4096  # what is stored of it


def test_c07_a_long_right_answer(judge: Judge, cases: Path) -> None:
    answer = " ".join(str(index % 10) for index in range(4_000_000)) + "\n"
    suite = report_files.suite(
        [{"in": "4000000\n", "out": answer}], Limits(cpu_s=6.0, memory_bytes=1024 * MIB, output_bytes=16 * MIB)
    )
    judge_all(judge, cases / "C07", [{"file": "big_ok.py", "expected": "AC"}], suite)


@pytest.mark.slow
def test_c13_300_times(executor: str, cases: Path) -> None:
    case = read(cases / "C13" / "case.json")
    program = report_files.program(cases / "C13", "fast.py")
    suite = report_files.suite(read(cases / "C13" / "tests.json"), limits(case))
    with Judge(executor, jobs=case["workers"]) as judge:
        outcomes = dict(judge.map(Job(key, program, suite) for key in range(case["repeat"])))
    assert len(outcomes) == 300
    assert {outcome.verdict for outcome in outcomes.values()} == {Verdict.ACCEPTED}


def test_c14_long_inputs(lone_judge: Judge, cases: Path) -> None:
    folder = cases / "C14"
    case = read(folder / "case.json")
    suite = report_files.suite([{"in": "0\n" * 10_000_000, "out": case["output"]}], Limits(cpu_s=4.0))
    judge_all(lone_judge, folder, case["submissions"], suite)
    assert read(folder / "expected.json") == {one["file"]: one["expected"] for one in case["submissions"]}
    assert lone_judge.judge(AFTERWARDS, PLAIN_SUITE).verdict is Verdict.ACCEPTED


E5 = """
#include <cstdio>
int main() { std::puts("1"); return 1; }
"""


def test_c18_the_rule_is_the_same_in_another_language(judge: Judge, cases: Path) -> None:
    skip_without(judge, frozenset({"cpp17"}))
    case = read(cases / "C18" / "case.json")
    suite = report_files.suite(read(cases / "C18" / case["tests"]), limits(case))
    program = replace(report_files.program(cases / "C18", "e2.py"), source=E5, language="cpp17")
    assert judge.judge(program, suite).verdict is Verdict.RUNTIME_ERROR
    right = replace(program, source=E5.replace("return 1", "return 0"))
    assert judge.judge(right, suite).verdict is Verdict.ACCEPTED


@pytest.mark.parametrize("name", ["setorder.py", "tzdep.py", "loc.py"])
def test_c21_the_same_output_each_time(judge: Judge, cases: Path, name: str) -> None:
    case = read(cases / "C21" / "case.json")
    program = report_files.program(cases / "C21", name)
    suite = report_files.suite(read(cases / "C21" / "tests.json"), Limits(cpu_s=2.0))
    outcomes = [outcome for _, outcome in judge.map(Job(key, program, suite) for key in range(case["repeat"]))]
    assert len({(outcome.verdict, outcome.detail) for outcome in outcomes}) == 1
    assert (outcomes[0].verdict is Verdict.ACCEPTED) == (name in case["ac"])
    variables = judge.environment.details["variables"]
    assert (variables["PYTHONHASHSEED"], variables["TZ"], variables["LANG"]) == ("0", "UTC", "C.UTF-8")


def test_c21_the_output_is_that_of_other_machines(judge: Judge, cases: Path) -> None:
    """What the case's programs print with the hash seed, zone and locale that the environment states."""
    for name in ("setorder.py", "tzdep.py", "loc.py"):
        program = report_files.program(cases / "C21", name)
        printed = subprocess.run(
            ["/usr/bin/python3", "-c", program.source],
            env=judge.environment.details["variables"],
            capture_output=True,
            check=True,
        ).stdout
        assert judge.judge(program, Suite((Test("1", b"", printed),))).verdict is Verdict.ACCEPTED, name


def test_c23_other_jails_go_on_beside_a_fork_bomb(judge: Judge, cases: Path) -> None:
    folder = cases / "C23"
    case = read(folder / "case.json")
    suite = report_files.suite(read(folder / case["tests"]), limits(case))
    bomb, peaceful = (report_files.program(folder, name) for name in ("bomb.py", "four_threads.py"))
    jobs = [Job(0, bomb, suite), *(Job(key, peaceful, suite) for key in range(1, 40))]
    outcomes = dict(judge.map(jobs))
    facts = outcomes[0].tests[0].facts
    assert outcomes[0].verdict in CODES["RE or TLE"]
    assert facts is not None
    assert facts.cpu_s <= suite.limits.cpu_s + 2
    assert {outcome.verdict for key, outcome in outcomes.items() if key} == {Verdict.ACCEPTED}
    assert not any(jails.strangers(jail) for jail in jails.running_jails(judge))
