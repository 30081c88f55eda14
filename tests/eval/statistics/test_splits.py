"""The keyed split against known HMAC values and as a property; the gap by hand, by another formula, and simulated."""

from __future__ import annotations

import hashlib
import hmac
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.statistics.splits import gap_difference, private_mask, split_gaps
from tests.eval.statistics.boards import board

KEY = b"\x0b" * 20


def test_the_number_is_that_of_rfc_4231() -> None:
    # RFC 4231, test case 1: HMAC-SHA256 of "Hi There" under twenty bytes 0b begins with b0344c61, .6883 of the whole.
    place = int("b0344c61", 16) / 2**32
    assert private_mask(["Hi There"], KEY, place + 1e-6).tolist() == [True]
    assert private_mask(["Hi There"], KEY, place - 1e-6).tolist() == [False]


def test_ends_of_the_share() -> None:
    names = [f"p{number}" for number in range(300)]
    assert private_mask(names, KEY, 1.0).all()
    assert not private_mask(names, KEY, 0.0).any()
    assert private_mask([], KEY, 0.5).shape == (0,)


@given(st.lists(st.text(), unique=True, max_size=30), st.lists(st.text(), max_size=10), st.floats(0, 1))
def test_no_problem_moves_when_others_are_added(names: list[str], more: list[str], share: float) -> None:
    alone = private_mask(names, KEY, share)
    assert private_mask(names + more, KEY, share)[: len(names)].tolist() == alone.tolist()
    larger = private_mask(names, KEY, min(1.0, share * 1.5))
    assert (larger | ~alone).all()


def test_the_share_is_met_and_the_key_decides() -> None:
    names = [f"contest{number // 4}_{number % 4}" for number in range(20_000)]
    found = private_mask(names, KEY, 0.3)
    # Four standard deviations of a binomial share: 4 * sqrt(.21 / 20,000).
    assert found.mean() == pytest.approx(0.3, abs=0.013)
    other = private_mask(names, b"another key, also long", 0.3)
    assert (found & other).mean() == pytest.approx(0.09, abs=0.009)
    digest = hmac.new(KEY, names[7].encode(), hashlib.sha256).digest()
    assert found[7] == (int.from_bytes(digest[:8], "big") / 2**64 < 0.3)


def test_keys_and_shares_that_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 16"):
        private_mask(["a"], b"short", 0.5)
    for share in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match="between 0 and 1"):
            private_mask(["a"], KEY, share)


def test_gap_by_hand_in_two_strata() -> None:
    # Stratum 0: 20 public (mean 1/2), 20 private (1/4), weight 10.
    # Stratum 1: 10 public (mean 1/5), 40 private (1/10), weight 8.
    parts = [[1] * 10 + [0] * 10, [1] * 5 + [0] * 15, [1] * 2 + [0] * 8, [1] * 4 + [0] * 36]
    row = np.concatenate(parts).astype(float)
    private = np.repeat([False, True, False, True], [20, 20, 10, 40])
    strata = np.repeat([0, 0, 1, 1], [20, 20, 10, 40])
    (found,) = split_gaps([row], np.arange(90), strata, private)
    assert found.gap == pytest.approx((10 * 0.25 + 8 * 0.1) / 18)
    assert (found.n_public, found.n_private, found.contests_public, found.contests_private) == (30, 60, 30, 60)
    # One problem a contest: sum over strata and sides of w^2 * p (1-p) / n, times 90/89.
    parts_of_variance = [100 * (0.25 / 20 + 0.1875 / 20), 64 * (0.16 / 10 + 0.09 / 40)]
    assert found.se == pytest.approx(math.sqrt(90 / 89 * sum(parts_of_variance) / 18**2))
    assert found.low is not None
    assert found.p is not None
    assert (found.low < 0) == (found.p > 0.05)


