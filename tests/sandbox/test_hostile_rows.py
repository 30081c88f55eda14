"""Every row of the table of hostile programs (SANDBOX.md, section 8) is played."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.sandbox.hostile_rows import N_ROWS, OWN_TESTS, cases_of_rows, files_that_name_rows, is_run_for_rows


def test_every_row_has_a_case_or_a_test_of_its_own() -> None:
    found = cases_of_rows()
    assert sorted(found.keys() | OWN_TESTS.keys()) == list(range(1, N_ROWS + 1))


def test_the_files_that_name_rows_are_run_with_a_look_at_what_is_left() -> None:
    assert [file for file in sorted(files_that_name_rows()) if not is_run_for_rows(file)] == []


def test_every_named_test_is_there(root: Path) -> None:
    named = [one.partition("::") for tests in OWN_TESTS.values() for one in tests]
    absent = [
        f"{file}::{name}"
        for file, _, name in named
        if f"\ndef {name}(" not in (root / file).read_text(encoding="utf-8")
    ]
    assert absent == []


@pytest.mark.shared
def test_the_table_has_these_rows(shared_data: Path) -> None:
    text = (shared_data.parent / "SANDBOX.md").read_text(encoding="utf-8")
    section = text.split("\n## 8. ")[1].split("\n## ")[0]
    assert [int(number) for number in re.findall(r"^\| (\d+)\*? \|", section, re.MULTILINE)] == list(
        range(1, N_ROWS + 1)
    )
