"""Verdicts on gaps: recorded boards, the words, and each way in which a claim is withheld."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.contamination import (
    CONTAMINATED,
    Setting,
    error_rates,
    recorded,
    recorded_rates,
    simulated_board,
    verdicts,
)
from eval.statistics.gap import Sides, sides
from eval.statistics.multiplicity import holm
from eval.statistics.placebo import (
    Case,
    Judgement,
    Verdict,
    eligible_controls,
    judge_gaps,
    other_dates,
    select_controls,
)
from tests.eval.statistics.boards import Board, board, table
from tests.eval.statistics.recorded_gaps import (
    PLATFORMS,
    V1,
    V1_CUTOFF,
    V6,
    days,
    declared,
    instants,
    part,
    split,
    unrelated,
    v1_controls,
    v6_controls,
)

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def by_name(of: Board, found: Sequence[Judgement]) -> dict[str, Judgement]:
    return {of.models[one.model]: one for one in found}


def words(found: dict[str, Judgement]) -> dict[str, Verdict]:
    return {name: one.verdict for name, one in found.items()}


def judged_v1(data: Path, platform: str, *, side_means: bool = False) -> dict[str, Judgement]:
    whole = board(data, V1)
    chosen = part(whole, platform)
    of, moments = whole.take(chosen), instants(data, V1)[chosen]
    controls = tuple(of.models.index(name) for name in v1_controls(data))
    cases = [Case(row, split(moments, V1_CUTOFF), controls) for row in range(len(of.models)) if row not in controls]
    return by_name(of, judge_gaps(of.scores, of.contests, days(moments), cases, side_means=side_means))


def judged_v6(
    data: Path, platform: str, end: str, *, like_ability: bool = False, side_means: bool = False
) -> dict[str, Judgement]:
    """All tested models at their declared cut-offs, and o3-mini (as the table has it) at the end of June 2024."""
    whole = board(data, V6)
    moments = instants(data, V6)
    chosen = part(whole, platform) & (moments >= np.datetime64("2024-01-01")) & (moments < np.datetime64(end))
    of, moments = whole.take(chosen), moments[chosen]
    rows = [row for row in table(data, "lcb_v6_did_declared_cutoffs") if row["platform"] == "all"]
    cases = [
        Case(
            of.models.index(row["model"]),
            split(moments, declared(row)),
            tuple(of.models.index(name) for name in unrelated(row["model"], v6_controls(data))),
        )
        for row in rows
        if row["role"] == "tested" or row["model"].startswith("O3-Mini")
    ]
    families = np.array([-1 if name.startswith("O3-Mini") else row for row, name in enumerate(of.models)])
    found = judge_gaps(
        of.scores,
        of.contests,
        days(moments),
        cases,
        families=families,
        like_ability=like_ability,
        side_means=side_means,
    )
    return by_name(of, found)


def test_twelve_models_are_flagged_on_leetcode_and_no_control(shared_data: Path) -> None:
    found = judged_v1(shared_data, "leetcode")
    rows = [row for row in table(shared_data, "lcb_v1_did_aug2023") if row["platform"] == "leetcode"]
    flagged = {row["model"] for row in rows if float(row["did_p_holm"]) < 0.05}
    assert len(flagged) == 12
    assert {name for name, one in found.items() if one.verdict is Verdict.FOUND} == flagged
    assert Counter(words(found).values()) == {Verdict.FOUND: 12, Verdict.NOT_FOUND: 15, Verdict.NO_CONTROL: 6}
    one = found["DSCoder-33b-Base"]
    assert len(one.placebos) == 12
    assert all(placebo.p_holm is not None and placebo.p_holm > 0.5 for placebo in one.placebos)
    assert one.placebo_range is not None
    assert one.placebo_range == pytest.approx((-0.79, 0.87), abs=0.01)
    assert one.n_tests == 27
    assert one.sentence.startswith("gap found: +50.1 points (s.e. 4.5; Holm p 2e-08, 27 tests); controls show 0.87")
    assert one.warnings == ()
    # Its data reach past the date: the break shows after it, and is said to.
    later = found["CodeQwen15-7B"]
    assert later.warnings == ("a gap shows at 3 of 6 other dates too: its break may lie elsewhere",)


def test_none_is_flagged_on_atcoder(shared_data: Path) -> None:
    found = judged_v1(shared_data, "atcoder")
    assert set(words(found).values()) == {Verdict.NOT_FOUND, Verdict.NO_CONTROL}
    for one in found.values():
        if one.verdict is Verdict.NOT_FOUND:
            assert one.gap is not None
            assert one.gap.detectable is not None
            assert f"(could have seen >= {100 * one.gap.detectable:.1f} points)" in one.sentence


def test_a_prior_mean_for_each_side_flags_the_same_models(shared_data: Path) -> None:
    for platform in ("leetcode", "atcoder"):
        one, own = (words(judged_v1(shared_data, platform, side_means=means)) for means in (False, True))
        assert one == own


@pytest.mark.parametrize("side_means", [False, True])
@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("end", ["2026-01-01", "2025-01-01"])
def test_o3_mini_is_withheld_for_want_of_a_comparable_control(
    shared_data: Path, platform: str, end: str, side_means: bool
) -> None:
    found = judged_v6(shared_data, platform, end, side_means=side_means)
    for setting in ("Low", "Med", "High"):
        one = found[f"O3-Mini-2025-01-31 ({setting})"]
        assert one.verdict is Verdict.NO_CONTROL
        assert one.gap is not None
        assert one.gap.logit is None


def test_with_one_prior_mean_placebos_lean_to_one_side(shared_data: Path) -> None:
    """What the prior takes back from problems that become harder looks like a gap in every control."""
    means = []
    for side_means in (False, True):
        found = judged_v6(shared_data, "all", "2026-01-01", side_means=side_means)["DeepSeek-V3"]
        sizes = [placebo.gap.logit.value for placebo in found.placebos if placebo.gap.logit is not None]
        means.append(float(np.mean(sizes)))
        # Either way one of the controls fails, and V3 is withheld: with its broken months in.
        assert found.verdict is Verdict.PLACEBO
    assert means[0] > 0.35
    assert abs(means[1]) < 0.15


def test_a_placebo_that_fails_withholds_claims_on_atcoder(shared_data: Path) -> None:
    # The broken months are left out. o3-mini, against weak controls, shows +15 points that it cannot have.
    found = judged_v6(shared_data, "atcoder", "2025-01-01")["DeepSeek-V3"]
    assert found.verdict is Verdict.PLACEBO
    assert found.sentence == "withheld: placebo failed (3 of 7 controls show a gap that they cannot have)"
    failed = [placebo for placebo in found.placebos if placebo.p_holm is not None and placebo.p_holm < 0.05]
    assert len(failed) == 3
    assert not any(placebo.gap.comparable for placebo in failed)
    # On LeetCode they show none, and the gap is the recorded one of 17.8 points (s.e. 4.6) over all problems.
    found = judged_v6(shared_data, "leetcode", "2025-01-01")["DeepSeek-V3"]
    assert found.verdict is Verdict.FOUND
    assert found.sentence.startswith("gap found: +17.9 points (s.e. 4.7; Holm p 0.0019, 6 tests)")


def test_like_ability_hears_only_placebos_about_such_models(shared_data: Path) -> None:
    found = judged_v6(shared_data, "atcoder", "2025-01-01", like_ability=True)
    # In the midst of its controls, and far below o3-mini: judged. Beyond o3-mini: still withheld.
    assert found["DeepSeek-V3"].verdict is Verdict.FOUND
    assert found["O4-Mini (Low)"].verdict is Verdict.PLACEBO
    assert Verdict.FOUND not in {one.verdict for name, one in found.items() if name != "DeepSeek-V3"}


def simulated(
    gaps: dict[int, float], rng: np.random.Generator, contests: int = 60
) -> tuple[FloatArray, IntArray, Sides]:
    """Ten models, five of them controls (rows 5 to 9), with gaps in logits before the middle."""
    clusters = np.repeat(np.arange(contests), 4)
    parts = sides(clusters, contests / 2 - 1, contests / 2 - 1)
    theta = np.concatenate([np.linspace(-0.8, 0.8, 5), np.linspace(-1.2, 1.2, 5)])
    logits = theta[:, None] - rng.normal(0, 1.5, clusters.size)
    for row, gap in gaps.items():
        logits[row] += gap * parts.before
    return rng.binomial(10, 1 / (1 + np.exp(-logits))) / 10, clusters, parts


CONTROLS = (5, 6, 7, 8, 9)


def test_a_clean_board_and_a_contaminated_model() -> None:
    scores, clusters, parts = simulated({2: 2.0}, np.random.default_rng(1))
    cases = [Case(row, parts, CONTROLS) for row in range(5)]
    found = judge_gaps(scores, clusters, clusters, cases)
    assert [one.verdict for one in found] == [Verdict.FOUND if row == 2 else Verdict.NOT_FOUND for row in range(5)]
    p_values = [one.gap.logit.p for one in found if one.gap is not None and one.gap.logit is not None]
    assert [one.p_holm for one in found] == pytest.approx(holm(p_values))
    assert {one.n_tests for one in found} == {5}
    assert [placebo.control for placebo in found[0].placebos] == list(CONTROLS)
    assert found[0].placebos is found[1].placebos


def test_a_contaminated_control_withholds_everything() -> None:
    scores, clusters, parts = simulated({2: 2.0, 7: 2.0}, np.random.default_rng(2))
    found = judge_gaps(scores, clusters, clusters, [Case(row, parts, CONTROLS) for row in range(5)])
    assert {one.verdict for one in found} == {Verdict.PLACEBO}
    assert "of 5 controls show a gap that they cannot have" in found[2].sentence
    its_own = next(placebo for placebo in found[2].placebos if placebo.control == 7)
    assert its_own.p_holm is not None
    assert its_own.p_holm < 0.001


def test_a_gap_no_larger_than_a_placebo_is_withheld() -> None:
    # A control with few results, of one sample each, shows a larger gap than the model, though not a significant one.
    rng = np.random.default_rng(3)
    scores, clusters, parts = simulated({2: 0.8, 9: 1.1}, rng)
    scores[9] = rng.random(clusters.size) < scores[9]
    scores[9, rng.random(clusters.size) < 0.75] = np.nan
    found = judge_gaps(scores, clusters, clusters, [Case(2, parts, CONTROLS)])[0]
    assert found.p_holm is not None
    assert found.p_holm < 0.05
    assert all(placebo.p_holm is not None and placebo.p_holm > 0.05 for placebo in found.placebos)
    assert found.verdict is Verdict.PLACEBO
    assert "in log-odds where the model shows" in found.sentence


def test_a_broken_run_is_not_looked_at() -> None:
    scores, clusters, parts = simulated({}, np.random.default_rng(3))
    cases = [Case(0, parts, CONTROLS), Case(1, parts, CONTROLS, broken="2 of 5 months solve no easy problem")]
    found = judge_gaps(scores, clusters, clusters, cases)
    assert (found[1].verdict, found[1].gap, found[1].placebos) == (Verdict.BROKEN, None, ())
    assert found[1].sentence == "withheld: run broken (2 of 5 months solve no easy problem)"
    assert found[0].n_tests == 1
    assert judge_gaps(scores, clusters, clusters, []) == ()


def test_thin_evidence_and_missing_controls_have_words_of_their_own() -> None:
    scores, clusters, parts = simulated({}, np.random.default_rng(4))
    thin = Sides(parts.before & (clusters < 2), parts.after)
    cases = [Case(0, thin, CONTROLS), Case(1, parts, (5, 6)), Case(2, parts, ()), Case(3, parts, (5, 7, 9))]
    found = judge_gaps(scores, clusters, clusters, cases)
    assert [one.verdict for one in found] == [
        Verdict.THIN,
        Verdict.NO_CONTROL,
        Verdict.NO_CONTROL,
        Verdict.NOT_FOUND,
    ]
    assert found[0].sentence.startswith("withheld: too little evidence (needs at least 4 contests before the cut-off")
    assert "there are 2" in found[1].sentence
    # With three controls each placebo has two.
    assert all(placebo.gap.logit is not None for placebo in found[3].placebos)
    # Three settings of one model are no placebos of each other: nothing to compare them with.
    alike = np.array([0, 1, 2, 3, 4, 5, 6, 5, 8, 5])
    found = judge_gaps(scores, clusters, clusters, [Case(3, parts, (5, 7, 9))], families=alike)
    assert found[0].verdict is Verdict.NO_CONTROL
    assert found[0].sentence == "withheld: no comparable control (no placebo could be computed from the controls)"


def test_better_after_the_cutoff_is_no_gap_and_is_warned_of() -> None:
    scores, clusters, parts = simulated({2: -2.0}, np.random.default_rng(8))
    found = judge_gaps(scores, clusters, clusters, [Case(2, parts, CONTROLS)])[0]
    assert found.verdict is Verdict.NOT_FOUND
    assert found.p_holm is not None
    assert found.p_holm < 0.001
    assert "look at the run" in found.warnings[0]


@pytest.mark.parametrize(("before", "after"), [(2, 20), (4, 4), (4, 8), (12, 12), (20, 2), (20, 20)])
def test_recorded_power_and_false_positives(shared_data: Path, before: int, after: int) -> None:
    """150 draws here and there: four standard errors of a difference of shares."""
    repeats = 150
    entries = table(shared_data, "did_power_by_contests")
    row = next(row for row in entries if (int(row["pre_contests"]), int(row["post_contests"])) == (before, after))
    power, false = recorded_rates(recorded(shared_data), before, after, repeats, np.random.default_rng(1))
    for model, column in CONTAMINATED.items():
        pooled = min(max((power[model] + float(row[column])) / 2, 0.01), 0.99)
        assert abs(power[model] - float(row[column])) < 4 * (pooled * (1 - pooled) * 2 / repeats) ** 0.5
    # Twelve controls on the same contests: their mean varies less than one of them, and more than twelve apart.
    assert false == pytest.approx(float(row["fpr_controls_.05"]), abs=0.05)
    assert (false > 0.15) == (2 in (before, after))


def test_simulated_false_positives_and_power() -> None:
    """``benchmarks/contamination.py`` in small: nominal 5 %; 60 tests, so up to four standard errors (16 %)."""
    rng = np.random.default_rng(1)
    rates = error_rates(Setting(drift=0.0), 15, rng)
    assert rates.n == 60
    assert max(rates.linear, rates.logit, rates.logit_one_mean) < 0.16
    clean, contaminated = verdicts(Setting(gap=3.0, models=3), 5, rng)
    assert (clean.total(), contaminated.total()) == (10, 5)
    assert contaminated[Verdict.FOUND] >= 3
    assert clean[Verdict.FOUND] <= 2
    scores, clusters, parts = simulated_board(Setting(3, 5, controls=2, models=1), rng)
    assert scores.shape == (3, 32)
    assert (parts.before.sum(), parts.after.sum(), np.unique(clusters).size) == (12, 20, 8)


def test_other_dates_stay_on_their_side() -> None:
    clusters = np.repeat(np.arange(30), 4)
    parts = sides(clusters, 14, 16)
    found = other_dates(clusters, clusters, parts)
    assert len(found) == 6
    for each in found:
        assert not (each.before & each.after).any()
        both = each.before | each.after
        assert (both == parts.before).all() or (both == parts.after).all()
        assert min(np.unique(clusters[half]).size for half in (each.before, each.after)) >= 4
    assert other_dates(clusters, clusters, Sides(clusters < 7, clusters >= 24)) == []
    assert len(other_dates(clusters, clusters, sides(clusters, 14, 16), per_side=1)) == 2


def test_who_may_be_a_control() -> None:
    found = eligible_controls([10.0, 20.0, np.nan, 5.0, 6.0], [0, 1, 2, 3, 0], earliest=15.0)
    assert found[0].tolist() == [False, False, False, True, False]
    assert found[1].tolist() == [True, False, False, True, True]
    assert not found[:, 2].any()
    with pytest.raises(ValueError, match="families of shape"):
        eligible_controls([1.0], [1, 2], 2.0)


def test_the_nearest_controls_and_one_on_each_side() -> None:
    rng = np.random.default_rng(6)
    hard = rng.normal(0, 1.5, 400)
    theta = np.array([0.0, 0.3, 0.4, 0.5, 2.0, -2.5])
    scores = rng.binomial(10, 1 / (1 + np.exp(hard - theta[:, None]))) / 10
    candidates = (1, 2, 3, 4, 5)
    assert select_controls(scores, 0, candidates, most=3) == (1, 2, 5)
    assert select_controls(scores, 0, candidates, most=9) == candidates
    scores[5] = np.nan
    assert select_controls(scores, 0, candidates, most=3) == (1, 2, 3)
    assert select_controls(scores, 0, candidates, most=4) == (1, 2, 3, 4)


def test_misuse() -> None:
    scores, clusters, parts = simulated({}, np.random.default_rng(7))
    with pytest.raises(ValueError, match="families of shape"):
        judge_gaps(scores, clusters, clusters, [Case(0, parts, CONTROLS)], families=[1, 2])
    with pytest.raises(ValueError, match="of itself"):
        judge_gaps(scores, clusters, clusters, [Case(5, parts, CONTROLS)])
    with pytest.raises(ValueError, match="times of"):
        judge_gaps(scores, clusters, clusters[:4], [Case(0, parts, CONTROLS)])
