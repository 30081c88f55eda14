"""The verdict that follows from the facts of a run, before any output is compared."""

from __future__ import annotations

import json
import signal
from dataclasses import replace
from typing import Any

import pytest

from sandbox import Allowance, Facts, Limits, Suite, Test, Verdict
from sandbox.agent import wire
from sandbox.programs import MIB, Io
from sandbox.verdicts import CPU_GRACE, ended_badly, is_idle, lasted, needs_confirmation

LIMITS = Limits(cpu_s=1.0, memory_bytes=64 * MIB, output_bytes=1000)
GOOD = Facts(wire.LOADED, wire.KILLED_BY_NOBODY, 0, 0.1, 0.1, 10 * MIB, 10, LIMITS)
KILLED = int(signal.SIGKILL)
EXITED_1 = 1 << 8


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, None),
        ({"cpu_s": 1.0, "output_bytes": 999, "peak_memory_bytes": 64 * MIB}, None),
        ({"stage": wire.ISOLATED, "wait_status": EXITED_1}, Verdict.COMPILE_ERROR),
        ({"stage": wire.ISOLATED, "killed_by": wire.KILLED_BY_MEMORY, "wait_status": KILLED}, Verdict.COMPILE_ERROR),
        ({"killed_by": wire.KILLED_BY_MEMORY, "wait_status": KILLED}, Verdict.MEMORY_LIMIT),
        ({"peak_memory_bytes": 64 * MIB + 1}, Verdict.MEMORY_LIMIT),
        ({"peak_memory_bytes": 64 * MIB + 1, "cpu_s": 1.0, "output_bytes": 1000}, Verdict.MEMORY_LIMIT),
        ({"peak_memory_bytes": 64 * MIB + 1, "cpu_s": 1.1, "killed_by": wire.KILLED_BY_MEMORY}, Verdict.TIME_LIMIT),
        (
            {"killed_by": wire.KILLED_BY_KERNEL, "wait_status": KILLED, "peak_memory_bytes": 40 * MIB},
            Verdict.MEMORY_LIMIT,
        ),
        ({"killed_by": wire.KILLED_BY_KERNEL, "wait_status": KILLED}, Verdict.RUNTIME_ERROR),
        ({"wait_status": KILLED, "peak_memory_bytes": 40 * MIB}, Verdict.RUNTIME_ERROR),
        ({"killed_by": wire.KILLED_BY_CPU, "wait_status": KILLED}, Verdict.TIME_LIMIT),
        ({"killed_by": wire.KILLED_BY_WALL, "wait_status": KILLED}, Verdict.TIME_LIMIT),
        ({"cpu_s": 1.001}, Verdict.TIME_LIMIT),
        ({"cpu_s": 1.001, "output_bytes": 1000, "wait_status": EXITED_1}, Verdict.TIME_LIMIT),
        ({"runtime_out_of_memory": True, "wait_status": 3 << 8}, Verdict.MEMORY_LIMIT),
        ({"runtime_out_of_memory": True, "wait_status": 3 << 8, "cpu_s": 1.1}, Verdict.TIME_LIMIT),
        ({"output_bytes": 1000}, Verdict.OUTPUT_LIMIT),
        ({"output_bytes": 1000, "wait_status": EXITED_1}, Verdict.OUTPUT_LIMIT),
        ({"wait_status": EXITED_1}, Verdict.RUNTIME_ERROR),
        ({"wait_status": int(signal.SIGSEGV)}, Verdict.RUNTIME_ERROR),
        ({"wait_status": int(signal.SIGSEGV) | 0x80}, Verdict.RUNTIME_ERROR),
    ],
)
def test_the_order_of_verdicts(changes: dict[str, Any], verdict: Verdict | None) -> None:
    facts = replace(GOOD, **changes)
    assert ended_badly(facts) is verdict
    # What a store kept of it gives the same verdict without running anything.
    kept = json.loads(json.dumps(facts.as_dict()))
    assert Facts.from_dict(kept) == facts
    assert (kept["signal"], kept["exit_code"]) == (facts.signal, facts.exit_code)


