"""Codeforces: contests, their dates and problem lists from its API; statements, limits and samples from its pages.

Hidden tests are not published: a problem's suite is its samples. Only the API dates a contest: the list on the web is
in the viewer's zone. A contest counts as ended when the API calls it finished, which may be half a day after its time
(hacks, system tests); until then nothing of it is read.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from db.json_lines import json_kind
from db.records import (
    ContestKind,
    ContestRecord,
    DateClaim,
    IoKind,
    Precision,
    ProblemKey,
    ProblemRecord,
    SuiteRecord,
)
from ingest.dates import epoch_instant
from ingest.errors import Absent, BadRow, Blocked, FetchError, PageChanged, SourceError, Unreachable
from ingest.pages import Fetch, Page, Request
from ingest.sources import Check, Host, Listing, ProblemList, ProblemRef, ReadProblem, Secret, Source, Wanted
from ingest.sources._codeforces_pages import (
    Statement,
    problem_set,
    read_statement,
    single_problem,
    why_no_statement,
)
from ingest.sources._lines import capped, count_key, printable
from ingest.sources._native_ids import is_native_id
from ingest.sources._samples_as_tests import sample_tests
from ingest.statements.wording import read_wording

NAME: Final = "codeforces"
_HOST: Final = "codeforces.com"
_ROOT: Final = f"https://{_HOST}"
_FIRST_GYM_ID: Final = 100_000
_FINISHED: Final = "FINISHED"
_LONGEST_S: Final = 10 * 366 * 24 * 3600
_NO_CONTEST = re.compile(r"contest with id \d+ not found", re.IGNORECASE)
_SHOWN_IN_NOTES: Final = 5
_KNOWN_CONTEST, _KNOWN_INDEX = "1971", "C"


def _api(method: str, *parameters: str) -> Request:
    """A call of the API, in English: what it answers without being told so depends on the caller.

    What is wrong with the arguments it says in JSON under status 400, and under 200.
    """
    return Request(f"{_ROOT}/api/{method}?{'&'.join((*parameters, 'lang=en'))}", accept=(400,))


def _standings(contest_id: str) -> Request:
    """One row is the least that can be asked for; the problems come with it."""
    return _api("contest.standings", f"contestId={contest_id}", "from=1", "count=1")


_CONTESTS: Final = _api("contest.list")
_RATINGS: Final = _api("problemset.problems")


def discover(fetch: Fetch, wanted: Wanted) -> Listing:
    """The contests of the window, from the API's list of all that ever were, and all ratings that there are."""
    listing = read_contests(fetch(_CONTESTS), wanted)
    try:
        return replace(listing, difficulties=read_ratings(fetch(_RATINGS)))
    except SourceError as error:
        return replace(listing, notes=(*listing.notes, f"no ratings: {error.message}"))


def list_problems(fetch: Fetch, contest: ContestRecord, wanted: Wanted) -> ProblemList:
    """The problems of a contest, with its dates as its standings give them."""
    return read_standings(fetch(_standings(contest.native_id)), contest)


def read_problem(fetch: Fetch, listed: ProblemList, ref: ProblemRef, wanted: Wanted) -> ReadProblem:
    """A problem from the complete problem set of its contest (one page for all), else from its own page."""
    index = _index(listed, ref)
    statement, missed = _from_problem_set(fetch, listed, index)
    if statement is not None:
        return _read(listed, ref, statement)
    try:
        return _from_own_page(fetch, listed, ref, missed)
    except SourceError as error:
        both = f"{error.message}; and of the complete problem set: {missed}"
        raise type(error)(both, error.hint, snapshot_id=error.snapshot_id) from error


def _from_own_page(fetch: Fetch, listed: ProblemList, ref: ProblemRef, missed: str) -> ReadProblem:
    """A problem from its own page, in Russian where it is not there in English; `missed` says why from there."""
    index = _index(listed, ref)
    notes = [f"taken from its own page: {missed}"]
    url = f"{_contest_url(listed.contest)}/problem/{index}"
    page = fetch(_in("en", url))
    absence = why_no_statement(page)
    if absence is not None and absence[0] == "statement_unavailable":
        russian = fetch(_in("ru", url))
        if why_no_statement(russian) is None:
            page, absence = russian, None
            notes.append("taken in Russian: it is not there in English")
    if absence is not None:
        notes.append(absence[1])
        return ReadProblem(replace(_bare_record(listed, ref), flags=(absence,)), tuple(notes))
    return _read(listed, ref, read_statement(page, single_problem(page, index), index), tuple(notes))


