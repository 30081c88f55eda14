"""One worker: a jail for programs, another for checkers, and the judging of one program after another."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import replace

from sandbox import languages, livecodebench, loading, memory_files
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
from sandbox.programs import Allowance, Grader, Io, Program, Suite
from sandbox.quiet import Quiet
from sandbox.running import Attempt, Ended, compared, named_detail, outcome_of, run_test
from sandbox.verdicts import Facts, Outcome, TestResult, Verdict, is_idle, lasted, needs_confirmation

# One run more is enough, but for a program that waits for a validator that computes: what that does is seen in part.
_MOST_CONFIRMATIONS = 5


def machine_is_busy() -> bool:
    """Whether more wants to run than there are cores, by the load average of the last minute."""
    return os.getloadavg()[0] > 1.5 * (os.cpu_count() or 1)


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
        if suite.io in (Io.FUNCTION, Io.DESIGN) and languages.find(program.language).build is not None:
            raise NotInSandbox(f"no function of a {program.language} program can be called", "take Python programs")
        if self._grader is Grader.LIVECODEBENCH:
            outcome = self._imitate(program, suite)
        else:
            outcome = self._judge(program, suite, run_all)
        self.counters.solutions += 1
        with self._quiet.shared():
            self._cell.end_solution()
            self._checkers.cell.end_solution()
        return outcome

    def _imitate(self, program: Program, suite: Suite) -> Outcome:
        """What LiveCodeBench's own evaluator would say."""
        try:
            with self._quiet.shared():
                outcome = self._cell.retried(lambda: livecodebench.judge(self._cell.request, program, suite)).outcome
        except JailFault as error:
            return _failed(suite.tests[0].name, Verdict.INTERNAL_ERROR, None, error.message)
        self.counters.tests += len(outcome.tests)
        return outcome

    def _judge(self, program: Program, suite: Suite, run_all: bool) -> Outcome:
        first = suite.tests[0].name
        try:
            with self._quiet.shared():
                loaded = self._cell.retried(lambda: loading.load(self._cell.request, program, self._products))
        except CompileFailure as error:
            return _failed(first, Verdict.COMPILE_ERROR, error.facts, error.message)
        except JailFault as error:
            return _failed(first, Verdict.INTERNAL_ERROR, None, error.message)
        try:
            return self._judge_tests(loaded, languages.find(program.language).allowance, suite, run_all)
        finally:
            loaded.close()

    def _judge_tests(self, loaded: Loaded, allowance: Allowance, suite: Suite, run_all: bool) -> Outcome:
        """Run the tests that the suite's groups ask for, or all of them, and grade what they ask for."""
        grading = Grading([test.name for test in suite.tests], suite.groups)
        results: dict[int, TestResult] = {}
        while (index := grading.next_test) is not None:
            results[index] = result = self._judge_test(loaded, allowance, suite, index)
            grading.record(result.verdict, result.score, result.multiplier)
        grade = grading.grade
        if run_all and grade.verdict is not Verdict.COMPILE_ERROR:
            for index in range(len(suite.tests)):
                if index not in results:
                    results[index] = self._judge_test(loaded, allowance, suite, index)
            results = dict(sorted(results.items()))
        return _outcome(grade, results, suite)

    def _judge_test(self, loaded: Loaded, allowance: Allowance, suite: Suite, index: int) -> TestResult:
        """The result of one test; one that chance may have decided is run again."""
        self.counters.tests += 1
        with self._quiet.shared():
            attempt = self._attempt(loaded, allowance, suite, index, 0.0)
        for _ in range(_MOST_CONFIRMATIONS):
            result = attempt.result
            if attempt.is_final or result.facts is None or (result.confirmed and not attempt.patience_s):
                break
            is_beside_others = is_idle(result.facts) and (lasted(result.facts) or not machine_is_busy())
            with self._quiet.shared() if is_beside_others else self._quiet.alone():
                again = self._attempt(loaded, allowance, suite, index, attempt.patience_s)
            attempt = replace(again, result=replace(again.result, confirmed=True))
        return attempt.result

    def _attempt(self, loaded: Loaded, allowance: Allowance, suite: Suite, index: int, patience_s: float) -> Attempt:
        """One run of one test, in another jail when one breaks."""
        interactive = suite.io is Io.INTERACTIVE
        try:
            ready = self._checkers.ready(suite.checker) if interactive and suite.checker is not None else None
            if isinstance(ready, Judgement):
                return Attempt(judged(suite.tests[index].name, None, ready))
            if ready is not None:
                sides = Sides(self._cell, loaded, allowance, self._checkers.cell, ready)
                return self._cell.retried(lambda: self._talk(sides, suite, index, patience_s), loaded.renew)
            return self._cell.retried(lambda: self._run(loaded, allowance, suite, index), loaded.renew)
        except JailFault as error:
            return Attempt(TestResult(suite.tests[index].name, Verdict.INTERNAL_ERROR, None, error.message))

    def _talk(self, sides: Sides, suite: Suite, index: int, patience_s: float) -> Attempt:
        self.counters.checks += 1
        return talk(sides, suite, suite.tests[index], self._inputs.open(suite, index), patience_s)

    def _run(self, loaded: Loaded, allowance: Allowance, suite: Suite, index: int) -> Attempt:
        test = suite.tests[index]
        compiles = loaded.compiles_long
        stdin_fd = self._inputs.open(suite, index)
        with run_test(self._cell.request, loaded, allowance, suite, stdin_fd) as ended:
            failed = ended.failure(test.name)
            if failed is not None:
                # What it took to compile is not the program's own; its code is there when it is run again.
                took_both = compiles and failed.verdict in (Verdict.TIME_LIMIT, Verdict.MEMORY_LIMIT)
                return Attempt(failed, is_final=not (took_both or needs_confirmation(ended.facts)))
            result = compared(suite, test, ended) if suite.checker is None else self._checked(suite, index, ended)
            return Attempt(result)

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


def _failed(name: str, verdict: Verdict, facts: Facts | None, detail: str) -> Outcome:
    """The outcome of a program that did not get beyond its first test."""
    return outcome_of([TestResult(name, verdict, facts, detail)])


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
