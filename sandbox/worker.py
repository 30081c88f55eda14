"""One worker: a jail for programs, another for checkers, and the judging of one program after another."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

from sandbox import languages, livecodebench, loading, memory_files, outputs
from sandbox.agent import calls
from sandbox.cells import Cell, Counters
from sandbox.checking import Checkers
from sandbox.compiling import CompileFailure, ProductCache
from sandbox.errors import JailFault, NotInSandbox
from sandbox.grading import Grade, Grading
from sandbox.inputs import Inputs
from sandbox.interaction import Sides, talk
from sandbox.jail import Jail
from sandbox.judgements import Judgement, judged
from sandbox.loading import Loaded
from sandbox.outputs import Output
from sandbox.programs import Allowance, Grader, Io, Program, Suite
from sandbox.quiet import Quiet
from sandbox.running import Attempt, Ended, compared, named_detail, outcome_of, run_test
from sandbox.verdicts import Outcome, TestResult, Verdict, is_idle, lasted, needs_confirmation

# One run more is enough, but for a program that waits for a validator that computes: what that does is seen in part.
_MOST_CONFIRMATIONS = 5


def machine_is_busy() -> bool:
    """Whether more wants to run than there are cores, by the load average of the last minute."""
    return os.getloadavg()[0] > 1.5 * (os.cpu_count() or 1)


@dataclass(frozen=True)
class _Work:
    """A program that is ready to be run on a suite, and what is made of a process of it that ended well, by the index
    of its test."""

    loaded: Loaded
    allowance: Allowance
    suite: Suite
    see: Callable[[Suite, int, Ended], Attempt]


class Worker:
    """Judges programs one at a time; replaces its jails on any fault. ``counters`` tell what it has done."""

    def __init__(
        self,
        make_jail: Callable[[], Jail],
        quiet: Quiet,
        kept_inputs: int,
        products: ProductCache,
        grader: Grader = Grader.LIVE,
    ) -> None:
        self.counters = Counters()
        self._grader = grader
        self._quiet = quiet
        self._products = products
        self._cell = Cell(make_jail, self.counters)
        self._checkers = Checkers(Cell(make_jail, self.counters), products)
        self._inputs = Inputs(kept_inputs)

    @property
    def jails(self) -> list[Jail]:
        """The jails that it has at the moment: that of programs, and that of checkers once one was needed."""
        return [cell.jail for cell in (self._cell, self._checkers.cell) if cell.jail is not None]

    def start(self) -> Jail:
        """The jail of programs, started when there is none. Raises the ``SandboxError`` of its start."""
        return self._cell.start()

    def stop(self) -> None:
        """From any thread: end what the worker is at, with ``SandboxUnavailable``; it takes nothing more."""
        self._cell.stop()
        self._checkers.cell.stop()

    def close(self) -> None:
        """End the jails and free what is kept, once no thread is at work with it."""
        self._cell.close()
        self._checkers.cell.close()
        self._checkers.close()
        self._inputs.close()

    def judge(self, program: Program, suite: Suite, *, run_all: bool = False) -> Outcome:
        """The program's verdict on the suite.

        Raises ``SandboxUnavailable`` when no jail can be had any more, ``NotInSandbox`` for calls of what is no Python,
        ``SandboxError`` for what the grader does not know.
        """
        _require_callable(program, suite)
        if self._grader is Grader.LIVECODEBENCH:
            outcome = self._imitate(program, suite)
        else:
            outcome = self._judge(program, suite, run_all)
        self._end_solution()
        return outcome

    def outputs(
        self, program: Program, suite: Suite, most_failures: int | None, given_up: threading.Event
    ) -> tuple[Output, ...]:
        """What the program writes on each test's input, up to so many failures, or until it is ``given_up``.

        Raises what :meth:`judge` raises.
        """
        _require_callable(program, suite)
        found = self._outputs(program, suite, most_failures, given_up)
        self._end_solution()
        return found

    def _end_solution(self) -> None:
        self.counters.solutions += 1
        with self._quiet.shared():
            self._cell.end_solution()
            self._checkers.cell.end_solution()

    def _imitate(self, program: Program, suite: Suite) -> Outcome:
        """What LiveCodeBench's own evaluator would say."""
        try:
            with self._quiet.shared():
                outcome = self._cell.retried(lambda: livecodebench.judge(self._cell.request, program, suite)).outcome
        except JailFault as error:
            return outcome_of([TestResult(suite.tests[0].name, Verdict.INTERNAL_ERROR, None, error.message)])
        self.counters.tests += len(outcome.tests)
        return outcome

    def _judge(self, program: Program, suite: Suite, run_all: bool) -> Outcome:
        loaded = self._load(program, suite)
        if isinstance(loaded, TestResult):
            return outcome_of([loaded])
        with contextlib.closing(loaded):
            return self._judge_tests(_Work(loaded, _allowance(program), suite, self._judged), run_all)

    def _load(self, program: Program, suite: Suite) -> Loaded | TestResult:
        """The program made ready; where that fails, what it gets for its first test and for every other one."""
        first = suite.tests[0].name
        try:
            with self._quiet.shared():
                return self._cell.retried(lambda: loading.load(self._cell.request, program, self._products))
        except CompileFailure as error:
            return TestResult(first, Verdict.COMPILE_ERROR, error.facts, error.message)
        except JailFault as error:
            return TestResult(first, Verdict.INTERNAL_ERROR, None, error.message)

    def _judge_tests(self, work: _Work, run_all: bool) -> Outcome:
        """Run the tests that the suite's groups ask for, or all of them, and grade what they ask for."""
        suite = work.suite
        grading = Grading([test.name for test in suite.tests], suite.groups)
        results: dict[int, TestResult] = {}
        while (index := grading.next_test) is not None:
            results[index] = result = self._run_test(work, index).result
            grading.record(result.verdict, result.score, result.multiplier)
        grade = grading.grade
        if run_all and grade.verdict is not Verdict.COMPILE_ERROR:
            for index in range(len(suite.tests)):
                if index not in results:
                    results[index] = self._run_test(work, index).result
            results = dict(sorted(results.items()))
        return _outcome(grade, results, suite)

    def _outputs(
        self, program: Program, suite: Suite, most_failures: int | None, given_up: threading.Event
    ) -> tuple[Output, ...]:
        loaded = self._load(program, suite)
        if isinstance(loaded, TestResult):
            return outputs.of_all(loaded, suite.tests)[:most_failures]
        found: list[Output] = []
        n_failures = 0
        with contextlib.closing(loaded):
            work = _Work(loaded, _allowance(program), suite, outputs.kept)
            for index in range(len(suite.tests)):
                if n_failures == most_failures or given_up.is_set():
                    break
                attempt = self._run_test(work, index)
                if attempt.result.verdict is Verdict.COMPILE_ERROR:
                    return outputs.of_all(attempt.result, suite.tests)[:most_failures]
                found.append(outputs.output_of(attempt))
                n_failures += found[-1].failure is not None
        return tuple(found)

    def _run_test(self, work: _Work, index: int) -> Attempt:
        """What becomes of one test; where chance may have decided, it is run again."""
        self.counters.tests += 1
        with self._quiet.shared():
            attempt = self._attempt(work, index, 0.0)
        for _ in range(_MOST_CONFIRMATIONS):
            result = attempt.result
            if attempt.is_final or result.facts is None or (result.confirmed and not attempt.patience_s):
                break
            is_beside_others = is_idle(result.facts) and (lasted(result.facts) or not machine_is_busy())
            with self._quiet.shared() if is_beside_others else self._quiet.alone():
                again = self._attempt(work, index, attempt.patience_s)
            attempt = replace(again, result=replace(again.result, confirmed=True))
        return attempt

    def _attempt(self, work: _Work, index: int, patience_s: float) -> Attempt:
        """One run of one test, in another jail when one breaks."""
        loaded, suite = work.loaded, work.suite
        interactive = suite.io is Io.INTERACTIVE
        try:
            ready = self._checkers.ready(suite.checker) if interactive and suite.checker is not None else None
            if isinstance(ready, Judgement):
                return Attempt(judged(suite.tests[index].name, None, ready))
            if ready is not None:
                sides = Sides(self._cell, loaded, work.allowance, self._checkers.cell, ready)
                return self._cell.retried(lambda: self._talk(sides, suite, index, patience_s), loaded.renew)
            return self._cell.retried(lambda: self._run(work, index), loaded.renew)
        except JailFault as error:
            return Attempt(TestResult(suite.tests[index].name, Verdict.INTERNAL_ERROR, None, error.message))

    def _talk(self, sides: Sides, suite: Suite, index: int, patience_s: float) -> Attempt:
        self.counters.checks += 1
        return talk(sides, suite, suite.tests[index], self._inputs.open(suite, index), patience_s)

    def _run(self, work: _Work, index: int) -> Attempt:
        compiles = work.loaded.compiles_long
        stdin_fd = self._inputs.open(work.suite, index)
        with run_test(self._cell.request, work.loaded, work.allowance, work.suite, stdin_fd) as ended:
            failed = ended.failure(work.suite.tests[index].name)
            if failed is not None:
                # What it took to compile is not the program's own; its code is there when it is run again.
                took_both = compiles and failed.verdict in (Verdict.TIME_LIMIT, Verdict.MEMORY_LIMIT)
                return Attempt(failed, is_final=not (took_both or needs_confirmation(ended.facts)))
            return work.see(work.suite, index, ended)

    def _judged(self, suite: Suite, index: int, ended: Ended) -> Attempt:
        """By comparison, or by the suite's checker."""
        if suite.checker is None:
            return Attempt(compared(suite, suite.tests[index], ended))
        return Attempt(self._checked(suite, index, ended))

    def _checked(self, suite: Suite, index: int, ended: Ended) -> TestResult:
        """What the suite's checker says of a program's output, or of the value that it returned."""
        test = suite.tests[index]
        self.counters.checks += 1
        with contextlib.ExitStack() as own:
            output_fd = ended.stdout_fd
            if suite.io in (Io.FUNCTION, Io.DESIGN):
                tag, value = ended.output()[:1], ended.output()[1:]
                if tag != calls.VALUE:
                    return compared(suite, test, ended)
                output_fd = memory_files.sealed(value)
                own.callback(os.close, output_fd)
            input_fd = self._inputs.open(suite, index)
            own.callback(os.close, input_fd)
            return judged(test.name, ended.facts, self._checkers.check(suite, test, input_fd, output_fd))


