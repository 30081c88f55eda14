"""Platforms and difficulties that nothing has."""

from __future__ import annotations

import pytest

from eval.labels import LabelUnknown, check_labels
from eval.problem_sets import check_problem_set, read_problem_set
from eval.workloads import Workload, check_workload
from tests.eval.facts import problem

PROBLEMS = [
    problem(1, difficulty="hard"),
    problem(2, difficulty="Easy"),
    problem(3, platform="leetcode", difficulty=None),
    problem(4, platform="leetcode", difficulty="medium"),
]


def test_known_labels_in_any_case() -> None:
    check_labels(PROBLEMS, ["AtCoder"], ["EASY", "unknown"])
    check_labels(PROBLEMS, [], [])
    check_labels([], ["nosuch"], ["eazy"])  # of no problems nothing can be said


@pytest.mark.parametrize(
    ("platforms", "difficulties", "said"),
    [
        (["atcoder", "nosuch"], [], 'no problem is of the platform "nosuch"; there are atcoder, leetcode'),
        ([], ["eazy"], 'no problem is labelled "eazy"; there are easy, medium, hard, unknown'),
    ],
)
def test_unknown_labels_are_refused_with_what_there_is(
    platforms: list[str], difficulties: list[str], said: str
) -> None:
    with pytest.raises(LabelUnknown) as caught:
        check_labels(PROBLEMS, platforms, difficulties)
    assert caught.value.message == said
    assert caught.value.hint


def test_many_labels_are_counted() -> None:
    rated = [problem(number, difficulty=str(800 + 100 * number)) for number in range(20)]
    with pytest.raises(LabelUnknown, match="and 8 more"):
        check_labels(rated, [], ["easy"])
    with pytest.raises(LabelUnknown, match=r"there is 800$"):
        check_labels(rated[:1], [], ["easy"])


def test_sets_and_workloads_name_themselves() -> None:
    with pytest.raises(LabelUnknown, match=r'^the set "platform=nosuch": no problem'):
        check_problem_set(read_problem_set("platform=nosuch"), PROBLEMS)
    with pytest.raises(LabelUnknown, match=r"^w\.toml: no problem is labelled"):
        check_workload(Workload(difficulty={"eazy": 0.0}), PROBLEMS, "w.toml")
