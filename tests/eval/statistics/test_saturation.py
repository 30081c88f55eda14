"""Gap tables by hand, and HumanEval against LiveCodeBench for models that are on both."""

from __future__ import annotations

import gzip
import json
import math
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eval.statistics.correlation import spearman
from eval.statistics.intervals import cluster_se, t_quantile
from eval.statistics.saturation import above_ceiling, gap_table, has_rate, measured, published
from tests.eval.statistics.boards import board

# The names of one leaderboard beside those of the other.
BOTH = {
    "DeepSeek-Coder-33B-base": "DSCoder-33b-Base",
    "DeepSeek-Coder-6.7B-base": "DSCoder-6.7b-Base",
    "DeepSeek-Coder-1.3B-base": "DSCoder-1.3b-Base",
    "DeepSeek-Coder-33B-instruct": "DSCoder-33b-Ins",
    "DeepSeek-Coder-6.7B-instruct": "DSCoder-6.7b-Ins",
    "DeepSeek-Coder-1.3B-instruct": "DSCoder-1.3b-Ins",
    "CodeLlama-34B": "CodeLlama-34b-Base",
    "CodeLlama-13B": "CodeLlama-13b-Base",
    "CodeLlama-7B": "CodeLlama-7b-Base",
    "StarCoder2-15B": "StarCoder2-15b",
    "StarCoder2-7B": "StarCoder2-7b",
    "StarCoder2-3B": "StarCoder2-3b",
    "GPT-4 (May 2023)": "GPT-4-0613",
    "GPT-4-Turbo (Nov 2023)": "GPT-4-Turbo-1106",
    "GPT-4-Turbo (April 2024)": "GPT-4-Turbo-2024-04-09",
    "claude-3-opus (Mar 2024)": "Claude-3-Opus",
    "claude-3-sonnet (Mar 2024)": "Claude-3-Sonnet",
    "claude-3-haiku (Mar 2024)": "Claude-3-Haiku",
    "Phind-CodeLlama-34B-v2": "Phind-34B-V2",
    "WizardCoder-33B-V1.1": "WCoder-33B-V1.1",
    "Magicoder-S-DS-6.7B": "MagiCoderS-DS-6.7B",
    "Magicoder-S-CL-7B": "MagiCoderS-CL-7B",
    "OpenCodeInterpreter-DS-33B": "OC-DS-33B",
    "CodeQwen1.5-7B-Chat": "CodeQwen15-7B-Chat",
    "Qwen1.5-72B-Chat": "Qwen-1.5-72B-Chat",
}


def test_a_gap_by_hand() -> None:
    # 80 of 100 on one set; 4 contests of 3 problems on the other: 1, 1, 0 | 0, 0, 0 | 1, 0, 0 | 1, 1, 1, mean 1/2.
    fresh = np.array([[1, 1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 1]], dtype=float)
    contests = np.arange(12) // 3
    found = gap_table(published([0.8], 100), measured(fresh, contests)).rows[0]
    assert (found.saturated, found.fresh) == (0.8, 0.5)
    assert found.gap == pytest.approx(0.3)
    # Residual sums by contest 1/2, -3/2, -1/2, 3/2: 4/3 * 5 / 144; over problems (3/11) / 12, which is less.
    variances = (0.16 / 99, 4 / 3 * 5 / 144)
    assert found.se == pytest.approx(math.sqrt(sum(variances)))
    degrees = sum(variances) ** 2 / (variances[0] ** 2 / 99 + variances[1] ** 2 / 3)
    assert found.low == pytest.approx(0.3 - t_quantile(degrees) * math.sqrt(sum(variances)))
    assert found.beyond_peers is None


def test_what_other_models_show_too_is_not_beyond_peers() -> None:
    table = gap_table(published([0.9, 0.8, 0.7, 0.9, math.nan], 164), published([0.4, 0.3, 0.2, 0.1, 0.5], 400))
    assert [row.gap for row in table.rows[:4]] == pytest.approx([0.5, 0.5, 0.5, 0.8])
    assert [row.beyond_peers for row in table.rows[:4]] == pytest.approx([0.0, 0.0, 0.0, 0.3])
    assert table.rows[4].gap is None
    assert table.rows[4].beyond_peers is None
    assert table.rows[4].refusal == (
        "needs a result on at least 10 problems of each set, there are 0 in the saturated and 400 in the fresh one"
    )
    assert table.rho is None  # four models: points only


