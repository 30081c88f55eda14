"""Samples of a statement as tests, under the names that all sources give them. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from db.records import TestCaseRecord, TestOrigin


def sample_test(number: int, given: bytes, expected: bytes) -> TestCaseRecord:
    """A sample by its number, which begins with 1."""
    return TestCaseRecord(f"sample {number}", given, expected, TestOrigin.SAMPLE)


def sample_tests(pairs: Iterable[tuple[str, str]]) -> tuple[TestCaseRecord, ...]:
    """All samples, given as (input, output) in their order."""
    return tuple(
        sample_test(number, given.encode(), expected.encode())
        for number, (given, expected) in enumerate(pairs, start=1)
    )
