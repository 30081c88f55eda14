from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from db.records import ContestRecord
from ingest.clist import HOST, KEY, RESOURCES, cross_check, first_url, read_entries
from ingest.errors import AuthRequired, FetchError, PageChanged, Unreachable
from ingest.pages import Fetch, Page, Request
from ingest.sources import Wanted

DATA = Path(__file__).parent / "data" / "clist"
NOW = datetime(2026, 3, 8, tzinfo=UTC)
WANTED = Wanted(datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC), NOW)
FIRST = first_url("codeforces.com", WANTED)
NEXT = "https://clist.by/api/v4/contest/?limit=100&offset=100&resource=codeforces.com"


def contest(native_id: str, starts_at: datetime | None) -> ContestRecord:
    return ContestRecord("codeforces", native_id, f"Round {native_id}", starts_at)


OURS = (
    contest("9101", datetime(2026, 3, 2, 14, 35, tzinfo=UTC)),
    contest("9102", datetime(2026, 3, 9, 14, 35, tzinfo=UTC)),
    contest("9103", None),
)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY.variable, "somebody:secret-word")


def site(answers: dict[str, str | bytes | FetchError]) -> Fetch:
    def fetch(request: Request | str) -> Page:
        url = request if isinstance(request, str) else request.url
        answer = answers[url]
        if isinstance(answer, FetchError):
            raise answer
        return Page(url, (DATA / answer).read_bytes() if isinstance(answer, str) else answer, NOW)

    return fetch


def page(answer: object) -> Page:
    return Page(FIRST, json.dumps(answer).encode(), NOW)


def test_what_differs_and_what_is_lacking_is_said() -> None:
    notes = cross_check(site({FIRST: "first.json", NEXT: "second.json"}), "codeforces.com", OURS, WANTED)
    assert notes == (
        "clist has 9102 of codeforces.com at 2026-03-08T14:35:00+00:00; it starts at 2026-03-09T14:35:00+00:00 here",
        "clist has 9103 of codeforces.com at 2026-03-10T14:35:00+00:00; it has no start here",
        "clist has 9104 of codeforces.com at 2026-03-20T14:35:00+00:00 (Round 9104); it is not listed here",
    )
    assert "secret-word" not in "".join(notes)


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata", "America/Los_Angeles"])
def test_a_start_without_a_zone_is_in_utc(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        entries = read_entries(Page(FIRST, (DATA / "first.json").read_bytes(), NOW)).entries
    finally:
        monkeypatch.undo()
        time.tzset()
    assert [(entry.native_id, entry.starts_at) for entry in entries] == [
        ("9101", datetime(2026, 3, 2, 14, 35, 30, tzinfo=UTC)),
        ("9102", datetime(2026, 3, 8, 14, 35, tzinfo=UTC)),
    ]


@pytest.mark.parametrize(
    "answer",
    [Unreachable("no answer"), AuthRequired("no such key"), b"<html></html>", b"{}", b'{"objects": {}}', b"[]"],
)
def test_a_failure_is_one_note(answer: bytes | FetchError) -> None:
    (note,) = cross_check(site({FIRST: answer}), "codeforces.com", OURS, WANTED)
    assert note.startswith("starts were not compared with clist: ")


def test_no_contest_in_the_window_is_no_failure() -> None:
    empty = json.dumps({"meta": {"next": None}, "objects": []}).encode()
    assert cross_check(site({FIRST: empty}), "codeforces.com", OURS, WANTED) == ()


def test_the_key_goes_to_no_other_host() -> None:
    for address in ("https://example.org/api/v4/contest/?x", "//example.org/api/v4/contest/", "/login", 7, "http://[x"):
        with pytest.raises(PageChanged, match="for the next page"):
            read_entries(page({"meta": {"next": address}, "objects": []}))


def test_an_address_that_is_none_is_one_note() -> None:
    for answer in (
        {"meta": {"next": "http://[x"}, "objects": []},
        {"meta": {"next": None}, "objects": [{"href": "http://[x", "event": "x", "start": "2026-03-02T14:35:00"}]},
    ):
        (note,) = cross_check(site({FIRST: json.dumps(answer).encode()}), "codeforces.com", OURS, WANTED)
        assert note.startswith("starts were not compared with clist: ")


def test_pages_without_an_end_are_a_note() -> None:
    endless = json.dumps({"meta": {"next": FIRST}, "objects": []}).encode()
    (note,) = cross_check(site({FIRST: endless}), "codeforces.com", OURS, WANTED)
    assert "more than 20 pages" in note


@pytest.mark.parametrize(
    "wrong",
    [
        {"event": "x", "start": "2026-03-02T14:35:00"},
        {"href": "https://codeforces.com/contest/1", "event": "x"},
        {"href": "https://codeforces.com/contest/1", "start": "soon"},
        {"href": "https://codeforces.com/", "start": "2026-03-02T14:35:00"},
        {"href": "http://[x", "event": "x", "start": "2026-03-02T14:35:00"},
        {"href": "https://codeforces.com/contest/\ud800", "event": "x", "start": "2026-03-02T14:35:00"},
        {"href": "https://codeforces.com/contest/1", "event": "\ud800", "start": "2026-03-02T14:35:00"},
        7,
    ],
)
def test_an_entry_that_cannot_be_read_is_a_note(wrong: object) -> None:
    right = {"href": "https://codeforces.com/contests/9101", "event": "x", "start": "2026-03-02T14:35:00Z"}
    answer = json.dumps({"meta": {"next": ""}, "objects": [wrong, right]}).encode()
    (note,) = cross_check(site({FIRST: answer}), "codeforces.com", OURS, WANTED)
    assert note.startswith(f"{FIRST} has objects[0]: ")
    assert note.encode()
    with pytest.raises(PageChanged, match="no entry of 'objects' that can be read"):
        read_entries(page({"meta": {"next": None}, "objects": [wrong]}))


def test_how_it_is_asked() -> None:
    assert (HOST.name, HOST.interval_s, HOST.secret) == ("clist.by", 6.0, KEY)
    assert (KEY.header, KEY.template.format("user:key")) == ("Authorization", "ApiKey user:key")
    assert parse_qs(urlsplit(FIRST).query) == {
        "resource": ["codeforces.com"],
        "start__gte": ["2026-03-01T00:00:00"],
        "start__lt": ["2026-04-01T00:00:00"],
        "order_by": ["start"],
        "limit": ["100"],
    }
    assert RESOURCES["yukicoder"] == "yukicoder.me"
