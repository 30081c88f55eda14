"""Input validators: programs that say which inputs a problem may have. A test that breaks the limits of its statement
makes right programs crash or run out of time, so it is none.

A validator is what `sandbox.validation` says of it, and runs in the sandbox.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from db.importing import ImportFailure, Refusal
from db.records import ProblemRecord, SuiteRecord, TestCaseRecord, TestOrigin
from ingest.formats import Item
from ingest.hidden_tests import WEAK_TESTS
from sandbox import Judge, Program, validation
from sandbox.validation import INVALID, VALID, NotAValidator

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
        refusals = self._refusals(record, suite.tests)
        kept = tuple(test for test, refusal in zip(suite.tests, refusals, strict=True) if refusal is None)
        flags = record.flags
        if len(kept) < len(suite.tests):
            refused = f"{len(suite.tests) - len(kept)} of {len(suite.tests)} tests were refused by the input validator"
            flags = (*flags, (_PARTIAL, refused)) if _PARTIAL not in dict(flags) else flags
        if _hidden(suite.tests) and not _hidden(kept):
            flags = (*flags, (WEAK_TESTS, "no hidden test is valid"))
        yield replace(record, suite=replace(suite, tests=kept) if kept else None, flags=flags)
        for test, refusal in zip(suite.tests, refusals, strict=True):
            if refusal is not None:
                reason = f"the input validator refuses its input: {refusal}"
                yield Refusal(f"{record.key}, test {test.name}", reason, "correct the test, or the validator")

    def _refusals(self, record: ProblemRecord, tests: tuple[TestCaseRecord, ...]) -> list[str | None]:
        try:
            return validation.refusals(self._judge, self._program, [test.input for test in tests])
        except NotAValidator as error:
            what = f"the input validator ends with neither {VALID} nor {INVALID} on a test of {record.key}"
            raise BrokenValidator(f"{what}: {error.how}", "correct the validator") from error


def _hidden(tests: Iterable[TestCaseRecord]) -> bool:
    return any(test.origin is not TestOrigin.SAMPLE for test in tests)
