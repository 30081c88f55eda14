"""Do rank sets and intervals hold what they promise, and how long does a large board take?

    python -m benchmarks.ranks [--repeats 300]

Rank sets: 12 models in 6 groups of equals, contests of 2 to 5 problems that go from easy to hard and differ in
difficulty. A set is right if it holds every rank that ties allow: no model is shown to beat its equal or its better.
Intervals: for shares, exactly, problem by problem; for ``interval``, simulated with contests that differ in difficulty.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eval.statistics.intervals import clopper_pearson, interval, wilson
from eval.statistics.ranks import rank_sets
from eval.statistics.resampling import contest_totals, contest_weights, resampled_means

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Interval = Callable[[int, int], tuple[float, float]]

ABILITIES = np.array([1.5, 1.0, 1.0, 1.0, 0.4, 0.4, 0.4, 0.4, 0.0, 0.0, -0.6, -1.5])
RANK_RULES = ("marginal sets", "simultaneous sets", "bootstrap percentiles")


def jeffreys(share: float, n: float) -> tuple[float, float]:
    """Jeffreys' interval, the rival of Wilson's: the middle 95 % of Beta(x + 1/2, n - x + 1/2), 0 and 1 kept as ends.

    Source: Brown, Cai, DasGupta 2001, "Interval Estimation for a Binomial Proportion", section 3.1.
    """
    from scipy.special import betaincinv  # type: ignore[import-untyped]

    a, b = share * n + 0.5, (1 - share) * n + 0.5
    low = 0.0 if share == 0.0 else float(betaincinv(a, b, 0.025))
    return low, 1.0 if share == 1.0 else float(betaincinv(a, b, 0.975))


SHARE_RULES: dict[str, Interval] = {
    "wilson": lambda x, n: wilson(x / n, n),
    "jeffreys": lambda x, n: jeffreys(x / n, n),
    "clopper": clopper_pearson,
}


@dataclass(frozen=True)
class Coverage:
    """How often a rule's sets were right: for a model on its own, for all models at once; and their mean width."""

    each: float
    at_once: float
    width: float


