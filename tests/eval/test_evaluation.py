"""From plain data to a report: what counts, what is left out and why, and what a row says of itself."""

from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.records import Precision
from eval.cutoffs import parse_cutoff
from eval.eligibility import CutoffStatus
from eval.evaluation import Outcome, RunOutcomes, evaluate
from eval.models import Alias, Registry
from eval.report import Report, Row
from eval.settings import Settings
from eval.window import ProblemFacts, Reason
from tests.eval.facts import (
    NOW,
    claim,
    livecodebench_problems,
    matrix,
    model,
    problem,
    published_runs,
    registry,
    run,
    utc,
)

AFTER = Settings()
ALL_TIME = Settings(after_cutoff=False, since=utc("2000-01-01"), include_flagged=True)


def report_of(
    problems: list[ProblemFacts], runs: list[RunOutcomes], known: Registry | None = None, settings: Settings = AFTER
) -> Report:
    known = known or registry(*(model(name) for name in sorted({item.model for item in runs})))
    return evaluate(problems, runs, known, settings, now=NOW, environment_digest="e" * 64)


def row_of(problems: list[ProblemFacts], results: list[tuple[int, int, int]], settings: Settings = AFTER) -> Row:
    (row,) = report_of(problems, [run("m", results)], settings=settings).rows
    return row


def test_a_row_carries_what_its_score_rests_on() -> None:
    problems = [problem(number, difficulty="easy" if number < 6 else "hard") for number in range(10)]
    row = row_of(problems, [(number, 2, number % 3) for number in range(10)])
    assert row.pass_at_1.value == pytest.approx(np.mean([number % 3 / 2 for number in range(10)]))
    assert (row.cutoff, row.cutoff_precision, row.cutoff_status) == ("2023-10", "month", "stated")
    assert row.cutoff_source == "https://example.org/cutoffs"
    assert (row.window_from, row.window_to) == (utc("2023-11-01T12:00"), None)
    counts = (row.n_universe, row.n_eligible, row.n_with_tests, row.n_judged, row.n_contests, row.n_samples)
    assert counts == (10, 10, 10, 10, 10, 20)
    assert [(stratum.name, stratum.n_judged) for stratum in row.by_difficulty] == [("easy", 6), ("hard", 4)]
    assert [stratum.scores[0].value for stratum in row.by_difficulty] == pytest.approx([0.5, 0.375])
    assert [stratum.name for stratum in row.by_platform] == ["atcoder"]
    assert row.environment_digest == "e" * 64
    assert row.left_out == {}


def test_every_problem_has_one_fate() -> None:
    problems = [
        problem(0),
        problem(1, "2020-01-01"),
        problem(2, "2023-11-01", exposed_precision=Precision.MONTH),
        problem(3, None),
        problem(4, withdrawn=True),
        problem(5, flags=(("interactive", ""),)),
        problem(6, flags=(("odd", ""),)),
        problem(7, n_tests=0),
        problem(8),
        problem(9),
        problem(10),
        problem(11),
        *(problem(number, samples_only=True) for number in (12, 13)),
    ]
    outcomes = (
        *(Outcome(number, 1, 1) for number in range(8)),
        Outcome(9, 0, 0, n_waiting=1, n_internal=1),
        Outcome(10, 0, 0, n_internal=2),
        Outcome(11, 0, 0, n_older=1),
        Outcome(12, 1, 1),
    )
    (row,) = report_of(problems, [RunOutcomes("m", outcomes)]).rows
    assert dict(row.left_out) == {
        Reason.BEFORE_CUTOFF: 1,
        Reason.TOO_NEAR: 1,
        Reason.DATE_UNKNOWN: 1,
        Reason.WITHDRAWN: 1,
        Reason.INTERACTIVE: 1,
        "flagged: odd": 1,
        Reason.NO_TESTS: 1,
        Reason.NO_COMPLETION: 1,
        Reason.NOT_JUDGED: 1,
        Reason.INTERNAL_ERROR: 1,
        Reason.OLDER_STATEMENT: 1,
        Reason.SAMPLES_ONLY: 2,
    }
    assert (row.n_eligible, row.n_with_tests, row.n_judged) == (8, 5, 1)