def test_facts_of_before_a_field_was_there_can_be_read() -> None:
    kept = GOOD.as_dict()
    del kept["runtime_out_of_memory"]
    assert Facts.from_dict(kept) == GOOD


def test_signal_and_exit_code_exclude_each_other() -> None:
    assert (GOOD.signal, GOOD.exit_code) == (None, 0)
    exited, crashed = replace(GOOD, wait_status=253 << 8), replace(GOOD, wait_status=int(signal.SIGSEGV) | 0x80)
    assert (exited.signal, exited.exit_code) == (None, 253)
    assert (crashed.signal, crashed.exit_code) == (signal.SIGSEGV, None)


@pytest.mark.parametrize(
    ("changes", "confirmed"),
    [
        ({"cpu_s": 1.0}, False),
        ({"cpu_s": 1.1}, True),
        ({"cpu_s": 1.0 * CPU_GRACE + 0.01}, False),
        ({"cpu_s": 1.21, "killed_by": wire.KILLED_BY_CPU}, False),
        ({"cpu_s": 0.9, "killed_by": wire.KILLED_BY_WALL}, True),
        ({"cpu_s": 1.1, "killed_by": wire.KILLED_BY_WALL}, False),
        ({"killed_by": wire.KILLED_BY_KERNEL, "wait_status": KILLED}, True),
        ({"wait_status": KILLED}, False),
    ],
)
def test_a_time_limit_near_the_limit_or_by_wall_time_alone_is_measured_again(
    changes: dict[str, Any], confirmed: bool
) -> None:
    assert needs_confirmation(replace(GOOD, **changes)) is confirmed


def test_a_language_has_its_allowance_on_top_of_the_limits() -> None:
    allowed = Allowance(cpu_factor=2.0, cpu_extra_s=0.5, memory_extra_bytes=10 * MIB).applied(LIMITS)
    assert (allowed.cpu_s, allowed.memory_bytes, allowed.output_bytes) == (2.5, 74 * MIB, 1000)


def test_only_a_process_with_cpu_time_left_is_idle() -> None:
    stopped = replace(GOOD, killed_by=wire.KILLED_BY_WALL)
    assert is_idle(stopped)
    assert not is_idle(replace(stopped, cpu_s=1.1))
    assert not is_idle(GOOD)


def test_all_the_wall_time_is_six_times_what_is_given_to_what_sleeps() -> None:
    assert LIMITS.wall_kill_s == 3.0
    assert lasted(replace(GOOD, killed_by=wire.KILLED_BY_WALL, wall_s=18.0))
    assert not lasted(replace(GOOD, killed_by=wire.KILLED_BY_WALL, wall_s=17.9))


@pytest.mark.parametrize(
    ("limits", "wall_s"), [(Limits(cpu_s=0.5), 2.5), (Limits(cpu_s=6), 18), (Limits(cpu_s=6, wall_s=7), 7)]
)
def test_wall_time_guards_but_does_not_decide(limits: Limits, wall_s: float) -> None:
    assert limits.wall_kill_s == wall_s


@pytest.mark.parametrize("limits", [{"cpu_s": 0}, {"memory_bytes": 0}, {"output_bytes": -1}, {"cpu_s": float("nan")}])
def test_a_limit_of_nothing_is_refused(limits: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="limits must be above 0"):
        Limits(**limits)


def test_a_suite_without_tests_is_refused() -> None:
    with pytest.raises(ValueError, match="no tests is not a pass"):
        Suite(tests=())


def test_a_call_based_suite_without_a_name_is_refused() -> None:
    with pytest.raises(ValueError, match="name of its entry point"):
        Suite(tests=(Test("1", b"1", b"1"),), io=Io.FUNCTION)
