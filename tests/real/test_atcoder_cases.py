"""Cases made from public reports on tools for AtCoder: what the source's functions make of them.

A28, A30 and A32 are tables of other shapes than the site's: pages in its own shape show these faults, in
``tests/ingest/test_atcoder.py``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from ingest.pages import Page
from ingest.sources._atcoder_pages import choose_samples, read_statements
from ingest.sources._kenkoooo import Place, home_contests, read_contests

pytestmark = pytest.mark.shared

NOW = datetime(2026, 8, 1, tzinfo=UTC)


def case_statements(cases: Path, name: str, file: str) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    root = BeautifulSoup((cases / name / file).read_bytes().decode(), "lxml")
    for statement in read_statements(root):
        yield statement.language, statement.samples.pairs


def test_reported_case_of_two_languages(cases: Path) -> None:
    root = BeautifulSoup((cases / "A13" / "page.html").read_bytes().decode(), "lxml")
    expected = json.loads((cases / "A13" / "expected.json").read_text())
    samples, notes = choose_samples(read_statements(root))
    assert [list(pair) for pair in samples.pairs] == expected["samples"]
    assert notes == ("the sample count differs between languages: en 2, ja 3; taken from ja",)


def test_reported_case_of_a_drawing(cases: Path) -> None:
    expected = json.loads((cases / "A14" / "expected.json").read_text())
    ((_, pairs),) = case_statements(cases, "A14", "page.html")
    assert [list(pair) for pair in pairs] == expected["samples"]


def test_reported_case_of_a_translation_that_comes_later(cases: Path) -> None:
    expected = json.loads((cases / "A22" / "expected.json").read_text())
    for day in ("day1", "day8"):
        found = list(case_statements(cases, "A22", f"{day}.html"))
        assert [language for language, _ in found] == expected[day]["lang"]
        assert all([list(pair) for pair in pairs] == expected[day]["samples"] for _, pairs in found)


def test_reported_case_of_a_task_in_two_contests(cases: Path) -> None:
    given = [json.loads((cases / "A01" / f"{name}.json").read_text()) for name in ("main", "mirror", "main", "mirror")]
    starts = {contest["contest_id"]: datetime.fromisoformat(contest["start"]) for contest in given}
    places = [Place(contest["contest_id"], task["task_id"]) for contest in given for task in contest["tasks"]]
    expected = json.loads((cases / "A01" / "expected.json").read_text())["release_at"]
    homes = home_contests(starts, places)
    assert {task: home.starts_at for task, home in homes.items()} == {
        task: datetime.fromisoformat(start) for task, start in expected.items()
    }


def test_reported_case_of_contests_without_a_start(cases: Path) -> None:
    rows = json.loads((cases / "A09" / "contests.json").read_text())
    renamed = [{"id": row["id"], "start_epoch_second": row["start_epoch"], "duration_second": 60} for row in rows]
    contests = read_contests(Page("contests.json", json.dumps(renamed).encode(), NOW)).values()
    expected = json.loads((cases / "A09" / "expected.json").read_text())
    assert [contest.contest_id for contest in contests if contest.starts_at is None] == expected["undated"]
    dated = {contest.contest_id: contest.starts_at for contest in contests if contest.starts_at}
    assert dated == {name: datetime.fromisoformat(start) for name, start in expected["dated"].items()}