def test_an_empty_window_gives_no_number() -> None:
    problems = [problem(number, f"2024-{number:02}-15") for number in range(1, 13)]
    late = registry(model("late", "2025-06-30"))
    report = report_of(problems, [run("late", [(number, 1, 0) for number in range(1, 13)])], late)
    (row,) = report.rows
    assert (row.pass_at_1.value, row.pass_at_1.ci_low, row.pass_at_1.ci_high) == (None, None, None)
    assert (row.n_eligible, row.n_judged, dict(row.left_out)) == (0, 0, {"published before the cut-off": 12})
    assert not report.has_scores


def test_pass_at_5_of_one_sample_each_has_no_number() -> None:
    row = row_of([problem(number) for number in range(3)], [(0, 1, 1), (1, 1, 0), (2, 1, 0)], Settings(ks=(5,)))
    assert row.pass_at_1.value == pytest.approx(1 / 3)
    pass_at_5 = row.score(5)
    assert pass_at_5 is not None
    assert (pass_at_5.value, pass_at_5.n_too_few) == (None, 3)
    assert row.left_out == {"fewer than 5 samples": 3}
    assert "pass@5: n < k for 3 of 3 problems, which are not in it" in row.warnings


def test_missing_completions_are_left_out_and_said() -> None:
    problems = [problem(number) for number in range(10)]
    row = row_of(problems, [(number, 5, 5 * (number < 5)) for number in range(8)])
    assert row.pass_at_1.value == pytest.approx(5 / 8)
    assert row.left_out == {Reason.NO_COMPLETION: 2}
    assert "only 8 of 10 eligible problems judged" in row.warnings


def test_problems_weigh_the_same_whatever_their_samples() -> None:
    row = row_of([problem(0), problem(1)], [(0, 5, 5), (1, 3, 0)])
    assert row.pass_at_1.value == 0.5


def test_samples_without_a_verdict_are_not_wrong() -> None:
    report = report_of([problem(0), problem(1)], [RunOutcomes("m", (Outcome(0, 3, 3, n_internal=2), Outcome(1, 1, 0)))])
    assert report.rows[0].pass_at_1.value == 0.5
    assert "problems with samples that have no verdict: 1; their other samples count" in report.rows[0].warnings


def test_imported_results_need_no_tests() -> None:
    problems = [problem(0, n_tests=0), problem(1)]
    (row,) = report_of(problems, [run("m", [(0, 10, 4)], imported=True, origin="a board")]).rows
    assert (row.pass_at_1.value, row.n_with_tests, row.n_judged) == (0.4, 1, 1)
    assert row.left_out == {Reason.NO_RESULT: 1}
    assert row.environment_digest is None


def test_two_outcomes_for_one_problem_are_refused() -> None:
    with pytest.raises(ValueError, match="two outcomes for one problem"):
        row_of([problem(0)], [(0, 1, 1), (0, 1, 0)])


def test_who_is_not_scored_and_why() -> None:
    known = registry(
        model("online", web_access=True),
        model("nothing", None),
        model("future", "2031-01"),
        model("a-1", aliases=(Alias("a", None, date(2024, 1, 1)),)),
        model("idle"),
    )
    names = ["online", "nothing", "future", "a", "idel"]
    report = evaluate(
        [problem(0)], [run(name, [(0, 1, 1)]) for name in names], known, AFTER, now=NOW, requested=["idle", "online"]
    )
    reasons = {item.model: item.reason for item in report.not_scored}
    assert report.rows == ()
    assert "web access" in reasons["online"]
    assert reasons["nothing"] == "no cut-off and no release date is known"
    assert reasons["future"] == "the cut-off 2031-01 lies in the future"
    assert "did not always lead to the same model" in reasons["a"]
    assert reasons["idel"] == 'unknown model "idel"; did you mean idle?'
    assert reasons["idle"] == "no run and no imported result"


