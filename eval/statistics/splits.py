"""A private part of the problems, chosen by a secret key, and the gap between the public and the private part.

A problem is private if HMAC-SHA256 of its id under the key, read as a fraction of 2^256, is below the share. So the
split needs no list, cannot be guessed without the key, and never changes: adding problems moves none, and a larger
share only adds to the private part. Balance over strata is not forced, for that would make one problem's side depend on
the others; the gap is taken within strata instead.

The gap is a weighted mean over strata of m_public,s - m_private,s, with weights in proportion to
n_public,s * n_private,s / (n_public,s + n_private,s), those of least variance (Cochran 1954, "Some methods for
strengthening the common chi-square tests"). A gap above zero says that a model does better on what the public could
see. Its error is over contests, whose problems may lie on both sides.
"""

from __future__ import annotations

import hashlib
import hmac
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eval.statistics.intervals import t_p_value, t_quantile
from eval.statistics.resampling import contest_numbers

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

MIN_KEY_BYTES = 16
MIN_PROBLEMS = 15
MIN_CONTESTS = 4
WARN_CONTESTS = 8


@dataclass(frozen=True)
class SplitGap:
    """Public less private, of one model (a gap in [-1, 1]) or of the difference of two (in [-2, 2]).

    ``low`` and ``high`` are a 95 % interval by Student's t with contests - 1 degrees of freedom, cut at these limits;
    ``p`` is two-sided.
    Counts are of problems with a result in strata that have problems on both sides; ``n_unmatched`` have a result but
    lie in other strata. All numbers are None with ``refusal``, the error with one of ``cautions``.
    """

    n_public: int
    n_private: int
    n_unmatched: int
    contests_public: int
    contests_private: int
    gap: float | None = None
    se: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    cautions: tuple[str, ...] = ()
    refusal: str | None = None


def private_mask(problem_ids: Iterable[str], key: bytes, share: float) -> BoolArray:
    """Which problems are private, for a share in [0, 1] of all that could ever come.

    The key has at least 16 bytes: ids are public, and a short key could be found from the problems that are shown.
    """
    if len(key) < MIN_KEY_BYTES:
        raise ValueError(f"a key of {len(key)} bytes can be guessed: it needs at least {MIN_KEY_BYTES}")
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"a share lies between 0 and 1, not {share}")
    # share is a whole number of 2^-1074, so the product is exact and share 1 takes all.
    numerator, denominator = share.as_integer_ratio()
    return np.array(
        [_keyed_number(problem_id, key) * denominator < numerator << 256 for problem_id in problem_ids], dtype=bool
    )


def _keyed_number(problem_id: str, key: bytes) -> int:
    return int.from_bytes(hmac.new(key, problem_id.encode("utf-8"), hashlib.sha256).digest(), "big")


def split_gaps(scores: ArrayLike, clusters: ArrayLike, strata: ArrayLike, private: ArrayLike) -> tuple[SplitGap, ...]:
    """The gap of each model, in the order of ``scores`` (models x problems, NaN for no result).

    ``clusters`` and ``strata`` are numbers, one for each problem; ``private`` is a mask over problems. Refused with
    fewer than 15 problems or 4 contests on a side.
    """
    matrix, contests, codes, mask = _checked(scores, clusters, strata, private)
    return tuple(_within(_gap(row, contests, codes, mask), 1.0) for row in matrix)


def gap_difference(
    first: ArrayLike, second: ArrayLike, clusters: ArrayLike, strata: ArrayLike, private: ArrayLike
) -> SplitGap:
    """The gap of one model less that of another, over the problems that both have (one score for each problem).

    Above zero: the first gains more from what is public. Paired, so that what both find hard falls out of the error.
    """
    rows = [np.asarray(row, dtype=np.float64) for row in (first, second)]
    if rows[0].shape != rows[1].shape or rows[0].ndim != 1:
        raise ValueError(f"two models over the same problems, not shapes {rows[0].shape} and {rows[1].shape}")
    matrix, contests, codes, mask = _checked((rows[0] - rows[1])[None, :], clusters, strata, private)
    return _within(_gap(matrix[0], contests, codes, mask), 2.0)


