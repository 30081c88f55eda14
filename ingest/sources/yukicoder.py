"""yukicoder: contests and problems from its API, statements and samples from its pages, full tests with a user's token.

A problem has two ids: ``ProblemId``, which contests list, and ``No``, the number in its address, which it gets when it
is published. The number is its identity here; one without a number is not public yet.

Two dates are claimed, both with the offset that the API writes (a time without one is refused: no zone is declared).
The contest's ``Date`` is its start. The problem's own ``Date`` is when it was set; in an ordinary round both are the
same instant. They differ where a contest runs for weeks and sets one problem a day (its advent calendars): the problem
is then later than the contest. The earlier of the two decides, as everywhere: nobody outside can tell that a problem
was not shown before its day. (In the answers of ``solved`` the same field is the user's first accepted answer.)

How answers are judged stands in the line of the limits: by comparison, by comparison with a tolerance, by a program of
its own, or in a dialogue. ``ProblemType`` is a number whose meaning is documented nowhere: what keeps a problem out of
scores are the words above its title.
"""

from __future__ import annotations

import os
import re
import string
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Final

from bs4 import Tag
from bs4.element import NavigableString

from db.json_lines import json_kind
from db.records import (
    ContestRecord,
    DateClaim,
    Precision,
    ProblemKey,
    ProblemRecord,
    SuiteRecord,
    TestCaseRecord,
    TestOrigin,
)
from ingest.dates import zoned_instant
from ingest.errors import Absent, AuthRequired, BadRow, UnreadableDate
from ingest.pages import Fetch, Page, Request
from ingest.sources import Check, Host, Listing, ProblemList, ProblemRef, ReadProblem, Secret, Source, Wanted
from ingest.sources._yukicoder_tests import FullTests, read_zip
from ingest.statements.markdown import pre_text, to_markdown
from ingest.statements.wording import read_wording

NAME: Final = "yukicoder"
TOKEN: Final = Secret("LIVE_YUKICODER_TOKEN", "Authorization", "Bearer {}")
_ROOT: Final = "https://yukicoder.me"
_API: Final = f"{_ROOT}/api/v1"
_LISTS: Final = ("past", "current", "future")
_IN_JAPANESE: Final = (("Accept-Language", "ja"),)
_NO_TESTS: Final = (401, 403, 404)
_JST: Final = timezone(timedelta(hours=9))

_LIMITS = re.compile(
    r"実行時間制限\s*[:：]\s*1ケース\s*(?P<seconds>\d+(?:\.\d+)?)\s*(?:秒|sec)\s*/\s*"
    r"メモリ制限\s*[:：]\s*(?P<mib>\d+)\s*MB\s*/\s*(?P<judge>[^\s/]+)(?P<more>.*)"
)
_TOLERANCE = re.compile(
    r"(?P<kind>絶対誤差または相対誤差|絶対誤差|相対誤差)が\s*(?:\$|\\\()?\s*10\^\{?-(?P<digits>\d{1,2})\}?"
)
_PLAIN_JUDGES: Final = ("標準ジャッジ問題", "通常問題")
_KINDS: Final = (
    ("スコア", "scoring", "its page calls it a problem with scores (スコア)"),
    ("ショートコード", "scoring", "its page asks for the shortest code (ショートコード)"),
    ("ネタ", "joke", "its page calls it a joke (ネタ)"),
    ("未証明", "unproved", "its page calls it unproved (未証明): its answers may be wrong"),
)
_KANA = re.compile("[\u3041-\u30fa]")


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
    if not _has_token():
        notes.append(f"samples only: all tests are given to those with a token ({TOKEN.variable})")
    if not refs:
        page = fetch(f"{_API}/contest/id/{contest.native_id}")
        raise page.changed("lists no problem that is public")
    return ProblemList(found, tuple(refs), tuple(notes))


def read_problem(fetch: Fetch, listed: ProblemList, ref: ProblemRef, wanted: Wanted) -> ReadProblem:
    """A problem with its samples, and with all its tests where the user's token is in the environment."""
    facts = read_problem_facts(fetch(f"{_API}/problems/no/{ref.native_id}"))
    statement = read_statement(fetch(Request(_url_of(ref.native_id), headers=_IN_JAPANESE)), ref.native_id)
    tests = _full_tests(fetch, ref.native_id)
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
    entries = page.json()
    if entries is None:
        entries = []
    if not isinstance(entries, list):
        raise page.changed(f"is {json_kind(entries)}, not a list of contests")
    contests: list[ContestRecord] = []
    unread: list[str] = []
    for place, entry in enumerate(entries):
        try:
            contests.append(_contest(entry))
        except BadRow as error:
            unread.append(f"{page.url} [{place}]: {error.reason}")
    if unread and not contests:
        raise page.changed(f"has no contest that can be read; {unread[0]}")
    return ContestList(tuple(contests), len(entries), tuple(unread))


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
        seen={"past": lists[0].n_entries},
        notes=unread,
    )


def _is_wanted(contest: ContestRecord, wanted: Wanted) -> bool:
    """One that began before the window but ends in it counts: an advent calendar runs for weeks."""
    starts_at, ends_at = contest.starts_at, contest.ends_at
    if starts_at is None or ends_at is None:
        return False
    return starts_at < wanted.until and max(starts_at, ends_at) >= wanted.since


