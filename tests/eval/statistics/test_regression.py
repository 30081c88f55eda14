"""Regressions with clustered errors: against statsmodels, by hand, and on separated data."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from eval.statistics.regression import Refusal, Regression, average_effect, estimate, logit, ols, separated

# 24 problems of 6 contests: shares solved, a covariate, and "before" for the first three contests.
Y = np.array([1, 0.8, 0.2, 0, 1, 1, 0.4, 0.2, 0.6, 1, 0, 0, 0.8, 0.4, 0.2, 0, 1, 0.6, 0, 0, 0.2, 0.6, 0, 0.2])
X = np.repeat(0.1, 24) * [
    *(-15, -5, 5, 15, -20, -8, 3, 10, -10, -6, 12, 20),
    *(-12, 0, 4, 16, -18, 2, 9, 22, 1, -3, 11, 7),
]
CONTESTS = np.repeat(np.arange(6), 4)
BEFORE = CONTESTS < 3
DESIGN = np.column_stack([np.ones(24), -X, BEFORE])


def fitted(found: Regression | Refusal) -> Regression:
    assert isinstance(found, Regression), found
    return found


def reason(found: Regression | Refusal) -> str:
    assert isinstance(found, Refusal)
    return found.reason


def test_least_squares_as_statsmodels_has_it() -> None:
    # statsmodels 0.15.0: OLS(Y, DESIGN).fit(cov_type="cluster", cov_kwds={"groups": CONTESTS}, use_t=True)
    found = fitted(ols(Y, DESIGN, CONTESTS))
    assert found.coefficients == pytest.approx([0.4315236388, 0.3021240169, 0.0876607280], abs=1e-9)
    assert np.sqrt(np.diag(found.covariance)) == pytest.approx([0.0369853767, 0.0149883280, 0.0390638032], abs=1e-9)
    last = found.estimate(2)
    assert (last.degrees, found.n_clusters, found.n_items) == (5, 6, 24)
    assert last.p == pytest.approx(0.0748343133, abs=1e-9)
    assert found.estimate(2, 4).p > last.p


def test_logistic_regression_as_statsmodels_has_it() -> None:
    # statsmodels 0.15.0: GLM(Y, DESIGN, family=Binomial()).fit(cov_type="cluster", cov_kwds={"groups": CONTESTS})
    found = fitted(logit(Y, DESIGN, CONTESTS))
    assert found.coefficients == pytest.approx([-0.3899747520, 2.3104539307, 0.5142004445], abs=1e-8)
    assert np.sqrt(np.diag(found.covariance)) == pytest.approx([0.2524604343, 0.2273028082, 0.4228067964], abs=1e-8)
    assert found.covariance[1, 2] == pytest.approx(-0.0160080756, abs=1e-8)


def test_average_effects_as_statsmodels_has_them() -> None:
    # statsmodels 0.15.0: get_margeff(at="overall", dummy=True) of the fit above, third column.
    found = fitted(logit(Y, DESIGN, CONTESTS))
    everywhere = average_effect(found, DESIGN, 2)
    assert (everywhere.value, everywhere.se) == pytest.approx((0.05769226, 0.04866800), abs=1e-7)
    # The rows after the cut-off alone, with the gradient by central differences of those coefficients.
    after = average_effect(found, DESIGN, 2, ~BEFORE, degrees=4)
    assert (after.value, after.se) == pytest.approx((0.0651710985, 0.0550251038), abs=1e-8)
    assert after.degrees == 4
    with pytest.raises(ValueError, match="a row"):
        average_effect(found, DESIGN, 2, np.zeros(24, dtype=bool))
    with pytest.raises(ValueError, match="design of shape"):
        average_effect(found, DESIGN[:, :2], 1)


def test_two_means_by_hand() -> None:
    # Before: 1, 1, 0, 1; after: 0, 0, 1, 0. Two contests each, so residual sums are +-.5 on either side:
    # each side adds 2 * .25 / 16, times 4/3 * 7/6.
    y = [1, 1, 0, 1, 0, 0, 1, 0]
    design = np.column_stack([np.ones(8), [1, 1, 1, 1, 0, 0, 0, 0]])
    found = fitted(ols(y, design, [0, 0, 1, 1, 2, 2, 3, 3]))
    assert found.coefficients == pytest.approx([0.25, 0.5])
    assert found.estimate(1).se == pytest.approx(math.sqrt(4 / 3 * 7 / 6 * 4 * 0.25 / 16))
    # The same in log-odds: log(.75/.25) less log(.25/.75).
    assert fitted(logit(y, design, [0, 0, 1, 1, 2, 2, 3, 3])).coefficients[1] == pytest.approx(2 * math.log(3))


@pytest.mark.parametrize(
    ("y", "separate"),
    [
        ((X > 0).astype(float), True),
        (np.where(BEFORE, Y, 0.0), True),
        (np.where(BEFORE, 1.0, Y), True),
        (np.where(X > 0.95, 0.0, np.where(X < 0.25, 1.0, 0.5)), False),
        (np.where(BEFORE, Y, np.where(X > 2, 0.01, 0.0)), False),
        (np.full(24, 0.5), False),
    ],
)
def test_separated_data_have_no_answer(y: NDArray[np.float64], separate: bool) -> None:
    assert separated(y, DESIGN) is separate
    found = logit(y, DESIGN, CONTESTS)
    if separate:
        assert "separates" in reason(found)
    else:
        assert not isinstance(found, Refusal) or "spread" in found.reason


def test_thin_evidence_is_refused() -> None:
    assert reason(ols([1.0, 0.0, 1.0], np.ones((3, 1)), [7, 7, 7])) == "needs at least 2 contests, there are 1"
    assert "more than 3 problems" in reason(logit(Y[:3], DESIGN[:3], [0, 1, 2]))
    assert "depend on each other" in reason(logit(Y, np.column_stack([DESIGN, X]), CONTESTS))
    assert "depend on each other" in reason(ols(Y[:12], DESIGN[:12], CONTESTS[:12]))
    assert "needs at least 2 contests, there are 0" in reason(ols([], np.empty((0, 1)), []))
    # Residuals that cancel within every contest would give errors of zero.
    assert "no spread" in reason(ols([1, 0, 1, 0], np.ones((4, 1)), [0, 0, 1, 1]))


def test_misuse() -> None:
    with pytest.raises(ValueError, match="clusters"):
        ols(Y, DESIGN, CONTESTS[:5])
    with pytest.raises(ValueError, match="finite"):
        ols([math.nan, 1.0], np.ones((2, 1)), [0, 1])
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        logit(Y * 2, DESIGN, CONTESTS)


def test_no_spread_is_no_certainty() -> None:
    assert estimate(0.3, 0.0, 10).p == 1.0
    assert estimate(2.0, 1.0, 1e9).p == pytest.approx(0.0455, abs=1e-4)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_properties_of_a_logistic_regression(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 2, 40)
    design = np.column_stack([np.ones(40), x, np.arange(40) < 20])
    y = rng.binomial(5, 1 / (1 + np.exp(-x))) / 5
    groups = np.arange(40) // 4
    found = logit(y, design, groups)
    if isinstance(found, Refusal):
        assert separated(y, design)
        return
    # The score is zero at the maximum, and shares and their complements mirror each other.
    assert design.T @ (y - found.fitted) == pytest.approx(np.zeros(3), abs=1e-6)
    mirror = fitted(logit(1 - y, design, groups))
    assert mirror.coefficients == pytest.approx(-found.coefficients, abs=1e-6)
    assert mirror.covariance == pytest.approx(found.covariance, rel=1e-4)
    effect = average_effect(found, design, 2)
    assert math.copysign(1, effect.value) == math.copysign(1, found.coefficients[2])
    assert abs(effect.value) <= 1