def test_ceiling_and_floor_are_shares_of_the_models() -> None:
    table = gap_table(published([0.95, 0.91, 0.9, 0.5, math.nan], 164), published([0.04, 0.05, 0.2, 0.3, 0.02], 400))
    assert (table.ceiling_saturated, table.ceiling_fresh) == (0.5, 0.0)
    assert (table.floor_saturated, table.floor_fresh) == (0.0, 0.4)


def test_a_share_of_few_problems_is_no_rate() -> None:
    """Two models are right on their one problem, two on 10 of 20."""
    scores = np.full((4, 20), np.nan)
    scores[:2] = np.arange(20) % 2
    scores[2:, 0] = 1.0
    found = measured(scores, np.arange(20))
    assert has_rate(found).tolist() == [True, True, False, False]
    assert not above_ceiling(found).any()
    assert gap_table(found, found).ceiling_saturated == 0.0
    assert gap_table(measured(scores[2:], np.arange(20)), measured(scores[2:], np.arange(20))).ceiling_fresh is None


def test_no_interval_is_wider_than_a_gap_can_be() -> None:
    # 8 and 10 of 10 in the two contests of one set, 2 and 0 of 10 in those of the other.
    old = np.ones((1, 20))
    old[0, :2] = 0.0
    found = gap_table(measured(old, np.arange(20) // 10), measured(1 - old, np.arange(20) // 10)).rows[0]
    assert found.gap == pytest.approx(0.8)
    assert found.low is not None
    assert found.high == 1.0


def test_below_the_line_of_the_others() -> None:
    # Eleven models on one line of log-odds ; the last has half the odds on the fresh set.
    old = np.linspace(0.2, 0.9, 12)
    odds = old / (1 - old) / 3
    odds[11] /= 2
    table = gap_table(published(old, 10**6), published(odds / (1 + odds), 10**6))
    expected = 2 * odds[11] / (1 + 2 * odds[11]) - odds[11] / (1 + odds[11])
    assert table.rows[11].below_line == pytest.approx(expected, abs=1e-4)  # half a problem in a million is added
    assert table.rho is not None
    fewer = gap_table(published(old[:10], 1000), published(old[:10] / 2, 1000))
    assert fewer.rows[0].below_line is None  # nine others
    flat = gap_table(published([0.5] * 12, 1000), published(old, 1000))
    assert flat.rows[0].below_line is None


def test_edges() -> None:
    nothing = gap_table(published([], 1), published([], 1))
    assert (nothing.rows, nothing.ceiling_saturated, nothing.floor_fresh, nothing.rho) == ((), None, None, None)
    right = gap_table(published([1.0], 164), published([1.0], 50)).rows[0]
    assert (right.gap, right.se, right.low) == (0.0, None, None)  # an error of zero would be a false certainty
    one_contest = gap_table(published([0.5], 100), measured(np.tile([[0.0, 1.0]], 10), np.zeros(20))).rows[0]
    assert (one_contest.gap, one_contest.se) == (0.0, None)
    single = gap_table(measured([[1.0]], [0]), measured(np.zeros((1, 0)), [])).rows[0]
    assert single.refusal is not None


def test_misuse() -> None:
    with pytest.raises(ValueError, match="clusters"):
        measured(np.zeros((2, 3)), [0, 1])
    with pytest.raises(ValueError, match="shares"):
        published([1.5], 100)
    with pytest.raises(ValueError, match="positive"):
        published([0.5], 0)
    with pytest.raises(ValueError, match="models on one set"):
        gap_table(published([0.5], 10), published([0.5, 0.6], 10))


def _leaderboard(shared_data: Path) -> dict[str, dict[str, Any]]:
    text = (shared_data / "saturated" / "evalplus_leaderboard.json").read_text(encoding="utf-8")
    return {name: entry["pass@1"] for name, entry in json.loads(text).items()}


@pytest.mark.shared
def test_ceiling_of_the_recorded_leaderboard(shared_data: Path) -> None:
    # Counted with jq: 7 of 125 models above 90 on HumanEval, 3 of 89 on MBPP, none on the "+" sets.
    entries = _leaderboard(shared_data)
    expected = {"humaneval": (7, 125), "mbpp": (3, 89), "humaneval+": (0, 125), "mbpp+": (0, 89)}
    for name, (above, models) in expected.items():
        shares = [entry[name] / 100 if entry.get(name) is not None else math.nan for entry in entries.values()]
        table = gap_table(published(shares, 164), published(shares, 164))
        assert table.ceiling_saturated == pytest.approx(above / models)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("size", "name", "base", "plus"), [("1.5b", "humaneval", 43.9, 36.6), ("7b", "mbpp", 76.9, 62.9)]
)
def test_recorded_results_give_the_published_aggregates(
    shared_data: Path, size: str, name: str, base: float, plus: float
) -> None:
    path = shared_data / "saturated" / "qwen_evalplus" / f"qwen2.5-coder-{size}-base_{name}.json.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        answers = [entry[0] for entry in json.load(lines)["eval"].values()]
    rows = np.array([[answer["base_status"] == "pass" for answer in answers]] * 2, dtype=float)
    rows[1] *= [answer["plus_status"] == "pass" for answer in answers]
    found = measured(rows, np.arange(len(answers)))
    assert 100 * found.means == pytest.approx([base, plus], abs=0.05)
    # One answer to each problem: what a published share allows to say is what the results say.
    again = published(found.means, len(answers))
    assert found.errors == pytest.approx(again.errors)


@pytest.mark.shared
def test_humaneval_against_livecodebench(shared_data: Path) -> None:
    entries, whole = _leaderboard(shared_data), board(shared_data, "lcb_v1_2024-04-17")
    kept = whole.take(whole.dates >= np.datetime64("2023-09-01"))
    places = [kept.models.index(name) for name in BOTH.values()]
    old = [entries[name]["humaneval"] / 100 for name in BOTH]
    table = gap_table(published(old, 164), measured(kept.scores[places], kept.contests))
    assert table.ceiling_saturated == 0.04  # one model of 25: GPT-4 Turbo of April 2024
    rows = dict(zip(BOTH.values(), table.rows, strict=True))
    assert all(row.gap is not None and row.gap > 0.1 for row in table.rows)
    assert table.rho == pytest.approx(spearman(old, kept.scores[places].mean(axis=1)))
    # LiveCodeBench's paper: open models fine-tuned on instructions do better on HumanEval than LiveCodeBench bears out;
    # base models and closed ones do not.
    tuned = ("Ins", "V1.1", "MagiCoder", "OC-DS", "CodeQwen15-7B-Chat")
    plain = ("Base", "GPT-4", "Claude", "StarCoder2")
    below = {model: row.below_line or 0.0 for model, row in rows.items()}
    assert min(value for model, value in below.items() if any(word in model for word in tuned)) > 0.02
    assert max(value for model, value in below.items() if any(word in model for word in plain)) < 0.03
    assert sorted(below, key=lambda model: below[model])[-3:] == [
        "CodeQwen15-7B-Chat",
        "MagiCoderS-CL-7B",
        "DSCoder-1.3b-Ins",
    ]
    one = rows["DSCoder-33b-Ins"]
    fresh = kept.row("DSCoder-33b-Ins")
    se = math.hypot(cluster_se(fresh, kept.contests.tolist()) or 0.0, math.sqrt(old[3] * (1 - old[3]) / 163))
    assert one.se == pytest.approx(se)
    assert one.gap == pytest.approx(old[3] - fresh.mean())


@pytest.mark.shared
def test_models_of_the_recorded_solutions(shared_data: Path) -> None:
    grades: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    with gzip.open(shared_data / "livecodebench" / "solutions.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            grades[row["model"]][row["question_id"]].append(bool(row["published_grade"]))
    entries = _leaderboard(shared_data)
    names = {
        "DeepSeek-Coder-6.7B-instruct": "deepseek-coder-6.7b-instruct",
        "Llama3.1-8B-instruct": "llama-3.1-8b-instruct",
        "O1 Mini (Sept 2024)": "o1-mini-2024-09-12",
        "O1 Preview (Sept 2024)": "o1-preview-2024-09-12",
    }
    problems = sorted({problem for model in names.values() for problem in grades[model]})
    scores = [
        [float(np.mean(grades[model][problem])) if problem in grades[model] else math.nan for problem in problems]
        for model in names.values()
    ]
    old = [entries[name]["humaneval"] / 100 for name in names]
    table = gap_table(published(old, 164), measured(scores, np.arange(len(problems))))
    # HumanEval as published; the fresh shares from the recorded grades: 17.03 and 15.43 % of 175, 68.4 and 55.6 of 880.
    gaps = [row.gap for row in table.rows]
    fresh = [0.17029, 0.15429, 0.68409, 0.55568]
    assert gaps == pytest.approx([first - second for first, second in zip(old, fresh, strict=True)], abs=5e-5)
