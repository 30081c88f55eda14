"""What comes out: raw facts of a run, and the verdict that follows from them. Pure."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any

from sandbox.agent import wire
from sandbox.programs import Allowance, Limits

# How far past its CPU limit a test may run, so that one just over is told from one that never ends.
CPU_GRACE = 1.2


class Verdict(StrEnum):
    """What became of a program. ``internal_error`` is ours: it is retried and never scored."""

    ACCEPTED = "accepted"
    WRONG_ANSWER = "wrong_answer"
    TIME_LIMIT = "time_limit"
    MEMORY_LIMIT = "memory_limit"
    OUTPUT_LIMIT = "output_limit"
    RUNTIME_ERROR = "runtime_error"
    COMPILE_ERROR = "compile_error"
    INTERNAL_ERROR = "internal_error"


@dataclass(frozen=True)
class Facts:
    """What was measured of one test's process, and the limits that it ran under: enough to work out again, without
    running anything, everything but whether its output is right (:func:`ended_badly`).

    ``limits`` are the suite's with the language's allowance: ``cpu_factor`` times the time, ``cpu_extra_s`` and
    ``memory_extra_bytes`` more. ``runtime_out_of_memory``: a runtime that keeps the memory limit itself said that it
    was reached.
    """

    stage: int
    killed_by: int
    wait_status: int
    cpu_s: float
    wall_s: float
    peak_memory_bytes: int
    output_bytes: int
    limits: Limits
    allowance: Allowance = field(default_factory=Allowance)
    runtime_out_of_memory: bool = False

    @property
    def signal(self) -> int | None:
        """The signal that ended the process, None when it exited."""
        number = self.wait_status & 0x7F
        return number or None

    @property
    def exit_code(self) -> int | None:
        """The exit code, None when a signal ended the process."""
        return None if self.signal else (self.wait_status >> 8) & 0xFF

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values, for a store; :meth:`from_dict` reads them back."""
        return {**asdict(self), "signal": self.signal, "exit_code": self.exit_code}

    @classmethod
    def from_reply(
        cls,
        reply: wire.Reply,
        limits: Limits,
        output_bytes: int,
        *,
        allowance: Allowance | None = None,
        runtime_out_of_memory: bool = False,
    ) -> Facts:
        """What an agent's reply says, with the limits that the process ran under."""
        return cls(
            stage=reply.stage,
            killed_by=reply.killed_by,
            wait_status=reply.wait_status,
            cpu_s=reply.cpu_us / 1e6,
            wall_s=reply.wall_us / 1e6,
            peak_memory_bytes=reply.peak_memory_bytes,
            output_bytes=output_bytes,
            limits=limits,
            allowance=allowance or Allowance(),
            runtime_out_of_memory=runtime_out_of_memory,
        )

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Facts:
        """The facts that :meth:`as_dict` wrote. Raises ``KeyError`` or ``TypeError`` for what it did not."""
        values = {"runtime_out_of_memory": False, **values}  # older facts do not have it
        own = {entry.name: values[entry.name] for entry in fields(cls)}
        return cls(**own | {"limits": Limits(**own["limits"]), "allowance": Allowance(**own["allowance"])})


