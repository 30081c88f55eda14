"""LeetCode: its contests and their problems, with the samples that a statement shows.

Dates are the starts of contests, in the list of all contests and, deciding, in each contest's own answer. A problem's
id is the internal number (``questionId`` of the question, ``question_id`` in a contest), which the LiveCodeBench data
set has too; the number on the site's pages is another one. Tests are the inputs of ``exampleTestcaseList`` with the
outputs that the statement shows; there are no others. Problems seen in the problem list before their contest were
readable early, by subscribers for example.

A login is not needed; a user's own cookie in LIVE_LEETCODE_COOKIE opens what that user may read.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from urllib.parse import quote

from bs4 import BeautifulSoup, Tag

from db.digests import sha256_hex
from db.json_lines import json_kind
from db.records import (
    ContestKind,
    ContestRecord,
    DateClaim,
    Precision,
    ProblemKey,
    ProblemRecord,
    SightingRecord,
)
from ingest.dates import epoch_instant
from ingest.errors import Absent, BadRow, SourceError
from ingest.fields import long_text, optional_text, positive_number, required_text
from ingest.pages import Fetch, Page, Request, json_request
from ingest.sources import Check, Host, Listing, ProblemList, ProblemRef, ReadProblem, Secret, Source, Wanted
from ingest.sources._leetcode_examples import examples_of
from ingest.sources._leetcode_samples import sample_tests
from ingest.sources._leetcode_signature import read_signature
from ingest.sources._lines import capped
from ingest.statements.free_order import for_class, for_function
from ingest.statements.markdown import to_markdown
from ingest.statements.wording import read_wording

NAME = "leetcode"
_SITE = "https://leetcode.com"
_ALGORITHMS = "Algorithms"
_SERIES = re.compile(r"(weekly|biweekly)-contest-\d+", re.ASCII)
_NEWEST = 100
_SHOWN = 80

_CONTESTS_QUERY = """query allContests {
  allContests { title titleSlug startTime duration originStartTime isVirtual containsPremium }
}"""
_LIST_QUERY = """query problemsetQuestionList(
  $categorySlug: String, $limit: Int, $skip: Int, $filters: QuestionListFilterInput
) {
  problemsetQuestionList: questionList(
    categorySlug: $categorySlug, limit: $limit, skip: $skip, filters: $filters
  ) { total: totalNum questions: data { questionId questionFrontendId title titleSlug } }
}"""
_QUESTION_QUERY = """query question($titleSlug: String!) {
  question(titleSlug: $titleSlug) {
    questionId questionFrontendId title titleSlug content isPaidOnly difficulty categoryTitle
    exampleTestcases exampleTestcaseList sampleTestCase metaData codeSnippets { langSlug code }
  }
}"""


@dataclass(frozen=True)
class ListedQuestion:
    """A problem in its contest's answer. ``slug`` is what its own page is asked by."""

    ref: ProblemRef
    slug: str


@dataclass(frozen=True)
class ContestInfo:
    """A contest's own answer. ``questions`` is empty before its start."""

    contest: ContestRecord
    questions: tuple[ListedQuestion, ...]


def discover(fetch: Fetch, wanted: Wanted) -> Listing:
    """The contests that are wanted, virtual ones without a known start too, and the newest problems as sightings."""
    contests, seen, unread = parse_contests(fetch(contests_request()))
    listed = tuple(c for c in contests if c.starts_at is None or wanted.wants(c.native_id, c.starts_at))
    # One whose end is not known never counts as over, so that it is not read.
    unread += tuple(f"{c.native_id} states no end" for c in listed if c.starts_at and c.ends_at is None)
    notes = tuple(f"{c.native_id} states no start" for c in listed if c.starts_at is None)
    try:
        sightings = parse_sightings(fetch(list_request()))
    except SourceError as error:
        sightings = ()
        notes = (*notes, f"no problem was looked for ahead of its contest: {error.message}")
    return Listing(
        listed,
        is_complete=not unread,
        known=frozenset(contest.native_id for contest in contests),
        seen=seen,
        unread=capped(unread),
        notes=capped(notes),
        sightings=sightings,
    )


