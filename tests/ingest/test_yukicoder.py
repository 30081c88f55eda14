from __future__ import annotations

import hashlib
import io
import json
import time
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from db.records import ContestKind, ContestRecord, Precision, TestOrigin
from ingest.errors import Absent, AuthRequired, PageChanged, SourceError, TooLarge, Unreachable
from ingest.pages import Fetch, Page, Request
from ingest.sources import ProblemRef, Wanted, load_source
from ingest.sources._yukicoder_pages import Statement, read_statement
from ingest.sources.yukicoder import (
    TOKEN,
    discover,
    list_problems,
    read_contests,
    read_problem,
    read_problem_facts,
)

DATA = Path(__file__).parent / "data" / "yukicoder"
API = "https://yukicoder.me/api/v1"
NOW = datetime(2026, 3, 8, 3, 17, tzinfo=UTC)
WANTED = Wanted(datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC), NOW)
WITH_TOKEN = replace(WANTED, credentials=frozenset({TOKEN.variable}))
START = datetime(2026, 3, 6, 12, 20, tzinfo=UTC)
ROUND = ContestRecord("yukicoder", "901", "yukicoder contest 901", START, datetime(2026, 3, 6, 14, 20, tzinfo=UTC))
Answer = str | bytes | SourceError | tuple[int, bytes]
SITE: Mapping[str, Answer] = {
    f"{API}/contest/past": "contest_past.json",
    f"{API}/contest/current": "contest_current.json",
    f"{API}/contest/future": "contest_future.json",
    f"{API}/contest/id/901": "contest_901.json",
    f"{API}/problems/20011": "problem_9001.json",
    f"{API}/problems/20012": "problem_9002.json",
    f"{API}/problems/20013": "problem_20013.json",
    f"{API}/problems/20014": Absent("gone"),
    f"{API}/problems/20015": Absent("gone"),
    f"{API}/problems/no/9001": "problem_9001.json",
    f"{API}/problems/no/9002": "problem_9002.json",
    "https://yukicoder.me/problems/no/9001": "problem_9001.html",
    "https://yukicoder.me/problems/no/9002": "problem_9002.html",
}
ZIP_URL = "https://yukicoder.me/problems/no/9001/testcase.zip"


def page(body: str | bytes, url: str = f"{API}/x", status: int = 200) -> Page:
    return Page(url, body.encode() if isinstance(body, str) else body, NOW, status)


def site(**changed: Answer) -> Fetch:
    """A fetch that plays our own pages; keys of `changed` are addresses."""
    answers = {**SITE, **changed}

    def fetch(request: Request | str) -> Page:
        url = request if isinstance(request, str) else request.url
        answer = answers[url]
        if isinstance(answer, SourceError):
            raise answer
        if isinstance(answer, tuple):
            return page(answer[1], url, answer[0])
        return page((DATA / answer).read_bytes() if isinstance(answer, str) else answer, url)

    return fetch


def statement(number: str = "9001", **replaced: str) -> Statement:
    html = (DATA / f"problem_{number}.html").read_text()
    for old, new in replaced.items():
        assert old in html
        html = html.replace(old, new)
    return read_statement(page(html, f"https://yukicoder.me/problems/no/{number}"), number)


def test_the_source_is_found_by_its_name() -> None:
    source = load_source("yukicoder")
    assert [host.name for host in source.hosts] == ["yukicoder.me"]
    assert source.hosts[0].secret == TOKEN


def test_contests_of_the_window_and_those_that_still_ran_in_it() -> None:
    listing = discover(site(), WANTED)
    assert [contest.native_id for contest in listing.contests] == ["901", "880", "902"]
    first = listing.contests[0]
    assert (first.starts_at, first.ends_at, first.kind) == (ROUND.starts_at, ROUND.ends_at, ContestKind.ROUND)
    assert (first.title, first.url) == ("yukicoder contest 901", "https://yukicoder.me/contests/901")
    assert (listing.is_complete, listing.seen, listing.notes) == (True, {"past": 3}, ())
    assert [contest.has_ended(NOW) for contest in listing.contests] == [True, True, False]


