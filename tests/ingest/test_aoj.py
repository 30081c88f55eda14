from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.records import ContestKind, Precision, TestOrigin
from ingest.errors import Absent, BadRow, FetchError, PageChanged, SourceError, TooLarge, Unreachable
from ingest.pages import Fetch, Page, Request
from ingest.sources import ProblemList, ProblemRef, Wanted, load_source
from ingest.sources._aoj_tests import MAX_SUITE_BYTES, MAX_TEST_BYTES, MAX_TESTS, read_half, read_headers
from ingest.sources.aoj import discover, list_problems, read_challenges, read_description, read_problem

DATA = Path(__file__).parent / "data" / "aoj"
API = "https://judgeapi.u-aizu.ac.jp"
TESTS = "https://judgedat.u-aizu.ac.jp/testcases"
NOW = datetime(2026, 8, 1, 3, 17, tzinfo=UTC)
WANTED = Wanted(datetime(2026, 7, 15, tzinfo=UTC), datetime(2026, 9, 1, tzinfo=UTC), NOW)
Answer = str | bytes | SourceError | tuple[int, str]
SITE: Mapping[str, Answer] = {
    f"{API}/challenges/cl/PCK/PRELIM": "pck_prelim.json",
    f"{API}/challenges/cl/PCK/FINAL": "pck_final.json",
    f"{API}/challenges/cl/JAG/PRELIM": "jag_prelim.json",
    f"{API}/challenges/cl/JAG/SPRING": "jag_spring.json",
    f"{API}/challenges/cl/ICPC/PRELIM": "icpc_prelim.json",
    f"{API}/resources/descriptions/en/8801": "description_en_8801.json",
    f"{API}/resources/descriptions/ja/8801": "description_ja_8801.json",
    f"{TESTS}/samples/8801": "samples_8801.json",
    f"{TESTS}/8801/header": "header_8801.json",
    f"{TESTS}/8801/1/in": b"3\n101\n",
    f"{TESTS}/8801/1/out": b"2\n",
    f"{TESTS}/8801/2/in": b"4\r\n1111\r\n",
    f"{TESTS}/8801/2/out": b"4\r\n",
    f"{TESTS}/8801/3/in": b"9\n1111\n..... (terminated because of the limitation)\n",
    f"{TESTS}/8801/3/out": b"9\n",
}
HEADER = f"{TESTS}/8801/header"


YEARS = {
    "PCKPrelim2025-1": 2025,
    "PCKFinal2025-1": 2025,
    "PCKPrelim2008-1": 2008,
    "JAGPrelim20262-1": 2026,
    "JAGPrelim20262-2": 2026,
    "ICPCPrelim1998-1": 1998,
}


def page(body: bytes, url: str = f"{API}/x", status: int = 200) -> Page:
    return Page(url, body, NOW, status)


def site(changed: Mapping[str, Answer] | None = None, asked: list[str] | None = None) -> Fetch:
    """A fetch that plays our own answers, `changed` by address. `asked` collects what was asked for."""
    answers = {**SITE, **(changed or {})}

    def fetch(request: Request | str) -> Page:
        url = request if isinstance(request, str) else request.url
        if asked is not None:
            asked.append(url)
        answer = answers[url]
        if isinstance(answer, SourceError):
            raise answer
        if isinstance(answer, tuple):
            return page((DATA / answer[1]).read_bytes(), url, answer[0])
        return page((DATA / answer).read_bytes() if isinstance(answer, str) else answer, url)

    return fetch


def edited(name: str, edit: Callable[[Any], None]) -> bytes:
    """One of our answers, changed by `edit`."""
    answer = json.loads((DATA / name).read_text())
    edit(answer)
    return json.dumps(answer).encode()


def listed(fetch: Fetch, contest_id: str) -> ProblemList:
    every = Wanted(datetime(1990, 1, 1, tzinfo=UTC), WANTED.until, NOW)
    contest = next(one for one in discover(fetch, every).contests if one.native_id == contest_id)
    return list_problems(fetch, contest, every)


def read(changed: Mapping[str, Answer] | None = None) -> Any:
    found = listed(site(), "PCKPrelim2025-1")
    return read_problem(site(changed), found, found.problems[0], WANTED)


