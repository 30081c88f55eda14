"""Checkers in place of a comparison: what they say counts, what they fail to say is never held against a program."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sandbox import Judge, Limits, Program, Suite, Test, Verdict
from sandbox.judgements import Left, judgement
from sandbox.programs import MIB, Checker, Group, Groups, Io, OnReject, Protocol, ScoreRule, VerdictRule
from sandbox.verdicts import Facts
from tests.sandbox import jails
from tests.sandbox.checker_cases import CheckerCase, checker_cases
from tests.sandbox.test_hostile import AFTERWARDS, PLAIN_SUITE, assert_nothing_left

SMALL = Limits(cpu_s=1.0, memory_bytes=256 * MIB, output_bytes=MIB)
DOES = Checker(Program("import os, sys\nexec(open(sys.argv[2]).read())"), limits=SMALL)


def skip_without(judge: Judge, languages: frozenset[str]) -> None:
    """Skip what needs a language that this executor's jails do not have."""
    missing = sorted(languages - set(judge.languages))
    if missing:
        pytest.skip(f"no {', '.join(missing)} in a jail of {judge.environment.executor}")


@pytest.mark.parametrize("case", checker_cases("checkers"))
def test_a_checker_decides(judge: Judge, case: CheckerCase) -> None:
    skip_without(judge, case.languages)
    outcome = judge.judge(case.program, case.suite)
    following = judge.judge(AFTERWARDS, PLAIN_SUITE)
    assert outcome.verdict is case.verdict, outcome
    last = outcome.tests[-1]
    assert case.detail_contains in outcome.detail
    assert len(outcome.detail) < 400
    assert outcome.score == case.score
    assert last.checker is not None
    assert last.facts is None or last.facts.exit_code == 0
    assert following.verdict is Verdict.ACCEPTED, following
    assert_nothing_left(judge)


@pytest.mark.parametrize(
    ("program", "verdict"),
    [
        ("print(3)\nraise SystemExit(1)", Verdict.RUNTIME_ERROR),
        ("while True: pass", Verdict.TIME_LIMIT),
        ("x = bytearray(400 << 20)", Verdict.MEMORY_LIMIT),
        ("print('x' * (2 << 20))", Verdict.OUTPUT_LIMIT),
        ("print(", Verdict.COMPILE_ERROR),
    ],
)
def test_a_program_that_ended_badly_reaches_no_checker(judge: Judge, program: str, verdict: Verdict) -> None:
    suite = Suite((Test("1", b"", b"sys.exit(42)"),), checker=DOES, limits=replace(SMALL, cpu_s=0.5))
    outcome = judge.judge(Program(program), suite)
    assert outcome.verdict is verdict, outcome
    assert outcome.tests[0].checker is None


def test_a_program_never_sees_what_is_expected(judge: Judge) -> None:
    """The second test's program runs after a checker has had the answer of the first."""
    search = Program(
        """
import gc, os, sys
secret = "".join(["sec", "ret", "42"])
found = [str(o)[:9] for o in gc.get_objects() if isinstance(o, (str, bytes)) and secret in str(o) and o is not secret]
for fd in range(3, 64):
    try:
        found.append(os.pread(fd, 100, 0))
    except OSError:
        pass
for folder in ("/tmp", "/run/live", "/dev/shm", "/proc"):
    try:
        found += os.listdir(folder)
    except OSError:
        pass
print(found)
"""
    )
    said = b"'secret42'; sys.exit(42 if sys.stdin.read() == '[]\\n' else 43)"
    suite = Suite((Test("1", b"", said), Test("2", b"", said)), checker=DOES, limits=SMALL)
    outcome = judge.judge(search, suite)
    assert outcome.verdict is Verdict.ACCEPTED, outcome


def test_a_checker_has_a_jail_of_its_own(own_judge: Judge) -> None:
    suite = Suite((Test("1", b"", b"sys.exit(42)"),), checker=DOES, limits=SMALL)
    assert len(jails.running_jails(own_judge)) == 1
    assert own_judge.judge(Program(""), suite).verdict is Verdict.ACCEPTED
    worker = own_judge._workers[0]
    assert len(worker.jails) == 2
    for jail in worker.jails:
        jails.end_jail(jail)
    assert own_judge.judge(Program(""), suite).verdict is Verdict.ACCEPTED
    counters = worker.counters
    assert (counters.solutions, counters.tests, counters.checks) == (2, 2, 2)
    assert (counters.jails_started, counters.jails_replaced, counters.faults) == (4, 2, {"jail": 2})
    assert counters.requests == 6


def test_a_value_that_was_returned_can_be_checked(judge: Judge) -> None:
    checker = Checker(
        Program("import json, sys\nsys.exit(42 if sorted(json.load(sys.stdin)) == [1, 2] else 43)"), limits=SMALL
    )
    suite = Suite((Test("1", b"[2, 1]", b""),), Io.FUNCTION, "f", checker=checker, limits=SMALL)
    verdicts = [
        judge.judge(Program(f"def f(a):\n    {body}"), suite).verdict
        for body in ("return a", "return a[:1]", "return {1}", "raise ValueError", "import os; os._exit(0)")
    ]
    wrong, error = Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR
    assert verdicts == [Verdict.ACCEPTED, wrong, wrong, error, error]


