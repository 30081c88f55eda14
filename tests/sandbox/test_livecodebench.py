"""What LiveCodeBench's evaluator would say of programs, beside what we say, and its way of comparing.

The codes in the cases are those that its own code gave when these programs were run with it; where safety forbids one,
the case says so.
"""

from __future__ import annotations

import tomllib
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import InvalidOperation
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies

from sandbox import (
    Facts,
    Grader,
    Io,
    Judge,
    Limits,
    Program,
    SandboxError,
    Suite,
    Test,
    Verdict,
    livecodebench,
)
from sandbox.agent import lcb, wire
from sandbox.livecodebench import Evaluator, Graded
from tests.real import solutions
from tests.real.solutions import Row, problems
from tests.sandbox.case_files import CASES

LIMITS = Limits(cpu_s=1.0, memory_bytes=512 * 2**20)
RIGHT = b"the right answer\n"


@dataclass(frozen=True)
class Case:
    """A program, its suite, what the evaluator says of it (in both its states) and what we say."""

    program: Program
    suite: Suite
    theirs: int | None
    before: int | None
    ours: Verdict


def cases() -> Iterator[Any]:
    for table in tomllib.loads((CASES / "livecodebench.toml").read_text(encoding="utf-8"))["case"]:
        name = table.pop("name")
        table.pop("source", None)
        theirs, ours = table.pop("theirs"), Verdict(table.pop("ours"))
        before = table.pop("before", theirs)
        program, entry_point = Program(table.pop("program")), table.pop("entry_point", None)
        tests = table.pop("tests", None) or [table]
        suite = suite_of([(t.pop("input", "1 2\n"), t.pop("expected", "3\n")) for t in tests], entry_point)
        assert not any([table, *tests]), f"{name}: unknown keys"
        yield pytest.param(Case(program, suite, code_of(theirs), code_of(before), ours), id=name)


def code_of(written: int | str) -> int | None:
    assert written in ("passed", -2, -3, -4, -5)
    return None if written == "passed" else int(written)


def suite_of(tests: list[tuple[str, str]], entry_point: str | None = None) -> Suite:
    return Suite(
        tests=tuple(Test(str(n), i.encode(), expected.encode()) for n, (i, expected) in enumerate(tests, start=1)),
        io=Io.FUNCTION if entry_point else Io.STDIN,
        entry_point=entry_point,
        limits=LIMITS,
    )


def graded(judge: Judge, program: str, suite: Suite, evaluator: Evaluator = Evaluator.WITH_BUFFER) -> Graded:
    """What the evaluator says, run in the judge's first jail."""

    return livecodebench.judge(judge._workers[0]._cell.request, Program(program), suite, 1.0, evaluator)


@pytest.mark.parametrize("case", [*cases()])
def test_their_verdict_and_ours(judge: Judge, case: Case) -> None:
    assert graded(judge, case.program.source, case.suite).code == case.theirs
    if case.before != case.theirs:
        assert graded(judge, case.program.source, case.suite, Evaluator.WITHOUT_BUFFER).code == case.before
    assert judge.judge(case.program, case.suite).verdict is case.ours


def test_an_expression_too_deep_to_be_written_out_again(judge: Judge) -> None:
    source = "print(900)\nn = 0" + 900 * "+1"
    suite = suite_of([("", "900")])
    assert graded(judge, source, suite).code == livecodebench.RUNTIME_ERROR
    assert judge.judge(Program(source), suite).verdict is Verdict.ACCEPTED


@pytest.mark.parametrize(
    ("program", "results", "verdicts"),
    [
        ("print(input())", (True, True, True), "accepted accepted accepted"),
        ("print(min(input(), '1'))", (True, -2), "accepted wrong_answer"),
        ("n = input(); print(n); 1 / (2 - int(n))", (True, -4), "accepted runtime_error"),
        ("n = input(); print(n)\nif n == '3': os._exit(0)", (True, True, -4), "accepted accepted runtime_error"),
        ("import os\nn = input(); print(n)\nif n == '3': os._exit(0)", (-2,), "accepted accepted runtime_error"),
        ("import os\nprint(1)\nif input() == '3': os._exit(0)", (True, -2), "accepted wrong_answer"),
    ],
)
def test_results_end_with_the_first_that_is_not_true(
    judge: Judge, program: str, results: tuple[bool | int, ...], verdicts: str
) -> None:
    found = graded(judge, program, suite_of([(f"{n}\n", f"{n}\n") for n in (1, 2, 3)]))
    assert found.results == results
    assert " ".join(test.verdict for test in found.outcome.tests) == verdicts
    assert found.outcome.verdict is found.outcome.tests[-1].verdict


