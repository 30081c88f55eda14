"""Gaps at a cut-off: recorded tables, hand calculations, and what is refused or warned of."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats  # type: ignore[import-untyped]

from eval.statistics.gap import (
    Gap,
    Sides,
    control_scale,
    detectable_gap,
    find_gap,
    sides,
    too_few_controls,
    within_reach,
)
from eval.statistics.intervals import t_p_value
from eval.statistics.irt_newton import Settings
from eval.statistics.regression import Estimate, Refusal, logit
from tests.eval.statistics.boards import Board, board, table
from tests.eval.statistics.recorded_gaps import (
    V1,
    V1_CUTOFF,
    V6,
    declared,
    instants,
    part,
    split,
    unrelated,
    v1_controls,
    v6_controls,
    with_one_mean,
)

# Half a unit of the fourth digit that the tables print, and what two programs may differ by.
PRINTED = 6e-5
# The recorded log-odds of 2023 counted each of ten samples as a trial: one trial with priors wider by sqrt(10).
TEN_TRIALS = Settings(ability_sd=2 * math.sqrt(10), difficulty_sd=3 * math.sqrt(10))

FloatArray = NDArray[np.float64]


def there(found: Estimate | None) -> Estimate:
    assert found is not None
    return found


def recorded(of: Board, model: str, controls: tuple[str, ...], parts: Sides) -> Gap:
    rows = np.array([of.row(name) for name in controls])
    found = find_gap(of.row(model), rows, parts, of.contests, any_ability=True)
    assert found.refusal is None, (model, found.refusal)
    return found


def simulated(
    contests: int, gap: float, rng: np.random.Generator, ability: float = 0.0
) -> tuple[FloatArray, FloatArray, Sides, NDArray[np.int64]]:
    """A model with a gap in logits and four controls, on four problems of each contest; half of these are before."""
    clusters = np.repeat(np.arange(contests), 4)
    hard = rng.normal(0, 1.5, clusters.size) + np.linspace(-0.5, 0.5, clusters.size)
    parts = sides(clusters, contests / 2 - 1, contests / 2 - 1)
    theta = np.array([ability, -1.0, -0.3, 0.3, 1.0])
    logits = theta[:, None] - hard
    logits[0] += gap * parts.before
    scores = rng.binomial(10, 1 / (1 + np.exp(-logits))) / 10
    return scores[0], scores[1:], parts, clusters


def test_recorded_gaps_of_45_models_in_august_2023(shared_data: Path) -> None:
    whole, moments, controls = board(shared_data, V1), instants(shared_data, V1), v1_controls(shared_data)
    assert len(controls) == 12
    chosen = {platform: part(whole, platform) for platform in ("leetcode", "atcoder")}
    boards = {platform: whole.take(mask) for platform, mask in chosen.items()}
    for row in table(shared_data, "lcb_v1_did_aug2023"):
        of = boards[row["platform"]]
        parts = split(moments[chosen[row["platform"]]], V1_CUTOFF)
        others = tuple(name for name in controls if name != row["model"])
        found = recorded(of, row["model"], others, parts)
        linear, (odds, _) = there(found.linear), with_one_mean(of, row["model"], others, parts, TEN_TRIALS)
        assert (found.before.n_items, found.after.n_items) == (int(row["n_pre"]), int(row["n_post"]))
        assert found.before.n_contests + found.after.n_contests == int(row["contests"])
        for side, name in ((found.before, "pre"), (found.after, "post")):
            assert side.mean == pytest.approx(float(row[f"pass_{name}"]), abs=PRINTED)
            assert side.control_mean == pytest.approx(float(row[f"ctrl_{name}"]), abs=PRINTED)
        assert (linear.value, linear.se) == pytest.approx((float(row["did"]), float(row["did_se"])), abs=PRINTED)
        assert (odds.value, odds.se) == pytest.approx((float(row["logit_did"]), float(row["logit_se"])), abs=PRINTED)
        # Its p values are by t with (contests - 1) degrees of freedom, and by the normal distribution.
        assert t_p_value(linear.value / linear.se, linear.degrees + 1) == pytest.approx(
            float(row["did_p"]), abs=PRINTED
        )
        assert t_p_value(odds.value / odds.se, 1e9) == pytest.approx(float(row["logit_p"]), abs=PRINTED)


@pytest.mark.parametrize(
    ("name", "end", "rows"),
    [("lcb_v6_did_declared_cutoffs", "2026-01-01", 48), ("lcb_v6_did_declared_cutoffs_to2024-12", "2025-01-01", 18)],
)
def test_recorded_gaps_at_declared_cutoffs(shared_data: Path, name: str, end: str, rows: int) -> None:
    whole, moments, controls = board(shared_data, V6), instants(shared_data, V6), v6_controls(shared_data)
    # Controls' cut-offs lie before 2024; the broken months of one model are those of 2025.
    inside = (moments >= np.datetime64("2024-01-01")) & (moments < np.datetime64(end))
    entries = table(shared_data, name)
    assert len(entries) == rows
    for row in entries:
        chosen = inside & part(whole, row["platform"])
        parts = split(moments[chosen], declared(row))
        others = unrelated(row["model"], controls)
        found = recorded(whole.take(chosen), row["model"], others, parts)
        odds, points = with_one_mean(whole.take(chosen), row["model"], others, parts)
        pairs = [(found.linear, "did"), (odds, "logit"), (points, "ame")]
        assert (found.before.n_items, found.after.n_items) == (int(row["n_pre"]), int(row["n_post"]))
        for estimate, column in pairs:
            expected = float(row[column]), float(row[f"{column}_se"])
            assert (there(estimate).value, there(estimate).se) == pytest.approx(expected, abs=PRINTED)
        assert t_p_value(odds.value / odds.se, 1e9) == pytest.approx(float(row["logit_p"]), abs=PRINTED)


def test_a_gap_is_the_regression_on_difficulties_with_a_mean_for_each_side() -> None:
    model, peers, parts, clusters = simulated(40, 1.0, np.random.default_rng(12))
    hard = control_scale(model, peers, strata=parts.before).difficulty
    expected = logit(model, np.column_stack([np.ones(model.size), -hard, parts.before]), clusters)
    assert not isinstance(expected, Refusal)
    assert there(find_gap(model, peers, parts, clusters).logit) == expected.estimate(2, 38)


def test_an_interval_leaves_its_problems_out() -> None:
    found = sides([1.0, 2.0, 2.5, 3.0, 3.5, math.nan], 2.0, 3.0)
    assert found.before.tolist() == [True, True, False, False, False, False]
    assert found.after.tolist() == [False, False, False, False, True, False]
    with pytest.raises(ValueError, match="ends before it starts"):
        sides([1.0], 2.0, 1.0)


def test_the_linear_gap_by_hand() -> None:
    # 8 contests of 4 problems, half before. The model is at .7 and .4, the controls at .5 and .6: .7 - .5 - (.4 - .6).
    # One contest of each side is .2 higher, one .2 lower, for the model alone: residual sums of +-.8, and
    # se^2 = 4 * .64 / 16^2 * 8/7 * 31/30.
    parts = sides(np.repeat(np.arange(8), 4), 3, 3)
    clusters = np.repeat(np.arange(8), 4)
    wobble = np.repeat([0.2, -0.2, 0, 0, 0.2, -0.2, 0, 0], 4)
    within = np.tile([0.1, -0.1, 0.1, -0.1], 8)
    model = np.where(parts.before, 0.7, 0.4) + wobble + within / 2
    peers = np.tile(np.where(parts.before, 0.5, 0.6) + within, (3, 1))
    found = find_gap(model, peers + np.array([[-0.1], [0.0], [0.1]]), parts, clusters)
    linear = there(found.linear)
    assert linear.value == pytest.approx(0.4)
    assert linear.se == pytest.approx(math.sqrt(4 * 0.64 / 16**2 * 8 / 7 * 31 / 30))
    assert linear.degrees == 6
    assert [found.before.control_mean, found.after.control_mean] == pytest.approx([0.5, 0.6])


def test_a_gap_is_found_in_its_size() -> None:
    model, peers, parts, clusters = simulated(60, 1.5, np.random.default_rng(3))
    found = find_gap(model, peers, parts, clusters)
    odds, points = there(found.logit), there(found.points)
    assert abs(odds.value - 1.5) < 3 * odds.se
    assert odds.p < 1e-4
    assert 0.1 < points.value < 0.4
    assert found.comparable
    assert found.controls == (0, 1, 2, 3)
    assert found.ability is not None
    # By all problems, so that a gap of 1.5 on half of them counts half.
    assert found.ability == pytest.approx(0.75, abs=0.6)


def test_undecidable_and_missing_problems_are_counted_and_left_out() -> None:
    model, peers, parts, clusters = simulated(40, 0.0, np.random.default_rng(4))
    open_ = clusters == 25
    narrower = Sides(parts.before, parts.after & ~open_)
    model[:3] = np.nan
    peers[:, 4] = np.nan
    found = find_gap(model, peers, narrower, clusters)
    assert (found.n_undecidable, found.n_missing) == (4, 4)
    assert (found.before.n_items, found.after.n_items) == (76, 76)
    kept = ~open_ & np.isfinite(model) & np.isfinite(peers).any(axis=0)
    again = find_gap(model[kept], peers[:, kept], Sides(narrower.before[kept], narrower.after[kept]), clusters[kept])
    assert replace(found, n_undecidable=0, n_missing=0) == again


def test_a_control_needs_results_on_both_sides() -> None:
    model, peers, parts, clusters = simulated(40, 0.0, np.random.default_rng(5))
    peers[1, parts.after] = np.nan
    found = find_gap(model, peers, parts, clusters)
    assert found.controls == (0, 2, 3)
    assert found.refusal is None
    # Without a common problem there is no mean of the same controls to subtract; the log-odds need none.
    peers[0, ::2] = np.nan
    peers[2, 1::2] = np.nan
    found = find_gap(model, peers, parts, clusters)
    assert (found.linear, found.before.control_mean) == (None, None)
    assert found.logit is not None
    peers[3, parts.before] = np.nan
    found = find_gap(model, peers, parts, clusters)
    lacking = "needs at least 3 controls of different families with 15 results on each side, there are 2"
    assert found.refusal == lacking
    assert (found.logit, found.comparable) == (None, False)
    assert find_gap(model, peers, parts, clusters, min_controls=2).refusal is None


def test_two_runs_of_one_model_are_one_control() -> None:
    model, peers, parts, clusters = simulated(40, 0.0, np.random.default_rng(5))
    found = find_gap(model, peers, parts, clusters, families=[7, 7, 9, 9])
    assert found.refusal is not None
    assert found.refusal.endswith("on each side, there are 2 (4 runs)")
    assert (found.comparable, found.controls) == (False, (0, 1, 2, 3))
    assert find_gap(model, peers, parts, clusters, families=[7, 7, 8, 9]).refusal is None
    assert too_few_controls([], "at all") == "needs at least 3 controls of different families at all, there are 0"
    with pytest.raises(ValueError, match="families of shape"):
        find_gap(model, peers, parts, clusters, families=[1, 2])


def test_half_a_logit_outside_is_within_reach() -> None:
    assert [within_reach(ability, [-1.0, 0.2, 2.0]) for ability in (-1.6, -1.4, 0.0, 2.4, 2.6)] == [
        False,
        True,
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("degrees", "n_tests", "factor"),
    # Quantiles from tables: normal 1.960 + 0.842, 2.394 + 0.842 and 2.773 + 0.842; t with 6 degrees 2.447 + 0.906.
    [(1e6, 1, 2.80), (1e6, 3, 3.24), (1e6, 9, 3.61), (6, 1, 3.35)],
)
def test_what_could_be_seen_pays_for_the_number_of_tests(degrees: float, n_tests: int, factor: float) -> None:
    assert detectable_gap(0.02, degrees, n_tests) == pytest.approx(0.02 * factor, abs=1.2e-4)


@pytest.mark.parametrize(("degrees", "n_tests"), [(10, 1), (20, 9), (38, 27), (100, 45)])
def test_a_gap_that_could_be_seen_is_found_4_times_out_of_5(degrees: int, n_tests: int) -> None:
    """The power of t against 0.05 / n by its noncentral distribution."""
    critical = stats.t.isf(0.025 / n_tests, degrees)
    power = stats.nct.sf(critical, degrees, detectable_gap(1.0, degrees, n_tests))
    assert power == pytest.approx(0.8, abs=0.03)


def test_thin_sides_are_refused() -> None:
    model, peers, parts, clusters = simulated(40, 0.0, np.random.default_rng(6))
    few = Sides(parts.before & (clusters < 3), parts.after)
    assert find_gap(model, peers, few, clusters).refusal == (
        "needs at least 4 contests before the cut-off, there are 3; "
        "needs at least 15 problems before the cut-off, there are 12"
    )
    nothing = find_gap(model, peers, Sides(parts.before, np.zeros_like(parts.after)), clusters)
    assert nothing.refusal is not None
    assert "contests after the cut-off, there are 0" in nothing.refusal
    assert (nothing.after.mean, nothing.points, nothing.ability) == (None, None, None)
    assert find_gap([], np.empty((0, 0)), Sides(parts.before[:0], parts.after[:0]), []).refusal is not None


def test_all_or_nothing_gives_the_exact_bound() -> None:
    model, peers, parts, clusters = simulated(38, 0.0, np.random.default_rng(7))
    found = find_gap(np.where(parts.after, 0.0, model), peers, parts, clusters)
    # 0 of 76: 1 - .025^(1/76) = 4.7 %.
    assert found.after.bound is not None
    assert found.after.bound == pytest.approx((0.0, 0.0474), abs=5e-5)
    assert found.refusal is not None
    assert "none of the 76 problems after the cut-off (of all such, at most 4.7%)" in found.refusal
    found = find_gap(np.where(parts.before, 1.0, model), peers, parts, clusters)
    assert found.before.bound is not None
    assert found.before.bound == pytest.approx((0.9526, 1.0), abs=5e-5)
    assert found.refusal is not None
    assert "all of the 76 problems before the cut-off" in found.refusal


def test_a_model_out_of_reach_of_its_controls_is_refused() -> None:
    model, peers, parts, clusters = simulated(40, 0.0, np.random.default_rng(8), ability=3.0)
    found = find_gap(model, peers, parts, clusters)
    assert (found.comparable, found.logit) == (False, None)
    assert found.refusal is not None
    assert "those of its controls lie between" in found.refusal
    anyway = find_gap(model, peers, parts, clusters, any_ability=True)
    assert anyway.refusal is None
    assert found.refusal in anyway.warnings
    assert find_gap(*simulated(40, 0.0, np.random.default_rng(8), ability=1.2)).comparable


def test_few_contests_and_ceilings_are_warned_of() -> None:
    model, peers, parts, clusters = simulated(14, 0.0, np.random.default_rng(9))
    found = find_gap(model, peers, parts, clusters)
    assert found.warnings == tuple(
        f"fewer than 8 contests {where} the cut-off (7): a rough error" for where in ("before", "after")
    )
    model, peers, parts, clusters = simulated(40, 0.0, np.random.default_rng(9))
    model = np.where(np.arange(model.size) % 40, 1.0, 0.0)
    found = find_gap(model, peers, parts, clusters, any_ability=True)
    assert "97.5% of the problems before the cut-off are solved: little room for a gap" in found.warnings


def test_a_separated_gap_is_refused() -> None:
    _, peers, parts, clusters = simulated(40, 0.0, np.random.default_rng(10))
    # Solved exactly where easier than a threshold: the slope has no end.
    hard = control_scale(peers[0], peers).difficulty
    found = find_gap((hard < np.median(hard)).astype(float), peers, parts, clusters)
    assert found.refusal is not None
    assert "separates" in found.refusal


def test_misuse() -> None:
    model, peers, parts, clusters = simulated(20, 0.0, np.random.default_rng(11))
    with pytest.raises(ValueError, match="scores of shape"):
        find_gap(model[:5], peers, parts, clusters)
    with pytest.raises(ValueError, match="clusters of shape"):
        find_gap(model, peers, parts, clusters[:5])
    with pytest.raises(ValueError, match="before and from after"):
        find_gap(model, peers, Sides(parts.before, parts.before), clusters)
    with pytest.raises(ValueError, match="between 0 and 1"):
        find_gap(model + 1, peers, parts, clusters)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_time_turned_round_turns_the_sign(seed: int) -> None:
    model, peers, parts, clusters = simulated(24, 0.5, np.random.default_rng(seed))
    there_, back = (
        find_gap(model, peers, each, clusters, any_ability=True) for each in (parts, Sides(parts.after, parts.before))
    )
    assert (there_.refusal is None) == (back.refusal is None)
    if there_.refusal is None:
        for one, other in ((there_.linear, back.linear), (there_.logit, back.logit)):
            assert there(one).value == pytest.approx(-there(other).value, abs=1e-6)
            assert there(one).se == pytest.approx(there(other).se, abs=1e-6)
        # The order of problems and the numbers of contests mean nothing.
        order = np.random.default_rng(seed).permutation(model.size)
        mixed = find_gap(
            model[order],
            peers[::-1, order],
            Sides(parts.before[order], parts.after[order]),
            1000 - clusters[order],
            any_ability=True,
        )
        assert there(mixed.logit).value == pytest.approx(there(there_.logit).value, abs=1e-6)
        assert there(mixed.points).se == pytest.approx(there(there_.points).se, abs=1e-6)