def test_the_checker_of_a_suite_is_compiled_once(judge: Judge) -> None:
    skip_without(judge, frozenset({"cpp17"}))
    checker = Checker(Program('#include <bits/stdc++.h>\nint main() { std::cout << "fine"; return 42; }', "cpp17"))
    suite = Suite(tuple(Test(str(n), b"", b"") for n in range(3)), checker=checker, limits=SMALL)
    assert judge.judge(Program(""), suite).verdict is Verdict.ACCEPTED
    before = [worker.counters.requests for worker in judge._workers]
    outcomes = [judge.judge(Program(f"print({n})"), suite) for n in range(4)]
    assert {outcome.verdict for outcome in outcomes} == {Verdict.ACCEPTED}
    requests = sum(worker.counters.requests for worker in judge._workers) - sum(before)
    assert requests == 4 * 3 * 2


def test_groups_say_which_tests_are_run_and_what_they_score(judge: Judge) -> None:
    rules = (
        ("", Group(on_reject=OnReject.CONTINUE, verdict=VerdictRule.ALWAYS_ACCEPT)),
        ("easy", Group(score=ScoreRule.PASS_FAIL, accept_score=30.0)),
        ("hard", Group(score=ScoreRule.PASS_FAIL, accept_score=70.0)),
    )
    names = ("easy/1", "easy/2", "hard/1", "hard/2", "hard/3")
    accepts = (b"sys.exit(42)", b"sys.exit(42)", b"sys.exit(42)", b"sys.exit(43)", b"sys.exit(42)")
    tests = tuple(Test(name, b"", said) for name, said in zip(names, accepts, strict=True))
    suite = Suite(tests, checker=DOES, limits=SMALL, groups=Groups(rules, scoring=True))
    outcome = judge.judge(Program(""), suite)
    assert (outcome.verdict, outcome.score) == (Verdict.WRONG_ANSWER, 30.0)
    assert [result.name for result in outcome.tests] == ["easy/1", "easy/2", "hard/1", "hard/2"]
    assert outcome.detail == "scores 30 of 100; hard/2: the checker rejects it"
    whole = judge.judge(Program(""), suite, run_all=True)
    assert (whole.verdict, whole.score) == (outcome.verdict, outcome.score)
    assert [result.name for result in whole.tests] == list(names)
    passing = replace(suite, tests=tuple(replace(test, expected=b"sys.exit(42)") for test in tests))
    assert (judge.judge(Program(""), passing).verdict, judge.judge(Program(""), passing).score) == ("accepted", 100.0)


# --- what a process left, read without running one -----------------------------------------------------------------

ENDED = Facts(2, 0, 0, 0.1, 0.1, 10 * MIB, 0, SMALL)


def exited(code: int) -> Facts:
    return replace(ENDED, wait_status=code << 8)


@pytest.mark.parametrize(
    ("code", "stderr", "verdict"),
    [
        (1, "wrong answer 1st numbers differ", Verdict.WRONG_ANSWER),
        (2, "wrong output format Unexpected end of file", Verdict.WRONG_ANSWER),
        (1, 'Exception in thread "main" java.lang.NullPointerException', Verdict.INTERNAL_ERROR),
        (2, "panic: runtime error\nwrong answer", Verdict.INTERNAL_ERROR),
        (1, "", Verdict.INTERNAL_ERROR),
        (0, "ok", Verdict.ACCEPTED),
    ],
)
def test_the_code_with_which_an_interpreter_fails_is_not_believed_alone(
    code: int, stderr: str, verdict: Verdict
) -> None:
    left = Left(exited(code), stderr, {}, interpreted=True)
    assert judgement(Protocol.TESTLIB, left, scoring=False).verdict is verdict


@pytest.mark.parametrize("code", range(256))
def test_each_exit_code_has_one_meaning(code: int) -> None:
    """Kattis: 42 and 43, all else is a judge error. testlib.h: its list of codes; _pc(n) with TESTSYS is 50 + n."""
    kattis = judgement(Protocol.KATTIS, Left(exited(code), "", {}), scoring=False).verdict
    assert kattis is {42: Verdict.ACCEPTED, 43: Verdict.WRONG_ANSWER}.get(code, Verdict.INTERNAL_ERROR)
    rejected = dict.fromkeys((1, 2, 4, 8, *range(50, 151)), Verdict.WRONG_ANSWER)
    testlib = judgement(Protocol.TESTLIB, Left(exited(code), "", {}), scoring=False).verdict
    assert testlib is {0: Verdict.ACCEPTED, **rejected}.get(code, Verdict.INTERNAL_ERROR)
