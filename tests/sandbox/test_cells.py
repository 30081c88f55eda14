"""A place for a jail: what is looked at before a jail judges, and when it is replaced."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from sandbox import JailFault, Judge, Limits, Program, SandboxUnavailable, Suite, Test, Verdict, canaries, cells
from sandbox.canaries import Canary
from sandbox.cells import Counters
from sandbox.programs import MIB, Checker
from sandbox.worker import Worker
from tests.sandbox import jails

SMALL = Limits(cpu_s=1.0, memory_bytes=128 * MIB, output_bytes=MIB)
SUITE = Suite((Test("1", b"1 2\n", b"3\n"), Test("2", b"2 2\n", b"4\n")), limits=SMALL)
ADD = Program("print(sum(map(int, input().split())))")
MISJUDGED = Canary("a program that is judged otherwise", "print(4)\n", Verdict.ACCEPTED)


def only_worker(judge: Judge) -> Worker:
    (worker,) = judge._workers
    return worker


def test_jails_that_judge_wrongly_judge_nothing(executor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = len(jails.left_by(jails.OWN_PID))
    monkeypatch.setattr(canaries, "QUICK", (MISJUDGED,))
    with pytest.raises(SandboxUnavailable, match="judges its own test programs wrongly: a program that is judged") as e:
        Judge(executor, jobs=1)
    assert "live doctor" in e.value.hint
    assert jails.wait_until(lambda: len(jails.left_by(jails.OWN_PID)) <= before, 10)


def test_a_jail_that_judges_wrongly_is_replaced(own_judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = iter([True, False])

    def check(*_: object) -> None:
        if next(failing):
            raise JailFault("a canary was judged wrongly")

    worker = only_worker(own_judge)
    jails.end_jail(worker.jails[0])
    monkeypatch.setattr(canaries, "check", check)
    assert own_judge.judge(ADD, SUITE).verdict is Verdict.ACCEPTED
    assert worker.counters.faults == {"jail": 1, "canary": 1}
    assert (worker.counters.jails_started, worker.counters.jails_replaced) == (3, 2)


def test_a_jail_is_examined_thoroughly_after_so_many_solutions(
    own_judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cells, "_SOLUTIONS_BETWEEN_EXAMINATIONS", 3)
    jail = only_worker(own_judge).jails[0]
    for _ in range(4):
        assert own_judge.judge(ADD, SUITE).verdict is Verdict.ACCEPTED
    assert only_worker(own_judge).jails == [jail]
    assert only_worker(own_judge).counters.faults == {}
    monkeypatch.setattr(canaries, "THOROUGH", (MISJUDGED,))
    assert own_judge.judge(ADD, SUITE).verdict is Verdict.ACCEPTED
    with pytest.raises(SandboxUnavailable, match="judged wrong_answer instead of accepted"):
        own_judge.judge(ADD, SUITE)


def test_a_jail_is_examined_thoroughly_after_so_long(own_judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "_SECONDS_BETWEEN_EXAMINATIONS", 0.0)
    monkeypatch.setattr(canaries, "THOROUGH", (MISJUDGED,))
    with pytest.raises(SandboxUnavailable, match="judges its own test programs wrongly"):
        own_judge.judge(ADD, SUITE)


def test_where_nothing_else_keeps_solutions_apart_each_gets_a_new_jail(own_judge: Judge) -> None:
    worker = only_worker(own_judge)
    suite = replace(SUITE, checker=Checker(Program("import sys; sys.exit(42)"), limits=SMALL))
    assert own_judge.judge(ADD, suite).verdict is Verdict.ACCEPTED
    before = worker.jails
    assert len(before) == 2
    for jail in before:
        jail.level = replace(jail.level, renew_each_solution=True)
    assert own_judge.judge(ADD, suite).verdict is Verdict.ACCEPTED
    assert worker.jails == []
    assert own_judge.judge(ADD, suite).verdict is Verdict.ACCEPTED
    assert worker.counters.faults == {}
    assert worker.counters.jails_replaced == 2


def test_counts_can_be_added_up_while_others_count() -> None:
    """A dict that grows while it is gone through is an error; here it grows at its first key."""
    counting, done = Counters(), threading.Event()

    def count() -> None:
        for number in range(200_000):
            counting.count_fault(f"kind {number}")
        done.set()

    thread = threading.Thread(target=count)
    thread.start()
    while not done.is_set():
        Counters().add(counting)
    thread.join()
    total = Counters()
    total.add(counting)
    assert total.faults == dict.fromkeys((f"kind {number}" for number in range(200_000)), 1)


def test_what_a_worker_does_is_counted(own_judge: Judge) -> None:
    counters = only_worker(own_judge).counters
    assert (counters.jails_started, counters.solutions, counters.tests, counters.requests) == (1, 0, 0, 0)
    own_judge.judge(ADD, SUITE)
    own_judge.judge(Program("print(4)"), SUITE)
    assert (counters.solutions, counters.tests, counters.checks, counters.requests) == (2, 3, 0, 3)
