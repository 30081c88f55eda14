"""From a package to a verdict: the packages on disk with validators and scores, judged with their own submissions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from eval.judging import to_suite
from sandbox import Judge, Outcome, Program, Verdict
from sandbox.languages import by_suffix
from tests.ingest.package_folders import JUDGED, judged_problems, suite_of

pytestmark = pytest.mark.docker

SUBMISSIONS = sorted(JUDGED.glob("*/submissions/*/*"))
SCORES = {"stairs/partially_accepted/narrow.py": 30.0, "stairs/accepted/adding.py": 100.0}
SCORES["divisors/accepted/trying.py"] = 100.0
PART_OF_DIVISORS = """\
number = int(input())
print(*(place for place in range(1, number + 1) if number % place == 0 and place < 97))
"""


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge(jobs=1, executor="docker") as opened:
        yield opened


def judged(judge: Judge, package: str, program: Program) -> Outcome:
    suite = to_suite(suite_of(judged_problems()[package]))
    missing = judge.lacks(program, suite)
    if missing is not None:
        pytest.skip(f"this image has no {missing}")
    return judge.judge(program, suite)


@pytest.mark.parametrize("file", SUBMISSIONS, ids=lambda file: f"{file.parts[-4]}/{file.parent.name}/{file.name}")
def test_submissions_get_what_their_folders_say(judge: Judge, file: Path) -> None:
    package, kind = file.parts[-4], file.parent.name
    outcome = judged(judge, package, Program(file.read_text(), by_suffix(file.suffix) or ""))
    assert (outcome.verdict is Verdict.ACCEPTED) is (kind == "accepted"), outcome.detail
    assert outcome.score == SCORES.get(f"{package}/{kind}/{file.name}")


def test_a_validator_gives_a_part_of_the_score(judge: Judge) -> None:
    # All of 40; 30 for six, which has all its divisors here; half of 30 for ninety-seven, which has one of two.
    outcome = judged(judge, "divisors", Program(PART_OF_DIVISORS))
    assert (outcome.verdict, outcome.score) == (Verdict.WRONG_ANSWER, 85.0)
