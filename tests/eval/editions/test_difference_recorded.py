"""The recorded board of 16 models as two editions, with expected numbers taken from its file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from eval.editions.difference import Difference, difference
from eval.editions.difference_sheet import difference_sheet
from eval.editions.document import EditionRun, FrozenEdition
from eval.editions.score_changes import Cause, ScoreChange
from eval.models import build_registry
from tests.eval.editions.built import BUILD_DELAY, recorded
from tests.eval.editions.moved import changed, edited, taken, with_facts
from tests.eval.facts import claim, matrix_rows, utc

pytestmark = pytest.mark.shared

WITHDRAWN = "abc388_c"
"""A problem of January 2025, after most cut-offs."""
REVISED, RUN = "gpt-4o-2024-08-06", "GPT-4O-2024-08-06"
REJUDGED = "Claude-3-Haiku"
LATER = "2024-06"
END = "2024-07-01T12:00"
"""When the last day of June 2024 ends at UTC-12."""


@pytest.fixture(scope="module")
def first(shared_data: Path) -> FrozenEdition:
    return recorded(shared_data, "2025-04")


@pytest.fixture(scope="module")
def second(first: FrozenEdition) -> FrozenEdition:
    """With a problem withdrawn, a cut-off revised, and 40 results of a run judged anew."""
    edition = first.edition
    entries = [
        replace(one, claims=(claim(LATER, by="its maker"),)) if one.name == REVISED else one for one in edition.models
    ]
    return changed(
        first,
        "2025-05",
        problems=edited(edition.problems, **{WITHDRAWN: with_facts(withdrawn=True)}),
        models=build_registry(entries).entries,
        runs=tuple(failing_from(run, 1000) if run.name == REJUDGED else run for run in edition.runs),
    )


def failing_from(run: EditionRun, place: int) -> EditionRun:
    """The run with no sample right on any problem from this place on."""
    correct = (0 if at >= place else c for at, c in zip(run.problems, run.n_correct, strict=True))
    return replace(run, n_correct=tuple(correct))


@pytest.fixture(scope="module")
def found(first: FrozenEdition, second: FrozenEdition) -> Difference:
    return difference(first, second)


def of_run(found: Difference, name: str) -> ScoreChange:
    return next(one for one in found.scores if one.run == name)


def percents(shared_data: Path, model: str, since: str) -> dict[str, float]:
    """The file's percentages of a model on what was published since then, by the problem's id and its date."""
    rows = (row for row in matrix_rows(shared_data, "lcb_v6_2025-04-22") if row["model"] == model)
    return {
        f"{row['question_id']} {row['site_date']}": float(row["pass@1"])
        for row in rows
        if utc(row["site_date"]) - BUILD_DELAY >= utc(since)
    }


def mean(values: dict[str, float]) -> float:
    return sum(values.values()) / len(values) / 100


def test_what_moved_and_nothing_else(found: Difference) -> None:
    assert found.problems.withdrawn == (f"atcoder:{WITHDRAWN}",)
    assert replace(found.problems, withdrawn=()).is_empty
    assert found.runs.is_empty
    assert found.silent_removals == ()
    assert [one.model for one in found.cutoffs] == [REVISED]
    assert [one.run for one in found.results] == [REJUDGED]
    assert found.made_with == ()


def test_the_withdrawn_problem_moves_each_run_that_has_it_by_its_own_result(
    found: Difference, first: FrozenEdition, shared_data: Path
) -> None:
    rows = {row.run: row for row in first.edition.numbers.own.rows}
    moved = [one for one in found.scores if any(move.cause is Cause.QUALITY for move in one.moves)]
    assert len(moved) >= 10
    for one in moved:
        start = rows[one.run].window_from
        assert start is not None
        was = percents(shared_data, one.run, start.isoformat()[:16])
        (place,) = [key for key in was if key.startswith(f"{WITHDRAWN} ")]
        now = {key: value for key, value in was.items() if key != place}
        expected = mean(now) - mean(was)
        if one.run not in (RUN, REJUDGED):
            assert (one.found.n_before, one.found.n_after) == (len(was), len(now))
            assert one.found.change.value == pytest.approx(expected, abs=1e-12)
            assert [move.value for move in one.moves] == pytest.approx([expected], abs=1e-12)
            assert one.found.change.se is None  # all of it is one contest


def test_the_revised_cutoff_takes_the_problems_between_its_ends(found: Difference, shared_data: Path) -> None:
    (revision,) = found.cutoffs
    assert (revision.before.cutoff.as_written, revision.moved) == ("2023.10", "8 months later")
    before, after = percents(shared_data, RUN, "2023-11-01T12:00"), percents(shared_data, RUN, END)
    assert (revision.n_more, revision.n_fewer) == (0, len(before) - len(after))
    one = of_run(found, RUN)
    without = {key: value for key, value in after.items() if not key.startswith(f"{WITHDRAWN} ")}
    assert (one.found.n_before, one.found.n_after) == (len(before), len(without))
    assert one.found.change.value == pytest.approx(mean(without) - mean(before), abs=1e-12)
    assert [(move.cause, move.n_gone) for move in one.moves] == [
        (Cause.WINDOW, len(before) - len(after)),
        (Cause.QUALITY, 1),
    ]
    assert one.found.results.value == 0
    assert one.found.composition is not None
    assert one.found.behaviour is not None
    assert one.found.composition.value + one.found.behaviour.value == pytest.approx(one.found.change.value, abs=1e-12)
    assert one.found.low is not None
    assert one.found.low < one.found.change.value


def test_the_run_that_was_judged_anew_lost_it_on_the_same_problems(
    found: Difference, first: FrozenEdition, shared_data: Path
) -> None:
    (results,) = found.results
    (run,) = [one for one in first.edition.runs if one.name == REJUDGED]
    solved = [at for at, c in zip(run.problems, run.n_correct, strict=True) if at >= 1000 and c > 0]
    assert len(results.same_tests) == len(solved) > 0
    one = of_run(found, REJUDGED)
    start = next(row.window_from for row in first.edition.numbers.own.rows if row.run == REJUDGED)
    assert start is not None
    was = percents(shared_data, REJUDGED, start.isoformat()[:16])
    names = [first.edition.problems[at].facts.native_id for at in solved]
    lost = sum(value for key, value in was.items() if key.split()[0] in names) / 100
    assert one.found.results.value == pytest.approx(-lost / (len(was) - 1), abs=1e-12)
    assert one.found.results.se is not None
    assert one.found.behaviour is not None
    assert one.found.behaviour.value == pytest.approx(one.found.results.value, abs=0.002)


def test_an_edition_of_three_months_before(first: FrozenEdition, shared_data: Path) -> None:
    # A board that ends with January 2025 beside the whole: every run has new problems and nothing else.
    edition = first.edition
    order = [place for place, one in enumerate(edition.problems) if one.facts.exposed_at < utc("2025-02-01")]  # type: ignore[operator]
    problems, runs = taken(edition.problems, edition.runs, order)
    earlier = changed(first, "2025-01", problems=problems, runs=runs)
    found = difference(earlier, first)
    assert len(found.problems.came) == len(edition.problems) - len(order)
    for one in found.scores:
        assert [move.cause for move in one.moves] == [Cause.PROBLEMS]
        assert one.moves[0].value == pytest.approx(one.found.change.value, abs=1e-12)
        assert one.found.results.value == 0
    broken = [one.run for one in found.scores if any("looks broken" in caution for caution in one.cautions)]
    assert broken == ["DeepSeek-V3"]
    sheet = difference_sheet(found)
    assert [table.title for table in sheet.tables] == [
        "Scores in each run's own window",
        "Why the problems of a run changed",
        "Problems",
    ]
