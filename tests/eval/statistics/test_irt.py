"""Item response fits: against recorded tables, an optimiser of another kind, hand calculations and simulations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from eval.statistics.irt import Fit, Fixed, Items, Kind, cell_log_loss, fit, refit
from eval.statistics.irt_newton import Settings
from tests.eval.statistics.boards import table
from tests.eval.statistics.response_boards import recorded_window, simulated

FloatArray = NDArray[np.float64]


def column(rows: list[dict[str, str]], name: str) -> FloatArray:
    return np.array([float(row[name]) for row in rows])


@pytest.mark.parametrize(("kind", "name"), [(Kind.ONE_PL, "1pl"), (Kind.TWO_PL, "2pl")])
def test_recorded_abilities_and_difficulties(shared_data: Path, kind: Kind, name: str) -> None:
    # The tables ask for 1e-2; they are met to the digits printed (largest differences 6e-5).
    recorded = recorded_window(shared_data)
    found = fit(recorded.scores, kind)
    abilities = table(shared_data, "lcb_v1_post2023-09_abilities_irt")
    rows = [recorded.models.index(row["model"]) for row in abilities]
    problems = table(shared_data, "lcb_v1_post2023-09_items_irt")
    assert found.converged
    assert found.theta[rows] == pytest.approx(column(abilities, f"theta_{name}"), abs=1e-3)
    assert found.items.difficulty == pytest.approx(column(problems, f"b_{name}"), abs=1e-3)
    if kind is Kind.TWO_PL:
        assert found.items.slope == pytest.approx(column(problems, "a_2pl"), abs=1e-3)
        assert found.difficulty_se == pytest.approx(column(problems, "se_b"), abs=1e-3)


def test_recorded_problems_that_nobody_solves_lie_where_the_prior_puts_them(shared_data: Path) -> None:
    recorded = recorded_window(shared_data)
    none = (recorded.scores == 0).all(axis=0)
    found = fit(recorded.scores)
    assert none.sum() == 70
    assert np.ptp(found.items.difficulty[none]) < 1e-6
    assert found.items.difficulty[none][0] == pytest.approx(2.5235, abs=1e-3)
    assert found.discrimination is None
    assert found.discrimination_refusal == "discrimination needs results of at least 50 models, there are 45"


def lbfgs(scores: FloatArray, weights: FloatArray, strata: NDArray[np.int64] | None) -> tuple[FloatArray, FloatArray]:
    """Abilities and difficulties by L-BFGS on the posterior, written out anew: what the solver has to agree with."""
    from scipy.optimize import minimize  # type: ignore[import-untyped]

    models, problems = scores.shape
    seen = ~np.isnan(scores)
    y = np.where(seen, scores, 0.0)
    group = np.zeros(problems, dtype=np.int64) if strata is None else strata
    count = 0 if strata is None else int(group.max()) + 1

    def falling(x: FloatArray) -> tuple[float, FloatArray]:
        theta, b, log_a = x[:models], x[models : models + problems], x[models + problems : models + 2 * problems]
        means = x[models + 2 * problems :]
        of_problem = means[group] if count else np.zeros(problems)
        slope = np.exp(log_a)
        eta = slope * (theta[:, None] - b)
        residual = seen * (y - 1 / (1 + np.exp(-eta)))
        pull = (b - of_problem) / 4
        each = (y * eta - seen * np.logaddexp(0, eta)).sum(axis=0) - (b - of_problem) ** 2 / 8 - 2 * log_a**2
        height = weights @ each - theta @ theta / 2 - means @ means / 8
        gradient = [
            (residual * slope) @ weights - theta,
            weights * (-slope * residual.sum(axis=0) - pull),
            weights * ((residual * eta).sum(axis=0) - 4 * log_a),
        ]
        if count:
            gradient.append(np.bincount(group, weights * pull, count) - means / 4)
        return -float(height), -np.concatenate(gradient)

    start = np.zeros(models + 2 * problems + count)
    options = {"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-9}
    x = minimize(falling, start, jac=True, method="L-BFGS-B", options=options).x
    return x[:models], x[models : models + problems]


@pytest.mark.parametrize("stratified", [False, True])
def test_lbfgs_finds_the_same_maximum(stratified: bool) -> None:
    rng = np.random.default_rng(3)
    scores = simulated(12, 60, rng, missing=0.4)[0]
    weights = rng.integers(0, 3, 60).astype(np.float64)
    strata = np.arange(60) // 20 if stratified else None
    theta, b = lbfgs(scores, weights, strata)
    found = fit(scores, weights=weights, strata=strata)
    assert found.converged
    assert found.theta == pytest.approx(theta, abs=1e-5)
    assert found.items.difficulty[weights > 0] == pytest.approx(b[weights > 0], abs=1e-5)


def test_by_hand_where_abilities_are_known() -> None:
    # Four models at 0 and a mean of 1/4: at the maximum 4 (p - 1/4) = b/4 with p = 1/(1 + e^b). b = 0.8365 solves it:
    # e^b = 2.3083, p = 0.30227, and both sides are 0.2091.
    scores = np.array([[1.0], [0.0], [0.0], [0.0]])
    found = fit(scores, Kind.ONE_PL, fixed=Fixed(theta=np.zeros(4)))
    b = found.difficulty(0)
    assert b is not None
    p = 1 / (1 + np.exp(b))
    assert 4 * (p - 0.25) == pytest.approx(b / 4, abs=1e-9)
    assert b == pytest.approx(0.8365, abs=1e-4)
    assert found.difficulty_se[0] == pytest.approx((4 * p * (1 - p) + 0.25) ** -0.5)
    assert cell_log_loss(scores, found.predict()) == pytest.approx(-(np.log(p) + 3 * np.log(1 - p)) / 4)


def test_shares_count_as_one_trial_each() -> None:
    # Quasi-likelihood: two problems at 0.5 hold what a solved and an unsolved one of the same parameters hold.
    known = Fixed(items=Items(np.zeros(2), np.ones(2)))
    halves = fit(np.array([[0.5, 0.5]]), fixed=known)
    split = fit(np.array([[1.0, 0.0]]), fixed=known)
    assert halves.theta == pytest.approx(split.theta, abs=1e-9)


def test_weights_are_problems_that_come_again() -> None:
    scores = simulated(8, 20, np.random.default_rng(4), missing=0.2)[0]
    weights = np.arange(20) % 3
    weighted, repeated = fit(scores, weights=weights), fit(np.repeat(scores, weights, axis=1))
    assert weighted.theta == pytest.approx(repeated.theta, abs=1e-6)
    # A problem that is not drawn has the parameters that the abilities give it.
    alone = fit(scores, fixed=Fixed(theta=weighted.theta))
    assert weighted.items.difficulty == pytest.approx(alone.items.difficulty, abs=1e-5)
    assert weighted.items.slope == pytest.approx(alone.items.slope, abs=1e-5)


def test_cells_are_left_out_before_the_fit() -> None:
    rng = np.random.default_rng(5)
    scores = simulated(10, 40, rng)[0]
    left_out = np.zeros(scores.shape, dtype=np.bool_)
    left_out[0, :20] = True
    clean = fit(scores, left_out=left_out)
    contaminated = np.where(left_out, 1.0, scores)
    assert fit(contaminated, left_out=left_out).theta == pytest.approx(clean.theta)
    assert clean.cells_of_model.tolist() == [20, *[40] * 9]
    assert fit(contaminated).theta[0] > clean.theta[0] + 0.5


def test_difficulties_from_controls_alone() -> None:
    scores, theta, _, _ = simulated(30, 200, np.random.default_rng(6))
    controls = fit(scores[1:], Kind.ONE_PL)
    tested = fit(scores[:1], Kind.ONE_PL, fixed=Fixed(items=controls.items))
    assert tested.items.difficulty.tolist() == controls.items.difficulty.tolist()
    assert tested.theta[0] == pytest.approx(fit(scores, Kind.ONE_PL).theta[0], abs=0.1)
    # A partly fixed fit: known abilities stay, one is found.
    mixed = fit(scores, Kind.ONE_PL, fixed=Fixed(theta=np.array([np.nan, *controls.theta])))
    assert mixed.theta[1:].tolist() == controls.theta.tolist()
    assert abs(mixed.theta[0] - tested.theta[0]) < 0.1
    assert theta.shape == mixed.theta.shape


def test_where_it_starts_does_not_matter() -> None:
    scores = simulated(15, 80, np.random.default_rng(8), missing=0.5)[0]
    cold = fit(scores)
    far = refit(fit(np.where(np.isnan(scores), np.nan, 1 - scores)), scores)
    assert far.converged
    assert far.theta == pytest.approx(cold.theta, abs=1e-5)
    warm = refit(cold, scores)
    assert warm.iterations <= 2


def test_parameters_are_recovered() -> None:
    # The recorded study finds r = .99 for abilities with 50 models and 60 % missing, .90 for difficulties.
    scores, theta, b, _ = simulated(50, 400, np.random.default_rng(9), missing=0.6)
    found = fit(scores)
    assert np.corrcoef(found.theta, theta)[0, 1] > 0.97
    assert np.corrcoef(found.items.difficulty, b)[0, 1] > 0.85
    assert found.discrimination is not None
    assert found.discrimination_refusal is None
    assert found.predict() == pytest.approx(found.predict(found.theta))
    assert found.information([0.0]).shape == (1, 400)


def test_discrimination_is_published_from_50_models_with_results() -> None:
    scores = simulated(50, 30, np.random.default_rng(10))[0]
    assert fit(scores).discrimination is not None
    scores[0] = np.nan
    assert fit(scores).discrimination_refusal == "discrimination needs results of at least 50 models, there are 49"
    assert fit(scores, Kind.ONE_PL).discrimination is None
    assert "holds the discrimination" in (fit(scores, Kind.ONE_PL).discrimination_refusal or "")


@pytest.mark.parametrize("shape", [(0, 0), (3, 0), (0, 3), (1, 1), (3, 2)])
@pytest.mark.parametrize("value", [0.0, 1.0, np.nan])
@pytest.mark.parametrize("kind", Kind)
def test_edges_have_finite_parameters(shape: tuple[int, int], value: float, kind: Kind) -> None:
    found = fit(np.full(shape, value), kind)
    assert found.converged
    assert np.isfinite(found.theta).all()
    assert np.isfinite(found.items.difficulty).all()
    missing = np.isnan(value) or not all(shape)
    if shape[0] and missing:
        assert found.ability(0) is None
    if all(shape) and not missing:
        assert (found.ability(0) or 0.0) * (value - 0.5) > 0
        assert (found.difficulty(0) or 0.0) * (0.5 - value) > 0


def test_all_weights_zero_leave_the_prior() -> None:
    found = fit([[1.0, 0.0]], weights=[0, 0])
    assert found.theta.tolist() == [0.0]
    assert found.items.difficulty[0] < 0 < found.items.difficulty[1]


@pytest.mark.parametrize(
    ("scores", "arguments", "message"),
    [
        ([1.0, 0.0], {}, "models x problems"),
        ([[1.5]], {}, "between 0 and 1"),
        ([[1.0]], {"left_out": [True]}, "a mask of shape"),
        ([[1.0]], {"weights": [-1.0]}, "weights"),
        ([[1.0]], {"weights": [np.nan]}, "weights"),
        ([[1.0]], {"strata": [1, 2]}, "strata"),
        ([[1.0]], {"fixed": Fixed(theta=[0.0, 1.0])}, "2 abilities"),
        ([[1.0]], {"fixed": Fixed(items=Items(np.zeros(1), np.full(1, np.nan)))}, "fixed slope"),
        ([[1.0]], {"fixed": Fixed(items=Items(np.zeros(1), np.zeros(1)))}, "fixed slope"),
        ([[1.0]], {"start": "other"}, "a start of 2 models"),
    ],
)
def test_misuse_is_an_error(scores: Any, arguments: dict[str, Any], message: str) -> None:
    if "start" in arguments:
        arguments = {"start": fit(np.zeros((2, 1)))}
    with pytest.raises(ValueError, match=message):
        fit(scores, **arguments)


def test_settings_must_be_proper() -> None:
    with pytest.raises(ValueError, match="above 0"):
        Settings(difficulty_sd=0.0)


def test_too_few_iterations_are_told() -> None:
    scores = simulated(6, 20, np.random.default_rng(11))[0]
    assert not fit(scores, settings=Settings(max_iterations=1)).converged


def test_log_loss_of_cells() -> None:
    assert cell_log_loss([1.0, 0.5], [0.5, 0.5]) == pytest.approx(np.log(2))
    assert cell_log_loss([], []) is None
    assert cell_log_loss([1.0, 0.0], [1.0, 0.0]) == pytest.approx(0.0, abs=1e-9)
    with pytest.raises(ValueError, match="predictions of shape"):
        cell_log_loss([1.0], [1.0, 0.0])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 7), st.integers(1, 12))
def test_1pl_abilities_order_as_sums_do(seed: int, models: int, problems: int) -> None:
    """In a complete table the sum of scores is all that the 1PL's abilities depend on (Rasch 1960)."""
    scores = np.random.default_rng(seed).integers(0, 3, (models, problems)) / 2
    found = fit(scores, Kind.ONE_PL)
    sums = scores.sum(axis=1)
    for one in range(models):
        for other in range(models):
            if sums[one] > sums[other]:
                assert found.theta[one] > found.theta[other]
            elif sums[one] == sums[other]:
                assert found.theta[one] == pytest.approx(found.theta[other], abs=1e-5)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_order_of_models_and_problems_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = simulated(6, 15, rng, missing=0.3)[0]
    rows, columns = rng.permutation(6), rng.permutation(15)
    found, shuffled = fit(scores), fit(scores[np.ix_(rows, columns)])
    assert shuffled.theta == pytest.approx(found.theta[rows], abs=1e-4)
    assert shuffled.items.difficulty == pytest.approx(found.items.difficulty[columns], abs=1e-4)


def test_a_mean_of_their_own_frees_strata_from_the_shared_prior() -> None:
    """Old problems are easy, new ones hard, and a model has answered one kind: its share of the other is foretold."""

    def level(found: Fit, chance: FloatArray) -> float:
        return float((found.predict().mean(axis=1) - chance.mean(axis=1)).mean())

    rng = np.random.default_rng(12)
    shared, own = [], []
    for _ in range(5):
        strata = np.repeat([0, 1], 150)
        theta, b = rng.normal(size=16), rng.normal(0, 1, 300) + np.where(strata == 1, 1.5, -1.5)
        chance = 1 / (1 + np.exp(b - theta[:, None]))
        scores = (rng.random(chance.shape) < chance).astype(np.float64)
        scores[4:, :150] = np.nan
        shared.append(level(fit(scores), chance))
        found = fit(scores, strata=strata)
        own.append(level(found, chance))
        assert found.stratum_means[0] < -0.8
        assert found.stratum_means[1] > 0.8
    assert abs(np.mean(own)) < abs(np.mean(shared)) / 2
