"""How fast the machine is: CPU seconds of a fixed program in the jail, so that a time limit made here can be read
elsewhere (`eval.made_tests.time_limit`)."""

from __future__ import annotations

from typing import Final

from eval.made_tests.time_limit import Calibration
from sandbox import Job, Limits, Program, SandboxUnavailable, Suite, Test
from sandbox.validation import Runner

WORKLOAD: Final = "python-loop-1"
"""The name of the program below; another program is another workload."""
_PROGRAM: Final = Program(
    """\
def work(n):
    found, seen = 0, {}
    for i in range(n):
        found = (found * 31 + i) % 1000003
        seen[found & 1023] = i
    return found + sum(sorted(seen.values()))


print(work(1000000))
"""
)
_ROUNDS: Final = 3


def calibrate(runner: Runner) -> Calibration:
    """The fastest of a few rounds: what slows one down is the machine's other work. ``SandboxUnavailable`` if none
    ends."""
    suite = Suite(tuple(Test(f"round {turn}", b"", b"") for turn in range(_ROUNDS)), limits=Limits(cpu_s=60.0))
    for _, outputs in runner.outputs([Job(WORKLOAD, _PROGRAM, suite)]):
        times = [one.facts.cpu_s for one in outputs if one.facts is not None and one.content is not None]
        if times:
            return Calibration(WORKLOAD, max(min(times), 1e-6))
    raise SandboxUnavailable("the program that measures the machine does not run", "see `live doctor`")
