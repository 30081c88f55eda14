"""How fast item response fits are, and whether equated scores are right where models answered different problems.

    python -m benchmarks.item_response [--masks 40] [--data ../shared/data]

Speed: 100 models on 5,000 problems, 60 % of the cells missing. Linking: on a complete recorded board each model gets a
random cut-off, and what is left (about 55 % of the cells) has to give back the means over all problems; estimates are
compared with raw means and with the window that all models share. Intervals: the same masks on the recorded board, and
on boards drawn from a fit to it, where the model of item response holds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.judging import ROOT
from benchmarks.ranks import large_board, peak_mb
from eval.statistics.irt import Fit, Kind, fit
from eval.statistics.irt_sampling import refits
from eval.statistics.linking import equate, reference_means
from tests.eval.statistics.boards import Board, board

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

BOARD = "lcb_v5_2025-01-15"
LEAST_COMMON = 100
METHODS = ("raw mean", "common window", "1PL", "2PL", "2PL, quarters")


@dataclass(frozen=True)
class Recovery:
    """How well a method gives back the means over all problems, on average over masks.

    ``rho`` is Spearman's correlation, ``error`` the mean absolute error after the level common to all models is taken
    away, ``level`` that level (estimate minus truth); both as shares.
    """

    rho: float
    error: float
    level: float


@dataclass(frozen=True)
class Held:
    """How often 95 % intervals held the mean over the reference set, and how wide they were."""

    coverage: float
    width: float


def quarters(of: Board) -> NDArray[np.int64]:
    """The quarter of the year of each problem, counted from 1970."""
    return np.asarray(of.dates.astype("datetime64[M]").astype(np.int64) // 3, dtype=np.int64)


def cutoff_masks(of: Board, count: int, rng: np.random.Generator) -> Iterator[BoolArray]:
    """``count`` masks of the cells (models x problems) after a cut-off drawn for each model.

    A cut-off is any day, with equal chances, from the board's first to the last one that leaves 100 problems.
    """
    days = of.dates.astype(np.int64)
    latest = np.sort(days)[-LEAST_COMMON]
    for _ in range(count):
        cutoffs = rng.integers(days.min(), latest, len(of.models), endpoint=True)
        yield np.asarray(days >= cutoffs[:, None])


def linking_study(of: Board, masks: int, rng: np.random.Generator) -> tuple[dict[str, Recovery], float]:
    """Recovery of the means over all problems by method, and the share of cells seen."""
    truth, everything = of.scores.mean(axis=1), np.ones(len(of.problems), dtype=np.bool_)
    found: dict[str, list[Recovery]] = {method: [] for method in METHODS}
    seen = []
    for mask in cutoff_masks(of, masks, rng):
        scores = np.where(mask, of.scores, np.nan)
        plain = fit(scores)
        estimates = (
            np.nanmean(scores, axis=1),
            of.scores[:, mask.all(axis=0)].mean(axis=1),
            reference_means(fit(scores, Kind.ONE_PL), everything),
            reference_means(plain, everything),
            reference_means(fit(scores, strata=quarters(of), start=plain), everything),
        )
        for method, estimate in zip(METHODS, estimates, strict=True):
            found[method].append(_recovery(estimate, truth))
        seen.append(float(mask.mean()))
    averages = {
        method: Recovery(*np.mean([(one.rho, one.error, one.level) for one in all_of_it], axis=0).tolist())
        for method, all_of_it in found.items()
    }
    return averages, float(np.mean(seen))


def _recovery(estimate: FloatArray, truth: FloatArray) -> Recovery:
    from scipy.stats import spearmanr  # type: ignore[import-untyped]

    apart = estimate - truth
    level = float(apart.mean())
    return Recovery(float(spearmanr(estimate, truth).statistic), float(np.abs(apart - level).mean()), level)


def interval_study(
    of: Board, masks: int, rng: np.random.Generator, *, simulated: bool, strata: bool, draws: int = 40
) -> Held:
    """Whether intervals of equated scores hold the mean over the problems of the reference set."""
    chance = fit(of.scores).predict()
    held, widths = [], []
    for mask in cutoff_masks(of, masks, rng):
        scores = (rng.random(chance.shape) < chance).astype(np.float64) if simulated else of.scores
        groups = quarters(of) if strata else None
        reference = mask.any(axis=0)
        found = equate(np.where(mask, scores, np.nan), of.contests, reference, rng, draws, groups)
        truth = scores[:, reference].mean(axis=1)
        for one, value in zip(found.scores, truth.tolist(), strict=True):
            if one.low is not None and one.high is not None:
                held.append(one.low <= value <= one.high)
                widths.append(one.high - one.low)
    return Held(float(np.mean(held)), float(np.mean(widths)))


def measure_speed() -> None:
    """Time and memory of fits, refits and equated scores on the large board."""
    rng = np.random.default_rng(1)
    scores, clusters = large_board(rng)
    before = peak_mb()
    reference = np.ones(scores.shape[1], dtype=np.bool_)

    def refitted(start: Fit) -> int:
        return sum(drawn.converged for drawn in refits(start, scores, clusters, 20, rng))

    fitted = fit(scores)
    steps: dict[str, Callable[[], object]] = {
        "1PL": lambda: fit(scores, Kind.ONE_PL),
        "2PL": lambda: fit(scores),
        "20 refits of the 2PL to contests drawn anew": lambda: refitted(fitted),
        "equated scores, 20 draws": lambda: equate(scores, clusters, reference, rng, 20),
    }
    print(f"100 models x 5,000 problems, 60 % missing ({before:.0f} MB before)")
    for name, step in steps.items():
        started, worked = time.monotonic(), time.process_time()
        step()
        wall, processor = time.monotonic() - started, time.process_time() - worked
        print(f"    {name}: {wall:.1f} s, {processor:.1f} s of processor, {peak_mb():.0f} MB at most", flush=True)


def main() -> None:
    """Run it and print one line for each figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--masks", type=int, default=40)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    options = parser.parse_args()
    measure_speed()
    if not (options.data / "leaderboards").is_dir():
        print(f"no recorded boards in {options.data}: nothing to link")
        return
    recorded = board(options.data, BOARD)
    found, seen = linking_study(recorded, options.masks, np.random.default_rng(0))
    print(f"{options.masks} masks, {seen:.0%} of the cells seen; rank correlation, error and level in points:")
    for method, one in found.items():
        print(f"    {method:14} {one.rho:.3f}, {100 * one.error:.1f}, {100 * one.level:+.1f}")
    for simulated in (True, False):
        for strata in (False, True):
            held = interval_study(recorded, options.masks, np.random.default_rng(0), simulated=simulated, strata=strata)
            print(
                f"intervals on {'simulated boards' if simulated else 'the recorded board'}"
                f"{', quarters' if strata else ''}: {held.coverage:.3f}, mean width {100 * held.width:.1f} points"
            )


if __name__ == "__main__":
    main()
