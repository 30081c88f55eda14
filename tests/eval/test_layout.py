"""Columns of texts in lines: nothing is cut, nothing is broken that need not be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.layout import TextColumn, folded, lay_out

NAME = "gpt-4o-mini-2024-07-18-with-a-long-name"
WIDE = (
    TextColumn("model", (NAME, "short")),
    *(TextColumn(f"column {place}", ("50.0", "–"), is_number=True) for place in range(8)),
    TextColumn("verdict", ("withheld: no comparable control was to be had", "gap found")),
)


def lines(columns: tuple[TextColumn, ...], width: int, n_keys: int = 1) -> list[str]:
    return [line.text for line in lay_out(columns, width, n_keys)]


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_a_table_fits_the_terminal_and_no_number_is_broken(width: int) -> None:
    shown = lines(WIDE, width)
    assert max(map(len, shown)) <= width
    assert sum(line.count("50.0") for line in shown) == 8
    assert all(line == line.rstrip() for line in shown)


def test_what_names_the_row_stands_beside_every_part() -> None:
    columns = (TextColumn("A", ("first", "first")), TextColumn("B", ("second", "third")), *WIDE[1:])
    parts = "\n".join(lines(columns, 40, 2)).split("\n\n")
    assert len(parts) > 2
    assert all(part.count("first") == 2 and "second" in part and "third" in part for part in parts)


def test_headings_are_folded_before_a_table_is_split() -> None:
    columns = (TextColumn("model", ("m" * 20,)), TextColumn("could be seen", ("5.4",), is_number=True))
    assert lines(columns, 35) == ["model                 could be seen", "m" * 20 + "            5.4"]
    assert lines(columns, 29) == [
        " " * 22 + "could",
        " " * 25 + "be",
        "model" + " " * 18 + "seen",
        "m" * 20 + "    5.4",
    ]


def test_headings_are_whole_where_there_is_room_for_them() -> None:
    columns = (
        TextColumn("model", ("m" * 20,)),
        TextColumn("95 %", ("–",), is_number=True),
        TextColumn("judged/eligible", ("613/782",), is_number=True),
    )
    over, under, _ = lines(columns, 38)
    assert over.split() == ["judged/"]
    assert under.split() == ["model", "95", "%", "eligible"]


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("gemini-2.5-flash-preview-04-17", 26, ["gemini-2.5-flash-preview-", "04-17"]),
        ("o3-mini-2025-01-31__medium", 25, ["o3-mini-2025-01-31__", "medium"]),
        ("o1-mini-2024-09-12 (import)", 20, ["o1-mini-2024-09-12", "(import)"]),
        ("no-break needed", 15, ["no-break needed"]),
        ("claude-3-haiku, gpt-4o", 14, ["claude-3-", "haiku, gpt-4o"]),
        ("unbreakable", 4, ["unbr", "eaka", "ble"]),
        ("abcd, efgh", 4, ["abc", "d,", "efgh"]),
        ("", 5, [""]),
    ],
)
def test_words_are_broken_where_they_may_be(text: str, width: int, expected: list[str]) -> None:
    assert folded(text, width) == expected


@given(st.text("ab-_/, "), st.integers(2, 12))
def test_folding_loses_nothing_and_no_line_begins_with_a_comma(text: str, width: int) -> None:
    shown = folded(text, width)
    assert "".join(shown).replace(" ", "") == "".join(text.split())
    assert all(len(line) <= width for line in shown)
    broken = [line for line in shown[1:] if line.startswith(",")]
    assert all(any(word.startswith(",") for word in text.split()) or ",," in text for _ in broken)


def test_a_command_is_whole_and_a_number_is_not_cut() -> None:
    command = "live problems flag " + "x" * 90
    assert lines((TextColumn("command", (command,), is_whole=True),), 40) == ["command", command]
    columns = (TextColumn("model", ("m",)), TextColumn("n", ("1234567890" * 3,), is_number=True))
    assert any("1234567890" * 3 in line for line in lines(columns, 24))
