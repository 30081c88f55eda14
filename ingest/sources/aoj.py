"""Aizu Online Judge: rounds of PCK, JAG and ICPC, with all their tests, from its two APIs.

No day of a contest is published, only its year: that is what is claimed, and it counts from its first day on. Such a
contest has neither start nor end here; it is over when it is listed, because problems are put on the site after it.
Courses and the permanent volumes date nothing and are not asked for.

A day of a contest is a contest here, "PCKPrelim2008-1": the site lists the problems by day.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from bs4 import BeautifulSoup

from db.digests import sha256_hex
from db.json_lines import json_kind
from db.records import (
    ContestRecord,
    DateClaim,
    ProblemKey,
    ProblemRecord,
    SuiteRecord,
    TestCaseRecord,
)
from ingest.dates import read_date
from ingest.errors import Absent, BadRow, SourceError
from ingest.pages import Fetch, Page, Request
from ingest.sources import Check, Host, Listing, ProblemList, ProblemRef, ReadProblem, Source, Wanted
from ingest.sources._aoj_tests import (
    ERRORS,
    fetch_tests,
    headers_of,
    json_answer,
    positive,
    read_headers,
    read_samples,
    samples_of,
)
from ingest.sources._lines import capped, count_key
from ingest.sources._samples_as_tests import sample_tests
from ingest.statements.markdown import to_markdown
from ingest.statements.samples import find_samples, html_blocks
from ingest.statements.wording import read_wording
from ingest.text import storable

NAME: Final = "aoj"
_API: Final = "https://judgeapi.u-aizu.ac.jp"
_CLASSES: Final = ("PCK", "JAG", "ICPC")
_FIRST_ROUND: Final = "PRELIM"
_NATIVE = re.compile(r"(?P<large>PCK|JAG|ICPC)(?P<middle>[A-Za-z]+)\d+-\d+")
_LANGUAGES: Final = ("en", "ja")
_YEARS: Final = range(1971, 2201)
_LATE: Final = timedelta(days=183)
"""Contests are put on the site up to months after they were held, often in the next year."""
_UNAVAILABLE: Final = 0


def discover(fetch: Fetch, wanted: Wanted) -> Listing:
    """The contests whose year meets the window, or ended less than half a year before it."""
    days: list[Day] = []
    unread: list[str] = []
    failed: list[SourceError] = []
    seen: Counter[str] = Counter()
    for large in _CLASSES:
        rounds = [_FIRST_ROUND]
        for middle in rounds:  # each page names all of them: the list grows with the first one
            try:
                challenges = read_challenges(fetch(_challenges_url(large, middle)), large, middle)
            except SourceError as error:
                failed.append(error)
                continue
            rounds += [one for one in challenges.rounds if one not in rounds]
            seen[count_key(large, middle)] += len(challenges.days)
            days += challenges.days
            unread += challenges.notes
    if not days:
        raise failed[0]
    chosen = [day.contest for day in days if _is_wanted(day, wanted)]
    unread += [f"not listed: {error.message}" for error in failed]
    return Listing(tuple(chosen), is_complete=not unread, seen=dict(seen), unread=capped(unread))


def list_problems(fetch: Fetch, contest: ContestRecord, wanted: Wanted) -> ProblemList:
    """The problems of a day of a contest."""
    day = _day(fetch, contest.native_id)
    refs = tuple(ProblemRef(problem.native_id, problem.title) for problem in day.problems)
    notes = [
        f"problem {problem.native_id} is marked as not available on the site"
        for problem in day.problems
        if problem.available == _UNAVAILABLE
    ]
    return ProblemList(day.contest, refs, tuple(notes))


def read_problem(fetch: Fetch, listed: ProblemList, ref: ProblemRef, wanted: Wanted) -> ReadProblem:
    """A problem in English where there is English, with its samples and all tests that are given out."""
    day = _day(fetch, listed.contest.native_id)
    problem = next((one for one in day.problems if one.native_id == ref.native_id), None)
    if problem is None:
        raise Absent(f"{ref.native_id} is not in {listed.contest.native_id} any more", "nothing is to be done")
    pages = [fetch(_description(language, ref.native_id)) for language in _LANGUAGES]
    texts = [text for page in pages if (text := read_description(page))]
    if not texts:
        raise pages[-1].changed("has no 'html', and neither has the English one")
    shown = texts[0]
    samples, notes = _samples(fetch, ref.native_id, shown)
    tests = fetch_tests(fetch, ref.native_id)
    cases = (*samples, *tests.cases)
    wording = read_wording(shown.markdown)
    suite = SuiteRecord(
        cases,
        comparison=wording.comparison,
        time_limit_s=problem.time_limit_s,
        memory_limit_bytes=problem.memory_limit_bytes,
    )
    record = ProblemRecord(
        key=ProblemKey(NAME, ref.native_id),
        title=problem.title,
        dates=day.dates,
        source=NAME,
        url=_problem_url(ref.native_id),
        contest=listed.contest,
        statement=shown.markdown,
        language=shown.language,
        translations=_translations(texts),
        suite=suite if cases else None,
        flags=(*wording.flags, *tests.flags),
        page_sha256=sha256_hex(b"".join(page.body for page in pages)),  # either may change
    )
    return ReadProblem(record, tuple(f"{ref.native_id}: {note}" for note in (*notes, *tests.notes)))


def _challenges_url(large: str, middle: str) -> str:
    return f"{_API}/challenges/cl/{large}/{middle}"


def _problem_url(native_id: str) -> str:
    return f"https://onlinejudge.u-aizu.ac.jp/problems/{native_id}"


def _description(language: str, native_id: str) -> Request:
    return Request(f"{_API}/resources/descriptions/{language}/{native_id}", accept=ERRORS)


def _day(fetch: Fetch, native_id: str) -> Day:
    """A day of a contest with its problems, out of the page that lists it."""
    match = _NATIVE.fullmatch(native_id)
    if match is None:
        raise Absent(f"{native_id!r} is no contest of AOJ", "its contests are called PCKPrelim2008-1, for example")
    large, middle = match["large"], match["middle"].upper()
    page = fetch(_challenges_url(large, middle))
    for day in read_challenges(page, large, middle).days:
        if day.contest.native_id == native_id:
            return day
    raise page.changed(f"has no contest {native_id}")


def _is_wanted(day: Day, wanted: Wanted) -> bool:
    """Whether the contest's year meets the window. One without a year may be of any."""
    if day.year is None:
        return True
    begins, ends = datetime(day.year, 1, 1, tzinfo=UTC), datetime(day.year + 1, 1, 1, tzinfo=UTC)
    return begins < wanted.until and ends + _LATE > wanted.since


