"""The item-rest correlation of test theory: does a problem tell strong models from weak as the others do?

Source: Henrysson 1963, "Correction of item-total correlations in item analysis".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from eval.statistics.scores import FloatArray

MIN_RESULTS = 3


def centred(scores: ArrayLike) -> FloatArray:
    """Scores (models x problems, NaN for no result) as differences from their problem's mean.

    A model is then not thought weak for having answered hard problems. Where nothing is missing, correlations stay what
    they are.
    """
    matrix = np.asarray(scores, dtype=np.float64)
    present = ~np.isnan(matrix)
    counts = np.maximum(present.sum(axis=0), 1)
    return np.asarray(matrix - np.where(present, matrix, 0.0).sum(axis=0) / counts, dtype=np.float64)


def rest_correlations(scores: ArrayLike) -> FloatArray:
    """For each problem, Pearson's correlation over models between its score and the mean over all other problems.

    NaN where fewer than three models have a result or all do equally well. Where models have answered different
    problems, ``centred`` scores belong here.
    """
    matrix = np.asarray(scores, dtype=np.float64)
    present = ~np.isnan(matrix)
    filled = np.where(present, matrix, 0.0)
    sums, counts = filled.sum(axis=1, keepdims=True), present.sum(axis=1, keepdims=True)
    others = counts - present
    usable = present & (others > 0)
    rest = (sums - filled) / np.maximum(others, 1)
    models = np.maximum(usable.sum(axis=0), 1)
    x = np.where(usable, filled - np.where(usable, filled, 0.0).sum(axis=0) / models, 0.0)
    y = np.where(usable, rest - np.where(usable, rest, 0.0).sum(axis=0) / models, 0.0)
    scale = np.sqrt(np.square(x).sum(axis=0) * np.square(y).sum(axis=0))
    known = (usable.sum(axis=0) >= MIN_RESULTS) & (scale > 1e-12)
    return np.asarray(np.divide((x * y).sum(axis=0), scale, out=np.full(scale.shape, np.nan), where=known))
