"""Whether a problem's tests go beyond what its statement shows: on the samples alone a program that has learned them
passes. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from db.records import ProblemRecord, TestCaseRecord, TestOrigin

WEAK_TESTS: Final = "weak_tests"
"""The flag of a problem whose hidden tests are none. One that has samples alone and says so has no such flag: the table
counts those apart."""

_NOTHING_HIDDEN: Final = "the hidden tests are the samples again"


def weak_tests(tests: Iterable[TestCaseRecord]) -> tuple[tuple[str, str], ...]:
    """The flag with its reason where there are tests beside the samples, and each of them is a sample again."""
    given = list(tests)
    samples = {(test.input, test.expected) for test in given if test.origin is TestOrigin.SAMPLE}
    hidden = {(test.input, test.expected) for test in given if test.origin is not TestOrigin.SAMPLE}
    return ((WEAK_TESTS, _NOTHING_HIDDEN),) if hidden and hidden <= samples else ()


def with_weak_tests_flagged(record: ProblemRecord) -> ProblemRecord:
    """The record with that flag, where it applies and is not there yet."""
    found = weak_tests(record.suite.tests) if record.suite is not None else ()
    if not found or WEAK_TESTS in dict(record.flags):
        return record
    return replace(record, flags=(*record.flags, *found))
