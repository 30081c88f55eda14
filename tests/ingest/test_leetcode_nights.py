"""LeetCode over several nights in a store: locked problems that open, early sightings, and problems imported before."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from db.engine import Store, open_store
from db.ingest_runs import IngestOutcome
from db.problems import list_problems, save_problem
from db.records import ContestRecord, DateClaim, Precision, ProblemKey, ProblemRecord
from db.summaries import ProblemSummary
from ingest.collecting import collect
from ingest.runs import RunResult
from ingest.sources.leetcode import SOURCE
from tests.ingest.leetcode_pages import NOW, fetcher, load, question, wanted

START = datetime(2026, 3, 7, 14, 30, tzinfo=UTC)
SLUGS = {
    "97001": "lanterns-in-pairs",
    "97002": "loudest-rehearsal",
    "97003": "design-ferry-queue",
    "97004": "average-tide",
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "store.db")) as opened:
        yield opened


def site(**changes: Any) -> dict[str, Any]:
    """A site with one contest that is over and one to come; `changes` are questions by their number."""
    contests = load("all_contests.json")
    contests["data"]["allContests"] = contests["data"]["allContests"][:2]
    questions = {
        f"question {slug}": question(**({"questionId": number, "titleSlug": slug} | changes.get(f"q{number}", {})))
        for number, slug in SLUGS.items()
    }
    return questions | {
        "allContests": contests,
        "problemsetQuestionList": load("problem_list.json"),
        "/contest/api/info/biweekly-contest-701/": load("contest_info.json"),
    }


def night(store: Store, answers: dict[str, Any], *, days_later: int = 0) -> RunResult:
    now = NOW + timedelta(days=days_later)
    return collect(store, SOURCE, fetcher(answers), wanted(now=now), check=lambda: None)


def problems(store: Store) -> dict[str, ProblemSummary]:
    with store.read() as session:
        return {one.key.native_id: one for one in list_problems(session)}


def flags(problem: ProblemSummary) -> set[str]:
    return {name for name, _ in problem.flags}


def test_a_contest_is_read_once_and_the_next_night_changes_nothing(store: Store) -> None:
    first = night(store, site())
    assert (first.outcome, first.failures) == (IngestOutcome.COMPLETED, ())
    assert first.counts["problems_new"] == 4
    read = problems(store)
    assert set(read) == set(SLUGS)
    assert {one.released_at for one in read.values()} == {START}
    second = night(store, site(), days_later=1)
    assert (second.outcome, second.counts["problems_new"]) == (IngestOutcome.COMPLETED, 0)
    assert problems(store) == read


def test_a_locked_problem_opens_later_with_its_first_date(store: Store) -> None:
    night(store, site(q97002={"content": None, "isPaidOnly": True, "metaData": None}))
    locked = problems(store)["97002"]
    assert flags(locked) == {"statement_unavailable"}
    assert (locked.n_tests, locked.released_at) == (0, START)
    night(store, site(), days_later=1)
    opened = problems(store)["97002"]
    assert flags(opened) == set()
    assert (opened.n_tests, opened.released_at, opened.problem_id) == (2, START, locked.problem_id)


def test_a_problem_that_was_listed_before_its_contest_was_public_early(store: Store) -> None:
    answers, early = site(), START - timedelta(days=2)
    collect(store, SOURCE, fetcher(answers, fetched_at=early), wanted(now=early), check=lambda: None)
    assert problems(store) == {}
    night(store, answers)
    found = problems(store)
    assert (found["97002"].exposed_at, found["97002"].released_at) == (early, START)
    assert flags(found["97002"]) == {"early_access"}
    assert (found["97001"].exposed_at, flags(found["97001"])) == (START, set())


def test_a_problem_of_the_imported_data_set_is_the_same_problem(store: Store) -> None:
    day = datetime(2026, 3, 7, tzinfo=UTC)
    imported = ProblemRecord(
        key=ProblemKey("leetcode", "97001"),
        title="lanterns-in-pairs",
        dates=(DateClaim("2026-03-07T00:00:00", day, Precision.DAY, "livecodebench"),),
        source="livecodebench",
        difficulty="easy",
        contest=ContestRecord("leetcode", "biweekly-contest-701"),
        statement="In other words.",
    )
    with store.write() as session:
        save_problem(session, imported, now=NOW)
    night(store, site())
    found = problems(store)
    assert set(found) == set(SLUGS)
    assert (found["97001"].title, found["97001"].difficulty) == ("Lanterns in Pairs", "easy")
    assert (found["97001"].released_at, found["97001"].released_precision) == (START, Precision.INSTANT)