def test_all_contests_are_known_and_a_stored_one_is_listed_wherever_it_starts_by_now() -> None:
    """880 ran into March; 870 was over in January."""
    listing = discover(site(), WANTED)
    (elsewhere,) = listing.known - {contest.native_id for contest in listing.contests}
    moved = discover(site(), replace(WANTED, stored=frozenset({elsewhere, "no such contest"})))
    (found,) = [contest for contest in moved.contests if contest.native_id == elsewhere]
    assert found.starts_at == datetime(2026, 1, 16, 12, 20, tzinfo=UTC)
    assert moved.known == listing.known


def test_a_contest_in_two_lists_is_one() -> None:
    moving = (DATA / "contest_past.json").read_bytes()
    listing = discover(site(**{f"{API}/contest/current": moving}), WANTED)
    assert [contest.native_id for contest in listing.contests] == ["901", "880", "902"]


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata", "America/Los_Angeles"])
def test_instants_do_not_depend_on_the_local_zone(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        starts = [
            contest.starts_at for contest in read_contests(page((DATA / "contest_past.json").read_bytes())).contests
        ]
    finally:
        monkeypatch.undo()
        time.tzset()
    assert starts == [START, datetime(2026, 2, 9, 15, tzinfo=UTC), datetime(2026, 1, 16, 12, 20, tzinfo=UTC)]


def contest_object(**changed: Any) -> dict[str, Any]:
    whole = {"Id": 1, "Name": "n", "Date": "2026-03-06T21:20:00+09:00", "EndDate": "2026-03-06T23:20:00+09:00"}
    return whole | changed


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"Date": "2026-03-06T21:20:00"}, "has no time zone, and its source declares none"),
        ({"Date": "2026-03-06"}, "not a date with a time of day"),
        ({"Date": 1772799600}, "'Date' is a number"),
        ({"Date": None}, "contest 1 has no 'Date'"),
        ({"EndDate": ""}, "contest 1 has no 'Date' with an 'EndDate'"),
        ({"EndDate": "2026-03-05T23:20:00+09:00"}, "'EndDate' after it"),
        ({"Date": "1970-01-01T00:00:00Z"}, "is no date of a contest problem"),
        ({"Id": "1"}, "'Id' is a text"),
        ({"Id": None}, "'Id' is null"),
        ({"Name": "\ud800"}, "ContestRecord.title holds a lone surrogate"),
    ],
)
def test_a_contest_that_cannot_be_read_is_left_out_and_named(changed: dict[str, Any], says: str) -> None:
    wrong = json.dumps([contest_object(Id=2), contest_object(**changed)])
    found = read_contests(page(wrong))
    assert [contest.native_id for contest in found.contests] == ["2"]
    assert says in found.unread[0]
    listing = discover(site(**{f"{API}/contest/past": wrong.encode()}), WANTED)
    assert (listing.is_complete, listing.unread, listing.notes) == (False, (listing.unread[0],), ())
    assert says in listing.unread[0]
    with pytest.raises(PageChanged, match="no entry of 'the answer' that can be read"):
        read_contests(page(json.dumps([contest_object(**changed)])))


@pytest.mark.parametrize(
    "body", ["<html><body>Just a moment</body></html>", '{"Message": "no"}', "[1, 2", '"text"', "[]", "null"]
)
def test_no_list_of_contests_is_an_error(body: str) -> None:
    with pytest.raises(PageChanged):
        discover(site(**{f"{API}/contest/past": body.encode()}), WANTED)