def read_contests(page: Page, wanted: Wanted) -> Listing:
    """The contests of ``contest.list`` that are wanted; ``seen`` counts all, by type and by phase."""
    contests, wanted_entries, unread, undated = [], [], [], []
    seen: Counter[str] = Counter()
    entries = _filled(page, _result(page), "result")
    for place, entry in enumerate(entries):
        try:
            start = _start(entry)
        except ValueError as error:
            unread.append(_unread(place, entry, error))
            continue
        seen.update(count_key(name, entry.get(name)) for name in ("type", "phase"))
        if start is None:
            undated.append(f"{entry.get('id')} ({entry.get('name')})")
        elif wanted.wants(str(entry.get("id")), start):
            wanted_entries.append((place, entry))
    for place, entry in wanted_entries:
        try:
            contests.append(_contest(entry))
        except ValueError as error:
            unread.append(_unread(place, entry, error))
    if unread and not contests and (wanted_entries or len(unread) == len(entries)):
        raise page.changed(f"has no contest that can be read; {unread[0]}")
    return Listing(
        tuple(contests),
        is_complete=not unread,
        known=frozenset(str(number) for entry in entries if (number := _number(entry)) is not None),
        seen=dict(seen),
        unread=capped(unread),
        notes=tuple(_note("left out, without a start", undated)),
    )


def _number(entry: object) -> int | None:
    number = entry.get("id") if isinstance(entry, dict) else None
    return number if type(number) is int else None


def _unread(place: int, entry: object, error: ValueError) -> str:
    number = _number(entry)
    return f"result[{place}]: {error}{'' if number is None else f' (contest {number})'}"


def read_ratings(page: Page) -> dict[str, str]:
    """The ratings of ``problemset.problems`` by problem id, odd ids left out. A problem has none at first."""
    result = _result(page)
    problems = _filled(page, result.get("problems") if isinstance(result, dict) else None, "result.problems")
    ratings = dict(rated for problem in problems if (rated := _rated(problem)))
    if not ratings:
        raise page.changed("has no problem with 'contestId', 'index' and 'rating' in 'result.problems'")
    return ratings


def _rated(problem: object) -> tuple[str, str] | None:
    """A problem's id and its rating; None where it has none, or is not named as problems are."""
    index = _text(problem, "index")
    contest_id, rating = (problem.get(name) if isinstance(problem, dict) else None for name in ("contestId", "rating"))
    if index is None or not is_native_id(index) or type(contest_id) is not int or type(rating) is not int:
        return None
    return f"{contest_id}{index}", str(rating)


def read_standings(page: Page, contest: ContestRecord) -> ProblemList:
    """The problems of ``contest.standings``, questions left out, and the contest as it stands there."""
    result = page.as_object(_result(page), "result")
    try:
        found = _contest(result.get("contest"))
    except ValueError as error:
        raise page.changed(f"has no contest in 'result.contest': {error}") from None
    if found.native_id != contest.native_id:
        raise page.changed(f"is about contest {found.native_id}, not {contest.native_id}")
    refs, others = [], []
    for place, entry in enumerate(_filled(page, result.get("problems"), "result.problems")):
        index, title = _text(entry, "index"), _text(entry, "name")
        if index is None or title is None:
            raise page.changed(f"has no 'index' and 'name' in 'result.problems[{place}]'")
        if not is_native_id(index):
            raise page.changed(f"has {index!r} for 'index' in 'result.problems[{place}]': it cannot be read")
        kind = entry.get("type", "PROGRAMMING")
        if kind == "PROGRAMMING":
            refs.append(ProblemRef(f"{found.native_id}{index}", title, index))
        else:
            others.append(f"{found.native_id}{index} ({kind})")
    notes = _note("left out, as no program answers them", others)
    found = replace(found, title=found.title or contest.title, url=contest.url or found.url)
    if found.starts_at is None:
        found = replace(found, starts_at=contest.starts_at, ends_at=contest.ends_at)
    return ProblemList(found, tuple(refs), tuple(notes))


