"""Least squares and logistic regression of shares, both with standard errors clustered by contest.

CR1: the sandwich (X'WX)^-1 (sum over clusters of s_g s_g') (X'WX)^-1, where s_g adds up a cluster's rows of the score
X'(y - mean), times G/(G-1) * (n-1)/(n-k) for G clusters, n rows and k columns. That is what Stata's ``vce(cluster)``
gives for a linear regression and statsmodels' ``cov_type="cluster"`` for both kinds.

The logistic regression takes shares in [0, 1] as well as 0 and 1 (a quasi-binomial likelihood; the sandwich does not
need the binomial variance). Where the data are separated, no finite coefficients maximise it: that is refused.

Sources: Liang and Zeger 1986, "Longitudinal data analysis using generalized linear models"; Papke and Wooldridge 1996,
"Econometric methods for fractional response variables"; Albert and Anderson 1984 for separation; Konis 2007, "Linear
programming algorithms for detecting separated data", for how it is told.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eval.statistics.intervals import t_p_value
from eval.statistics.scores import FloatArray, IntArray

_MAX_STEPS = 100
_TOLERANCE = 1e-8
# A jump of this many logits in one step overshoots: the curvature behind it no longer holds.
_LONGEST_STEP = 5.0
_NO_SPREAD = 1e-20


@dataclass(frozen=True)
class Refusal:
    """Why there is no number, as a sentence that says what is missing."""

    reason: str


@dataclass(frozen=True)
class Estimate:
    """A number with its standard error, in the same unit, and the two-sided p value of t with so many degrees."""

    value: float
    se: float
    degrees: float
    p: float


@dataclass(frozen=True, eq=False)
class Regression:
    """Coefficients (k) and their clustered covariance (k x k), in the order of the design's columns.

    ``fitted`` has the mean that each row is given.
    """

    coefficients: FloatArray
    covariance: FloatArray
    fitted: FloatArray
    n_items: int
    n_clusters: int

    def estimate(self, column: int, degrees: float | None = None) -> Estimate:
        """One coefficient; t has (clusters - 1) degrees of freedom unless told otherwise."""
        return estimate(
            float(self.coefficients[column]),
            math.sqrt(float(self.covariance[column, column])),
            self.n_clusters - 1 if degrees is None else degrees,
        )


def estimate(value: float, se: float, degrees: float) -> Estimate:
    """A number with its p value, which is 1 where there is no spread to judge it by: that must not claim certainty."""
    return Estimate(value, se, degrees, t_p_value(value / se, degrees) if se > 0 else 1.0)


def ols(y: ArrayLike, design: ArrayLike, clusters: ArrayLike) -> Regression | Refusal:
    """Least squares of ``y`` (n numbers) on ``design`` (n x k, with its column of ones), clusters numbered by row.

    Refused with fewer than two clusters, no more rows than columns, columns that depend on each other, or residuals
    that add up to nothing in every cluster: standard errors of zero would claim certainty.
    """
    values, columns, groups = _checked(y, design, clusters)
    refusal = _thin(columns, groups)
    if refusal is not None:
        return refusal
    bread = _inverse(columns.T @ columns)
    coefficients = np.asarray(np.linalg.lstsq(columns, values, rcond=None)[0], dtype=np.float64)
    fitted = columns @ coefficients
    naive = Regression(coefficients, bread, fitted, len(values), int(groups.max()) + 1)
    return _with_covariance(naive, columns, values, groups)


def logit(y: ArrayLike, design: ArrayLike, clusters: ArrayLike) -> Regression | Refusal:
    """Logistic regression of ``y`` (n shares in [0, 1]) on ``design`` (n x k), by iteratively reweighted least squares.

    Coefficients are in log-odds. Refused as ``ols`` is, and where the data are separated: some combination of columns
    tells the ones from the zeros, and coefficients without end would fit best.
    """
    values, columns, groups = _checked(y, design, clusters)
    if ((values < 0) | (values > 1)).any():
        raise ValueError("a logistic regression needs shares in [0, 1]")
    refusal = _thin(columns, groups)
    if refusal is not None:
        return refusal
    coefficients = _climb(values, columns)
    if coefficients is None:
        if separated(values, columns):
            return Refusal("a combination of the covariates separates success from failure: no finite coefficients")
        return Refusal("the logistic regression did not settle on an answer")
    logits = columns @ coefficients
    fitted = _expit(logits)
    weights = fitted * (1 - fitted)
    bread = _inverse((columns * weights[:, None]).T @ columns)
    naive = Regression(coefficients, bread, fitted, len(values), int(groups.max()) + 1)
    return _with_covariance(naive, columns, values, groups)


def average_effect(
    fitted: Regression, design: ArrayLike, column: int, rows: ArrayLike | None = None, degrees: float | None = None
) -> Estimate:
    """What a column of zeros and ones changes on average, as a share, by a logistic regression (a delta-method error).

    The mean over ``rows`` (a mask; all of them if None) of P with the column at 1 less P with it at 0, whatever it is
    in the data; g'Vg for its gradient g is the square of its standard error. ``ValueError`` for no row.
    """
    columns = np.asarray(design, dtype=np.float64)
    if columns.shape != (fitted.n_items, len(fitted.coefficients)):
        raise ValueError(f"a design of shape {columns.shape} for a fit to {fitted.n_items} rows")
    chosen = columns if rows is None else columns[np.asarray(rows, dtype=np.bool_)]
    if not len(chosen):
        raise ValueError("an average effect needs a row to average over")
    changes, gradients = [], []
    for value in (1.0, 0.0):
        at = chosen.copy()
        at[:, column] = value
        solved = _expit(at @ fitted.coefficients)
        changes.append(solved.mean())
        gradients.append((at * (solved * (1 - solved))[:, None]).mean(axis=0))
    gradient = gradients[0] - gradients[1]
    variance = float(gradient @ fitted.covariance @ gradient)
    freedom = fitted.n_clusters - 1 if degrees is None else degrees
    return estimate(float(changes[0] - changes[1]), math.sqrt(max(0.0, variance)), freedom)


def separated(y: ArrayLike, design: ArrayLike) -> bool:
    """Whether some direction of the coefficients never makes the fit of ``y`` worse, and somewhere better.

    Told by a linear programme: the largest sum of s_i x_i b over -1 <= b <= 1 with s_i x_i b >= 0 for rows that are 1
    (s = 1) or 0 (s = -1), and x_i b = 0 for shares between. It is above zero exactly where the data are separated.
    """
    from scipy.optimize import linprog  # type: ignore[import-untyped]

    values, columns = np.asarray(y, dtype=np.float64), np.asarray(design, dtype=np.float64)
    # Columns of one size, so that the solver's tolerance means the same for each.
    columns = columns / np.maximum(np.abs(columns).max(axis=0, initial=0.0), 1e-300)
    whole = (values == 0) | (values == 1)
    signed = columns[whole] * np.where(values[whole] == 1, 1.0, -1.0)[:, None]
    if not len(signed):
        return False
    between = columns[~whole]
    found = linprog(
        -signed.sum(axis=0),
        A_ub=-signed,
        b_ub=np.zeros(len(signed)),
        A_eq=between if len(between) else None,
        b_eq=np.zeros(len(between)) if len(between) else None,
        bounds=(-1, 1),
    )
    return bool(found.status == 0 and -found.fun > 1e-6)


def _climb(values: FloatArray, columns: FloatArray) -> FloatArray | None:
    """The coefficients that maximise the likelihood; None where the steps do not come to an end."""
    coefficients = np.zeros(columns.shape[1])
    logits = np.zeros(len(values))
    height = _log_likelihood(values, logits)
    for _ in range(_MAX_STEPS):
        solved = _expit(logits)
        weights = solved * (1 - solved)
        try:
            step = np.linalg.solve((columns * weights[:, None]).T @ columns, columns.T @ (values - solved))
        except np.linalg.LinAlgError:
            return None
        moved = columns @ step
        length = float(np.abs(moved).max())
        if not math.isfinite(length):
            return None
        share = min(1.0, _LONGEST_STEP / length) if length > 0 else 1.0
        while True:
            following = _log_likelihood(values, logits + share * moved)
            if following >= height - 1e-9 * abs(height) or share < 1e-4:
                break
            share /= 2
        coefficients, logits, height = coefficients + share * step, logits + share * moved, following
        if length < _TOLERANCE:
            return coefficients
    return None


def _with_covariance(
    naive: Regression, columns: FloatArray, values: FloatArray, groups: IntArray
) -> Regression | Refusal:
    """The regression with the sandwich in place of the inverse of X'WX, which is its bread."""
    (n, k), n_clusters, bread = columns.shape, naive.n_clusters, naive.covariance
    sums = np.zeros((n_clusters, k))
    np.add.at(sums, groups, columns * (values - naive.fitted)[:, None])
    factor = n_clusters / (n_clusters - 1) * (n - 1) / (n - k)
    covariance = np.asarray(factor * bread @ (sums.T @ sums) @ bread, dtype=np.float64)
    if (np.diag(covariance) < _NO_SPREAD).any():
        return Refusal("contests do not differ at all from what is fitted: there is no spread to judge by")
    return replace(naive, covariance=covariance)


