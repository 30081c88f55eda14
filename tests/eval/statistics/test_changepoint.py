"""Breaks without a given date: recorded scans, a plain implementation as oracle, simulations and refusals."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from eval.statistics.changepoint import (
    Break,
    differences,
    is_later_than,
    scan,
)
from eval.statistics.multiplicity import benjamini_hochberg, holm
from eval.statistics.run_health import easy_guard, withheld_cells
from tests.eval.statistics.boards import board, table
from tests.eval.statistics.recorded_gaps import (
    V1,
    V6,
    best_break,
    day,
    days,
    instants,
    part,
    unrelated,
    v1_controls,
    v6_controls,
)

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def number(value: float | None) -> float:
    assert value is not None
    return value


def recorded_scan(data: Path, platform: str) -> dict[str, Break]:
    whole = board(data, V1)
    chosen = part(whole, platform)
    of, moments, controls = whole.take(chosen), days(instants(data, V1)[chosen]), v1_controls(data)
    found, rng = {}, np.random.default_rng(0)
    for model in of.models:
        peers = np.array([of.row(name) for name in controls if name != model])
        found[model] = scan(differences(of.row(model), peers), of.contests, moments, rng)
    return found


@pytest.mark.parametrize("platform", ["leetcode", "atcoder"])
def test_the_recorded_scan_of_45_models(shared_data: Path, platform: str) -> None:
    found = recorded_scan(shared_data, platform)
    rows = [row for row in table(shared_data, "lcb_v1_changepoint_scan") if row["platform"] == platform]
    assert len(rows) == 45
    for row in rows:
        one = found[row["model"]]
        assert (one.last_before, one.first_after) == (day(row["tau_hat"]), day(row["next_contest"]))
        assert (one.gap, one.t) == pytest.approx((float(row["gap"]), float(row["sup_t"])), abs=6e-5)
        # Both are shares of 2,000 random orders: four standard errors of their difference.
        p = float(row["p_perm"])
        assert one.p == pytest.approx(p, abs=4 * math.sqrt(2 * p * (1 - p) / 2000) + 1e-4)
    smallest = [number(one.p) for one in found.values()]
    flagged = {model for model, p in zip(found, holm(smallest), strict=True) if p < 0.05}
    assert flagged == {row["model"] for row in rows if float(row["p_holm"]) < 0.05}
    assert len(flagged) == (10 if platform == "leetcode" else 0)
    if platform == "leetcode":
        expected = {row["model"] for row in rows if float(row["p_bh"]) < 0.05}
        assert {model for model, p in zip(found, benjamini_hochberg(smallest), strict=True) if p < 0.05} == expected


def test_the_dates_of_two_breaks(shared_data: Path) -> None:
    found = recorded_scan(shared_data, "leetcode")
    first, second = found["DSCoder-33b-Base"], found["CodeQwen15-7B"]
    assert (first.last_before, first.first_after) == (day("2023-08-27"), day("2023-09-02"))
    assert (first.earliest, first.latest) == (first.last_before, first.first_after)
    assert (second.last_before, second.first_after) == (day("2023-11-18"), day("2023-11-25"))
    # The cut-off that the board gave to both is the end of August: one broke off later.
    assert is_later_than(second, day("2023-08-31"))
    assert is_later_than(first, day("2023-08-31")) is False


@pytest.mark.parametrize(
    ("name", "end", "last"),
    [("lcb_v6_changepoint", "2026-01", "2025-04"), ("lcb_v6_changepoint_to2024-12", "2025-01", "2024-12")],
)
def test_the_recorded_break_months(shared_data: Path, name: str, end: str, last: str) -> None:
    """Problems from November 2023 on; months with about 80 problems or more on either side."""
    whole, moments = board(shared_data, V6), instants(shared_data, V6)
    chosen = part(whole, "all") & (moments >= np.datetime64("2023-11-01")) & (moments < np.datetime64(end))
    of, controls = whole.take(chosen), v6_controls(shared_data)
    months = [day(str(month)) for month in np.arange(np.datetime64("2024-02"), np.datetime64(last))]
    rows = table(shared_data, name)
    assert len(rows) == 9
    for row in rows:
        model = row["model"]
        best, gain, gap, within = best_break(of, model, unrelated(model, controls), days(moments[chosen]), months)
        assert best == day(row["best_break_first_clean_month"])
        printed = (float(row["delta_loglik"]), float(row["logit_gap"]), float(row["se"]))
        assert (gain, gap.value, gap.se) == pytest.approx(printed, abs=0.0051)
        first, _, second = row["support_set"].partition("..")
        assert within == (day(first), day(second))


def test_the_guard_moves_a_break_from_broken_months_to_july_2024(shared_data: Path) -> None:
    """From end to end: the months that the guard withholds are left out, and the break is where it is declared."""
    of, moments = board(shared_data, V6), instants(shared_data, V6)
    periods = np.asarray(moments.astype("datetime64[M]").astype(np.int64))
    withheld = withheld_cells(easy_guard(of.scores, of.difficulties == "easy", periods), periods, len(of.models))
    controls, sound = v6_controls(shared_data), ~withheld[of.models.index("DeepSeek-V3")]
    inside = part(of, "all") & (moments >= np.datetime64("2023-11-01"))
    months = [day(str(month)) for month in np.arange(np.datetime64("2024-02"), np.datetime64("2025-04"))]
    found = [
        best_break(of.take(chosen), "DeepSeek-V3", controls, days(moments[chosen]), months)
        for chosen in (inside, inside & sound)
    ]
    assert [best for best, *_ in found] == [day("2025-03-01"), day("2024-07-01")]
    assert found[1][-1] == (day("2024-07-01"), day("2024-08-01"))


def plain(values: FloatArray, clusters: IntArray, times: FloatArray, trimming: float) -> list[tuple[float, float]]:
    """Times and t of the boundaries of one model, from the sandwich written out."""
    found = []
    for moment in np.unique(times)[:-1]:
        before = times <= moment
        sides_ = [np.unique(clusters[half]).size for half in (before, ~before)]
        if min(sides_) < 4 or min(before.sum(), (~before).sum()) < trimming * values.size:
            continue
        design = np.column_stack([np.ones(values.size), before])
        bread = np.linalg.inv(design.T @ design)
        coefficients = bread @ design.T @ values
        scores = design * (values - design @ coefficients)[:, None]
        meat = sum(
            np.outer(total, total)
            for total in (scores[clusters == cluster].sum(axis=0) for cluster in np.unique(clusters))
        )
        covariance = bread @ meat @ bread
        found.append((float(moment), float(coefficients[1] / math.sqrt(covariance[1, 1]))))
    return found


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_plain_implementation_finds_the_same(seed: int) -> None:
    rng = np.random.default_rng(seed)
    contests = int(rng.integers(10, 25))
    clusters = np.repeat(np.arange(contests), rng.integers(1, 5, contests))
    # Two contests may be at one time: no boundary runs between them.
    times = np.sort(rng.integers(0, 20, contests)).astype(float)[clusters]
    values = rng.normal(size=(2, clusters.size))
    values[1, rng.random(clusters.size) < 0.2] = np.nan
    for row in values:
        one = scan(row, clusters, times, rng)
        seen = np.isfinite(row)
        expected = plain(row[seen], clusters[seen], times[seen], 0.15)
        assert one.n_boundaries == len(expected)
        assert (one.n_items, one.n_contests) == (seen.sum(), np.unique(clusters[seen]).size)
        assert (one.refusal is None) == bool(expected)
        if expected:
            moment, t = max(expected, key=lambda pair: pair[1])
            assert one.t == pytest.approx(t)
            assert one.last_before == moment


def test_p_by_all_orders() -> None:
    """Eight contests of one problem: one boundary, and p is the share of the 70 ways to choose four that do as well."""
    values = np.array([0.9, 0.5, 0.7, 0.1, 0.3, 0.2, 0.6, 0.0])
    found = scan(values, np.arange(8), np.arange(8), np.random.default_rng(1))
    reached = []
    for chosen in itertools.combinations(range(8), 4):
        before = np.isin(np.arange(8), chosen)
        halves = [values[half] for half in (before, ~before)]
        variance = sum(np.square(half - half.mean()).sum() / 16 for half in halves)
        reached.append(float((halves[0].mean() - halves[1].mean()) / math.sqrt(variance)))
    assert found.n_boundaries == 1
    assert found.t == pytest.approx(reached[0])
    exact = float(np.mean([t >= reached[0] - 1e-9 for t in reached]))
    # Four standard errors of a share of 2,000 draws.
    assert found.p == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 2000))


def test_a_break_is_found_where_it_is() -> None:
    rng = np.random.default_rng(2)
    clusters = np.repeat(np.arange(50), 3)
    values = rng.normal(0, 0.3, (3, 150))
    values[0] += 0.5 * (clusters < 20)
    values[2] -= 0.5 * (clusters < 20)
    found = [scan(row, clusters, clusters, rng) for row in values]
    assert abs(number(found[0].last_before) - 19) <= 1
    assert number(found[0].earliest) <= 19 < number(found[0].latest)
    assert found[0].p == pytest.approx(1 / 2001)
    assert found[0].gap == pytest.approx(0.5, abs=0.15)
    # Noise is not significant, and a rise is no drop.
    assert number(found[1].p) > 0.05
    assert number(found[2].p) > 0.5


def test_differences_from_controls() -> None:
    found = differences([0.5, 1.0, np.nan, 0.5], [[0.0, 0.5, 1.0, np.nan], [1.0, 0.25, 0.0, 0.5]])
    assert found[:2].tolist() == [0.0, 0.625]
    assert np.isnan(found[2:]).all()
    for tested, controls in (([0.5], [[True, True]]), ([0.5], [0.5]), ([0.5], np.empty((0, 1)))):
        with pytest.raises(ValueError, match="of the controls"):
            differences(tested, controls)


def test_what_cannot_be_scanned_is_refused() -> None:
    rng = np.random.default_rng(3)
    few = scan(rng.normal(size=14), np.arange(14) // 2, np.arange(14) // 2, rng)
    assert few.refusal == "needs a boundary with 4 contests and 15% of the problems on each side; there are 7 contests"
    assert (few.n_items, few.n_contests, few.n_boundaries) == (14, 7, 0)
    assert (few.t, few.p, few.last_before) == (None, None, None)
    assert is_later_than(few, 3.0) is None
    empty = scan(np.full(40, np.nan), np.arange(40), np.arange(40), rng)
    assert empty.refusal is not None
    # The same difference everywhere has no spread.
    assert scan(np.full(40, 0.25), np.arange(40), np.arange(40), rng).refusal is not None


def test_misuse() -> None:
    rng = np.random.default_rng(5)
    with pytest.raises(ValueError, match="needs a time"):
        scan(np.zeros(2), [0, 1], [0.0, np.nan], rng)
    with pytest.raises(ValueError, match="one each a problem"):
        scan(np.zeros(3), [0, 1], [0.0, 1.0], rng)
