"""CLIST, which knows the contests of all sites: a second opinion on their starts, and never a date.

It keeps the starts of contests that were moved and lists some twice, so that what it says differently is a line for a
person and nothing else. It is asked only where the user has a key. Its times are in UTC and do not say so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import urlencode, urljoin, urlsplit

from db.json_lines import json_kind
from db.records import ContestRecord
from ingest.dates import zoned_instant
from ingest.errors import BadRow, SourceError
from ingest.pages import Fetch, Page
from ingest.sources import Host, Secret, Wanted
from ingest.text import storable

RESOURCES: Final = {
    "atcoder": "atcoder.jp",
    "codeforces": "codeforces.com",
    "leetcode": "leetcode.com",
    "yukicoder": "yukicoder.me",
}
"""What CLIST calls the sites of our sources."""
KEY: Final = Secret("LIVE_CLIST_KEY", "Authorization", "ApiKey {}")
HOST: Final = Host("clist.by", 6.0, KEY)

_ROOT: Final = "https://clist.by/api/v4/contest/"
_TOLERANCE: Final = timedelta(minutes=1)
_PAGE_SIZE: Final = 100
_MAX_PAGES: Final = 20


@dataclass(frozen=True)
class Entry:
    """A contest as CLIST has it. ``native_id`` is the end of its address: what its site calls it."""

    native_id: str
    title: str
    starts_at: datetime


@dataclass(frozen=True)
class EntryPage:
    """One page of contests, the address of the next one, and a line for each entry that cannot be read."""

    entries: tuple[Entry, ...]
    next_url: str | None
    unread: tuple[str, ...] = ()


def cross_check(fetch: Fetch, resource: str, contests: Sequence[ContestRecord], wanted: Wanted) -> tuple[str, ...]:
    """Lines on the contests of the window where CLIST has another start, or one that is not in `contests`.

    `resource` is its name for the site (`RESOURCES`). Nothing is asked, and nothing said, without the user's key; that
    it does not answer is one line.
    """
    try:
        pages = list(_pages(fetch, resource, wanted))
    except SourceError as error:
        return (f"starts were not compared with clist: {error.message}",)
    unread = tuple(line for page in pages for line in page.unread)
    return (*unread, *compare(resource, [entry for page in pages for entry in page.entries], contests))


def compare(resource: str, entries: Sequence[Entry], contests: Sequence[ContestRecord]) -> tuple[str, ...]:
    """One line for each contest of CLIST's that is not in `contests`, or starts more than a minute off."""
    ours = {contest.native_id: contest for contest in contests}
    notes = []
    for entry in entries:
        said = f"clist has {entry.native_id} of {resource} at {entry.starts_at.isoformat()}"
        contest = ours.get(entry.native_id)
        if contest is None:
            notes.append(f"{said} ({entry.title}); it is not listed here")
        elif contest.starts_at is None:
            notes.append(f"{said}; it has no start here")
        elif abs(contest.starts_at - entry.starts_at) > _TOLERANCE:
            notes.append(f"{said}; it starts at {contest.starts_at.isoformat()} here")
    return tuple(notes)


def _pages(fetch: Fetch, resource: str, wanted: Wanted) -> Iterator[EntryPage]:
    """The contests of the window, page by page. ``PageChanged`` when there is no end to them, or none can be read."""
    url = first_url(resource, wanted)
    for _ in range(_MAX_PAGES):
        page = fetch(url)
        found = read_entries(page)
        yield found
        if found.next_url is None:
            return
        url = found.next_url
    raise page.changed(f"leads to more than {_MAX_PAGES} pages")


def first_url(resource: str, wanted: Wanted) -> str:
    """The address of the first page of the window's contests."""
    since, until = (instant.strftime("%Y-%m-%dT%H:%M:%S") for instant in (wanted.since, wanted.until))
    query = {"resource": resource, "start__gte": since, "start__lt": until, "order_by": "start", "limit": _PAGE_SIZE}
    return f"{_ROOT}?{urlencode(query)}"


def read_entries(page: Page) -> EntryPage:
    """The contests of one answer. ``PageChanged`` when it is none, or none of its contests can be read."""
    answer = page.json()
    objects, meta = (answer.get(name) if isinstance(answer, dict) else None for name in ("objects", "meta"))
    if not isinstance(objects, list) or not isinstance(meta, dict):
        raise page.changed("has no 'objects' with 'meta'")
    entries, unread = page.each(objects, _entry, "objects")
    return EntryPage(entries, _next_url(page, meta.get("next")), unread)


def _entry(entry: object) -> Entry:
    if not isinstance(entry, dict):
        raise BadRow(f"{json_kind(entry)}, not a contest")
    address, title, start = (entry.get(name) for name in ("href", "event", "start"))
    if not isinstance(address, str) or not isinstance(start, str):
        raise BadRow("a contest without 'href' or 'start'")
    try:
        native_id = urlsplit(storable("href", address)).path.rstrip("/").rpartition("/")[2]
    except ValueError as error:
        raise BadRow(f"'href' {address!r} cannot be read ({error})") from None
    if not native_id:
        raise BadRow(f"'href' {address!r} names no contest")
    title = storable("event", title) if isinstance(title, str) else native_id
    return Entry(native_id, title, zoned_instant(start, UTC))


def _next_url(page: Page, given: object) -> str | None:
    """The next page's address. The user's key goes with it, so that it must be on the same host."""
    if given is None or given == "":
        return None
    try:
        url = urljoin(page.url, given) if isinstance(given, str) else ""
    except ValueError:
        url = ""
    if not url.startswith(_ROOT):
        raise page.changed(f"has {given!r} for the next page")
    return url
