from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from db.records import ContestKind, ContestRecord, IoKind, Precision, ProblemKey, TestOrigin
from ingest.errors import Absent, Blocked, PageChanged, SourceError
from ingest.pages import Request
from ingest.sources import ProblemRef, load_source
from ingest.sources.leetcode import (
    discover,
    list_problems,
    parse_contest_info,
    parse_contests,
    parse_question,
    parse_sightings,
    read_problem,
)
from tests.ingest.leetcode_pages import FETCHED, fetcher, load, meta, page, question, wanted

CONTESTS = "allContests"
PROBLEM_LIST = "problemsetQuestionList"
INFO = "/contest/api/info/biweekly-contest-701/"
START, END = datetime(2026, 3, 7, 14, 30, tzinfo=UTC), datetime(2026, 3, 7, 16, tzinfo=UTC)
ROUND = ContestRecord(
    "leetcode",
    "biweekly-contest-701",
    "Biweekly Contest 701",
    START,
    END,
    url="https://leetcode.com/contest/biweekly-contest-701/",
)


def answers(**changes: Any) -> dict[str, Any]:
    return {
        CONTESTS: load("all_contests.json"),
        PROBLEM_LIST: load("problem_list.json"),
        INFO: load("contest_info.json"),
        "question lanterns-in-pairs": question(),
    } | changes


def test_contests_of_the_window_are_listed_with_their_original_starts() -> None:
    listing = discover(fetcher(answers()), wanted())
    assert [(c.native_id, c.starts_at, c.kind) for c in listing.contests] == [
        ("weekly-contest-903", datetime(2026, 3, 15, 2, 30, tzinfo=UTC), ContestKind.ROUND),
        ("biweekly-contest-701", START, ContestKind.ROUND),
        ("lantern-cup-2026", datetime(2026, 2, 27, 14, tzinfo=UTC), ContestKind.ROUND),
        ("weekly-contest-901", datetime(2026, 2, 22, 2, 30, tzinfo=UTC), ContestKind.ROUND),
        ("weekly-contest-900", None, ContestKind.VIRTUAL),
    ]
    assert listing.contests[1].ends_at == datetime(2026, 3, 7, 16, 5, tzinfo=UTC)
    assert listing.is_complete
    assert listing.seen == {"weekly": 4, "biweekly": 1, "other": 1}
    assert listing.notes == ("weekly-contest-900 states no start",)


def test_all_contests_are_known_and_a_stored_one_is_listed_wherever_it_starts_by_now() -> None:
    listing = discover(fetcher(answers()), wanted())
    assert listing.known - {contest.native_id for contest in listing.contests} == {"weekly-contest-12"}
    stored = frozenset({"weekly-contest-12", "weekly-contest-13"})
    moved = discover(fetcher(answers()), replace(wanted(), stored=stored))
    assert [contest.native_id for contest in moved.contests if contest not in listing.contests] == ["weekly-contest-12"]
    assert moved.known == listing.known


def test_a_problem_in_the_problem_list_is_a_sighting_at_the_time_of_the_page() -> None:
    sightings = discover(fetcher(answers()), wanted()).sightings
    assert [(s.key, s.seen_at, s.reason) for s in sightings] == [
        (ProblemKey("leetcode", "97011"), FETCHED, "in the problem list"),
        (ProblemKey("leetcode", "97002"), FETCHED, "in the problem list"),
    ]


@pytest.mark.parametrize(
    "answer", [Blocked("a challenge"), {"errors": [{"message": "too many"}]}, {"data": {PROBLEM_LIST: {}}}]
)
def test_without_the_problem_list_the_contests_are_listed_and_a_note_says_so(answer: Any) -> None:
    listing = discover(fetcher(answers(**{PROBLEM_LIST: answer})), wanted())
    assert len(listing.contests) == 5
    assert listing.sightings == ()
    assert "no problem was looked for ahead of its contest" in listing.notes[-1]


def test_a_contest_without_a_readable_start_is_named_and_never_a_round_without_one() -> None:
    answer = load("all_contests.json")
    rows = answer["data"]["allContests"]
    rows[0]["originStartTime"] = rows[0]["startTime"] = "next Sunday"
    rows[1]["originStartTime"] = rows[1]["startTime"] = 1772893800000
    rows[2].pop("titleSlug")
    rows[3].pop("duration")
    rows[5] |= {"startTime": 0, "originStartTime": None}
    rows += ["a row", {"titleSlug": "weekly-contest-13", "startTime": 1482028200, "duration": 10**400}]
    contests, seen, unread = parse_contests(page(answer))
    assert [contest.native_id for contest in contests] == ["weekly-contest-901", "weekly-contest-900"]
    assert seen == {"weekly": 5, "biweekly": 1}
    assert [line.split(":")[0] for line in unread] == [
        "weekly-contest-903",
        "biweekly-contest-701",
        "data.allContests[2]",
        "weekly-contest-12",
        "data.allContests[6]",
        "weekly-contest-13",
    ]
    assert unread[2:5] == (
        "data.allContests[2]: has no titleSlug",
        "weekly-contest-12: states no start",
        "data.allContests[6]: is a text, not a contest",
    )
    listing = discover(fetcher(answers(**{CONTESTS: answer})), wanted())
    assert listing.unread == (*unread, "weekly-contest-901 states no end")
    assert not listing.is_complete
    assert listing.notes == ("weekly-contest-900 states no start",)
    assert [c.kind for c in listing.contests if c.starts_at is None] == [ContestKind.VIRTUAL]


