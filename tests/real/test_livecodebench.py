"""Verdicts on real model solutions against the grades that were published for them.

The grader's own faults are in the data (``suspect``): programs whose main work runs in a thread that is not joined were
graded as if they printed nothing.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sandbox import Judge, Outcome, Suite, Verdict
from sandbox.requirements import packages_of
from tests.real.solutions import Row, judged, problems, solutions, suite_of

pytestmark = [pytest.mark.shared, pytest.mark.slow, pytest.mark.full, pytest.mark.bubblewrap]

LOST_THREAD = "stdout_of_thread_lost_by_grader"
Verdicts = dict[str, dict[int, Outcome]]


@pytest.fixture(scope="module")
def folder(shared_data: Path) -> Path:
    return shared_data / "livecodebench"


@pytest.fixture(scope="module")
def o1(folder: Path) -> list[Row]:
    """The 1,760 solutions of the two o1 runs."""
    rows = solutions(folder, lambda row: row["model"].startswith("o1-"))
    assert len(rows) == 1760
    return rows


@pytest.fixture(scope="module")
def outcomes(folder: Path, o1: list[Row]) -> Verdicts:
    """Their outcomes on the public tests, by executor."""

    def public(row: Row) -> Suite | None:
        problem = problems(folder)[row["question_id"]]
        return suite_of(problem, problem["public_tests"])

    found = {}
    for executor in ("docker", "bubblewrap"):
        with Judge(executor, image="full" if executor == "docker" else None) as judge:
            found[executor] = judged(judge, o1, public)
    return found


def test_every_published_pass_is_accepted(o1: list[Row], outcomes: Verdicts) -> None:
    passed = [index for index, row in enumerate(o1) if row["published_grade"]]
    assert len(passed) == 1091
    others = {
        (o1[index]["model"], o1[index]["question_id"]): outcome.detail
        for index in passed
        if (outcome := outcomes["docker"].get(index)) is not None and outcome.verdict is not Verdict.ACCEPTED
    }
    assert others == {}


def test_programs_that_print_from_a_thread_are_judged_by_their_output(o1: list[Row], outcomes: Verdicts) -> None:
    lost = [index for index, row in enumerate(o1) if LOST_THREAD in row["suspect"]]
    assert len(lost) == 179
    accepted = [index for index in lost if (o := outcomes["docker"].get(index)) and o.verdict is Verdict.ACCEPTED]
    assert len(accepted) >= 148


def test_docker_and_bubblewrap_agree_on_every_solution(o1: list[Row], outcomes: Verdicts) -> None:
    docker, bubblewrap = outcomes["docker"], outcomes["bubblewrap"]
    assert len(docker) == 1758  # abc350_c has no official sample
    needing = {index for index in docker if packages_of(o1[index]["code"] or "", called=True)}
    assert 0 < len(needing) < 30
    assert docker.keys() - bubblewrap.keys() <= needing  # this machine's own Python may lack the packages
    differ = {
        (o1[index]["model"], o1[index]["question_id"]): (docker[index].verdict, bubblewrap[index].verdict)
        for index in bubblewrap
        if docker[index].verdict is not bubblewrap[index].verdict
    }
    assert differ == {}


def test_the_published_grades_on_complete_tests(folder: Path) -> None:
    complete = json.loads((folder / "full_tests.json").read_text())
    rows = solutions(folder, lambda row: row["question_id"] in complete)
    assert len(rows) == 18

    def all_tests(row: Row) -> Suite | None:
        full = complete[row["question_id"]]
        return suite_of({"func_name": full["fn_name"]}, full["tests"])

    with Judge("docker") as judge:
        found = judged(judge, rows, all_tests)
    grades = {index: outcome.verdict is Verdict.ACCEPTED for index, outcome in found.items()}
    assert grades == {index: row["published_grade"] for index, row in enumerate(rows)}
