"""A runner without a sandbox: programs are functions of this process, found by their source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from sandbox import Facts, Job, Limits, Output, Verdict
from sandbox.agent import wire

Key = TypeVar("Key")


@dataclass(frozen=True)
class Exit:
    """A program that ends with an exit code other than 0, after a line on its standard error."""

    code: int
    said: str = ""


Answer = bytes | Verdict | Exit
"""What a program does on an input: an output, or a way to fail."""


class FakeRunner:
    """Runs ``programs[source](input)``; ``cpu_s`` are seconds by source on inputs of more than 100 bytes.

    ``runs`` are (source, input) of all that was run, in order.
    """

    def __init__(
        self, programs: Mapping[str, Callable[[bytes], Answer]], cpu_s: Mapping[str, float] | None = None
    ) -> None:
        self._programs = programs
        self._cpu_s = cpu_s or {}
        self.runs: list[tuple[str, bytes]] = []

    def outputs(
        self, jobs: Iterable[Job[Key]], *, most_failures: int | None = None
    ) -> Iterator[tuple[Key, tuple[Output, ...]]]:
        """As `sandbox.Judge.outputs`."""
        for job in jobs:
            found: list[Output] = []
            for test in job.suite.tests:
                if most_failures is not None and sum(one.failure is not None for one in found) >= most_failures:
                    break
                self.runs.append((job.program.source, test.input))
                found.append(self._output(job.program.source, test.name, test.input, job.suite.limits))
            yield job.key, tuple(found)

    def _output(self, source: str, name: str, text: bytes, limits: Limits) -> Output:
        cpu_s = self._cpu_s.get(source, 0.01) if len(text) > 100 else 0.01
        answer = self._programs[source](text) if cpu_s <= limits.cpu_s else Verdict.TIME_LIMIT
        status = answer.code << 8 if isinstance(answer, Exit) else 0
        facts = Facts(wire.LOADED, wire.KILLED_BY_NOBODY, status, cpu_s, cpu_s, 0, 0, limits)
        if isinstance(answer, Exit):
            return Output(name, None, Verdict.RUNTIME_ERROR, f"{answer.said} (exit code {answer.code})", facts)
        if isinstance(answer, Verdict):
            return Output(name, None, answer, f"fails with {answer}", facts)
        return Output(name, answer, None, "", facts)
