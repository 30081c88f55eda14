"""Standard errors and intervals, by hand and against recorded tables."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.ranks import SHARE_RULES, interval_coverage, jeffreys, share_coverage
from eval.statistics.intervals import (
    IntervalMethod,
    clopper_pearson,
    cluster_se,
    effective_n,
    interval,
    item_se,
    t_p_value,
    t_quantile,
    wilson,
)
from tests.eval.facts import matrix, utc
from tests.eval.statistics.boards import table


def test_samples_of_one_problem_are_not_problems() -> None:
    # 5/5, 4/5, 1/5 and 0/5: over the four problems 0.2380, not the 0.1147 of twenty pooled samples.
    assert item_se([1.0, 0.8, 0.2, 0.0]) == pytest.approx(0.2380, abs=5e-5)
    assert item_se([1.0]) is None


def test_clusters_by_hand() -> None:
    # mean 0.5, residual sums +1 and -1: se^2 = 2/1 * (1 + 1) / 16.
    assert cluster_se([1.0, 1.0, 0.0, 0.0], ["a", "a", "b", "b"]) == pytest.approx(0.5)
    assert cluster_se([1.0, 0.0, 0.5], "abc") == pytest.approx(item_se([1.0, 0.0, 0.5]))
    assert cluster_se([1.0, 0.0], ["a", "a"]) is None
    assert cluster_se([], []) is None
    with pytest.raises(ValueError, match="2 clusters"):
        cluster_se([1.0], ["a", "b"])


def test_known_wilson_intervals() -> None:
    assert wilson(145 / 279, 279) == pytest.approx((0.461, 0.578), abs=5e-4)
    assert wilson(0.0, 10) == pytest.approx((0.0, 0.2775), abs=5e-5)
    assert wilson(1.0, 10) == pytest.approx((0.7225, 1.0), abs=5e-5)
    assert wilson(0.5, 10)[1] - 0.5 == pytest.approx(0.263, abs=5e-4)
    with pytest.raises(ValueError, match="no interval"):
        wilson(0.5, 0)


def test_t_quantiles() -> None:
    assert t_quantile(1) == pytest.approx(12.706, abs=1e-3)
    assert t_quantile(60) == pytest.approx(2.0003, abs=1e-4)
    assert t_quantile(9, 0.8) == pytest.approx(0.8834, abs=1e-4)
    assert t_p_value(2.0003, 60) == t_p_value(-2.0003, 60) == pytest.approx(0.05, abs=1e-5)
    assert t_p_value(0.0, 3) == 1.0


def test_exact_and_jeffreys_intervals_against_statsmodels() -> None:
    """statsmodels 0.15.0, proportion_confint with "beta" and "jeffreys"; ends at 0 and 1 are kept at 0 and 1 here."""
    assert clopper_pearson(0, 76) == pytest.approx((0.0, 0.04737875386693076))
    assert clopper_pearson(0, 76)[1] == pytest.approx(1 - 0.025 ** (1 / 76))
    assert clopper_pearson(3, 20) == pytest.approx((0.0320709371854637, 0.37892682654531396))
    assert clopper_pearson(10, 10) == pytest.approx((0.6915028921812392, 1.0))
    assert jeffreys(0.0, 76) == pytest.approx((0.0, 0.0324063301850229))
    assert jeffreys(3 / 20, 20) == pytest.approx((0.04413134197515587, 0.348577710858454))
    assert jeffreys(19 / 20, 20) == pytest.approx((0.7891813637507349, 0.9945509674185734))
    assert jeffreys(1.0, 10) == pytest.approx((0.7828037324907894, 1.0))
    for wrong in ((1, 0), (-1, 5), (6, 5)):
        with pytest.raises(ValueError, match="no interval"):
            clopper_pearson(*wrong)


def test_many_contests_give_student_t() -> None:
    rng = np.random.default_rng(1)
    values, clusters = rng.integers(0, 2, 120).astype(float), [index // 3 for index in range(120)]
    found = interval(values, clusters)
    se = cluster_se(values, clusters)
    assert se is not None
    assert found.method is IntervalMethod.CONTEST_T
    assert (found.n_items, found.n_clusters) == (120, 40)
    assert found.low == pytest.approx(values.mean() - t_quantile(39) * se)
    assert found.high == pytest.approx(values.mean() + t_quantile(39) * se)


def test_few_contests_use_the_larger_standard_error() -> None:
    values, clusters = [1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0], list("aabbccdd")
    found = interval(values, clusters)
    contest, item = cluster_se(values, clusters), item_se(values)
    assert contest is not None
    assert item is not None
    assert contest > item
    assert found.method is IntervalMethod.ITEM_WILSON
    # Four contests: Student's t with three degrees of freedom, 3.1824.
    assert (found.low, found.high) == pytest.approx(wilson(0.5, effective_n(0.5, contest), 3.182446))


def test_no_interval_from_fewer_than_two_problems() -> None:
    for values in ([], [1.0]):
        found = interval(values, ["a"] * len(values))
        assert (found.low, found.high, found.method) == (None, None, IntervalMethod.NONE)


@pytest.mark.parametrize("values", [[0.0] * 12, [1.0, 0.0] * 6])
def test_one_contest_gives_no_interval(values: list[float]) -> None:
    found = interval(values, ["a"] * 12)
    assert (found.low, found.high, found.method, found.n_clusters) == (None, None, IntervalMethod.NONE, 1)


@pytest.mark.parametrize("groups", [8, 12, 40])
def test_all_or_nothing_has_the_exact_bound(groups: int) -> None:
    clusters = [index % groups for index in range(40)]
    none, all_of_them = interval([0.0] * 40, clusters), interval([1.0] * 40, clusters)
    assert none.method is all_of_them.method is IntervalMethod.EXACT
    assert (none.low, none.high) == pytest.approx((0.0, 1 - 0.025 ** (1 / 40)))
    assert (all_of_them.low, all_of_them.high) == pytest.approx((0.025 ** (1 / 40), 1.0))


def test_all_or_nothing_in_few_contests_is_less_certain_than_the_exact_bound() -> None:
    for groups in range(2, 8):
        found = interval([0.0] * 40, [index % groups for index in range(40)])
        assert found.method is IntervalMethod.ITEM_WILSON
        assert (found.low, found.high) == pytest.approx(wilson(0.0, 40, t_quantile(groups - 1)))
        assert found.high is not None
        assert found.high > clopper_pearson(0, 40)[1]


def test_residuals_that_cancel_within_contests_do_not_claim_certainty() -> None:
    found = interval([1.0, 0.0] * 20, [index // 2 for index in range(40)])
    assert found.method is IntervalMethod.ITEM_WILSON
    assert found.low is not None
    assert found.low < 0.4


def test_near_the_edge_wilson_takes_over() -> None:
    values = [1.0] + [0.0] * 59
    found = interval(values, list(range(60)))
    contest = cluster_se(values, list(range(60)))
    assert contest is not None
    assert found.method is IntervalMethod.CONTEST_WILSON
    # 59 degrees of freedom: 2.000995. The effective number is never more than the 60 problems there are.
    assert (found.low, found.high) == pytest.approx(wilson(1 / 60, min(60.0, effective_n(1 / 60, contest)), 2.000995))
    assert found.low is not None
    assert found.low > 0


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), st.integers(0, 40)), min_size=2, max_size=80))
def test_an_interval_holds_its_mean_and_stays_within_0_and_1(items: list[tuple[float, int]]) -> None:
    values = [value for value, _ in items]
    found = interval(values, [cluster for _, cluster in items])
    average = math.fsum(values) / len(values)
    if found.n_clusters < 2:
        assert (found.low, found.method) == (None, IntervalMethod.NONE)
        return
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low <= average + 1e-12
    assert average - 1e-12 <= found.high <= 1
    assert found.high - found.low > 0.001


def test_contests_that_differ_do_not_break_the_promise() -> None:
    """Contests that differ much (1.5 on the logit scale), few of them: normal quantiles would hold 78 % for two.

    400 boards leave 95 % with an error of 1.1 %: 91 % is below by more than three.
    """
    for n_contests in (2, 3, 5, 7, 8, 20):
        held, _ = interval_coverage(n_contests, 1.5, 400, np.random.default_rng(n_contests))
        assert held > 0.91, n_contests


@pytest.mark.shared
def test_the_recorded_coverage_of_small_numbers(shared_data: Path) -> None:
    """Exact coverage against simulated; 4,000 repeats leave an error of 0.35 to 0.5 points, and three are allowed."""
    for row in table(shared_data, "interval_coverage_small_n"):
        n, p = int(row["n"]), float(row["p"])
        for name, rule in SHARE_RULES.items():
            assert share_coverage(rule, n, p) == pytest.approx(float(row[name]), abs=0.015), (n, p, name)


@pytest.mark.shared
def test_the_recorded_standard_errors_of_45_models(shared_data: Path) -> None:
    """The table's contests are the days of a platform: (platform, site date) reproduces it, contest ids do not."""
    with (shared_data / "leaderboards" / "lcb_v1_window_2023-09_ci.csv").open(encoding="utf-8") as lines:
        expected = {row["model"]: row for row in csv.DictReader(lines)}
    problems, runs = matrix(shared_data, "lcb_v1_2024-04-17")
    inside = {
        facts.problem_id: facts for facts in problems if facts.exposed_at and facts.exposed_at >= utc("2023-09-01")
    }
    assert len(runs) == len(expected) == 45
    for run in runs:
        row = expected[run.model]
        kept = [outcome for outcome in run.outcomes if outcome.problem_id in inside]
        values = [outcome.n_correct / outcome.n_samples for outcome in kept]
        clusters = [inside[outcome.problem_id].cluster for outcome in kept]
        by_item, by_contest = item_se(values), cluster_se(values, clusters)
        assert by_item is not None
        assert (len(values), len(set(clusters))) == (int(row["n_items"]), int(row["n_contests"]))
        assert np.mean(values) == pytest.approx(float(row["pass1"]), abs=1e-4)
        assert by_item == pytest.approx(float(row["se_items"]), abs=1e-4)
        assert by_contest == pytest.approx(float(row["se_contest_cluster"]), abs=1e-4)
        if by_item > 0:
            trials = effective_n(float(np.mean(values)), by_item)
            assert trials == pytest.approx(float(row["n_eff"]), abs=1e-3)
            bounds = (float(row["wilson_lo"]), float(row["wilson_hi"]))
            assert wilson(float(np.mean(values)), trials) == pytest.approx(bounds, abs=1e-4)


def test_a_missing_value_is_no_value() -> None:
    with pytest.raises(ValueError, match="1 of 3 values are no numbers"):
        interval([0.0, float("nan"), 1.0], ["a", "b", "c"])
