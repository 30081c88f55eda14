"""Post-stratified scores by hand, against the plain mean, and on a recorded leaderboard."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.statistics.intervals import cluster_se, interval, item_se
from eval.statistics.weighting import post_stratified, weighted_by_groups
from tests.eval.statistics.boards import board


def test_two_strata_by_hand() -> None:
    # Stratum 0: 1, 1, 0, 0 (mean 1/2, variance 1/3); stratum 1: 1, 0 (mean 1/2, variance 1/2); weights 3 to 1.
    found = post_stratified([1, 1, 0, 0, 1, 0], [0, 1, 2, 3, 4, 5], [0, 0, 0, 0, 1, 1], {0: 3, 1: 1})
    assert found.score == pytest.approx(0.5)
    assert found.item_se == pytest.approx(math.sqrt(9 / 16 / 3 / 4 + 1 / 16 / 2 / 2))
    # Four problems of 3/16 each and two of 1/8 each.
    assert found.n_eff == pytest.approx(1 / (4 * 9 / 256 + 2 / 64))
    assert found.cluster_se == pytest.approx(math.sqrt(6 / 5 * (4 * (3 / 32) ** 2 + 2 / 256)))
    assert [(stratum.code, stratum.weight, stratum.n) for stratum in found.strata] == [(0, 0.75, 4), (1, 0.25, 2)]
    assert found.warnings == (
        "stratum 0 has a weight of 75% and 4 problems",
        "stratum 1 has a weight of 25% and 2 problems",
    )


def test_unequal_means_are_weighted() -> None:
    found = post_stratified([1, 1, 0, 0, 0, 1], [0] * 6, [7, 7, 7, 9, 9, 9], {7: 0.9, 9: 0.1})
    assert found.score == pytest.approx(0.9 * 2 / 3 + 0.1 * 1 / 3)
    assert (found.cluster_se, found.low, found.high) == (None, None, None)
    assert found.warnings[-1] == "no interval: all problems are of one contest"


def test_what_has_no_weight_is_left_out_and_counted() -> None:
    found = post_stratified([1, 0, 1, 0, math.nan], [0, 1, 2, 3, 4], [0, 0, 1, 1, 0], {0: 1.0, 1: 0.0})
    assert (found.n, found.n_outside, found.n_contests) == (2, 2, 2)
    assert found.score == 0.5


def test_a_weighted_stratum_without_a_problem_is_refused() -> None:
    found = post_stratified([1, 0, math.nan], [0, 1, 2], [0, 0, 1], {0: 0.6, 1: 0.3, 2: 0.1})
    assert (found.score, found.item_se, found.n_eff, found.low) == (None, None, None, None)
    assert found.refusal == (
        "no score under these weights: no problem with a result in stratum 1 (weight 30%), stratum 2 (weight 10%)"
    )
    assert post_stratified([], [], [], {0: 1.0}).refusal is not None


def test_one_problem_in_a_stratum_gives_no_error() -> None:
    found = post_stratified([1, 0, 1], [0, 1, 2], [0, 0, 1], {0: 1, 1: 1})
    assert found.score == pytest.approx(0.75)
    assert (found.item_se, found.cluster_se, found.low, found.high) == (None, None, None, None)
    assert any(sentence.startswith("no standard error: stratum 1") for sentence in found.warnings)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_all_right_or_all_wrong_keeps_an_interval_of_some_width(value: float) -> None:
    found = post_stratified([value] * 40, np.arange(40) // 2, np.arange(40) % 2, {0: 0.5, 1: 0.5})
    assert found.score == value
    assert found.item_se == found.cluster_se == 0.0
    assert found.n_eff == pytest.approx(40)
    assert found.low is not None
    assert found.high is not None
    # The exact bound for none of 40: 1 - 0.025^(1/40).
    assert found.high - found.low == pytest.approx(0.0881, abs=1e-4)


def test_no_warning_from_ten_problems_or_up_to_a_tenth_of_the_weight() -> None:
    values = np.tile([0.0, 1.0], 10)
    assert post_stratified(values, np.arange(20), np.arange(20) % 2, {0: 1, 1: 1}).warnings == ()
    assert post_stratified(values, np.arange(20), [0] * 18 + [1] * 2, {0: 9, 1: 1}).warnings == ()


@pytest.mark.parametrize("weights", [{0: -1.0, 1: 2.0}, {0: math.nan}, {0: 0.0}, {}])
def test_impossible_weights(weights: dict[int, float]) -> None:
    with pytest.raises(ValueError, match="weight"):
        post_stratified([1, 0], [0, 1], [0, 0], weights)


def test_weights_have_any_scale() -> None:
    values, strata = np.tile([0.0, 1.0, 1.0], 20), np.arange(60) % 2
    small, great = (
        post_stratified(values, np.arange(60), strata, {0: scale, 1: scale / 2}) for scale in (1.0, 1.5e308)
    )
    assert great.score == pytest.approx(small.score)
    assert great.cluster_se == pytest.approx(small.cluster_se)


def test_shapes() -> None:
    with pytest.raises(ValueError, match="one entry"):
        post_stratified([1, 0], [0], [0, 0], {0: 1})
    with pytest.raises(ValueError, match="one entry"):
        weighted_by_groups([1, 0], [0, 1], {0: [True]}, {0: 1})


def test_overlapping_groups_by_hand() -> None:
    # Problem 1 has both tags: its weight is 1/4 + 1/4.
    members = {0: [True, True, False], 1: [False, True, True]}
    found = weighted_by_groups([1.0, 0.0, 0.0], [0, 1, 2], members, {0: 1, 1: 1})
    assert found.score == pytest.approx(0.25)
    assert found.n_eff == pytest.approx(1 / (1 / 16 + 1 / 4 + 1 / 16))
    # Residuals 1/8, -1/8 + 0, 0, each times sqrt(2/1).
    assert found.item_se == pytest.approx(math.sqrt(2 * 2 / 64))


@given(st.integers(0, 2**32 - 1))
def test_weights_in_proportion_to_the_problems_give_the_plain_mean(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values, strata = rng.random(60), np.arange(60) % 3
    strata[:10] = 0
    sizes = np.bincount(strata)
    found = post_stratified(values, np.arange(60) // 3, strata, {code: float(sizes[code]) for code in range(3)})
    assert found.score == pytest.approx(values.mean())
    assert found.n_eff == pytest.approx(60)
    within, whole = found.item_se, item_se(values)
    assert within is not None
    assert whole is not None
    assert within < whole * 1.02  # what lies between strata is fixed, not drawn


def test_one_stratum_is_the_plain_mean_with_its_errors() -> None:
    rng = np.random.default_rng(4)
    values, contests = rng.random(90), np.arange(90) // 3
    found, plain = post_stratified(values, contests, np.zeros(90), {0: 1}), interval(values, contests.tolist())
    assert found.item_se == pytest.approx(item_se(values))
    assert found.cluster_se == pytest.approx(cluster_se(values, contests.tolist()))
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high))


@pytest.mark.shared
def test_equal_weights_of_labels_on_a_recorded_board(shared_data: Path) -> None:
    # Checked apart from this code: the mean of the three label means, with NumPy, of one model.
    whole = board(shared_data, "lcb_v6_2025-04-22")
    labels = np.unique(whole.difficulties, return_inverse=True)[1]
    values = whole.row("GPT-4O-2024-08-06")
    found = post_stratified(values, whole.contests, labels, {0: 1, 1: 1, 2: 1})
    named = post_stratified(values, whole.contests, whole.difficulties, {"easy": 2, "medium": 2, "hard": 2})
    assert (named.score, named.low) == pytest.approx((found.score, found.low))
    assert [stratum.code for stratum in named.strata] == ["easy", "medium", "hard"]
    by_label = [values[whole.difficulties == label] for label in ("easy", "hard", "medium")]
    assert found.score == pytest.approx(sum(part.mean() for part in by_label) / 3)
    se = math.sqrt(sum(part.var(ddof=1) / part.size / 9 for part in by_label))
    assert found.item_se == pytest.approx(se)
    assert found.n == 1055
    assert found.n_eff is not None
    assert 1000 < found.n_eff < 1055