def test_a_process_that_had_half_a_core_has_its_full_time(judge: Judge) -> None:
    source = """
import time
def compute(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
for _ in range(70):
    compute(0.01)
    time.sleep(0.01)
print(3)
"""
    found = graded(judge, source, suite_of([("", "3")]))
    facts = found.outcome.tests[-1].facts
    assert facts is not None
    assert facts.wall_s > 1.0 > facts.cpu_s
    assert found.code is None


@pytest.mark.parametrize(
    ("expected", "got", "right"),
    [
        ("3\n", "3", True),
        ("\n\n3\n", " 3 \r\n", True),
        ("1\n2", "1\n\n2", False),
        ("1 2", "1  2", True),  # as decimals
        ("a b", "a  b", False),
        ("1\n", "1.000", True),
        ("0.30", "3e-1", True),
        ("0.3333333333", "0.333333", False),
        ("50000000000000000", "50000000000000001", False),
        ("10", "1_0", True),
        ("1", "１", True),
        ("Yes", "YES", False),
        ("NaN", "NaN", True),
        ("NaN", "nan", False),
        ("Infinity", "inf", True),
        ("1 x", "1.0 x", False),
        ("", "", True),
        ("", "\n", True),
        ("1 2", "1", False),
    ],
)
def test_outputs_are_equal_as_there(expected: str, got: str, right: bool) -> None:
    assert (livecodebench.first_difference(expected, got) is None) is right


def test_a_signalling_nan_is_an_error_of_the_comparison() -> None:
    with pytest.raises(InvalidOperation):
        livecodebench.first_difference("sNaN 1", "sNaN 1.0")
    suite = suite_of([("", "sNaN 1")])
    assert livecodebench.grade(suite, facts(), record(lcb.OUTPUT, 0, b"sNaN 1.0")).code == -4


class Odd:
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


class OddList(list[int]):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None


ITSELF: list[Any] = []
ITSELF.append(ITSELF)


@pytest.mark.parametrize(
    ("expected", "returned", "right"),
    [
        ("1", 1, True),
        ("1", True, True),
        ("1", 1.0, True),
        ("1.0", 1, True),
        ("true", 1, True),
        ("0.3", 0.1 + 0.2, False),
        ("null", None, True),
        ("null", 0, False),
        ('"a"', "a", True),
        ('"é"', "é", True),
        ("[1, 2]", (1, 2), True),
        ("[[1, 2]]", [(1, 2)], False),
        ("[[1, 2]]", ([1, 2],), True),
        ("[1, 2]", [1.0, 2], True),
        ("[1, 2]", {1, 2}, False),
        ("[1, 2]", deque([1, 2]), False),
        ("[0, 1]", range(2), False),
        ("NaN", float("nan"), False),
        ("Infinity", float("inf"), True),
        ('{"a": {"b": [1]}}', {"a": {"b": [1]}}, True),
        ('{"a": {"b": [1]}}', OrderedDict(a=defaultdict(list, b=[1])), True),
        ('{"a": 1}', Counter("a"), True),
        ('{"1": 1}', {1: 1}, False),
        ('{"other": "set"}', {1}, False),
        ('{"dict": []}', {}, False),
        ("{}", {}, True),
        ("3", Odd(), False),
        ("[1, 2]", OddList([1, 2]), False),
        ("[[]]", ITSELF, False),
        ("1" + 4199 * "0", 10**4199, True),
        ("1" + 4199 * "0", 10**4199 + 1, False),
        ("1e308", int(1e308), True),
        ("[" + 100 * "1e308," + "1]", 100 * [int(1e308)] + [1], True),
    ],
)
def test_values_are_equal_as_there(expected: str, returned: object, right: bool) -> None:
    assert livecodebench.same_value(expected.encode(), lcb.encode(returned)) is right


def test_a_test_that_is_no_json_is_our_fault() -> None:
    found = livecodebench.grade(suite_of([("1", "nought")], "f"), facts(), record(lcb.VALUE, 0, b"1"))
    assert found.outcome.verdict is Verdict.INTERNAL_ERROR