def test_problems_of_a_contest_have_the_numbers_of_their_addresses() -> None:
    listed = list_problems(site(), ROUND, WANTED)
    assert listed.problems == (ProblemRef("9001", "つり銭の枚数", "A"), ProblemRef("9002", "Halfway Lamp", "B"))
    assert (listed.contest.starts_at, listed.contest.title) == (START, "yukicoder contest 901")
    assert listed.notes[0] == "problem id 20013 of contest 901 has no number: it is not public"
    assert len(listed.notes) == 4
    assert listed.notes[3] == "samples only: all tests are given to those with a token (LIVE_YUKICODER_TOKEN)"


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (json.dumps(contest_object(Id=901, ProblemIdList=[])), "no 'ProblemIdList'"),
        (json.dumps(contest_object(Id=901)), "no 'ProblemIdList'"),
        (json.dumps(contest_object(Id=901, ProblemIdList=["20011"])), "no 'ProblemIdList'"),
        (json.dumps(contest_object(Id=900, ProblemIdList=[20011])), "is about contest 900, not 901"),
        (json.dumps(contest_object(Id=901, ProblemIdList=[20013])), "no problem that is public"),
        ('{"Message": "no such contest"}', "is no contest"),
        (json.dumps(contest_object(Id=901, Name="\ud800")), "is no contest: ContestRecord.title holds a lone"),
    ],
)
def test_a_contest_without_problems_is_an_error(answer: str, says: str) -> None:
    with pytest.raises(PageChanged, match=says):
        list_problems(site(**{f"{API}/contest/id/901": answer.encode()}), ROUND, WANTED)


def read(number: str, want: Wanted = WANTED, /, **changed: Answer) -> Any:
    listed = list_problems(site(), ROUND, want)
    ref = next(ref for ref in listed.problems if ref.native_id == number)
    return read_problem(site(**changed), listed, ref, want)


def test_a_problem_with_its_samples() -> None:
    found = read("9001")
    record = found.record
    assert (str(record.key), record.title, record.difficulty) == ("yukicoder:9001", "つり銭の枚数", "1.5")
    assert (record.contest, record.contest_index, record.language) == (ROUND_WITH_URL, "A", "ja")
    assert record.url == "https://yukicoder.me/problems/no/9001"
    assert "$10^5$" in record.statement
    assert "textarea" not in record.statement
    suite = record.suite
    assert (suite.time_limit_s, suite.memory_limit_bytes, suite.comparison) == (2.0, 512 * 2**20, {})
    assert [(test.name, test.input, test.expected, test.origin) for test in suite.tests] == [
        ("sample 1", b"5 3\n", b"3\n", TestOrigin.SAMPLE),
        ("sample 2", b"2 9\n0\n", b"2\n", TestOrigin.SAMPLE),
    ]
    assert record.flags == ()
    assert found.notes == ("No.9001: sample 3 has not one input and one output: it is not taken",)


@pytest.mark.parametrize("level", ["1" + "0" * 400, "1e999", "NaN", "-1", "true", '"2"'])
def test_a_level_that_is_none_costs_only_itself(level: str) -> None:
    facts = json.loads((DATA / "problem_9001.json").read_text())
    del facts["Level"]
    written = f'{json.dumps(facts)[:-1]}, "Level": {level}}}'
    found = read("9001", **{f"{API}/problems/no/9001": written.encode()})
    assert found.record.difficulty is None
    assert found.notes[0] == "No.9001: its level is not taken: it is no number of stars"


def test_the_page_of_the_statement_is_known_by_its_digest() -> None:
    body = (DATA / "problem_9001.html").read_bytes()
    assert read("9001").record.page_sha256 == hashlib.sha256(body).hexdigest()


ROUND_WITH_URL = ContestRecord(
    "yukicoder", "901", ROUND.title, ROUND.starts_at, ROUND.ends_at, url="https://yukicoder.me/contests/901"
)


