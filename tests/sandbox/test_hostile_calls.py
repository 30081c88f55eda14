"""Hostile call-based programs: each gets its own verdict, and the next call is judged as ever."""

from __future__ import annotations

import pytest

from sandbox import Io, Judge, Limits, Program, Suite, Test, Verdict
from sandbox.programs import MIB, Signature
from tests.sandbox.case_files import JudgeCase, hostile_cases
from tests.sandbox.test_hostile import assert_nothing_left

# What an earlier program could spoil: names of the prelude, modules, builtins, the encoder, the recursion limit.
AFTERWARDS = Program(
    """
import builtins
class Solution:
    def f(self, head: Optional[ListNode]) -> Optional[ListNode]:
        assert not any(hasattr(thing, "seen") for thing in (builtins, math, ListNode))
        assert json.loads(json.dumps([1])) == [1] and len([print, Counter]) == 2
        def deep(n):
            return n and 1 + deep(n - 1)
        return ListNode(deep(5_000), head)
"""
)
PLAIN_SUITE = Suite(
    (Test("1", b"[1,2]", b"[5000, 1, 2]"),),
    Io.FUNCTION,
    "f",
    limits=Limits(2.0, 256 * MIB, MIB),
    signature=Signature(("ListNode",), "ListNode"),
)


@pytest.mark.parametrize("case", hostile_cases("hostile_calls", "calls", "design", "nodes"))
def test_a_hostile_call_harms_nobody(lone_judge: Judge, case: JudgeCase) -> None:
    outcome = lone_judge.judge(case.program, case.suite)
    following = lone_judge.judge(AFTERWARDS, PLAIN_SUITE)
    assert outcome.verdict in case.verdicts, outcome
    assert case.detail_contains in outcome.detail
    assert following.verdict is Verdict.ACCEPTED, following
    assert_nothing_left(lone_judge)
