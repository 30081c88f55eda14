"""pass@k and means, on arrays of counts: n samples and c correct, of any common shape (models x problems).

Source of the estimator: Chen et al. 2021, "Evaluating Large Language Models Trained on Code", equation 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class TooFewSamples(ValueError):
    """pass@k was asked of fewer than k samples, which hold no answer to it."""


def pass_at_k(n: ArrayLike, c: ArrayLike, k: int) -> FloatArray:
    """The unbiased estimate of the chance that at least one of k samples is correct, problem by problem, in [0, 1].

    1 - C(n-c, k) / C(n, k), for ``n`` samples of which ``c`` are correct. Raises ``TooFewSamples`` where n < k, and
    ``ValueError`` where the counts are impossible.
    """
    samples, correct = _counts(n, c)
    if k < 1:
        raise ValueError(f"pass@k needs k of at least 1, not {k}")
    short = samples < k
    if short.any():
        count = f"n < k for {int(short.sum())} of {short.size} problems"
        raise TooFewSamples(f"pass@{k} needs at least {k} samples: {count}")
    wrong = samples - correct
    all_wrong = np.ones(samples.shape, dtype=np.float64)
    for drawn in range(k):
        # The chance that the next sample drawn without replacement is wrong too; none is left once wrong == drawn.
        all_wrong *= np.maximum(wrong - drawn, 0) / (samples - drawn)
    return np.asarray(1.0 - all_wrong, dtype=np.float64)


def enough_samples(n: ArrayLike, k: int) -> NDArray[np.bool_]:
    """Where pass@k can be estimated at all."""
    return np.asarray(np.asarray(n, dtype=np.int64) >= k)


def mean(values: ArrayLike) -> float | None:
    """The mean over problems, each with the same weight. None for no problem: an empty window has no number."""
    array = np.asarray(values, dtype=np.float64)
    return float(array.mean()) if array.size else None


def _counts(n: ArrayLike, c: ArrayLike) -> tuple[IntArray, IntArray]:
    samples, correct = np.asarray(n, dtype=np.int64), np.asarray(c, dtype=np.int64)
    if samples.shape != correct.shape:
        raise ValueError(f"n has shape {samples.shape} but c has {correct.shape}")
    if (correct < 0).any() or (correct > samples).any():
        raise ValueError("the number correct must lie between 0 and the number of samples")
    return samples, correct