def test_contests_are_days_and_have_no_time() -> None:
    listing = discover(site(), WANTED)
    assert [contest.native_id for contest in listing.contests] == [
        "JAGPrelim20262-1",
        "JAGPrelim20262-2",
        "JAGSpring2019-1",
    ]
    assert {(contest.starts_at, contest.ends_at, contest.kind) for contest in listing.contests} == {
        (None, None, ContestKind.ROUND)
    }
    assert (listing.contests[0].title, listing.is_complete, listing.unread) == ("Practice Contest 2026", True, ())
    assert listing.seen == {"PCK PRELIM": 2, "PCK FINAL": 1, "JAG PRELIM": 2, "JAG SPRING": 1, "ICPC PRELIM": 1}


@pytest.mark.parametrize(
    ("since", "until", "years"),
    [
        (datetime(2026, 7, 15, tzinfo=UTC), datetime(2026, 8, 1, tzinfo=UTC), {2026}),
        (datetime(2026, 2, 1, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC), {2025, 2026}),  # put there late
        (datetime(2025, 12, 31, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC), {2025}),
        (datetime(1998, 7, 1, tzinfo=UTC), datetime(2008, 1, 1, tzinfo=UTC) + timedelta(seconds=1), {1998, 2008}),
        (datetime(1999, 8, 1, tzinfo=UTC), datetime(2008, 1, 1, tzinfo=UTC), set()),
    ],
)
def test_a_year_is_in_every_window_that_it_meets(since: datetime, until: datetime, years: set[int]) -> None:
    found = discover(site(), Wanted(since, until, NOW)).contests
    dated = {contest.native_id for contest in found} - {"JAGSpring2019-1"}
    assert {YEARS[native_id] for native_id in dated} == years
    assert "JAGSpring2019-1" in {contest.native_id for contest in found}  # without a year it may be of any


def test_one_page_that_fails_leaves_the_others() -> None:
    listing = discover(site({f"{API}/challenges/cl/PCK/PRELIM": Unreachable("no answer")}), WANTED)
    assert len(listing.contests) == 3
    assert (listing.is_complete, listing.unread) == (False, ("not listed: no answer",))
    dead: dict[str, Answer] = {url: Unreachable("no answer") for url in SITE}
    with pytest.raises(Unreachable):
        discover(site(dead), WANTED)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"<html></html>", "is an HTML page, not JSON"),
        (b"{}", "no 'contests'"),
        (b'{"contests": []}', "no 'contests'"),
        (edited("pck_prelim.json", lambda answer: answer.pop("largeCl")), "no 'largeCl.filter'"),
        (edited("pck_prelim.json", lambda answer: answer["largeCl"].update(filter=[])), "no 'largeCl.filter'"),
        (b'{"contests": [{"abbr": "PCKPrelim2025"}]}', "no contest that can be read; .*without 'days'"),
        (b'{"contests": [{"abbr": "Other2025", "days": [{"day": 1}]}]}', "'Other2025' and its 'day' are no contest"),
        (b'{"contests": [{"abbr": "PCKPrelim2025", "days": [{"day": 1, "problems": []}]}]}', "no 'problems'"),
        (b'{"contests": [{"abbr": "PCKPrelim2025", "days": [{"day": 1, "problems": [{}]}]}]}', "no 'id'"),
    ],
)
def test_a_changed_list_names_what_is_missing(body: bytes, says: str) -> None:
    with pytest.raises(PageChanged, match=says):
        read_challenges(page(body), "PCK", "PRELIM")


def test_one_contest_that_cannot_be_read_leaves_the_others() -> None:
    body = edited("pck_prelim.json", lambda answer: answer["contests"][0].pop("days"))
    found = read_challenges(page(body), "PCK", "PRELIM")
    assert [day.contest.native_id for day in found.days] == ["PCKPrelim2008-1"]
    assert "contests[0]" in found.notes[0]
    listing = discover(site({f"{API}/challenges/cl/PCK/PRELIM": body}), WANTED)
    assert (listing.is_complete, listing.notes) == (False, ())
    assert listing.unread == (f"{API}/challenges/cl/PCK/PRELIM contests[0]: an object without 'days'",)


