"""Contests as weights: by hand, and against the errors that formulas give."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.statistics import resampling
from eval.statistics.intervals import cluster_se
from eval.statistics.resampling import (
    contest_numbers,
    contest_totals,
    contest_weights,
    resampled_means,
)
from tests.eval.statistics.first_dates import recorded_window

NAN = math.nan


def test_totals_by_hand() -> None:
    totals = contest_totals([[1.0, 0.5, NAN, 0.2], [NAN, 1.0, NAN, 1.0]], [7, 3, 9, 7])
    np.testing.assert_allclose(totals.sums, [[0.5, 1.2, 0.0], [1.0, 1.0, 0.0]])
    np.testing.assert_array_equal(totals.counts, [[1, 2, 0], [1, 1, 0]])
    assert contest_totals(np.empty((2, 0)), []).sums.shape == (2, 0)
    with pytest.raises(ValueError, match="models x problems"):
        contest_totals([1.0], [0])
    with pytest.raises(ValueError, match="for 2 problems"):
        contest_totals([[1.0, 0.0]], [0])


def test_numbers_follow_the_given_ones() -> None:
    assert contest_numbers([40, 7, 40, 9], 4).tolist() == [2, 0, 2, 1]


def test_weights_are_a_multinomial_draw_whatever_the_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = np.random.default_rng(4).multinomial(13, [1 / 13] * 13, size=50)
    whole = contest_weights(13, 50, np.random.default_rng(4))
    monkeypatch.setattr(resampling, "_CHUNK_CELLS", 40)
    np.testing.assert_array_equal(contest_weights(13, 50, np.random.default_rng(4)), expected)
    np.testing.assert_array_equal(whole, expected)
    assert (whole.sum(axis=1) == 13).all()
    for wrong in ((0, 5), (5, 0)):
        with pytest.raises(ValueError, match="nothing to draw"):
            contest_weights(*wrong, np.random.default_rng(0))


@given(st.data())
def test_a_weighted_mean_is_the_mean_of_the_contests_drawn(data: st.DataObject) -> None:
    seed = data.draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    n_contests = data.draw(st.integers(1, 6))
    clusters = np.sort(rng.integers(0, n_contests, 3 * n_contests))
    clusters[:n_contests] = range(n_contests)
    scores = np.where(rng.random((3, len(clusters))) < 0.4, NAN, rng.random((3, len(clusters))))
    weights = contest_weights(n_contests, 4, rng)
    means = resampled_means(contest_totals(scores, clusters), weights)
    for draw, times in enumerate(weights.astype(int)):
        problems = [place for place, number in enumerate(clusters) for _ in range(times[number])]
        for model in range(3):
            present = scores[model, problems][~np.isnan(scores[model, problems])]
            if present.size:
                assert means[draw, model] == pytest.approx(present.mean())
            else:
                assert np.isnan(means[draw, model])


def test_weights_and_totals_must_match() -> None:
    with pytest.raises(ValueError, match="weights for 3 contests"):
        resampled_means(contest_totals([[1.0, 0.0]], [0, 1]), np.ones((2, 3), dtype=np.float32))


@pytest.mark.shared
def test_means_spread_as_the_clustered_error_says(shared_data: Path) -> None:
    """45 models, 62 contests. 2,000 draws leave 1.6 % noise in an s.d., and a mean of contests is not quite linear."""
    window = recorded_window(shared_data)
    totals = contest_totals(window.scores, window.contests)
    spread = resampled_means(totals, contest_weights(62, 2000, np.random.default_rng(0))).std(axis=0, ddof=1)
    expected = [cluster_se(row, window.contests.tolist()) for row in window.scores]
    ratio = spread / np.array(expected, dtype=np.float64)
    # A bootstrap of G contests divides by G where the formula divides by G - 1: sqrt(61/62) = 0.992.
    assert float(np.mean(ratio)) == pytest.approx(0.992, abs=0.02)
    assert ratio == pytest.approx(np.full(45, 0.992), abs=0.06)
