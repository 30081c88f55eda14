"""pass@k and means, by hand and by properties."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.statistics.scores import TooFewSamples, enough_samples, mean, pass_at_k


def test_by_hand() -> None:
    # 1 - C(7,5)/C(10,5) = 1 - 21/252; the wrong formula 1 - (1 - c/n)^k would give 0.832.
    assert pass_at_k(10, 3, 5) == pytest.approx(0.9166667)
    assert pass_at_k(10, 3, 1) == pytest.approx(0.3)
    assert pass_at_k(10, 3, 10) == 1.0
    assert pass_at_k(5, 0, 5) == 0.0
    assert pass_at_k(2, 1, 2) == 1.0


def test_models_by_problems_at_once() -> None:
    n = np.array([[10, 10, 5], [1, 2, 3]])
    c = np.array([[3, 0, 5], [1, 0, 1]])
    assert pass_at_k(n, c, 1) == pytest.approx(c / n)
    assert pass_at_k(np.zeros((2, 0)), np.zeros((2, 0)), 1).shape == (2, 0)


def test_fewer_samples_than_k_are_refused_with_their_number() -> None:
    with pytest.raises(TooFewSamples, match="n < k for 3 of 3 problems"):
        pass_at_k([1, 1, 1], [1, 0, 0], 5)
    with pytest.raises(TooFewSamples, match="n < k for 1 of 2"):
        pass_at_k([10, 4], [1, 1], 5)
    assert enough_samples([10, 4], 5).tolist() == [True, False]


@pytest.mark.parametrize(("n", "c", "k"), [(3, 4, 1), (3, -1, 1), ([3, 3], [1], 1), (3, 1, 0)])
def test_impossible_counts_are_refused(n: object, c: object, k: int) -> None:
    with pytest.raises(ValueError, match=r"must lie|shape|at least 1"):
        pass_at_k(n, c, k)  # type: ignore[arg-type]


@given(st.integers(1, 60), st.data())
def test_the_product_is_the_ratio_of_binomials(n: int, data: st.DataObject) -> None:
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    assert float(pass_at_k(n, c, k)) == pytest.approx(1 - comb(n - c, k) / comb(n, k), abs=1e-12)


def test_many_samples_stay_within_0_and_1() -> None:
    values = pass_at_k(np.full(1001, 1000), np.arange(1001), 200)
    assert values.min() == 0.0
    assert values.max() == 1.0
    assert (np.diff(values) >= 0).all()


def test_means() -> None:
    assert mean([]) is None
    assert mean([1.0, 0.0, 0.5]) == 0.5
