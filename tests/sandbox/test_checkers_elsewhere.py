"""Checkers and conversations on the executors beside the two usual ones: where no descriptor can be passed, where no
user can be switched, in a kernel of its own."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox import Judge, Program, Verdict
from tests.sandbox.checker_cases import CheckerCase, checker_cases
from tests.sandbox.conftest import OTHER_EXECUTORS
from tests.sandbox.test_checking import skip_without
from tests.sandbox.test_hostile import PLAIN_SUITE

ADD = Program("print(sum(map(int, input().split())))")
CHOSEN = (
    "checkers: any right answer is accepted",
    "checkers: input, answer, folder with its separator, and the output on standard input",
    "checkers: an exception",
    "checkers: a multiplier, and so a part of the score",
    "checkers: testlib: wrong answer",
    "checkers: Python of several files",
    "checkers: an output of 15 MiB",
    "checkers: what a checker leaves is gone for the next one",
    "interaction: found by halving",
    "interaction: an interactor of testlib's kind: ok",
    "interaction: both say much before they listen",
    "interaction: the program learns of the validator's end by the end of its input",
    "interaction: the validator learns of the program's end by the end of its input",
    "interaction: ten wrong guesses, and the program goes on",
    "interaction: a wrong answer and a crash right after it",
    "interaction: a crash in the middle",
    "interaction: accepted first, and the program writes on: nobody listens, and it does no harm",
    "interaction: both wait",
    "interaction: a program that floods a validator that listens",
    "interaction: a program that floods a validator that does not listen",
    "interaction: a program that closes its input and says what is wanted",
    "interaction: a validator that crashes",
    "interaction: a validator that floods",
)


@pytest.fixture(scope="session", params=OTHER_EXECUTORS)
def executor(request: pytest.FixtureRequest) -> str:
    """The name of each executor in turn."""
    return str(request.param)


def chosen_cases() -> list[Any]:
    """The chosen cases of both files; each must be there."""
    cases = {param.id: param for param in checker_cases("checkers") + checker_cases("interaction")}
    return [cases[name] for name in CHOSEN]


@pytest.mark.parametrize("case", chosen_cases())
def test_the_verdict_is_the_same_elsewhere(judge: Judge, case: CheckerCase) -> None:
    skip_without(judge, case.languages)
    outcome = judge.judge(case.program, case.suite)
    assert outcome.verdict is case.verdict, outcome
    assert case.detail_contains in outcome.detail
    assert case.transcript_contains in outcome.tests[-1].transcript
    assert judge.judge(ADD, PLAIN_SUITE).verdict is Verdict.ACCEPTED
