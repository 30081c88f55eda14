"""Runs x problems as arrays."""

from __future__ import annotations

import numpy as np
import pytest

from eval.board import build_board, numbered, run_names
from tests.eval.facts import problem, run


def test_results_are_joined_by_id_and_never_by_position() -> None:
    problems = [problem(3), problem(1), problem(2), problem(9)]
    board = build_board(problems, [run("a", [(1, 2, 1), (3, 4, 4)]), run("b", [(2, 1, 0), (7, 1, 1)])])
    assert [one.problem_id for one in board.problems] == [3, 1, 2]
    np.testing.assert_array_equal(board.n_samples, [[4, 2, 0], [0, 0, 1]])
    np.testing.assert_array_equal(board.scores, [[1.0, 0.5, np.nan], [np.nan, np.nan, 0.0]])
    np.testing.assert_array_equal(board.seen, [[True, True, False], [False, False, True]])


def test_a_sample_that_was_not_judged_is_no_result() -> None:
    board = build_board([problem(1), problem(2)], [run("a", [(1, 0, 0, 3), (2, 1, 1)])])  # type: ignore[list-item]
    assert [one.problem_id for one in board.problems] == [2]


def test_problems_of_one_contest_share_a_number_and_days_count_in_utc() -> None:
    problems = [
        problem(1, "1970-01-02", contest="x"),
        problem(2, "1970-01-02T12:00:00", contest="x"),
        problem(3, None, contest="y", difficulty=None),
    ]
    board = build_board(problems, [run("a", [(1, 1, 1), (2, 1, 1), (3, 1, 1)])])
    np.testing.assert_array_equal(board.clusters, [0, 0, 1])
    np.testing.assert_array_equal(board.days, [1.0, 1.5, np.nan])
    assert board.difficulties == ("easy", "easy", "unknown")


def test_parts_of_a_board() -> None:
    board = build_board([problem(1), problem(2)], [run("a", [(1, 1, 1), (2, 1, 0)]), run("b", [(2, 2, 1)])])
    part = board.take(np.array([False, True])).take_runs([1, 0])
    assert part.names == ("b", "a")
    np.testing.assert_array_equal(part.scores, [[0.5], [0.0]])


def test_nothing_is_an_empty_board() -> None:
    board = build_board([problem(1)], [])
    assert board.scores.shape == (0, 0)
    assert board.clusters.shape == (0,)


def test_runs_of_one_model_are_told_apart() -> None:
    runs = [
        run("a", [], label="high"),
        run("a", [], origin="site", imported=True),
        run("b", [], origin="site", imported=True),
    ]
    assert run_names(runs) == ("a (high)", "a (site)", "b")


def test_numbers_count_from_nought_in_order_of_appearance() -> None:
    np.testing.assert_array_equal(numbered(["x", "y", "x"]), [0, 1, 0])


def test_two_outcomes_for_one_problem_are_refused() -> None:
    with pytest.raises(ValueError, match="two outcomes for one problem in the run of a"):
        build_board([problem(1)], [run("a", [(1, 1, 1), (1, 1, 0)])])
