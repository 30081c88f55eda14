"""How strong made tests are, by hand, and what holds of every subset."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from eval.made_tests.strength import (
    BoolArray,
    FalseKill,
    KillRate,
    MadeTest,
    Programs,
    Strength,
    largest,
    minimal_subset,
    strength,
)

TESTS = (
    MadeTest("01", "random", 10, 0.1),
    MadeTest("02", "random", 400, 0.2),
    MadeTest("03", "rising", 900, 0.9),
)


def matrix(*rows: str) -> BoolArray:
    """ "x.": the program fails the first of two tests."""
    return np.array([[sign == "x" for sign in line] for line in rows], dtype=np.bool_)


def programs(**rows: str) -> Programs:
    return Programs.of([(name, matrix(line)[0]) for name, line in rows.items()], len(TESTS))


def measured(**groups: Programs) -> Strength:
    none = Programs.of([], len(TESTS))
    return strength(TESTS, **{"wrong": none, "right": none, **groups})


def test_kill_rate_with_wilsons_interval() -> None:
    found = measured(
        wrong=programs(a="x..", b=".xx", c="...", d="x..", e="..x", f="x..", g="x..", h="x..", i="x..", j="...")
    )
    assert (found.wrong.n_killed, found.wrong.n, found.wrong.rate) == (8, 10, 0.8)
    # Wilson 1927 for 8 of 10: 0.4902 to 0.9433.
    assert found.wrong.low == pytest.approx(0.4902, abs=5e-5)
    assert found.wrong.high == pytest.approx(0.9433, abs=5e-5)
    assert found.survivors == ("c", "j")


def test_no_program_is_no_rate() -> None:
    found = measured()
    assert (found.wrong, found.wrong.rate) == (KillRate(0, 0, None, None), None)
    assert (found.n_right, found.false_kills) == (0, ())
    assert found.alone == ((), (), ())


def test_false_kills_name_program_and_test() -> None:
    found = measured(right=programs(good="...", also="x.x"))
    assert found.false_kills == (FalseKill("also", "01"), FalseKill("also", "03"))
    assert found.n_right == 2


def test_what_a_test_kills_alone() -> None:
    found = measured(
        wrong=programs(a="x..", b="xx."), slow=programs(square="..x"), mutants=programs(m1="..x", m2="x.x", m3="...")
    )
    assert found.alone == (("a",), (), ("square", "m1"))
    assert found.slow.n_killed == found.slow.n == 1
    assert (found.mutants.n_killed, found.mutants.n, found.maybe_equal) == (2, 3, ("m3",))
    assert (found.wrong.n_killed, found.wrong.n) == (2, 2)  # mutants are no part of it


def test_slow_program_that_passes() -> None:
    found = measured(slow=programs(square="...", cubic="..x"))
    assert (found.slow_survivors, found.slow.rate) == (("square",), 0.5)


def test_shapes_are_checked() -> None:
    with pytest.raises(ValueError, match="2 programs with failed tests of shape"):
        Programs(("a", "b"), matrix("x..", "...", "..."))
    with pytest.raises(ValueError, match="just these 3 tests"):
        measured(wrong=Programs.of([("a", [True])], 1))
    with pytest.raises(ValueError, match="numbered from 0 to 1"):
        minimal_subset(matrix("x."), [2])
    with pytest.raises(ValueError, match="1 sizes of 2 tests"):
        minimal_subset(matrix("x."), sizes=[1])


def test_greedy_takes_what_kills_most_and_drops_what_it_made_needless() -> None:
    # The textbook case: greedy takes the four, then needs both of the others, which make the four needless.
    kills = matrix("xx.", "x.x", "xx.", "x.x", ".x.", "..x")
    assert minimal_subset(kills) == (1, 2)
    # Without the last two programs the four are enough.
    assert minimal_subset(kills[:4]) == (0,)


def test_level_tests_are_chosen_by_size_then_place() -> None:
    kills = matrix("xxx")
    assert minimal_subset(kills) == (0,)
    assert minimal_subset(kills, sizes=[9, 5, 5]) == (1,)


def test_kept_tests_stay_and_count() -> None:
    kills = matrix("x.x", ".x.")
    assert minimal_subset(kills) == (0, 1)
    assert minimal_subset(kills, [2]) == (1, 2)
    assert minimal_subset(matrix("..."), [1]) == (1,)
    assert minimal_subset(matrix("...")) == ()
    assert minimal_subset(np.zeros((0, 3), dtype=np.bool_), [0, 2]) == (0, 2)


def test_the_largest() -> None:
    tests = (
        MadeTest("01", "random", 10, 0.9),
        MadeTest("02", "random", 400, 0.2),
        MadeTest("03", "random", 400, 0.9),
        MadeTest("04", "rising", 900),
        MadeTest("05", "star", 5, 0.1),
    )
    assert largest(tests, 1) == (3,)
    assert largest(tests, 2) == (1, 3)
    assert largest((), 2) == ()


@st.composite
def kill_matrices(draw: st.DrawFn) -> BoolArray:
    n_programs, n_tests = draw(st.integers(0, 8)), draw(st.integers(1, 7))
    cells: ArrayLike = draw(
        st.lists(st.lists(st.booleans(), min_size=n_tests, max_size=n_tests), min_size=n_programs, max_size=n_programs)
    )
    return np.array(cells, dtype=np.bool_).reshape(n_programs, n_tests)


@given(kill_matrices(), st.sets(st.integers(0, 6)))
def test_subset_keeps_the_kills_and_no_chosen_test_is_needless(kills: BoolArray, wanted: set[int]) -> None:
    keep = {test for test in wanted if test < kills.shape[1]}
    found = minimal_subset(kills, keep)
    assert keep <= set(found)
    assert list(found) == sorted(set(found))

    def killed(tests: tuple[int, ...]) -> list[bool]:
        return [bool(row[list(tests)].any()) for row in kills]

    assert killed(found) == killed(tuple(range(kills.shape[1])))
    for test in set(found) - keep:
        assert killed(tuple(each for each in found if each != test)) != killed(found)


@given(kill_matrices())
def test_subset_is_near_the_smallest(kills: BoolArray) -> None:
    wanted = kills.any(axis=1)
    smallest = next(
        size
        for size in range(kills.shape[1] + 1)
        for tests in combinations(range(kills.shape[1]), size)
        if (kills[:, list(tests)].any(axis=1) == wanted).all()
    )
    # Chvátal 1979: at most H(n) times the smallest for n programs.
    harmonic = sum(1 / number for number in range(1, len(kills) + 1))
    assert smallest <= len(minimal_subset(kills)) <= harmonic * smallest + 1e-9