@dataclass(frozen=True)
class Problem:
    """A problem object of the API. ``available`` is a number whose meaning is not documented; 0 is the odd one."""

    native_id: str
    title: str
    time_limit_s: float | None
    memory_limit_bytes: int | None
    available: int | None


@dataclass(frozen=True)
class Day:
    """A day of a contest. ``year`` is None where none is given."""

    contest: ContestRecord
    year: int | None
    problems: tuple[Problem, ...]

    @property
    def dates(self) -> tuple[DateClaim, ...]:
        """The claim that the year makes."""
        if self.year is None:
            return ()
        return (replace(read_date(str(self.year), NAME), contest=self.contest.native_id),)


@dataclass(frozen=True)
class Challenges:
    """One page of contests. ``rounds`` are the names of the class's other pages, in capitals.

    ``notes`` have a line for each contest that cannot be read.
    """

    days: tuple[Day, ...]
    rounds: tuple[str, ...]
    notes: tuple[str, ...] = ()


def read_challenges(page: Page, large: str, middle: str) -> Challenges:
    """The contests of ``challenges/cl/{large}/{middle}``, day by day.

    ``PageChanged`` when the class's rounds or the contests are missing, or no contest can be read.
    """
    answer = page.json()
    contests = answer.get("contests") if isinstance(answer, dict) else None
    if not isinstance(contests, list) or not contests:
        raise page.changed("has no 'contests'")
    days: list[Day] = []
    unread: list[str] = []
    for place, contest in enumerate(contests):
        try:
            days.extend(_days(contest, large, middle))  # those before an odd one stay
        except ValueError as error:
            unread.append(f"{page.url} contests[{place}]: {error}")
    if not days:
        raise page.changed(f"has no contest that can be read; {unread[0]}")
    return Challenges(tuple(days), _rounds(page, answer), tuple(unread))


def _rounds(page: Page, answer: dict[str, Any]) -> tuple[str, ...]:
    large = answer.get("largeCl")
    filters = large.get("filter") if isinstance(large, dict) else None
    values = [one.get("value") for one in filters if isinstance(one, dict)] if isinstance(filters, list) else []
    rounds = tuple(value.upper() for value in values if isinstance(value, str) and value.isascii() and value.isalnum())
    if not rounds:
        raise page.changed("has no 'largeCl.filter' with the names of the rounds")
    return rounds


