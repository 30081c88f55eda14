"""Equated scores: against a recorded experiment, in simulation, and where overlap is missing."""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.item_response import BOARD, interval_study, linking_study
from eval.statistics.irt import fit
from eval.statistics.linking import EquatedScores, equate, linked, overlap, reference_means
from tests.eval.statistics.boards import board, table
from tests.eval.statistics.response_boards import simulated

FloatArray = NDArray[np.float64]


def equated(scores: FloatArray, *, draws: int = 10, contests: int = 20, seed: int = 0) -> EquatedScores:
    """Equated scores on all problems, which come in so many contests."""
    problems = scores.shape[1]
    clusters, everything = np.arange(problems) * contests // problems, np.ones(problems, dtype=np.bool_)
    return equate(scores, clusters, everything, np.random.default_rng(seed), draws)


def test_recorded_linking_experiment(shared_data: Path) -> None:
    # The recorded means are over 40 masks; single masks spread by .05 (raw rho), .03 (1PL), .02 (2PL), .008 (errors).
    # 12 other masks of the same kind are to be within three standard errors of the difference.
    rows = table(shared_data, "lcb_v5_linking_mask_experiment")
    recorded = {key: np.mean([float(row[key]) for row in rows]) for key in rows[0]}
    found, seen = linking_study(board(shared_data, BOARD), 12, np.random.default_rng(1))
    assert seen == pytest.approx(recorded["frac_observed"], abs=0.05)
    for method, name, of_rho in (("raw mean", "raw", 0.05), ("1PL", "irt1", 0.03), ("2PL", "irt2", 0.02)):
        assert found[method].rho == pytest.approx(recorded[f"{name}_rho"], abs=of_rho)
        assert found[method].error == pytest.approx(recorded[f"{name}_mae"], abs=0.008)
    assert found["common window"].rho == pytest.approx(recorded["common_rho"], abs=0.03)
    assert found["common window"].error == pytest.approx(recorded["common_mae"], abs=0.008)
    for estimated in ("1PL", "2PL", "2PL, quarters"):
        for plain in ("raw mean", "common window"):
            assert found[estimated].rho > found[plain].rho
            assert found[estimated].error < found[plain].error


def test_strata_take_away_the_pull_of_one_prior(shared_data: Path) -> None:
    # Old problems are easier: with one prior mean all estimates are about 2 points low, with quarters 0 to 1.
    found, _ = linking_study(board(shared_data, BOARD), 6, np.random.default_rng(2))
    assert found["2PL"].level < -0.012
    assert abs(found["2PL, quarters"].level) < abs(found["2PL"].level) / 2
    assert found["common window"].level < found["raw mean"].level < -0.04


def test_intervals_hold_what_a_model_would_have_scored(shared_data: Path) -> None:
    # 5 masks x 19 models, which share masks: 95 % to about 5 points; the benchmark has 40 masks (95.5 %).
    held = interval_study(board(shared_data, BOARD), 5, np.random.default_rng(3), simulated=True, strata=True, draws=30)
    assert held.coverage >= 0.88
    assert held.width < 0.1


def test_where_nothing_is_missing_the_mean_comes_back() -> None:
    scores = simulated(12, 200, np.random.default_rng(4))[0]
    found = equated(scores)
    assert found.refusal is None
    estimates = [one.estimate for one in found.scores]
    assert estimates == pytest.approx(scores.mean(axis=1).tolist(), abs=0.03)
    for one in found.scores:
        assert one.low is not None
        assert one.high is not None
        assert one.estimate is not None
        assert one.by_1pl is not None
        assert 0 < one.low < one.estimate < one.high < 1
        assert one.difference == pytest.approx(one.estimate - one.by_1pl)
        assert (one.answered, one.refusal) == (1.0, None)
    assert (found.n_reference, found.units, found.draws) == (200, ("contests",), 10)
    assert found.converged
    assert found.largest_difference == max(abs(one.difference or 0.0) for one in found.scores)