def list_problems(fetch: Fetch, contest: ContestRecord, wanted: Wanted) -> ProblemList:
    """The problems of a contest. Its answer holds them from the start on, but they are read when it is over."""
    page = fetch(_info_request(contest.native_id))
    info = parse_contest_info(page)
    own = info.contest
    if own.native_id != contest.native_id:
        raise page.changed(f"is about {own.native_id!r}, not {contest.native_id!r}")
    if own.ends_at is not None and not own.has_ended(wanted.now):
        raise SourceError(
            f"{page.url} says that the contest ends at {own.ends_at.isoformat()}, so it is not read yet",
            "a run after that reads it",
            snapshot_id=page.snapshot_id,
        )
    if not info.questions:
        raise page.changed("has no questions, although the contest has ended")
    return ProblemList(own, tuple(question.ref for question in info.questions), _differences(contest, own))


def read_problem(fetch: Fetch, problems: ProblemList, ref: ProblemRef, wanted: Wanted) -> ReadProblem:
    """One problem of a contest. Its slug is in the contest's answer, which is asked for again."""
    info_page = fetch(_info_request(problems.contest.native_id))
    slugs = {question.ref.native_id: question.slug for question in parse_contest_info(info_page).questions}
    if ref.native_id not in slugs:
        raise info_page.changed(f"has no question {ref.native_id}")
    page = fetch(question_request(slugs[ref.native_id]))
    read = parse_question(page, problems.contest, ref.index)
    if read.record.key.native_id != ref.native_id:
        raise page.changed(
            f"gives {slugs[ref.native_id]!r} the id {read.record.key.native_id}, its contest {ref.native_id}"
        )
    return read


def parse_contests(page: Page) -> tuple[tuple[ContestRecord, ...], dict[str, int], tuple[str, ...]]:
    """All contests of the list, how many there are by series, and a line for each that cannot be read.

    A round without a start is such: it would be read at once, however old it is, as if it were over.
    """
    contests, unread = [], []
    seen: Counter[str] = Counter()
    for place, row in enumerate(page.as_list(_data(page, "allContests"), "data.allContests")):
        slug = f"data.allContests[{place}]"
        try:
            if not isinstance(row, dict):
                raise BadRow(f"is {json_kind(row)}, not a contest")
            slug = required_text(row, "titleSlug")
            series = _SERIES.fullmatch(slug)
            seen[series[1] if series else "other"] += 1
            contest = _contest(row, slug, ("startTime", "originStartTime", "isVirtual"))
            if contest.starts_at is None and contest.kind is ContestKind.ROUND:
                raise BadRow("states no start")
        except BadRow as error:
            unread.append(f"{slug}: {error.reason}")
        else:
            contests.append(contest)
    if all(contest.starts_at is None for contest in contests):
        raise page.changed("has no contest with a start in data.allContests" + "".join(f"; {u}" for u in unread[:1]))
    return tuple(contests), dict(seen), tuple(unread)


def parse_contest_info(page: Page) -> ContestInfo:
    """A contest's own answer. ``Absent`` when it says that there is no such contest."""
    answer = page.as_object(page.json(), "the answer")
    if error := answer.get("error"):
        raise Absent(f"{page.url} says {error!r}", "the contest may be withdrawn", snapshot_id=page.snapshot_id)
    stated = page.as_object(answer.get("contest"), "contest")
    rows = _rows(page, answer.get("questions"), "questions")
    try:
        contest = _contest(
            stated, required_text(stated, "title_slug"), ("start_time", "origin_start_time", "is_virtual")
        )
        questions = tuple(_listed(row, number) for number, row in enumerate(rows, start=1))
    except BadRow as problem:
        raise page.changed(f"gives a contest that cannot be used: {problem.reason}") from None
    return ContestInfo(contest, questions)


def parse_sightings(page: Page) -> tuple[SightingRecord, ...]:
    """The problems that the problem list shows, each seen when the page was fetched."""
    found = page.as_object(_data(page, "problemsetQuestionList"), "data.problemsetQuestionList")
    rows = _rows(page, found.get("questions"), "data.problemsetQuestionList.questions")
    if not rows:
        raise page.changed("has no questions in data.problemsetQuestionList")
    try:
        keys = [ProblemKey(NAME, _number(row, "questionId")) for row in rows]
    except BadRow as error:
        raise page.changed(f"lists a problem that cannot be used: {error.reason}") from None
    return tuple(SightingRecord(key, page.fetched_at, NAME, "in the problem list") for key in keys)


