"""Small CSV files of a user's."""

from __future__ import annotations

import csv
import io

import pytest

from eval.csv_text import NotCsv, read_csv_text, write_csv_text


def test_rows_come_with_their_lines() -> None:
    columns, rows = read_csv_text('\ufeffmodel,n\na,1\n"b\nc",\n\nd,4\n', "f.csv")
    assert columns == ["model", "n"]
    assert rows == [
        ("f.csv, line 2", {"model": "a", "n": "1"}),
        ("f.csv, line 4", {"model": "b\nc", "n": ""}),
        ("f.csv, line 6", {"model": "d", "n": "4"}),
    ]


def test_a_short_row_has_empty_cells_and_nothing_has_no_column() -> None:
    assert read_csv_text("a,b\n1\n", "f")[1] == [("f, line 2", {"a": "1", "b": ""})]
    assert read_csv_text("", "f") == ([], [])


def test_what_is_no_csv_is_named() -> None:
    with pytest.raises(NotCsv, match="f, after line 1: not CSV: ',' expected after"):
        read_csv_text('a\n"x"y\n', "f")


def test_what_is_written_is_read_back() -> None:
    rows = [["model", "score"], ["a\rb", "0.5"], ["c\nd", ""], ['e"f,g', "1"]]
    text = write_csv_text([rows[0], ["a\rb", 0.5], ["c\nd", None], ['e"f,g', 1]])
    assert list(csv.reader(io.StringIO(text, newline=""))) == rows
    assert text.startswith('model,score\n"a\rb",0.5\n')
