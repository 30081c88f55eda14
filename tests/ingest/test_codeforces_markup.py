"""Markup of Codeforces pages: what is missing or cut off is named, limits are read, samples keep every byte."""

from __future__ import annotations

import html
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.errors import PageChanged
from tests.ingest.codeforces_site import (
    ALL,
    WHOLE,
    Site,
    data,
    edited,
    from_page,
    read,
    samples_of,
    single,
)

# Bad pages


RENAMED = [
    ('class="problem-statement"', "has no '.problem-statement'"),
    ('class="header"', "has no '.header' in problem B"),
    ('<div class="title" bis', "has no '.title' in problem B"),
    ('class="time-limit"', "has no '.time-limit > .property-title' in problem B"),
    ('class="memory-limit"', "has no '.memory-limit > .property-title' in problem B"),
    ('class="property-title"', "has no '.time-limit > .property-title' in problem B"),
    ('class="section-title"', "has no '.section-title' in problem B"),
    ('class="sample-tests"', "has no '.sample-tests' in problem B"),
    ('class="sample-test"', "has no '.sample-test .input > pre' in problem B"),
    ('class="input"', "has no '.sample-test .input > pre' in problem B"),
    ('class="output"', "has no '.sample-test .output > pre' in problem B"),
]


@pytest.mark.parametrize(("old", "said"), RENAMED, ids=[old for old, _ in RENAMED])
def test_a_renamed_class_is_named(old: str, said: str) -> None:
    name = old.split('"')[1]
    with pytest.raises(PageChanged) as caught:
        from_page(edited(WHOLE, (old, old.replace(name, f"new-{name}"))), "B")
    assert said in caught.value.message
    assert caught.value.message.startswith(single("B"))
    assert caught.value.snapshot_id == 7


def test_a_sample_without_an_output_is_missed_with_its_problem() -> None:
    lost = '<div class="output"><div class="title">Output</div><pre>0<br></pre></div>'
    with pytest.raises(PageChanged) as caught:
        read(Site({ALL: edited("problems_9001.html", (lost, ""))}), "A")
    message = f"{ALL} has 2 '.sample-test .input > pre' for 1 '.sample-test .output > pre' in problem A"
    assert caught.value.message == message


def test_a_sample_whose_text_is_elsewhere_is_missed() -> None:
    moved = edited("problems_9001.html", ("<pre>1<br>0<br></pre>", "<p><pre>1<br>0<br></pre></p>"))
    with pytest.raises(PageChanged, match="in problem A"):
        read(Site({ALL: moved.replace(b"<pre>0<br></pre>", b"<span><pre>0<br></pre></span>")}), "A")


@pytest.mark.parametrize("end", range(0, 2600, 325))
def test_a_page_that_is_cut_off_gives_no_problem(end: int) -> None:
    with pytest.raises(PageChanged, match="is cut off: it has no '</html>'"):
        from_page(data(WHOLE)[:end], "B")


def test_a_challenge_that_slipped_through_gives_no_problem() -> None:
    with pytest.raises(PageChanged, match=r"has no '.problem-statement'"):
        from_page("challenge.html", "B")


@given(start=st.integers(0, 2900), length=st.integers(1, 400))
def test_a_page_with_a_hole_in_it_is_read_or_refused_and_nothing_else(start: int, length: int) -> None:
    whole = data(WHOLE).decode()
    try:
        problem = from_page(f"{whole[:start]}{whole[start + length :]}".encode(), "B")
    except PageChanged as error:
        assert error.message.startswith(single("B"))
    else:
        assert problem.record.statement or problem.record.flags


@pytest.mark.parametrize("words", ["", "soon", "0 seconds", "two seconds", "2", "2 moons"])
def test_a_limit_that_cannot_be_read_is_named(words: str) -> None:
    body = edited("problem_190301_P35.html", ("2 seconds", words))
    with pytest.raises(PageChanged) as caught:
        from_page(body, "P35")
    assert f"has {words!r} for a limit in '.time-limit' in problem P35" in caught.value.message


def test_long_words_and_links_without_an_end_are_read_at_once() -> None:
    name, links = "a" * 100_000, "](" * 50_000
    body = edited(WHOLE, ("B. Is It a Ladder?", name), ("<p>", f"<p>{links}"))
    record = from_page(body, "B").record
    assert record.title == name
    assert record.language == "en"


def test_only_an_index_at_the_beginning_is_cut_from_a_title() -> None:
    assert from_page(edited(WHOLE, ("B. Is It a Ladder?", "b. Dr. Who")), "B").record.title == "Dr. Who"
    assert from_page(edited(WHOLE, ("B. Is It a Ladder?", "The Dr. Who")), "B").record.title == "The Dr. Who"


def test_an_empty_title_or_statement_is_an_error() -> None:
    with pytest.raises(PageChanged, match=r"has an empty '.title' in problem P35"):
        from_page(edited("problem_190301_P35.html", ("P35. Cutting a Rope", "P35.")), "P35")
    empty = b'<html><div class="problem-statement"><div class="header"><div class="title">A. B</div></div></div></html>'
    with pytest.raises(PageChanged, match="has no text in problem A"):
        from_page(empty, "A")


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("1 second", 1.0),
        ("2.5 seconds", 2.5),
        ("1,5 seconds", 1.5),
        ("250 milliseconds", 0.25),
        ("500 ms", 0.5),
        ("0.25 sec.", 0.25),
        ("3 s", 3.0),
        ("2 секунды", 2.0),
        ("5 секунд", 5.0),
        ("750 миллисекунд", 0.75),
        ("<span class='tex-font-style-bf'>4 <i>seconds</i></span>", 4.0),
        ("4&nbsp;seconds", 4.0),
    ],
)
def test_time_limits_in_words(words: str, seconds: float) -> None:
    record = from_page(edited("problem_190301_P35.html", ("2 seconds", words)), "P35").record
    assert record.suite is not None
    assert record.suite.time_limit_s == seconds