def test_an_odd_title_costs_its_contest_and_an_odd_limit_only_itself() -> None:
    def edit(answer: Any) -> None:
        answer["contests"][1]["days"][0]["title"] = "\ud800"
        answer["contests"][0]["days"][0]["problems"][0] |= {"problemTimeLimit": 10**400, "problemMemoryLimit": 1e308}

    found = read_challenges(page(edited("pck_prelim.json", edit)), "PCK", "PRELIM")
    assert [day.contest.native_id for day in found.days] == ["PCKPrelim2025-1"]
    assert "contests[1]: ContestRecord.title holds a lone surrogate" in found.notes[0]
    problem = found.days[0].problems[0]
    assert (problem.time_limit_s, problem.memory_limit_bytes) == (None, None)


def test_the_page_of_the_statement_is_known_by_the_digest_of_both_languages() -> None:
    bodies = [(DATA / f"description_{language}_8801.json").read_bytes() for language in ("en", "ja")]
    assert read().record.page_sha256 == hashlib.sha256(b"".join(bodies)).hexdigest()
    changed = read({f"{API}/resources/descriptions/ja/8801": bodies[1] + b" "}).record
    assert changed.page_sha256 != read().record.page_sha256


def test_the_name_of_a_round_is_counted_only_where_it_can_be_shown() -> None:
    name = "R" * 50
    body = edited("icpc_prelim.json", lambda answer: answer["largeCl"].update(filter=[{"value": name}]))
    answers: dict[str, Answer] = {
        f"{API}/challenges/cl/ICPC/PRELIM": body,
        f"{API}/challenges/cl/ICPC/{name}": edited(
            "icpc_prelim.json", lambda answer: answer["contests"][0].update(abbr=f"ICPC{name}2020")
        ),
    }
    assert discover(site(answers), WANTED).seen["ICPC other"] == 1


@pytest.mark.parametrize("year", [-1, 0, 1970, None, "2025", True, 99999])
def test_a_year_that_says_nothing_is_no_date(year: object) -> None:
    body = edited("pck_prelim.json", lambda answer: answer["contests"][0].update(year=year))
    day = read_challenges(page(body), "PCK", "PRELIM").days[0]
    assert (day.year, day.dates) == (None, ())


def test_problems_of_a_day() -> None:
    found = listed(site(), "PCKPrelim2025-1")
    assert found.problems == (ProblemRef("8801", "Count the Lamps"), ProblemRef("8802", "Long Names"))
    assert found.notes == ()
    notes = listed(site(), "JAGPrelim20262-1").notes
    assert notes == ("problem 8902 is marked as not available on the site",)


@pytest.mark.parametrize("contest_id", ["PCKPrelim2024-1", "nonsense"])
def test_a_contest_that_is_gone_is_an_error(contest_id: str) -> None:
    contest = discover(site(), WANTED).contests[0]
    with pytest.raises((PageChanged, Absent)):
        list_problems(site(), type(contest)("aoj", contest_id), WANTED)
    with pytest.raises(Absent, match="9999 is not in"):
        read_problem(site(), listed(site(), "PCKPrelim2025-1"), ProblemRef("9999", "x"), WANTED)


def test_a_problem_with_all_its_tests() -> None:
    found = read()
    record = found.record
    assert (str(record.key), record.title, record.contest_index) == ("aoj:8801", "Count the Lamps", None)
    assert record.url == "https://onlinejudge.u-aizu.ac.jp/problems/8801"
    assert record.language == "en"
    assert "$10^5$" in record.statement
    ((language, translation),) = record.translations
    assert (language, "出力してください" in translation) == ("ja", True)
    suite = record.suite
    assert (suite.time_limit_s, suite.memory_limit_bytes) == (1.0, 256 * 2**20)
    assert [(test.name, test.input, test.expected, test.origin) for test in suite.tests] == [
        ("sample 1", b"3\n101\n", b"2\n", TestOrigin.SAMPLE),
        ("sample", b"3\n101\n", b"2\n", TestOrigin.OFFICIAL),
        ("random", b"4\n1111\n", b"4\n", TestOrigin.OFFICIAL),
    ]
    assert [name for name, _ in record.flags] == ["partial_tests"]
    assert "test 3 is cut off by the site" in record.flags[0][1]
    assert found.notes == (f"8801: {record.flags[0][1]}",)