def _from_problem_set(fetch: Fetch, listed: ProblemList, index: str) -> tuple[Statement | None, str]:
    """The statement in a complete problem set, or None and why it is not there. What is wrong with it is raised."""
    url = _in("en", f"{_contest_url(listed.contest)}/problems")
    try:
        page = fetch(url)
        if index not in listed.shared:  # each part is used up by reading it
            listed.shared.update(problem_set(page))
        part = listed.shared.pop(index, None)
    except Blocked:
        raise
    except (FetchError, PageChanged) as error:
        return None, error.message
    if part is None or part.select_one(".problem-statement") is None:
        return None, f"{url} lacks it"
    return read_statement(page, part, index), ""


def _read(listed: ProblemList, ref: ProblemRef, statement: Statement, notes: tuple[str, ...] = ()) -> ReadProblem:
    wording = read_wording(statement.markdown)
    own = statement.flags
    if statement.input_file or statement.output_file:
        reads, writes = statement.input_file or "standard input", statement.output_file or "standard output"
        own = (*own, ("file_io", f"it reads {reads} and writes {writes}"))
    flags = (*wording.flags, *((name, reason) for name, reason in own if name not in dict(wording.flags)))
    # The samples of an interactive problem are transcripts: its input depends on the program's output.
    samples = () if "interactive" in dict(flags) else statement.samples
    record = replace(
        _bare_record(listed, ref),
        # The API gives names in English: the title of a Russian page would take the place of that.
        title=statement.title if statement.language == "en" else ref.title,
        statement=statement.markdown,
        language=statement.language,
        page_sha256=statement.page_sha256,
        suite=SuiteRecord(
            sample_tests(samples),
            IoKind.STDIN,
            comparison=wording.comparison,
            time_limit_s=statement.time_limit_s,
            memory_limit_bytes=statement.memory_limit_bytes,
        ),
        flags=flags,
    )
    return ReadProblem(record, (*notes, *statement.notes))


def _bare_record(listed: ProblemList, ref: ProblemRef) -> ProblemRecord:
    """What is known of a problem without its statement: only the start of a round dates it."""
    contest = listed.contest
    dates = []
    if contest.kind is ContestKind.ROUND and contest.starts_at is not None:
        epoch = str(int(contest.starts_at.timestamp()))
        dates = [DateClaim(epoch, contest.starts_at, Precision.INSTANT, NAME, contest.native_id)]
    return ProblemRecord(
        key=ProblemKey(NAME, ref.native_id),
        title=ref.title,
        dates=tuple(dates),
        source=NAME,
        url=f"{_contest_url(contest)}/problem/{_index(listed, ref)}",
        contest=contest,
        contest_index=_index(listed, ref),
    )


def _index(listed: ProblemList, ref: ProblemRef) -> str:
    return ref.index or ref.native_id.removeprefix(listed.contest.native_id)


def _contest_url(contest: ContestRecord) -> str:
    """Where the contest's pages are: those of a group are known by its record alone."""
    return contest.url or _url_of(int(contest.native_id))


def _url_of(contest_id: int) -> str:
    return f"{_ROOT}/{'gym' if contest_id >= _FIRST_GYM_ID else 'contest'}/{contest_id}"


def _in(language: str, url: str) -> str:
    return f"{url}?locale={language}"