def simulated_board(n_contests: int, missing: float, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """Scores (12 models x problems, 0 or 1, a share of cells missing) and contest numbers."""
    sizes = rng.integers(2, 6, n_contests)
    clusters = np.repeat(np.arange(n_contests), sizes)
    steps = np.concatenate([np.linspace(-1.5, 2.0, size) for size in sizes])
    difficulty = steps + rng.normal(0, 0.7, n_contests)[clusters] + rng.normal(0, 0.5, len(clusters))
    taste = rng.normal(0, 0.5, (len(ABILITIES), len(clusters)))
    chance = 1 / (1 + np.exp(difficulty - taste - ABILITIES[:, None]))
    scores = (rng.random(chance.shape) < chance).astype(np.float64)
    scores[rng.random(chance.shape) < missing] = np.nan
    return scores, clusters


def rank_coverage(
    n_contests: int, repeats: int, rng: np.random.Generator, *, missing: float = 0.0, draws: int = 1000
) -> dict[str, Coverage]:
    """Coverage by rule; boards for which ranks are refused are drawn again."""
    true_low = 1 + np.array([(own < ABILITIES).sum() for own in ABILITIES])
    true_high = len(ABILITIES) - np.array([(own > ABILITIES).sum() for own in ABILITIES])
    right: dict[str, list[NDArray[np.bool_]]] = {rule: [] for rule in RANK_RULES}
    widths: dict[str, list[float]] = {rule: [] for rule in RANK_RULES}
    while len(right[RANK_RULES[0]]) < repeats:
        scores, clusters = simulated_board(n_contests, missing, rng)
        found = rank_sets(scores, clusters, rng, draws=draws)
        sets = [one for one in found.sets if one is not None]
        if len(sets) < len(ABILITIES):
            continue
        ends = (
            np.array([(one.low, one.high) for one in sets]).T,
            np.array([(one.simultaneous_low, one.simultaneous_high) for one in sets]).T,
            percentile_ranks(scores, clusters, rng, draws),
        )
        for rule, (low, high) in zip(RANK_RULES, ends, strict=True):
            right[rule].append((low <= true_low) & (high >= true_high))
            widths[rule].append(float((high - low + 1).mean()))
    return {
        rule: Coverage(
            float(np.mean(right[rule])), float(np.mean(np.all(right[rule], axis=1))), float(np.mean(widths[rule]))
        )
        for rule in RANK_RULES
    }


def percentile_ranks(scores: FloatArray, clusters: IntArray, rng: np.random.Generator, draws: int) -> FloatArray:
    """What is often done instead: the middle 95 % of a model's ranks over resampled boards. Lower and upper ends."""
    totals = contest_totals(scores, clusters)
    means = resampled_means(totals, contest_weights(totals.sums.shape[1], draws, rng))
    ranks = 1 + (means[:, None, :] > means[:, :, None] + 1e-12).sum(axis=2)
    return np.asarray(np.quantile(ranks, [0.025, 0.975], axis=0))


def share_coverage(rule: Interval, n: int, p: float) -> float:
    """How often an interval for a share holds p, for n independent problems: a sum over all outcomes, no simulation."""
    from scipy.stats import binom  # type: ignore[import-untyped]

    held = [low <= p <= high for low, high in (rule(x, n) for x in range(n + 1))]
    return float(binom.pmf(np.arange(n + 1), n, p)[held].sum())


def interval_coverage(
    n_contests: int, spread: float, repeats: int, rng: np.random.Generator, mean: float = 0.0
) -> tuple[float, float]:
    """How often ``interval`` holds the truth, and its mean width, for contests of 4 problems.

    Contests differ in difficulty with a standard deviation of ``spread`` on the logit scale, around ``mean``.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    truth = float((weights / (1 + np.exp(-mean - spread * nodes))).sum() / weights.sum())
    clusters = np.repeat(np.arange(n_contests), 4).tolist()
    held, width = 0, 0.0
    for _ in range(repeats):
        chance = 1 / (1 + np.exp(-mean - spread * rng.normal(size=n_contests)))
        values = (rng.random(4 * n_contests) < np.repeat(chance, 4)).astype(np.float64)
        found = interval(values, clusters)
        if found.low is not None and found.high is not None:
            held += found.low <= truth <= found.high
            width += found.high - found.low
    return held / repeats, width / repeats


def large_board(rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """100 models on 5,000 problems of 1,500 contests, 60 % of the cells missing, 10 samples each."""
    ability, difficulty = rng.normal(size=(100, 1)), rng.normal(0, 1.5, 5000)
    scores = rng.binomial(10, 1 / (1 + np.exp(difficulty - ability))) / 10
    scores[rng.random(scores.shape) < 0.6] = np.nan
    return scores, rng.integers(0, 1500, 5000)


def peak_mb() -> float:
    """The most memory that this process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure_speed() -> None:
    """Time and memory of a full table (means, intervals, rank sets) and of resampled means on the large board."""
    scores, clusters = large_board(np.random.default_rng(1))
    before, started, worked = peak_mb(), time.monotonic(), time.process_time()
    for row in scores:
        has = ~np.isnan(row)
        interval(row[has], clusters[has].tolist())
    found = rank_sets(scores, clusters, np.random.default_rng(0))
    wall, processor = time.monotonic() - started, time.process_time() - worked
    print(
        f"table of 100 models x 5,000 problems, 60 % missing, intervals and rank sets from {found.draws} draws: "
        f"{wall:.1f} s, {processor:.1f} s of processor, {peak_mb():.0f} MB at most ({before:.0f} MB before)"
    )
    started = time.monotonic()
    totals = contest_totals(scores, clusters)
    resampled_means(totals, contest_weights(totals.sums.shape[1], 2000, np.random.default_rng(0)))
    print(f"means of the same under 2,000 draws: {time.monotonic() - started:.1f} s, {peak_mb():.0f} MB at most")


def main() -> None:
    """Run it and print one line for each figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--repeats", type=int, default=300)
    repeats = parser.parse_args().repeats
    measure_speed()
    for n_contests, missing in ((12, 0.0), (25, 0.0), (60, 0.0), (60, 0.4)):
        found = rank_coverage(n_contests, repeats, np.random.default_rng(n_contests), missing=missing)
        print(f"ranks of 12 models, {n_contests} contests, {missing:.0%} missing; coverage per model / all at once:")
        for rule, one in found.items():
            print(f"    {rule:22} {one.each:.3f} / {one.at_once:.3f}, mean width {one.width:.1f}")
    for n in (5, 10, 20, 50, 100):
        for p in (0.02, 0.1, 0.5):
            shown = ", ".join(f"{name} {share_coverage(rule, n, p):.3f}" for name, rule in SHARE_RULES.items())
            print(f"intervals of a share, {n} problems, p {p}: {shown}")
    for spread in (0.0, 0.7, 1.5):
        for n_contests in (2, 3, 5, 7, 8, 15, 30, 60):
            held, width = interval_coverage(n_contests, spread, repeats, np.random.default_rng(n_contests))
            print(f"interval, {n_contests} contests that differ by {spread}: {held:.3f}, mean width {width:.3f}")


if __name__ == "__main__":
    main()