def test_of_many_contests_that_cannot_be_read_twenty_are_named() -> None:
    answer = load("all_contests.json")
    answer["data"]["allContests"] += [{"titleSlug": f"weekly-contest-{n}", "startTime": None} for n in range(1000)]
    listing = discover(fetcher(answers(**{CONTESTS: answer})), wanted())
    assert (len(listing.contests), len(listing.unread)) == (5, 21)
    assert listing.unread[20] == "and 980 more"


def test_the_problems_of_a_contest_have_the_internal_numbers_in_their_order() -> None:
    listed = list_problems(fetcher(answers()), ROUND, wanted())
    assert listed.contest == ROUND
    assert listed.problems == (
        ProblemRef("97001", "Lanterns in Pairs", "Q1"),
        ProblemRef("97002", "Loudest Rehearsal", "Q2"),
        ProblemRef("97003", "Design Ferry Queue", "Q3"),
        ProblemRef("97004", "Average Tide", "Q4"),
    )
    assert listed.notes == ()


def test_the_own_answer_of_a_contest_wins_over_the_list_and_a_note_says_so() -> None:
    (listed_as,) = [c for c in discover(fetcher(answers()), wanted()).contests if c.native_id == ROUND.native_id]
    listed = list_problems(fetcher(answers()), listed_as, wanted())
    assert listed.contest.ends_at == END
    assert listed.notes == ("ends 2026-03-07T16:00:00+00:00, not 2026-03-07T16:05:00+00:00 as the list says",)


def test_a_contest_that_is_not_over_by_its_own_answer_is_not_read() -> None:
    info = load("contest_info.json")
    info["contest"]["origin_start_time"] += 86400
    moved = fetcher(answers(**{INFO: info}))
    with pytest.raises(SourceError, match="ends at 2026-03-08T16:00:00") as caught:
        list_problems(moved, ROUND, wanted(now=datetime(2026, 3, 8, 15, 59, tzinfo=UTC)))
    assert caught.value.kind == "error"
    listed = list_problems(moved, ROUND, wanted(now=datetime(2026, 3, 8, 16, tzinfo=UTC)))
    assert listed.contest.starts_at == datetime(2026, 3, 8, 14, 30, tzinfo=UTC)
    assert listed.notes[0] == "starts 2026-03-08T14:30:00+00:00, not 2026-03-07T14:30:00+00:00 as the list says"


def test_a_virtual_start_is_never_the_start_of_a_contest() -> None:
    info = load("contest_info.json")
    info["contest"] |= {"is_virtual": True, "start_time": 1773000000}
    assert parse_contest_info(page(info)).contest == ROUND
    info["contest"]["origin_start_time"] = 0
    contest = parse_contest_info(page(info)).contest
    assert (contest.starts_at, contest.ends_at, contest.kind) == (None, None, ContestKind.VIRTUAL)
    listed = list_problems(fetcher(answers(**{INFO: info})), ROUND, wanted())
    read = read_problem(fetcher(answers(**{INFO: info})), listed, listed.problems[0], wanted())
    assert read.record.dates == ()