def parse_question(page: Page, contest: ContestRecord | None = None, index: str | None = None) -> ReadProblem:
    """A problem with what its statement, its ``metaData`` and its examples say.

    Without a statement (a locked problem) it has no tests, and the flag ``statement_unavailable``.
    """
    found = _data(page, "question")
    if found is None:
        raise Absent(f"{page.url} has no such question", "it may be withdrawn", snapshot_id=page.snapshot_id)
    question = page.as_object(found, "data.question")
    if "content" not in question:
        raise page.changed("has no data.question.content")
    try:
        record = ProblemRecord(
            key=ProblemKey(NAME, _number(question, "questionId")),
            title=required_text(question, "title"),
            dates=_dates(contest),
            source=NAME,
            url=f"{_SITE}/problems/{quote(required_text(question, 'titleSlug'), safe='')}/",
            difficulty=(optional_text(question, "difficulty") or "").lower() or None,
            contest=contest,
            contest_index=index,
            page_sha256=sha256_hex(page.body),
        )
        return _with_content(record, question)
    except BadRow as error:
        raise page.changed(f"gives a question that cannot be used: {error.reason}") from None
    except RecursionError:
        raise page.changed("gives a question that is nested too deeply") from None


def _with_content(record: ProblemRecord, question: dict[str, Any]) -> ReadProblem:
    root = _tree(long_text(question, "content"))
    statement = to_markdown(root, base_url=f"{_SITE}/")
    if not statement.strip():
        why = "its content is empty" + (", it is for subscribers" if question.get("isPaidOnly") is True else "")
        return ReadProblem(replace(record, flags=(("statement_unavailable", why),)), (why,))
    wording = read_wording(statement, is_call=True)
    starter = _starter(question)
    record = replace(record, statement=statement, language="en", starter_code=starter, flags=wording.flags)
    category = optional_text(question, "categoryTitle") or _ALGORITHMS
    if category != _ALGORITHMS:
        why = f"its category is {category}, which the judge does not run"
        return ReadProblem(replace(record, flags=(*record.flags, ("other_category", why))), (why,))
    signature = read_signature(long_text(question, "metaData"), starter)
    if signature.is_design:
        wording = for_class(wording, statement)
    else:
        wording = for_function(wording, statement, signature.answer_type)
    tests, flaws = sample_tests(question, signature, examples_of(root))
    suite = signature.suite(tests, wording.comparison) if tests else None
    unclear = (("partial_tests" if tests else "examples_unclear", "; ".join(flaws)),) if flaws else ()
    return ReadProblem(replace(record, suite=suite, flags=(*wording.flags, *signature.obstacles(), *unclear)), flaws)


def _tree(content: str) -> Tag:
    soup = BeautifulSoup(f"<html><body>{content}</body></html>", "lxml")
    return soup.body or soup


def _starter(question: dict[str, Any]) -> str:
    snippets = question.get("codeSnippets")
    for snippet in snippets if isinstance(snippets, list) else []:
        if isinstance(snippet, dict) and snippet.get("langSlug") == "python3":
            return long_text(snippet, "code")
    return ""


def _dates(contest: ContestRecord | None) -> tuple[DateClaim, ...]:
    if contest is None or contest.kind is not ContestKind.ROUND or contest.starts_at is None:
        return ()
    written = str(int(contest.starts_at.timestamp()))
    return (DateClaim(written, contest.starts_at, Precision.INSTANT, NAME, contest.native_id),)


def _contest(row: dict[str, Any], slug: str, fields: tuple[str, str, str]) -> ContestRecord:
    """A contest out of the fields for its start, its original start and whether it is virtual.

    The start of a virtual contest is that of its one participant; only the original one is the contest's.
    """
    start, original, virtual = fields
    is_virtual = row.get(virtual) is True
    starts_at = epoch_instant(row.get(original))
    if starts_at is None and not is_virtual:
        starts_at = epoch_instant(row.get(start))
    try:
        duration_s = positive_number(row, "duration")
        ends_at = starts_at + timedelta(seconds=duration_s) if starts_at and duration_s else None
    except OverflowError:
        raise BadRow(f"duration is {str(row['duration'])[:_SHOWN]}") from None
    return ContestRecord(
        NAME,
        slug,
        title=optional_text(row, "title"),
        starts_at=starts_at,
        ends_at=ends_at,
        kind=ContestKind.VIRTUAL if is_virtual and starts_at is None else ContestKind.ROUND,
        url=_contest_url(slug),
    )


