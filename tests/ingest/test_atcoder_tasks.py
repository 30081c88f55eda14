"""AtCoder: a task's page with its statements, samples and limits, asked for through the source's own functions."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st

from db.records import ContestKind, DateClaim, Precision, ProblemKey, ProblemRecord, TestOrigin
from ingest.errors import PageChanged, SourceError
from ingest.sources._atcoder_pages import choose_samples, read_statements, read_task
from tests.ingest.atcoder_site import CONTEST, SITE, START, page_of, read, samples_of, statement_page, text_of


def test_a_task_is_read_whole() -> None:
    problem = read(text_of("task.html"))
    record = problem.record
    assert (record.key, record.title, record.contest_index) == (ProblemKey("atcoder", "zbc412_a"), "Two Lamps", "A")
    assert record.url == f"{SITE}/contests/zbc412/tasks/zbc412_a"
    assert record.dates == (
        DateClaim("2026-03-07T21:00:00+09:00", START, Precision.INSTANT, "atcoder", contest="zbc412"),
    )
    assert samples_of(problem) == [(b"2 3\n", b"5\n"), (b"10 1\n", b"11\n")]
    assert record.suite is not None
    assert (record.suite.time_limit_s, record.suite.memory_limit_bytes) == (2.0, 2**30)
    assert [(test.name, test.origin) for test in record.suite.tests] == [
        ("sample 1", TestOrigin.SAMPLE),
        ("sample 2", TestOrigin.SAMPLE),
    ]
    assert record.page_sha256 == hashlib.sha256(text_of("task.html").encode()).hexdigest()
    assert problem.notes == ()


def test_the_statement_is_the_english_one_and_the_japanese_one_is_kept() -> None:
    record = read(text_of("task.html")).record
    assert record.language == "en"
    assert "There are two lamps." in record.statement
    assert r"$1 \leq A, B \leq 10^9$" in record.statement
    ((language, translation),) = record.translations
    assert language == "ja"
    assert "ランプが二つある。" in translation
    assert "ランプ" not in record.statement


def test_a_warning_in_the_statement_is_no_part_of_it() -> None:
    """So the statement of the running contest and that of the ended one are the same revision."""

    def record_of(page: str) -> ProblemRecord:
        return replace(read(page).record, page_sha256=None)

    page = text_of("task.html")
    record = record_of(page)
    assert "Do not talk" not in record.statement + record.translations[0][1]
    after = re.sub(r'<div class="alert.*?</div>', "", page, flags=re.DOTALL)
    assert "Do not talk" not in after
    assert record_of(after) == record
    assert record_of(page.replace('class="alert alert-warning alert-dismissible fade in"', 'role="alert"')) == record


def test_a_task_saved_from_a_browser_is_the_same() -> None:
    """The page's script has put buttons into it, and a hidden copy behind each block of code."""
    page = text_of("task.html")
    saved = re.sub(
        r"<h3>((?:Sample|入力例|出力例)[^<]*)</h3>(<pre>.*?</pre>)",
        r'<h3>\1 <span class="btn btn-default btn-sm btn-copy" tabindex="0">Copy</span></h3>'
        r'<div class="div-btn-copy"><span class="btn-copy btn-pre" tabindex="0">Copy</span></div>'
        r'\2<pre class="source-code-for-copy">7</pre>',
        page,
        flags=re.DOTALL,
    )
    assert saved.count(">Copy<") == 16
    one, other = read(saved), read(page)
    assert one.record.page_sha256 != other.record.page_sha256
    assert replace(one.record, page_sha256=other.record.page_sha256) == other.record
    assert one.notes == other.notes


def test_a_japanese_task_is_kept_as_one() -> None:
    page = re.sub(r'<span class="lang-en">.*?</span>', "", text_of("task.html"), flags=re.DOTALL)
    problem = read(page)
    assert (problem.record.language, problem.record.translations) == ("ja", ())
    assert len(samples_of(problem)) == 2
    assert read(text_of("task.html")).record.key == problem.record.key


def test_a_language_that_is_there_but_empty_is_not_there() -> None:
    page = re.sub(r'(<span class="lang-en">).*?(</span>)', r"\1 \2", text_of("task.html"), flags=re.DOTALL)
    assert read(page).record.language == "ja"


OLD = (
    '<div class="part"><h3>問題文</h3><section>ランプを <var>N</var> 個並べる。</section></div>'
    '<div class="part io-style"><h3>入力</h3><section><pre>\n<var>N</var>\n</pre></section></div>'
    '<div class="part"><h3>入力例 1</h3><section><pre class="prettyprint linenums">\n3\n</pre></section></div>'
    '<div class="part"><h3>出力例 1</h3><section><pre class="prettyprint linenums">\n***\n</pre>'
    "<ul><li>三つ並ぶ</li></ul></section></div>"
)