def test_the_score_is_the_mean_chance_of_the_fit() -> None:
    scores = simulated(8, 60, np.random.default_rng(5), missing=0.2)[0]
    fitted = fit(scores)
    reference = np.arange(60) >= 40
    found = equate(scores, np.arange(60) // 3, reference, np.random.default_rng(0), 5)
    expected = fitted.predict()[:, 40:].mean(axis=1)
    assert reference_means(fitted, reference) == pytest.approx(expected)
    assert [one.estimate for one in found.scores] == pytest.approx(expected.tolist())
    assert found.scores[0].answered == pytest.approx(1 - np.isnan(scores[0, 40:]).mean())


def test_the_same_seed_gives_the_same_interval() -> None:
    scores = simulated(6, 60, np.random.default_rng(6), missing=0.1)[0]
    assert equated(scores).scores == equated(scores).scores
    assert equated(scores).scores != equated(scores, seed=1).scores


def test_few_contests() -> None:
    scores = simulated(6, 60, np.random.default_rng(7))[0]
    few = equated(scores, contests=4)
    assert few.units == ("problems", "contests")
    one = equated(scores, contests=1)
    assert (one.units, one.draws) == ((), 0)
    assert all(each.estimate is not None and each.low is None and each.se is None for each in one.scores)
    none = equated(scores, draws=0)
    assert none.scores[0].high is None


def refusal(scores: FloatArray) -> str:
    found = equated(scores)
    assert all(one.estimate is None and one.low is None for one in found.scores)
    assert {one.refusal for one in found.scores} <= {found.refusal}
    assert (found.converged, found.draws) == (None, 0)
    return found.refusal or ""


def test_too_few_models() -> None:
    scores = simulated(5, 80, np.random.default_rng(8))[0]
    assert equated(scores).refusal is None
    assert refusal(scores[:4]) == "needs at least 5 models that share problems, there are 4"
    scores[4] = np.nan
    assert refusal(scores) == "needs at least 5 models that share problems, there are 4"
    assert "there are 0" in refusal(np.zeros((0, 0)))


def test_parts_without_a_common_problem() -> None:
    scores = simulated(8, 80, np.random.default_rng(9))[0]
    scores[:4, 40:] = np.nan
    scores[4:, :40] = np.nan
    assert refusal(scores) == "the results fall into 2 parts without a common problem"


def test_too_few_anchors() -> None:
    scores = simulated(6, 30, np.random.default_rng(10))[0]
    assert equated(scores).refusal is None
    scores[:4, 0] = np.nan
    assert refusal(scores) == "needs at least 30 problems with results of 3 models, there are 29"


def test_groups_joined_by_a_thread() -> None:
    scores = simulated(8, 100, np.random.default_rng(11))[0]
    scores[:4, 60:] = np.nan
    scores[4:, :40] = np.nan
    # 20 common problems join the halves; every model has 60 anchors of its own.
    assert refusal(scores) == "the models fall into 2 groups that share fewer than 30 problems"
    chained = np.vstack([scores, simulated(1, 100, np.random.default_rng(12))[0]])
    assert equated(chained).refusal is None


def test_a_model_with_few_anchors_is_left_out_and_bends_nothing() -> None:
    scores = simulated(7, 80, np.random.default_rng(13))[0]
    plain = equated(scores)
    newcomer = np.full((1, 80), np.nan)
    newcomer[0, :20] = 1.0
    found = equated(np.vstack([scores, newcomer]))
    for one, before in zip(found.scores, plain.scores, strict=False):
        assert astuple(one)[:-1] == pytest.approx(astuple(before)[:-1], abs=1e-12)
    assert found.scores[7].estimate is None
    assert found.scores[7].refusal == "needs results on at least 30 problems that 3 models share"
    assert found.scores[7].answered == 0.25
    # Nor does one with many problems of its own cut the board in two.
    apart = np.full((8, 140), np.nan)
    apart[:7, :80] = scores
    apart[7, 80:] = 1.0
    lonely = equate(apart, np.arange(140) // 4, np.arange(140) < 80, np.random.default_rng(0), 5)
    assert lonely.refusal is None
    assert lonely.scores[7].refusal == "needs results on at least 30 problems that 3 models share"


def test_several_runs_of_one_model_are_one_model() -> None:
    scores = simulated(7, 80, np.random.default_rng(13))[0]
    assert overlap(scores).refusal is None
    assert overlap(scores, "abcdefg").refusal is None
    assert overlap(scores, "aaabbcd").refusal == "needs at least 5 models that share problems, there are 4"
    # a to d have 40 problems, e has 20; without c and d beyond 20, three runs of a and b have the rest: two models.
    scores[:3, 40:] = scores[6, 20:] = np.nan
    scores[3:6, 40:] = np.nan
    assert overlap(scores, "aaabcde").n_anchors == 40
    scores[4:6, 20:] = np.nan
    assert overlap(scores).n_anchors == 40
    assert overlap(scores, "aaabcde").n_anchors == 20
    kept, shared = linked(scores, "aaabcde")
    assert not kept.any()
    assert shared.refusal == "needs at least 30 problems with results of 3 models, there are 20"


def test_all_models_with_few_anchors() -> None:
    # 60 anchors, but each model has 20 of them.
    scores = np.full((9, 60), np.nan)
    for model in range(9):
        scores[model, (model % 3) * 20 : (model % 3) * 20 + 20] = model % 2
    assert "3 parts" in refusal(scores)
    scores[:, 0] = 1.0
    assert refusal(scores) == "needs at least 5 models that share problems, there are 0"


def test_a_reference_set_without_results() -> None:
    scores = simulated(6, 60, np.random.default_rng(14))[0]
    scores[:, :10] = np.nan
    clusters, rng = np.arange(60) // 3, np.random.default_rng(0)
    partly = equate(scores, clusters, np.arange(60) < 20, rng, 5)
    assert (partly.n_reference, partly.refusal) == (10, None)
    nothing = equate(scores, clusters, np.arange(60) < 10, rng, 5)
    assert nothing.refusal == "no problem of the reference set has a result"
    assert nothing.scores[0].estimate is None


def test_misuse_is_an_error() -> None:
    with pytest.raises(ValueError, match="reference"):
        equate(np.zeros((2, 3)), [1, 2, 3], [True], np.random.default_rng(0))
    with pytest.raises(ValueError, match="reference"):
        equate(np.zeros((2, 3)), [1], [True, True, True], np.random.default_rng(0))