def read_contest(page: Page, native_id: str) -> tuple[ContestRecord, list[int]]:
    """A contest of ``contest/id`` and the ids of its problems. ``PageChanged`` when it has none, or is another one."""
    entry = page.json()
    try:
        contest = _contest(entry)
    except BadRow as error:
        raise page.changed(f"is no contest: {error.reason}") from None
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
        raise UnreadableDate(f"{name!r} is {json_kind(written)}, not a date", "Look at the API's answer.")
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
    has_level = isinstance(level, (int, float)) and not isinstance(level, bool)
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


@dataclass(frozen=True)
class Statement:
    """What a problem's page says."""

    markdown: str
    language: str | None
    time_limit_s: float
    memory_limit_bytes: int
    comparison: dict[str, Any]
    samples: tuple[TestCaseRecord, ...]
    flags: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]


def read_statement(page: Page, number: str) -> Statement:
    """The page of a problem: its blocks as Markdown, its limits, how it is judged, its samples.

    ``PageChanged`` names what is not there: the title with the problem's number, the line of the limits, a block.
    """
    content = page.one(page.whole_soup(), "#content")
    title = page.one(content, "h3")
    if not re.search(rf"No\.\s*{number}(?!\d)", title.get_text()):
        raise page.changed(f"has another title than that of No.{number}: {title.get_text().strip()[:80]!r}")
    blocks = [block for block in content.select("div.block") if not block.select_one("form, textarea")]
    own_blocks = {id(block) for block in blocks}
    blocks = [block for block in blocks if not any(id(parent) in own_blocks for parent in block.parents)]
    if not blocks:
        raise page.changed("has no 'div.block' with a statement")
    limits = _LIMITS.search(_text_before(content, blocks[0]))
    if limits is None:
        raise page.changed("has no line with 実行時間制限, メモリ制限 and the kind of judge")
    markdown = "\n".join(to_markdown(block, base_url=page.url) for block in blocks)
    wording = read_wording(markdown)
    judge_flags, tolerance = _judge(limits)
    samples, notes = _samples(content)
    kinds = [(name, reason) for word, name, reason in _KINDS if word in _text_before(content, title)]
    own = dict((*judge_flags, *kinds))
    return Statement(
        markdown=markdown,
        language="ja" if _KANA.search(markdown) else None,
        time_limit_s=float(limits["seconds"]),
        memory_limit_bytes=int(limits["mib"]) * 2**20,
        comparison=wording.comparison | tolerance,
        samples=() if "interactive" in own else samples,
        flags=(*own.items(), *((name, reason) for name, reason in wording.flags if name not in own)),
        notes=notes,
    )


def _text_before(content: Tag, element: Tag) -> str:
    """What stands in `content` before the child that is, or holds, the element; blanks as single spaces."""
    parts: list[str] = []
    for child in content.children:
        if child is element or any(child is parent for parent in element.parents):
            break
        if isinstance(child, Tag):
            parts.append(child.get_text(" "))
        elif type(child) is NavigableString:  # no comment
            parts.append(child)
    return " ".join(" ".join(parts).split())


def _judge(limits: re.Match[str]) -> tuple[list[tuple[str, str]], dict[str, float]]:
    """Flags and tolerances that the line of the limits gives. A kind of judge that is not known is flagged."""
    judge = limits["judge"]
    if judge in _PLAIN_JUDGES:
        return [], {}
    if "リアクティブ" in judge:
        return [("interactive", f"its judge talks with the running program ({judge})")], {}
    if "小数誤差" in judge:
        said = _TOLERANCE.search(limits["more"])
        if said is None:
            return [("custom_validator", f"it allows an error, but its page does not say how large ({judge})")], {}
        epsilon = float(f"1e-{said['digits']}")
        kinds = {"絶対誤差": ("absolute_tolerance",), "相対誤差": ("relative_tolerance",)}
        return [], dict.fromkeys(kinds.get(said["kind"], ("absolute_tolerance", "relative_tolerance")), epsilon)
    return [("custom_validator", f"its answers are judged by its own program ({judge})")], {}


def _samples(content: Tag) -> tuple[tuple[TestCaseRecord, ...], tuple[str, ...]]:
    """The samples, each with one input and one output under headings that say so; notes on those that have not."""
    found: list[TestCaseRecord] = []
    notes: list[str] = []
    for number, sample in enumerate(content.select(".sample"), start=1):
        halves: dict[str, list[str]] = {"入力": [], "出力": []}
        for pre in sample.select("pre"):
            heading = pre.find_previous_sibling(["h5", "h6"])
            text = heading.get_text() if heading else ""
            for half, english in (("入力", "input"), ("出力", "output")):
                if half in text or english in text.lower():
                    halves[half].append(pre_text(pre))
        if [len(texts) for texts in halves.values()] != [1, 1]:
            notes.append(f"sample {number} has not one input and one output: it is not taken")
            continue
        given, expected = (texts[0].encode() for texts in halves.values())
        found.append(TestCaseRecord(f"sample {number}", given, expected, TestOrigin.SAMPLE))
    return tuple(found), tuple(notes)


def _has_token() -> bool:
    return bool(os.environ.get(TOKEN.variable, "").strip())


def _full_tests(fetch: Fetch, number: str) -> FullTests:
    if not _has_token():
        return FullTests()
    try:
        page = fetch(Request(f"{_url_of(number)}/testcase.zip", accept=_NO_TESTS))
    except AuthRequired as error:
        return FullTests(others=(f"samples only: {error.message}",))
    if page.status in _NO_TESTS:
        return FullTests(others=(f"samples only: {page.url} answers {page.status}",))
    return read_zip(page)


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