def _listed(row: dict[str, Any], number: int) -> ListedQuestion:
    ref = ProblemRef(_number(row, "question_id"), required_text(row, "title"), f"Q{number}")
    return ListedQuestion(ref, required_text(row, "title_slug"))


def _differences(listed: ContestRecord, own: ContestRecord) -> tuple[str, ...]:
    """Where a contest's own times, which count, are not those of the list."""
    times = (("starts", listed.starts_at, own.starts_at), ("ends", listed.ends_at, own.ends_at))
    return tuple(
        f"{what} {mine.isoformat() if mine else 'at no stated time'}, not {theirs.isoformat()} as the list says"
        for what, theirs, mine in times
        if theirs is not None and theirs != mine
    )


def _number(row: dict[str, Any], name: str) -> str:
    """An id that some answers give as a number and others as a text."""
    value = row.get(name)
    text = str(value) if type(value) in (int, str) else ""
    if not (text.isascii() and text.isdigit()):
        raise BadRow(f"{name} is {value!r}, not a number")
    return text


def _data(page: Page, name: str) -> Any:
    """What a GraphQL answer holds under `name`."""
    answer = page.as_object(page.json(), "the answer")
    if errors := answer.get("errors"):
        first = errors[0] if isinstance(errors, list) else errors
        raise page.changed(f"answers with errors: {first.get('message') if isinstance(first, dict) else first}")
    data = page.as_object(answer.get("data"), "data")
    if name not in data:
        raise page.changed(f"has no data.{name}")
    return data[name]


def _rows(page: Page, value: Any, where: str) -> list[dict[str, Any]]:
    return [page.as_object(row, f"{where}[{place}]") for place, row in enumerate(page.as_list(value, where))]


def _contest_url(slug: str) -> str:
    return f"{_SITE}/contest/{quote(slug, safe='')}/"


def _graphql(name: str, query: str, variables: dict[str, Any], referer: str) -> Request:
    body = {"operationName": name, "query": query, "variables": variables}
    # A wrong query is answered with 400 and the reason as JSON.
    return replace(json_request(f"{_SITE}/graphql/", body, headers=(("Referer", referer),)), accept=(400,))


def contests_request() -> Request:
    """The request for the list of all contests."""
    return _graphql("allContests", _CONTESTS_QUERY, {}, f"{_SITE}/contest/")


def list_request() -> Request:
    """The request for the newest questions of the problem list."""
    order = {"orderBy": "FRONTEND_ID", "sortOrder": "DESCENDING"}
    variables = {"categorySlug": "", "limit": _NEWEST, "skip": 0, "filters": order}
    return _graphql("problemsetQuestionList", _LIST_QUERY, variables, f"{_SITE}/problemset/")


def question_request(slug: str) -> Request:
    """The request for one question."""
    referer = f"{_SITE}/problems/{quote(slug, safe='')}/"
    return _graphql("question", _QUESTION_QUERY, {"titleSlug": slug}, referer)


def _info_request(slug: str) -> Request:
    url = f"{_SITE}/contest/api/info/{quote(slug, safe='')}/"
    return Request(url, headers=(("Referer", _contest_url(slug)),))


def _check_info(page: Page) -> None:
    if not parse_contest_info(page).questions:
        raise page.changed("has no questions")


def _check_question(page: Page) -> None:
    read = parse_question(page)
    if read.notes or not read.record.starter_code:
        raise page.changed("; ".join(read.notes) or "has no python3 code in data.question.codeSnippets")


SOURCE = Source(
    NAME,
    "LeetCode's weekly and biweekly contests: functions and classes to write, with the samples of the statements",
    (Host("leetcode.com", 2.0, Secret("LIVE_LEETCODE_COOKIE")),),
    discover,
    list_problems,
    read_problem,
    (
        Check("list of contests", contests_request(), parse_contests),
        Check("contest", _info_request("weekly-contest-400"), _check_info),
        Check("problem", question_request("two-sum"), _check_question),
        Check("list of problems", list_request(), parse_sightings),
    ),
)
