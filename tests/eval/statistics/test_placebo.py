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
    judge_gaps,
    other_dates,
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
    with_one_mean,
)

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def by_name(of: Board, found: Sequence[Judgement]) -> dict[str, Judgement]:
    return {of.models[one.model]: one for one in found}


def words(found: dict[str, Judgement]) -> dict[str, Verdict]:
    return {name: one.verdict for name, one in found.items()}


def judged_v1(data: Path, platform: str) -> dict[str, Judgement]:
    whole = board(data, V1)
    chosen = part(whole, platform)
    of, moments = whole.take(chosen), instants(data, V1)[chosen]
    controls = tuple(of.models.index(name) for name in v1_controls(data))
    cases = [Case(row, split(moments, V1_CUTOFF), controls) for row in range(len(of.models)) if row not in controls]
    return by_name(of, judge_gaps(of.scores, of.contests, days(moments), cases))


def judged_v6(data: Path, platform: str, end: str, *, like_ability: bool = False) -> dict[str, Judgement]:
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
    found = judge_gaps(of.scores, of.contests, days(moments), cases, families=families, like_ability=like_ability)
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
    assert one.sentence.startswith("gap found: +50.3 points (s.e. 4.5; Holm p 1.9e-08, 27 tests); controls show 0.87")
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
            assert one.gap.points is not None
            assert one.detectable is not None
            # For 30 tests and normal errors 2.80 becomes 3.14 + 0.84; t with the degrees of these contests adds to it.
            assert 3.98 < one.detectable / one.gap.points.se < 4.3
            assert f"(could have seen >= {100 * one.detectable:.1f} points)" in one.sentence


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("end", ["2026-01-01", "2025-01-01"])
def test_o3_mini_is_withheld_for_want_of_a_comparable_control(shared_data: Path, platform: str, end: str) -> None:
    found = judged_v6(shared_data, platform, end)
    for setting in ("Low", "Med", "High"):
        one = found[f"O3-Mini-2025-01-31 ({setting})"]
        assert one.verdict is Verdict.NO_CONTROL
        assert one.gap is not None
        assert one.gap.logit is None


def test_with_one_prior_mean_placebos_lean_to_one_side(shared_data: Path) -> None:
    """What the prior takes back from problems that become harder looks like a gap in every control."""
    found = judged_v6(shared_data, "all", "2026-01-01")["DeepSeek-V3"]
    assert found.verdict is Verdict.PLACEBO  # with its broken months in
    sizes = [placebo.gap.logit.value for placebo in found.placebos if placebo.gap.logit is not None]
    assert abs(float(np.mean(sizes))) < 0.15
    whole, moments, controls = board(shared_data, V6), instants(shared_data, V6), v6_controls(shared_data)
    chosen = part(whole, "all") & (moments >= np.datetime64("2024-01-01"))
    rows = table(shared_data, "lcb_v6_did_declared_cutoffs")
    (cutoff,) = {declared(row) for row in rows if row["model"] == "DeepSeek-V3"}
    of, parts = whole.take(chosen), split(moments[chosen], cutoff)
    one_mean = [with_one_mean(of, name, unrelated(name, controls), parts)[0].value for name in controls]
    assert float(np.mean(one_mean)) > 0.35


def test_a_placebo_that_fails_withholds_claims_on_atcoder(shared_data: Path) -> None:
    # The broken months are left out.
    found = judged_v6(shared_data, "atcoder", "2025-01-01")["DeepSeek-V3"]
    assert found.verdict is Verdict.PLACEBO
    assert found.sentence == "withheld: placebo failed (1 of 7 controls show a gap that they cannot have)"
    (failed,) = (placebo for placebo in found.placebos if placebo.p_holm is not None and placebo.p_holm < 0.05)
    assert found.against == (failed.control,)
    # On LeetCode they show none, and the gap is the recorded one: 17.8 points (s.e. 4.6) over all problems.
    found = judged_v6(shared_data, "leetcode", "2025-01-01")["DeepSeek-V3"]
    assert found.verdict is Verdict.FOUND
    assert found.gap is not None
    assert found.gap.points_all is not None
    assert found.gap.points_all.value == pytest.approx(0.178, abs=0.01)
    assert found.gap.points_all.se == pytest.approx(0.046, abs=0.001)


