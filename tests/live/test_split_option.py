"""``--split``: tables of public or of private problems alone, and how a problem becomes private."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval.settings import SPLITS
from live.commands.windows import ProblemSplit, read_settings
from tests.live.command import Live
from tests.live.graded import LEVELS

PRIVATE = [f"round-{number}-{level}" for number in (30, 31, 32, 33) for level in LEVELS]
N_AFTER_CUTOFF = 3 * 34  # contests every 14 days: number 26 of 0 to 59, on 2024-01-06, is the first after 2023-12
SIDES = {"public": N_AFTER_CUTOFF - len(PRIVATE), "private": len(PRIVATE), "all": N_AFTER_CUTOFF}
SAID = {
    "public": "ublic problems only: those flagged private are not looked at",
    "private": "rivate problems only: those flagged private",
    "all": None,
}


@pytest.fixture
def split_live(board_live: Live) -> Live:
    """The board with the problems of four contests after the early cut-offs flagged private."""
    for name in PRIVATE:
        assert board_live("problems", "flag", name, "private", "--reason", "kept back").code == 0
    return board_live


def published_score(folder: Path, model: str, split: str) -> float:
    """pass@1 of a model on one side of the split after 2023, from the file that was imported."""
    rows = [json.loads(line) for line in (folder / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    after = [row for row in rows if row["model"] == model and int(row["id"].split("-")[1]) >= 26]
    shares = [
        row["n_correct"] / row["n_samples"]
        for row in after
        if split == "all" or (row["id"] in PRIVATE) == (split == "private")
    ]
    assert len(shares) == SIDES[split]
    return float(sum(shares) / len(shares))


def says(split: str, text: str) -> bool:
    """Whether a table says which side it looks at, or that of neither where it looks at both."""
    words = " ".join(text.split())
    said = SAID[split]
    return "problems only" not in words if said is None else said in words


def test_the_option_offers_what_a_report_takes() -> None:
    assert tuple(ProblemSplit) == SPLITS
    assert read_settings(True, None, None, "0d", None, None, "1", False).split == "all"


@pytest.mark.parametrize("split", SIDES)
def test_the_own_table_rests_on_one_side_and_says_so(split_live: Live, board_folder: Path, split: str) -> None:
    asked = ["eval", "--after-cutoff", "--split", split, "m3"]
    document = split_live(*asked, "--json").document
    (row,) = document["rows"]
    (score,) = row["scores"]
    assert document["settings"]["split"] == split
    assert row["n_eligible"] == row["n_judged"] == SIDES[split]
    assert score["value"] == pytest.approx(published_score(board_folder, "m3", split))
    assert (
        row["n_judged"] + sum(row["left_out"].values())
        == row["n_universe"]
        == SIDES[split] + (0 if split == "private" else 26 * 3)
    )
    assert says(split, split_live(*asked).out)
    assert says(split, split_live(*asked, "--md").out)


def test_without_the_option_private_problems_count(split_live: Live) -> None:
    asked = ["eval", "--after-cutoff", "m3", "--json"]
    rows, chosen = (split_live(*asked, *more).document["rows"] for more in ([], ["--split", "all"]))
    assert rows == chosen
    assert rows[0]["n_eligible"] == N_AFTER_CUTOFF


@pytest.mark.parametrize("split", SIDES)
def test_the_common_table_rests_on_one_side_and_says_so(split_live: Live, board_folder: Path, split: str) -> None:
    asked = ["eval", "--after-cutoff", "--table", "common", "--split", split, "m3", "m7"]
    document = split_live(*asked, "--json").document
    (group,) = document["groups"]
    assert group["n_problems"] == SIDES[split]
    scores = {row["model"]: row["score"] for row in group["rows"]}
    assert scores == pytest.approx({name: published_score(board_folder, name, split) for name in ("m3", "m7")})
    assert says(split, " ".join(document["conditions"]))
    assert says(split, split_live(*asked, "--csv").out)


@pytest.mark.parametrize("split", SIDES)
def test_a_comparison_rests_on_one_side_and_says_so(split_live: Live, split: str) -> None:
    document = split_live("compare", "m3", "m7", "--split", split, "--json").document
    (pair,) = document["pairs"]
    assert pair["n_common"] == SIDES[split]
    assert says(split, " ".join(document["conditions"]))


@pytest.mark.slow
@pytest.mark.parametrize("split", ["public", "all"])
def test_the_equated_table_rests_on_one_side_and_says_so(split_live: Live, split: str) -> None:
    document = split_live("eval", "--after-cutoff", "--table", "equated", "--split", split, "--json").document
    own = {row["model"]: row["n_own_problems"] for row in document["rows"]}
    assert (own["m3"], own["late"]) == (SIDES[split], 42)  # the private contests lie before the later cut-off
    assert says(split, " ".join(document["conditions"]))


def test_a_side_without_problems_gives_no_number(board_live: Live) -> None:
    ended = board_live("eval", "--after-cutoff", "--split", "private", "m3")
    assert ended.code == 3
    assert says("private", ended.out)


def test_an_unknown_side_is_refused(board_live: Live) -> None:
    ended = board_live("eval", "--after-cutoff", "--split", "secret")
    assert ended.code == 2
    assert "secret" in ended.err


@pytest.mark.parametrize("command", ["eval", "compare"])
def test_help_says_what_private_means(board_live: Live, command: str) -> None:
    shown = " ".join(board_live(command, "--help").out.replace("│", " ").split())
    assert "live problems flag ID private" in shown


def test_a_problem_is_made_private_and_shows_it(board_live: Live) -> None:
    """The flag keeps it in the scores, and comes off again."""
    flagged = board_live("problems", "flag", "round-30-easy", "private", "--reason", "kept back")
    assert flagged.code == 0
    assert "keeps no problem out of scores" in flagged.err
    entry: dict[str, Any] = {"name": "private", "reason": "kept back"}
    listed = board_live("problems", "list", "--json").document
    assert [one["problem"] for one in listed if entry in one["flags"]] == ["atcoder:round-30-easy"]
    assert board_live("problems", "show", "round-30-easy", "--json").document["flags"] == [entry]
    assert "flag private: kept back" in board_live("problems", "show", "round-30-easy").out.splitlines()
    (line,) = [line for line in board_live("problems", "list").out.splitlines() if "round-30-easy" in line]
    assert line.split()[-1] == "private"
    assert board_live("problems", "unflag", "round-30-easy", "private").code == 0
    assert board_live("eval", "--after-cutoff", "--split", "private", "m3").code == 3
