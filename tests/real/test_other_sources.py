"""Recorded files of the sites beside the three main ones, and report cases on dates.

Every file of these sites is accounted for: read here, with what comes out checked, or listed with the reason why not.
"""

from __future__ import annotations

import csv
import json
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from db.engine import Store, open_store
from db.problems import list_problems as stored_problems
from db.problems import save_problem
from db.records import (
    ContestKind,
    ContestRecord,
    DateClaim,
    Precision,
    ProblemKey,
    ProblemRecord,
)
from ingest.dates import epoch_instant, zoned_instant
from ingest.errors import UnreadableDate
from ingest.pages import Page, Request
from ingest.sources import Wanted, load_source
from ingest.sources.aoj import Challenges, read_challenges
from ingest.sources.yukicoder import read_contests

pytestmark = pytest.mark.shared

NOW = datetime(2026, 9, 1, tzinfo=UTC)
EVERY = (datetime(1990, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC))
SITES = ("aoj", "codechef", "cses", "dmoj", "kattis", "library-checker", "yukicoder")

NO_SOURCE = "no source for this site is asked for: {}"
CSES = NO_SOURCE.format("CSES has no dates and a fixed set of classical problems")
KATTIS = NO_SOURCE.format(
    "the Kattis site has no dates and gives out samples alone; its package format is what is read"
)
DMOJ = NO_SOURCE.format("DMOJ has no tests, and most of its problems are mirrored")
CODECHEF = NO_SOURCE.format("CodeChef gives out samples alone")
LIBRARY_CHECKER = NO_SOURCE.format("Library Checker has no dates but those of commits")
FILES = {
    "aoj/challenges_jag_prelim.json": "",
    "aoj/challenges_pck_prelim.json": "",
    "aoj/courses.json": "not asked for: courses are always open and date nothing",
    "aoj/normalised_contests_2024-11.json": "",
    "aoj/normalised_tasks_2024-11.json": "",
    "aoj/problems_size10000.json": "",
    "codechef/companion_expected_contest_samples-in-api.json": CODECHEF,
    "codechef/companion_expected_problem_new-input-output-in-same-pre.json": CODECHEF,
    "codechef/contest_list_objects_2026-08.json": CODECHEF,
    "cses/companion_expected_problem_normal.json": CSES,
    "cses/hiit2019a_2022.expected.json": CSES,
    "cses/hiit2019a_2022.html": CSES,
    "cses/hiit2019l_2022.expected.json": CSES,
    "cses/hiit2019l_2022.html": CSES,
    "cses/ps1068_2022.expected.json": CSES,
    "cses/ps1068_2022.html": CSES,
    "dmoj/companion_expected_contest_normal.json": DMOJ,
    "dmoj/companion_expected_problem_normal.json": DMOJ,
    "kattis/companion_expected_contest_normal.json": KATTIS,
    "kattis/companion_expected_problem_interactive-1.json": KATTIS,
    "kattis/companion_expected_problem_no-output.json": KATTIS,
    "kattis/contest-nodup_2022.expected.json": KATTIS,
    "kattis/contest-nodup_2022.html": KATTIS,
    "kattis/hello_2022.expected.json": KATTIS,
    "kattis/hello_2022.html": KATTIS,
    "kattis/modulo_2022.expected.json": KATTIS,
    "kattis/modulo_2022.html": KATTIS,
    "kattis/over-contest-carpool_2022.expected.json": KATTIS,
    "kattis/over-contest-carpool_2022.html": KATTIS,
    "kattis/package_maximal__data__sample__test_group.yaml": "",
    "kattis/package_maximal__data__secret__test_group.yaml": "",
    "kattis/package_maximal__problem.yaml": "",
    "kattis/package_maximal__submissions__submissions.yaml": "how a jury's solutions are run: no part of the problem",
    "kattis/package_passfail__data__sample__1.ans": "",
    "kattis/package_passfail__data__sample__1.in": "",
    "kattis/package_passfail__data__sample__testdata.yaml": "",
    "kattis/package_passfail__data__secret__1.ans": "",
    "kattis/package_passfail__data__secret__1.in": "",
    "kattis/package_passfail__problem.yaml": "",
    "kattis/package_passfail__statement__problem.en.tex": "",
    "kattis/package_passfail__submissions__submissions.yaml": "how a jury's solutions are run: no part of the problem",
    "library-checker/companion_expected_problem_normal.json": LIBRARY_CHECKER,
    "yukicoder/contest_future_2024-04.json": "",
}
"""Each file with the reason why it is not read; an empty one is read by a test below or in ``test_package_folders``."""


