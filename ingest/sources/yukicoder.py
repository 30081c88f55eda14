"""yukicoder: contests and problems from its API, statements and samples from its pages, full tests with a user's token.

A problem has two ids: ``ProblemId``, which contests list, and ``No``, the number in its address, which it gets when it
is published. The number is its identity here; one without a number is not public yet.

Two dates are claimed, both with the offset that the API writes (a time without one is refused: no zone is declared).
The contest's ``Date`` is its start. The problem's own ``Date`` is when it was set; in an ordinary round both are the
same instant. They differ where a contest runs for weeks and sets one problem a day (its advent calendars): the problem
is then later than the contest. The earlier of the two decides, as everywhere: nobody outside can tell that a problem
was not shown before its day. (In the answers of ``solved`` the same field is the user's first accepted answer.)

``ProblemType`` is a number whose meaning is documented nowhere, and not read.
"""

from __future__ import annotations

import string
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Final

from db.digests import sha256_hex
from db.json_lines import json_kind
from db.records import (
    ContestRecord,
    DateClaim,
    Precision,
    ProblemKey,
    ProblemRecord,
    SuiteRecord,
)
from ingest.dates import zoned_instant
from ingest.errors import Absent, AuthRequired, BadRow, PageChanged, TooLarge, UnreadableDate
from ingest.pages import Fetch, Page, Request
from ingest.sources import Check, Host, Listing, ProblemList, ProblemRef, ReadProblem, Secret, Source, Wanted
from ingest.sources._lines import capped
from ingest.sources._yukicoder_pages import read_statement
from ingest.sources._yukicoder_tests import FullTests, read_zip

NAME: Final = "yukicoder"
TOKEN: Final = Secret("LIVE_YUKICODER_TOKEN", "Authorization", "Bearer {}")
_ROOT: Final = "https://yukicoder.me"
_API: Final = f"{_ROOT}/api/v1"
_LISTS: Final = ("past", "current", "future")
_IN_JAPANESE: Final = (("Accept-Language", "ja"),)
_NO_TESTS: Final = (401, 403, 404)
_BEYOND_ALL: Final = 1000
"""Levels are between 0 and 6; no float holds some other numbers."""
_JST: Final = timezone(timedelta(hours=9))


def discover(fetch: Fetch, wanted: Wanted) -> Listing:
    """The contests that start, or still ran, in the window, from the three lists of the API."""
    pages = [fetch(f"{_API}/contest/{name}") for name in _LISTS]
    lists = [read_contests(page) for page in pages]
    if not lists[0].n_entries:
        raise pages[0].changed("lists no past contest, and there were hundreds")
    return merge_lists(lists, wanted)


def list_problems(fetch: Fetch, contest: ContestRecord, wanted: Wanted) -> ProblemList:
    """The problems of a contest in its order. Those without a number, or that are gone, are named in the notes."""
    found, ids = read_contest(fetch(f"{_API}/contest/id/{contest.native_id}"), contest.native_id)
    refs: list[ProblemRef] = []
    notes: list[str] = []
    for place, problem_id in enumerate(ids):
        try:
            problem = read_problem_facts(fetch(f"{_API}/problems/{problem_id}"))
        except Absent as error:
            notes.append(f"problem id {problem_id} of contest {found.native_id} is not there: {error.message}")
            continue
        if problem.number is None:
            notes.append(f"problem id {problem_id} of contest {found.native_id} has no number: it is not public")
            continue
        refs.append(ProblemRef(problem.number, problem.title, _letter(place)))
    if not _has_token(wanted):
        notes.append(f"samples only: all tests are given to those with a token ({TOKEN.variable})")
    if not refs:
        page = fetch(f"{_API}/contest/id/{contest.native_id}")
        raise page.changed("lists no problem that is public")
    return ProblemList(found, tuple(refs), tuple(notes))


