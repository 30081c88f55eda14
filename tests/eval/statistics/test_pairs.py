"""Two models on common problems: by hand, against statsmodels, and against recorded tables."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.statistics.pairs import (
    PairMethod,
    compare,
    correlation,
    detectable_difference,
    mcnemar,
    planned_problems,
)
from tests.eval.statistics.boards import table
from tests.eval.statistics.first_dates import recorded_window

NAN = math.nan


def test_by_hand() -> None:
    """Ten contests of two problems; the differences of a contest are (1, 0) in five of them and (0, 0) in the others.

    Mean 0.25; residual sums +0.5 and -0.5: se^2 = 10/9 * 10 * 0.25 / 400. Of the problems: 15 * 0.25^2 + 5 * 0.75^2
    = 3.75, so sd^2 = 3.75/19.
    """
    a, b = [1.0, 0.5] * 5 + [0.5, 0.5] * 5, [0.0, 0.5] * 5 + [0.5, 0.5] * 5
    found = compare(a, b, np.repeat(np.arange(10), 2))
    assert (found.n_common, found.n_contests, found.n_only_a, found.n_only_b) == (20, 10, 0, 0)
    assert found.difference == pytest.approx(0.25)
    assert found.se == found.se_contests == pytest.approx(math.sqrt(10 / 9 * 2.5) / 20)
    assert found.se_problems == pytest.approx(math.sqrt(3.75 / 19 / 20))
    assert found.method is PairMethod.CONTEST_T
    # t with 9 degrees of freedom: 2.2622 for 97.5 %, 0.8834 for 80 % (tables). t = 0.25 / 0.0833 = 3: p = 0.01496.
    assert found.low == pytest.approx(0.25 - 2.2622 / 12, abs=1e-4)
    assert found.high == pytest.approx(0.25 + 2.2622 / 12, abs=1e-4)
    assert found.detectable == pytest.approx((2.2622 + 0.8834) / 12, abs=1e-4)
    assert found.p == pytest.approx(0.01496, abs=1e-5)
    assert found.mcnemar is None
    assert found.refusal is None


def test_only_common_problems_count() -> None:
    a, b = np.linspace(0, 1, 30), np.linspace(0, 1, 30) ** 2
    alone = compare(a[6:], b[6:], np.arange(6, 30))
    a[:2], b[2:6] = NAN, NAN
    found = compare(a, b, np.arange(30))
    assert (found.n_common, found.n_only_a, found.n_only_b) == (24, 4, 2)
    assert (found.difference, found.se, found.p) == (alone.difference, alone.se, alone.p)


@pytest.mark.parametrize("n", [0, 1, 9])
def test_few_common_problems_are_refused(n: int) -> None:
    found = compare([1.0] * n, [0.0] * n, range(n))
    assert found.refusal == f"needs at least 10 common problems, there are {n}"
    assert (found.difference, found.low, found.p, found.mcnemar) == (None, None, None, None)


def test_one_contest_has_a_difference_and_no_error() -> None:
    found = compare([1.0, 0.0] * 10, [0.0, 0.0] * 10, [3] * 20)
    assert found.difference == 0.5
    assert (found.method, found.se, found.low, found.p, found.detectable) == (PairMethod.NONE, None, None, None, None)
    assert found.caution is not None
    assert "one contest" in found.caution
    assert found.mcnemar is not None
    assert found.mcnemar.p == pytest.approx(2 / 2**10)


@pytest.mark.parametrize(("other", "word"), [(1.0, "equal"), (0.25, "same difference")])
def test_without_spread_there_is_no_error(other: float, word: str) -> None:
    found = compare([1.0] * 40, [other] * 40, np.arange(40) // 2)
    assert found.difference == 1.0 - other
    assert (found.se, found.low, found.p, found.correlation) == (None, None, None, None)
    assert found.caution is not None
    assert word in found.caution


def test_few_contests_use_the_larger_error_with_few_degrees_of_freedom() -> None:
    """Four contests of five problems whose differences agree: 1, 1, 0, 0. s.e. by contest sqrt(4/3 * 25) / 20."""
    a, b = [1.0] * 10 + [0.5] * 10, [0.0] * 10 + [0.5] * 10
    found = compare(a, b, np.repeat(np.arange(4), 5))
    assert found.method is PairMethod.LARGER_T
    assert found.se == pytest.approx(math.sqrt(4 / 3 * 4 * 2.5**2) / 20)
    assert found.low == pytest.approx(0.5 - 3.1824 * math.sqrt(4 / 3 * 25) / 20, abs=1e-4)
    cancel = compare([1.0, 0.0] * 20, [0.0, 1.0] * 20, np.arange(40) // 2)
    assert cancel.method is PairMethod.LARGER_T
    assert cancel.se == cancel.se_problems == pytest.approx(1 / math.sqrt(39))


def test_mcnemar_against_statsmodels() -> None:
    """statsmodels 0.15.0, mcnemar(table, exact=True)."""
    for only_a, only_b, p in ((39, 13, 0.0004095414537825804), (5, 1, 0.21875), (3, 3, 1.0), (0, 0, 1.0)):
        a = [1.0] * only_a + [0.0] * only_b + [1.0, 0.0]
        b = [0.0] * only_a + [1.0] * only_b + [1.0, 0.0]
        found = mcnemar(a, b)
        assert (found.only_a, found.only_b) == (only_a, only_b)
        assert found.p == pytest.approx(p)
    with pytest.raises(ValueError, match="0 and 1"):
        mcnemar([0.5], [1.0])


def test_planned_numbers() -> None:
    """Differences with a standard deviation of 0.28: 3 points take about 680 problems, 5 about 245, 10 about 62."""
    se = 0.28 / math.sqrt(238)
    assert detectable_difference(se) == pytest.approx(0.0508, abs=5e-5)
    assert [planned_problems(se, 238, points / 100) for points in (3, 5, 10)] == [683, 246, 62]
    assert planned_problems(se, 238, detectable_difference(se)) == 238
    for wrong in ((0.0, 238, 0.05), (se, 0, 0.05), (se, 238, 0.0)):
        with pytest.raises(ValueError, match="no number of problems"):
            planned_problems(*wrong)


def test_correlation() -> None:
    assert correlation([0.0, 0.5, 1.0], [0.0, 0.5, 1.0]) == pytest.approx(1.0)
    assert correlation([0.0, 1.0], [0.5, 0.5]) is None
    assert correlation([], []) is None


def test_misuse() -> None:
    with pytest.raises(ValueError, match="shapes"):
        compare([1.0], [1.0, 0.0], [0])
    with pytest.raises(ValueError, match="between 0 and 1"):
        compare([55.0], [1.0], [0])


CELLS = st.tuples(st.sampled_from([0.0, 0.2, 0.9, 1.0, NAN]), st.sampled_from([0.0, 0.2, 1.0, NAN]), st.integers(0, 20))


@given(st.lists(CELLS, max_size=60))
def test_the_other_way_round_only_the_sign_changes(cells: list[tuple[float, float, int]]) -> None:
    a, b, clusters = ([cell[part] for cell in cells] for part in range(3))
    one, other = compare(a, b, clusters), compare(b, a, clusters)
    assert (one.refusal is None) == (one.difference is not None)
    if one.difference is not None:
        assert other.difference == pytest.approx(-one.difference)
        assert (one.method, one.caution) == (other.method, other.caution)
    if one.low is not None:
        assert other.high == pytest.approx(-one.low)
        assert other.p == pytest.approx(one.p)


@pytest.mark.shared
def test_the_recorded_neighbours(shared_data: Path) -> None:
    """44 pairs of neighbours among 45 models; three can be told apart at 5 %."""
    window = recorded_window(shared_data)
    rows = table(shared_data, "lcb_v1_adjacent_pairs")
    separable = 0
    for row in rows:
        found = compare(window.row(row["model_a"]), window.row(row["model_b"]), window.contests)
        columns = {
            "n": found.n_common,
            "diff": found.difference,
            "se_unpaired": found.se_unpaired,
            "se_paired": found.se_problems,
            "se_paired_cluster": found.se,
            "corr": found.correlation,
            "p_cluster": found.p,
            "mde80_paired": found.detectable,
        }
        for name, value in columns.items():
            # The difference is recorded without its sign, to four digits like the rest.
            assert value is not None
            assert abs(value) == pytest.approx(float(row[name]), abs=1e-4), (row["model_a"], name)
        assert found.n_contests == 62
        separable += found.p is not None and found.p < 0.05
    assert (len(rows), separable) == (44, 3)


@pytest.mark.shared
def test_the_two_o1_models_since_august_2024(shared_data: Path) -> None:
    """Graded submissions (the site graded 4 and 11 problems of its copy differently): 39 against 13, p = 0.0004."""
    folder = shared_data / "livecodebench"
    with gzip.open(folder / "problems.jsonl.gz", "rt", encoding="utf-8") as lines:
        problems = {row["question_id"]: row for row in map(json.loads, lines)}
    grades: dict[str, dict[str, float]] = {"o1-mini-2024-09-12": {}, "o1-preview-2024-09-12": {}}
    with gzip.open(folder / "solutions.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["model"] in grades and problems[row["question_id"]]["contest_date"] >= "2024-08":
                grades[row["model"]][row["question_id"]] = float(row["published_grade"])
    mini, preview = grades.values()
    contests = sorted({problems[name]["contest_id"] for name in mini})
    found = compare(
        list(mini.values()),
        [preview[name] for name in mini],
        [contests.index(problems[name]["contest_id"]) for name in mini],
    )
    assert (found.n_common, sum(mini.values()), sum(preview.values())) == (279, 145, 119)
    assert found.mcnemar is not None
    assert (found.mcnemar.only_a, found.mcnemar.only_b) == (39, 13)
    assert found.mcnemar.p == pytest.approx(0.0004, abs=5e-5)
    assert found.p is not None
    assert found.p < 0.001
