"""Jury submissions of real contests: the Python ones of the pass-fail packages get the verdict that the jury expects.

Packages state no time limit: the format's rule sets it from the slowest accepted submission, here the Python ones'.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from db.records import ProblemRecord
from eval.judging import to_suite
from ingest.formats import load_format
from ingest.packages import open_package
from sandbox import Judge, Limits, Outcome, Program, Suite, Verdict

pytestmark = [pytest.mark.shared, pytest.mark.slow, pytest.mark.docker]

EXPECTED = {
    "accepted": Verdict.ACCEPTED,
    "wrong_answer": Verdict.WRONG_ANSWER,
    "time_limit_exceeded": Verdict.TIME_LIMIT,
    "run_time_error": Verdict.RUNTIME_ERROR,
}
GENEROUS = Limits(cpu_s=60)


def test_python_submissions_get_the_verdict_that_the_jury_expects(shared_data: Path) -> None:
    folder = shared_data / "packages"
    suites = pass_fail_suites(folder)
    submissions = python_submissions(folder, suites)
    assert sum(len(group) for group in submissions.values()) >= 50
    with Judge("docker") as judge:
        wrong = {
            (package, submission["name"]): (submission["expected"], outcome.verdict, outcome.detail)
            for package, group in sorted(submissions.items())
            for submission, outcome in judge_package(judge, folder / package, suites[package], group)
            if outcome.verdict is not EXPECTED[submission["expected"]]
        }
    assert wrong == {}


def pass_fail_suites(folder: Path) -> dict[str, Suite]:
    found = {}
    for item in load_format("kattis").read(folder):
        if isinstance(item, ProblemRecord) and item.suite is not None and not item.flags:
            found[item.key.native_id] = to_suite(item.suite)
    return found


def python_submissions(folder: Path, suites: dict[str, Suite]) -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with gzip.open(folder / "submissions.jsonl.gz", "rt", encoding="utf-8") as lines:
        for submission in map(json.loads, lines):
            if submission["language"] == "python3" and submission["package"] in suites:
                groups[submission["package"]].append(submission)
    return groups


def judge_package(
    judge: Judge, folder: Path, suite: Suite, group: list[dict[str, Any]]
) -> list[tuple[dict[str, Any], Outcome]]:
    """The accepted ones first, with room; then all with the limit that follows from the slowest of them."""
    accepted = [submission for submission in group if submission["expected"] == "accepted"]
    timed = [judge.judge(Program(submission["source"]), replace(suite, limits=GENEROUS)) for submission in accepted]
    slowest_s = max((test.facts.cpu_s for outcome in timed for test in outcome.tests if test.facts), default=1.0)
    limits = replace(suite.limits, cpu_s=open_package(folder).time_rule.limit_for(slowest_s))
    return [(s, judge.judge(Program(s["source"]), replace(suite, limits=limits))) for s in group]
