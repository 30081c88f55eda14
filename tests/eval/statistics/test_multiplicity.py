"""Adjusted p values against statsmodels, and the published gaps of GSM1k."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

from eval.statistics.multiplicity import benjamini_hochberg, holm
from tests.eval.statistics.boards import table

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def test_against_statsmodels() -> None:
    """statsmodels 0.15.0, multipletests with "holm" and "fdr_bh"."""
    p = [0.01, 0.04, 0.03, 0.005, 0.5, 0.04]
    assert holm(p) == pytest.approx([0.05, 0.12, 0.12, 0.03, 0.5, 0.12])
    assert benjamini_hochberg(p) == pytest.approx([0.03, 0.048, 0.048, 0.03, 0.5, 0.048])


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_edges(adjust: Callable[[ArrayLike], NDArray[np.float64]]) -> None:
    assert np.asarray(adjust([])).shape == (0,)
    assert np.asarray(adjust([0.03])) == pytest.approx([0.03])
    assert np.asarray(adjust([1.0, 1.0])) == pytest.approx([1.0, 1.0])
    for wrong in ([0.1, math.nan], [1.1], [-0.1]):
        with pytest.raises(ValueError, match="from 0 to 1"):
            adjust(wrong)
    with pytest.raises(ValueError, match="one dimension"):
        adjust([[0.1]])


@given(P_VALUES)
def test_bonferroni_bounds_holm_and_holm_bounds_benjamini_hochberg(p: list[float]) -> None:
    strict, mild = holm(p), benjamini_hochberg(p)
    assert (mild >= np.array(p) - 1e-15).all()
    assert (strict >= mild - 1e-12).all()
    assert (strict <= np.minimum(1.0, np.array(p) * len(p)) + 1e-12).all()
    assert (np.diff(strict[np.argsort(p)]) >= 0).all()


@pytest.mark.shared
def test_the_gaps_of_gsm1k(shared_data: Path) -> None:
    """63 models, one-sided: 21 gaps under 5 % as they are, 14 by Benjamini and Hochberg, 5 by Holm."""
    rows = table(shared_data, "gsm1k_table_v4")
    p = np.array([0.5 * math.erfc(float(row["z_pooled"]) / math.sqrt(2)) for row in rows])
    strict, mild = holm(p), benjamini_hochberg(p)
    assert len(p) == 63
    assert [int((values < 0.05).sum()) for values in (p, mild, strict)] == [21, 14, 5]
    # p values are recorded to five digits, and multiplied by up to 63 after that.
    assert strict == pytest.approx([float(row["p_holm"]) for row in rows], abs=1e-4)
    assert mild == pytest.approx([float(row["p_bh"]) for row in rows], abs=1e-4)
