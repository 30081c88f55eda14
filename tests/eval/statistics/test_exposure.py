"""Solving by how often a problem is found: statsmodels, Roberts et al.'s bounds, hand calculations and simulation."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from eval.statistics.exposure import ExposureRegression, OddsRatio, compared, exposure_regression
from eval.statistics.intervals import Z95, clopper_pearson, t_p_value, t_quantile
from tests.eval.statistics.boards import table

PLACE = np.arange(120)
COUNT, DIFFICULTY = (PLACE * 7) % 23, (PLACE * 11) % 17
SOLVED = (PLACE * 37) % 101 < 20 + 2 * COUNT - 2 * DIFFICULTY


def _is(ratio: OddsRatio | None, value: float, se: float, degrees: int) -> None:
    """The odds ratio that belongs to a coefficient and its error."""
    assert ratio is not None
    half = t_quantile(degrees) * se
    expected = math.exp(value), math.exp(value - half), math.exp(value + half), t_p_value(value / se, degrees)
    assert (ratio.value, ratio.low, ratio.high, ratio.p) == pytest.approx(expected, rel=1e-6)
    assert (ratio.se, ratio.degrees) == pytest.approx((se, degrees), rel=1e-6)


def test_odds_ratios_of_statsmodels() -> None:
    # statsmodels 0.15.0: GLM(solved, [1, log1p(count), difficulty], Binomial()), cov_type="cluster", groups=place // 4.
    found = exposure_regression(SOLVED, COUNT, DIFFICULTY, PLACE // 4)
    assert (found.n, found.n_contests, found.solved, found.bound, found.refusal) == (120, 30, 32, None, None)
    _is(found.count, 0.65579363, 0.36644585, 29)
    _is(found.difficulty, -0.13103443, 0.05589627, 29)


def test_shares_of_samples_as_statsmodels_has_them() -> None:
    shares = np.clip((3.0 * SOLVED + PLACE % 2) / 4, 0, 1)
    found = exposure_regression(shares, COUNT, DIFFICULTY, PLACE // 4)
    assert found.solved == 39
    _is(found.count, 0.39332625, 0.20024257, 29)
    _is(found.difficulty, -0.07996582, 0.03538958, 29)


def test_few_contests_take_the_larger_error() -> None:
    # Five contests: .29088339 and .08003041 by contest, .35868482 and .0489472 by problem.
    found = exposure_regression(SOLVED, COUNT, DIFFICULTY, PLACE // 24)
    _is(found.count, 0.65579363, 0.35868482, 4)
    _is(found.difficulty, -0.13103443, 0.08003041, 4)


def test_no_regression_where_none_or_all_are_solved() -> None:
    found = exposure_regression(np.zeros(76), np.arange(76), np.arange(76) % 7, np.arange(76))
    assert found.refusal == "none of 76 problems is solved: the share solved is at most 4.7 % (exact bound)"
    assert found.bound == pytest.approx((0.0, 1 - 0.025 ** (1 / 76)))
    assert (found.count, found.difficulty) == (None, None)
    every = exposure_regression(np.ones(40), np.arange(40), np.arange(40), np.arange(40))
    assert every.refusal == "all of 40 problems are solved: the share solved is at least 91.2 % (exact bound)"
    assert every.bound == pytest.approx((0.025 ** (1 / 40), 1.0))


@pytest.mark.parametrize(
    ("n", "contests", "said"),
    [
        (0, 1, "needs at least 15 problems of 4 contests, there are 0 of 0"),
        (14, 14, "needs at least 15 problems of 4 contests, there are 14 of 14"),
        (60, 3, "needs at least 15 problems of 4 contests, there are 60 of 3"),
        (18, 9, "needs at least 10 problems solved and 10 not, 9 of 18 are solved"),
    ],
)
def test_too_little_for_a_regression(n: int, contests: int, said: str) -> None:
    place = np.arange(n)
    found = exposure_regression(place % 2, place, (place * 7) % 11, place % contests)
    assert (found.refusal, found.count, found.bound) == (said, None, None)


def test_no_regression_where_a_covariate_separates_or_does_not_vary() -> None:
    place = np.arange(60)
    apart = exposure_regression(place >= 30, place, (place * 7) % 11, place)
    assert apart.refusal == "a combination of the covariates separates success from failure: no finite coefficients"
    constant = exposure_regression(place % 2, np.zeros(60), (place * 7) % 11, place)
    twice = exposure_regression(place % 2, np.expm1(place / 10), place, place)  # log(1 + count) is difficulty / 10
    for one in (constant, twice):
        assert one.refusal is not None
        assert one.refusal.startswith("the covariates depend on each other")
        assert one.count is None


def test_two_ratios_by_hand() -> None:
    # log 3 - log 1.5 = log 2, s.e. .5: (.3^2 + .4^2)^2 / (.3^4 / 10 + .4^4 / 20) = 29.9 degrees.
    found = compared(OddsRatio(3, 1, 9, 0.1, 0.3, 10), OddsRatio(1.5, 1, 2, 0.1, 0.4, 20))
    degrees = 0.25**2 / (0.3**4 / 10 + 0.4**4 / 20)
    assert degrees == pytest.approx(29.9, abs=0.05)
    assert (found.value, found.se, found.degrees) == pytest.approx((2.0, 0.5, degrees))
    assert found.low == pytest.approx(2 * math.exp(-0.5 * t_quantile(degrees)))
    assert found.p == pytest.approx(t_p_value(math.log(2) / 0.5, degrees))


def test_misuse() -> None:
    for scores, counts in (([0, 1], [1]), ([0, 1], [1, math.nan])):
        with pytest.raises(ValueError, match="finite number"):
            exposure_regression(scores, counts, [1, 2], [0, 1])
    with pytest.raises(ValueError, match="lie in"):
        exposure_regression([0, 1.5], [1, 1], [1, 2], [0, 1])
    with pytest.raises(ValueError, match="not negative"):
        exposure_regression([0, 1], [1, -1], [1, 2], [0, 1])


@pytest.mark.shared
def test_recorded_project_euler_table(shared_data: Path) -> None:
    # The problems themselves are not recorded, so the coefficients cannot be fitted anew. What can be checked: the
    # bounds from the counts, that nothing solved is refused, and that ratio, interval and p belong together.
    for row in table(shared_data, "roberts_euler_recomputed"):
        n, solved = int(row["n"]), int(row["solved"])
        assert clopper_pearson(solved, n)[1] == pytest.approx(float(row["upper975"]), abs=5e-6)
        if not row["OR_per_log_github"]:
            found = exposure_regression(np.zeros(n), np.ones(n), np.arange(n), np.arange(n))
            assert solved == 0
            assert found.count is None
            assert found.bound == pytest.approx((0.0, float(row["upper975"])), abs=5e-6)
            continue
        middle, low, high = (math.log(float(row[name])) for name in ("OR_per_log_github", "lo", "hi"))
        assert (low + high) / 2 == pytest.approx(middle, abs=1e-4)
        z = middle / ((high - low) / (2 * Z95))
        assert math.erfc(z / math.sqrt(2)) == pytest.approx(float(row["p"]), rel=0.02, abs=5e-6)


def _simulated(slope: float, contests: int, rng: np.random.Generator) -> ExposureRegression:
    """Contests of 4 problems with something in common, 3 samples each; the log-odds rise by ``slope``."""
    clusters = np.repeat(np.arange(contests), 4)
    counts, hard = rng.lognormal(1, 1, clusters.size), rng.normal(0, 1.5, clusters.size)
    logits = slope * np.log1p(counts) - hard - slope + rng.normal(0, 0.5, contests)[clusters]
    return exposure_regression(rng.binomial(3, 1 / (1 + np.exp(-logits))) / 3, counts, hard, clusters)


def _held(slope: float, contests: int, repeats: int) -> NDArray[np.bool_]:
    rng = np.random.default_rng(31)
    found = [_simulated(slope, contests, rng).count for _ in range(repeats)]
    return np.array([one.low <= math.exp(slope) <= one.high for one in found if one is not None])


@pytest.mark.parametrize(("slope", "contests"), [(0.0, 40), (0.5, 40), (0.0, 12), (0.0, 6)])
def test_intervals_hold_what_they_promise(slope: float, contests: int) -> None:
    # 300 draws know a coverage of 95 % to 1.3 %; contests in common pull 0.5 towards 0 by about 0.02.
    held = _held(slope, contests, 300)
    assert held.size > 200
    assert 0.91 <= held.mean() <= 0.99