@dataclass(frozen=True)
class TestResult:
    """One test's verdict with its facts. ``detail`` is a line for a person: the error's last line, or what differs.

    ``idle`` marks a wall-time kill of a process that hardly used the CPU; ``confirmed`` one that was run again alone.
    ``score`` and ``multiplier`` (of the score that the test's group has for it) are what a checker gave, ``checker``
    are the facts of the checker's process, ``transcript`` is what it and the program said to each other.
    """

    __test__ = False

    name: str
    verdict: Verdict
    facts: Facts | None
    detail: str = ""
    idle: bool = False
    confirmed: bool = False
    score: float | None = None
    multiplier: float | None = None
    checker: Facts | None = None
    transcript: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values, for a store. What only a checker gives is left out where there was none."""
        facts = self.facts.as_dict() if self.facts else None
        checked: dict[str, Any] = {"multiplier": self.multiplier, "transcript": self.transcript}
        checked["checker"] = self.checker.as_dict() if self.checker else None
        return {
            "name": self.name,
            "verdict": self.verdict.value,
            "facts": facts,
            "detail": self.detail,
            "idle": self.idle,
            "confirmed": self.confirmed,
            "score": self.score,
            **{name: value for name, value in checked.items() if value not in (None, "")},
        }


@dataclass(frozen=True)
class GroupResult:
    """What a group came to. ``score`` is None in a suite without scores.

    ``was_run`` False: something that the group requires was not accepted; ``verdict`` is that one's.
    """

    name: str
    verdict: Verdict
    score: float | None
    was_run: bool = True


@dataclass(frozen=True)
class Outcome:
    """A program's verdict: that of its first test that is not accepted. ``tests`` ends there unless all were asked.

    ``score`` is that of a suite with scores; accepted then means the whole score. ``groups`` are empty in a suite
    without any.
    """

    verdict: Verdict
    tests: tuple[TestResult, ...]
    detail: str = ""
    score: float | None = None
    groups: tuple[GroupResult, ...] = ()


def ended_badly(facts: Facts) -> Verdict | None:
    """The verdict from the facts alone; None when the output is to be compared.

    The order is compile error, CPU time, memory, wall time, output, runtime error. CPU time comes before memory: what a
    program does in the time that it is let run past its limit must not count, or chance would choose between the two.
    """
    limits = facts.limits
    ended_for_time = facts.killed_by in (wire.KILLED_BY_WALL, wire.KILLED_BY_CPU)
    checks = (
        (facts.stage == wire.ISOLATED, Verdict.COMPILE_ERROR),
        (facts.cpu_s > limits.cpu_s, Verdict.TIME_LIMIT),
        (_out_of_memory(facts), Verdict.MEMORY_LIMIT),
        (ended_for_time, Verdict.TIME_LIMIT),
        (facts.output_bytes >= limits.output_bytes, Verdict.OUTPUT_LIMIT),
        (facts.wait_status != 0, Verdict.RUNTIME_ERROR),
    )
    return next((verdict for applies, verdict in checks if applies), None)


def _out_of_memory(facts: Facts) -> bool:
    """Whether memory ended the process: by the agent's look at it, its runtime, its peak, or the kernel."""
    limit = facts.limits.memory_bytes
    if facts.killed_by == wire.KILLED_BY_MEMORY or facts.runtime_out_of_memory or facts.peak_memory_bytes > limit:
        return True
    return _ended_by_kernel(facts) and facts.peak_memory_bytes > limit // 2


def _ended_by_kernel(facts: Facts) -> bool:
    """Whether the kernel ended it for want of memory, or may have: where that cannot be known (see
    :data:`wire.KILLED_BY_KERNEL`) it may have been the program itself."""
    return facts.killed_by == wire.KILLED_BY_KERNEL


def is_idle(facts: Facts) -> bool:
    """Whether wall time ended a process that had CPU time left: it slept, or the machine was very busy."""
    return facts.killed_by == wire.KILLED_BY_WALL and facts.cpu_s <= facts.limits.cpu_s


def lasted(facts: Facts) -> bool:
    """Whether it was let run for all the wall time that there is: alone it would keep others waiting as long."""
    return facts.wall_s >= facts.limits.wall_kill_s * wire.WALL_STRETCH


def needs_confirmation(facts: Facts) -> bool:
    """Whether a test must be run again alone before it counts.

    A time limit near the limit, or idle when wall time ended it; a process that the kernel killed, since what was short
    may have been the machine's memory.
    """
    limit_s = facts.limits.cpu_s
    near = limit_s < facts.cpu_s <= limit_s * CPU_GRACE and facts.killed_by == wire.KILLED_BY_NOBODY
    return near or is_idle(facts) or _ended_by_kernel(facts)
