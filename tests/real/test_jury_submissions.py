"""Jury submissions of real contests, in every language that the jails here have: each gets the verdict that the jury
expects.

Packages state no time limit: the format's rule sets it from the slowest accepted submission. Of the 235, nine are in
languages that are not supported: five in C#, two in Haskell, two in Kotlin.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import yaml

from db.records import ProblemRecord
from eval.judging import to_suite
from ingest.formats import load_format
from sandbox import Job, Judge, Limits, Outcome, Program, SandboxError, Suite, Verdict, grading, languages
from sandbox.programs import MIB

pytestmark = [pytest.mark.shared, pytest.mark.slow]

PARTIAL = "partially_accepted"
EXPECTED = {
    "accepted": Verdict.ACCEPTED,
    "wrong_answer": Verdict.WRONG_ANSWER,
    "time_limit_exceeded": Verdict.TIME_LIMIT,
    "run_time_error": Verdict.RUNTIME_ERROR,
}

# Time enough to measure by; the memory is what the format's own tools give where a package says nothing.
ROOM = Limits(cpu_s=60.0, memory_bytes=2048 * MIB)

# Tests of these packages are not in the recorded data: the longest of arrangingadapters there has 35 bytes, and of
# lookingforwaldo secret7 to secret9 are missing. What is right or quick enough for the others is accepted.
_ALL_THAT_ARE_THERE = {
    ("nwerc-2023/arrangingadapters", "jeroen.c"),
    ("nwerc-2023/arrangingadapters", "jeroen_optimised_dai.c"),
    ("nwerc-2023/arrangingadapters", "jeroen.java"),
    ("nwerc-2023/arrangingadapters", "dai_faulty_heuristic_2.cpp"),
    ("nwerc-2023/arrangingadapters", "overflow.cpp"),
}
# The limit is twice the slowest accepted time, in whole seconds, and these are near it, on this side or that.
_NEAR_THE_LIMIT = {
    ("gcpc-2021/lookingforwaldo", "bruteforce_optimized.cpp"),
    ("gcpc-2021/lookingforwaldo", "bruteforce_optimized_io.cpp"),
    ("gcpc-2021/lookingforwaldo", "gregors_naive.cpp"),
    ("gcpc-2021/lookingforwaldo", "gregors_naive_io.cpp"),
}

# What a submission's own name says that it scores.
SCORES = {"par40.c": 40.0, "par60.c": 60.0, "fe_20.cpp": 20.0, "fe_60.cpp": 60.0}

# How many there are in languages that are supported.
SUBMISSIONS = {"c": 4, "cpp20": 145, "go": 1, "java": 11, "python3": 65}


@dataclass(frozen=True)
class Submission:
    """``number`` is its place in the recorded file; names come twice."""

    number: int
    package: str
    name: str
    expected: str
    program: Program

    @property
    def allowed(self) -> set[Verdict]:
        """The verdicts that are right for it."""
        key = self.package, self.name
        if self.expected != "accepted" and key in _ALL_THAT_ARE_THERE:
            return {Verdict.ACCEPTED}
        near = {Verdict.ACCEPTED} if key in _NEAR_THE_LIMIT else set()
        return {EXPECTED[self.expected]} | near


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    """A judge on the first executor that works here."""
    try:
        judge = Judge()
    except SandboxError as error:
        pytest.skip(f"{error.message} ({error.hint})")
    with judge:
        yield judge


def test_submissions_get_the_verdict_that_the_jury_expects(judge: Judge, shared_data: Path) -> None:
    folder = shared_data / "packages"
    suites = suites_of(folder)
    everyone = list(submissions_of(folder))
    counts = {name: sum(s.program.language == name for s in everyone) for name in SUBMISSIONS}
    assert counts == SUBMISSIONS
    here = [submission for submission in everyone if submission.program.language in judge.languages]
    assert len(here) >= SUBMISSIONS["python3"]

    accepted = judge_all(
        judge, (s for s in here if s.expected == "accepted"), suites, dict.fromkeys(suites, ROOM.cpu_s)
    )
    limits_s = {package: limit_s(folder / package, accepted) for package in suites}
    others = judge_all(judge, (s for s in here if s.expected != "accepted"), suites, limits_s)

    wrong = [
        f"{s.package}/{s.name}, {limits_s[s.package]} s: {s.expected}, but {outcome.verdict} {outcome.detail}"
        for s, outcome in {**accepted, **others}.items()
        if not is_right(s, outcome, suites[s.package])
    ]
    assert wrong == []


def suites_of(folder: Path) -> dict[str, Suite]:
    found = {}
    for item in load_format("kattis").read(folder):
        assert isinstance(item, ProblemRecord)
        assert item.suite is not None
        found[item.key.native_id] = to_suite(item.suite)
    assert len(found) == 29
    return found


def submissions_of(folder: Path) -> Iterator[Submission]:
    with gzip.open(folder / "submissions.jsonl.gz", "rt", encoding="utf-8") as lines:
        for number, row in enumerate(map(json.loads, lines)):
            language = languages.canonical(row["language"])
            if language is not None:
                program = Program(row["source"], language)
                yield Submission(number, row["package"], row["name"], row["expected"], program)


def judge_all(
    judge: Judge, submissions: Iterable[Submission], suites: dict[str, Suite], limits_s: dict[str, float]
) -> dict[Submission, Outcome]:
    jobs = (
        Job(s, s.program, replace(suites[s.package], limits=replace(ROOM, cpu_s=limits_s[s.package])))
        for s in submissions
    )
    return dict(judge.map(jobs))


def limit_s(folder: Path, accepted: dict[Submission, Outcome]) -> float:
    """By the legacy form's rule: a multiple (5) of the slowest time, in whole seconds, at least 1; as if one took a
    second where no accepted submission is in a language that is here."""
    package = f"{folder.parent.name}/{folder.name}"
    times = [
        test.facts.cpu_s
        for s, outcome in accepted.items()
        if s.package == package
        for test in outcome.tests
        if test.facts
    ]
    limits = yaml.safe_load((folder / "problem.yaml").read_text()).get("limits") or {}
    return float(max(1, int(max(times, default=1.0) * limits.get("time_multiplier", 5) + 0.5)))


def is_right(submission: Submission, outcome: Outcome, suite: Suite) -> bool:
    if submission.expected != PARTIAL:
        return outcome.verdict in submission.allowed
    assert suite.groups is not None
    full = grading.full_score([test.name for test in suite.tests], suite.groups)
    assert full == 100.0
    score = outcome.score
    right = outcome.verdict is not Verdict.ACCEPTED and score is not None and 0 < score < full
    return right and SCORES.get(submission.name, score) == score