@pytest.fixture(scope="module")
def recorded(shared_data: Path) -> Path:
    return shared_data.parent / "sources" / "recorded"


def loaded(file: Path) -> Any:
    return json.loads(file.read_bytes())


def page(file: Path) -> Page:
    return Page(file.name, file.read_bytes(), NOW)


def test_every_recorded_file_is_accounted_for(recorded: Path) -> None:
    with (recorded / "MANIFEST.tsv").open(encoding="utf-8", newline="") as file:
        rows = [row["file"] for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    listed = {name for name in rows if name.split("/", 1)[0] in SITES}
    assert listed == FILES.keys()
    assert all((recorded / name).is_file() for name in listed)
    assert Counter(bool(reason) for reason in FILES.values()) == {True: 27, False: 16}


# Aizu Online Judge


@pytest.fixture(scope="module")
def challenges(recorded: Path) -> dict[str, Challenges]:
    return {
        large: read_challenges(page(recorded / "aoj" / f"challenges_{large.lower()}_prelim.json"), large, "PRELIM")
        for large in ("JAG", "PCK")
    }


def test_aoj_contests_by_day(challenges: dict[str, Challenges]) -> None:
    assert {large: len(found.days) for large, found in challenges.items()} == {"JAG": 21, "PCK": 22}
    assert {large: found.rounds for large, found in challenges.items()} == {
        "JAG": ("PRELIM", "REGIONAL", "SUMMER", "WINTER", "SPRING"),
        "PCK": ("PRELIM", "FINAL"),
    }
    assert [found.notes for found in challenges.values()] == [(), ()]
    days = [day for found in challenges.values() for day in found.days]
    assert len({day.contest.native_id for day in days}) == len(days)
    assert {(day.contest.starts_at, day.contest.ends_at, day.contest.kind) for day in days} == {
        (None, None, ContestKind.ROUND)
    }
    # The one contest of two days has a 2 behind its year.
    two = sorted(day.contest.native_id for day in days if day.contest.native_id.startswith("JAGPrelim2016"))
    assert two == ["JAGPrelim20162-1", "JAGPrelim20162-2"]


def test_aoj_years_are_claims_and_nothing_else_is(challenges: dict[str, Challenges]) -> None:
    for found in challenges.values():
        for day in found.days:
            (claim,) = day.dates
            assert day.year is not None
            assert (claim.earliest, claim.precision) == (datetime(day.year, 1, 1, tzinfo=UTC), Precision.YEAR)
            assert claim.contest == day.contest.native_id
    years = sorted({day.year or 0 for found in challenges.values() for day in found.days})
    assert years == list(range(2004, 2026))


def test_aoj_problems_with_their_limits(recorded: Path, challenges: dict[str, Challenges]) -> None:
    by_id = {
        problem.native_id: problem for found in challenges.values() for day in found.days for problem in day.problems
    }
    assert len(by_id) == 402
    raw = [
        problem
        for large in ("jag", "pck")
        for contest in loaded(recorded / "aoj" / f"challenges_{large}_prelim.json")["contests"]
        for day in contest["days"]
        for problem in day["problems"]
    ]
    # What the list of all problems says of those that are in it is the same.
    everywhere = [*raw, *loaded(recorded / "aoj" / "problems_size10000.json")]
    for problem in everywhere:
        found = by_id.get(problem["id"])
        if found is not None:
            assert found.title == problem["name"].strip()
            assert found.time_limit_s == problem["problemTimeLimit"]
            assert found.memory_limit_bytes == problem["problemMemoryLimit"] * 1024
    assert len(everywhere) == 502


def test_aoj_is_what_another_project_made_of_it(recorded: Path, challenges: dict[str, Challenges]) -> None:
    titles = {(day.contest.native_id.rpartition("-")[0], day.contest.title) for day in challenges["PCK"].days}
    theirs = [
        (contest["id"], contest["title"])
        for contest in loaded(recorded / "aoj" / "normalised_contests_2024-11.json")
        if contest["id"].startswith("PCKPrelim")
    ]
    assert len(theirs) == 20
    assert set(theirs) <= titles
    problems = {
        (day.contest.native_id.rpartition("-")[0], problem.native_id, problem.title)
        for day in challenges["PCK"].days
        for problem in day.problems
    }
    tasks = [
        (task["contest_id"], task["id"], task["title"])
        for task in loaded(recorded / "aoj" / "normalised_tasks_2024-11.json")
        if task["contest_id"].startswith("PCKPrelim")
    ]
    assert len(tasks) == 25
    assert set(tasks) <= problems


def test_aoj_discovery_over_the_recorded_answers(recorded: Path) -> None:
    """The other pages of the two classes, and those of ICPC, are not recorded: they are asked for and said to fail."""

    def fetch(request: Request | str) -> Page:
        url = request if isinstance(request, str) else request.url
        large, middle = url.split("/")[-2:]
        file = recorded / "aoj" / f"challenges_{large.lower()}_{middle.lower()}.json"
        if not file.is_file():
            raise Page(url, b"", NOW).changed("is not recorded")
        return Page(url, file.read_bytes(), NOW)

    listing = load_source("aoj").discover(fetch, Wanted(*EVERY, NOW))
    assert (len(listing.contests), listing.is_complete, len(listing.unread)) == (43, False, 6)
    recent = Wanted(datetime(2025, 8, 1, tzinfo=UTC), datetime(2025, 9, 1, tzinfo=UTC), NOW)
    found = load_source("aoj").discover(fetch, recent)
    assert [contest.native_id for contest in found.contests] == ["PCKPrelim2025-1"]


# yukicoder


def test_yukicoder_contests(recorded: Path) -> None:
    found = read_contests(page(recorded / "yukicoder" / "contest_future_2024-04.json"))
    assert [(contest.native_id, contest.starts_at, contest.ends_at) for contest in found.contests] == [
        ("490", datetime(2024, 4, 12, 12, 20, tzinfo=UTC), datetime(2024, 4, 12, 14, 20, tzinfo=UTC)),
        ("488", datetime(2024, 4, 19, 12, 20, tzinfo=UTC), datetime(2024, 4, 19, 14, 20, tzinfo=UTC)),
    ]
    assert found.contests[1].title == "yukicoder contest"
    assert (found.n_entries, found.unread) == (2, ())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "store.db")) as opened:
        yield opened