def test_an_explicit_window_says_what_was_public_before_the_cutoff() -> None:
    problems = [problem(0, "2023-05-01"), problem(1, "2024-05-01"), problem(2, "2022-05-01")]
    settings = Settings(after_cutoff=False, since=utc("2023-01-01"), until=utc("2025-01-01"))
    runs = [run("m", [(0, 1, 1), (1, 1, 0), (2, 1, 1)]), run("unheard", [(1, 1, 1)])]
    report = report_of(problems, runs, registry(model("m")), settings)
    m, unheard = report.rows
    assert (m.pass_at_1.value, m.left_out) == (0.5, {Reason.OUTSIDE_WINDOW: 1})
    assert m.warnings[0] == "1 of 2 judged problems may have been public before the cut-off"
    assert (m.window_from, m.window_to) == (utc("2023-01-01"), utc("2025-01-01"))
    assert unheard.cutoff is None
    assert unheard.warnings[0] == 'no cut-off to compare with: unknown model "unheard"'


@pytest.mark.parametrize(
    "wrong",
    [
        {"after_cutoff": False},
        {"after_cutoff": False, "since": utc("2024-01-01"), "margin": timedelta(days=1)},
        {"since": utc("2024-02-01"), "until": utc("2024-01-01")},
        {"ks": (0,)},
        {"margin": timedelta(days=-1)},
    ],
)
def test_settings_without_a_sound_window_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"window|margin|pass@k"):
        Settings(**wrong)  # type: ignore[arg-type]


def test_filters_say_what_is_looked_at_at_all() -> None:
    problems = [problem(0), problem(1, platform="leetcode"), problem(2, difficulty="hard"), problem(3, difficulty=None)]
    results = [(number, 1, 1) for number in range(4)]
    assert row_of(problems, results, Settings(platforms=("AtCoder",), difficulties=("Easy",))).n_universe == 1
    assert row_of(problems, results, Settings(difficulties=("unknown",))).n_judged == 1
    assert dict(row_of(problems, results, Settings(platforms=("leetcode",))).left_out) == {}


def test_rows_are_sorted_by_cutoff_then_name_and_runs_stay_apart() -> None:
    known = registry(model("late", "2024-05"), model("b"), model("a"))
    runs = [
        run("late", [(0, 1, 1)]),
        run("b", [(0, 1, 0)], label="hot", conditions={"temperature": 0.6}),
        run("b", [(0, 1, 1)], label="cold", conditions={"temperature": 0.2}),
        run("a", [(0, 1, 0)]),
    ]
    report = report_of([problem(0, "2024-07-01")], runs, known)
    assert [(row.model, row.label) for row in report.rows] == [("a", ""), ("b", "cold"), ("b", "hot"), ("late", "")]
    assert report.notes == ("rows differ in temperature: 0.2, 0.6, None",)
    assert report_of([problem(0, "2024-07-01")], runs[::-1], known) == report


def test_an_alias_is_read_as_of_the_day_of_the_run() -> None:
    first = model("a-1", "2023-10", aliases=(Alias("a", date(2024, 1, 1), date(2024, 6, 1)),))
    second = model("a-2", "2024-03", aliases=(Alias("a", date(2024, 6, 1), None),))
    runs = [run("a", [(0, 1, 1)], ran_on=date(2024, 6, 1)), run("a", [(0, 1, 0)], ran_on=date(2024, 5, 31))]
    rows = report_of([problem(0)], runs, registry(first, second)).rows
    assert [(row.model, row.pass_at_1.value) for row in rows] == [("a-1", 0.0), ("a-2", 1.0)]
    assert rows[0].warnings[0] == 'run under the name "a"'


