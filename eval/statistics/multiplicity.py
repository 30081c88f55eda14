"""p values adjusted for the number of tests: Holm where a model is accused, Benjamini and Hochberg where one explores.

A result has as many numbers as tests went in; that number belongs beside it wherever it is shown.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


def holm(p_values: ArrayLike) -> FloatArray:
    """Adjusted p values that bound the chance of even one false claim, in the order given (one dimension).

    The i-th smallest of m becomes the largest of (m - j + 1) * p_j over j <= i, at most 1. No assumption about how the
    tests depend on each other. Raises ``ValueError`` for NaN or a number outside [0, 1].
    Source: Holm 1979, "A simple sequentially rejective multiple test procedure".
    """
    array = _checked(p_values)
    order = np.argsort(array, kind="stable")
    factors = np.arange(array.size, 0, -1)
    return _put_back(np.maximum.accumulate(factors * array[order]), order)


def benjamini_hochberg(p_values: ArrayLike) -> FloatArray:
    """Adjusted p values that bound the expected share of false ones among the claims, in the order given.

    The i-th smallest of m becomes the smallest of m/j * p_j over j >= i, at most 1. For independent tests, or ones that
    depend positively. Raises ``ValueError`` for NaN or a number outside [0, 1].
    Source: Benjamini and Hochberg 1995, "Controlling the False Discovery Rate".
    """
    array = _checked(p_values)
    order = np.argsort(array, kind="stable")
    factors = array.size / np.arange(1, array.size + 1)
    return _put_back(np.minimum.accumulate((factors * array[order])[::-1])[::-1], order)


def _checked(p_values: ArrayLike) -> FloatArray:
    array = np.asarray(p_values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"p values come in one dimension, not in shape {array.shape}")
    # Written so that NaN fails too: a test without a result has to be left out, and not counted, by the caller.
    if not ((array >= 0) & (array <= 1)).all():
        raise ValueError("p values must be numbers from 0 to 1")
    return array


def _put_back(ordered: FloatArray, order: NDArray[np.intp]) -> FloatArray:
    adjusted = np.empty_like(ordered)
    adjusted[order] = np.minimum(ordered, 1.0)
    return adjusted
