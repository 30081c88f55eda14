"""Cases made from public bug reports, run from the shared folder as they stand: groups B (tests) and C (executor).

Left out, with the reason:

* B01, B03, B04, B08, B15, B16, B17, B18, B20 judge no program here: they are about import rules and checkers.
* B12: the answer files are read at import; here, what programs print against them once they are LF.
* C05 and C09 in C++ wait for that language.
* C09, C11, C12 are in ``test_judge`` and ``test_orphans``: they are about the command and the daemon.
* C15, second part: a full disk while verdicts are saved is the store's matter.
* C16: never more workers than cores, so it runs with all workers, and in ``test_judge`` beside other busy processes.
* C22: a moved tag; the image's digest is in the environment's.

B22 has no tests of its own: the answers are worked out here.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sandbox import Comparison, Io, Job, Judge, Limits, Program, Suite, Test, Verdict, comparison, values
from sandbox.programs import MIB

pytestmark = pytest.mark.shared

CODES = {
    "AC": {Verdict.ACCEPTED},
    "WA": {Verdict.WRONG_ANSWER},
    "RE": {Verdict.RUNTIME_ERROR},
    "TLE": {Verdict.TIME_LIMIT},
    "MLE": {Verdict.MEMORY_LIMIT},
    "OLE": {Verdict.OUTPUT_LIMIT},
    "RE or TLE": {Verdict.RUNTIME_ERROR, Verdict.TIME_LIMIT},
}
JUDGED = ["B06", "B12", "C01", "C03", "C05", "C07", "C13", "C15", "C18", "C19", "C23"]


@pytest.fixture(scope="session")
def cases(shared_data: Path) -> Path:
    """The folder of the report cases."""
    return shared_data.parent / "reports" / "cases"


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _limits(case: dict[str, Any]) -> Limits:
    return Limits(
        cpu_s=case.get("time_limit_ms", 2000) / 1000,
        memory_bytes=case.get("memory_limit_mb", 256) * MIB,
        output_bytes=case.get("output_limit_mb", 16) * MIB,
    )


def _suite(tests: list[dict[str, Any]], limits: Limits) -> Suite:
    return Suite(
        tuple(Test(str(index), test["in"].encode(), test["out"].encode()) for index, test in enumerate(tests, start=1)),
        limits=limits,
    )


def _judge_all(judge: Judge, folder: Path, submissions: list[dict[str, str]], suite: Suite) -> None:
    for submission in submissions:
        outcome = judge.judge(Program((folder / submission["file"]).read_text(encoding="utf-8")), suite)
        assert outcome.verdict in CODES[submission["expected"]], f"{submission['file']}: {outcome}"


@pytest.mark.parametrize("name", JUDGED)
def test_programs_get_the_verdicts_of_the_case(judge: Judge, cases: Path, name: str) -> None:
    folder = cases / name
    case = _read(folder / "case.json")
    variants = case.get("variants") or [case]
    for variant in variants:
        _judge_all(judge, folder, variant["submissions"], _suite(_read(folder / variant["tests"]), _limits(case)))


def test_b06_empty_strings_in_calls(judge: Judge, cases: Path) -> None:
    function = _read(cases / "B06" / "case.json")["function"]
    tests = [
        Test(str(index), "\n".join(map(json.dumps, test["args"])).encode(), json.dumps(test["expected"]).encode())
        for index, test in enumerate(_read(cases / "B06" / function["tests"]), start=1)
    ]
    suite = Suite(tuple(tests), Io.FUNCTION, function["entry"], limits=Limits(cpu_s=2.0))
    _judge_all(judge, cases / "B06", function["submissions"], suite)


@pytest.mark.parametrize("name", ["B09", "B11", "B14"])
def test_comparisons_are_those_of_the_case(cases: Path, name: str) -> None:
    for row in _read(cases / name / "compare.json"):
        tolerance = row.get("tol")
        rule = Comparison(tolerance, tolerance, case_sensitive=row.get("rule") != "yesno")
        compare = values.first_difference if row["expected"].startswith("[") else comparison.first_difference
        difference = compare(row["expected"].encode(), row["actual"].encode(), rule)
        if " or " not in row["verdict"]:  # those are ours to choose; compare.toml says what was chosen
            assert (difference is None) == (row["verdict"] == "AC"), row


@pytest.mark.parametrize("program", ["big.py", "bigger.py"])
def test_b22_very_long_integers(judge: Judge, cases: Path, program: str) -> None:
    source = (cases / "B22" / program).read_text(encoding="utf-8")
    answer = subprocess.run(
        [sys.executable, "-X", "int_max_str_digits=0", "-c", source], capture_output=True, check=True
    )
    suite = Suite((Test("1", b"", answer.stdout),), limits=Limits(cpu_s=4.0))
    assert judge.judge(Program(source), suite).verdict is Verdict.ACCEPTED
    wrong = Suite(
        (Test("1", b"", answer.stdout[:-2] + (b"1\n" if answer.stdout[-2:] != b"1\n" else b"2\n")),),
        limits=Limits(cpu_s=4.0),
    )
    assert judge.judge(Program(source), wrong).verdict is Verdict.WRONG_ANSWER
    assert "no limit on the digits" in judge.environment.details["languages"]["python3"]


def test_c07_a_long_right_answer(judge: Judge, cases: Path) -> None:
    answer = " ".join(str(index % 10) for index in range(4_000_000)) + "\n"
    suite = _suite(
        [{"in": "4000000\n", "out": answer}], Limits(cpu_s=6.0, memory_bytes=1024 * MIB, output_bytes=16 * MIB)
    )
    _judge_all(judge, cases / "C07", [{"file": "big_ok.py", "expected": "AC"}], suite)


def test_c13_300_times(judge: Judge, cases: Path) -> None:
    case = _read(cases / "C13" / "case.json")
    program = Program((cases / "C13" / "fast.py").read_text(encoding="utf-8"))
    suite = _suite(_read(cases / "C13" / "tests.json"), _limits(case))
    verdicts = [outcome.verdict for _, outcome in judge.map(Job(key, program, suite) for key in range(case["repeat"]))]
    assert verdicts == [Verdict.ACCEPTED] * 300


def test_c14_long_inputs(judge: Judge, cases: Path) -> None:
    folder = cases / "C14"
    case = _read(folder / "case.json")
    suite = _suite([{"in": "0\n" * 10_000_000, "out": case["output"]}], Limits(cpu_s=4.0))
    _judge_all(judge, folder, case["submissions"], suite)


def test_c16_a_program_near_its_limit(judge: Judge, cases: Path) -> None:
    program = Program((cases / "C16" / "busy.py").read_text(encoding="utf-8"))
    suite = _suite(_read(cases / "C16" / "tests.json"), Limits(cpu_s=2.0))
    verdicts = [outcome.verdict for _, outcome in judge.map(Job(key, program, suite) for key in range(4))]
    assert verdicts == [Verdict.ACCEPTED] * 4


@pytest.mark.parametrize("program", ["setorder.py", "tzdep.py", "loc.py"])
def test_c21_the_same_output_each_time(judge: Judge, cases: Path, program: str) -> None:
    source = Program((cases / "C21" / program).read_text(encoding="utf-8"))
    suite = _suite(_read(cases / "C21" / "tests.json"), Limits(cpu_s=2.0))
    outcomes = [outcome for _, outcome in judge.map(Job(key, source, suite) for key in range(20))]
    assert len({(outcome.verdict, outcome.detail) for outcome in outcomes}) == 1
    assert (outcomes[0].verdict is Verdict.ACCEPTED) == (program == "loc.py")