def _within(found: SplitGap, limit: float) -> SplitGap:
    """The interval cut at what a gap can be at all."""
    if found.low is None or found.high is None:
        return found
    return replace(found, low=max(-limit, found.low), high=min(limit, found.high))


def _checked(
    scores: ArrayLike, clusters: ArrayLike, strata: ArrayLike, private: ArrayLike
) -> tuple[FloatArray, NDArray[np.int64], NDArray[np.int64], BoolArray]:
    matrix = np.asarray(scores, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"scores are models x problems, not of shape {matrix.shape}")
    problems = matrix.shape[1]
    mask = np.asarray(private, dtype=bool)
    if mask.shape != (problems,):
        raise ValueError(f"a mask of shape {mask.shape} for {problems} problems")
    return matrix, contest_numbers(clusters, problems), contest_numbers(strata, problems), mask


def _gap(row: FloatArray, contests: NDArray[np.int64], strata: NDArray[np.int64], private: BoolArray) -> SplitGap:
    present = ~np.isnan(row)
    size = int(strata.max(initial=-1)) + 1
    sides = [np.asarray(present & mask) for mask in (~private, private)]
    counts = np.array([np.bincount(strata[side], minlength=size) for side in sides])
    matched = np.asarray((counts > 0).all(axis=0))
    used = present & (matched[strata] if size else present)
    public, secret = sides[0] & used, sides[1] & used
    result = SplitGap(
        int(public.sum()),
        int(secret.sum()),
        int((present & ~used).sum()),
        len(np.unique(contests[public])),
        len(np.unique(contests[secret])),
    )
    refusal = _refusal(result)
    if refusal:
        return replace(result, refusal=refusal)
    weights = np.where(matched, counts[0] * counts[1] / np.maximum(counts.sum(axis=0), 1), 0.0)
    weights /= weights.sum()
    residuals, gap = np.zeros(row.size), 0.0
    for sign, side, number in ((1, public, counts[0]), (-1, secret, counts[1])):
        sums = np.bincount(strata[side], weights=row[side], minlength=size)
        means = np.divide(sums, number, out=np.zeros(size), where=number > 0)
        gap += sign * float((weights * means).sum())
        residuals[side] = sign * (weights / np.maximum(number, 1))[strata[side]] * (row[side] - means[strata[side]])
    return _with_error(replace(result, gap=gap), residuals[used], contests[used])


def _refusal(sizes: SplitGap) -> str | None:
    if min(sizes.n_public, sizes.n_private) < MIN_PROBLEMS:
        there = f"there are {sizes.n_public} public and {sizes.n_private} private"
        return f"needs at least {MIN_PROBLEMS} problems on each side in strata that have both, {there}"
    if min(sizes.contests_public, sizes.contests_private) < MIN_CONTESTS:
        there = f"there are {sizes.contests_public} and {sizes.contests_private}"
        return f"needs at least {MIN_CONTESTS} contests on each side, {there}"
    return None


def _with_error(result: SplitGap, residuals: FloatArray, contests: NDArray[np.int64]) -> SplitGap:
    sums = np.bincount(np.unique(contests, return_inverse=True)[1].reshape(-1), weights=residuals)
    groups = sums.size
    se = math.sqrt(groups / (groups - 1) * float(np.square(sums).sum()))
    if se < 1e-12:
        sentence = "no standard error: no contest differs from the means of its strata"
        return replace(result, cautions=(sentence,))
    gap, half = result.gap or 0.0, t_quantile(groups - 1) * se
    fewest = min(result.contests_public, result.contests_private)
    rough = f"fewer than {WARN_CONTESTS} contests on a side ({fewest}): the interval is rough"
    return replace(
        result,
        se=se,
        low=gap - half,
        high=gap + half,
        p=t_p_value(gap / se, groups - 1),
        cautions=(rough,) if fewest < WARN_CONTESTS else (),
    )
