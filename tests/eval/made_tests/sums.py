"""A problem written by us, the sum of N integers: its rows, programs that are functions of this process, and what runs
them in place of a sandbox."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from eval.made_tests.calibration import WORKLOAD
from sandbox import Counters, Environment, Facts, Job, Limits, Output, Program, Suite, Verdict
from sandbox.agent import wire
from tests.eval.made_tests.fake_runner import Answer, FakeRunner

Key = TypeVar("Key")

STATEMENT = """\
Print the sum of N integers.

## Constraints

- $1 \\leq N \\leq 1000$
- $-10^9 \\leq A_i \\leq 10^9$
- All values in the input are integers.

## Input

The input is given from Standard Input in the following format:

```
$N$
$A_1$ $A_2$ $\\ldots$ $A_N$
```
"""
SAMPLES = (
    {"input": "3\n1 2 3\n", "expected": "6\n", "origin": "sample"},
    {"input": "1\n-5\n", "expected": "-5\n", "origin": "sample"},
)


def numbers(text: bytes) -> list[int]:
    """The numbers of an input, without their count."""
    return [int(word) for word in text.split()[1:]]


def right(text: bytes) -> Answer:
    """The sum."""
    return b"%d\n" % sum(numbers(text))


def in_32_bits(text: bytes) -> Answer:
    """What a sum comes to that overflows."""
    return b"%d\n" % ((sum(numbers(text)) + 2**31) % 2**32 - 2**31)


def first_hundred(text: bytes) -> Answer:
    """The sum of the first hundred."""
    return b"%d\n" % sum(numbers(text)[:100])


def first_five(text: bytes) -> Answer:
    """The sum of the first five."""
    return b"%d\n" % sum(numbers(text)[:5])


def no_negatives(text: bytes) -> Answer:
    """What fails the second sample."""
    return b"%d\n" % sum(map(abs, numbers(text)))


def crash_on_many(text: bytes) -> Answer:
    """What holds no more than 500."""
    return Verdict.RUNTIME_ERROR if len(numbers(text)) > 500 else right(text)


FUNCTIONS: dict[str, Callable[[bytes], Answer]] = {
    "right": right,
    "right too": right,
    "right again": right,
    "in 32 bits": in_32_bits,
    "first hundred": first_hundred,
    "first five": first_five,
    "no negatives": no_negatives,
    "crash on many": crash_on_many,
}


class FakeMachine(FakeRunner):
    """Runs the programs above. ``absent`` are languages that it lacks; ``interrupted_by`` is a source at which Ctrl-C
    comes."""

    def __init__(
        self,
        programs: Mapping[str, Callable[[bytes], Answer]] | None = None,
        *,
        absent: Collection[str] = (),
        interrupted_by: str | None = None,
    ) -> None:
        super().__init__(FUNCTIONS if programs is None else programs)
        self.environment = Environment("fake", {"absent": sorted(absent)})
        self.languages = tuple(one for one in ("python3", "cpp17") if one not in absent)
        self.counters = Counters()
        self._absent = absent
        self.interrupted_by = interrupted_by

    def lacks(self, program: Program, suite: Suite) -> str | None:
        """The language of a program, where it is absent."""
        return program.language if program.language in self._absent else None

    def outputs(
        self, jobs: Iterable[Job[Key]], *, most_failures: int | None = None
    ) -> Iterator[tuple[Key, tuple[Output, ...]]]:
        """As `sandbox.Judge.outputs`; the program that measures a machine takes a tenth of a second."""
        for job in jobs:
            if job.program.source == self.interrupted_by:
                raise KeyboardInterrupt
            if job.key == WORKLOAD:
                facts = Facts(wire.LOADED, wire.KILLED_BY_NOBODY, 0, 0.1, 0.1, 0, 0, Limits())
                yield job.key, (Output("round", b"1\n", None, "", facts),)
            else:
                yield from super().outputs([job], most_failures=most_failures)


def row(native_id: str = "sum", **changes: Any) -> dict[str, Any]:
    """The problem in the project's own form."""
    return {
        "platform": "nova",
        "id": native_id,
        "title": "Sum",
        "released": "2026-02-01T12:00:00Z",
        "statement": STATEMENT,
        "tests": list(SAMPLES),
    } | changes
