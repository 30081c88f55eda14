"""What the tests of the LeetCode source share: its recorded-shape answers, and a fetch that gives them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, Tag

from ingest.errors import FetchError
from ingest.pages import Fetch, Page, Request
from ingest.sources import Wanted

DATA = Path(__file__).parent / "data" / "leetcode"
NOW = datetime(2026, 3, 10, 3, 17, tzinfo=UTC)
FETCHED = datetime(2026, 3, 10, 3, 17, 5, tzinfo=UTC)
GRAPHQL = "https://leetcode.com/graphql/"

NUMS = {"name": "nums", "type": "integer[]"}
FERRY: dict[str, Any] = {
    "classname": "FerryQueue",
    "constructor": {"params": [{"type": "integer", "name": "places"}]},
    "methods": [
        {"name": "board", "params": [{"type": "integer", "name": "car"}], "return": {"type": "boolean"}},
        {"name": "leave", "params": [], "return": {"type": "integer"}},
        {"name": "load", "params": [], "return": {"type": "double"}},
        {"name": "clear", "params": [], "return": {"type": "void"}},
    ],
    "systemdesign": True,
    "return": {"type": "list<String>", "dealloc": True},
    "params": [{"name": "inputs", "type": "integer[]"}, {"name": "inputs", "type": "integer[]"}],
}


def wanted(since: datetime = datetime(2026, 2, 1, tzinfo=UTC), now: datetime = NOW) -> Wanted:
    return Wanted(since, datetime(2026, 3, 24, tzinfo=UTC), now)


def load(name: str) -> Any:
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def tree(name: str) -> Tag:
    return BeautifulSoup((DATA / name).read_text(encoding="utf-8"), "lxml")


def page(value: Any, url: str = GRAPHQL, fetched_at: datetime = FETCHED) -> Page:
    """A page with `value` as JSON, or with the bytes themselves."""
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    return Page(url, body, fetched_at, headers={"content-type": "application/json"}, snapshot_id=41)


def question(**changes: Any) -> dict[str, Any]:
    """The answer for one problem, with changed fields; a field of `...` is left out."""
    answer: dict[str, Any] = load("question.json")
    fields = answer["data"]["question"] | changes
    answer["data"]["question"] = {name: value for name, value in fields.items() if value is not ...}
    return answer


def meta(**fields: Any) -> str:
    """``metaData``, which is JSON in a string."""
    return json.dumps(fields)


def fetcher(answers: Mapping[str, Any], asked: list[Request] | None = None, *, fetched_at: datetime = FETCHED) -> Fetch:
    """A fetch that answers by the name of a GraphQL operation (with its slug) or by the path of an address.

    An answer that is an error is raised.
    """

    def fetch(request: Request | str) -> Page:
        assert isinstance(request, Request)
        if asked is not None:
            asked.append(request)
        if request.method == "POST":
            body = json.loads(request.body)
            name = " ".join(
                [body["operationName"], *[v for v in body["variables"].values() if isinstance(v, str) and v]]
            )
        else:
            name = request.url.removeprefix("https://leetcode.com")
        answer = answers[name]
        if isinstance(answer, FetchError):
            raise answer
        return page(answer, request.url, fetched_at)

    return fetch