def read_problem(fetch: Fetch, listed: ProblemList, ref: ProblemRef, wanted: Wanted) -> ReadProblem:
    """A problem with its samples, and with all its tests where the user has given a token."""
    facts = read_problem_facts(fetch(f"{_API}/problems/no/{ref.native_id}"))
    page = fetch(Request(_url_of(ref.native_id), headers=_IN_JAPANESE))
    statement = read_statement(page, ref.native_id)
    tests = _full_tests(fetch, ref.native_id, wanted)
    cases = (*statement.samples, *tests.cases)
    suite = SuiteRecord(
        cases,
        comparison=statement.comparison,
        time_limit_s=statement.time_limit_s,
        memory_limit_bytes=statement.memory_limit_bytes,
    )
    record = ProblemRecord(
        key=ProblemKey(NAME, ref.native_id),
        title=facts.title,
        dates=_dates(listed.contest, facts),
        source=NAME,
        url=_url_of(ref.native_id),
        difficulty=facts.level,
        contest=listed.contest,
        contest_index=ref.index,
        statement=statement.markdown,
        language=statement.language,
        suite=suite if cases else None,
        flags=(*statement.flags, *tests.flags),
        page_sha256=sha256_hex(page.body),
    )
    notes = (*facts.notes, *statement.notes, *tests.notes)
    return ReadProblem(record, tuple(f"No.{ref.native_id}: {note}" for note in notes))


def _url_of(number: str) -> str:
    return f"{_ROOT}/problems/no/{number}"


def _letter(place: int) -> str:
    return string.ascii_uppercase[place] if place < len(string.ascii_uppercase) else str(place + 1)


@dataclass(frozen=True)
class ContestList:
    """One list of the API: its contests, how many entries it has, and a line for each that cannot be read."""

    contests: tuple[ContestRecord, ...]
    n_entries: int
    unread: tuple[str, ...]


def read_contests(page: Page) -> ContestList:
    """The contests of ``contest/past``, ``current`` or ``future``; null is an empty list.

    ``PageChanged`` when it is no list, or when none of its entries can be read.
    """
    answer = page.json()
    entries = [] if answer is None else page.as_list(answer, "the answer")
    contests, unread = page.each(entries, _contest, "the answer")
    return ContestList(contests, len(entries), unread)


def merge_lists(lists: list[ContestList], wanted: Wanted) -> Listing:
    """One listing of the past, the current and the future contests. The past ones are counted: they never vanish.

    A contest that moves from one list to the next while they are read is there twice; the first one is taken.
    """
    by_id: dict[str, ContestRecord] = {}
    for one in lists:
        for contest in one.contests:
            by_id.setdefault(contest.native_id, contest)
    unread = tuple(line for one in lists for line in one.unread)
    return Listing(
        tuple(contest for contest in by_id.values() if _is_wanted(contest, wanted)),
        is_complete=not unread,
        known=frozenset(by_id),
        seen={"past": lists[0].n_entries},
        unread=capped(unread),
    )


def _is_wanted(contest: ContestRecord, wanted: Wanted) -> bool:
    """One that began before the window but ends in it counts: an advent calendar runs for weeks."""
    starts_at, ends_at = contest.starts_at, contest.ends_at
    if starts_at is None or ends_at is None:
        return False
    still_runs = starts_at < wanted.since <= ends_at
    return still_runs or wanted.wants(contest.native_id, starts_at)


def read_contest(page: Page, native_id: str) -> tuple[ContestRecord, list[int]]:
    """A contest of ``contest/id`` and the ids of its problems. ``PageChanged`` when it has none, or is another one."""
    entry = page.json()
    try:
        contest = _contest(entry)
    except ValueError as error:
        raise page.changed(f"is no contest: {error}") from None
    if contest.native_id != native_id:
        raise page.changed(f"is about contest {contest.native_id}, not {native_id}")
    ids = entry.get("ProblemIdList")
    if not isinstance(ids, list) or not ids or not all(_is_id(one) for one in ids):
        raise page.changed("has no 'ProblemIdList' with ids")
    return contest, ids


def _contest(entry: object) -> ContestRecord:
    """A contest object. ``BadRow`` names what is missing or wrong."""
    if not isinstance(entry, dict):
        raise BadRow(f"{json_kind(entry)}, not a contest")
    contest_id = entry.get("Id")
    if not _is_id(contest_id):
        raise BadRow(f"'Id' is {json_kind(contest_id)}, not a positive number")
    starts_at, ends_at = (_instant(entry, name) for name in ("Date", "EndDate"))
    if starts_at is None or ends_at is None or ends_at < starts_at:
        raise BadRow(f"contest {contest_id} has no 'Date' with an 'EndDate' after it")
    name = entry.get("Name")
    title = name.strip() if isinstance(name, str) else ""
    return ContestRecord(NAME, str(contest_id), title or None, starts_at, ends_at, url=f"{_ROOT}/contests/{contest_id}")