def test_the_year_is_all_that_is_claimed() -> None:
    (claim,) = read().record.dates
    assert (claim.as_written, claim.earliest, claim.precision) == (
        "2025",
        datetime(2025, 1, 1, tzinfo=UTC),
        Precision.YEAR,
    )
    assert (claim.source, claim.contest) == ("aoj", "PCKPrelim2025-1")


@pytest.mark.parametrize(
    "missing", [(404, "no_such_resource.json"), (400, "no_such_resource.json"), "no_such_resource.json"]
)
def test_a_statement_in_japanese_alone(missing: Answer) -> None:
    found = read({f"{API}/resources/descriptions/en/8801": missing})
    assert (found.record.language, found.record.translations) == ("ja", ())
    assert found.record.statement.startswith("# ランプ")


def test_japanese_in_place_of_english_is_known_by_its_word() -> None:
    found = read({f"{API}/resources/descriptions/en/8801": "description_ja_8801.json"})
    assert (found.record.language, found.record.translations) == ("ja", ())


def test_a_statement_in_english_alone() -> None:
    found = read({f"{API}/resources/descriptions/ja/8801": (404, "no_such_resource.json")})
    assert (found.record.language, found.record.translations) == ("en", ())


def test_no_statement_at_all_is_an_error() -> None:
    both: dict[str, Answer] = {
        f"{API}/resources/descriptions/{one}/8801": (404, "no_such_resource.json") for one in ("en", "ja")
    }
    with pytest.raises(PageChanged, match="has no 'html'"):
        read(both)
    with pytest.raises(PageChanged, match="has no 'html'"):
        read_description(page(b'{"language": "en"}', f"{API}/resources/descriptions/en/8801"))
    assert read_description(page(b'{"language": "en", "html": " "}', f"{API}/resources/descriptions/en/1")) is None


@pytest.mark.parametrize("registered", [b"[]", (404, "no_such_resource.json"), "no_such_resource.json"])
def test_samples_that_are_not_registered_are_found_in_the_statement(registered: Answer) -> None:
    found = read({f"{TESTS}/samples/8801": registered})
    sample = found.record.suite.tests[0]
    assert (sample.name, sample.input, sample.expected) == ("sample 1", b"3\n101\n", b"2\n")
    assert found.notes[0] == "8801: no sample is registered; 1 stand in its statement"


def test_a_sample_that_is_cut_off_is_no_sample() -> None:
    cut = json.dumps([{"serial": 1, "in": "3\n..... (terminated because of the limitation)\n", "out": "2\n"}])
    assert len(read({f"{TESTS}/samples/8801": cut.encode()}).record.suite.tests) == 3
    with pytest.raises(PageChanged, match="for 'the answer', not a list"):
        read({f"{TESTS}/samples/8801": b"{}"})


NOT_GIVEN = [
    b"/* Test case #1 for problem 8801 is not available. */",
    b"/* Test case #12 is not available. */\n",
    b"/* This is a single file for multiple testcases. serial should be 1. */",
]


@pytest.mark.parametrize("body", NOT_GIVEN)
def test_a_comment_in_place_of_a_test_is_no_test(body: bytes) -> None:
    with pytest.raises(BadRow, match="not given out"):
        read_half(page(body))
    found = read({f"{TESTS}/8801/2/in": body})
    assert "random" not in [test.name for test in found.record.suite.tests]
    assert found.record.flags[0][1].startswith("2 of 3 tests were not taken: ")


@pytest.mark.parametrize("body", [b"/* a comment */\n", b"1 /* Test case #1 is not available. */\n", b"", b"x" * 500])
def test_any_other_bytes_are_a_test(body: bytes) -> None:
    assert read_half(page(body)) == body


def headers(count: int, size: int = 4) -> bytes:
    entries = [{"serial": n, "name": f"t{n}", "inputSize": size, "outputSize": 2} for n in range(1, count + 1)]
    return json.dumps({"problemId": "8801", "headers": entries}).encode()


def halves(count: int, given: Answer = b"1\n") -> dict[str, Answer]:
    return {f"{TESTS}/8801/{n}/{half}": given for n in range(1, count + 1) for half in ("in", "out")}