def test_an_old_task_names_no_language() -> None:
    problem = read(statement_page(OLD))
    assert (problem.record.language, samples_of(problem)) == ("ja", [(b"3\n", b"***\n")])
    english = OLD.replace("問題文", "Task").replace("ランプを", "Put").replace("個並べる。", "lamps.")
    english = english.replace("三つ並ぶ", "Three").replace("入力例", "Sample Input").replace("出力例", "Sample Output")
    english = english.replace("入力", "Input")
    assert read(statement_page(english)).record.language == "en"


def bilingual(japanese: list[tuple[str, str]], english: list[tuple[str, str]], *, last: str = "") -> str:
    parts = []
    for language, names, pairs in (
        ("ja", "入力例 出力例", japanese),
        ("en", "Sample&nbsp;Input Sample&nbsp;Output", english),
    ):
        parts.append(f'<span class="lang-{language}"><p>{"数を書け。" if language == "ja" else "Write it."}</p>')
        for number, pair in enumerate(pairs, 1):
            for name, text in zip(names.split(), pair, strict=True):
                parts.append(f"<h3>{name} {number}</h3><pre>{text}</pre>")
        parts.append(f"{last if language == 'en' else ''}</span>")
    return statement_page(f'<span class="lang">{"".join(parts)}</span>')


ONE, TWO, THREE = ("1", "2"), ("3", "4"), ("5", "6")


@pytest.mark.parametrize(
    ("japanese", "english", "last", "taken", "notes"),
    [
        pytest.param([ONE, TWO], [ONE, TWO], "", [ONE, TWO], (), id="the same"),
        pytest.param(
            [ONE, TWO, THREE],
            [ONE, TWO],
            "",
            [ONE, TWO, THREE],
            ("the sample count differs between languages: en 2, ja 3; taken from ja",),
            id="more in Japanese",
        ),
        pytest.param(
            [ONE],
            [ONE, TWO],
            "",
            [ONE, TWO],
            ("the sample count differs between languages: en 2, ja 1; taken from en",),
            id="more in English",
        ),
        pytest.param(
            [ONE, TWO],
            [ONE, THREE],
            "",
            [ONE, THREE],
            ("the samples differ between languages; taken from en",),
            id="others",
        ),
        pytest.param(
            [ONE],
            [ONE, TWO],
            "<h3>Sample Input 3</h3><pre>9</pre>",
            [ONE],
            ("the sample count differs between languages: en 2, ja 1; taken from ja",),
            id="more in English, but one without its output",
        ),
        pytest.param(
            [],
            [ONE],
            "<h3>Sample Input 3</h3><pre>9</pre>",
            [ONE],
            (
                "the sample count differs between languages: en 1, ja 0; taken from en",
                "no sample belongs to 'Sample Input 3'",
            ),
            id="none in Japanese",
        ),
    ],
)
def test_the_samples_of_one_language_are_taken(
    japanese: list[tuple[str, str]],
    english: list[tuple[str, str]],
    last: str,
    taken: list[tuple[str, str]],
    notes: tuple[str, ...],
) -> None:
    problem = read(bilingual(japanese, english, last=last))
    assert samples_of(problem) == [(f"{a}\n".encode(), f"{b}\n".encode()) for a, b in taken]
    assert problem.notes == notes
    assert problem.record.language == "en"


def test_line_ends_of_samples_are_lf() -> None:
    problem = read(bilingual([], [("2\r\n1 5\r\n", "6\r\n")]))
    assert samples_of(problem) == [(b"2\n1 5\n", b"6\n")]


def test_an_interactive_task_has_no_tests() -> None:
    talk = (
        "<p>This is an interactive task. Ask for a lamp.</p><h3>Sample Input 1</h3><pre>1\n</pre>"
        "<h3>Sample Output 1</h3><pre>? 1\n</pre>"
    )
    problem = read(statement_page(talk))
    assert problem.record.suite is not None
    assert (problem.record.suite.tests, problem.record.suite.time_limit_s) == ((), 2.0)
    assert [name for name, _ in problem.record.flags] == ["interactive"]


def test_what_the_text_says_about_answers_is_kept() -> None:
    problem = read(statement_page("<p>If there are several, print any of them.</p>" + OLD))
    assert "multiple_answers" in [name for name, _ in problem.record.flags]


def test_a_task_without_samples_is_noted() -> None:
    problem = read(statement_page("<p>Make a picture of a lamp.</p>"))
    assert (samples_of(problem), problem.notes) == ([], ("it has no sample",))


