"""What an edition says: counted by hand on the invented one, and against what is known of the recorded board."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval.editions.document import Edition, FrozenEdition, MonthScore, PrivateScore
from eval.editions.numbers import Inputs, numbers_of, rounded
from eval.editions.parts import public_part
from eval.editions.verifying import other_numbers
from eval.report import Row
from tests.eval.editions.built import (
    BUILD_DELAY,
    HOSTILE,
    edition_problem,
    edition_run,
    freeze_built,
    invented,
    recorded,
)
from tests.eval.facts import matrix_rows, model, registry, utc

ROOT = Path(__file__).parents[3]


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


def chosen(board: FrozenEdition, names: Collection[str] | None = None, **settings: Any) -> Edition:
    """The recorded board with other settings, showing some of its runs."""
    edition = board.edition
    runs = tuple(replace(run, is_shown=names is None or run.name in names) for run in edition.runs)
    settings_of = replace(edition.settings, **settings)
    inputs = Inputs(edition.problems, runs, edition.registry, settings_of, edition.as_of, None)
    return replace(edition, runs=runs, settings=settings_of, numbers=numbers_of(inputs))


@pytest.mark.shared
def test_a_filter_does_not_change_which_months_are_broken(board: FrozenEdition) -> None:
    # On LeetCode alone only March stands out: too few easy problems are left in January.
    numbers = chosen(board, platforms=("leetcode",)).numbers
    assert numbers.broken_months == {"DeepSeek-V3": ("2025-01", "2025-03")}
    assert {row.n_universe for row in numbers.own.rows} == {
        sum(one.facts.platform == "leetcode" for one in board.edition.problems)
    }


FIVE = ("Claude-3-Haiku", "GPT-4O-2024-08-06", "GPT-4-Turbo-2024-04-09", "DeepSeek-V3", "O3-Mini-2025-01-31 (Low)")


@pytest.mark.shared
def test_runs_that_are_shown_are_judged_beside_all(board: FrozenEdition) -> None:
    edition = chosen(board, FIVE)
    numbers, whole = edition.numbers, board.edition.numbers
    assert numbers.broken_months == {"DeepSeek-V3": ("2025-01", "2025-03")}
    assert {row.run for row in numbers.own.rows} == {one.run for one in numbers.months} == set(FIVE)
    assert numbers.own.rows == tuple(row for row in whole.own.rows if row.run in FIVE)
    for sheet in (numbers.contamination, numbers.health, numbers.difficulty):
        assert any("all 16" in line or "all were fitted" in line for line in sheet.conditions), sheet.conditions
    # As the command line has it: the same verdicts as beside all, of these alone.
    verdicts, of_all = (one.contamination.data["summary"] for one in (numbers, whole))
    assert verdicts == [row for row in of_all if row["model"] in FIVE]
    public = public_part(edition)
    assert {run.name for run in public.runs} == set(FIVE)
    assert other_numbers(public) == ()


@pytest.mark.shared
@pytest.mark.slow
def test_another_kind_of_cpu_gives_the_same_bytes(board: FrozenEdition, shared_data: Path) -> None:
    # OpenBLAS chooses its kernels by the processor; older ones add up in another order.
    code = (
        "import sys; from pathlib import Path; from tests.eval.editions.built import recorded; "
        "print(recorded(Path(sys.argv[1])).digest)"
    )
    command = [sys.executable, "-c", code, str(shared_data)]
    for kind in ("Sandybridge", "Prescott"):
        environment = {**os.environ, "OPENBLAS_CORETYPE": kind, "PYTHONPATH": str(ROOT)}
        found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert found.stdout.strip() == board.digest, kind


def test_digits_that_machines_differ_in_are_not_frozen(small: FrozenEdition) -> None:
    numbers = small.edition.numbers
    noisy = replace(
        numbers,
        difficulty=replace(numbers.difficulty, data={"a": [1 / 3, {"b": 2e-20 / 3}], "n": 3, "yes": True}),
        private=(PrivateScore("steady", 10, 2 / 3, None, None, None),),
    )
    found = rounded(noisy)
    assert found.difficulty.data == {"a": [0.333333333, {"b": 6.66666667e-21}], "n": 3, "yes": True}
    assert found.private == (PrivateScore("steady", 10, 0.666666666667, None, None, None),)
    assert rounded(numbers) == numbers


def test_a_list_of_few_problems_has_no_interval() -> None:
    problems = [edition_problem(place) for place in range(12)]
    runs = [
        edition_run("few", [(place, 1, place % 2) for place in range(9)]),
        edition_run("enough", [(place, 1, place % 2) for place in range(12)]),
    ]
    models = registry(model("few", "2023-10"), model("enough", "2023-10"))
    few, enough = (rows(freeze_built(problems, runs, models))[name].pass_at_1 for name in ("few", "enough"))
    assert few.value == pytest.approx(4 / 9)
    assert (few.se, few.ci_low, few.ci_high, few.interval_method) == (None, None, None, "none")
    assert enough.value == 0.5
    assert enough.ci_low is not None


def test_private_problems_are_told_in_whole_percent() -> None:
    flags = (("private", "held back"),)
    problems = [edition_problem(place, flags=flags, contest=f"contest {place}") for place in range(13)]
    run = edition_run("steady", [(place, 1, place < 5) for place in range(13)])
    (found,) = freeze_built(problems, [run], registry(model("steady", "2023-10"))).edition.numbers.private
    assert (found.n_problems, found.score) == (13, 0.38)  # 5 of 13 are 0.3846
    for bound in (found.low, found.high):
        assert bound is not None
        assert 100 * bound == pytest.approx(round(100 * bound), abs=1e-9)


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
