"""The joined LiveCodeBench problems of the shared data, as rows of the project's own form of problems."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def as_problem_rows(path: Path, *, hidden_tests: bool = False) -> Iterator[dict[str, Any]]:
    """The problems in ``problems.jsonl.gz`` at `path`, public tests as samples.

    `hidden_tests` adds those recovered from published failures, as origin "recovered".
    """
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield _problem_row(json.loads(line), hidden_tests)


def _problem_row(problem: dict[str, Any], hidden_tests: bool) -> dict[str, Any]:
    tests = [_test(test, "sample") for test in problem["public_tests"]]
    if hidden_tests:
        tests += [_test(test, "recovered") for test in problem["hidden_tests"]]
    row = {
        "platform": problem["platform"],
        "id": problem["question_id"],
        "title": problem["title"],
        "contest": {"id": problem["contest_id"]},
        "released": {"value": problem["contest_date"][:10], "source": "livecodebench"},
        "difficulty": problem["difficulty"],
        "statement": problem["statement"],
        "starter_code": problem["starter_code"],
        "flags": [{"name": flag, "reason": "the data set's errata"} for flag in problem["flags"]],
        "tests": tests,
    }
    if problem["func_name"]:
        row |= {"io": "function", "entry_point": problem["func_name"]}
    return row


def _test(test: dict[str, Any], origin: str) -> dict[str, Any]:
    return {"input": test["input"], "expected": test["output"], "origin": origin}
