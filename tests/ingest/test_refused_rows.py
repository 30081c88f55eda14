"""Rows that are wrong in one field: none is stored, each is named with its line and its field, the good one is kept."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from db.engine import Store, open_store
from db.problems import list_problems
from ingest.importing import import_problems
from ingest.sources import source_names
from tests.ingest.reading import read, write_rows

NOW = datetime(2026, 1, 2, tzinfo=UTC)
GOOD: dict[str, Any] = {
    "platform": "atcoder",
    "id": "xyz001_a",
    "title": "Two Buckets",
    "released": "2026-01-01T00:00:00Z",
    "time_limit_s": 2,
    "tests": [{"input": "1\n", "expected": "1\n"}],
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "store.db")) as opened:
        yield opened


def test_every_bad_row_is_named_and_the_good_one_is_stored(store: Store, tmp_path: Path) -> None:
    bad: list[dict[str, Any]] = [
        {"platform": "atcodr"},
        {"released": "yesterday"},
        {"time_limit_s": -1},
        {"title": ""},
        {"tests": None},
    ]
    rows = [GOOD | wrong | {"id": f"bad_{number}"} for number, wrong in enumerate(bad, start=1)] + [GOOD]
    path = write_rows(tmp_path / "rows.jsonl", rows)
    as_given = path.read_bytes()
    report = import_problems(store, path, "jsonl", now=NOW)
    assert (report.created, report.n_refused) == (1, 5)
    assert [str(one) for one in report.refused] == [
        "line 1, id 'bad_1': platform is 'atcodr', which is nearly 'atcoder'",
        "line 2, id 'bad_2': released: 'yesterday' is not a date",
        "line 3, id 'bad_3': time_limit_s is -1",
        "line 4, id 'bad_4': has no title",
        "line 5, id 'bad_5': tests is null, not a list",
    ]
    assert all(one.hint for one in report.refused)
    assert [one.raw for one in report.refused] == as_given.decode().splitlines()[:5]
    with store.read() as session:
        assert [one.key.native_id for one in list_problems(session)] == ["xyz001_a"]
    assert path.read_bytes() == as_given, "the raw rows are where they were"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("atcodr", "atcoder"),
        ("atcooder", "atcoder"),
        ("stcoder", "atcoder"),
        ("atcodre", "atcoder"),
        ("AtCoder", "atcoder"),
        ("letcode", "leetcode"),
        ("LeetCod", "leetcode"),
        ("codeforce", "codeforces"),
        ("Codeforcse", "codeforces"),
        ("yukicode", "yukicoder"),
        ("AOJ", "aoj"),
    ],
)
def test_a_slip_of_the_pen_is_no_new_platform(tmp_path: Path, written: str, meant: str) -> None:
    refusal = read("jsonl", write_rows(tmp_path / "rows.jsonl", [GOOD | {"platform": written}])).refusal
    assert refusal.reason == f"platform is {written!r}, which is nearly {meant!r}"
    assert repr(meant) in refusal.hint


@pytest.mark.parametrize(
    "platform", [*source_names(), "boj", "poj", "ucpc", "codechef", "leetcode-cn", "codeforces-gym", "own", "kattis"]
)
def test_known_platforms_and_those_that_only_look_alike_from_afar_are_taken(tmp_path: Path, platform: str) -> None:
    found = read("jsonl", write_rows(tmp_path / "rows.jsonl", [GOOD | {"platform": platform}])).one
    assert found.key.platform == platform