def test_a_problem_is_read_whole() -> None:
    asked: list[Request] = []
    fetch = fetcher(answers(), asked)
    listed = list_problems(fetch, ROUND, wanted())
    read = read_problem(fetch, listed, listed.problems[0], wanted())
    record = read.record
    assert read.notes == ()
    assert record.flags == ()
    assert (record.key, record.title) == (ProblemKey("leetcode", "97001"), "Lanterns in Pairs")
    assert record.page_sha256 == hashlib.sha256(json.dumps(question()).encode()).hexdigest()
    assert (record.url, record.difficulty) == ("https://leetcode.com/problems/lanterns-in-pairs/", "easy")
    assert (record.contest, record.contest_index, record.language) == (ROUND, "Q1", "en")
    (claim,) = record.dates
    assert (claim.as_written, claim.earliest, claim.precision) == ("1772893800", START, Precision.INSTANT)
    assert (claim.source, claim.contest) == ("leetcode", "biweekly-contest-701")
    assert record.starter_code.splitlines()[1].strip().startswith("def pairsOfLanterns(self, lanterns: List[str]")
    assert "\r" not in record.statement + record.starter_code
    assert "2 * 10^5" in record.statement
    assert record.suite is not None
    assert (record.suite.io_kind, record.suite.entry_point) == (IoKind.FUNCTION, "pairsOfLanterns")
    assert [(t.name, t.input, t.expected, t.origin) for t in record.suite.tests] == [
        ("sample 1", b'["red","red","blue"]\n2', b"1", TestOrigin.SAMPLE),
        ("sample 2", b'[""]\n0', b"0", TestOrigin.SAMPLE),
    ]
    posts = [json.loads(request.body)["variables"] for request in asked if request.method == "POST"]
    assert posts == [{"titleSlug": "lanterns-in-pairs"}]
    assert {dict(request.headers)["Referer"] for request in asked} == {
        "https://leetcode.com/contest/biweekly-contest-701/",
        "https://leetcode.com/problems/lanterns-in-pairs/",
    }


def test_a_problem_that_is_not_what_its_contest_lists_is_refused() -> None:
    listed = list_problems(fetcher(answers()), ROUND, wanted())
    other = fetcher(answers(**{"question lanterns-in-pairs": question(questionId="97009")}))
    with pytest.raises(PageChanged, match="the id 97009, its contest 97001"):
        read_problem(other, listed, listed.problems[0], wanted())
    with pytest.raises(PageChanged, match="has no question 5"):
        read_problem(fetcher(answers()), listed, ProblemRef("5", "Unknown"), wanted())


@pytest.mark.parametrize("content", [None, "", "  \r\n", "<p>&nbsp;</p>", "<!-- locked -->"])
def test_a_locked_problem_keeps_its_date_and_has_neither_statement_nor_tests(content: str | None) -> None:
    read = parse_question(page(question(content=content, isPaidOnly=True, metaData=None, codeSnippets=None)), ROUND)
    record = read.record
    assert (record.statement, record.starter_code, record.suite) == ("", "", None)
    assert record.flags == (("statement_unavailable", "its content is empty, it is for subscribers"),)
    assert record.dates[0].earliest == START
    opened = parse_question(page(question()), ROUND).record
    assert opened.flags == ()
    assert (opened.dates, opened.key) == (record.dates, record.key)
    assert opened.suite is not None


@pytest.mark.parametrize("category", ["Database", "Shell", "Concurrency", "JavaScript", "pandas"])
def test_a_problem_of_another_category_has_no_tests(category: str) -> None:
    read = parse_question(page(question(categoryTitle=category, metaData='{"mysql": ["Create table"]}')))
    assert read.record.suite is None
    assert [name for name, _ in read.record.flags] == ["other_category"]
    assert read.notes == (f"its category is {category}, which the judge does not run",)


def test_markup_and_numbers_of_limits_stay_what_they_were() -> None:
    content = (
        "<p>At most 10<sup>5</sup> items of h<sub>i</sub>, below 2<sup>31</sup> - 1.</p>"
        + question()["data"]["question"]["content"]
    )
    statement = parse_question(page(question(content=content))).record.statement
    assert "10^5" in statement
    assert "2^31 - 1" in statement
    assert "105" not in statement
    assert "231" not in statement
    assert "&lt;" not in statement


