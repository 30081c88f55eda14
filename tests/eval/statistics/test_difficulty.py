"""Information, weights, gaps and new problems: against recorded tables, by hand and in simulation."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from eval.statistics.difficulty import (
    BAND_WIDTH,
    Weight,
    accept_problem,
    coverage,
    fill_list,
    group_weights,
    information_curve,
    informative,
    unanimous,
)
from eval.statistics.irt import Fit, Fixed, Items, fit
from tests.eval.statistics.boards import table
from tests.eval.statistics.response_boards import recorded_window

FloatArray = NDArray[np.float64]
POINTS = np.arange(-4, 6.25, 0.5)


def placed(theta: FloatArray, b: FloatArray, a: float, scores: FloatArray) -> Fit:
    """A fit with everything known."""
    return fit(scores, fixed=Fixed(theta, Items(b, np.full(b.size, a))))


def test_recorded_information(shared_data: Path) -> None:
    # The recorded curve has the 70 problems that nobody solves in it; equal to the digits printed.
    recorded = recorded_window(shared_data)
    rows = table(shared_data, "lcb_v1_test_information")
    fitted = fit(recorded.scores)
    feigned = fitted.information(POINTS).sum(axis=1)
    assert feigned == pytest.approx([float(row["test_information"]) for row in rows], abs=0.01)
    assert 1 / np.sqrt(feigned) == pytest.approx([float(row["se_theta"]) for row in rows], abs=1e-3)
    found = information_curve(fitted, recorded.scores, POINTS)
    assert [(point.theta, point.n_models) for point in found] == [
        (float(row["theta"]), int(row["n_models"])) for row in rows
    ]
    none, every = unanimous(recorded.scores)
    for point, row in zip(found, rows, strict=True):
        near = np.floor(fitted.items.difficulty / BAND_WIDTH + 0.5) * BAND_WIDTH == point.theta
        assert point.n_problems + int((near & (none | every)).sum()) == int(row["n_items"])


def test_no_false_peak_beyond_the_strongest_model(shared_data: Path) -> None:
    recorded = recorded_window(shared_data)
    fitted = fit(recorded.scores)
    found = information_curve(fitted, recorded.scores, POINTS)
    assert POINTS[int(fitted.information(POINTS).sum(axis=1).argmax())] == 2.0
    assert max(found, key=lambda point: point.information).theta == 1.0
    at = {point.theta: point for point in found}
    assert (at[2.5].n_problems, sum(point.n_problems for point in found)) == (14, 238 - 71)


def test_recorded_board_is_short_of_problems_at_both_ends(shared_data: Path) -> None:
    recorded = recorded_window(shared_data)
    found = coverage(fit(recorded.scores), recorded.scores)
    assert (found.beyond, found.below) == (70, 1)
    assert found.sentence == "beyond the strongest model: 70 problems"
    # Abilities run from -2.94 to 0.98: bands from -3.44 up to 1.98. About -3 there are 3 problems, else 9 and more.
    assert [(band.low, band.high) for band in found.bands] == [(x - 0.25, x + 0.25) for x in np.arange(-3, 2, 0.5)]
    assert [band.low for band in found.gaps] == [-3.25]
    assert found.gaps[0].gap == "3 of 5 problems"
    weakest = recorded.models.index("OC-DS-1.3B")
    assert weakest in found.gaps[0].near
    filled = fill_list(found)
    assert [(one.low, one.missing) for one in filled] == [(-3.25, 2)]


def test_information_by_hand() -> None:
    # a = 2 and b = 0: a^2/4 = 1 at 0, and 4 p (1 - p) with p = 1/(1 + e^2) = .1192 at -1, which is .41997.
    scores = np.array([[0.0, 1.0], [1.0, 1.0]])
    known = placed(np.array([-1.0, 0.0]), np.zeros(2), 2.0, scores)
    found = information_curve(known, scores, [0.0, -1.0])
    assert [point.information for point in found] == pytest.approx([1.0, 0.41997], abs=1e-5)
    assert [point.se for point in found] == pytest.approx([1.0, 1 / math.sqrt(0.41997)], abs=1e-4)
    assert [(point.n_problems, point.n_models) for point in found] == [(1, 1), (0, 1)]


def test_no_information_is_no_error() -> None:
    scores = np.array([[1.0, 0.0], [1.0, 0.0]])
    point = information_curve(fit(scores), scores, [0.0])[0]
    assert (point.information, point.se) == (0.0, None)
    found = coverage(fit(scores), scores)
    assert (found.bands, found.beyond, found.below) == ((), 1, 1)
    assert found.refusal == "no problem is solved by some models and not by others"
    assert found.sentence == "beyond the strongest model: 1 problem"
    empty = coverage(fit(np.zeros((0, 0))), np.zeros((0, 0)))
    assert (empty.beyond, empty.below, fill_list(empty)) == (0, 0, ())


def test_unanimous_by_hand() -> None:
    nan = np.nan
    scores = np.array([[0.0, 1.0, nan, 0.5, nan], [0.0, nan, 1.0, 0.5, nan]])
    none, every = unanimous(scores)
    assert none.tolist() == [True, False, False, False, False]
    assert every.tolist() == [False, True, True, False, False]
    assert informative(scores).tolist() == [False, False, False, True, False]


def test_weights_by_hand() -> None:
    # Models at 0; two problems at 0 give a quarter each, one at 2 gives .10499; one at 3 is solved by nobody.
    scores = np.array([[1.0, 0.0, 0.0, 0.0, np.nan], [0.0, 1.0, 1.0, 0.0, np.nan]])
    known = placed(np.zeros(2), np.array([0.0, 0.0, 2.0, 3.0, 9.0]), 1.0, scores)
    found = group_weights(known, scores, ["low", "low", "high", "high", "unanswered"])
    assert {name: (one.n_problems, one.share_of_problems) for name, one in found.items()} == {
        "low": (2, 0.5),
        "high": (2, 0.5),
    }
    assert found["low"].share_of_information == pytest.approx(0.5 / 0.60499, abs=1e-4)
    assert found["high"].share_of_information == pytest.approx(0.10499 / 0.60499, abs=1e-4)


def test_weights_of_nothing() -> None:
    assert group_weights(fit(np.zeros((0, 0))), np.zeros((0, 0)), []) == {}
    solved = np.ones((3, 2))
    assert group_weights(fit(solved), solved, [1, 1])[1] == Weight(2, 1.0, None)
    with pytest.raises(ValueError, match="groups of 1 problems"):
        group_weights(fit(solved), solved, [1])


def test_bands_weigh_what_their_problems_do() -> None:
    scores, fitted = bank()
    bands = coverage(fitted, scores).bands
    below = [float(np.floor(b / 0.5 + 0.5)) * 0.5 - 0.25 for b in fitted.items.difficulty]
    weights = group_weights(fitted, scores, below)
    for band in bands:
        assert band.share_of_information == (weights[band.low].share_of_information if band.low in weights else 0.0)
    assert 0.9 < sum(band.share_of_information or 0.0 for band in bands) <= 1.0


def test_gaps_and_what_fills_them() -> None:
    # Forty problems at -1 and three at 1, all of slope 2: each gives 1 in the middle of its band.
    b = np.repeat([-1.0, 1.0], [40, 3])
    scores = np.tile([[0.0], [1.0]], (1, 43))
    known = placed(np.array([-1.0, 1.0]), b, 2.0, scores)
    found = coverage(known, scores, of_interest=[1])
    assert [(band.low + 0.25, band.n_problems) for band in found.bands] == [
        (-1.5, 0), (-1.0, 40), (-0.5, 0), (0.0, 0), (0.5, 0), (1.0, 3), (1.5, 0), (2.0, 0),
    ]  # fmt: skip
    assert found.typical_slope == pytest.approx(2.0)
    at_one = found.bands[5]
    # 3 problems at 1 give 3; forty that are two logits below give 4 p (1 - p) with p = .982, .07065 each.
    assert at_one.information == pytest.approx(3 + 40 * 0.07065, abs=1e-3)
    assert at_one.se == pytest.approx(1 / math.sqrt(5.826), abs=1e-3)
    assert at_one.near == (1,)
    assert found.bands[1].gap is None
    fills = {fill.low + 0.25: fill for fill in fill_list(found)}
    # 1/.3^2 = 11.11 is wanted at 1, 5.83 is there: 6 problems. At -0.5 the error is small, and 5 are missing.
    assert fills[1.0].missing == 6
    assert fills[1.0].reason == "3 of 5 problems; the error of an ability here is 0.41, above 0.3"
    assert fills[-0.5].missing == 5
    assert fills[-0.5].reason == "0 of 5 problems"
    assert [fill.near for fill in fill_list(found)][:3] == [(1,), (1,), (1,)]
    assert [fill.low + 0.25 for fill in fill_list(found)][:3] == [0.5, 1.0, 1.5]


def bank() -> tuple[FloatArray, Fit]:
    """Thirty models spread over four logits, on 120 problems."""
    rng = np.random.default_rng(20)
    theta, b = np.linspace(-2, 2, 30), rng.normal(0, 1.5, 120)
    scores = (rng.random((30, 120)) < 1 / (1 + np.exp(1.3 * (b - theta[:, None])))).astype(np.float64)
    return scores, fit(scores)


def test_a_new_problem_is_accepted_or_refused_with_a_sentence() -> None:
    scores, fitted = bank()
    steep = (fitted.theta > 0.4).astype(np.float64)
    good = accept_problem(steep, fitted, scores, 0.0, 0.5)
    assert good.accepted
    # The weakest of those that solve it lie at 0.4; the prior of a slope pulls the difficulty towards the middle.
    assert good.difficulty == pytest.approx(0.24, abs=0.02)
    assert good.item_rest is not None
    assert good.item_rest > 0.7
    assert good.sentence.startswith("accepted: its difficulty is 0.")
    elsewhere = accept_problem(steep, fitted, scores, 1.25, 1.75)
    assert not elsewhere.accepted
    assert "outside 1.25 to 1.75" in elsewhere.sentence
    upside_down = accept_problem(1 - steep, fitted, scores, -9.0, 9.0)
    assert not upside_down.accepted
    assert "not above 0.20" in upside_down.sentence


def test_a_new_problem_that_says_nothing() -> None:
    scores, fitted = bank()
    nobody = accept_problem(np.zeros(30), fitted, scores, 2.0, 2.5)
    assert nobody.sentence == "refused: no model solves it, so that its difficulty is not known"
    assert (nobody.accepted, nobody.difficulty) == (False, None)
    everybody = accept_problem(np.ones(30), fitted, scores, -3.0, -2.5)
    assert everybody.sentence == "refused: every model solves it, so that its difficulty is not known"
    few = np.full(30, np.nan)
    few[:4] = [0.0, 1.0, 0.0, 1.0]
    assert accept_problem(few, fitted, scores, -3.0, 3.0).sentence == (
        "refused: needs answers of at least 5 models, there are 4"
    )
    with pytest.raises(ValueError, match="answers of shape"):
        accept_problem([1.0], fitted, scores, 0.0, 1.0)


def test_problems_of_the_right_difficulty_pass_mostly() -> None:
    """New problems of the same kind in the middle of the band; coin tosses do not pass."""
    rng = np.random.default_rng(21)
    scores, fitted = bank()
    passed, tossed = 0, 0
    for _ in range(40):
        answers = (rng.random(30) < 1 / (1 + np.exp(-2.0 * fitted.theta))).astype(np.float64)
        passed += accept_problem(answers, fitted, scores, -0.75, 0.75).accepted
        tossed += accept_problem(rng.integers(0, 2, 30), fitted, scores, -0.75, 0.75).accepted
    assert passed >= 30
    assert tossed <= 10
