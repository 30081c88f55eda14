"""``live audit runs`` at a terminal."""

from __future__ import annotations

from tests.live.command import Live


def test_a_whole_board_is_sound(board_live: Live) -> None:
    ended = board_live("audit", "runs")
    assert ended.code == 0
    assert "10 runs are imported results: their answers are not in the store" in ended.out
    document = board_live("audit", "runs", "m0", "m1", "--json").document
    assert {row["model"] for row in document["months"]} == {"m0", "m1"}
    assert not any(row["withheld"] for row in document["months"])


def test_nothing_in_the_window(board_live: Live) -> None:
    assert board_live("audit", "runs", "--since", "2030").code == 0
    assert board_live("audit", "runs", "gpt-4o-2024-05-13").code == 3


def test_answers_of_programs_are_counted(demo_live: Live) -> None:
    document = demo_live("audit", "runs", "--json").document
    assert all(row["counts"]["asked"] > 0 for row in document["answers"])
    assert all(row["failed"] == 0 for row in document["answers"])  # nothing has been judged yet
