"""Codeforces statements: what a page gives, which page is taken, in which language, and where there is none."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from db.records import ContestKind, ContestRecord, Precision
from ingest.errors import Absent, Blocked, PageChanged, SourceError, Unreachable
from ingest.pages import Page, Request
from ingest.sources import ProblemRef
from tests.ingest.codeforces_site import (
    ALL,
    NOW,
    ROOT,
    ROUND,
    SOURCE,
    START,
    WANTED,
    Site,
    data,
    edited,
    from_page,
    from_set,
    listed,
    of,
    read,
    samples_of,
    single,
)


def test_a_problem_of_the_complete_set_is_whole() -> None:
    record = from_set("A")
    assert str(record.key) == "codeforces:9001A"
    assert record.title == "Lanterns in a Row"
    assert record.url == f"{ROOT}/contest/9001/problem/A"
    assert (record.contest, record.contest_index) == (ROUND, "A")
    (claim,) = record.dates
    assert (claim.as_written, claim.earliest, claim.precision) == ("1772462100", START, Precision.INSTANT)
    assert (claim.source, claim.contest) == ("codeforces", "9001")
    assert record.language == "en"
    assert record.suite is not None
    assert record.suite.time_limit_s == 1.5
    assert record.suite.memory_limit_bytes == 256 * 1024 * 1024
    assert samples_of(record) == [("3\n1 2 3\n", "6\n"), ("1\n0\n", "0\n")]
    assert record.flags == ()


def test_the_statement_has_sections_and_samples_and_neither_title_nor_limits() -> None:
    statement = from_set("A").statement
    assert statement.startswith("There are $n$ lanterns in a row, and at most $10^6$ of them glow.")
    assert "## Input\n\nThe first line holds $n$." in statement
    assert "## Examples\n\n### Input\n\n```\n3\n1 2 3\n```\n\n### Output\n\n```\n6\n```\n\n### Input" in statement
    assert not any(word in statement for word in ("Lanterns in a Row", "time limit", "megabytes", "stdin", "Copy"))


def test_lines_in_elements_are_lines_and_a_quotation_is_no_part_of_the_task() -> None:
    record = from_set("B")
    assert samples_of(record) == [("2\n3\n1 2 5\n2\n7 7\n", "YES\nNO\n")]
    assert record.statement.startswith("A sequence is a ladder when $a_i < a_{i+1}$ for every $1 \\le i < n$")
    assert f"]({ROOT}/predownloaded/ladder.png)" in record.statement
    assert "## Note\n\nIn the second case" in record.statement


def test_an_interactive_problem_has_a_transcript_and_no_tests() -> None:
    record = from_set("C1")
    assert samples_of(record) == []
    assert record.suite is not None
    assert record.suite.time_limit_s == 3
    assert "interactive" in dict(record.flags)
    assert "### Input\n\n```\n\n>\n\n=\n```" in record.statement
    assert "### Output\n\n```\n? 10\n" in record.statement


def test_files_limits_in_other_units_and_code_in_a_section() -> None:
    record = from_set("D")
    assert dict(record.flags)["file_io"] == "it reads ledger.in and writes ledger.out"
    assert record.suite is not None
    assert record.suite.time_limit_s == 0.25
    assert record.suite.memory_limit_bytes == 4096 * 1024
    assert samples_of(record) == [("b & c\na < b\n", "a < b\nb & c\n")]
    assert "7 apples" in record.statement


def test_a_problem_without_an_index_has_that_of_its_id() -> None:
    ref = ProblemRef("9001C1", "A name from the API")
    record = SOURCE.read_problem(Site({ALL: "problems_9001.html"}), listed(ref), ref, WANTED).record
    assert (record.contest_index, record.url) == ("C1", f"{ROOT}/contest/9001/problem/C1")


def test_one_request_gives_all_problems_of_a_contest() -> None:
    site = Site({ALL: "problems_9001.html"})
    for index in ("A", "B", "C1", "D"):
        assert read(site, index).notes == ()
    assert {request.url for request in site.asked} == {ALL}


def test_a_page_saved_by_a_browser_gives_the_same_problem() -> None:
    problem = from_page("problem_9001_B_saved.html", "B")
    assert problem.record.title == "Is It a Ladder?"
    assert problem.record.suite is not None
    assert problem.record.suite.time_limit_s == 2
    assert problem.record.suite.memory_limit_bytes == 512 * 1024 * 1024
    assert samples_of(problem.record) == [("1\n3\n\n1 2 5\n", "YES\n")]
    assert "A sequence is a ladder when $a_i < a_{i+1}$ for every step." in problem.record.statement


def test_a_gym_page_has_its_own_address_and_no_date_even_with_a_start() -> None:
    gym = ContestRecord("codeforces", "190301", "Old Tasks", START, NOW, ContestKind.TRAINING)
    site = Site({single("P35", contest="gym/190301"): "problem_190301_P35.html"})
    record = read(site, "P35", gym).record
    assert record.key.native_id == "190301P35"
    assert record.dates == ()
    assert record.url == f"{ROOT}/gym/190301/problem/P35"
    assert record.title == "Cutting a Rope"
    assert samples_of(record) == [("4\n", "16 \n")]
    assert "scoring" in dict(record.flags)
    assert "## Scoring\n\n* Subtask 1 (30 points)" in record.statement


def test_a_group_contest_is_known_by_its_address() -> None:
    group = ContestRecord("codeforces", "355", kind=ContestKind.TRAINING, url=f"{ROOT}/group/gUrXyz/contest/355")
    site = Site({single("P35", contest="group/gUrXyz/contest/355"): "problem_190301_P35.html"})
    assert read(site, "P35", group).record.url == f"{ROOT}/group/gUrXyz/contest/355/problem/P35"


def test_a_round_without_a_start_dates_nothing() -> None:
    undated = replace(ROUND, starts_at=None)
    assert read(Site({ALL: "problems_9001.html"}), "A", undated).record.dates == ()


@pytest.mark.parametrize("index", ["01", "D2", "P35", "12"])
def test_indices_may_be_letters_numbers_or_both(index: str) -> None:
    body = edited("problem_190301_P35.html", ("P35. Cutting", f"{index}. Cutting"))
    assert from_page(body, index).record.title == "Cutting a Rope"


def test_a_title_may_hold_dots() -> None:
    body = edited("problem_190301_P35.html", ("P35. Cutting a Rope", "C. The A.B.C. of Ropes. Part 2."))
    assert from_page(body, "C").record.title == "The A.B.C. of Ropes. Part 2."


def test_a_title_whose_index_is_spelt_otherwise_is_right_where_the_page_says_so_elsewhere() -> None:
    body = edited("problem_9001_B_saved.html", ("B. Is It", "1. Is It"), ('problemindex="B"', 'problemindex="01"'))
    assert from_page(body, "01").record.title == "Is It a Ladder?"


# Which page


def test_a_problem_that_the_complete_set_lacks_is_taken_from_its_own_page() -> None:
    body = edited("problem_190301_P35.html", ("P35. Cutting", "E. Cutting"))
    problem = read(Site({ALL: "problems_9001.html", single("E"): body}), "E")
    assert problem.record.title == "Cutting a Rope"
    assert problem.notes == (f"taken from its own page: {ALL} lacks it",)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Absent("it is not there (404)"), "it is not there (404)"),
        ("challenge.html", "has no '.problem-frames'"),
        (b"<html><div class='problem-frames'></div></html>", "has no '.problemindexholder' in its '.problem-frames'"),
        (data("problems_9001.html")[:7000], "is cut off: it has no '</html>'"),
        (edited("problems_9001.html", (' problemindex="B"', "")), "has a '.problemindexholder' without 'problemindex'"),
        (b"%PDF-1.7 \xff\xfe\x93 binary", "cannot be read as text"),
    ],
)
def test_a_complete_set_that_cannot_be_used_is_named_and_the_own_page_is_read(
    answer: str | bytes | SourceError, said: str
) -> None:
    problem = read(Site({ALL: answer, single("B"): "problem_9001_B_saved.html"}), "B")
    assert problem.record.title == "Is It a Ladder?"
    (note,) = problem.notes
    assert note.startswith("taken from its own page: ")
    assert said in note


@pytest.mark.parametrize(
    "answer", [Unreachable("it does not answer", "Try later.", snapshot_id=7), b"<html><p>Hello</p></html>"]
)
def test_where_both_pages_fail_both_reasons_are_told(answer: bytes | SourceError) -> None:
    with pytest.raises(Unreachable if isinstance(answer, SourceError) else PageChanged) as caught:
        read(Site({ALL: Absent("no set (404)"), single("B"): answer}), "B")
    own = answer.message if isinstance(answer, SourceError) else f"{single('B')} has no '.problem-statement'"
    assert caught.value.message == f"{own}; and of the complete problem set: no set (404)"
    assert caught.value.hint
    assert caught.value.snapshot_id == 7


def test_the_page_of_the_statement_is_known_by_its_digest() -> None:
    body = data("problem_9001_B_saved.html")
    assert from_page(body, "B").record.page_sha256 == hashlib.sha256(body).hexdigest()
    assert from_set("A").page_sha256 == hashlib.sha256(data("problems_9001.html")).hexdigest()
    unavailable = Site({single("D"): "unavailable.html", single("D", "ru"): "unavailable.html"})
    assert read(unavailable, "D").record.page_sha256 is None


def test_a_host_that_refuses_is_not_asked_for_the_next_page() -> None:
    site = Site({ALL: Blocked("it shows a challenge"), single("B"): "problem_9001_B_saved.html"})
    with pytest.raises(Blocked):
        read(site, "B")
    assert len(site.asked) == 1


def test_the_page_of_another_problem_is_refused() -> None:
    with pytest.raises(PageChanged, match="shows problem B, not A"):
        from_page("problem_9001_B_saved.html", "A")
    with pytest.raises(PageChanged, match=r"shows 'P35. Cutting a Rope' in problem A"):
        from_page("problem_190301_P35.html", "A")


# Languages


def test_a_russian_page_is_russian_reads_the_standard_streams_and_keeps_the_english_title() -> None:
    record = from_page("problem_9001_A_ru.html", "A").record
    assert record.language == "ru"
    assert record.title == "A name from the API"
    assert record.flags == ()
    assert samples_of(record) == [("3\n1 2 3\n", "6\n")]
    assert record.suite is not None
    assert (record.suite.time_limit_s, record.suite.memory_limit_bytes) == (1.5, 256 * 2**20)
    assert "## Входные данные" in record.statement


def test_russian_text_in_an_english_frame_is_russian() -> None:
    body = edited("problem_190301_P35.html", ("Cut a rope of length", "Разрежьте верёвку так, чтобы сумма была"))
    body = body.replace(b"parts whose squares sum to the most", "наибольшей из всех возможных сумм квадратов".encode())
    body = body.replace(b"Subtask 1 (30 points)", "Подзадача, за которую дают тридцать баллов".encode())
    assert from_page(body, "P35").record.language == "ru"


def test_another_language_is_not_known() -> None:
    body = edited("problem_190301_P35.html", ("Cut a rope of length", "把一条绳子切成若干段使得平方和最大" * 20))
    problem = from_page(body, "P35")
    assert problem.record.language is None
    assert problem.notes[-1] == "neither in English nor in Russian"


def test_a_statement_that_is_not_there_in_english_is_taken_in_russian() -> None:
    russian = edited("problem_9001_A_ru.html", ('problemindex="A"', 'problemindex="D"'), ("A. Фонари", "D. Фонари"))
    site = Site({single("D"): "unavailable.html", single("D", "ru"): russian})
    problem = read(site, "D")
    assert problem.record.language == "ru"
    assert problem.notes[-1] == "taken in Russian: it is not there in English"


# No statement


@pytest.mark.parametrize(
    ("answer", "flag"),
    [
        (b"%PDF-1.7 \xff\xfe binary", ("pdf_statement", "the statement is a PDF file")),
        ("embedded_pdf.html", ("pdf_statement", "the statement is a PDF file in the page")),
        (
            "unavailable.html",
            ("statement_unavailable", "Statement is not available on English language"),
        ),
    ],
)
def test_a_problem_without_a_statement_is_flagged(answer: str | bytes, flag: tuple[str, str]) -> None:
    site = Site({single("D"): answer, single("D", "ru"): "unavailable.html"})
    problem = read(site, "D")
    assert problem.record.flags == (flag,)
    assert (problem.record.statement, problem.record.suite, problem.record.language) == ("", None, None)
    assert problem.record.title == "A name from the API"
    assert problem.record.dates[0].earliest == START
    assert problem.notes[-1] == flag[1]


def test_a_page_that_leads_to_the_attachments_is_a_pdf_statement() -> None:
    def fetch(request: Request | str) -> Page:
        url = request if isinstance(request, str) else request.url
        if url == ALL:
            raise Absent("not there")
        return Page(url, b"<html>Attachments</html>", NOW, final_url=f"{ROOT}/contest/9001/attachments")

    problem = SOURCE.read_problem(fetch, listed(of("A")), of("A"), WANTED)
    assert [name for name, _ in problem.record.flags] == ["pdf_statement"]
