"""One test's process, seen from the host: its facts, what it wrote, and the verdict where no checker is asked."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass

from sandbox import comparison, languages, loading, memory_files, values
from sandbox.agent import wire
from sandbox.compiling import CompileFailure, ProductCache, RunRequest
from sandbox.errors import JailFault
from sandbox.loading import Loaded
from sandbox.programs import Allowance, Io, Limits, Program, Suite, Test
from sandbox.verdicts import Facts, Outcome, TestResult, Verdict, ended_badly, is_idle

_STDERR_READ_BYTES = 64 * 1024
_LINE_CHARACTERS = 200


@dataclass(frozen=True)
class Ended:
    """A process that has ended: its facts, and the files that it wrote to."""

    facts: Facts
    stdout_fd: int
    stderr_fd: int

    def output(self) -> bytes:
        """All that it wrote to its standard output."""
        return memory_files.content(self.stdout_fd, self.facts.output_bytes)

    def failure(self, name: str) -> TestResult | None:
        """The result of the test of that name when it ended badly; None when its output is to be judged."""
        return failure(name, self.facts, self.stderr_fd)


@dataclass(frozen=True)
class Attempt:
    """The result of one run of a test.

    ``is_final``: running it again would show nothing else. ``patience_s``: so much longer a program must be let wait
    when it is, since what it waited for was at work; 0 where that is not so.
    """

    result: TestResult
    is_final: bool = True
    patience_s: float = 0.0


@contextlib.contextmanager
def run_test(run: RunRequest, loaded: Loaded, allowance: Allowance, suite: Suite, stdin_fd: int) -> Iterator[Ended]:
    """Run one test and see how it ended. Takes ``stdin_fd``; raises what ``run`` raises, or ``JailFault``."""
    limits = allowance.applied(suite.limits)
    stdout_fd, stderr_fd = memory_files.empty(), memory_files.empty()
    try:
        reply = run(loaded.request(suite, limits), loaded.descriptors(stdin_fd, stdout_fd, stderr_fd))
        if not loaded.finish(reply.stage):
            raise JailFault("a program that compiled before did not come to run")
        yield Ended(facts_of(reply, limits, allowance, memory_files.size(stdout_fd)), stdout_fd, stderr_fd)
    finally:
        for fd in (stdin_fd, stdout_fd, stderr_fd):
            os.close(fd)


def judge_once(run: RunRequest, program: Program, suite: Suite) -> Outcome:
    """The program's outcome up to its first failure, nothing tried twice or confirmed: for programs whose verdict does
    not depend on the machine. Raises what ``run`` raises."""
    cache = ProductCache()
    results: list[TestResult] = []
    try:
        loaded = loading.load(run, program, cache)
    except CompileFailure as error:
        return outcome_of([TestResult(suite.tests[0].name, Verdict.COMPILE_ERROR, error.facts, error.message)])
    finally:
        cache.close()
    allowance = languages.find(program.language).allowance
    try:
        for test in suite.tests:
            with run_test(run, loaded, allowance, suite, _read_once(test.input)) as ended:
                results.append(ended.failure(test.name) or compared(suite, test, ended))
            if results[-1].verdict is not Verdict.ACCEPTED:
                break
        return outcome_of(results)
    finally:
        loaded.close()


def _read_once(content: bytes) -> int:
    fd = memory_files.sealed(content)
    try:
        return memory_files.reader(fd)
    finally:
        os.close(fd)


def outcome_of(results: list[TestResult]) -> Outcome:
    """The outcome of tests of which all must be accepted."""
    worst = next((result for result in results if result.verdict is not Verdict.ACCEPTED), None)
    if worst is None:
        return Outcome(Verdict.ACCEPTED, tuple(results))
    return Outcome(worst.verdict, tuple(results), named_detail(worst))


def named_detail(result: TestResult) -> str:
    """A line for a person that names the test."""
    return f"{result.name}: {result.detail}" if result.detail else result.name


def compared(suite: Suite, test: Test, ended: Ended) -> TestResult:
    """The result of a test that ended well, by comparison with what is expected."""
    rule = test.comparison or suite.comparison
    if suite.io in (Io.FUNCTION, Io.DESIGN):
        verdict, detail = values.judge_returned(suite, test, ended.output(), rule)
        return TestResult(test.name, verdict, ended.facts, detail)
    difference = comparison.first_difference(test.expected, ended.output(), rule)
    verdict = Verdict.ACCEPTED if difference is None else Verdict.WRONG_ANSWER
    return TestResult(test.name, verdict, ended.facts, difference or "")


def failure(name: str, facts: Facts, stderr_fd: int) -> TestResult | None:
    """The result of a test whose process ended badly; None when its output is to be judged."""
    verdict = ended_badly(facts)
    if verdict is None:
        return None
    stderr = error_text(stderr_fd)
    detail = last_line(stderr) if verdict is Verdict.COMPILE_ERROR else ending(facts, stderr)
    return TestResult(name, verdict, facts, detail, idle=is_idle(facts))


def facts_of(reply: wire.Reply, limits: Limits, allowance: Allowance, output_bytes: int) -> Facts:
    """What an agent's reply says, with the limits that the process ran under."""
    return Facts(
        stage=reply.stage,
        killed_by=reply.killed_by,
        wait_status=reply.wait_status,
        cpu_s=reply.cpu_us / 1e6,
        wall_s=reply.wall_us / 1e6,
        peak_memory_bytes=reply.peak_memory_bytes,
        output_bytes=output_bytes,
        limits=limits,
        allowance=allowance,
    )


def error_text(stderr_fd: int) -> str:
    """The beginning of what a process wrote to its standard error."""
    return memory_files.content(stderr_fd, _STDERR_READ_BYTES).decode(errors="replace")


def ending(facts: Facts, stderr: str) -> str:
    """How a process ended, after the last line of what it said."""
    how = f"signal {facts.signal}" if facts.signal else f"exit code {facts.exit_code}"
    line = last_line(stderr)
    return f"{line} ({how})" if line else how


def last_line(text: str) -> str:
    """The last line that is not blank, cut."""
    lines = text.strip().splitlines()
    return lines[-1][:_LINE_CHARACTERS] if lines else ""
