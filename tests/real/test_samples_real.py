"""Samples in plain statements: LiveCodeBench's texts of AtCoder and Codeforces against the official public tests.

This tests the finder of samples, not the reading of pages.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from ingest.statements.samples import find_samples, text_blocks

pytestmark = pytest.mark.shared

# Statements from which the official tests cannot come.
NOT_IN_THE_TEXT = {
    "abc333_e": "any answer is right, and the third official output is another one than the statement's",
    "abc337_e": "interactive: its text has no samples",
    "abc350_c": "no official test is recorded, the statement has three samples",
    "abc355_e": "interactive: its text has no samples",
}


@pytest.fixture(scope="module")
def problems(shared_data: Path) -> list[dict[str, Any]]:
    with gzip.open(shared_data / "livecodebench" / "problems.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_samples_of_plain_statements_are_the_official_tests(problems: list[dict[str, Any]]) -> None:
    """598 of AtCoder's 602 and all 9 of Codeforces, up to blanks at the ends of lines and of the whole."""
    other = []
    counts = {"atcoder": 0, "codeforces": 0}
    for problem in problems:
        if problem["platform"] in counts:
            counts[problem["platform"]] += 1
            samples = find_samples(text_blocks(problem["statement"]))
            official = [(test["input"], test["output"]) for test in problem["public_tests"]]
            assert samples.unpaired == ()
            if [tuple(map(bare, pair)) for pair in samples.pairs] != [tuple(map(bare, pair)) for pair in official]:
                other.append(problem["id"])
    assert counts == {"atcoder": 602, "codeforces": 9}
    assert sorted(other) == sorted(NOT_IN_THE_TEXT)


def bare(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().split("\n")]
