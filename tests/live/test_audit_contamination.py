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


def test_a_day_that_cannot_be_read_is_named(board_live: Live) -> None:
    ended = board_live("audit", "contamination", "--at", "yesterday")
    assert ended.code == 2
    assert ended.err.startswith("error: --at:")
