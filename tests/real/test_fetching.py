"""Fetching against the recorded pages and the report cases that are about it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from db.engine import Store, open_store
from ingest.errors import Absent, AuthRequired
from ingest.pages import Page
from ingest.web.challenges import find_challenge
from tests.ingest.server import Reply, SiteServer, SkippingClock, fetcher

SITE = "https://site.example"


@pytest.fixture
def cases(shared_data: Path) -> Path:
    return shared_data.parent / "reports" / "cases"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "store.db")) as opened:
        yield opened


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def lay_down(server: SiteServer, routes: dict[str, list[dict[str, Any]]]) -> None:
    for path, answers in routes.items():
        replies = [
            Reply(one.get("body", "").encode(), one["status"], tuple(one.get("headers", {}).items())) for one in answers
        ]
        server.page(SITE + path, *replies)


def test_no_recorded_page_is_taken_for_a_challenge(shared_data: Path) -> None:
    files = sorted(path for path in (shared_data.parent / "sources" / "recorded").rglob("*") if path.is_file())
    assert len(files) > 100
    assert {str(path): what for path in files if (what := find_challenge({}, path.read_bytes()))} == {}


def test_every_recorded_page_is_text(shared_data: Path) -> None:
    folder = shared_data.parent / "sources" / "recorded"
    for path in sorted(folder.rglob("*.html")) + sorted(folder.rglob("*.json")):
        assert "\ufffd" not in Page(str(path), path.read_bytes(), datetime(2026, 1, 1, tzinfo=UTC)).text()


def test_a23_pages_of_old_encodings(cases: Path) -> None:
    title = read(cases / "A23" / "expected.json")["title"]
    for one in read(cases / "A23" / "case.json")["responses"]:
        body = (cases / "A23" / one["file"]).read_bytes()
        page = Page(one["file"], body, datetime(2026, 1, 1, tzinfo=UTC), headers={"content-type": one["content_type"]})
        assert page.one(page.soup(), "title").get_text() == title
        assert "\ufffd" not in page.text()


def test_a24_a_data_address_that_leads_to_the_login(cases: Path, store: Store) -> None:
    with SiteServer(SkippingClock()) as server:
        lay_down(server, read(cases / "A24" / "routes.json"))
        with fetcher(store, server) as fetch, pytest.raises(AuthRequired, match=r"standings\.json.*/login"):
            fetch(f"{SITE}/contests/zabc400/standings.json")
        assert len(server.asked()) == 1


def test_a26_missing_flaky_and_throttled_pages(cases: Path, store: Store) -> None:
    routes = read(cases / "A26" / "routes.json")
    absent: list[str] = []
    with SiteServer(SkippingClock()) as server:
        lay_down(server, routes)
        began = server.clock.now()
        with fetcher(store, server) as fetch:
            for path in routes:
                try:
                    fetch(SITE + path)
                except Absent:
                    absent.append(path)
            assert fetch.counts.requests == 1 + 20 + 3
        times = {path: [one.at for one in server.arrivals if one.target == path] for path in routes}
    assert len(absent) == 12
    assert all(len(times[path]) == 1 for path in absent)
    assert len(times["/contests/zflaky/tasks"]) == 3
    first, second = times["/contests/zlimit/tasks"]
    assert second - first >= timedelta(seconds=3)
    assert server.clock.now() - began < timedelta(seconds=2 * 24 + 30), "the host's interval, and little more"
