"""Decomposition of a change: by hand, as an identity, and against figures computed apart for a recorded leaderboard."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from eval.statistics.composition import Decomposition, Estimate, Periods, decompose
from eval.statistics.intervals import cluster_se
from tests.eval.statistics.boards import Board, board


def _value(estimate: Estimate | None) -> float:
    assert estimate is not None
    return estimate.value


def _se(estimate: Estimate | None) -> float:
    assert estimate is not None
    assert estimate.se is not None
    return estimate.se


def _halves(n: int) -> Periods:
    return Periods(np.arange(n) < n // 2, np.arange(n) >= n // 2)


def test_two_strata_by_hand() -> None:
    # Before: 6 easy (mean 5/6), 4 hard (1/4). After: 4 easy (3/4), 6 hard (1/6).
    scores = [1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0]
    strata = [0] * 6 + [1] * 4 + [0] * 4 + [1] * 6
    (found,) = decompose([scores], np.arange(20) // 2, strata, _halves(20), np.random.default_rng(0))
    assert _value(found.composition) == pytest.approx(-0.2 * (5 / 6 + 3 / 4) / 2 + 0.2 * (1 / 4 + 1 / 6) / 2)
    assert _value(found.behaviour) == pytest.approx((3 / 4 - 5 / 6) / 2 + (1 / 6 - 1 / 4) / 2)
    assert _value(found.total) == pytest.approx(0.4 - 0.6)
    assert [(part.codes, part.n_before, part.n_after) for part in found.strata] == [(("0",), 6, 4), (("1",), 4, 6)]
    assert sum(part.composition + part.behaviour for part in found.strata) == pytest.approx(-0.2)
    assert found.strata[0].mean_before == pytest.approx(5 / 6)
    assert found.strata[1].weight_after == pytest.approx(0.6)
    assert (found.contests_before, found.contests_after) == (5, 5)
    assert found.cautions == (
        "fewer than 8 contests on a side (5): the standard errors are rough",
        "what all models show cannot be told from what is this one's own: needs at least 3 other models with problems "
        "of the same kinds, there are 0",
    )


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.booleans())
def test_parts_add_up_to_the_difference_of_means(seed: int, strata: int, overlap: bool) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 11, (5, 80)) / 10
    scores[rng.random(scores.shape) < 0.2] = np.nan
    before, after = rng.random(80) < 0.6, rng.random(80) < 0.6
    if not overlap:
        after &= ~before
    found = decompose(
        scores, np.arange(80) // 4, rng.integers(0, strata, 80), Periods(before, after), rng, coarser=[0] * 80, draws=20
    )
    for row, one in zip(scores, found, strict=True):
        if one.refusal is None:
            change = np.nanmean(row[after]) - np.nanmean(row[before])
            assert _value(one.total) == pytest.approx(change, abs=1e-12)
            assert _value(one.composition) + _value(one.behaviour) == pytest.approx(change, abs=1e-12)
            if one.common is not None:
                assert _value(one.common) + _value(one.own) == pytest.approx(_value(one.behaviour), abs=1e-12)


def test_the_same_problems_twice_change_nothing() -> None:
    rng = np.random.default_rng(3)
    scores = np.tile(rng.random((4, 30)), 2)
    found = decompose(scores, np.tile(np.arange(30) // 3, 2), np.tile(np.arange(30) % 3, 2), _halves(60), rng)
    for one in found:
        # The contests are on both sides and are drawn together, so that not even the bootstrap sees a difference.
        assert [_value(part) for part in (one.total, one.composition, one.behaviour, one.own)] == pytest.approx(
            [0.0] * 4
        )
        assert _se(one.total) == pytest.approx(0.0, abs=1e-12)


def test_only_the_mix_changes() -> None:
    # Every easy problem is solved and no hard one, in both windows; more hard ones are asked later.
    strata = np.array([0] * 15 + [1] * 5 + [0] * 5 + [1] * 15)
    scores = np.tile(strata == 0, (4, 1)).astype(float)
    found = decompose(scores, np.arange(40) // 2, strata, _halves(40), np.random.default_rng(0))
    assert _value(found[0].total) == pytest.approx(-0.5)
    assert _value(found[0].composition) == pytest.approx(-0.5)
    assert _value(found[0].behaviour) == 0.0
    assert _value(found[0].own) == 0.0


def _drifting(rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Six models lose 20 points in every stratum; the first loses 30 points more."""
    strata = np.arange(400) % 2
    chance = np.where(strata == 0, 0.9, 0.6) - np.where(np.arange(400) < 200, 0.0, 0.2)
    scores = rng.binomial(10, np.tile(chance, (6, 1))) / 10
    scores[0, 200:] = rng.binomial(10, chance[200:] - 0.3) / 10
    return scores, strata


