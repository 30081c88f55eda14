"""Programs whose verdicts are known: a jail that judges one of them wrongly judges nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sandbox.errors import JailFault
from sandbox.programs import MIB, Limits, Program, Suite, Test
from sandbox.verdicts import Outcome, Verdict


class Canary(NamedTuple):
    """A program, the input ``1 2``, the output ``3`` and the verdict that it must get."""

    name: str
    source: str
    verdict: Verdict
    limits: Limits = Limits(cpu_s=2.0, memory_bytes=256 * MIB, output_bytes=MIB)


# What is tried must be refused, each time by an error that the program sees.
_CONFINED = """\
import os, socket
refused = 0
for attempt in (
    os.fork,
    socket.socket,
    lambda: os.kill(os.getppid(), 0),
    lambda: os.setuid(0),
    lambda: open("/usr/livecut-canary", "w"),
    lambda: open(f"/proc/{os.getppid()}/mem", "rb"),
):
    try:
        attempt()
    except OSError:
        refused += 1
print(refused - 3)
"""

QUICK = (
    Canary("a right program", "print(sum(map(int, input().split())))\n", Verdict.ACCEPTED),
    Canary("a wrong program", "print(4)\n", Verdict.WRONG_ANSWER),
    Canary("a program that tries to get out", _CONFINED, Verdict.ACCEPTED),
)

THOROUGH = (
    *QUICK,
    Canary("a program that fails", "print(3)\nraise SystemExit(1)\n", Verdict.RUNTIME_ERROR),
    Canary("a program with a broken syntax", "print(3\n", Verdict.COMPILE_ERROR),
    Canary("an endless loop", "while True: pass\n", Verdict.TIME_LIMIT, Limits(cpu_s=0.1)),
    Canary("a sleeper", "import time\ntime.sleep(60)\n", Verdict.TIME_LIMIT, Limits(cpu_s=0.5, wall_s=0.2)),
    Canary("a hog", "x = bytearray(512 << 20)\n", Verdict.MEMORY_LIMIT, Limits(cpu_s=5.0, memory_bytes=64 * MIB)),
    Canary("a flood", "print('3' * (1 << 20))\n", Verdict.OUTPUT_LIMIT, Limits(cpu_s=2.0, output_bytes=64 * 1024)),
)


def check(judge: Callable[[Program, Suite], Outcome], canaries: tuple[Canary, ...] = QUICK) -> None:
    """Judge the canaries. Raises :class:`JailFault` at the first whose verdict is not the known one."""
    for canary in canaries:
        outcome = judge(Program(canary.source), Suite((Test(canary.name, b"1 2\n", b"3\n"),), limits=canary.limits))
        if outcome.verdict is not canary.verdict:
            raise JailFault(f"{canary.name} was judged {outcome.verdict} instead of {canary.verdict}: {outcome.detail}")
