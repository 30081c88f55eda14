"""``live audit contamination`` at a terminal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.live.command import Live


def test_without_controls_nothing_is_said(board_live: Live) -> None:
    """All cut-offs are at the end of 2023: no model can serve for problems of that year."""
    ended = board_live("audit", "contamination", "--since", "2023")
    assert ended.code == 3
    assert "controls: none: no model has a stated cut-off before the problems" in ended.out
    assert "withheld: no comparable control" in ended.out


@pytest.fixture
def early(board_live: Live, monkeypatch: pytest.MonkeyPatch, board_folder: Path, tmp_path: Path) -> Live:
    """The same board with cut-offs in 2022 for the eight plain models."""
    entries = (board_folder / "models.toml").read_text(encoding="utf-8").split("[[model]]\n")
    plain = re.compile(r'name = "m[0-9]"')
    moved = [entry.replace("2023-12", "2022-06") if plain.match(entry) else entry for entry in entries]
    (tmp_path / "models.toml").write_text("[[model]]\n".join(moved), encoding="utf-8")
    monkeypatch.setenv("LIVE_MODELS", str(tmp_path / "models.toml"))
    return board_live


def test_the_memoriser_is_found_on_the_platform_that_it_has_learnt(early: Live) -> None:
    ended = early("audit", "contamination", "--json")
    assert ended.code == 0
    panels = ended.document["platforms"]
    verdicts = {(panel["platform"], one["model"]): one["verdict"] for panel in panels for one in panel["judged"]}
    assert verdicts["leetcode", "memoriser"] == "gap found"
    assert verdicts["atcoder", "memoriser"] == "gap not found"
    assert verdicts["leetcode", "late"] == "gap not found"
    shown = early("audit", "contamination")
    assert "memoriser: gap found: +" in shown.out
    assert "could be seen" in shown.out
    (summary,) = (row for row in ended.document["summary"] if row["model"] == "memoriser")
    assert summary["in_all"] == "gap found on leetcode"
    assert shown.out.index("Verdicts") < shown.out.index("Gap at the cut-off")
    assert "p: adjusted (Holm) over the 2 tests on leetcode" in shown.out


def test_models_that_are_named_are_shown_and_the_rest_are_controls(early: Live) -> None:
    some, every = (early("audit", "contamination", "--json", *names).document for names in (["Memoriser"], []))
    for panel, whole in zip(some["platforms"], every["platforms"], strict=True):
        assert [one["model"] for one in panel["judged"]] == ["memoriser"]
        assert panel["judged"] == [one for one in whole["judged"] if one["model"] == "memoriser"]
        assert all(one in whole["breaks"] for one in panel["breaks"])
    ended = early("audit", "contamination", "m1")
    assert ended.code == 3
    assert "nothing left to test: the cut-offs of m1 lie before the first problem used" in ended.out


def test_a_control_can_be_left_out(early: Live) -> None:
    document = early("audit", "contamination", "--without-control", "M3", "--json").document
    assert "left out as controls, by --without-control: m3" in document["conditions"]
    assert document["without_control"] == ["m3"]
    assert "m3" not in document["controls"]["memoriser"]
    used = {name for panel in document["platforms"] for one in panel["judged"] for name in one["gap"]["controls"]}
    assert used == {f"m{place}" for place in range(8) if place != 3}
    assert not any(one["model"] == "m3" for panel in document["platforms"] for one in panel["judged"])
    ended = early("audit", "contamination", "--without-control", "nobody")
    assert ended.code == 2
    assert ended.err.startswith('error: --without-control: no results of the model "nobody"')


def test_a_start_after_all_cut_offs_leaves_nothing_to_test(early: Live) -> None:
    ended = early("audit", "contamination", "--since", "2025-02")
    assert ended.code == 3
    assert "nothing left to test: the cut-offs of late, m0, m1" in ended.out
    assert "an earlier --since leaves some to test" in " ".join(ended.out.split())
    ended = early("audit", "contamination", "--since", "2031")
    assert ended.code == 3
    assert "nothing left to test: no problem with results is left" in ended.out


def test_the_header_has_the_problems_that_were_tested(board_live: Live) -> None:
    """Ten models with cut-offs at the end of 2023: without --since the problems start then."""
    conditions = board_live("audit", "contamination", "--json").document["conditions"]
    assert conditions[0] == "10 runs on 102 problems published in [2024-01-01T12:00:00Z, ...)"
    assert any("78 published before enough cut-offs of controls were over" in line for line in conditions)
    whole = board_live("audit", "runs", "--json").document["conditions"]
    assert whole[0] == "10 runs on 180 problems published at any date"
    assert whole[1] != conditions[1]  # the digest is that of the problems tested


def test_a_day_that_cannot_be_read_is_named(board_live: Live) -> None:
    ended = board_live("audit", "contamination", "--at", "yesterday")
    assert ended.code == 2
    assert ended.err.startswith("error: --at:")


def test_a_store_without_results_has_nothing_to_test(live: Live) -> None:
    assert live("import", "problems", "/dev/null", "--format", "jsonl").code == 0
    ended = live("audit", "contamination")
    assert ended.code == 3
    assert "nothing left to test: the store has no results" in ended.out