def test_what_all_models_lose_is_not_the_models_own() -> None:
    rng = np.random.default_rng(5)
    scores, strata = _drifting(rng)
    found = decompose(scores, np.arange(400) // 4, strata, _halves(400), rng)
    # Tolerance: three standard errors of means over 200 problems of 10 samples.
    assert _value(found[0].behaviour) == pytest.approx(-0.5, abs=0.05)
    assert _value(found[0].common) == pytest.approx(-0.2, abs=0.03)
    assert _value(found[0].own) == pytest.approx(-0.3, abs=0.05)
    assert found[0].n_peers == 5
    # The suspect is one of the others' peers and pulls their common part by a fifth of its 30 points.
    assert _value(found[1].common) == pytest.approx(-0.26, abs=0.03)


def test_who_has_no_results_on_a_side_is_no_peer() -> None:
    rng = np.random.default_rng(5)
    scores, strata = _drifting(rng)
    scores[5, 200:] = np.nan
    found = decompose(scores, np.arange(400) // 4, strata, _halves(400), rng)
    assert [one.n_peers for one in found] == [4, 4, 4, 4, 4, 0]
    assert found[5].refusal == "needs at least 10 problems with a result on each side, there are 200 and 0"


def test_which_peer_has_which_problem_does_not_matter() -> None:
    # All lose 20 points. Before, only strong peers have the second half of the problems; after, only weak ones.
    levels = np.array([0.6, 0.9, 0.9, 0.9, 0.5, 0.5, 0.5])
    scores = np.repeat(levels[:, None], 200, axis=1)
    scores[:, 100:] -= 0.2
    scores[4:, 50:100] = np.nan
    scores[1:4, 150:] = np.nan
    found = decompose(scores, np.arange(200) // 4, [0] * 200, _halves(200), np.random.default_rng(0))
    assert _value(found[0].common) == pytest.approx(-0.2)
    assert _value(found[0].own) == pytest.approx(0.0, abs=1e-12)


def test_peers_that_lack_the_models_problems_are_no_peers() -> None:
    scores = np.tile(np.arange(80) % 2, (5, 1)).astype(float)
    scores[0, :20] = scores[0, 60:] = np.nan
    scores[1:, 20:60] = np.nan
    one = decompose(scores, np.arange(80) // 4, [0] * 80, _halves(80), np.random.default_rng(0))[0]
    assert one.common is None
    assert one.own is None
    assert one.cautions == (
        "fewer than 8 contests on a side (5): the standard errors are rough",
        "what all models show cannot be told from what is this one's own: the others lack this model's problems on a "
        "side of some kind",
    )


def test_a_stratum_on_one_side_is_refused_or_merged() -> None:
    strata = np.array([0] * 10 + [1] * 5 + [2] * 5 + [0] * 10 + [1] * 10)
    coarse = np.where(strata == 2, 1, strata)
    scores = np.tile(np.arange(40) % 2, (2, 1)).astype(float)
    refused = decompose(scores, np.arange(40) // 2, strata, _halves(40), np.random.default_rng(0))[0]
    assert refused.refusal == (
        "strata with problems on one side only cannot be compared: 2; merge them or leave them out"
    )
    assert (refused.total, refused.composition, refused.strata) == (None, None, ())
    merged = decompose(scores, np.arange(40) // 2, strata, _halves(40), np.random.default_rng(0), coarser=coarse)[0]
    assert sorted(part.codes for part in merged.strata) == [("0",), ("1", "2")]
    assert merged.cautions[0] == "2 strata were merged because one of their kind is empty on one side"
    useless = decompose(scores, np.arange(40) // 2, strata, _halves(40), np.random.default_rng(0), coarser=strata)[0]
    assert useless.refusal == refused.refusal


def test_a_stratum_outside_both_windows_is_no_obstacle() -> None:
    strata = np.array([0] * 20 + [9] * 10 + [0] * 20)
    periods = Periods(np.arange(50) < 20, np.arange(50) >= 30)
    (found,) = decompose([np.ones(50)], np.arange(50), strata, periods, np.random.default_rng(0))
    assert _value(found.total) == 0.0
    assert _se(found.total) == 0.0  # all right: nothing that could vary
    assert len(found.strata) == 1


def test_thin_evidence_is_refused_or_has_no_error() -> None:
    rng = np.random.default_rng(0)
    nothing = decompose(np.zeros((1, 0)), [], [], Periods(np.zeros(0, bool), np.zeros(0, bool)), rng)[0]
    assert nothing.refusal == "needs at least 10 problems with a result on each side, there are 0 and 0"
    one_contest = decompose([np.arange(40) % 2], np.arange(40) // 20, [0] * 40, _halves(40), rng)[0]
    assert one_contest.total is not None
    assert one_contest.total.se is None
    assert one_contest.cautions[0] == "no standard error: needs at least 4 contests on each side, one has 1"
    rare = np.array([1] + [0] * 39 + [1] + [0] * 39)
    lone = decompose([np.arange(80) % 2], np.arange(80) // 8, rare, _halves(80), rng)[0]
    assert lone.total is not None
    assert lone.total.se is None
    assert lone.cautions[0].startswith("no standard error: a stratum rests on so few contests")


def test_misuse() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="models x problems"):
        decompose(np.zeros(4), np.arange(4), [0] * 4, _halves(4), rng)
    with pytest.raises(ValueError, match="4 problems"):
        decompose(np.zeros((1, 4)), np.arange(3), [0] * 4, _halves(4), rng)
    with pytest.raises(ValueError, match="coarser key of shape"):
        decompose(np.zeros((1, 4)), np.arange(4), [0] * 4, _halves(4), rng, coarser=[0])
    with pytest.raises(ValueError, match="two groups"):
        decompose(np.zeros((1, 4)), np.arange(4), [0] * 4, _halves(4), rng, coarser=[0, 1, 0, 0])
    with pytest.raises(ValueError, match="2 draws"):
        decompose(np.zeros((1, 4)), np.arange(4), [0] * 4, _halves(4), rng, draws=1)


def _from_september(shared_data: Path) -> tuple[Board, NDArray[np.int64], Periods]:
    whole = board(shared_data, "lcb_v6_2025-04-22")
    kept = whole.take((whole.dates >= np.datetime64("2023-09-01")) & (whole.platforms != "codeforces"))
    strata = np.unique(np.char.add(kept.platforms, kept.difficulties), return_inverse=True)[1]
    before = kept.dates < np.datetime64("2024-08-01")
    return kept, strata, Periods(before, ~before)


@pytest.mark.shared
def test_recorded_changes_of_three_models(shared_data: Path) -> None:
    # Figures computed apart: AtCoder and LeetCode from September 2023 (432 problems), against August 2024 on (454).
    kept, strata, periods = _from_september(shared_data)
    results = decompose(kept.scores, kept.contests, strata, periods, np.random.default_rng(0))
    found = dict(zip(kept.models, results, strict=True))
    expected = {
        "GPT-4O-2024-08-06": (-12.2, -11.1, -1.1),
        "O4-Mini (High)": (-16.7, -6.5, -10.2),
        "DeepSeek-V3": (-36.3, -9.8, -26.5),
    }
    for model, points in expected.items():
        one = found[model]
        parts = (one.total, one.composition, one.behaviour)
        assert [100 * _value(part) for part in parts] == pytest.approx(points, abs=0.05)
        assert (one.n_before, one.n_after) == (432, 454)
    _check_own_part(found)


def _check_own_part(found: dict[str, Decomposition]) -> None:
    # No cell is missing, so all models share the weights: the common part is the mean behaviour of the fifteen others.
    behaviour = {model: _value(one.behaviour) for model, one in found.items()}
    for model, one in found.items():
        others = [value for name, value in behaviour.items() if name != model]
        assert _value(one.common) == pytest.approx(sum(others) / 15, abs=1e-12)
    # V3's loss is far beyond its peers'; that of the strongest model is what all models show.
    assert _value(found["DeepSeek-V3"].own) < -4 * _se(found["DeepSeek-V3"].own)
    assert abs(_value(found["O4-Mini (High)"].own)) < _se(found["O4-Mini (High)"].own)


@pytest.mark.shared
def test_peers_are_compared_on_the_models_own_problems(shared_data: Path) -> None:
    # Without V3's broken months, its own part is that of a board that ends before them.
    kept, strata, periods = _from_september(shared_data)
    early = kept.dates < np.datetime64("2025-01-01")
    scores = kept.scores.copy()
    place = kept.models.index("DeepSeek-V3")
    scores[place, ~early] = np.nan
    rng = np.random.default_rng(0)
    one = decompose(scores, kept.contests, strata, periods, rng)[place]
    shorter = Periods(periods.before[early], periods.after[early])
    other = decompose(kept.scores[:, early], kept.contests[early], strata[early], shorter, rng)[place]
    assert _value(one.own) == pytest.approx(_value(other.own), abs=1e-12)
    assert _value(one.common) == pytest.approx(_value(other.common), abs=1e-12)
    assert _se(one.own) == pytest.approx(_se(other.own), rel=0.1)  # two streams of 1,000 draws


@pytest.mark.shared
def test_bootstrap_error_of_the_whole_is_that_of_two_means(shared_data: Path) -> None:
    kept, strata, periods = _from_september(shared_data)
    found = decompose(kept.scores, kept.contests, strata, periods, np.random.default_rng(1), draws=2000)
    for row, one in zip(kept.scores, found, strict=True):
        sides = [cluster_se(row[side], kept.contests[side].tolist()) for side in (periods.before, periods.after)]
        # 2,000 draws know a standard deviation to 1.6 %: five of those.
        assert _se(one.total) == pytest.approx(math.hypot(*(se or 0.0 for se in sides)), rel=0.08)


@pytest.mark.shared
def test_codeforces_is_merged_where_it_is_only_before(shared_data: Path) -> None:
    whole = board(shared_data, "lcb_v6_2025-04-22")
    strata = np.unique(np.char.add(whole.platforms, whole.difficulties), return_inverse=True)[1]
    labels = np.unique(whole.difficulties, return_inverse=True)[1]
    before = whole.dates < np.datetime64("2024-08-01")
    rng, periods = np.random.default_rng(0), Periods(before, ~before)
    refused = decompose(whole.scores, whole.contests, strata, periods, rng, draws=10)[0]
    assert refused.refusal is not None
    merged = decompose(whole.scores, whole.contests, strata, periods, rng, coarser=labels, draws=10)[0]
    by_label = decompose(whole.scores, whole.contests, labels, periods, rng, draws=10)[0]
    assert _value(merged.composition) == pytest.approx(_value(by_label.composition))


def test_the_standard_error_of_few_contests_is_not_too_small() -> None:
    """Four contests a side with a spread of .25 between contests: over 200 worlds the mean standard error is within a
    tenth of the standard deviation that the change really has."""
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(8), 6)
    before = clusters < 4
    errors, changes = [], []
    for world in range(200):
        scores = np.clip(0.5 + rng.normal(0, 0.25, 8)[clusters] + rng.normal(0, 0.05, clusters.size), 0, 1)
        (found,) = decompose(
            scores[None],
            clusters,
            np.zeros(clusters.size),
            Periods(before, ~before),
            np.random.default_rng(world),
            draws=200,
        )
        assert found.total is not None
        assert found.total.se is not None
        errors.append(found.total.se)
        changes.append(found.total.value)
    assert float(np.mean(errors)) == pytest.approx(float(np.std(changes)), rel=0.1)
