"""Programs and the verdicts that they must get, from the files in ``cases``."""

from __future__ import annotations

import pytest

from sandbox import Judge, Verdict
from sandbox.languages import find, names
from sandbox.programs import Program, Suite, Test
from tests.sandbox.case_files import JudgeCase, judge_cases


@pytest.mark.parametrize("case", judge_cases("stdin_forms", "verdicts", "calls"))
def test_a_program_gets_its_verdict(judge: Judge, case: JudgeCase) -> None:
    outcome = judge.judge(case.program, case.suite)
    assert outcome.verdict in case.verdicts, outcome
    assert case.detail_contains in outcome.detail
    if outcome.verdict is Verdict.ACCEPTED:
        assert len(outcome.tests) == len(case.suite.tests)


@pytest.mark.parametrize("language", names())
def test_a_language_passes_its_self_test(judge: Judge, language: str) -> None:
    suite = Suite((Test("1", b"41\n", b"42\n"), Test("2", b"-1\n", b"0\n")))
    assert judge.judge(Program(find(language).self_test, language), suite).verdict is Verdict.ACCEPTED