def test_like_ability_hears_only_placebos_about_such_models(shared_data: Path) -> None:
    """O3-Mini (Med) shows a gap that it cannot have: against weak controls, for models like it or beyond."""
    every, alike = (judged_v6(shared_data, "atcoder", "2025-01-01", like_ability=like) for like in (False, True))
    below, beyond = "Claude-3.7-Sonnet (Thinking)", "Grok-3-Mini (High)"
    assert every[below].verdict is every[beyond].verdict is alike[beyond].verdict is Verdict.PLACEBO
    assert alike[below].verdict is Verdict.NOT_FOUND


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
    assert "a control shows a gap as large as the model's" in found.sentence
    assert found.gap is not None
    assert found.gap.logit is not None
    assert f"{found.gap.logit.value:.2f}" not in found.sentence


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
    # Three settings of one model are one control, and two models with two runs each are two.
    for alike, controls, counted in (
        ([5, 6, 5, 8, 5], (5, 7, 9), "1 (3 runs)"),
        ([5, 5, 6, 6, 9], (5, 6, 7, 8), "2 (4"),
    ):
        found = judge_gaps(scores, clusters, clusters, [Case(3, parts, controls)], families=[0, 1, 2, 3, 4, *alike])
        assert found[0].verdict is Verdict.NO_CONTROL
        assert f"controls of different families with 15 results on each side, there are {counted}" in found[0].sentence


def test_all_or_nothing_on_a_side_has_a_word_of_its_own() -> None:
    scores, clusters, parts = simulated({}, np.random.default_rng(4))
    scores[0, parts.after] = 0.0
    scores[1, parts.before] = 1.0
    found = judge_gaps(scores, clusters, clusters, [Case(row, parts, CONTROLS) for row in (0, 1)])
    assert [one.verdict for one in found] == [Verdict.ALL_ALIKE, Verdict.ALL_ALIKE]
    # 0 of 120: 1 - .025^(1/120) = 3.0 %.
    assert found[0].sentence == (
        "withheld: all or none solved (the model solves none of the 120 problems after the cut-off (of all such, at "
        "most 3.0%): the gap has no finite size)"
    )
    # With three contests there is too little evidence, whatever was solved.
    few = Sides(parts.before, parts.after & (clusters < 33))
    assert judge_gaps(scores, clusters, clusters, [Case(0, few, CONTROLS)])[0].verdict is Verdict.THIN


def test_a_run_that_breaks_off_at_the_cut_off_is_no_memoriser() -> None:
    """What the controls all solve, it does not either; a model that has lost what it knew by heart still does."""
    rng = np.random.default_rng(21)
    clusters = np.repeat(np.arange(60), 4)
    parts = sides(clusters, 29, 29)
    hard = np.tile([-2.5, -1.0, 0.5, 2.0], 60) + rng.normal(0, 0.4, 240)
    theta = np.array([-0.5, 1.5, -0.5, 0.0, 0.5, 1.0, 1.5, 1.5])
    logits = theta[:, None] - hard
    logits[0] += 3.0 * parts.before
    chances = 1 / (1 + np.exp(-logits))
    chances[1] *= np.where(parts.after, 0.2, 1.0)
    chances[7] *= np.where(parts.after, 0.6, 1.0)
    scores = rng.binomial(10, chances) / 10
    cases = [Case(row, parts, (2, 3, 4, 5, 6)) for row in (0, 1, 7)]
    learnt, broken, in_part = judge_gaps(scores, clusters, clusters, cases)
    assert (learnt.verdict, learnt.warnings) == (Verdict.FOUND, ())
    assert broken.verdict is Verdict.SUSPECT
    assert broken.p_holm is not None
    assert broken.p_holm < 0.001
    assert broken.sentence.startswith("withheld: run broken? (after the cut-off it solves ")
    assert "problems that nearly all controls solve" in broken.sentence
    # What is lost in part is not told from a gap, and is warned of.
    assert in_part.verdict is Verdict.FOUND
    assert in_part.warnings[-1].startswith("the run may be broken in part: after the cut-off it solves ")


def test_what_could_be_seen_grows_with_the_number_of_tests() -> None:
    scores, clusters, parts = simulated({}, np.random.default_rng(1))
    alone, among = (
        judge_gaps(scores, clusters, clusters, [Case(row, parts, CONTROLS) for row in rows])[0]
        for rows in ((0,), range(5))
    )
    assert alone.gap == among.gap
    assert alone.gap is not None
    assert alone.gap.points is not None
    assert (alone.n_tests, among.n_tests) == (1, 5)
    # t with 58 degrees: 2.0017 + 0.8483 for one test; 2.6633 + 0.8483 for five.
    for one, factor in ((alone, 2.850), (among, 3.512)):
        assert one.detectable is not None
        assert one.detectable / alone.gap.points.se == pytest.approx(factor, abs=2e-3)


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


def test_misuse() -> None:
    scores, clusters, parts = simulated({}, np.random.default_rng(7))
    with pytest.raises(ValueError, match="families of shape"):
        judge_gaps(scores, clusters, clusters, [Case(0, parts, CONTROLS)], families=[1, 2])
    with pytest.raises(ValueError, match="of itself"):
        judge_gaps(scores, clusters, clusters, [Case(5, parts, CONTROLS)])
    with pytest.raises(ValueError, match="times of"):
        judge_gaps(scores, clusters, clusters[:4], [Case(0, parts, CONTROLS)])
