"""Hostile programs: each gets its own verdict, the next program is judged as ever in the same jail, and the host is as
it was (``conftest.py`` looks at it before and after)."""

from __future__ import annotations

import threading

import pytest

from sandbox import Judge, Limits, Program, Suite, Test, Verdict
from sandbox.programs import MIB
from tests.sandbox import host, jails
from tests.sandbox.case_files import JudgeCase, hostile_cases

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


@pytest.mark.parametrize("case", hostile_cases("hostile", "stdin_forms", "verdicts"))
def test_a_hostile_program_harms_nobody(lone_judge: Judge, case: JudgeCase) -> None:
    outcome = lone_judge.judge(case.program, case.suite)
    following = lone_judge.judge(AFTERWARDS, PLAIN_SUITE)
    assert outcome.verdict in case.verdicts, outcome
    assert case.detail_contains in outcome.detail
    assert case.idle in (None, outcome.tests[-1].idle)
    assert following.verdict is Verdict.ACCEPTED, following
    assert_nothing_left(lone_judge)


def assert_nothing_left(judge: Judge) -> None:
    """The jails hold their agents' processes and no other; there are no more folders than jails; no file got out, and
    there is no disk that one could be written to."""
    running = jails.running_jails(judge)
    assert [jails.strangers(jail) for jail in running] == [0] * len(running)
    assert {jails.folder_of(jail) for jail in running} - {None} <= set(jails.folders(jails.OWN_PID))
    assert jails.hostile_files() == []
    assert [host.writable_disks(jail) for jail in running] == [[]] * len(running)


def test_a_signal_of_its_own_is_no_memory_limit_where_the_kernel_counts_its_own(executor: str) -> None:
    """Docker shows a container the kernel's count; bubblewrap's jails do not see it (``hostile.toml`` has both)."""
    if executor != "docker":
        pytest.skip("this executor shows no count")
    program = Program("import os\nblock = bytearray(200 << 20)\nos.kill(os.getpid(), 9)")
    with Judge(executor, jobs=1) as judge:
        outcome = judge.judge(program, PLAIN_SUITE)
    assert outcome.verdict is Verdict.RUNTIME_ERROR, outcome
    assert not outcome.tests[0].confirmed


def test_an_input_of_100_mb_that_nobody_reads(lone_judge: Judge) -> None:
    before = host.look()
    suite = Suite((Test("1", b"0\n" * 50_000_000, b"3\n"),), limits=PLAIN_SUITE.limits)
    for program, verdict in (("print(3)", Verdict.ACCEPTED), ("exit(3)", Verdict.RUNTIME_ERROR)):
        assert lone_judge.judge(Program(program), suite).verdict is verdict
        assert lone_judge.judge(AFTERWARDS, PLAIN_SUITE).verdict is Verdict.ACCEPTED
    assert_nothing_left(lone_judge)
    assert host.differences(before) == []


def test_a_million_writes_of_a_byte_take_the_programs_own_time(lone_judge: Judge) -> None:
    before = host.look()
    program = Program("import os\nfor _ in range(1_000_000):\n    os.write(1, b'x')")
    suite = Suite((Test("1", b"", b"x" * 1_000_000),), limits=Limits(10.0, 256 * MIB, 2 * MIB))
    outcome = lone_judge.judge(program, suite)
    assert outcome.verdict is Verdict.ACCEPTED, outcome
    facts = outcome.tests[0].facts
    assert facts is not None
    assert facts.output_bytes == 1_000_000
    assert facts.cpu_s > 0.1  # a system call takes longer than 100 ns
    assert lone_judge.judge(AFTERWARDS, PLAIN_SUITE).verdict is Verdict.ACCEPTED
    assert_nothing_left(lone_judge)
    assert host.differences(before) == []


def test_a_jail_whose_host_is_cut_off_is_replaced_and_the_program_judged_all_the_same(lone_judge: Judge) -> None:
    """While a test runs in it, the connections to the daemon are broken and the container is removed."""
    lone_judge.judge(AFTERWARDS, PLAIN_SUITE)
    before = host.look()
    (jail,) = jails.running_jails(lone_judge)

    def break_all() -> None:
        if jails.cut_connections(lone_judge):
            jails.end_enclosure(jail)
        else:  # what holds a jail of bubblewrap does nothing after its start
            jails.end_jail(jail)

    timer = threading.Timer(0.5, break_all)
    timer.start()
    slow = Program("import time\ntime.sleep(1.5)\nprint(sum(map(int, input().split())))")
    outcome = lone_judge.judge(slow, PLAIN_SUITE)
    timer.join()
    assert outcome.verdict is Verdict.ACCEPTED, outcome
    assert jails.running_jails(lone_judge) != [jail]
    assert lone_judge.judge(AFTERWARDS, PLAIN_SUITE).verdict is Verdict.ACCEPTED
    assert_nothing_left(lone_judge)
    assert host.differences(before) == []
