"""A changed mean in its parts: by hand, as identities, and its errors against other estimates and simulated boards."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from eval.statistics.composition import Estimate, Periods, decompose
from eval.statistics.intervals import cluster_se
from eval.statistics.pairs import compare
from eval.statistics.revision import Revision, explain, set_moves
from tests.eval.statistics.boards import board

NAN = float("nan")
# Before: p0-p5 easy (4 of 6 solved), p6-p9 hard (1 of 4). After: p0 is gone, p1 is not solved any more; two hard
# problems came, one of them solved, and one easy one, solved.
A = [1, 1, 1, 1, 0, 0, 1, 0, 0, 0, NAN, NAN, NAN]
B = [NAN, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 0, 1]
STRATA = ["easy"] * 6 + ["hard"] * 6 + ["easy"]


def value(estimate: Estimate | None) -> float:
    assert estimate is not None
    return estimate.value


def se(estimate: Estimate | None) -> float:
    assert estimate is not None
    assert estimate.se is not None
    return estimate.se


def test_a_change_by_hand() -> None:
    found = explain(A, B, range(13), STRATA)
    assert (found.n_before, found.n_after, found.n_common) == (10, 12, 9)
    assert found.before == pytest.approx(5 / 10)
    assert found.after == pytest.approx(5 / 12)
    assert value(found.change) == pytest.approx(-1 / 12)
    assert value(found.results) == pytest.approx(-1 / 12)
    assert value(found.problem_set) == pytest.approx(0, abs=1e-15)
    # With p1 still solved: easy 4/6 and 4/6, hard 1/4 and 2/6; shares .6 and .4, then .5 and .5.
    assert value(found.composition) == pytest.approx(-0.1 * (2 / 3) + 0.1 * (1 / 4 + 1 / 3) / 2)
    assert value(found.within) == pytest.approx((1 / 3 - 1 / 4) * 0.45)
    assert value(found.behaviour) == pytest.approx(-1 / 12 + (1 / 3 - 1 / 4) * 0.45)
    assert found.n_contests_moved == 5


def test_what_each_problem_adds_by_hand() -> None:
    moves = set_moves(A, B)
    # The mean before is .5 and there are 12 after: an unsolved one that came takes .5/12, a solved one that went too.
    assert moves.tolist() == pytest.approx([-0.5 / 12, *[0] * 9, 0.5 / 12, -0.5 / 12, 0.5 / 12])


def test_the_error_of_other_results_by_hand() -> None:
    # Five of the 12 problems after changed: p1 and p2 to 0, p4, p7 and p8 to 1; the mean difference is 1/12.
    several = np.array(B)
    several[[2, 4, 7, 8]] = [0, 1, 1, 1]
    found = explain(A, several, range(13), STRATA)
    assert value(found.results) == pytest.approx(1 / 12)
    squares = 3 * (11 / 12) ** 2 + 2 * (13 / 12) ** 2 + 7 * (1 / 12) ** 2
    assert se(found.results) == pytest.approx((13 / 12 * squares) ** 0.5 / 12)
    # With p1 alone there is no telling how much others would have changed.
    assert explain(A, B, range(13), STRATA).results.se is None


def test_the_same_set_has_no_composition_and_the_paired_error() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.random(40), rng.random(40)
    clusters = np.arange(40) // 2
    found = explain(a, b, clusters, np.arange(40) % 3)
    assert (value(found.composition), value(found.within)) == (0, 0)
    assert found.behaviour == found.results
    paired = compare(b, a, clusters)
    assert value(found.change) == pytest.approx(paired.difference or 0)
    assert se(found.change) == pytest.approx(paired.se or 0)
    assert found.low == pytest.approx(paired.low)
    assert found.high == pytest.approx(paired.high)


def test_two_sets_without_a_common_problem_have_the_error_of_two_means() -> None:
    rng = np.random.default_rng(6)
    a, b = np.append(rng.random(60), [NAN] * 90), np.append([NAN] * 60, rng.random(90))
    clusters = np.arange(150) // 3
    found = explain(a, b, clusters, np.zeros(150))
    errors = [cluster_se(a[:60], clusters[:60].tolist()), cluster_se(b[60:], clusters[60:].tolist())]
    assert se(found.change) == pytest.approx(math.hypot(*(one or 0 for one in errors)), rel=0.02)
    assert (found.n_common, value(found.results)) == (0, 0)


def test_nothing_moved() -> None:
    found = explain(A[:10], A[:10], range(10), STRATA[:10])
    assert value(found.change) == 0
    assert value(found.behaviour) == 0
    assert (found.change.se, found.low, found.high, found.n_contests_moved) == (None, None, None, 0)


def test_what_moved_in_one_contest_has_no_error() -> None:
    a = np.array([1.0, 0, 1, 0, 1, 0, 1, 0, 1, 0, NAN, NAN])
    b = np.where(np.isnan(a), 1.0, a)
    found = explain(a, b, [*range(10), 10, 10], [0] * 12)
    assert (found.n_contests_moved, found.change.se, found.low) == (1, None, None)
    assert explain(a, b, range(12), [0] * 12).change.se is not None


def test_a_stratum_that_is_empty_on_one_side_is_merged_or_refused() -> None:
    a = np.array([1.0, 0] * 6 + [NAN] * 4)
    b = np.array([NAN] * 4 + [1.0, 0] * 6)
    strata = ["x easy"] * 6 + ["x hard"] * 6 + ["y hard"] * 4
    found = explain(a, b, range(16), strata)
    assert found.refusal is not None
    assert "y hard" in found.refusal
    assert (found.composition, found.within, found.behaviour) == (None, None, None)
    merged = explain(a, b, range(16), strata, coarser=["easy"] * 6 + ["hard"] * 10)
    assert merged.refusal is None
    assert merged.merged == (("x hard", "y hard"),)
    assert value(merged.composition) + value(merged.behaviour) == pytest.approx(value(merged.change))


def test_few_problems_are_not_split_and_have_no_error() -> None:
    found = explain([1, 0, NAN], [NAN, 1, 1], range(3), [0, 0, 0])
    assert (value(found.change), value(found.results), value(found.problem_set)) == (0.5, 0.5, 0.0)
    assert found.change.se is None
    assert found.refusal == "needs at least 10 problems with a result on each side, there are 2 and 2"


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ([NAN], [1], "a set without a problem"),
        ([1], [NAN], "a set without a problem"),
        ([1, NAN], [1, NAN], "1 problems are in neither set"),
        ([1, 0], [1], "shapes"),
    ],
)
def test_sets_that_have_no_change_are_refused(before: list[float], after: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        explain(before, after, range(len(before)), [0] * len(before))


def test_with_few_contests_moved_the_larger_of_two_errors_is_taken() -> None:
    # Five contests come with two problems each, of which one is solved but for the last contest: both.
    old, new = [1.0, 0] * 10, [*[1.0, 0] * 4, 1.0, 1.0]
    a, b = np.array([*old, *[NAN] * 10]), np.array([*old, *new])
    contests = np.arange(30) // 2
    found = explain(a, b, contests, [0] * 30)
    assert found.n_contests_moved == 5
    mean = 16 / 30
    added = np.array([*((one - mean) / 30 - (one - 0.5) / 20 for one in old), *((one - mean) / 30 for one in new)])
    by_problem = math.sqrt(30 / 29 * float(np.square(added).sum()))
    by_contest = math.sqrt(15 / 14 * float(np.square(added.reshape(15, 2).sum(axis=1)).sum()))
    assert 0.001 < by_contest < by_problem
    assert se(found.change) == pytest.approx(by_problem)
    # Of eight contests that moved, it is that of contests which counts.
    several = explain(a, np.where(np.isin(np.arange(30), [0, 2, 4, 6]), 0.0, b), contests, [0] * 30)
    assert several.n_contests_moved == 9
    b = np.where(np.isin(np.arange(30), [0, 2, 4, 6]), 0.0, b)
    old_b, mean = b[:20], b.mean()
    added = np.array([*((old_b - mean) / 30 - (a[:20] - 0.5) / 20), *((b[20:] - mean) / 30)])
    by_contest = math.sqrt(15 / 14 * float(np.square(added.reshape(15, 2).sum(axis=1)).sum()))
    assert se(several.change) == pytest.approx(by_contest)


def test_errors_are_those_of_leaving_contests_out_one_by_one() -> None:
    # The mix of strata moves much, so that both the shares and the means in strata weigh in the error of composition.
    rng = np.random.default_rng(4)
    contests = np.repeat(np.arange(300), 2)
    strata = (rng.random(600) < np.where(contests < 200, 0.2, 0.9)).astype(int)
    first = (rng.random(600) < np.where(strata == 0, 0.8, 0.3)).astype(float)
    a = np.where(contests < 200, first, NAN)
    b = np.where(contests >= 100, np.where(rng.random(600) < 0.1, 1 - first, first), NAN)
    found = explain(a, b, contests, strata)
    parts = ("change", "results", "problem_set", "composition", "within", "behaviour")
    without = [explain(*(row[contests != left] for row in (a, b, contests, strata))) for left in range(300)]
    for part in parts:
        values = np.array([value(getattr(one, part)) for one in without])
        jackknife = math.sqrt(299 / 300 * float(np.square(values - values.mean()).sum()))
        assert se(getattr(found, part)) == pytest.approx(jackknife, rel=0.02), part


def random_sets(seed: int, strata: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    a, other = rng.integers(0, 11, (2, 60)) / 10
    b = np.where(rng.random(60) < 0.2, other, a)
    a[rng.random(60) < 0.3], b[rng.random(60) < 0.3] = NAN, NAN
    both = np.isnan(a) & np.isnan(b)
    return a[~both], b[~both], rng.integers(0, strata, int((~both).sum()))


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 8))
def test_the_parts_add_up(seed: int, strata: int) -> None:
    a, b, keys = random_sets(seed, strata)
    found = explain(a, b, np.arange(len(a)) // 3, keys, coarser=keys // 3)
    exactly = pytest.approx(np.nanmean(b) - np.nanmean(a), abs=1e-12)
    assert value(found.change) == exactly
    assert value(found.results) + value(found.problem_set) == exactly
    assert value(found.problem_set) == pytest.approx(set_moves(a, b).sum(), abs=1e-12)
    if found.refusal is None:
        assert value(found.composition) + value(found.behaviour) == exactly
        assert value(found.results) + value(found.within) == pytest.approx(value(found.behaviour), abs=1e-12)
        assert value(found.composition) + value(found.within) == pytest.approx(value(found.problem_set), abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_going_back_takes_all_of_it_back(seed: int) -> None:
    a, b, keys = random_sets(seed, 2)
    there, back = (explain(*pair, np.arange(len(a)) // 3, keys) for pair in ((a, b), (b, a)))
    assert value(back.change) == pytest.approx(-value(there.change))
    assert back.change.se == pytest.approx(there.change.se)


@pytest.mark.shared
def test_two_recorded_windows_give_the_published_parts_and_nearly_the_errors_of_contests_drawn_anew(
    shared_data: Path,
) -> None:
    # September 2023 to July 2024 against later, which have no problem in common: what `decompose` draws contests for.
    whole = board(shared_data, "lcb_v6_2025-04-22")
    of = whole.take((whole.dates >= np.datetime64("2023-09-01")) & (whole.platforms != "codeforces"))
    late = of.dates >= np.datetime64("2024-08-01")
    strata = np.unique(np.char.add(of.platforms, of.difficulties), return_inverse=True)[1]
    expected = {"GPT-4O-2024-08-06": (-12.2, -11.1, -1.1), "O4-Mini (High)": (-16.7, -6.5, -10.2)}
    for name, points in expected.items():
        scores = of.row(name)
        (drawn,) = decompose(scores[None], of.contests, strata, Periods(~late, late), np.random.default_rng(0))
        found = explain(np.where(late, NAN, scores), np.where(late, scores, NAN), of.contests, strata)
        parts = (found.change, found.composition, found.behaviour)
        assert [100 * value(part) for part in parts] == pytest.approx(points, abs=0.05)
        for ours, theirs in zip(parts, (drawn.total, drawn.composition, drawn.behaviour), strict=True):
            assert se(ours) == pytest.approx(se(theirs), rel=0.12)


@pytest.mark.parametrize(("only_before", "both", "only_after", "rerun"), [(0, 60, 20, 0.0), (8, 40, 20, 0.1)])
def test_errors_are_as_large_as_parts_vary_when_contests_are_drawn(
    only_before: int, both: int, only_after: int, rerun: float
) -> None:
    rng = np.random.default_rng(11)
    found = [_simulated(rng, only_before, both, only_after, rerun) for _ in range(400)]
    for part in ("change", "composition", "behaviour"):
        estimates = [getattr(one, part) for one in found]
        spread = float(np.std([one.value for one in estimates]))
        mean_se = float(np.sqrt(np.mean([one.se**2 for one in estimates])))
        assert mean_se == pytest.approx(spread, rel=0.15), part
    inside = [one.low <= 0 <= one.high for one in found if one.low is not None and one.high is not None]
    assert 0.92 <= np.mean(inside) <= 0.99


def _simulated(rng: np.random.Generator, only_before: int, both: int, only_after: int, rerun: float) -> Revision:
    """Contests of 1 to 5 problems in three strata, all from one population: no true change."""
    n_contests = only_before + both + only_after
    contests = np.repeat(np.arange(n_contests), rng.integers(1, 6, n_contests))
    strata = rng.integers(0, 3, contests.size)
    logit = rng.normal(0, 0.8, n_contests)[contests] + rng.normal(0, 1, contests.size) + np.array([2, 0, -2])[strata]
    chance = 1 / (1 + np.exp(-logit))
    first = (rng.random(contests.size) < chance).astype(float)
    again = np.where(rng.random(contests.size) < rerun, rng.random(contests.size) < chance, first).astype(float)
    before = np.where(contests < only_before + both, first, NAN)
    return explain(before, np.where(contests >= only_before, again, NAN), contests, strata)
