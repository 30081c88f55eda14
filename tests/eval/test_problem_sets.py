"""Sets of problems in a few words."""

from __future__ import annotations

import pytest

from eval.cutoffs import CutoffUnreadable
from eval.problem_sets import ProblemSet, ProblemSetError, read_problem_set
from tests.eval.facts import problem, utc


def test_terms_of_one_word_are_either_and_different_words_both() -> None:
    found = read_problem_set("platform=atcoder, platform=LeetCode,difficulty=hard,since=2024-08,until=2025-01-31")
    assert found.platforms == ("atcoder", "LeetCode")
    assert (found.since, found.until) == (utc("2024-08-01"), utc("2025-02-01"))
    assert found.admits(problem(1, difficulty="hard"))
    assert not found.admits(problem(1))
    assert not found.admits(problem(1, platform="codeforces", difficulty="hard"))
    assert found.reason(problem(1, "2024-07-31")) == "outside the window"
    assert found.reason(problem(1, "2025-01-31")) is None


def test_without_a_bound_a_problem_needs_no_date() -> None:
    assert ProblemSet("x").reason(problem(1, None)) is None
    assert read_problem_set("since=2020").reason(problem(1, None)) == "publication date unknown"
    flagged = problem(1, None, flags=(("bad_tests", "says who"),))
    assert ProblemSet("x").reason(flagged) == "bad tests"
    assert ProblemSet("x").reason(flagged, include_flagged=True) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", 'cannot read "" in the set ""'),
        ("atcoder", 'cannot read "atcoder"'),
        ("platform=", 'cannot read "platform="'),
        ("tag=dp", 'cannot read "tag=dp"'),
        ("since=2024,since=2025", "has since twice"),
        ("since=2025,until=2024", "ends before it begins"),
    ],
)
def test_what_cannot_be_read(text: str, said: str) -> None:
    with pytest.raises(ProblemSetError) as caught:
        read_problem_set(text)
    assert said in caught.value.message
    assert caught.value.hint


def test_a_date_that_cannot_be_read() -> None:
    with pytest.raises(CutoffUnreadable):
        read_problem_set("since=soon")
