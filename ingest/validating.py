"""Input validators: programs that say which inputs a problem may have. A test that breaks the limits of its statement
makes right programs crash or run out of time, so it is none.

A validator is called as problem packages have it: the input is its standard input, and it ends with exit code 42 where
that is valid and 43 where it is not (spec/legacy/input_validators.md of the problem package format). It is run in the
sandbox.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from db.importing import ImportFailure, Refusal
from db.records import ProblemRecord, SuiteRecord, TestCaseRecord, TestOrigin
from ingest.formats import Item
from ingest.hidden_tests import WEAK_TESTS
from sandbox import Judge, Limits, Program, Suite, Test, TestResult
from sandbox.programs import MIB

LIMITS: Final = Limits(cpu_s=60.0, memory_bytes=2048 * MIB)
_VALID, _INVALID = 42, 43
_PARTIAL: Final = "partial_tests"


class BrokenValidator(ImportFailure):
    """The validator itself does not work: what it would refuse must not pass, so nothing more is taken."""


class InputValidator:
    """One validator, for all problems of an import."""

    def __init__(self, judge: Judge, program: Program) -> None:
        self._judge = judge
        self._program = program

    def check(self, items: Iterable[Item]) -> Iterator[Item]:
        """The items with invalid tests as refusals. Raises ``BrokenValidator``, or what judging raises."""
        for item in items:
            if isinstance(item, ProblemRecord) and item.suite is not None and item.suite.tests:
                yield from self._checked(item, item.suite)
            else:
                yield item

    def _checked(self, record: ProblemRecord, suite: SuiteRecord) -> Iterator[Item]:
        results = self._run(record, suite.tests)
        kept = tuple(test for test, result in zip(suite.tests, results, strict=True) if _exit_code(result) == _VALID)
        flags = record.flags
        if len(kept) < len(suite.tests):
            refused = f"{len(suite.tests) - len(kept)} of {len(suite.tests)} tests were refused by the input validator"
            flags = (*flags, (_PARTIAL, refused)) if _PARTIAL not in dict(flags) else flags
        if _hidden(suite.tests) and not _hidden(kept):
            flags = (*flags, (WEAK_TESTS, "no hidden test is valid"))
        yield replace(record, suite=replace(suite, tests=kept) if kept else None, flags=flags)
        for test, result in zip(suite.tests, results, strict=True):
            if _exit_code(result) == _INVALID:
                reason = f"the input validator refuses its input: {result.detail}"
                yield Refusal(f"{record.key}, test {test.name}", reason, "correct the test, or the validator")

    def _run(self, record: ProblemRecord, tests: tuple[TestCaseRecord, ...]) -> tuple[TestResult, ...]:
        inputs = tuple(Test(str(number), test.input, b"") for number, test in enumerate(tests))
        outcome = self._judge.judge(self._program, Suite(inputs, limits=LIMITS), run_all=True)
        for result in outcome.tests:
            if _exit_code(result) not in (_VALID, _INVALID):
                what = f"the input validator ends with neither {_VALID} nor {_INVALID}"
                # What it printed was compared with nothing, which tells nothing of it.
                said = "exit code 0" if _exit_code(result) == 0 else result.detail or str(result.verdict)
                raise BrokenValidator(f"{what} on a test of {record.key}: {said}", "correct the validator")
        return outcome.tests


def _exit_code(result: TestResult) -> int | None:
    return None if result.facts is None else result.facts.exit_code


def _hidden(tests: Iterable[TestCaseRecord]) -> bool:
    return any(test.origin is not TestOrigin.SAMPLE for test in tests)
