"""What an edition says: counted by hand on the invented one, and against what is known of the recorded board."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from eval.editions.document import FrozenEdition, MonthScore
from eval.report import Row
from tests.eval.editions.built import BUILD_DELAY, HOSTILE, invented, recorded
from tests.eval.facts import matrix_rows, utc


@pytest.fixture(scope="module")
def small() -> FrozenEdition:
    return invented()


@pytest.fixture(scope="module")
def board(shared_data: Path) -> FrozenEdition:
    return recorded(shared_data)


def rows(frozen: FrozenEdition) -> dict[str, Row]:
    return {row.run: row for row in frozen.edition.numbers.own.rows}


def test_each_run_has_its_row_or_its_reason(small: FrozenEdition) -> None:
    assert set(rows(small)) == {"steady", "memoriser", "frugal", "late", "failing", HOSTILE}
    assert [(one.model, one.reason) for one in small.edition.numbers.own.not_scored] == [
        ("nameless", "no cut-off and no release date is known")
    ]


def test_a_row_counts_public_problems_alone(small: FrozenEdition) -> None:
    # After 2024-06 there are the places 24 to 59, 36 problems; 45 is private, 25 has no result.
    row = rows(small)["steady"]
    assert (row.n_universe, row.n_eligible, row.n_judged) == (58, 35, 34)
    # By hand: places 24, 26 to 44 and 46 to 59; even ones are solved by none of 3 samples, odd ones by 3 - place % 3.
    solved = [3 - place % 3 for place in range(27, 60, 2) if place != 45]
    assert row.pass_at_1.value == pytest.approx(sum(solved) / 3 / 34, abs=1e-12)


def test_private_problems_are_one_number_or_none(small: FrozenEdition) -> None:
    found = {one.run: one for one in small.edition.numbers.private}
    assert (found["steady"].n_problems, found["steady"].score) == (1, None)
    assert found["steady"].reason == "fewer than 10 problems (1): read it as a list, not as a rate"
    assert found["late"].reason == "no problem was judged"


def test_months_of_few_problems_have_counts_and_no_rate(small: FrozenEdition) -> None:
    months = {one.run: one.months for one in small.edition.numbers.months}
    july = next(one for one in months["steady"] if (one.month, one.platform) == ("2024-07", ""))
    # Places 24 to 27, of which 25 has no result: 24 and 26 unsolved, 27 by all three samples.
    assert july == MonthScore("2024-07", "", 3, 1.0, None, None, None)


@pytest.mark.shared
def test_months_of_the_recorded_board_are_means_of_its_file(board: FrozenEdition, shared_data: Path) -> None:
    name = "O4-Mini (High)"
    expected: defaultdict[str, list[float]] = defaultdict(list)
    for row in matrix_rows(shared_data, "lcb_v6_2025-04-22"):
        if row["model"] == name:
            month = f"{utc(row['site_date']) - BUILD_DELAY:%Y-%m}"
            expected[month].append(float(row["pass@1"]) / 100)
    months = {one.run: one.months for one in board.edition.numbers.months}
    found = {one.month: one for one in months[name] if not one.platform}
    assert sorted(found) == sorted(expected)
    for month, scores in expected.items():
        assert found[month].n_problems == len(scores)
        assert found[month].n_solved == pytest.approx(sum(scores), abs=1e-9)
        if len(scores) >= 10:
            assert found[month].score == pytest.approx(sum(scores) / len(scores), abs=1e-12)
            low, high = found[month].low, found[month].high
            assert low is not None
            assert high is not None
            assert low < sum(scores) / len(scores) < high


@pytest.mark.shared
def test_the_broken_months_of_the_recorded_board_are_those_that_are_known(board: FrozenEdition) -> None:
    assert board.edition.numbers.broken_months == {"DeepSeek-V3": ("2025-01", "2025-03")}
    broken = [
        (one.run, month.month)
        for one in board.edition.numbers.months
        for month in one.months
        if month.is_broken and not month.platform
    ]
    assert broken == [("DeepSeek-V3", "2025-01"), ("DeepSeek-V3", "2025-03")]


@pytest.mark.shared
def test_ranks_of_later_windows_are_there_as_far_as_the_evidence_allows(board: FrozenEdition) -> None:
    # The latest cut-off ends on 1 February 2025, and the last problem is of April: only windows from March on are
    # whole months after it, and April has fewer than the 30 problems that ranks need.
    windows = [
        (f"{one.since:%Y-%m}", one.until and f"{one.until:%Y-%m}") for one in board.edition.numbers.ranked_windows
    ]
    assert windows == [("2025-03", "2025-04"), ("2025-03", "2025-05"), ("2025-03", None)]
    for one in board.edition.numbers.ranked_windows:
        assert {rank.run for rank in one.ranks} == {run.name for run in board.edition.runs}
        assert all(
            1 <= rank.simultaneous_low <= rank.low <= rank.high <= rank.simultaneous_high <= 16 for rank in one.ranks
        )
