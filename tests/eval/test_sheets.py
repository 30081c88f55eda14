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


def test_a_range_is_one_number_where_its_ends_look_alike() -> None:
    column = sheets.from_to("solved", 1, 100)
    assert column.text((0.6281, 1.0)) == "62.8–100.0"
    assert column.text((0.6281, 0.6282)) == "62.8"
    assert column.raw((0.6281, 0.6282)) == (0.6281, 0.6282)
    assert column.names == ("solved_low", "solved_high")


@pytest.mark.parametrize(
    ("heading", "key"),
    [("cut-off", "cutoff"), ("cut off", "cut_off"), ("s.e.", "se"), ("s.e. of an ability", "se_of_an_ability")],
)
def test_a_name_in_csv_is_made_of_the_heading(heading: str, key: str) -> None:
    assert sheets.number(heading).names == (key,)


COMMANDS = Table(
    "To copy",
    (sheets.command("command"),),
    (("live problems flag atcoder:abc301_a bad_tests --reason 'none of the 5 strongest models solves it'",),),
)


def test_a_command_to_copy_is_never_folded() -> None:
    (command,) = COMMANDS.rows[0]
    assert command in printed(Sheet("t", (), (COMMANDS,)), 40).splitlines()


def test_what_is_for_programs_is_in_csv_alone() -> None:
    columns = (sheets.text("evidence"), sheets.for_programs(sheets.number("chance")))
    sheet = Sheet("t", (), (Table("3 findings", columns, (("none; chance 1.9e-06", 1.93e-6),), name="findings"),))
    assert "1.93" not in printed(sheet)
    assert "1.93" not in sheets.sheet_to_markdown(sheet)
    assert "## 3 findings" in sheets.sheet_to_markdown(sheet)
    (row,) = csv.DictReader(io.StringIO(sheets.sheet_to_csv(sheet)))
    assert row == {
        "table": "findings",
        "evidence": "none; chance 1.9e-06",
        "chance": "1.93e-06",
        "conditions": "",
        "notes": "3 findings",
    }


def test_several_tables_in_one_csv_are_told_apart_by_their_headers() -> None:
    """As ``sheet_to_csv`` describes it: a row that begins with "table" is the header of the rows up to the next one."""
    one, two = Table("", (sheets.text("model"),), (("a",), ("b",))), Table("Kinds", (sheets.count("n"),), ((1,),))
    read: list[dict[str, str]] = []
    for cells in csv.reader(io.StringIO(sheets.sheet_to_csv(Sheet("Scores", (), (one, two))))):
        if cells[0] == "table":
            header = cells
        else:
            read.append(dict(zip(header, cells, strict=True)))
    assert [(row["table"], row.get("model"), row.get("n")) for row in read] == [
        ("Scores", "a", None),
        ("Scores", "b", None),
        ("Kinds", None, "1"),
    ]
