"""Programs and the verdicts that they must get, from the files in ``cases``."""

from __future__ import annotations

import pytest

from sandbox import Judge, Verdict
from tests.sandbox.case_files import JudgeCase, judge_cases


@pytest.mark.parametrize("case", judge_cases("stdin_forms", "verdicts", "calls", "nodes", "design"))
def test_a_program_gets_its_verdict(judge: Judge, case: JudgeCase) -> None:
    outcome = judge.judge(case.program, case.suite)
    assert outcome.verdict in case.verdicts, outcome
    assert case.detail_contains in outcome.detail
    if outcome.verdict is Verdict.ACCEPTED:
        assert len(outcome.tests) == len(case.suite.tests)
