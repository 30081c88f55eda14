"""One worker: a jail, and the judging of one program after another in it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from sandbox import comparison, languages, loading, memory_files, values
from sandbox.agent import calls, wire
from sandbox.compiling import CompileFailure, ProductCache
from sandbox.errors import JailFault, SandboxUnavailable
from sandbox.inputs import Inputs
from sandbox.jail import Jail
from sandbox.loading import Loaded
from sandbox.programs import Allowance, Comparison, Io, Program, Suite, Test
from sandbox.quiet import Quiet
from sandbox.verdicts import Facts, Outcome, TestResult, Verdict, ended_badly, is_idle, needs_confirmation

_ATTEMPTS = 3
_STDERR_READ_BYTES = 64 * 1024

T = TypeVar("T")


def machine_is_busy() -> bool:
    """Whether more wants to run than there are cores, by the load average of the last minute."""
    return os.getloadavg()[0] > 1.5 * (os.cpu_count() or 1)


class Worker:
    """Judges programs one at a time; replaces its jail on any fault."""

    def __init__(self, make_jail: Callable[[], Jail], quiet: Quiet, kept_inputs: int, products: ProductCache) -> None:
        self._make_jail = make_jail
        self._quiet = quiet
        self._products = products
        self._jail: Jail | None = None
        self._inputs = Inputs(kept_inputs)
        self._closed = False

    def start(self) -> Jail:
        """The jail, started when there is none. Raises the ``SandboxError`` of its start."""
        if self._jail is None and not self._closed:
            self._jail = self._make_jail()
        if self._closed or self._jail is None:
            raise SandboxUnavailable("the judge is closed")
        return self._jail

    def stop(self) -> None:
        """From any thread: end what the worker is at, with ``SandboxUnavailable``; it takes nothing more."""
        self._closed = True
        jail = self._jail
        if jail is not None:
            jail.interrupt()

    def close(self) -> None:
        """End the jail and free the inputs, once no thread is at work with it."""
        self.stop()
        self._discard_jail()
        self._inputs.close()

    def _discard_jail(self) -> None:
        if self._jail is not None:
            self._jail.close()
            self._jail = None

    def judge(self, program: Program, suite: Suite, *, run_all: bool = False) -> Outcome:
        """The program's verdict on the suite. Raises ``SandboxUnavailable`` when no jail can be had any more."""
        first = suite.tests[0].name
        try:
            with self._quiet.shared():
                loaded = self._retried(lambda: loading.load(self._request, program, self._products))
        except CompileFailure as error:
            result = TestResult(first, Verdict.COMPILE_ERROR, error.facts, error.message)
            return _outcome([result])
        except JailFault as error:
            return _outcome([TestResult(first, Verdict.INTERNAL_ERROR, None, error.message)])
        try:
            return _outcome(self._judge_tests(loaded, program, suite, run_all))
        finally:
            loaded.close()

    def _judge_tests(self, loaded: Loaded, program: Program, suite: Suite, run_all: bool) -> list[TestResult]:
        allowance = languages.find(program.language).allowance
        results: list[TestResult] = []
        for index in range(len(suite.tests)):
            results.append(self._judge_test(loaded, allowance, suite, index))
            verdict = results[-1].verdict
            if verdict is Verdict.COMPILE_ERROR or (verdict is not Verdict.ACCEPTED and not run_all):
                break
        return results

    def _judge_test(self, loaded: Loaded, allowance: Allowance, suite: Suite, index: int) -> TestResult:
        def run() -> TestResult:
            try:
                return self._retried(lambda: self._run(loaded, allowance, suite, index), loaded.renew)
            except JailFault as error:
                return TestResult(suite.tests[index].name, Verdict.INTERNAL_ERROR, None, error.message)

        with self._quiet.shared():
            result = run()
        if result.facts is None or not needs_confirmation(result.facts):
            return result
        if is_idle(result.facts) and not machine_is_busy():
            with self._quiet.shared():
                return replace(run(), confirmed=True)
        with self._quiet.alone():
            return replace(run(), confirmed=True)

    def _retried(self, action: Callable[[], T], renew: Callable[[], None] = lambda: None) -> T:
        """The action's result; after a fault of the jail it is tried again in another one. Raises the last fault."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return action()
            except JailFault:
                self._discard_jail()
                renew()
                if attempt == _ATTEMPTS:
                    raise
        raise AssertionError("the loop returns or raises")

    def _request(self, request: wire.Request, fds: list[int]) -> wire.Reply:
        """Have a request carried out; a jail that is not as it was before is thrown away."""
        reply = self.start().run(request, fds)
        if reply.leftover:
            self._discard_jail()
        return reply

    def _run(self, loaded: Loaded, allowance: Allowance, suite: Suite, index: int) -> TestResult:
        limits = allowance.applied(suite.limits)
        stdin_fd = self._inputs.open(suite, index)
        stdout_fd, stderr_fd = memory_files.empty(), memory_files.empty()
        try:
            reply = self._request(loaded.request(suite, limits), loaded.descriptors(stdin_fd, stdout_fd, stderr_fd))
            if not loaded.finish(reply.stage):
                raise JailFault("a program that compiled before did not come to run")
            facts = Facts(
                stage=reply.stage,
                killed_by=reply.killed_by,
                wait_status=reply.wait_status,
                cpu_s=reply.cpu_us / 1e6,
                wall_s=reply.wall_us / 1e6,
                peak_memory_bytes=reply.peak_memory_bytes,
                output_bytes=memory_files.size(stdout_fd),
                limits=limits,
                allowance=allowance,
            )
            return _result(suite, suite.tests[index], facts, stdout_fd, stderr_fd)
        finally:
            for fd in (stdin_fd, stdout_fd, stderr_fd):
                os.close(fd)


def _outcome(results: list[TestResult]) -> Outcome:
    worst = next((result for result in results if result.verdict is not Verdict.ACCEPTED), None)
    if worst is None:
        return Outcome(Verdict.ACCEPTED, tuple(results))
    return Outcome(worst.verdict, tuple(results), f"{worst.name}: {worst.detail}" if worst.detail else worst.name)


def _result(suite: Suite, test: Test, facts: Facts, stdout_fd: int, stderr_fd: int) -> TestResult:
    """The verdict of one run, worked out here: nothing that the program could write is taken for a fact."""
    verdict = ended_badly(facts)
    if verdict is not None:
        stderr = memory_files.content(stderr_fd, _STDERR_READ_BYTES).decode(errors="replace")
        detail = _last_line(stderr) if verdict is Verdict.COMPILE_ERROR else _end_detail(facts, stderr)
        return TestResult(test.name, verdict, facts, detail, idle=is_idle(facts))
    got = memory_files.content(stdout_fd, facts.output_bytes)
    called = suite.io in (Io.FUNCTION, Io.DESIGN)
    verdict, detail = (_compare_value if called else _compare_output)(test, got, test.comparison or suite.comparison)
    return TestResult(test.name, verdict, facts, detail)


def _compare_output(test: Test, got: bytes, rule: Comparison) -> tuple[Verdict, str]:
    difference = comparison.first_difference(test.expected, got, rule)
    return (Verdict.ACCEPTED, "") if difference is None else (Verdict.WRONG_ANSWER, difference)


def _compare_value(test: Test, got: bytes, rule: Comparison) -> tuple[Verdict, str]:
    """The verdict on what a call wrote. A test that is not JSON is our fault; that is found out here, not believed."""
    tag, value = got[:1], got[1:]
    if tag == calls.UNENCODABLE:
        return Verdict.WRONG_ANSWER, f"returned {value.decode(errors='replace')[:100]}, which has no JSON form"
    try:
        if tag == calls.UNREADABLE:
            calls.read_arguments(test.input)
        if tag != calls.VALUE:
            return Verdict.RUNTIME_ERROR, "ended without returning a value"
        difference = values.first_difference(test.expected, value, rule)
    except (ValueError, RecursionError) as error:
        return Verdict.INTERNAL_ERROR, f"the test itself is not JSON: {error}"
    return (Verdict.ACCEPTED, "") if difference is None else (Verdict.WRONG_ANSWER, difference)


def _end_detail(facts: Facts, stderr: str) -> str:
    ending = f"signal {facts.signal}" if facts.signal else f"exit code {facts.exit_code}"
    line = _last_line(stderr)
    return f"{line} ({ending})" if line else ending


def _last_line(stderr: str) -> str:
    lines = stderr.strip().splitlines()
    return lines[-1][:200] if lines else ""