@pytest.mark.parametrize("program", [Program("", "cpp17"), Program("", "pypy3")])
def test_only_python_programs_are_known_there(program: Program) -> None:
    with pytest.raises(SandboxError):
        livecodebench.request(program, suite_of([("", "")]), 6.0, Evaluator.WITH_BUFFER)


def record(kind: bytes, index: int, content: bytes) -> bytes:
    return lcb.RECORD.pack(kind, index, len(content)) + content


def facts(wait_status: int = 0) -> Facts:
    return Facts(wire.LOADED, wire.KILLED_BY_NOBODY, wait_status, 0.1, 0.1, 2**20, 0, LIMITS)


ENDED = 1 << 8


@pytest.mark.parametrize(
    "written",
    [
        b"",
        b"O",
        record(lcb.OUTPUT, 1, RIGHT) + record(lcb.OUTPUT, 0, RIGHT),
        record(lcb.OUTPUT, 0, RIGHT) + record(lcb.OUTPUT, 0, RIGHT),
        record(lcb.OUTPUT, 0, RIGHT) + record(lcb.OUTPUT, 1, RIGHT)[:-1],
        record(lcb.OUTPUT, 0, RIGHT) + lcb.RECORD.pack(lcb.OUTPUT, 1, 2**63) + RIGHT,
        record(lcb.OUTPUT, 0, RIGHT) + record(b"?", 1, RIGHT),
        record(lcb.OUTPUT, 0, RIGHT) + record(lcb.VALUE, 1, b'"the right answer"'),
        record(lcb.OUTPUT, 0, b"\xff") + record(lcb.OUTPUT, 1, RIGHT),
    ],
)
def test_what_is_not_two_right_records_does_not_pass(written: bytes) -> None:
    suite = suite_of([("", RIGHT.decode()), ("", RIGHT.decode())])
    found = livecodebench.grade(suite, facts(ENDED), written)
    assert found.code is not None
    assert found.outcome.verdict not in (Verdict.ACCEPTED, Verdict.INTERNAL_ERROR)
    passes = livecodebench.grade(suite, facts(), record(lcb.OUTPUT, 0, RIGHT) + record(lcb.OUTPUT, 1, RIGHT))
    assert passes.code is None


KINDS = strategies.sampled_from([lcb.OUTPUT, lcb.VALUE, lcb.ERROR, lcb.TIMEOUT, lcb.FAILED, lcb.UNCOMPILED, b"?"])
RECORDS = strategies.builds(record, KINDS, strategies.integers(0, 2), strategies.binary(max_size=9))


@given(
    strategies.lists(RECORDS | strategies.binary(max_size=20), max_size=4).map(b"".join),
    strategies.sampled_from(["", "f"]),
)
def test_nothing_that_a_program_writes_stops_the_judge(written: bytes, entry_point: str) -> None:
    found = livecodebench.grade(suite_of(2 * [("1", "17")], entry_point), facts(ENDED), written)
    assert (found.code is None) == (found.outcome.verdict is Verdict.ACCEPTED)
    if b"17" not in written:
        assert found.code in (-2, -3, -4, -5)


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.docker
def test_published_grades_are_reproduced_on_public_tests(shared_data: Path) -> None:
    folder = shared_data / "livecodebench"

    def public(row: Row) -> Suite | None:
        problem = problems(folder)[row["question_id"]]
        return solutions.suite_of(problem, problem["public_tests"])

    # Of all runs; without those on a time limit, which depend on the machine, and packages that an image may lack.
    rows = solutions.solutions(folder, lambda row: row["published_verdict"] != "time_limit")[::20]
    rows = [row for row in rows if not {"numpy", "sortedcontainers"} & set((row["code"] or "").split())]
    assert len({row["model"] for row in rows}) == 12
    with Judge("docker", grader=Grader.LIVECODEBENCH) as judge:
        outcomes = solutions.judged(judge, rows, public)
    same = {Verdict.COMPILE_ERROR: "runtime_error"}  # -4, for what cannot be compiled too
    passed = [index for index in outcomes if rows[index]["published_grade"]]
    failed = [index for index in outcomes if rows[index]["failing_test"] == "public"]
    assert len(passed) > 150
    assert len(failed) > 300
    for index in [*passed, *failed]:
        verdict = outcomes[index].verdict
        expected = rows[index]["published_verdict"]
        assert same.get(verdict, verdict.value) == expected, (rows[index]["model"], rows[index]["question_id"])
