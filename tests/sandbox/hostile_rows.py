"""Which cases show each row of the table of hostile programs in SANDBOX.md, section 8.

A case names its rows in its ``source``; rows that take more than a program and its verdict have tests of their own.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from tests.sandbox.case_files import CASES, judge_cases

N_ROWS: Final = 55

_HOSTILE = "tests/sandbox/test_hostile.py"
_ORPHANS = "tests/sandbox/test_orphans.py"
_JUDGE = "tests/sandbox/test_judge.py"

OWN_TESTS: Final = {
    52: (f"{_HOSTILE}::test_a_million_writes_of_a_byte_take_the_programs_own_time",),
    54: (f"{_HOSTILE}::test_an_input_of_100_mb_that_nobody_reads",),
    55: (
        f"{_HOSTILE}::test_a_jail_whose_host_is_cut_off_is_replaced_and_the_program_judged_all_the_same",
        f"{_ORPHANS}::test_the_next_command_removes_what_a_killed_one_left",
        f"{_JUDGE}::test_a_test_whose_jail_ends_is_run_again",
    ),
}
"""Row -> tests as FILE::FUNCTION."""

# The files whose cases are run with a look at the jail and at this machine after each.
_FILES = ("hostile", "stdin_forms", "verdicts", "hostile_calls", "calls", "design", "nodes", "hostile_languages")


def cases_of_rows() -> dict[int, list[str]]:
    """Row -> the cases that show it, as "FILE: NAME"."""
    found: dict[int, list[str]] = defaultdict(list)
    for param in judge_cases(*_FILES):
        for row in param.values[0].rows:
            found[row].append(param.id)
    return dict(found)


def files_that_name_rows() -> set[str]:
    """The case files in which a row is named, whether or not their cases are run so."""
    return {path.stem for path in CASES.glob("*.toml") if "SANDBOX 8 row" in path.read_text(encoding="utf-8")}


def is_run_for_rows(file: str) -> bool:
    """Whether the hostile ones of a file's cases are run with a look at the jail and at this machine after each."""
    return file in _FILES
