"""Item-rest correlations: recorded tables, by hand, and on boards on which models have answered different problems."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from eval.statistics.item_rest import centred, rest_correlations
from tests.eval.statistics.boards import table
from tests.eval.statistics.response_boards import recorded_window

FloatArray = NDArray[np.float64]


@pytest.mark.shared
def test_recorded_item_rest_correlations(shared_data: Path) -> None:
    rows = table(shared_data, "lcb_v1_post2023-09_items_irt")
    scores = recorded_window(shared_data).scores
    for found in (rest_correlations(scores), rest_correlations(centred(scores))):
        assert np.isnan(found).tolist() == [row["item_rest_r"] == "" for row in rows]
        recorded = [float(row["item_rest_r"] or "nan") for row in rows]
        assert found == pytest.approx(np.array(recorded), abs=1e-4, nan_ok=True)


def test_by_hand() -> None:
    scores = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    found = rest_correlations(scores)
    assert found[0] == pytest.approx(np.corrcoef(scores[:, 0], scores[:, 1:].mean(axis=1))[0, 1])
    assert found[2] < 0
    assert rest_correlations([[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]]) == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize(
    "scores",
    [np.zeros((0, 0)), np.zeros((0, 3)), np.zeros((5, 0)), np.ones((5, 3)), np.full((5, 3), np.nan), np.eye(2),
     np.array([[1.0], [0.0], [1.0]])],
)  # fmt: skip
def test_none_where_nothing_varies_or_too_few_answered(scores: FloatArray) -> None:
    assert np.isnan(rest_correlations(scores)).all()
    assert np.isnan(rest_correlations(centred(scores))).all()


@given(st.integers(0, 2**32 - 1), st.integers(3, 9), st.integers(2, 12))
def test_centring_changes_nothing_where_nothing_is_missing(seed: int, models: int, problems: int) -> None:
    scores = np.random.default_rng(seed).integers(0, 5, (models, problems)) / 4
    found, plain = rest_correlations(centred(scores)), rest_correlations(scores)
    assert found == pytest.approx(plain, abs=1e-9, nan_ok=True)


def test_a_model_is_not_blamed_for_hard_problems() -> None:
    # Strong models answered only hard problems, and score less on them than weak models on easy ones.
    rng = np.random.default_rng(22)
    theta = np.repeat([-1.0, 1.0], 20)
    b = np.repeat([-2.0, 0.0, 3.0], [100, 30, 100])
    scores = (rng.random((40, 230)) < 1 / (1 + np.exp(b - theta[:, None]))).astype(np.float64)
    scores[:20, 130:] = np.nan
    scores[20:, :100] = np.nan
    assert np.nanmean(rest_correlations(centred(scores))[100:130]) > 0.2
    assert np.nanmean(rest_correlations(scores)[100:130]) < 0.1
