"""Hostile programs: each gets its own verdict, the next program is judged as ever, and the host is as it was."""

from __future__ import annotations

import pytest

from sandbox import Judge, Limits, Program, Suite, Test, Verdict
from sandbox.programs import MIB
from tests.sandbox import jails
from tests.sandbox.case_files import JudgeCase, judge_cases

# What an earlier program could spoil: the stack, memory, threads, descriptors, the scratch folder, the input.
AFTERWARDS = Program(
    """
import os, sys, threading
assert os.listdir("/tmp") == [] and os.getcwd() == "/tmp"
block = bytearray(50 << 20)
threads = [threading.Thread(target=block.count, args=(1, 0, 10)) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
files = [open("/dev/null") for _ in range(40)]
sys.setrecursionlimit(10**6)
nested = []
for _ in range(5_000):
    nested = [nested]
assert len(repr(nested)) == 10_002
print(sum(map(int, input().split())))
"""
)
PLAIN_SUITE = Suite((Test("1", b"1 2\n", b"3\n"),), limits=Limits(2.0, 256 * MIB, MIB))


@pytest.mark.parametrize("case", judge_cases("hostile"))
def test_a_hostile_program_harms_nobody(judge: Judge, case: JudgeCase) -> None:
    outcome = judge.judge(case.program, case.suite)
    following = judge.judge(AFTERWARDS, PLAIN_SUITE)
    assert outcome.verdict in case.verdicts, outcome
    assert case.detail_contains in outcome.detail
    assert following.verdict is Verdict.ACCEPTED, following
    assert_nothing_left(judge)


def assert_nothing_left(judge: Judge) -> None:
    """The jails hold their agents' processes and no other; there are no more folders than jails; no file got out."""
    running = jails.running_jails(judge)
    assert [jails.strangers(jail) for jail in running] == [0] * len(running)
    assert {jails.folder_of(jail) for jail in running} - {None} <= set(jails.folders(jails.OWN_PID))
    assert jails.hostile_files() == []