# Cases made from public bug reports


def test_case_a09_a_start_of_nothing_is_no_start(cases: Path) -> None:
    """kenkoooo/AtCoderProblems#1190."""
    starts = {row["id"]: epoch_instant(row["start_epoch"]) for row in loaded(cases / "A09" / "contests.json")}
    expected = loaded(cases / "A09" / "expected.json")
    assert [name for name, start in starts.items() if start is None] == expected["undated"]
    assert {name: start for name, start in starts.items() if start} == {
        name: datetime.fromisoformat(text) for name, text in expected["dated"].items()
    }


ZONES = {"api_utc_no_suffix": UTC}
"""What each source of the case declares. One that is not here declares nothing."""
UNITS_S = {"epoch_s": 1.0, "epoch_ms": 0.001}


@pytest.mark.parametrize("local", ["UTC", "Asia/Kolkata", "America/Los_Angeles"])
def test_case_a11_a_time_without_a_zone_is_in_the_zone_of_its_source(
    cases: Path, local: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """algoradarhq/extension#7, jdabtieu/CTFOJ#26."""
    monkeypatch.setenv("TZ", local)
    time.tzset()
    found: dict[str, str] = {}
    try:
        for row in loaded(cases / "A11" / "feed.json"):
            source, raw = row["src"], row["raw"]
            try:
                start = (
                    epoch_instant(raw, unit_s=UNITS_S[source])
                    if source in UNITS_S
                    else zoned_instant(raw, ZONES.get(source))
                )
            except UnreadableDate as error:
                assert "declares none" in error.reason
                found[source] = "ERROR zone unknown"
            else:
                assert start is not None
                found[source] = start.strftime("%Y-%m-%dT%H:%M:%SZ")
    finally:
        monkeypatch.undo()
        time.tzset()
    assert found == loaded(cases / "A11" / "expected.json")


def test_case_f17_no_contest_is_one_problem_however_often_it_comes(cases: Path, store: Store) -> None:
    """fastapi/sqlmodel#59, kenkoooo/AtCoderProblems#119: a key with an empty part never conflicts in SQL."""
    for row in loaded(cases / "F17" / "rows.json"):
        contest_id = row["contest_id"] or ""
        contest = ContestRecord(row["platform"], contest_id) if contest_id else None
        claim = DateClaim("2024", datetime(2024, 1, 1, tzinfo=UTC), Precision.YEAR, "case", contest_id)
        key = ProblemKey(row["platform"], row["problem_id"])
        record = ProblemRecord(key, "Practice", (claim,), "case", contest=contest)
        with store.write() as session:
            save_problem(session, record, now=NOW)
    with store.read() as session:
        rows = stored_problems(session)
    assert len(rows) == loaded(cases / "F17" / "expected.json")["rows"]
    assert (rows[0].contest, len(rows[0].date_claims)) == (None, 1)