def _inverse(matrix: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.inv(matrix), dtype=np.float64)


def _thin(columns: FloatArray, groups: IntArray) -> Refusal | None:
    n, k = columns.shape
    n_clusters = int(groups.max(initial=-1)) + 1
    if n_clusters < 2:
        return Refusal(f"needs at least 2 contests, there are {n_clusters}")
    if n <= k:
        return Refusal(f"needs more than {k} problems for {k} coefficients, there are {n}")
    if np.linalg.matrix_rank(columns) < k:
        return Refusal("the covariates depend on each other: one is a combination of the rest, or does not vary")
    return None


def _checked(y: ArrayLike, design: ArrayLike, clusters: ArrayLike) -> tuple[FloatArray, FloatArray, IntArray]:
    """The three as arrays, clusters numbered from 0."""
    values, columns = np.asarray(y, dtype=np.float64), np.asarray(design, dtype=np.float64)
    groups = np.asarray(clusters)
    if values.ndim != 1 or columns.ndim != 2 or len(columns) != len(values) or groups.shape != values.shape:
        raise ValueError(f"{values.shape} values, a design of {columns.shape} and {groups.shape} clusters")
    if not (np.isfinite(values).all() and np.isfinite(columns).all()):
        raise ValueError("a regression needs finite numbers: leave rows without a result out")
    return values, columns, np.unique(groups, return_inverse=True)[1].astype(np.int64)


def _expit(logits: FloatArray) -> FloatArray:
    decay = np.exp(-np.abs(logits))
    return np.asarray(np.where(logits >= 0, 1.0, decay) / (1 + decay), dtype=np.float64)


def _log_likelihood(values: FloatArray, logits: NDArray[np.float64]) -> float:
    return float((values * logits - np.logaddexp(0.0, logits)).sum())
