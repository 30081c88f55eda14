"""Run health: recorded guards and revisions, shares of answers, and edges."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from eval.statistics.run_health import (
    AnswerCounts,
    PeriodHealth,
    answer_health,
    changed_answers,
    easy_guard,
    fails_easy,
    withheld_cells,
)
from tests.eval.statistics.boards import board, table
from tests.eval.statistics.recorded_gaps import V1, V5, V6, instants

FILES = {
    V1: "gen_2024-04-17_8ed5690.json",
    V5: "gen_2025-01-15_33505c0.json",
    V6: "gen_2025-04-22_83b6481.json",
}
BROKEN = {("DeepSeek-V3", "2025-01"), ("DeepSeek-V3", "2025-03")}

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]
Judged = dict[tuple[str, str], PeriodHealth]


def months(moments: NDArray[np.datetime64]) -> IntArray:
    return np.asarray(moments.astype("datetime64[M]").astype(np.int64), dtype=np.int64)


def guard(models: tuple[str, ...], scores: FloatArray, easy: BoolArray, of: IntArray, leave_out: bool) -> Judged:
    found = easy_guard(scores, easy, of, leave_out=leave_out)
    assert len(found) == len(models) * np.unique(of).size
    return {(models[one.model], str(np.datetime64(one.period, "M"))): one for one in found if one.refusal is None}


def same_as_recorded(found: Judged, rows: list[dict[str, str]]) -> None:
    assert found.keys() == {(row["model"], row["month"]) for row in rows}
    for row in rows:
        one = found[row["model"], row["month"]]
        assert one.n_easy == int(row["n_easy"])
        # Half a unit of the third digit that the table prints.
        numbers = float(row["observed"]), float(row["expected"]), float(row["z"])
        assert (one.observed, one.expected, one.z) == pytest.approx(numbers, abs=6e-4)


@pytest.mark.parametrize("name", FILES)
def test_the_recorded_guard(shared_data: Path, name: str) -> None:
    """The table takes P from one fit to all cells."""
    of = board(shared_data, name)
    rows = [row for row in table(shared_data, "lcb_easy_item_guard") if row["file"] == FILES[name]]
    easy = np.asarray(of.difficulties == "easy")
    found = guard(of.models, of.scores, easy, months(instants(shared_data, name)), False)
    same_as_recorded(found, rows)
    withheld = {key for key, one in found.items() if one.withheld}
    assert withheld == (BROKEN if name == V6 else set())
    assert min(one.z for key, one in found.items() if key not in BROKEN and one.z is not None) > -3.4


def test_the_recorded_guard_of_february_2024(shared_data: Path) -> None:
    """The dates of this file are those of the contests already; the table takes 24 hours off it as off the rest."""
    with gzip.open(shared_data / "livecodebench" / "site_2024-02-26.json.gz", "rt", encoding="utf-8") as lines:
        entries = json.load(lines)["performances"]
    models = tuple(dict.fromkeys(entry["model"] for entry in entries))
    problems = list(dict.fromkeys(entry["question_id"] for entry in entries))
    scores = np.full((len(models), len(problems)), np.nan)
    easy, at = np.zeros(len(problems), dtype=np.bool_), np.zeros(len(problems), dtype="datetime64[ms]")
    for entry in entries:
        place = problems.index(entry["question_id"])
        scores[models.index(entry["model"]), place] = entry["pass@1"] / 100
        easy[place] = entry["difficulty"] == "easy"
        at[place] = np.datetime64(entry["date"], "ms") - np.timedelta64(24, "h")
    found = guard(models, scores, easy, months(at), False)
    same_as_recorded(
        found, [row for row in table(shared_data, "lcb_easy_item_guard") if row["file"] == "2024_02_26.json"]
    )


@pytest.mark.parametrize("name", FILES)
def test_two_months_of_one_model_are_broken_and_no_other(shared_data: Path, name: str) -> None:
    """Without the cells in question the broken months stand out more, and no other comes near the limit."""
    of = board(shared_data, name)
    periods = months(instants(shared_data, name))
    found = guard(of.models, of.scores, np.asarray(of.difficulties == "easy"), periods, True)
    withheld = {key for key, one in found.items() if one.withheld}
    assert withheld == (BROKEN if name == V6 else set())
    assert min(one.z for key, one in found.items() if key not in BROKEN and one.z is not None) > -3.9
    if name != V6:
        return
    assert all(number is not None and number < -8 for number in (found[key].z for key in BROKEN))
    mask = withheld_cells(tuple(found.values()), periods, len(of.models))
    row = of.models.index("DeepSeek-V3")
    assert mask.any(axis=1).tolist() == [place == row for place in range(len(of.models))]
    assert set(np.unique(periods[mask[row]]).tolist()) == {np.datetime64(month, "M").astype(int) for _, month in BROKEN}
    # The whole month, not its easy problems alone.
    assert mask[row].sum() == np.isin(periods, periods[mask[row]]).sum()


def simulated(rng: np.random.Generator, models: int = 8) -> tuple[FloatArray, BoolArray, IntArray]:
    """20 problems in each of 10 periods, every other one easy."""
    periods = np.repeat(np.arange(10), 20)
    easy = np.arange(200) % 2 == 0
    hard = np.where(easy, -2.0, 1.5) + rng.normal(0, 0.5, 200)
    theta = np.linspace(-1, 1, models)
    return rng.binomial(5, 1 / (1 + np.exp(hard - theta[:, None]))) / 5, easy, periods


def test_a_broken_period_is_found_alone() -> None:
    scores, easy, periods = simulated(np.random.default_rng(1))
    scores[3, periods == 4] = 0.0
    found = easy_guard(scores, easy, periods)
    assert [(one.model, one.period) for one in found if one.withheld] == [(3, 4)]
    broken = next(one for one in found if one.withheld)
    assert (broken.observed, broken.n_easy) == (0.0, 10)
    assert broken.expected == pytest.approx(0.86, abs=0.06)
    # z by hand from what is expected on average (the P of ten easy problems differ little).
    expected = broken.expected
    assert expected is not None
    assert broken.z == pytest.approx(-10 * expected / math.sqrt(10 * expected * (1 - expected) + 0.25), rel=0.03)
    # Nothing of the period and the model in question is in its expectation.
    scores[3, periods == 4] = 1.0
    again = next(one for one in easy_guard(scores, easy, periods) if (one.model, one.period) == (3, 4))
    assert again.expected == pytest.approx(expected, abs=0.01)


def test_what_is_withheld_does_not_pull_the_ability_down() -> None:
    """Good for nine of sixteen months, then 95 % of the answers lost: few of the seven stand out among all others."""
    rng = np.random.default_rng(5)
    periods = np.repeat(np.arange(16), 30)
    easy = np.arange(480) % 3 == 0
    hard = np.where(easy, -1.5, np.where(np.arange(480) % 3 == 1, 0.0, 1.5)) + rng.normal(0, 0.5, 480)
    chances = 1 / (1 + np.exp(hard - np.array([-1.2, -0.8, -0.4, 0.0, 0.4, 0.8, 1.0])[:, None]))
    chances[6] *= np.where(periods >= 9, 0.05, 1.0)
    scores = rng.binomial(5, chances) / 5
    found = [one for one in easy_guard(scores, easy, periods) if one.withheld]
    assert [(one.model, one.period) for one in found] == [(6, period) for period in range(9, 16)]
    assert all(one.expected is not None and one.expected > 0.8 for one in found)
    # In fourteen of sixteen months it is the rule: that is beyond this guard.
    chances[6] *= np.where((periods >= 2) & (periods < 9), 0.05, 1.0)
    scores[6] = rng.binomial(5, chances[6]) / 5
    assert not any(one.withheld and one.z is not None and one.z < 0 for one in easy_guard(scores, easy, periods))


def test_a_run_of_one_month_is_not_judged_by_a_prior() -> None:
    """A weak model asked in one month alone: nothing says what was to be expected of it."""
    scores, easy, periods = simulated(np.random.default_rng(1))
    weak = np.where(periods == 9, np.where(easy, 0.2, 0.0), np.nan)
    found = easy_guard(np.vstack([scores, weak]), easy, periods)[-1]
    assert (found.model, found.period, found.n_easy, found.z, found.withheld) == (8, 9, 10, None, False)
    assert found.refusal == "needs at least 5 results of the run in other months to judge it by"


def test_easy_problems_after_a_cut_off() -> None:
    """Twenty of 40 problems after it are easy: the controls solve 90 % of those. Expected are 80 % at most."""
    before = np.arange(80) < 40
    easy = np.arange(80) % 2 == 0
    peers = np.tile(np.where(easy, 0.9, 0.3), (4, 1))
    tested = np.where(before, np.where(easy, 0.95, 0.5), np.where(easy, 0.1, 0.0))
    found = fails_easy(tested, peers, before, ~before)
    assert (found.n, found.fails) == (20, True)
    assert (found.observed, found.expected) == pytest.approx((0.1, 0.8))
    # (20 * .1 - 20 * .8) / sqrt(20 * .8 * .2 + .25)
    assert found.z == pytest.approx(-14 / math.sqrt(3.45))
    # Half of what was expected, or more: it may have lost what it knew by heart.
    assert not fails_easy(np.where(before, tested, np.where(easy, 0.41, 0.0)), peers, before, ~before).fails
    # A model that was weak before is expected to solve less.
    weak = fails_easy(np.where(before, 0.1, tested), peers, before, ~before)
    assert weak.expected is not None
    assert weak.expected < 0.5
    # Too few easy problems, too few controls to call them easy, and nothing before.
    for few in (
        fails_easy(tested, peers, before, ~before & (np.arange(80) < 48)),
        fails_easy(tested, peers[:2], before, ~before),
        fails_easy(tested, peers, np.zeros(80, dtype=np.bool_), ~before),
    ):
        assert (few.z, few.fails) == (None, False)


def test_too_little_to_judge() -> None:
    scores, easy, periods = simulated(np.random.default_rng(2))
    scores[0, (periods == 0) & (np.arange(200) > 8)] = np.nan
    scores[1] = np.nan
    found = {(one.model, one.period): one for one in easy_guard(scores, easy, periods)}
    assert found[0, 0].z is not None
    assert found[0, 0].n_easy == 5
    assert found[1, 3].refusal == "needs at least 5 easy problems with results, there are 0"
    assert (found[1, 3].z, found[1, 3].observed, found[1, 3].expected, found[1, 3].withheld) == (
        None,
        None,
        None,
        False,
    )
    scores[0, 0] = np.nan
    assert easy_guard(scores, easy, periods)[0].refusal == "needs at least 5 easy problems with results, there are 4"
    few = easy_guard(scores[4:], easy, periods)
    assert {one.refusal for one in few} == {"needs at least 5 models with results, there are 4"}
    assert easy_guard(np.empty((0, 200)), easy, periods) == ()
    assert easy_guard(np.empty((6, 0)), easy[:0], periods[:0]) == ()
    with pytest.raises(ValueError, match="easy"):
        easy_guard(scores, easy[:3], periods)


def test_shares_of_answers() -> None:
    found = answer_health(AnswerCounts(200, empty=4, truncated=30, failed=10, timed_out=11, repeated=20, all_equal=5))
    assert (found.empty, found.truncated, found.failed, found.timed_out) == (0.02, 0.15, 0.05, 0.055)
    assert found.all_equal == 0.25
    assert found.warnings == ("15.0 % of 200 answers are cut off", "5.5 % of 200 answers timed out")


def test_copies_in_place_of_samples() -> None:
    found = answer_health(AnswerCounts(200, repeated=20, all_equal=20, distinct=20))
    assert found.warnings == ("the samples of each of 20 problems are copies: they count as one sample",)
    found = answer_health(AnswerCounts(50, distinct=1))
    assert found.warnings == ("all 50 answers of the run are the same text",)
    assert found.all_equal is None


def test_no_answers_have_no_shares() -> None:
    found = answer_health(AnswerCounts(0))
    assert (found.empty, found.truncated, found.failed, found.timed_out, found.all_equal) == (None,) * 5
    assert found.warnings == ()


@pytest.mark.parametrize(
    "counts",
    [
        AnswerCounts(5, empty=6),
        AnswerCounts(5, failed=-1),
        AnswerCounts(5, repeated=2, all_equal=3),
        AnswerCounts(5, repeated=6),
        AnswerCounts(-1),
    ],
)
def test_impossible_counts(counts: AnswerCounts) -> None:
    with pytest.raises(ValueError, match=r"must lie between|are some of those"):
        answer_health(counts)


def recorded_changes(data: Path, earlier: str, later: str) -> dict[str, tuple[int, int, bool | None]]:
    """Problems changed, common problems and alarm of each name that two boards share."""
    first, second = board(data, earlier), board(data, later)
    common = [problem for problem in first.problems if problem in set(second.problems)]
    places = [[of.problems.index(problem) for problem in common] for of in (first, second)]
    found = {}
    for model in first.models:
        if model in second.models:
            change = changed_answers(first.row(model)[places[0]], second.row(model)[places[1]])
            found[model] = (change.n_changed, change.n_common, change.alarm)
    return found


def test_an_alias_is_told_from_snapshots(shared_data: Path) -> None:
    found = recorded_changes(shared_data, V1, V5)
    assert found == {
        "GPT-4-Turbo-2024-04-09": (12, 400, False),
        "Claude-3-Haiku": (6, 400, False),
        "Mistral-Large": (157, 400, True),
    }


def test_revisions_of_one_season_change_little_or_nothing(shared_data: Path) -> None:
    found = recorded_changes(shared_data, "lcb_v1_2024-03-12", V1)
    assert len(found) == 29
    assert {change[0] for change in found.values()} == {0}
    later = recorded_changes(shared_data, V5, V6)
    # "DeepSeek-V3" stands for the alias deepseek-chat: 23 % of what it solved in January is otherwise in April.
    assert later.pop("DeepSeek-V3") == (202, 880, True)
    assert {change[0] for change in later.values()} == {3, 4, 18}
    assert not any(change[2] for change in later.values())


def test_too_few_common_problems_to_compare() -> None:
    first = np.append(np.full(19, 0.5), [np.nan, 0.5])
    found = changed_answers(first, np.append(np.full(19, 0.6), [0.5, np.nan]))
    assert found.refusal == "needs at least 20 common problems, there are 19"
    assert (found.n_common, found.n_changed, found.share, found.alarm) == (19, 19, None, None)
    assert changed_answers([], []).refusal is not None
    with pytest.raises(ValueError, match="shapes"):
        changed_answers([1.0], [1.0, 0.0])


def test_five_per_cent_is_the_limit() -> None:
    first = np.zeros(100)
    for changed, alarm in ((5, False), (6, True)):
        second = np.where(np.arange(100) < changed, 0.1, 0.0)
        assert changed_answers(first, second).alarm is alarm