def test_warnings_of_a_weak_row() -> None:
    problems = [problem(number, contest=str(number % 4)) for number in range(8)]
    entry = model("m", claims=(claim("2023-Q4", source=None),))
    report = report_of(problems, [run("m", [(number, 1, 0) for number in range(8)])], registry(entry))
    assert report.rows[0].warnings == (
        "cut-off without a source",
        'cut-off known only as "2023-Q4": its last day counts',
        "fewer than 10 problems (8): read it as a list, not as a rate",
        "one sample per problem",
        "published more than 12 months ago, so clean for this snapshot only: 8 of the problems",
    )
    problems = [problem(number, contest=str(number % 4)) for number in range(12)]
    row = row_of(problems, [(number, 2, number % 2) for number in range(12)])
    assert row.warnings == (
        "fewer than 100 problems (12)",
        "fewer than 8 contests (4): the interval takes the larger of two errors, with 3 degrees of freedom",
        "published more than 12 months ago, so clean for this snapshot only: 12 of the problems",
    )
    assumed = replace(model("m", None), release=parse_cutoff("2024-01-15"))
    report = report_of(
        [problem(number) for number in range(20)], [run("m", [(n, 2, 2) for n in range(20)])], registry(assumed)
    )
    assert report.rows[0].cutoff_status == CutoffStatus.ASSUMED
    assert report.rows[0].warnings == (
        "cut-off unknown: release date used (2024-01-15)",
        "fewer than 100 problems (20)",
        "fewer than 30 contests (20): the interval has 19 degrees of freedom",
        "over 90 % solved: these problems hardly tell models apart",
        "published more than 12 months ago, so clean for this snapshot only: 20 of the problems",
    )


def test_digests_follow_problems_and_tests_but_not_their_order() -> None:
    problems = [problem(0), problem(1)]
    results = [(0, 1, 1), (1, 1, 0)]
    digest = row_of(problems, results).problem_set_digest
    assert row_of(problems[::-1], results[::-1]).problem_set_digest == digest
    assert row_of([problem(0), problem(1, suite_digest="other")], results).problem_set_digest != digest
    assert row_of(problems, results[:1]).problem_set_digest != digest
    report = report_of(problems, [run("a", results[:1]), run("b", results[1:])])
    assert report.problem_set_digest == digest
    assert len({row.problem_set_digest for row in report.rows}) == 2


fates: st.SearchStrategy[dict[str, Any]] = st.builds(
    dict,
    exposed_at=st.sampled_from([None, "2020-01-01", "2023-11-01", "2024-03-05", "2025-01-01"]),
    exposed_precision=st.sampled_from(list(Precision)),
    n_tests=st.integers(0, 1),
    samples_only=st.booleans(),
    withdrawn=st.booleans(),
    flags=st.sampled_from([(), (("bad_tests", ""),), (("x", ""),)]),
    contest=st.sampled_from([None, "a", "b"]),
)


@given(st.lists(st.tuples(fates, st.integers(0, 3), st.integers(0, 3), st.integers(0, 1)), max_size=30), st.booleans())
def test_nothing_is_lost_or_counted_twice(drawn: list[tuple[dict[str, Any], int, int, int]], imported: bool) -> None:
    problems = [problem(number, **fate) for number, (fate, *_) in enumerate(drawn)]
    outcomes = tuple(
        Outcome(number, n, min(n, c), n_waiting=waiting) for number, (_, n, c, waiting) in enumerate(drawn)
    )
    settings = Settings(ks=(1, 2), until=utc("2024-12-01"))
    report = report_of(problems, [RunOutcomes("m", outcomes, imported=imported)], settings=settings)
    (row,) = report.rows
    left_out = {reason: count for reason, count in row.left_out.items() if not reason.startswith("fewer than")}
    assert row.n_judged + sum(left_out.values()) == row.n_universe == len(problems)
    assert row.n_judged <= row.n_eligible
    assert sum(stratum.n_judged for stratum in row.by_platform) == row.n_judged
    assert (row.pass_at_1.value is None) == (row.n_judged == 0)
    n_alone = 0 if row.samples_only is None else row.samples_only.n_problems
    assert n_alone <= row.left_out.get(Reason.SAMPLES_ONLY, 0) <= row.n_eligible - row.n_with_tests
    assert imported or row.n_judged <= row.n_with_tests