def _days(contest: object, large: str, middle: str) -> Iterator[Day]:
    if not isinstance(contest, dict) or not isinstance(contest.get("days"), list):
        raise BadRow(f"{json_kind(contest)} without 'days'")
    abbr, year = contest.get("abbr"), contest.get("year")
    # An empty clock's year (0, -1, 1970) is no year: the problem would pass for a very old one, or for a new one.
    known = year if isinstance(year, int) and not isinstance(year, bool) and year in _YEARS else None
    for day in contest["days"]:
        native_id = f"{abbr}-{day.get('day')}" if isinstance(day, dict) else ""
        match = _NATIVE.fullmatch(native_id)
        if match is None or (match["large"], match["middle"].upper()) != (large, middle):
            raise BadRow(f"'abbr' {abbr!r} and its 'day' are no contest of {large} {middle}")
        title = day.get("title")
        yield Day(
            ContestRecord(
                NAME,
                native_id,
                title if isinstance(title, str) and title else None,
                url=f"https://onlinejudge.u-aizu.ac.jp/challenges/sources/{large}/{match['middle']}?year={year}",
            ),
            known,
            tuple(_problem(problem) for problem in _listed(day)),
        )


def _listed(day: dict[str, Any]) -> list[Any]:
    problems = day.get("problems")
    if not isinstance(problems, list) or not problems:
        raise BadRow("a day has no 'problems'")
    return problems


def _problem(entry: object) -> Problem:
    native_id, title = (entry.get(name) if isinstance(entry, dict) else None for name in ("id", "name"))
    if not isinstance(entry, dict) or not isinstance(native_id, str) or not re.fullmatch(r"\w+", native_id):
        raise BadRow("a problem has no 'id'")
    seconds, kib = (positive(entry, name) for name in ("problemTimeLimit", "problemMemoryLimit"))
    available = entry.get("available")
    return Problem(
        native_id,
        title.strip() if isinstance(title, str) and title.strip() else native_id,
        seconds,
        int(kib * 1024) if kib else None,
        available if isinstance(available, int) else None,
    )


@dataclass(frozen=True)
class Description:
    """A statement in one language, with the samples that stand in it as (input, output) texts."""

    language: str
    markdown: str
    samples: tuple[tuple[str, str], ...]


def read_description(page: Page) -> Description | None:
    """The statement of ``resources/descriptions``; None where there is none in this language."""
    answer = json_answer(page)
    if answer is None:
        return None
    html, language = (answer.get(name) for name in ("html", "language")) if isinstance(answer, dict) else (None, None)
    if not isinstance(html, str):
        raise page.changed("has no 'html'")
    try:
        body = BeautifulSoup(storable("'html'", html), "lxml").body
    except BadRow as error:
        raise page.changed(f"has a statement that no database holds: {error.reason}") from None
    if body is None or not body.get_text().strip():
        return None
    asked = page.url.rstrip("/").split("/")[-2]
    samples = find_samples(html_blocks(body)).pairs
    return Description(language if language in _LANGUAGES else asked, to_markdown(body, base_url=f"{_API}/"), samples)


def _translations(texts: list[Description]) -> tuple[tuple[str, str], ...]:
    """The statements in other languages than the first. The site answers in Japanese where English is missing."""
    return tuple((text.language, text.markdown) for text in texts[1:] if text.language != texts[0].language)


def _samples(fetch: Fetch, native_id: str, shown: Description) -> tuple[tuple[TestCaseRecord, ...], tuple[str, ...]]:
    """The samples that the API has, else those in the statement."""
    found = read_samples(fetch(samples_of(native_id)))
    if found:
        return found, ()
    return sample_tests(shown.samples), (f"no sample is registered; {len(shown.samples)} stand in its statement",)


SOURCE = Source(
    name=NAME,
    description="Aizu Online Judge: rounds of PCK, JAG and ICPC with all tests, dated by their year",
    hosts=(Host("judgeapi.u-aizu.ac.jp", 1.0), Host("judgedat.u-aizu.ac.jp", 0.5)),
    discover=discover,
    list_problems=list_problems,
    read_problem=read_problem,
    checks=(
        Check(
            "contests", Request(_challenges_url("PCK", "PRELIM")), lambda page: read_challenges(page, "PCK", "PRELIM")
        ),
        Check("statement", _description("ja", "0173"), read_description),
        Check("samples", samples_of("0173"), read_samples),
        Check("tests", headers_of("0173"), read_headers),
    ),
)