def _result(page: Page) -> Any:
    """What the API answered. ``FetchError`` of a fitting kind when it refused, ``PageChanged`` for no answer at all."""
    answer = page.json()
    if not isinstance(answer, dict) or answer.get("status") not in ("OK", "FAILED"):
        raise page.changed("has no 'status' of OK or FAILED")
    if answer["status"] == "OK":
        return answer.get("result")
    comment = printable(str(answer.get("comment") or "no comment"))
    said = f"{page.url} answers FAILED: {comment}"
    if _NO_CONTEST.search(comment):
        raise Absent(said, "the contest was withdrawn, or is hidden", snapshot_id=page.snapshot_id)
    if "limit exceeded" in comment.lower():
        hint = "another program asks the API from this address; try again later"
        raise Unreachable(said, hint, snapshot_id=page.snapshot_id)
    raise FetchError(said, "look at what the API says; it may be for a while", snapshot_id=page.snapshot_id)


def _filled(page: Page, value: object, where: str) -> list[Any]:
    """A list that is never empty."""
    entries = page.as_list(value, where)
    if not entries:
        raise page.changed(f"has an empty {where!r}")
    return entries


def _text(entry: object, name: str) -> str | None:
    value = entry.get(name) if isinstance(entry, dict) else None
    return value.strip() or None if isinstance(value, str) else None


def _start(entry: object) -> datetime | None:
    """When a contest object starts, None where it does not say so. ``ValueError`` for what is no start."""
    if not isinstance(entry, dict):
        raise BadRow(f"{json_kind(entry)}, not a contest")
    return epoch_instant(entry.get("startTimeSeconds"))


def _contest(entry: Any) -> ContestRecord:
    """A contest object. Its end is known only once it is finished. ``ValueError`` names what is missing or wrong."""
    starts_at = _start(entry)
    contest_id, duration_s = entry.get("id"), entry.get("durationSeconds")
    if not isinstance(contest_id, int) or isinstance(contest_id, bool) or contest_id <= 0:
        raise BadRow(f"'id' is {json_kind(contest_id)}, not a positive number")
    ends_at = None
    if starts_at is not None and entry.get("phase") == _FINISHED:
        if not isinstance(duration_s, int) or isinstance(duration_s, bool) or not 0 <= duration_s <= _LONGEST_S:
            raise BadRow(f"'durationSeconds' of contest {contest_id} is {duration_s!r}")
        ends_at = starts_at + timedelta(seconds=duration_s)
    return ContestRecord(
        NAME,
        str(contest_id),
        _text(entry, "name"),
        starts_at,
        ends_at,
        ContestKind.TRAINING if contest_id >= _FIRST_GYM_ID else ContestKind.ROUND,
        _url_of(contest_id),
    )


def _note(what: str, which: list[str]) -> list[str]:
    """One line that shows the first few and counts the rest; none when there are none."""
    if not which:
        return []
    more = len(which) - _SHOWN_IN_NOTES
    shown = printable(", ".join(which[:_SHOWN_IN_NOTES]))
    return [f"{what}: {shown}{f' and {more} more' if more > 0 else ''}"]


def _check_problem_set(page: Page) -> object:
    return [read_statement(page, part, index) for index, part in problem_set(page).items()]


def _check_problem(page: Page) -> object:
    return read_statement(page, single_problem(page, _KNOWN_INDEX), _KNOWN_INDEX)


_KNOWN_URL: Final = _url_of(int(_KNOWN_CONTEST))
_ALL_TIME: Final = Wanted(
    datetime(1971, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
)

SOURCE: Final = Source(
    name=NAME,
    description="Codeforces: rounds with exact starts, statements and samples (hidden tests are not published)",
    hosts=(Host(_HOST, 2.0, Secret("LIVE_CODEFORCES_COOKIE")),),
    discover=discover,
    list_problems=list_problems,
    read_problem=read_problem,
    checks=(
        Check("contest.list", _CONTESTS, lambda page: read_contests(page, _ALL_TIME)),
        Check(
            "contest.standings",
            _standings(_KNOWN_CONTEST),
            lambda page: read_standings(page, ContestRecord(NAME, _KNOWN_CONTEST)),
        ),
        Check("problemset.problems", _RATINGS, read_ratings),
        Check("complete problem set", Request(_in("en", f"{_KNOWN_URL}/problems")), _check_problem_set),
        Check("problem", Request(_in("en", f"{_KNOWN_URL}/problem/{_KNOWN_INDEX}")), _check_problem),
    ),
    twins=True,
)