@pytest.mark.parametrize(
    ("limits", "time_limit_s", "memory_limit_bytes"),
    [
        ("Time Limit: 2 sec / Memory Limit: 1024 MB", 2.0, 2**30),
        ("Time Limit: 2525 msec / Memory Limit: 1024 MiB", 2.525, 2**30),
        ("Time Limit: 2.5 sec / Memory Limit: 976 KB", 2.5, 976 * 1024),
        ("実行時間制限: 1 sec / メモリ制限: 64 MB", 1.0, 64 * 2**20),
        ("実行時間制限: 0 msec / メモリ制限: 0 KB", None, None),
        ("Time limit : 8sec / Memory limit : 512MB", 8.0, 512 * 2**20),
    ],
)
def test_limits(limits: str, time_limit_s: float | None, memory_limit_bytes: int | None) -> None:
    page = text_of("task.html").replace("Time Limit: 2 sec / Memory Limit: 1024 MiB", limits)
    task = read_task(page_of(page), "A")
    assert (task.time_limit_s, task.memory_limit_bytes) == (time_limit_s, memory_limit_bytes)


def test_limits_that_stand_apart_are_none_and_pages_full_of_them_are_read_at_once() -> None:
    page = text_of("task.html")
    apart = page.replace("Memory Limit", "x" * 300 + "Memory Limit")
    many = page.replace("Memory Limit", "Memory").replace("Time Limit", "Time Limit: 2 sec / " * 5000 + "Time Limit")
    for changed in (apart, many):
        assert changed != page
        with pytest.raises(PageChanged, match="no time and memory limit"):
            read_task(page_of(changed), "A")


def test_only_the_index_is_cut_from_a_title() -> None:
    page = text_of("task.html").replace("A - Two Lamps", "Ex - Dark - or Bright")
    assert read_task(page_of(page), "Ex").title == "Dark - or Bright"
    assert read_task(page_of(page), "A").title == "Ex - Dark - or Bright"


def test_a_training_dates_nothing() -> None:
    training = replace(CONTEST, kind=ContestKind.TRAINING)
    record = read(text_of("task.html"), contest=training).record
    assert (record.dates, record.contest) == ((), training)


def test_a_page_with_another_start_is_noted_and_makes_the_claim() -> None:
    problem = read(text_of("task.html").replace("T21:00:00", "T21:05:00"))
    assert [claim.earliest for claim in problem.record.dates] == [START + timedelta(minutes=5)]
    assert problem.notes == ("its page has the contest start 2026-03-07T21:05:00+09:00, unlike the list of tasks",)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param(
            lambda page: page.replace('id="task-statement"', 'id="task"'), "'#task-statement'", id="statement"
        ),
        pytest.param(lambda page: page.replace('class="h2"', 'class="h1"'), "'span.h2'", id="title"),
        pytest.param(lambda page: page.replace("A - Two Lamps", ""), "an empty 'span.h2'", id="empty title"),
        pytest.param(lambda page: page.replace("Memory Limit", "Memory"), "no time and memory limit", id="limits"),
        pytest.param(
            lambda page: page.replace("1024 MiB", f"{'9' * 400} MiB"), f"has '{'9' * 80}' for a limit", id="no number"
        ),
        pytest.param(lambda page: page.replace("1024 MiB", "1.0.24 MiB"), "has '1.0.24' for a limit", id="limit"),
        pytest.param(lambda page: page.replace("moment(", "dayjs("), "no 'startTime'", id="no constant"),
        pytest.param(lambda page: statement_page(" "), "an empty '#task-statement'", id="empty statement"),
        pytest.param(
            lambda page: re.sub("</?pre>", "", page), "has the heading 'Sample Input 1', but no sample", id="pre"
        ),
        pytest.param(lambda page: page[:900], "is cut off: it has no '</html>'", id="cut off"),
        pytest.param(lambda page: "<html><h1>Just a moment...</h1></html>", "has no 'span.h2'", id="a challenge"),
    ],
)
def test_a_task_that_cannot_be_read_is_a_fault(change: Callable[[str], str], said: str) -> None:
    with pytest.raises(PageChanged, match=re.escape(said)) as caught:
        read(change(text_of("task.html")))
    assert caught.value.snapshot_id == 7


@given(st.integers(0, len(text_of("task.html"))), st.integers(0, 400), st.text(max_size=20))
@settings(max_examples=60)
def test_a_damaged_page_is_read_or_refused(place: int, length: int, instead: str) -> None:
    page = text_of("task.html")
    try:
        problem = read(page[:place] + instead + page[place + length :])
    except SourceError:
        return
    assert problem.record.statement
    assert problem.record.dates


def test_statements_are_found_in_any_element() -> None:
    """As in a page that has the spans of the languages, and nothing around them."""
    markup = (
        '<span class="lang-en"><p>Hm.</p><h3>Sample Input 1</h3><pre>1</pre><h3>Sample Output 1</h3><pre>2</pre></span>'
    )
    statements = read_statements(BeautifulSoup(markup, "lxml"))
    assert [statement.language for statement in statements] == ["en"]
    assert choose_samples(statements)[0].pairs == (("1\n", "2\n"),)
