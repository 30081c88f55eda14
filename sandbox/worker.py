"""One worker: a jail, and the judging of one program after another in it."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

from sandbox import comparison, memory_files, values
from sandbox.agent import calls, wire
from sandbox.errors import JailFault, SandboxUnavailable
from sandbox.jail import Jail
from sandbox.programs import Comparison, Io, Program, Suite, Test
from sandbox.verdicts import CPU_GRACE, Facts, Outcome, TestResult, Verdict, ended_badly, is_idle, needs_confirmation

_ATTEMPTS = 3
_CACHED_INPUTS = 256  # at most; fewer where descriptors are scarce
_STDERR_READ_BYTES = 64 * 1024


def machine_is_busy() -> bool:
    """Whether more wants to run than there are cores, by the load average of the last minute."""
    return os.getloadavg()[0] > 1.5 * (os.cpu_count() or 1)


class Quiet:
    """A lock that many tests share and one measurement can have alone: a near time limit is measured without load."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._running = 0
        self._alone = False

    @contextlib.contextmanager
    def shared(self) -> Iterator[None]:
        """Run beside others, but not beside a lone measurement."""
        with self._condition:
            self._condition.wait_for(lambda: not self._alone)
            self._running += 1
        try:
            yield
        finally:
            with self._condition:
                self._running -= 1
                self._condition.notify_all()

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Wait until nothing runs and let nothing start."""
        with self._condition:
            self._condition.wait_for(lambda: not self._alone)
            self._alone = True
            self._condition.wait_for(lambda: self._running == 0)
        try:
            yield
        finally:
            with self._condition:
                self._alone = False
                self._condition.notify_all()


class _Inputs:
    """The sealed inputs of the suite at hand: made once, opened again for each run."""

    def __init__(self, kept: int) -> None:
        self._kept = min(kept, _CACHED_INPUTS)
        self._suite: Suite | None = None
        self._fds: dict[int, int] = {}

    def open(self, suite: Suite, index: int) -> int:
        """A fresh read-only descriptor of test ``index``'s input."""
        if suite is not self._suite:
            self.close()
            self._suite = suite
        if index in self._fds:
            return memory_files.reader(self._fds[index])
        fd = memory_files.sealed(suite.tests[index].input)
        fresh = memory_files.reader(fd)
        if len(self._fds) < self._kept:
            self._fds[index] = fd
        else:
            os.close(fd)
        return fresh

    def close(self) -> None:
        """Let go of all."""
        for fd in self._fds.values():
            os.close(fd)
        self._fds = {}
        self._suite = None


class _Compiled:
    """A program's source and, once its first test has compiled it, its code, as memory files."""

    def __init__(self, program: Program) -> None:
        self.source_fd = memory_files.sealed(program.source.encode("utf-8", "surrogatepass"))
        self.code_fd = memory_files.empty()
        self.ready = False

    def renew(self) -> None:
        """Forget a code file that a broken jail may have left half written."""
        if not self.ready:
            os.close(self.code_fd)
            self.code_fd = memory_files.empty()

    def finish(self) -> None:
        """The code is complete: nobody changes it any more."""
        if not self.ready:
            memory_files.seal(self.code_fd)
            self.ready = True

    def close(self) -> None:
        os.close(self.source_fd)
        os.close(self.code_fd)


class Worker:
    """Judges programs one at a time; replaces its jail on any fault."""

    def __init__(self, make_jail: Callable[[], Jail], quiet: Quiet, kept_inputs: int) -> None:
        self._make_jail = make_jail
        self._quiet = quiet
        self._jail: Jail | None = None
        self._inputs = _Inputs(kept_inputs)
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
        compiled = _Compiled(program)
        results: list[TestResult] = []
        try:
            for index in range(len(suite.tests)):
                results.append(self._judge_test(compiled, suite, index))
                verdict = results[-1].verdict
                if verdict is Verdict.COMPILE_ERROR or (verdict is not Verdict.ACCEPTED and not run_all):
                    break
        finally:
            compiled.close()
        worst = next((result for result in results if result.verdict is not Verdict.ACCEPTED), None)
        if worst is None:
            return Outcome(Verdict.ACCEPTED, tuple(results))
        return Outcome(worst.verdict, tuple(results), f"{worst.name}: {worst.detail}" if worst.detail else worst.name)

    def _judge_test(self, compiled: _Compiled, suite: Suite, index: int) -> TestResult:
        with self._quiet.shared():
            result = self._run_or_retry(compiled, suite, index)
        if result.facts is None or not needs_confirmation(result.facts, suite.limits, machine_is_busy()):
            return result
        with self._quiet.alone():
            return replace(self._run_or_retry(compiled, suite, index), confirmed=True)

    def _run_or_retry(self, compiled: _Compiled, suite: Suite, index: int) -> TestResult:
        fault = ""
        for _ in range(_ATTEMPTS):
            try:
                return self._run(compiled, suite, index)
            except JailFault as error:
                fault = error.message
                self._discard_jail()
                compiled.renew()
        return TestResult(suite.tests[index].name, Verdict.INTERNAL_ERROR, None, fault)

    def _run(self, compiled: _Compiled, suite: Suite, index: int) -> TestResult:
        jail = self.start()
        limits = suite.limits
        request = wire.Request(
            operation=wire.CALL if suite.io is Io.FUNCTION else wire.RUN,
            has_compiled=compiled.ready,
            cpu_kill_s=limits.cpu_s * CPU_GRACE,
            wall_kill_s=limits.wall_kill_s,
            memory_bytes=limits.memory_bytes,
            output_bytes=limits.output_bytes,
            entry_point=suite.entry_point or "",
        )
        stdin_fd = self._inputs.open(suite, index)
        stdout_fd, stderr_fd = memory_files.empty(), memory_files.empty()
        try:
            reply = jail.run(request, [compiled.source_fd, compiled.code_fd, stdin_fd, stdout_fd, stderr_fd])
            if reply.leftover:
                self._discard_jail()
            if reply.stage == wire.COMPILED:
                compiled.finish()
            elif compiled.ready:
                raise JailFault("a program that compiled before did not come to run")
            return _result(suite, suite.tests[index], reply, stdout_fd, stderr_fd)
        finally:
            for fd in (stdin_fd, stdout_fd, stderr_fd):
                os.close(fd)


def _result(suite: Suite, test: Test, reply: wire.Reply, stdout_fd: int, stderr_fd: int) -> TestResult:
    """The verdict of one run, worked out here: nothing that the program could write is taken for a fact."""
    facts = Facts(
        stage=reply.stage,
        killed_by=reply.killed_by,
        wait_status=reply.wait_status,
        cpu_s=reply.cpu_us / 1e6,
        wall_s=reply.wall_us / 1e6,
        peak_memory_bytes=reply.peak_memory_bytes,
        output_bytes=memory_files.size(stdout_fd),
    )
    verdict = ended_badly(facts, suite.limits)
    if verdict is not None:
        stderr = memory_files.content(stderr_fd, _STDERR_READ_BYTES).decode(errors="replace")
        detail = _last_line(stderr) if verdict is Verdict.COMPILE_ERROR else _end_detail(facts, stderr)
        return TestResult(test.name, verdict, facts, detail, idle=is_idle(facts, suite.limits))
    got = memory_files.content(stdout_fd, facts.output_bytes)
    verdict, detail = (_compare_value if suite.io is Io.FUNCTION else _compare_output)(
        test, got, test.comparison or suite.comparison
    )
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