@pytest.mark.shared
def test_every_recorded_window_is_reproduced_from_published_grades(shared_data: Path) -> None:
    expected = json.loads((shared_data / "livecodebench" / "expected_windows.json").read_text(encoding="utf-8"))
    problems = livecodebench_problems(shared_data)
    runs = {item.model: item for item in published_runs(shared_data, problems)}
    for row in expected:
        settings = replace(
            ALL_TIME,
            since=utc(row["from"] or "2000-01-01"),
            until=utc(row["until"]) if row["until"] else None,
        )
        (found,) = report_of(problems, [runs[row["model"]]], registry(), settings).rows
        assert (found.n_judged, found.n_samples) == (row["problems"], row["samples"])
        assert found.pass_at_1.value == pytest.approx(row["pass_at_1"] / 100, abs=1e-6)
        strata = {stratum.name: stratum for stratum in found.by_difficulty}
        for name in ("easy", "medium", "hard"):
            assert strata[name].n_judged == row[f"n_{name}"]
            assert strata[name].scores[0].value == pytest.approx(row[name] / 100, abs=1e-6)
    assert len(expected) == 53


PUBLISHED_MATRICES = {
    "codegen": "lcb_v1_2024-03-12",
    "selfrepair": "lcb_repair_2024-03-12",
    "testoutput": "lcb_testgen_2024-03-12",
}

MODEL_NAMES = {("codegen", "Gemini-Pro"): "Google-Gemini-Pro"}


def published_window(window: str) -> Settings:
    """The window of a printed number. Site dates are a day later than the contests'."""
    if "LeetCode problems of" in window:
        year, month = (int(part) for part in window.split(" of ")[1][:7].split("-"))
        since = utc(f"{year}-{month:02}-02")
        until = utc(f"{year + month // 12}-{month % 12 + 1:02}-02")
        return replace(ALL_TIME, since=since, until=until, platforms=("leetcode",))
    return replace(ALL_TIME, since=utc("2023-09-01"))


@pytest.mark.shared
def test_the_72_numbers_printed_in_figures_are_reproduced(shared_data: Path) -> None:
    with (shared_data / "leaderboards" / "lcb_published_vs_computed.csv").open(encoding="utf-8") as lines:
        printed = [row for row in csv.DictReader(lines) if row["match"] == "True" and row["scenario"] != "composition"]
    data = {scenario: matrix(shared_data, name) for scenario, name in PUBLISHED_MATRICES.items()}
    for row in printed:
        problems, runs = data[row["scenario"]]
        name = MODEL_NAMES.get((row["scenario"], row["model"]), row["model"])
        chosen = next(item for item in runs if item.model == name)
        (found,) = report_of(problems, [chosen], registry(), published_window(row["window"])).rows
        strata = {stratum.name: stratum.scores[0] for stratum in found.by_difficulty}
        score = found.pass_at_1 if row["stratum"] == "all" else strata[row["stratum"]]
        assert score.value is not None
        # Markers read off a figure are known to 0.15; the printed numbers to their last digit.
        tolerance = 0.15 if "digitised" in row["source"] else 0.05 + 1e-9
        assert 100 * score.value == pytest.approx(float(row["published"]), abs=tolerance), row
        assert 100 * score.value == pytest.approx(float(row["computed"]), abs=1e-3), row
    assert len(printed) == 72


@pytest.mark.shared
def test_the_printed_composition_is_reproduced(shared_data: Path) -> None:
    problems, runs = matrix(shared_data, "lcb_v1_2024-03-12")
    with_results = {outcome.problem_id for outcome in runs[0].outcomes}
    counts = Counter(facts.difficulty for facts in problems if facts.problem_id in with_results)
    assert counts == {"easy": 142, "medium": 168, "hard": 90}
