"""Comparisons, common-window and equated tables, as a person at a terminal asks for them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.live.command import Live


def test_two_models_are_compared_after_the_later_cut_off(board_live: Live) -> None:
    ended = board_live("compare", "m7", "late", "--json")
    assert ended.code == 0
    (pair,) = ended.document["pairs"]
    assert (pair["first"], pair["second"]) == ("m7", "late")
    assert pair["n_common"] == 14 * 3  # contests every 14 days: number 46 of 0 to 59, on 2024-10-12, is the first
    assert any("after the latest cut-off: 2024-09 (late)" in line for line in ended.document["conditions"])
    shown = board_live("compare", "m7", "late")
    assert "could be seen" in shown.out
    assert "fewer than 100 problems (42)" in shown.out


def test_a_wide_difference_is_told_from_none(board_live: Live) -> None:
    ended = board_live("compare", "m0", "m7", "memoriser")
    assert ended.code == 0
    assert "m7 solves more than m0" in ended.out
    assert "3 pairs were tested; p values are adjusted for all of them (Holm)" in ended.out


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["m0"], "a comparison needs two models, or two runs of one: m0 has one"),
        (["m0", "m0"], "a comparison needs two models, or two runs of one: m0 has one"),
        (["m0", "m1", "--across", "temperature"], '--across: "temperature" keeps no runs apart here'),
        (["m0", "gpt-4o-2024-05-13"], "no run and no imported result of gpt-4o-2024-05-13"),
        (["m0", "nobody"], 'unknown model "nobody"'),
    ],
)
def test_what_cannot_be_compared_is_said(board_live: Live, names: list[str], said: str) -> None:
    ended = board_live("compare", *names)
    assert ended.code == 2
    assert ended.out == ""
    assert said in ended.err.splitlines()[0]


@pytest.fixture
def two_origins(board_live: Live, board_folder: Path) -> Live:
    """The board, with the results of m5 and m6 a second time, from another origin, where m5 solves nothing."""
    rows = [json.loads(line) for line in (board_folder / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    again = [row | {"n_correct": 0 if row["model"] == "m5" else row["n_correct"]} for row in rows]
    path = Path("again.jsonl")
    lines = [json.dumps(row | {"origin": "elsewhere"}) for row in again if row["model"] in {"m5", "m6"}]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert board_live("import", "results", path, "--format", "jsonl").code == 0
    return board_live


def test_what_was_not_judged_alike_has_numbers_by_request_alone(two_origins: Live) -> None:
    """Four pairs, two of them of one origin each: two tests, and m5 of elsewhere beats nobody of here."""
    shown = two_origins("compare", "m5", "m6")
    assert shown.code == 0
    assert "2 pairs were tested" in shown.out
    assert shown.out.count("not judged alike (imported (elsewhere); imported (jsonl))") == 1
    assert "m6 (jsonl) solves more than m5 (elsewhere)" not in shown.out
    asked = two_origins("compare", "m5", "m6", "--across", "results")
    assert "m6 (jsonl) solves more than m5 (elsewhere)" in asked.out
    assert "4 pairs were tested" in asked.out


def test_a_model_alone_is_compared_with_itself(two_origins: Live) -> None:
    withheld = two_origins("compare", "m6")
    assert withheld.code == 3
    assert "say --across results" in " ".join(withheld.out.split())
    (pair,) = two_origins("compare", "m6", "--across", "results", "--json").document["pairs"]
    assert (pair["first"], pair["second"], pair["difference"]) == ("m6 (elsewhere)", "m6 (jsonl)", 0)
    pairs = two_origins("compare", "m6", "m6", "m5", "--json").document["pairs"]
    assert sum(pair["first"].startswith("m6") and pair["second"].startswith("m6") for pair in pairs) == 1
    assert len(pairs) == 5


def test_without_a_terminal_the_own_table_is_not_bound_to_80_columns(board_live: Live) -> None:
    shown = board_live("eval", "--after-cutoff", "--k", "1,2,3,4", "m0").out.splitlines()
    assert shown[0].split()[-3:] == ["pass@2", "pass@3", "pass@4"]
    assert shown[0].startswith("model ")


def test_an_empty_window_gives_no_number(board_live: Live) -> None:
    ended = board_live("compare", "m0", "m1", "--since", "2027")
    assert ended.code == 3
    assert "no comparison: needs at least 10 common problems, there are 0" in ended.out
    ended = board_live("eval", "--after-cutoff", "--table", "common", "--since", "2027")
    assert ended.code == 3


def test_the_common_table_ranks_all_on_the_same_problems(board_live: Live) -> None:
    ended = board_live("eval", "--after-cutoff", "--table", "common", "--difficulty", "hard", "--json")
    assert ended.code == 0
    (group,) = ended.document["groups"]
    assert group["refusal"] == "ranks need at least 30 common problems, there are 14"
    early = [f"m{place}" for place in range(8)]
    ended = board_live("eval", "--after-cutoff", "--table", "common", "--json", *early)
    (group,) = ended.document["groups"]
    assert group["n_problems"] == 3 * 34
    assert group["rows"][0]["model"] == "m7"
    first, last = group["rows"][0]["ranks"], group["rows"][-1]["ranks"]
    assert first["low"] == 1
    assert last["high"] == 8
    assert first["high"] < last["low"]


def test_the_same_seed_gives_the_same_table(board_live: Live) -> None:
    asked = ["eval", "--after-cutoff", "--table", "common", "--csv", "m1", "m2", "m3", "m4", "m5", "m6"]
    first = board_live(*asked).out
    assert first == board_live(*asked, "--seed", "0").out
    rows = list(csv.reader(io.StringIO(first)))
    assert rows[0][:6] == ["table", "model", "cutoff", "pass@1", "ci_low", "ci_high"]


@pytest.mark.slow
def test_the_equated_table_has_models_with_other_windows(board_live: Live) -> None:
    ended = board_live("eval", "--after-cutoff", "--table", "equated", "--json")
    assert ended.code == 0
    rows = {row["model"]: row for row in ended.document["rows"]}
    assert (rows["m3"]["n_own_problems"], rows["late"]["n_own_problems"]) == (102, 42)
    late = rows["late"]
    assert late["low"] < late["estimate"] < late["high"]
    assert rows["m3"]["estimate"] < late["estimate"] < rows["m7"]["estimate"]  # abilities -0.3, 0.4 and 2.1


def test_markdown_and_help(board_live: Live) -> None:
    ended = board_live("compare", "m0", "m7", "--md")
    assert ended.out.startswith("# Comparison on common problems\n")
    assert board_live("compare", "m0", "m7", "--md", "--json").code == 2
    assert board_live("audit", "--help").code == 0


def test_composition_of_a_change(board_live: Live) -> None:
    ended = board_live("audit", "composition", "--before", "..2023-12", "--after", "2024-01..", "--json")
    assert ended.code == 0
    rows = {row["model"]: row for row in ended.document["rows"]}
    for row in rows.values():
        parts = row["composition"]["value"] + row["behaviour"]["value"]
        assert parts == pytest.approx(row["total"]["value"])
        assert abs(row["composition"]["value"]) < 0.01  # each contest has one problem of each level
    own = rows["memoriser"]["own"]
    assert own["value"] < -3 * own["se"]
    assert abs(rows["m3"]["own"]["value"]) < 3 * rows["m3"]["own"]["se"]


def test_composition_of_one_model_has_all_as_peers(board_live: Live) -> None:
    asked = ["audit", "composition", "--before", "..2023-12", "--after", "2024-01..", "--json"]
    some, every = board_live(*asked, "M3").document, board_live(*asked).document
    assert some["rows"] == [row for row in every["rows"] if row["model"] == "m3"]
    assert some["rows"][0]["n_peers"] == 9
    header = next(row for row in csv.reader(io.StringIO(board_live(*asked[:-1], "--csv").out)))
    assert {"of_all_models_se", "own_se"} <= set(header)
    assert len(set(header)) == len(header)


def test_cautions_that_models_share_are_said_once(board_live: Live) -> None:
    shown = board_live("audit", "composition", "--before", "..2023-03", "--after", "2024-01..").out
    assert shown.count("fewer than 8 contests on a side") == 1
    assert "late, m0, m1, m2, m3, m4, m5, m6, m7, memoriser: fewer than 8 contests" in " ".join(shown.split())


def test_little_room_for_a_change_is_said(board_live: Live) -> None:
    asked = ["audit", "composition", "--before", "..2023-12", "--after", "2024-01..", "--platform", "leetcode"]
    shown = " ".join(board_live(*asked, "memoriser").out.split())
    assert "memoriser: over 90 % solved before: near the ceiling, a change in points says little" in shown
    assert "near the" not in board_live(*asked, "m4").out


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("2023-01..2023-12", "2023-12..2024-05", "overlap"),
        ("..2024-01", "..2023-05", "overlap"),
        ("2023-05..", "2024-05..", "overlap"),
        ("2024-05..", "..2024-04", "--before lies after --after"),
    ],
)
def test_windows_must_follow_each_other(board_live: Live, before: str, after: str, said: str) -> None:
    ended = board_live("audit", "composition", "--before", before, "--after", after)
    assert ended.code == 2
    assert said in ended.err.splitlines()[0]


@pytest.mark.parametrize("text", ["2024", "..", "2024-05..2024-01", "x..y"])
def test_a_window_that_cannot_be_read(board_live: Live, text: str) -> None:
    ended = board_live("audit", "composition", "--before", text, "--after", "2024..")
    assert ended.code == 2
    assert ended.err.startswith("error: --before")


def test_what_does_not_go_with_a_table_is_refused(board_live: Live) -> None:
    for options, said in (
        (["--since", "2023-06", "--table", "equated"], "the equated table rests on what lies after each cut-off"),
        (["--after-cutoff", "--table", "common", "--k", "2"], "--k goes with --table own"),
        (["--after-cutoff", "--across", "temperature"], "--across goes with --table common"),
        (["--after-cutoff", "--table", "common", "--across", "nonsense"], '--across: no run has a setting "nonsense"'),
    ):
        ended = board_live("eval", *options)
        assert ended.code == 2
        assert said in ended.err


def test_nobody_is_ranked_on_problems_that_some_may_have_seen(board_live: Live) -> None:
    ended = board_live("eval", "--since", "2023", "--table", "common", "--json")
    (group,) = ended.document["groups"]
    assert group["refusal"].startswith("10 of 10 models may have seen problems (late may have seen 138)")
    assert all(row["ranks"] is None for row in group["rows"])
    shown = board_live("compare", "m3", "memoriser", "--any-time", "--since", "2023")
    assert "memoriser: 78 of these problems may have been public before its cut-off" in shown.out


def test_fewer_than_ten_problems_have_no_rate(board_live: Live) -> None:
    shown = board_live("eval", "--after-cutoff", "--table", "common", "--until", "2024-10-20")
    assert "fewer than 10 problems (3): read it as a list, not as a rate" in shown.out
    assert " of 3" in shown.out


def test_json_says_what_was_measured(board_live: Live) -> None:
    document = board_live("compare", "m3", "late", "--json").document
    assert document["window_from"] == "2024-10-01T12:00:00Z"
    assert {run["model"]: run["cutoff"] for run in document["runs"]} == {"m3": "2023-12", "late": "2024-09"}
    assert all(run["cutoff_source"] and run["settings"] == {"results": "imported (jsonl)"} for run in document["runs"])
    table = board_live("eval", "--after-cutoff", "--table", "common", "--json").document
    assert table["groups"][0]["problem_set_digest"] == table["problem_set_digest"]
    equated = board_live("eval", "--after-cutoff", "--table", "equated", "--json").document
    assert {row["cutoff"] for row in equated["rows"]} == {"2023-12", "2024-09"}