CHALLENGE = b"<!DOCTYPE html><html><title>Just a moment...</title></html>"


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (CHALLENGE, "is an HTML page, not JSON"),
        (json.dumps(load("all_contests.json")).encode()[:500], "is not JSON"),
        ({"errors": [{"message": "Cannot query field"}], "data": None}, "answers with errors: Cannot query field"),
        ({"errors": "overloaded"}, "answers with errors: overloaded"),
        ({"data": None}, "null for 'data', not an object"),
        ({"data": {}}, "has no data.allContests"),
        ({"data": {"allContests": None}}, "null for 'data.allContests', not a list"),
        ({"data": {"allContests": []}}, "has no contest with a start"),
        (
            {"data": {"allContests": [{"titleSlug": "weekly-contest-5", "startTime": 0}]}},
            "weekly-contest-5: states no start",
        ),
        ({"data": {"allContests": ["weekly-contest-5"]}}, "data.allContests[0]: is a text, not a contest"),
        ([], "a list for 'the answer'"),
    ],
)
def test_a_list_of_contests_that_is_none_is_an_error(answer: Any, says: str) -> None:
    with pytest.raises(PageChanged) as caught:
        discover(fetcher(answers(**{CONTESTS: answer})), wanted())
    assert says in caught.value.message
    assert caught.value.message.startswith("https://leetcode.com/graphql/ ")
    assert caught.value.snapshot_id == 41


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"questions": []}, "has no questions, although the contest has ended"),
        ({"questions": None}, "null for 'questions', not a list"),
        ({"questions": [{"title": "A", "title_slug": "a"}]}, "question_id is None, not a number"),
        ({"questions": [{"question_id": 7, "title": "A"}]}, "has no title_slug"),
        ({"contest": None}, "null for 'contest', not an object"),
        ({"contest": {"title_slug": "biweekly-contest-702", "duration": 5400}}, "is about 'biweekly-contest-702'"),
        ({"contest": {"title": "Biweekly Contest 701"}}, "has no title_slug"),
        ({"contest": {"title_slug": "x", "origin_start_time": 1772893800, "duration": 1e300}}, "duration is 1e+300"),
        ({"contest": {"title_slug": "x", "origin_start_time": "soon", "duration": 5400}}, "'soon' is not an epoch"),
    ],
)
def test_a_contest_without_what_has_to_be_there_is_an_error(changes: dict[str, Any], says: str) -> None:
    fetch = fetcher(answers(**{INFO: load("contest_info.json") | changes}))
    with pytest.raises(PageChanged) as caught:
        list_problems(fetch, ROUND, wanted())
    assert says in caught.value.message


def test_a_contest_that_the_site_does_not_know_is_absent() -> None:
    with pytest.raises(Absent, match="Contest not found"):
        list_problems(fetcher(answers(**{INFO: {"error": "Contest not found."}})), ROUND, wanted())


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (CHALLENGE, "is an HTML page, not JSON"),
        (json.dumps(question()).encode()[:900], "is not JSON"),
        ({"errors": [{"message": "rate"}]}, "answers with errors: rate"),
        ({"data": {"question": None}}, "has no such question"),
        (question(content=...), "has no data.question.content"),
        (question(questionId=...), "questionId is None, not a number"),
        (question(questionId="one"), "questionId is 'one', not a number"),
        (question(title=""), "has no title"),
        (question(titleSlug=None), "has no titleSlug"),
        (question(content=["<p>"]), "content is a list, not a text"),
        (question(content="<p>\x00</p>"), "content holds a NUL character"),
        (question(metaData="name: twoSum"), "metaData is not JSON"),
        (question(metaData="[1]"), "metaData is a list, not an object"),
        (question(metaData=meta(params=[])), "has no name"),
        (question(metaData=None), "metaData is not JSON"),
        (question(exampleTestcaseList=[7]), "an example is a number, not a text"),
        (question(content="<div>" * 5000 + "deep"), "is nested too deeply"),
    ],
)
def test_a_question_without_what_has_to_be_there_is_an_error(answer: Any, says: str) -> None:
    with pytest.raises(SourceError) as caught:
        parse_question(page(answer))
    assert says in caught.value.message
    assert caught.value.snapshot_id == 41


def test_the_problem_list_without_problems_is_an_error() -> None:
    with pytest.raises(PageChanged, match="has no questions in"):
        parse_sightings(page({"data": {PROBLEM_LIST: {"questions": []}}}))
    with pytest.raises(PageChanged, match="questionId is None"):
        parse_sightings(page({"data": {PROBLEM_LIST: {"questions": [{"titleSlug": "a"}]}}}))


def test_every_endpoint_has_a_check_that_takes_a_good_answer_and_refuses_a_poor_one() -> None:
    good = {
        "list of contests": load("all_contests.json"),
        "contest": load("contest_info.json"),
        "problem": question(),
        "list of problems": load("problem_list.json"),
    }
    poor = good | {
        "list of contests": {"data": {}},
        "contest": load("contest_info.json") | {"questions": []},
        "problem": question(content="<p>Nothing that an example would look like.</p>"),
        "list of problems": {"data": {}},
    }
    source = load_source("leetcode")
    assert {check.name for check in source.checks} == set(good)
    for check in source.checks:
        check.read(page(good[check.name]))
        with pytest.raises(PageChanged):
            check.read(page(poor[check.name]))


def test_the_source_asks_one_host_slowly_and_takes_a_users_own_cookie() -> None:
    source = load_source("leetcode")
    (host,) = source.hosts
    assert (host.name, host.interval_s) == ("leetcode.com", 2.0)
    assert host.secret is not None
    assert (host.secret.variable, host.secret.header) == ("LIVE_LEETCODE_COOKIE", "Cookie")
    for check in source.checks:
        assert check.request.url.startswith("https://leetcode.com/")
        assert "Referer" in dict(check.request.headers)
    posts = [check.request for check in source.checks if check.request.method == "POST"]
    assert [request.accept for request in posts] == [(400,)] * 3
