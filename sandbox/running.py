"""One test's process, seen from the host: its facts, what it wrote, and the verdict where no checker is asked."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from sandbox import comparison, compiling, languages, loading, memory_files, values
from sandbox.agent import wire
from sandbox.compiling import CompileFailure, ProductCache, RunRequest
from sandbox.errors import JailFault
from sandbox.excerpts import excerpt
from sandbox.languages import OutOfMemory
from sandbox.loading import Loaded
from sandbox.programs import Allowance, Io, Limits, Program, Suite, Test
from sandbox.verdicts import Facts, Outcome, TestResult, Verdict, ended_badly, is_idle

_STDERR_READ_BYTES = 64 * 1024
_LAST_BYTES = 16 * 1024
_LINE_CHARACTERS = 200

# To compile a source of up to this size takes a few hundredths of a second.
_QUICKLY_COMPILED_BYTES = 32 * 1024

# What follows an error's own line: where it was (Java, Node.js), and Node.js' version.
_SAYS_LITTLE = re.compile(r"\s+at |Node\.js v\d")


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
    when it is, since what it waited for was at work; 0 where that is not so. ``content`` is what the program wrote, in
    a run that is for this; None where it failed.
    """

    result: TestResult
    is_final: bool = True
    patience_s: float = 0.0
    content: bytes | None = None


@contextlib.contextmanager
def run_test(run: RunRequest, loaded: Loaded, allowance: Allowance, suite: Suite, stdin_fd: int) -> Iterator[Ended]:
    """Run one test and see how it ended. Takes ``stdin_fd``; raises what ``run`` raises, or ``JailFault``."""
    limits = allowance.applied(suite.limits)
    stdout_fd, stderr_fd = memory_files.empty(), memory_files.empty()
    try:
        reply = _carried_out(run, loaded, suite, limits, (stdin_fd, stdout_fd, stderr_fd))
        output_bytes, said = memory_files.size(stdout_fd), Said(loaded.out_of_memory, stderr_fd)
        yield Ended(facts_of(reply, limits, allowance, output_bytes, said), stdout_fd, stderr_fd)
    finally:
        for fd in (stdin_fd, stdout_fd, stderr_fd):
            os.close(fd)


def _carried_out(
    run: RunRequest, loaded: Loaded, suite: Suite, limits: Limits, files: tuple[int, int, int]
) -> wire.Reply:
    """One run; where it took too long and compiled a long source on the way, another one that has not to do that."""
    while True:
        request, fds = loaded.request(suite, limits), loaded.descriptors(*files)
        reply = run(request, fds)
        if not loaded.finish(reply.stage):
            raise JailFault("a program that compiled before did not come to run")
        compiled = request.operation != wire.EXEC and not request.has_compiled and reply.stage == wire.LOADED
        is_late = reply.cpu_us / 1e6 > limits.cpu_s
        if not (compiled and is_late and memory_files.size(fds[wire.PROGRAM]) > _QUICKLY_COMPILED_BYTES):
            return reply
        os.lseek(files[0], 0, os.SEEK_SET)
        for fd in files[1:]:
            os.ftruncate(fd, 0)
            os.lseek(fd, 0, os.SEEK_SET)


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
    if verdict is not Verdict.COMPILE_ERROR:
        detail = ending(facts, stderr)
    else:
        detail = compiling.ending_of_compiler(facts) or last_line(stderr)
    return TestResult(name, verdict, facts, detail, idle=is_idle(facts))


@dataclass(frozen=True)
class Said:
    """What a process wrote to its standard error, and how its runtime would say there that memory ran out."""

    out_of_memory: OutOfMemory | None
    stderr_fd: int

    def is_out_of_memory(self, wait_status: int) -> bool:
        """Whether its runtime said so. It is the last but for a trace of its stack."""
        if self.out_of_memory is None or wait_status == 0:
            return False
        size = memory_files.size(self.stderr_fd)
        last = os.pread(self.stderr_fd, _LAST_BYTES, max(0, size - _LAST_BYTES))
        return self.out_of_memory.is_said(wait_status, last)


def facts_of(
    reply: wire.Reply, limits: Limits, allowance: Allowance, output_bytes: int, said: Said | None = None
) -> Facts:
    """What an agent's reply says, with the limits that the process ran under, and what its runtime ``said``."""
    out_of_memory = said is not None and said.is_out_of_memory(reply.wait_status)
    return Facts.from_reply(reply, limits, output_bytes, allowance=allowance, runtime_out_of_memory=out_of_memory)


def error_text(stderr_fd: int) -> str:
    """The beginning of what a process wrote to its standard error."""
    return memory_files.content(stderr_fd, _STDERR_READ_BYTES).decode(errors="replace")


def ending(facts: Facts, stderr: str) -> str:
    """How a process ended, after the last line of what it said."""
    how = f"signal {facts.signal}" if facts.signal else f"exit code {facts.exit_code}"
    line = last_line(stderr)
    return f"{line} ({how})" if line else how


def last_line(text: str) -> str:
    """The last line that is not blank and says what happened, cut; the last one of all where none does."""
    lines = [line for line in text.splitlines() if line.strip()]
    telling = (line for line in reversed(lines) if not _SAYS_LITTLE.match(line))
    return excerpt(next(telling, lines[-1] if lines else "").rstrip(), _LINE_CHARACTERS)
