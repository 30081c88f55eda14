"""kenkoooo's files: a check of AtCoder's dates, the first contest of each task, and difficulties."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from db.records import ProblemKey, SightingRecord
from ingest.errors import PageChanged, SourceError, Unreachable
from ingest.sources._kenkoooo import (
    Home,
    Place,
    home_contests,
    read_contests,
    read_difficulties,
    read_problems,
    shown_difficulty,
)
from tests.ingest.atcoder_site import RESOURCES, SOURCE, START, FakeSite, page_of, text_of, wanted


def test_kenkoooo_agrees_and_gives_difficulties_as_it_shows_them() -> None:
    listing = SOURCE.discover(FakeSite(), wanted())
    assert not [note for note in listing.notes if "kenkoooo" in note]
    assert listing.difficulties == {"zbc412_a": "7", "zrc230_a": "400", "zbc412_h": "2718"}


@pytest.mark.parametrize(
    ("difficulty", "shown"), [(400, "400"), (399, "399"), (0, "147"), (-848, "18"), (-2000, "1"), (3000, "3000")]
)
def test_a_difficulty_below_400_approaches_0(difficulty: int, shown: str) -> None:
    """By hand: 400 / e^(1 - d/400), so 400/e = 147.15 at 0, and 400/e^3.12 = 17.66 at -848."""
    assert shown_difficulty(difficulty) == shown


@pytest.mark.parametrize("task_id", ["", "z\0a", "z\ud800"])
def test_an_id_that_no_store_keeps_costs_no_other_difficulty(task_id: str) -> None:
    models = {task_id: {"difficulty": 100}, "zbc412_a": {"difficulty": 400}}
    assert read_difficulties(page_of(json.dumps(models))) == {"zbc412_a": "400"}


@pytest.mark.parametrize("number", ["1e300", "-1e300", "NaN", "Infinity", "9" * 400, "true"])
def test_a_number_that_is_no_difficulty_costs_no_other(number: str) -> None:
    models = f'{{"zbc412_b": {{"difficulty": {number}}}, "zbc412_a": {{"difficulty": 400}}}}'
    assert read_difficulties(page_of(models)) == {"zbc412_a": "400"}


def test_dates_that_kenkoooo_has_otherwise_are_noted() -> None:
    rows = json.loads(text_of("kenkoooo_contests.json"))
    rows[0]["start_epoch_second"] += 600
    rows[1]["duration_second"] = 9000
    rows.append({"id": "zlost", "start_epoch_second": rows[0]["start_epoch_second"], "duration_second": 60})
    notes = SOURCE.discover(FakeSite({f"{RESOURCES}/contests.json": json.dumps(rows)}), wanted()).notes
    assert [note for note in notes if "kenkoooo" in note] == [
        "zbc412 runs 2026-03-07T12:00Z to 2026-03-07T13:40Z by AtCoder, "
        "2026-03-07T12:10Z to 2026-03-07T13:50Z by kenkoooo",
        "zlost is not listed by AtCoder; kenkoooo has it start 2026-03-07T12:10Z",
        "zrc230 runs 2026-03-01T12:00Z to 2026-03-01T14:00Z by AtCoder, "
        "2026-03-01T12:00Z to 2026-03-01T14:30Z by kenkoooo",
    ]


def test_many_differences_are_counted() -> None:
    rows = [{"id": f"z{n}", "start_epoch_second": 1772884800, "duration_second": 60} for n in range(25)]
    notes = SOURCE.discover(FakeSite({f"{RESOURCES}/contests.json": json.dumps(rows)}), wanted()).notes
    assert notes[-1] == "and 5 more differences from kenkoooo"
    assert sum("is not listed" in note for note in notes) == 20


@pytest.mark.parametrize("name", ["contests", "contest-problem", "problems", "problem-models"])
@pytest.mark.parametrize(
    "answer",
    ["<html>503</html>", "[]", "{}", "[1]", '[{"id": 5}]', '[{"id": "a"}]', '{"a": 3}', Unreachable("no answer")],
)
def test_kenkoooo_failing_is_a_note(name: str, answer: str | SourceError) -> None:
    listing = SOURCE.discover(FakeSite({f"{RESOURCES}/{name}.json": answer}), wanted())
    (note,) = [note for note in listing.notes if "could not be taken" in note]
    assert note.startswith(f"kenkoooo's {name}.json could not be taken: ")
    assert len(listing.contests) == 11


def test_tasks_that_a_round_lists_again_were_public_before() -> None:
    """A training is no home and gets no word: its tasks are dated by their own rounds."""
    assert SOURCE.discover(FakeSite(), wanted()).sightings == (
        SightingRecord(
            ProblemKey("atcoder", "zrc230_a"),
            datetime(2026, 3, 1, 12, tzinfo=UTC),
            "kenkoooo",
            "zrc230 listed it before zbc412",
        ),
        SightingRecord(
            ProblemKey("atcoder", "zbc300_f"),
            datetime(2023, 4, 29, 12, tzinfo=UTC),
            "kenkoooo",
            "zbc300 listed it before zrc230",
        ),
    )


def test_the_home_of_a_task_is_its_first_round() -> None:
    contests = read_contests(page_of(text_of("kenkoooo_contests.json")))
    starts = {contest_id: contest.starts_at for contest_id, contest in contests.items()}
    assert starts["zpractice"] is None
    assert starts["zbs"] is None
    places = [
        *(Place(row["contest_id"], row["problem_id"]) for row in json.loads(text_of("kenkoooo_contest-problem.json"))),
        *read_problems(page_of(text_of("kenkoooo_problems.json"))),
    ]
    assert {task: home.contest_id for task, home in home_contests(starts, places).items()} == {
        "zbc412_a": "zbc412",
        "zrc230_a": "zrc230",
        "zbc412_h": "zbc412",
        "zbc300_d": "zbc300",
        "zbc300_f": "zbc300",
    }


def test_of_rounds_that_start_together_the_one_that_the_task_names_is_its_home() -> None:
    starts: dict[str, datetime | None] = {"zbc107": START, "zrc-101": START, "z-open": START + timedelta(days=1)}
    places = [Place(contest, task) for contest in starts for task in ("zrc_101_b", "zbc107_a", "other_c")]
    assert home_contests(starts, places) == {
        "zrc_101_b": Home("zrc-101", START),
        "zbc107_a": Home("zbc107", START),
        "other_c": Home("zbc107", START),
    }


@pytest.mark.parametrize("start", [0, -1, "", None])
def test_a_contest_without_a_start_is_undated_and_never_from_1970(start: object) -> None:
    rows = [{"id": "zpractice", "start_epoch_second": start, "duration_second": 3153600000}]
    (contest,) = read_contests(page_of(json.dumps(rows))).values()
    assert (contest.starts_at, contest.ends_at) == (None, None)
    assert home_contests({"zpractice": contest.starts_at}, [Place("zpractice", "zpractice_1")]) == {}


@pytest.mark.parametrize(
    "row",
    [
        {"id": "z1", "start_epoch_second": 1772884800000, "duration_second": 60},
        {"id": "z1", "start_epoch_second": "soon", "duration_second": 60},
        {"id": "z1", "start_epoch_second": 1772884800, "duration_second": None},
        {"id": "z1", "start_epoch_second": 1772884800},
        {"id": "z\ud8001", "start_epoch_second": 0},
    ],
)
def test_a_row_of_kenkoooo_that_cannot_be_read_is_named(row: dict[str, object]) -> None:
    with pytest.raises(PageChanged, match=r"z1|surrogate"):
        read_contests(page_of(json.dumps([row])))
