"""Contests as weights, and the hierarchical bootstrap: by hand, and against the errors that formulas give."""

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
    FloatArray,
    IntArray,
    bootstrap,
    contest_numbers,
    contest_totals,
    contest_weights,
    resampled_means,
)
from tests.eval.statistics.first_dates import recorded_window

NAN = math.nan


def row_means(scores: FloatArray, _: IntArray) -> FloatArray:
    return np.asarray(np.nanmean(scores, axis=1))


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


def test_samples_within_a_problem_are_drawn_with_the_correction() -> None:
    """All contests alike, 100 problems with 1 of 2 samples right: the variance of the mean is y(1-y)/(n-1)/100.

    Without the correction it would be half of that. 2,000 draws leave an s.d. with 1.6 % noise.
    """
    n, c, clusters = np.full((1, 100), 2), np.full((1, 100), 1), np.arange(100) // 5
    found = bootstrap(n, c, clusters, row_means, np.random.default_rng(1))
    spread = found.se()
    assert spread is not None
    assert found.estimate == pytest.approx([0.5])
    assert (found.n_failed, found.unit) == (0, "contest")
    assert spread == pytest.approx([0.05], rel=0.07)
    ends = found.interval()
    assert ends is not None
    assert ends[0] == pytest.approx([0.5 - 1.96 * 0.05], abs=0.02)
    assert ends[1] == pytest.approx([0.5 + 1.96 * 0.05], abs=0.02)
    alone = bootstrap(n, c, clusters, row_means, np.random.default_rng(1), draws=200, samples_too=False)
    assert alone.se() == pytest.approx([0.0])


def test_scores_stay_in_their_range_and_gaps_stay_gaps() -> None:
    n, c = np.array([[5, 1, 0, 3] * 10]), np.array([[2, 1, 0, 3] * 10])

    def check(scores: FloatArray, problems: IntArray) -> list[float]:
        place = problems % 4
        assert scores.shape == (1, len(problems))
        assert np.isnan(scores[0, place == 2]).all()
        assert (scores[0, place == 1] == 1).all()
        assert (scores[0, place == 3] == 1).all()
        assert set(np.round(scores[0, place == 0] * 20).astype(int)) <= {0, 5, 8, 10, 15, 20}
        return [0.0]

    assert bootstrap(n, c, np.arange(40) // 4, check, np.random.default_rng(0), draws=50).n_failed == 0


def test_what_is_drawn_depends_on_the_number_of_contests() -> None:
    rng = np.random.default_rng(0)
    n, c = np.ones((2, 24), dtype=int), rng.integers(0, 2, (2, 24))
    seen: list[IntArray] = []

    def note(scores: FloatArray, problems: IntArray) -> FloatArray:
        seen.append(problems)
        return row_means(scores, problems)

    assert bootstrap(n, c, np.arange(24) // 3, note, rng, draws=20).unit == "contest"
    assert all((problems.reshape(-1, 3) % 3 == [0, 1, 2]).all() for problems in seen)
    assert bootstrap(n, c, np.arange(24) // 6, note, rng, draws=5).unit == "problem"
    one = bootstrap(n, c, np.zeros(24), note, rng)
    assert one.refusal == "needs at least 2 contests, there are 1"
    assert (one.estimate, one.se(), one.interval()) == (None, None, None)
    nothing = bootstrap(np.empty((2, 0)), np.empty((2, 0)), [], note, rng)
    assert nothing.refusal == "needs at least 2 contests, there are 0"


def test_draws_without_a_number_are_counted() -> None:
    def only_with_the_first(_: FloatArray, problems: IntArray) -> float:
        return 1.0 if 0 in problems else NAN

    n = np.ones((1, 10), dtype=int)
    found = bootstrap(n, n, range(10), only_with_the_first, np.random.default_rng(0), draws=1000)
    # The first of ten is in a draw with a chance of 1 - 0.9^10 = 0.651; three standard errors are 0.045.
    assert len(found.draws) == 1000 - found.n_failed
    assert len(found.draws) / 1000 == pytest.approx(0.651, abs=0.045)


def test_misuse() -> None:
    rng = np.random.default_rng(0)
    ones = np.ones((1, 10), dtype=int)
    for n, c in ((ones[0], ones[0]), (ones, np.ones((2, 10))), (ones, 2 * ones), (ones, -ones)):
        with pytest.raises(ValueError, match=r"models x problems|number correct"):
            bootstrap(n, c, range(10), row_means, rng)
    with pytest.raises(ValueError, match="shape"):
        bootstrap(ones, ones, range(10), lambda scores, problems: problems[: len(set(problems))], rng)
