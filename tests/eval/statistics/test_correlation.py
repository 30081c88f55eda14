"""Memorisation measures against gaps: GSM1k's tables, Roberts et al.'s bounds, statsmodels and hand calculations."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.statistics.correlation import (
    OddsRatio,
    exposure_regression,
    mean_ranks,
    proportion_gaps,
    rank_correlation,
    spearman,
)
from eval.statistics.intervals import Z95, clopper_pearson
from tests.eval.statistics.boards import table


def test_ranks_share_ties() -> None:
    assert mean_ranks([3.0, 1.0, 3.0, 2.0]).tolist() == [3.5, 1.0, 3.5, 2.0]
    assert mean_ranks([]).tolist() == []


def test_rho_by_hand() -> None:
    # Without ties 1 - 6 * sum d^2 / (n (n^2 - 1)): d = 0, 1, -1, 1, -1, so 1 - 24/120.
    assert spearman([1, 2, 3, 4, 5], [10, 30, 20, 50, 40]) == pytest.approx(0.8)
    assert spearman([1, 2, 3], [5, 5, 5]) is None
    assert spearman([], []) is None


@given(st.lists(st.integers(-4, 4), min_size=3, max_size=12))
def test_rho_is_symmetric_and_knows_only_order(values: list[int]) -> None:
    other = values[::-1]
    rho = spearman(values, other)
    assert rho == spearman(other, values)
    if rho is not None:
        assert spearman(np.exp(values), other) == pytest.approx(rho)
        assert spearman(-np.array(values), other) == pytest.approx(-rho)


def test_fewer_than_ten_models_are_points_only() -> None:
    measure = [*range(9), math.nan]
    found = rank_correlation(measure, range(10), np.random.default_rng(0))
    assert found.refusal == "needs at least 10 models with a measure and a gap, there are 9: look at the points"
    assert (found.n, found.rho, found.p, found.low, found.without_low) == (9, None, None, None, None)
    flat = rank_correlation([1.0] * 12, range(12), np.random.default_rng(0))
    assert flat.rho is None
    assert flat.refusal is not None


def test_perfect_order_and_places_of_left_out_models() -> None:
    gaps = [math.nan, *range(11), -5.0]
    found = rank_correlation(range(13), gaps, np.random.default_rng(0), draws=200)
    assert found.n == 12
    assert found.without_high is not None
    assert found.without_high[0] == 12  # the last model, as counted with the missing one
    assert found.without_high[1] == pytest.approx(1.0)
    perfect = rank_correlation(range(12), range(12), np.random.default_rng(0), draws=50)
    assert (perfect.rho, perfect.p) == (1.0, 0.0)


def test_misuse() -> None:
    with pytest.raises(ValueError, match="shape"):
        rank_correlation([1.0], [1.0, 2.0], np.random.default_rng(0))
    with pytest.raises(ValueError, match="shares"):
        proportion_gaps([1.2], 10, [0.5], 10)
    with pytest.raises(ValueError, match="positive"):
        proportion_gaps([0.2], 0, [0.5], 10)


@pytest.mark.shared
def test_gsm1k_log_likelihood_against_gap(shared_data: Path) -> None:
    rows = table(shared_data, "gsm1k_loglik_vs_gap")
    measure = [float(row["avg_char_norm_loglik"]) for row in rows]
    gaps = [float(row["overfit_gsm8k_minus_gsm1k"]) for row in rows]
    found = rank_correlation(measure, gaps, np.random.default_rng(0), draws=4000)
    assert found.n == 52
    assert found.rho == pytest.approx(0.288, abs=5e-4)
    assert found.p == pytest.approx(0.039, abs=5e-4)
    # The recorded ends -.01 and .55 are of another stream of random numbers; 4,000 draws know them to about .006.
    assert found.low == pytest.approx(-0.01, abs=0.015)
    assert found.high == pytest.approx(0.55, abs=0.015)
    assert found.without_high is not None
    assert found.without_low is not None
    # SciPy 1.17's spearmanr over the 52 leave-one-out samples: .2530 to .3475.
    assert (found.without_low[1], found.without_high[1]) == pytest.approx((0.2530, 0.3475), abs=5e-5)
    assert rows[found.without_high[0]]["model"] == "Mixtral-8x22B-v0.1"


@pytest.mark.shared
def test_gsm1k_fourth_version(shared_data: Path) -> None:
    rows = [row for row in table(shared_data, "gsm1k_table_v4") if row["loglik_repo"]]
    rng = np.random.default_rng(0)
    measure = np.array([float(row["loglik_repo"]) for row in rows])
    gaps = np.array([float(row["published_diff"]) for row in rows])
    found = rank_correlation(measure, gaps, rng, draws=100)
    assert (found.n, found.rho, found.p) == pytest.approx((45, 0.264, 0.079), abs=5e-4)
    # The recorded .322 without Math-Shepherd is of these 45; the 52 models of the older file give .339.
    others = np.array(["shepherd" not in row["model"] for row in rows])
    assert rank_correlation(measure[others], gaps[others], rng, draws=100).rho == pytest.approx(0.322, abs=5e-4)


@pytest.mark.shared
def test_gsm1k_z_values_and_how_many_are_significant(shared_data: Path) -> None:
    rows = table(shared_data, "gsm1k_table_v4")
    old, new = ([float(row[column]) for row in rows] for column in ("gsm8k", "gsm1k"))
    found = proportion_gaps(old, 1319, new, 1205)
    assert len(found) == 63
    for one, row in zip(found, rows, strict=True):
        assert one.n_tests == 63
        assert one.gap == pytest.approx(float(row["diff"]), abs=1e-9)
        assert one.z == pytest.approx(float(row["published_z"]), abs=0.22)  # shares are printed with three digits
        assert one.z == pytest.approx(float(row["z_pooled"]), abs=1e-5)
        assert one.p == pytest.approx(float(row["p_one_sided"]), abs=1e-5)
        assert one.p_holm == pytest.approx(float(row["p_holm"]), abs=1e-5)
        assert one.p_bh == pytest.approx(float(row["p_bh"]), abs=1e-5)
    adjusted = [[getattr(one, name) for one in found] for name in ("p", "p_bh", "p_holm")]
    assert [sum(p < 0.05 for p in column) for column in adjusted] == [21, 14, 5]
    assert spearman(old, new) == pytest.approx(0.9945, abs=5e-5)
    assert np.abs(mean_ranks(old) - mean_ranks(new)).max() == 8


def test_all_right_on_both_sides_is_no_test() -> None:
    found = proportion_gaps([1.0, 0.9], 50, [1.0, 0.8], [50, 60])
    assert (found[0].gap, found[0].z, found[0].p, found[0].p_holm, found[0].n_tests) == (0.0, None, None, None, 1)
    pooled = (45 + 48) / 110
    assert found[1].z == pytest.approx(0.1 / math.sqrt(pooled * (1 - pooled) * (1 / 50 + 1 / 60)))
    assert found[1].p == found[1].p_holm
    assert proportion_gaps([], 1, [], 1) == ()


def _approx(ratio: OddsRatio | None, value: float, low: float, high: float, p: float) -> None:
    assert ratio is not None
    assert (ratio.value, ratio.low, ratio.high, ratio.p) == pytest.approx((value, low, high, p), rel=1e-6)


def test_odds_ratios_of_statsmodels() -> None:
    # statsmodels 0.15.0, Logit(solved, [1, log1p(count), difficulty]).fit(), on this made-up table of 120 problems.
    place = np.arange(120)
    count, difficulty = (place * 7) % 23, (place * 11) % 17
    solved = (place * 37) % 101 < 20 + 2 * count - 2 * difficulty
    found = exposure_regression(solved, count, difficulty)
    assert (found.n, found.solved, found.refusal) == (120, 32, None)
    _approx(found.count, 1.92667097, 1.0228079, 3.62928469, 0.0423805)
    _approx(found.difficulty, 0.87718757, 0.80049947, 0.96122242, 0.00499638)


def test_no_regression_where_none_is_solved() -> None:
    found = exposure_regression(np.zeros(76), np.arange(76), np.arange(76) % 7)
    assert found.refusal == "needs at least 10 problems solved and 10 not solved, 0 of 76 are solved"
    assert (found.count, found.difficulty) == (None, None)
    assert found.upper == pytest.approx(1 - 0.025 ** (1 / 76))
    assert found.upper == pytest.approx(0.047, abs=5e-4)
    assert exposure_regression(np.ones(40), np.arange(40), np.arange(40)).upper == 1.0
    nothing = exposure_regression([], [], [])
    assert nothing.upper is None
    assert nothing.refusal is not None


def test_no_regression_where_a_covariate_separates() -> None:
    place = np.arange(60)
    assert exposure_regression(place >= 30, place, (place * 7) % 11).refusal is not None
    assert exposure_regression(place % 2, np.zeros(60), (place * 7) % 11).refusal is not None
    twice = exposure_regression(place % 2, np.expm1(place / 10), place)  # log(1 + count) is difficulty / 10
    assert twice.count is None


def test_exposure_misuse() -> None:
    with pytest.raises(ValueError, match="finite number"):
        exposure_regression([0, 1], [1], [1, 2])
    with pytest.raises(ValueError, match="finite number"):
        exposure_regression([0, 1], [1, math.nan], [1, 2])
    with pytest.raises(ValueError, match="0 or 1"):
        exposure_regression([0, 0.5], [1, 1], [1, 2])
    with pytest.raises(ValueError, match="not negative"):
        exposure_regression([0, 1], [1, -1], [1, 2])


@pytest.mark.shared
def test_recorded_project_euler_table(shared_data: Path) -> None:
    # The problems themselves are not recorded, so the coefficients cannot be fitted anew. What can be checked: the
    # bounds from the counts, that nothing solved is refused, and that ratio, interval and p belong together.
    for row in table(shared_data, "roberts_euler_recomputed"):
        n, solved = int(row["n"]), int(row["solved"])
        assert clopper_pearson(solved, n)[1] == pytest.approx(float(row["upper975"]), abs=5e-6)
        if not row["OR_per_log_github"]:
            found = exposure_regression(np.zeros(n), np.ones(n), np.arange(n))
            assert solved == 0
            assert found.count is None
            assert found.upper == pytest.approx(float(row["upper975"]), abs=5e-6)
            continue
        middle, low, high = (math.log(float(row[name])) for name in ("OR_per_log_github", "lo", "hi"))
        assert (low + high) / 2 == pytest.approx(middle, abs=1e-4)
        z = middle / ((high - low) / (2 * Z95))
        assert math.erfc(z / math.sqrt(2)) == pytest.approx(float(row["p"]), rel=0.02, abs=5e-6)
