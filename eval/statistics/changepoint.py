"""Where a model's advantage over its peers breaks off, when nobody says where to look.

``scan`` looks at the difference between a model and its controls on each problem (``differences``). At each boundary
between contests, t is the mean before it less the mean after it over its standard error by contest; the break is where
t is largest (one-sided: only a drop is looked for). Because the largest of many t is large by chance, p is found by
putting the contests in random order, and p alone is to be read: t has no factor for small samples.

Where problems become harder, a model much stronger than its controls breaks off from them without having seen anything.
A scan is believed where the controls bracket the model, and none of them has a break from the others
(:mod:`eval.statistics.breaks`).

The set of dates holds the boundaries whose log-likelihood is within 1.92 (half the 95 % quantile of chi-squared with
one degree of freedom) of the best. It takes problems for independent, and is a guide more than a confidence set.

Sources: Andrews 1993, "Tests for parameter instability and structural change with unknown change point"; Hansen 2000
for sets by likelihood.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eval.statistics.gap import MIN_CONTESTS
from eval.statistics.scores import FloatArray, IntArray

BoolArray = NDArray[np.bool_]

TRIMMING = 0.15
PERMUTATIONS = 2000
WITHIN = 1.92
_CHUNK_CELLS = 1_000_000


@dataclass(frozen=True)
class Break:
    """The most likely break of one model, on ``n_items`` problems of ``n_contests`` contests.

    It lies between the contests at ``last_before`` and ``first_after`` (times as given). ``gap`` is a share (0.05: five
    points), ``t`` its ratio to a standard error without a factor for small samples: not to be read by itself. ``p`` is
    the share of random orders of the contests with a t as large. The set of dates: the break lies after ``earliest``
    and before ``latest``, contests both. ``n_boundaries`` were looked at; with a ``refusal`` there was none, and all
    but the counts is None.
    """

    n_items: int
    n_contests: int
    n_boundaries: int
    last_before: float | None = None
    first_after: float | None = None
    gap: float | None = None
    t: float | None = None
    p: float | None = None
    earliest: float | None = None
    latest: float | None = None
    refusal: str | None = None


@dataclass(frozen=True, eq=False)
class _Contests:
    """In the order of their times: sums of a model's differences and numbers of its problems, and where one may cut.

    ``cuts`` holds for each place k whether a boundary may follow the first k + 1 contests: those at one time stay
    together.
    """

    sums: FloatArray
    counts: FloatArray
    times: FloatArray
    cuts: BoolArray


def differences(tested: ArrayLike, controls: ArrayLike) -> FloatArray:
    """A model's score less the mean of its controls' (models x problems), by problem; NaN where one has no result."""
    scores, peers = np.asarray(tested, dtype=np.float64), np.asarray(controls, dtype=np.float64)
    if scores.ndim != 1 or peers.ndim != 2 or peers.shape[1] != scores.size or not len(peers):
        raise ValueError(f"scores of shape {scores.shape}, and of the controls {peers.shape}")
    return np.asarray(scores - peers.mean(axis=0), dtype=np.float64)


def scan(values: ArrayLike, clusters: ArrayLike, times: ArrayLike, rng: np.random.Generator) -> Break:
    """The break of a model: ``values`` are its differences from its controls on each problem, NaN = left out.

    Boundaries leave 15 % of its problems, and 4 contests, on either side. They run between contests, whose time is that
    of their earliest problem. p is by 2,000 orders. Refused where no boundary is left.
    """
    differing, groups, moments = _checked(values, clusters, times)
    contests = _in_order(differing, groups, moments)
    observed, gaps = _statistics(contests.sums[None], contests.counts[None], contests.cuts)
    allowed = np.flatnonzero(np.isfinite(observed[0]))
    sizes = differing.size, contests.times.size
    if not allowed.size:
        need = f"needs a boundary with {MIN_CONTESTS} contests and {TRIMMING:.0%} of the problems on each side"
        return Break(*sizes, 0, refusal=f"{need}; there are {contests.times.size} contests")
    place = int(observed[0].argmax())
    low, high = _set_of_dates(contests, differing, gaps[0], allowed, place)
    return Break(
        *sizes,
        int(allowed.size),
        float(contests.times[place]),
        float(contests.times[place + 1]),
        float(gaps[0, place]),
        float(observed[0, place]),
        _p_value(contests, float(observed[0, place]), rng),
        float(contests.times[low]),
        float(contests.times[high + 1]),
    )


def is_later_than(found: Break, cutoff: float) -> bool | None:
    """Whether even the earliest break of the set has a contest before it that is from after ``cutoff``, its latest end.

    That is what training data past the declared date look like. None without a break.
    """
    return None if found.earliest is None else found.earliest > cutoff


def _p_value(contests: _Contests, largest: float, rng: np.random.Generator) -> float:
    """The share of random orders of the contests, this one included, with a largest t no smaller."""
    reached, step = 1, max(1, _CHUNK_CELLS // contests.times.size)
    for start in range(0, PERMUTATIONS, step):
        rows = min(step, PERMUTATIONS - start)
        order = rng.permuted(np.tile(np.arange(contests.times.size), (rows, 1)), axis=1)
        drawn, _ = _statistics(contests.sums[order], contests.counts[order], contests.cuts)
        # Rounding must not make an order that is the same, or its mirror, come out smaller.
        reached += int((drawn.max(axis=1) >= largest - 1e-9).sum())
    return reached / (PERMUTATIONS + 1)


def _in_order(values: FloatArray, groups: IntArray, moments: FloatArray) -> _Contests:
    index = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    n_contests = int(index.max(initial=-1)) + 1
    first = np.full(n_contests, np.inf)
    np.minimum.at(first, index, moments)
    order = np.argsort(first, kind="stable")
    times = first[order]
    return _Contests(
        _total(index, values, n_contests)[order],
        _total(index, np.ones(values.size), n_contests)[order],
        times,
        np.append(np.diff(times) > 0, False),
    )


def _total(index: IntArray, values: FloatArray, n_contests: int) -> FloatArray:
    return np.asarray(np.bincount(index, values, minlength=n_contests), dtype=np.float64)


def _statistics(sums: FloatArray, counts: FloatArray, cuts: BoolArray) -> tuple[FloatArray, FloatArray]:
    """t and the gap after each place of each order (orders x contests); t is -inf where no boundary may be.

    With contests wholly on one side, the clustered variance is the sum over contests of (sum - count * mean)^2 / n^2
    for each side. The factor for small samples is left out: it is the same for all boundaries and orders.
    """
    parts = [np.cumsum(each, axis=1) for each in (sums, counts, sums**2, sums * counts, counts**2)]
    n_contests = sums.shape[1]
    position = np.arange(1, n_contests + 1)
    total = parts[1][:, -1:] if n_contests else np.zeros((len(sums), 1))
    allowed = cuts & (position >= MIN_CONTESTS) & (n_contests - position >= MIN_CONTESTS)
    allowed = allowed & (parts[1] >= TRIMMING * total) & (total - parts[1] >= TRIMMING * total)
    means, variances = [], []
    for side in (parts, [each[:, -1:] - each for each in parts]):
        of_sums, n, squares, crossed, sizes = side
        n = np.where(allowed, n, 1.0)
        mean = of_sums / n
        means.append(mean)
        variances.append((squares - 2 * mean * crossed + mean**2 * sizes) / n**2)
    gap, variance = means[0] - means[1], variances[0] + variances[1]
    # No spread at all is no certainty: such a boundary is passed over.
    allowed = allowed & (variance > 1e-18)
    t = np.where(allowed, gap / np.sqrt(np.where(allowed, variance, 1.0)), -math.inf)
    return t, gap


def _set_of_dates(
    contests: _Contests, values: FloatArray, gaps: FloatArray, allowed: NDArray[np.intp], place: int
) -> tuple[int, int]:
    """First and last place within 1.92 of the best log-likelihood of a normal model, over drops; with the break's."""
    n, total = values.size, float(values.sum())
    sums, counts = np.cumsum(contests.sums)[allowed], np.cumsum(contests.counts)[allowed]
    residual = float(np.square(values).sum()) - sums**2 / counts - (total - sums) ** 2 / (n - counts)
    likelihood = -n / 2 * np.log(np.maximum(residual, 1e-300))
    drops = gaps[allowed] > 0
    if not drops.any():
        return place, place
    within = allowed[drops & (likelihood >= likelihood[drops].max() - WITHIN)]
    return min(place, int(within.min())), max(place, int(within.max()))


def _checked(values: ArrayLike, clusters: ArrayLike, times: ArrayLike) -> tuple[FloatArray, IntArray, FloatArray]:
    """The problems that are not left out."""
    row, groups = np.asarray(values, dtype=np.float64), np.asarray(clusters)
    moments = np.asarray(times, dtype=np.float64)
    if row.ndim != 1 or groups.shape != row.shape or moments.shape != row.shape:
        raise ValueError(f"values {row.shape}, clusters {groups.shape}, times {moments.shape}: one each a problem")
    seen = np.isfinite(row)
    if not np.isfinite(moments[seen]).all():
        raise ValueError("each problem needs a time")
    return row[seen], groups[seen].astype(np.int64), moments[seen]