def test_both_dates_are_claimed_as_they_are_written() -> None:
    claims = [(claim.as_written, claim.earliest, claim.contest) for claim in read("9001").record.dates]
    assert claims == [("2026-03-06T21:20:00+09:00", START, "901"), ("2026-03-06T21:20:00+09:00", START, "")]
    assert {claim.precision for claim in read("9001").record.dates} == {Precision.INSTANT}
    assert {claim.source for claim in read("9001").record.dates} == {"yukicoder"}


@pytest.mark.parametrize(
    ("own", "claims", "notes"),
    [
        ("2026-03-09T00:00:00+09:00", [START, datetime(2026, 3, 8, 15, tzinfo=UTC)], 0),
        (None, [START], 0),
        ("", [START], 0),
        ("2026-03-09 00:00:00", [START], 1),
    ],
)
def test_the_own_date_of_a_problem_may_differ_or_be_missing(
    own: str | None, claims: list[datetime], notes: int
) -> None:
    facts = json.loads((DATA / "problem_9001.json").read_text()) | {"Date": own}
    found = read("9001", **{f"{API}/problems/no/9001": json.dumps(facts).encode()})
    assert [claim.earliest for claim in found.record.dates] == claims
    assert sum("its own date is not taken" in note for note in found.notes) == notes


def test_a_tolerance_in_the_line_of_the_limits_is_the_comparison() -> None:
    record = read("9002").record
    assert record.suite.comparison == {"absolute_tolerance": 1e-6, "relative_tolerance": 1e-6}
    assert (record.difficulty, record.language, record.flags) == ("3", None, ())


JUDGE = "標準ジャッジ問題"


@pytest.mark.parametrize(
    ("line", "comparison"),
    [
        ("通常問題", {}),
        ("小数誤差許容問題 絶対誤差が$10^{-9}$以下", {"absolute_tolerance": 1e-9}),
        ("小数誤差許容問題 相対誤差が \\(10^{-4}\\) 以下", {"relative_tolerance": 1e-4}),
        (
            "小数誤差許容問題 絶対誤差または相対誤差が10^-12以下",
            {"absolute_tolerance": 1e-12, "relative_tolerance": 1e-12},
        ),
    ],
)
def test_judges_that_compare(line: str, comparison: dict[str, float]) -> None:
    found = statement(**{JUDGE: line})
    assert (found.comparison, found.flags) == (comparison, ())
    assert len(found.samples) == 2


@pytest.mark.parametrize(
    ("line", "flag", "samples"),
    [
        ("スペシャルジャッジ問題 (複数解あり)", "custom_validator", 2),
        ("リアクティブ問題", "interactive", 0),
        ("小数誤差許容問題 誤差は問題文に従う", "custom_validator", 2),
        ("新種問題", "custom_validator", 2),
    ],
)
def test_judges_that_do_more_are_flagged(line: str, flag: str, samples: int) -> None:
    found = statement(**{JUDGE: line})
    assert [name for name, _ in found.flags] == [flag]
    assert line.split(maxsplit=1)[0] in found.flags[0][1]
    assert len(found.samples) == samples


@pytest.mark.parametrize(
    ("kind", "flag"),
    [
        ("スコア形式問題", "scoring"),
        ("ショートコード問題", "scoring"),
        ("ネタ問題", "joke"),
        ("未証明問題", "unproved"),
    ],
)
def test_what_the_page_calls_the_problem_is_flagged(kind: str, flag: str) -> None:
    assert [name for name, _ in statement(**{"&gt; 通常問題": f"&gt; {kind}"}).flags] == [flag]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('id="content"', 'id="main"', "#content"),
        ("<h3>No.9001  つり銭の枚数</h3>", "", "'h3'"),
        ("<h3>No.9001 ", "<h3>No.90011 ", "another title than that of No.9001"),
        ('class="block"', 'class="section"', "div.block"),
        ("実行時間制限", "時間", "実行時間制限"),
        ("512 MB", "?", "実行時間制限"),
    ],
)
def test_a_changed_page_names_what_is_missing(old: str, new: str, says: str) -> None:
    with pytest.raises(PageChanged, match=says):
        statement(**{old: new})


