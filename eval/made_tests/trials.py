"""Programs run on inputs: which pass the samples, what they answer, and which tests they fail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from eval.judging import to_suite
from eval.made_tests.agreement import Answer
from eval.made_tests.material import KnownProgram, Material
from eval.made_tests.strength import BoolArray
from sandbox import Job, Limits, Output, Suite, Test, Verdict
from sandbox.outputs import difference
from sandbox.validation import Runner

MOST_OUTPUT_BYTES: Final = 2 * 1024 * 1024
"""The outputs of all programs on all inputs are held at once."""


@dataclass(frozen=True)
class Trials:
    """The programs of one problem on inputs of it. ``suite`` has its rules, limits and samples."""

    runner: Runner
    suite: Suite

    @classmethod
    def of(cls, material: Material, runner: Runner, cpu_s: float | None) -> Trials:
        """Trials by the rules of a problem, with this limit of CPU time where it states none."""
        (own,) = material.comparisons  # made tests are compared as the samples are
        comparison = material.suite.comparison if own is None else own
        record = replace(material.suite, tests=material.samples, groups=None, comparison=comparison)
        if record.time_limit_s is None:
            record = replace(record, time_limit_s=cpu_s)
        suite = to_suite(record)
        return cls(runner, replace(suite, limits=replace(suite.limits, output_bytes=MOST_OUTPUT_BYTES)))

    def pass_samples(self, programs: Iterable[KnownProgram]) -> dict[str, str | None]:
        """By the name of each program why it fails a sample; None: it passes all. Those that the judge could not run
        for reasons of its own are left out."""
        found: dict[str, str | None] = {}
        jobs = (Job(one.name, one.program, self.suite) for one in programs)
        for name, outputs in self.runner.outputs(jobs, most_failures=1):
            reasons = [self._reason(test, output) for test, output in zip(self.suite.tests, outputs, strict=False)]
            if any(one.failure is Verdict.INTERNAL_ERROR for one in outputs):
                continue
            found[name] = next((reason for reason in reasons if reason is not None), None)
        return found

    def answers(
        self, programs: Sequence[KnownProgram], inputs: Sequence[bytes], *, most_failures: int | None = None
    ) -> Mapping[str, tuple[Output, ...]]:
        """By the name of each program its outputs on the inputs, in order; fewer after too many failures."""
        return dict(self._outputs(programs, inputs, most_failures))

    def _outputs(
        self, programs: Sequence[KnownProgram], inputs: Sequence[bytes], most_failures: int | None
    ) -> Iterator[tuple[str, tuple[Output, ...]]]:
        if not inputs:
            return iter([(one.name, ()) for one in programs])
        tests = tuple(Test(str(number), text, b"") for number, text in enumerate(inputs))
        suite = replace(self.suite, tests=tests)
        return self.runner.outputs((Job(one.name, one.program, suite) for one in programs), most_failures=most_failures)

    def failed_tests(
        self, programs: Sequence[KnownProgram], tests: Sequence[tuple[bytes, bytes]], *, most_failures: int | None
    ) -> dict[str, BoolArray]:
        """By the name of each program which of the (input, expected output) tests it fails.

        One that has failed ``most_failures`` times is not run on the rest, which count as not failed: it is known to be
        caught. Programs that met a fault of the judge are left out.
        """
        found: dict[str, BoolArray] = {}
        for name, outputs in self._outputs(programs, [text for text, _ in tests], most_failures):
            if any(one.failure is Verdict.INTERNAL_ERROR for one in outputs):
                continue
            fails = np.zeros(len(tests), dtype=np.bool_)
            for number, output in enumerate(outputs):
                fails[number] = output.content is None or not self.is_right(tests[number][1], output.content)
            found[name] = fails
        return found

    def is_right(self, expected: bytes, got: bytes) -> bool:
        """Whether an output is right where another is expected."""
        return difference(self.suite, expected, got) is None

    def with_limit(self, cpu_s: float) -> Trials:
        """The same with another limit of CPU time."""
        return replace(self, suite=replace(self.suite, limits=replace(self.suite.limits, cpu_s=cpu_s)))

    @property
    def limits(self) -> Limits:
        """The limits that programs are run under, before their languages' allowance."""
        return self.suite.limits

    def _reason(self, test: Test, output: Output) -> str | None:
        if output.content is None:
            return f"{output.failure}" + (f" ({output.detail})" if output.detail else "")
        return difference(self.suite, test.expected, output.content, test.comparison)


def as_answer(output: Output | None) -> Answer | None:
    """An output as it votes; None: not run, or a fault of the judge. What is no text is as bad as a crash: no expected
    output may be such."""
    if output is None or output.failure is Verdict.INTERNAL_ERROR:
        return None
    if output.content is not None and not _is_text(output.content):
        return Answer(failure=Verdict.RUNTIME_ERROR)
    return Answer(output.content, output.failure)


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True