@pytest.mark.parametrize(
    ("words", "size"),
    [
        ("256 megabytes", 268_435_456),
        ("1 megabyte", 1_048_576),
        ("64 MB", 67_108_864),
        ("512 мегабайт", 536_870_912),
        ("4096 KB", 4_194_304),
        ("0.5 megabytes", 524_288),
        ("2 gigabytes", 2_147_483_648),
        ("1 гигабайт", 1_073_741_824),
    ],
)
def test_memory_limits_in_words(words: str, size: int) -> None:
    record = from_page(edited("problem_190301_P35.html", ("64 megabytes", words)), "P35").record
    assert record.suite is not None
    assert record.suite.memory_limit_bytes == size


@pytest.mark.parametrize(("name", "old"), [("time", "2 seconds"), ("memory", "64 megabytes")])
def test_a_limit_beyond_all_numbers_is_named(name: str, old: str) -> None:
    body = edited("problem_190301_P35.html", (old, old.replace(old[0], "9" * 400, 1)))
    with pytest.raises(PageChanged) as caught:
        from_page(body, "P35")
    assert f"{'9' * 80}' for a limit in '.{name}-limit' in problem P35" in caught.value.message


@pytest.mark.parametrize("words", ["standard input", "stdin", "Standard  Input", "стандартный ввод"])
def test_standard_streams_have_many_names(words: str) -> None:
    record = from_page(edited("problem_190301_P35.html", ("standard input", words)), "P35").record
    assert "file_io" not in dict(record.flags)


def test_one_stream_may_be_a_file() -> None:
    record = from_page(edited("problem_190301_P35.html", ("standard input", "<i>rope.in</i>")), "P35").record
    assert dict(record.flags)["file_io"] == "it reads rope.in and writes standard output"


def test_a_page_that_states_less_says_so() -> None:
    page = """<html><div class="problem-statement"><div class="header"><div class="title">B. Little</div></div>
    <div>Print the larger one.</div><!-- a remark --> And be quick.</div></html>"""
    problem = from_page(page.encode(), "B")
    assert problem.record.statement == "Print the larger one.\n\nAnd be quick."
    assert problem.record.suite is not None
    assert (problem.record.suite.time_limit_s, problem.record.suite.memory_limit_bytes) == (None, None)
    assert problem.notes[1:] == ("no time limit", "no memory limit", "no samples")


# Samples: from a text to the markup of a page, and back

LINE = st.text(st.characters(min_codepoint=32, max_codepoint=126) | st.sampled_from("éЖ"), max_size=12)
SAMPLE = st.builds(lambda lines, last: "\n".join([*lines, last]) + "\n", st.lists(LINE, max_size=6), LINE.filter(bool))


def by_breaks(text: str) -> str:
    return f"<pre>{html.escape(text).replace(chr(10), '<br>')}</pre>"


def by_lines(text: str) -> str:
    return f"<pre>\n{html.escape(text)}</pre>"


def by_lines_without_an_end(text: str) -> str:
    return f'<pre id="id1">\n{html.escape(text.removesuffix(chr(10)))}</pre>'


def by_elements(text: str) -> str:
    lines = text.removesuffix("\n").split("\n")
    parity = ("even", "odd")
    return "".join(
        (
            "<pre>",
            *(
                f'<div class="test-example-line test-example-line-{parity[n % 2]} test-example-line-{n}">'
                f"{html.escape(line) or '<br>'}</div>"
                for n, line in enumerate(lines)
            ),
            "</pre>",
        )
    )


def by_empty_elements(text: str) -> str:
    return by_elements(text).replace("<br>", "")


def by_deep_elements(text: str) -> str:
    return f"<pre>\n{html.escape(text).replace(' ', '&nbsp;').replace('e', '<b><span>e</span></b>')}</pre>"


MARKUPS = [by_breaks, by_lines, by_lines_without_an_end, by_elements, by_empty_elements, by_deep_elements]


@pytest.mark.parametrize("write", MARKUPS)
@given(samples=st.lists(st.tuples(SAMPLE, SAMPLE), min_size=1, max_size=3))
def test_samples_survive_every_markup(write: Callable[[str], str], samples: list[tuple[str, str]]) -> None:
    copier = '<div title="Copy" class="input-output-copier">Copy</div>'
    tests = "".join(
        f'<div class="input"><div class="title">Input{copier}</div>{write(given_)}</div>'
        f'<div class="output"><div class="title">Output{copier}</div>{write(expected)}</div>'
        for given_, expected in samples
    )
    text = data("problem_190301_P35.html").decode()
    start, end = text.index('<div class="sample-test">'), text.index("</body>")
    body = f'{text[:start]}<div class="sample-test">{tests}</div></div></div>{text[end:]}'
    assert samples_of(from_page(body.encode(), "P35").record) == samples


def test_the_fence_of_a_sample_is_longer_than_any_in_it() -> None:
    body = edited("problem_190301_P35.html", ("<pre>\n4\n</pre>", "<pre>\n```\n4\n````\n</pre>"))
    assert "`````\n```\n4\n````\n`````" in from_page(body, "P35").record.statement