def test_a_hidden_problem_is_no_statement() -> None:
    with pytest.raises(PageChanged):
        read(
            "9001",
            **{"https://yukicoder.me/problems/no/9001": b"<div id=content>\xe9\x9d\x9e\xe8\xa1\xa8\xe7\xa4\xba</div>"},
        )


@pytest.mark.parametrize("body", ["[]", "{}", '{"No": 1}', '{"No": "1", "Title": "a"}', '{"No": true, "Title": "a"}'])
def test_no_problem_object_is_an_error(body: str) -> None:
    with pytest.raises(PageChanged):
        read_problem_facts(page(body))


def test_all_tests_with_a_token() -> None:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as archive:
        for name, text in (("in/2", "2 2\r\n"), ("out/2", "2\n"), ("in/1", "1 1\n"), ("out/1", "1\n")):
            archive.writestr(f"test_{name}.txt", text)
    found = read("9001", WITH_TOKEN, **{ZIP_URL: body.getvalue()})
    tests = found.record.suite.tests
    assert [(test.name, test.input, test.expected) for test in tests[2:]] == [
        ("1.txt", b"1 1\n", b"1\n"),
        ("2.txt", b"2 2\n", b"2\n"),
    ]
    assert [test.origin for test in tests] == [TestOrigin.SAMPLE] * 2 + [TestOrigin.OFFICIAL] * 2
    assert found.record.flags == ()


def test_the_token_is_the_callers_word_and_not_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN.variable, "secret-word")
    assert len(read("9001").record.suite.tests) == 2
    assert not [note for note in list_problems(site(), ROUND, WITH_TOKEN).notes if "samples only" in note]


@pytest.mark.parametrize("answer", [AuthRequired("a"), Absent("b"), TooLarge("c"), (401, b""), (403, b""), (404, b"")])
def test_tests_that_are_not_given_leave_the_samples(answer: Answer) -> None:
    found = read("9001", WITH_TOKEN, **{ZIP_URL: answer})
    assert len(found.record.suite.tests) == 2
    assert found.record.flags == ()
    assert any("samples only" in note for note in found.notes)


@pytest.mark.parametrize("body", [b"<html>login</html>", b"PK\x03\x04 cut off", b"PK\x01\x02" * 4001])
def test_a_zip_that_is_refused_leaves_the_samples_and_is_flagged(body: bytes) -> None:
    found = read("9001", WITH_TOKEN, **{ZIP_URL: body})
    assert len(found.record.suite.tests) == 2
    ((flag, reason),) = found.record.flags
    assert (flag, reason.startswith(f"not all tests were taken: {ZIP_URL} ")) == ("partial_tests", True)
    assert any(f"testcase.zip: {ZIP_URL} " in note for note in found.notes)


def test_an_outage_is_no_answer() -> None:
    with pytest.raises(Unreachable):
        read("9001", WITH_TOKEN, **{ZIP_URL: Unreachable("503")})


@pytest.fixture
def checks() -> dict[str, Any]:
    return {check.name: check for check in load_source("yukicoder").checks}


def test_each_check_takes_what_is_right_and_names_what_is_not(checks: dict[str, Any]) -> None:
    contest = json.dumps(contest_object(Id=280, ProblemIdList=[1])).encode()
    html = (DATA / "problem_9001.html").read_text().replace("9001", "1228")
    right = {
        "contests": (DATA / "contest_past.json").read_bytes(),
        "contest": contest,
        "problem": (DATA / "problem_9001.json").read_bytes(),
        "statement": html.encode(),
    }
    assert checks.keys() == right.keys()
    for name, body in right.items():
        checks[name].read(page(body, checks[name].request.url))
        with pytest.raises(PageChanged):
            checks[name].read(page(b"<html></html>", checks[name].request.url))