def test_where_no_test_is_given_out_the_others_are_not_asked_for() -> None:
    asked: list[str] = []
    found: Any = read_problem(
        site({HEADER: headers(60), **halves(60, NOT_GIVEN[0])}, asked),
        listed(site(), "PCKPrelim2025-1"),
        ProblemRef("8801", "x"),
        WANTED,
    )
    assert len([url for url in asked if url.endswith("/in")]) == 5
    assert [test.origin for test in found.record.suite.tests] == [TestOrigin.SAMPLE]
    assert found.record.flags == ()
    assert found.notes[0].startswith("8801: 60 of 60 tests were not taken: test 1 is not given out by the site")


def test_no_test_in_the_header() -> None:
    found = read({HEADER: (404, "no_such_resource.json")})
    assert (len(found.record.suite.tests), found.notes) == (1, ("8801: no test is given out: samples only",))
    assert read({HEADER: b'{"headers": []}'}).notes == found.notes


def test_the_number_of_tests_is_capped() -> None:
    found = read({HEADER: headers(MAX_TESTS + 7), **halves(MAX_TESTS)})
    assert len(found.record.suite.tests) == 1 + MAX_TESTS
    assert found.record.flags[0][1].startswith(f"7 of {MAX_TESTS + 7} tests were not taken: test {MAX_TESTS + 1}")


def test_the_size_of_tests_is_capped() -> None:
    too_large = [{"serial": 1, "name": "a", "inputSize": MAX_TEST_BYTES, "outputSize": 1}, {"serial": 2, "name": "b"}]
    body = json.dumps({"headers": too_large}).encode()
    found = read({HEADER: body, f"{TESTS}/8801/2/out": TooLarge("1 GB")})
    assert len(found.record.suite.tests) == 1
    assert "test 1 is too large" in found.notes[0]
    assert "test 2 is not there: 1 GB" in found.notes[0]


def test_the_size_of_all_tests_is_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.sources._aoj_tests.MAX_SUITE_BYTES", 10)
    found = read({HEADER: headers(4, size=0), **halves(4, b"1234\n")})
    assert len(found.record.suite.tests) == 2
    assert "test 2 is too large" in found.record.flags[0][1]
    assert MAX_SUITE_BYTES > 10


@pytest.mark.parametrize("odd", ["\0", "\ud800"])
def test_a_statement_that_no_database_holds_is_an_error(odd: str) -> None:
    with pytest.raises(PageChanged, match="has a statement that no database holds: 'html'"):
        read_description(page(json.dumps({"html": f"<p>Lamps{odd}</p>", "language": "en"}).encode()))


def test_an_outage_in_the_middle_is_no_missing_test() -> None:
    with pytest.raises(FetchError):
        read({f"{TESTS}/8801/2/out": Unreachable("503")})


@pytest.mark.parametrize(
    "body", [b"{}", b'{"headers": null}', b'{"headers": [{"name": "a"}]}', b'{"headers": [{"serial": 0}]}']
)
def test_a_changed_header_is_an_error(body: bytes) -> None:
    with pytest.raises(PageChanged, match="'headers'"):
        read_headers(page(body))


@given(st.lists(st.integers(1, 30), max_size=20))
def test_tests_come_in_the_order_of_their_serial_numbers(serials: list[int]) -> None:
    body = json.dumps({"headers": [{"serial": serial} for serial in serials]}).encode()
    found = read_headers(page(body))
    assert [header.serial for header in found] == sorted(set(serials))
    assert all(header.name == str(header.serial) for header in found)


def test_each_check_takes_what_is_right_and_names_what_is_not() -> None:
    right = {
        "contests": "pck_prelim.json",
        "statement": "description_ja_8801.json",
        "samples": "samples_8801.json",
        "tests": "header_8801.json",
    }
    source = load_source("aoj")
    assert [check.name for check in source.checks] == list(right)
    assert {host.name for host in source.hosts} == {"judgeapi.u-aizu.ac.jp", "judgedat.u-aizu.ac.jp"}
    for check in source.checks:
        check.read(page((DATA / right[check.name]).read_bytes(), check.request.url))
        with pytest.raises(PageChanged):
            check.read(page(b"<html></html>", check.request.url))