def _is_id(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _instant(entry: dict[str, Any], name: str) -> datetime | None:
    """The instant under `name`, None where nothing stands there. ``UnreadableDate`` for one without an offset."""
    written = entry.get(name)
    if written is None or written == "":
        return None
    if not isinstance(written, str):
        raise UnreadableDate(f"{name!r} is {json_kind(written)}, not a date", "look at the API's answer")
    return zoned_instant(written, None)


@dataclass(frozen=True)
class ProblemFacts:
    """A problem object of the API. ``number`` is None until it is published, ``set_at`` is its own ``Date``."""

    number: str | None
    title: str
    level: str | None = None
    set_at: datetime | None = None
    set_as_written: str = ""
    notes: tuple[str, ...] = ()


def read_problem_facts(page: Page) -> ProblemFacts:
    """The problem of ``problems/{ProblemId}`` or ``problems/no/{No}``. ``PageChanged`` when it is none."""
    entry = page.json()
    if not isinstance(entry, dict) or not isinstance(entry.get("Title"), str) or "No" not in entry:
        raise page.changed("has no 'No' and 'Title'")
    number, level = entry["No"], entry.get("Level")
    if number is not None and (not isinstance(number, int) or isinstance(number, bool) or number < 0):
        raise page.changed(f"has {json_kind(number)} for 'No', not a number")
    set_at: datetime | None = None
    notes: list[str] = []
    try:
        set_at = _instant(entry, "Date")
    except UnreadableDate as error:
        notes.append(f"its own date is not taken: {error.reason}")
    has_level = isinstance(level, (int, float)) and not isinstance(level, bool) and 0 <= level < _BEYOND_ALL
    if level is not None and not has_level:
        notes.append("its level is not taken: it is no number of stars")
    return ProblemFacts(
        None if number is None else str(number),
        entry["Title"].strip() or f"No.{number}",
        f"{level:g}" if has_level else None,
        set_at,
        str(entry.get("Date") or ""),
        tuple(notes),
    )


def _dates(contest: ContestRecord, facts: ProblemFacts) -> tuple[DateClaim, ...]:
    claims = []
    if contest.starts_at is not None:
        written = contest.starts_at.astimezone(_JST).isoformat()  # as the API writes it
        claims.append(DateClaim(written, contest.starts_at, Precision.INSTANT, NAME, contest.native_id))
    if facts.set_at is not None:
        claims.append(DateClaim(facts.set_as_written, facts.set_at, Precision.INSTANT, NAME))
    return tuple(claims)


def _has_token(wanted: Wanted) -> bool:
    return TOKEN.variable in wanted.credentials


def _full_tests(fetch: Fetch, number: str, wanted: Wanted) -> FullTests:
    """All tests that the token opens. Without them, or with a zip that cannot be used, the samples are the suite."""
    if not _has_token(wanted):
        return FullTests()
    try:
        page = fetch(Request(f"{_url_of(number)}/testcase.zip", accept=_NO_TESTS))
    except (Absent, AuthRequired, TooLarge) as error:
        return FullTests(others=(f"samples only: {error.message}",))
    if page.status in _NO_TESTS:
        return FullTests(others=(f"samples only: {page.url} answers {page.status}",))
    try:
        return read_zip(page)
    except PageChanged as error:
        return FullTests(refused=(error.message,))


SOURCE = Source(
    name=NAME,
    description="yukicoder rounds, with all tests where a token is given",
    hosts=(Host("yukicoder.me", 1.0, TOKEN),),
    discover=discover,
    list_problems=list_problems,
    read_problem=read_problem,
    checks=(
        Check("contests", Request(f"{_API}/contest/past"), read_contests),
        Check("contest", Request(f"{_API}/contest/id/280"), lambda page: read_contest(page, "280")),
        Check("problem", Request(f"{_API}/problems/no/1228"), read_problem_facts),
        Check("statement", Request(_url_of("1228"), headers=_IN_JAPANESE), lambda page: read_statement(page, "1228")),
    ),
)
