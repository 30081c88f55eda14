"""Findings as text, Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from eval import sheets
from eval.sheets import Sheet, Table

SHEET = Sheet(
    title="Two models",
    conditions=("window [2024-01-01T00:00Z, ...)", "problem set 0123456789ab"),
    tables=(
        Table(
            "pass@1",
            (
                sheets.text("model"),
                sheets.count("problems"),
                sheets.percent("pass@1"),
                sheets.points("difference"),
                sheets.number("z"),
                sheets.p_value("p"),
            ),
            (("a|b [x](y)", 12, 0.4321, -0.0123, 1.5, 1e-7), ("c", 0, None, None, None, None)),
            ("c has no problem in the window",),
        ),
    ),
    notes=("no ranks",),
    data={"rows": [{"model": "c", "value": None}]},
)


def printed(sheet: Sheet, width: int = 80) -> str:
    out = io.StringIO()
    sheets.print_sheet(sheet, Console(file=out, width=width, no_color=True))
    return out.getvalue()


def test_the_terminal_shows_rounded_numbers_and_a_dash_where_there_is_none() -> None:
    lines = printed(SHEET).splitlines()
    assert lines[:3] == ["Two models", "  window [2024-01-01T00:00Z, ...)", "  problem set 0123456789ab"]
    row = next(line for line in lines if line.startswith("a|b"))
    assert row.split() == ["a|b", "[x](y)", "12", "43.2", "-1.2", "1.50", "<0.0001"]
    assert next(line for line in lines if line.startswith("c ")).split() == ["c", "0", "–", "–", "–", "–"]
    assert "  c has no problem in the window" in lines
    assert lines[-1] == "no ranks"


@pytest.mark.parametrize("width", [40, 80])
def test_long_lines_are_folded(width: int) -> None:
    sheet = Sheet("t", ("word " * 60,), (), ("note " * 60,))
    assert max(map(len, printed(sheet, width).splitlines())) <= width


def test_markdown_cannot_be_broken_by_a_name() -> None:
    text = sheets.sheet_to_markdown(SHEET)
    assert "| a\\|b \\[x\\](y) | 12 | 43.2 | -1.2 | 1.50 | &lt;0.0001 |" in text
    assert "| --- | ---: | ---: | ---: | ---: | ---: |" in text
    assert text.startswith("# Two models\n")


def test_csv_is_unrounded() -> None:
    rows = list(csv.reader(io.StringIO(sheets.sheet_to_csv(SHEET))))
    said = ["window [2024-01-01T00:00Z, ...); problem set 0123456789ab", "c has no problem in the window; no ranks"]
    assert rows == [
        ["table", "model", "problems", "pass@1", "difference", "z", "p", "conditions", "notes"],
        ["pass@1", "a|b [x](y)", "12", "0.4321", "-0.0123", "1.5", "1e-07", *said],
        ["pass@1", "c", "0", "", "", "", "", *said],
    ]


def test_json_holds_the_data_and_every_note() -> None:
    document = json.loads(sheets.sheet_to_json(SHEET))
    assert document == {
        "title": "Two models",
        "conditions": list(SHEET.conditions),
        "rows": [{"model": "c", "value": None}],
        "notes": ["no ranks", "c has no problem in the window"],
    }


class Word(StrEnum):
    YES = "yes"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (datetime(2024, 1, 2, 3, tzinfo=UTC), "2024-01-02T03:00:00Z"),
        (date(2024, 1, 2), "2024-01-02"),
        (Word.YES, "yes"),
        (np.float64(0.5), 0.5),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        ({1: (True, None)}, {"1": [True, None]}),
        (frozenset({"b", "a"}), ["a", "b"]),
    ],
)
def test_plain_values(value: Any, expected: Any) -> None:
    assert sheets.plain(value) == expected


@pytest.mark.parametrize("value", [float("nan"), float("inf"), np.array([np.nan])])
def test_what_is_not_finite_is_no_finding(value: Any) -> None:
    with pytest.raises(ValueError, match="is no finding"):
        sheets.plain(value)


def test_a_row_has_a_cell_for_each_column() -> None:
    with pytest.raises(ValueError, match="a row of 1 cells under 2 columns"):
        Table("t", (sheets.text("a"), sheets.text("b")), (("x",),))


@pytest.mark.parametrize(
    ("column", "low", "high", "text", "raw"),
    [
        (sheets.interval(), 0.412, 0.4789, "41.2–47.9", (0.412, 0.4789)),
        (sheets.difference_interval(), -0.02, 0.0312, "-2.0 to +3.1", (-0.02, 0.0312)),
        (sheets.difference_interval(), -0.0001, 0.0312, "+0.0 to +3.1", (-0.0001, 0.0312)),
        (sheets.interval(), None, 0.5, "–", ("", "")),
    ],
)
def test_an_interval_is_one_cell_for_a_person_and_two_for_a_program(
    column: sheets.Column, low: float | None, high: float | None, text: str, raw: tuple[Any, ...]
) -> None:
    cell = sheets.span(low, high)
    assert column.text(cell) == text
    assert column.raw(cell) == raw
    assert column.names == ("ci_low", "ci_high")


WIDE = Table(
    "t",
    (sheets.text("model"), *(sheets.percent(f"column {place}") for place in range(8)), sheets.text("verdict")),
    (
        ("gpt-4o-mini-2024-07-18-with-a-long-name", *[0.5] * 8, "withheld: no comparable control was to be had"),
        ("short", *[None] * 8, "gap found"),
    ),
)


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_a_table_fits_the_terminal_and_no_number_is_broken(width: int) -> None:
    lines = sheets.table_lines(WIDE, width)
    assert max(map(len, lines)) <= width
    assert sum(line.count("50.0") for line in lines) == 8
    name = "".join(line[: width // 3 if width > 60 else 20].strip() for line in lines[1:3] if "short" not in line)
    assert name.startswith("gpt-4o-mini-2024-07-")
    assert all(line == line.rstrip() for line in lines)