def test_strata_on_one_side_are_left_out_and_missing_cells_too() -> None:
    row = np.array([1.0, 0.0] * 30 + [1.0] * 7 + [math.nan] * 3)
    strata = np.array([0] * 60 + [1] * 10)
    private = np.concatenate([np.arange(60) < 30, np.ones(10, bool)])
    (found,) = split_gaps([row], np.arange(70) // 2, strata, private)
    assert (found.n_public, found.n_private, found.n_unmatched) == (30, 30, 7)
    assert found.gap == pytest.approx(0.0)
    # A contest holds one right and one wrong answer: its residuals cancel.
    assert found.se is None


def test_contests_on_both_sides_are_one_cluster() -> None:
    # Each contest has one public and one private problem with the same outcome: the gap of every contest is zero.
    row = np.repeat(np.arange(40) % 2, 2).astype(float)
    (found,) = split_gaps([row], np.arange(80) // 2, np.zeros(80), np.arange(80) % 2 == 0)
    assert found.gap == pytest.approx(0.0)
    assert found.se is None
    assert found.cautions == ("no standard error: no contest differs from the means of its strata",)


def test_thin_sides_are_refused() -> None:
    row, strata = np.arange(40) % 2 * 1.0, np.zeros(40)
    few = split_gaps([row], np.arange(40), strata, np.arange(40) < 14)[0]
    assert few.gap is None
    assert few.refusal == (
        "needs at least 15 problems on each side in strata that have both, there are 26 public and 14 private"
    )
    narrow = split_gaps([row], np.arange(40) // 20, strata, np.arange(40) < 20)[0]
    assert narrow.refusal == "needs at least 4 contests on each side, there are 1 and 1"
    assert split_gaps(np.zeros((1, 0)), [], [], np.zeros(0, bool))[0].refusal is not None
    assert split_gaps(np.zeros((0, 4)), np.arange(4), [0] * 4, [True] * 4) == ()


def test_all_right_has_a_gap_of_zero_but_no_error() -> None:
    found = split_gaps([np.ones(60)], np.arange(60) // 3, np.zeros(60), np.arange(60) % 2 == 0)[0]
    assert (found.gap, found.se, found.p) == (0.0, None, None)
    assert found.cautions != ()


def test_no_interval_is_wider_than_a_gap_can_be() -> None:
    """Public problems are solved and private ones are not, but for one contest of each side."""
    private = np.arange(32) >= 16
    row = np.where(private, 0.0, 1.0)
    row[:3], row[16:19] = 0.0, 1.0
    clusters = np.arange(32) // 4
    (found,) = split_gaps([row], clusters, np.zeros(32), private)
    assert found.gap == pytest.approx(13 / 16 - 3 / 16)
    assert found.high == 1.0
    pair = gap_difference(row, 1 - row, clusters, np.zeros(32), private)
    assert pair.gap == pytest.approx(2 * 10 / 16)
    assert pair.high == 2.0


def test_difference_of_gaps() -> None:
    rng = np.random.default_rng(2)
    first, second = rng.random(120), rng.random(120)
    second[5] = math.nan
    clusters, strata, private = np.arange(120) // 3, np.arange(120) % 2, rng.random(120) < 0.4
    found = gap_difference(first, second, clusters, strata, private)
    known = ~np.isnan(second)
    alone = split_gaps(np.stack([first, second])[:, known], clusters[known], strata[known], private[known])
    assert alone[0].gap is not None
    assert alone[1].gap is not None
    assert found.gap == pytest.approx(alone[0].gap - alone[1].gap)
    same = gap_difference(first, first, clusters, strata, private)
    assert (same.gap, same.se) == (0.0, None)
    with pytest.raises(ValueError, match="same problems"):
        gap_difference(first, second[1:], clusters, strata, private)


def test_misuse() -> None:
    with pytest.raises(ValueError, match="models x problems"):
        split_gaps(np.zeros(4), np.arange(4), [0] * 4, [True] * 4)
    with pytest.raises(ValueError, match="mask"):
        split_gaps(np.zeros((1, 4)), np.arange(4), [0] * 4, [True])


@pytest.mark.shared
def test_a_keyed_split_of_a_recorded_board_shows_no_gap(shared_data: Path) -> None:
    # Which problems a key makes private has nothing to do with any model: over 40 keys and 16 models, p below .05 comes
    # up about as often as it should. Models and keys are not independent, so the tolerance is wide.
    whole = board(shared_data, "lcb_v6_2025-04-22")
    strata = np.unique(np.char.add(whole.platforms, whole.difficulties), return_inverse=True)[1]
    p_values = []
    for number in range(40):
        private = private_mask(whole.problems, number.to_bytes(16, "big"), 0.3)
        found = split_gaps(whole.scores, whole.contests, strata, private)
        p_values += [one.p for one in found if one.p is not None]
    assert len(p_values) == 640
    assert 0.01 < np.mean(np.array(p_values) < 0.05) < 0.10


@pytest.mark.shared
def test_a_leak_of_the_public_part_is_seen(shared_data: Path) -> None:
    # Half of what a model fails on the public part is made right: the gap has to be about half of its failures.
    whole = board(shared_data, "lcb_v6_2025-04-22")
    strata = np.unique(np.char.add(whole.platforms, whole.difficulties), return_inverse=True)[1]
    private = private_mask(whole.problems, KEY, 0.3)
    honest = whole.row("GPT-4O-2024-08-06")
    told = np.random.default_rng(0).random(honest.size) < 0.5
    leaked = np.where(told & ~private, 1.0, honest)
    found = gap_difference(leaked, honest, whole.contests, strata, private)
    assert found.gap == pytest.approx((1 - honest.mean()) / 2, abs=0.05)
    assert found.se is not None
    assert found.se < 0.02
