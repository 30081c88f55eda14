"""Input validators: programs that say which inputs a problem may have.

A validator is called as problem packages have it: the input is its standard input, and it ends with exit code 42 where
that is valid and 43 where it is not (spec/legacy/input_validators.md of the problem package format). What it prints is
looked at by nobody; the last line of its standard error says why it refuses.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Final, Protocol, TypeVar

from sandbox.judge import Job
from sandbox.outputs import Output
from sandbox.programs import MIB, Limits, Program, Suite, Test
from sandbox.verdicts import Verdict

Key = TypeVar("Key", bound=Hashable)

LIMITS: Final = Limits(cpu_s=60.0, memory_bytes=2048 * MIB)
"""What a validator may use for one input."""
VALID: Final = 42
INVALID: Final = 43

_AT_ONCE = 8
"""So many inputs are run after one another, also where the first of them makes the validator hang."""


class Runner(Protocol):
    """What runs programs on inputs: `sandbox.Judge`."""

    def outputs(
        self, jobs: Iterable[Job[Key]], *, most_failures: int | None = None
    ) -> Iterator[tuple[Key, tuple[Output, ...]]]:
        """Each job's outputs on its suite's tests, in the order in which they are ready."""
        ...


class NotAValidator(Exception):
    """A validator ended with neither exit code.

    ``position`` is that of the input, from 0; ``how`` says in words how it ended. ``is_ours``: the sandbox failed, and
    the program may be in order.
    """

    def __init__(self, position: int, how: str, *, is_ours: bool = False) -> None:
        super().__init__(f"it ends with neither {VALID} nor {INVALID} on input {position + 1}: {how}")
        self.position = position
        self.how = how
        self.is_ours = is_ours


def refusals(runner: Runner, validator: Program, inputs: Sequence[bytes]) -> list[str | None]:
    """Why each input is refused, None: it is valid.

    Raises ``NotAValidator`` for the first input that it says nothing of, after which few others are run; else what the
    runner raises.
    """
    found: dict[int, Output] = {}
    at_fault: list[int] = []

    def jobs(ranges: Iterable[tuple[int, int]]) -> Iterator[Job[int]]:
        for first, end in ranges:
            if at_fault:
                return
            yield Job(first, validator, _suite(inputs[first:end]))

    ranges = _shared_out(len(inputs))
    for some in (ranges[:1], ranges[1:]):  # the first input alone: what is no validator at all is known by it
        for first, outputs in runner.outputs(jobs(some)):
            found |= dict(enumerate(outputs, start=first))
            at_fault += [number for number, output in enumerate(outputs, start=first) if not _says(output)]
        if at_fault:
            raise _not_a_validator(min(at_fault), found[min(at_fault)])
    return [_refusal(found[number]) for number in range(len(inputs))]


def _shared_out(n_inputs: int) -> list[tuple[int, int]]:
    """From where and up to where inputs are run one after the other."""
    ends = [0, *range(1, n_inputs, _AT_ONCE), n_inputs] if n_inputs else []
    return list(itertools.pairwise(ends))


def _suite(inputs: Sequence[bytes]) -> Suite:
    return Suite(tuple(Test(str(number), text, b"") for number, text in enumerate(inputs)), limits=LIMITS)


def _exit_code(output: Output) -> int | None:
    return None if output.facts is None else output.facts.exit_code


def _says(output: Output) -> bool:
    return _exit_code(output) in (VALID, INVALID)


def _refusal(output: Output) -> str | None:
    return None if _exit_code(output) == VALID else output.detail


def _not_a_validator(number: int, output: Output) -> NotAValidator:
    how = "exit code 0" if _exit_code(output) == 0 else output.detail or str(output.failure)
    return NotAValidator(number, how, is_ours=output.failure is Verdict.INTERNAL_ERROR)