def _allowance(program: Program) -> Allowance:
    return languages.find(program.language).allowance


def _require_callable(program: Program, suite: Suite) -> None:
    if suite.io in (Io.FUNCTION, Io.DESIGN) and languages.find(program.language).build is not None:
        raise NotInSandbox(f"no function of a {program.language} program can be called", "take Python programs")


def _outcome(grade: Grade, results: dict[int, TestResult], suite: Suite) -> Outcome:
    """What the grade and the results that it comes from are for a reader."""
    tests = tuple(results.values())
    groups = () if suite.groups is None else grade.groups
    if grade.verdict is Verdict.ACCEPTED:
        return Outcome(grade.verdict, tests, "", grade.score, groups)
    decided = None if grade.decided_by is None else results[grade.decided_by]
    if decided is not None and decided.verdict is grade.verdict:
        detail = named_detail(decided)
    elif grade.verdict is Verdict.INTERNAL_ERROR:
        detail = f"{decided.name}: accepted without a score" if decided else "a group has more than its highest score"
    else:
        detail = ""
    if grade.is_partial and grade.score is not None:
        most = "" if grade.full_score is None else f" of {grade.full_score:g}"
        detail = f"scores {grade.score:g}{most}" + (f"; {detail}" if detail else "")
    return Outcome(grade.verdict, tests, detail, grade.score, groups)
