"""Samples found by their headings, in the layouts that sites have had; the texts are ours."""

from __future__ import annotations

import html

import pytest
from bs4 import BeautifulSoup, Tag
from hypothesis import given
from hypothesis import strategies as st

from ingest.statements.samples import Block, Samples, find_samples, html_blocks, text_blocks

PAIR = (("2 2\n", "4\n"),)


def root(markup: str) -> Tag:
    return BeautifulSoup(f"<div>{markup}</div>", "lxml")


def in_html(markup: str) -> Samples:
    return find_samples(html_blocks(root(markup)))


def in_text(text: str) -> Samples:
    return find_samples(text_blocks(text))


@pytest.mark.parametrize(
    "markup",
    [
        pytest.param(
            "<h3>Sample Input 1</h3><pre>2 2\n</pre><h3>Sample Output 1</h3><pre>4\n</pre>", id="heading, then pre"
        ),
        pytest.param(
            '<div><h3>入力例 1</h3><section><pre class="prettyprint linenums">\n2 2\n</pre></section></div>'
            '<div><h3>出力例 1</h3><section><pre class="prettyprint linenums">\n4\n</pre></section></div>',
            id="heading, then a section with the pre",
        ),
        pytest.param(
            "<section><h3>Sample Input 1</h3><pre>2 2\n</pre></section>"
            "<section><h3>Sample Output 1</h3><pre>4\n</pre></section>",
            id="both within a section",
        ),
        pytest.param(
            '<p>入力例 1:</p><pre class="literal-block">\n2 2\n</pre>'
            '<p>入力例 1 に対する出力例:</p><pre class="literal-block">\n4\n</pre>',
            id="paragraphs as headings, and an output that names its input",
        ),
        pytest.param(
            "<h3>Sample Input</h3><pre>2 2</pre><h3>Output for Sample Input</h3><pre>4</pre>", id="no number at all"
        ),
        pytest.param(
            "<h3>入力例１</h3><pre>2 2</pre><h3>出力例１</h3><pre>4</pre>", id="full-width digits without a space"
        ),
        pytest.param(
            "<h4>Sample Input 1 (small)</h4><pre>2 2</pre><h4>Sample Output 1 (small)</h4><pre>4</pre>", id="a remark"
        ),
        pytest.param(
            "</section><h3>Sample Input 1</h3><section><pre>2 2\n</pre></section></section>"
            "<h3>Sample Output 1</h3><pre>4\n</pre></section>",
            id="more ends of sections than beginnings",
        ),
        pytest.param(
            "<h3>Sample Input 1</h3><pre>2 2\r\n</pre><h3>Sample Output 1</h3><pre>4\r\n</pre>", id="CRLF in the page"
        ),
    ],
)
def test_each_layout_gives_the_pair(markup: str) -> None:
    assert in_html(markup) == Samples(PAIR)


@pytest.mark.parametrize(
    "markup",
    [
        pytest.param("<h3>Input</h3><pre><var>H</var> <var>W</var></pre><h3>Output</h3><pre>ans</pre>", id="formats"),
        pytest.param("<h3>入力</h3><pre>H W</pre><h3>出力</h3><pre>ans</pre>", id="formats in Japanese"),
        pytest.param("<h3>Sample Interaction</h3><pre>? 1\n</pre>", id="a dialogue"),
        pytest.param("<h3>入出力例</h3><pre>? 1\n</pre>", id="both in one"),
        pytest.param("<h3>Explanation of Sample Input 1</h3><pre>..#\n</pre>", id="an explanation"),
        pytest.param("<p>See Sample Input 1 for more.</p><pre>..#\n</pre>", id="a sentence"),
        pytest.param("<pre>..#\n</pre>", id="a drawing"),
    ],
)
def test_what_is_no_sample_is_left(markup: str) -> None:
    assert in_html(markup) == Samples()


def test_a_drawing_between_samples_shifts_nothing() -> None:
    markup = (
        "<h3>入力例 1</h3><section><pre>2 2\n</pre></section><h3>出力例 1</h3><section><pre>4\n</pre></section>"
        "<p>この絵のとおり。</p><pre>DD\n..\n</pre>"
        "<div><h3>入力例 2</h3><section><pre>3 5\n</pre></section></div>"
        "<h3>出力例 2</h3><section><pre>15\n</pre><pre>not this\n</pre></section>"
    )
    assert in_html(markup) == Samples((("2 2\n", "4\n"), ("3 5\n", "15\n")))


def test_an_empty_output_is_an_output() -> None:
    markup = "<h3>Sample Input 1</h3><pre>2 2\n</pre><h3>Sample Output 1</h3><pre>\n</pre><p>Nothing.</p>"
    ((given_input, output),) = in_html(markup).pairs
    assert (given_input, output.strip()) == ("2 2\n", "")


@pytest.mark.parametrize(
    ("names", "unpaired"),
    [
        (["Sample Input 1", "Sample Input 2", "Sample Output 2"], ("Sample Input 1",)),
        (["Sample Output 1", "Sample Input 2", "Sample Output 2"], ("Sample Output 1",)),
        (["Sample Input 2", "Sample Output 2", "Sample Input 3"], ("Sample Input 3",)),
        (
            ["Sample Input 2", "Sample Output 2", "Sample Input 3", "Sample Output 4"],
            ("Sample Input 3", "Sample Output 4"),
        ),
    ],
)
def test_a_half_without_its_partner_is_named(names: list[str], unpaired: tuple[str, ...]) -> None:
    blocks = [block for name in names for block in (Block(name, is_heading=True), Block(f"{name}\n"))]
    found = find_samples(blocks)
    assert found.pairs == (("Sample Input 2\n", "Sample Output 2\n"),)
    assert found.unpaired == unpaired


def test_a_heading_without_a_block_is_named_and_takes_nobody_elses() -> None:
    found = in_html("<h3>Sample Input 1</h3><h3>Sample Output 1</h3><img><h3>Notes</h3><pre>x\n</pre>")
    assert found == Samples((), ("Sample Input 1", "Sample Output 1"))


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        pytest.param(
            "Add.\n\nSample Input 1\n\n2 2\n\nSample Output 1\n\n4\n\nTwo and two.\n\nSample Input 2\n\n1\n5\n\n"
            "Sample Output 2\n\n6",
            (("2 2\n", "4\n"), ("1\n5\n", "6\n")),
            id="LF alone",
        ),
        pytest.param(
            "Add.\n\nSample Input 1\n\n2\r\n2\n\nSample Output 1\n\n4\r\n\nTwo and two.",
            (("2\n2\n", "4\n"),),
            id="CRLF within the blocks",
        ),
        pytest.param(
            "Add.\r\n\r\nSample Input 1\r\n\r\n2\r\n2\r\n\r\nSample Output 1\r\n\r\n4\r\n\r\nTwo and two.\r\n",
            (("2\n2\n", "4\n"),),
            id="CRLF everywhere",
        ),
        pytest.param(
            "Sample Input 1\n\n2\n\nSample Output 1\n\n\r\n\r\n\nNothing to print.\n\nSample Input 2\n\n1\n\n"
            "Sample Output 2\n\n\nNothing again.\r\nAt all.",
            (("2\n", "\n\n"), ("1\n", "")),
            id="empty outputs with prose below",
        ),
        pytest.param(
            "Sample Input 1\n\n\n2\r\n2\n\nSample Output 1\n\n\n4\r\n\nTwo and two.",
            (("2\n2\n", "4\n"),),
            id="two blank lines below every heading",
        ),
        pytest.param(
            "Print it (in any case).Sample Input 1:\n2\n\n1 1\n\n3 3\n\n\n\nSample Output 1:\n\n2\n6\n\n\nNote\n\nSo.",
            (("2\n1 1\n3 3\n", "2\n6\n"),),
            id="each line of the input an element",
        ),
        pytest.param("See also Sample Inputs and Outputs below.\n\nThat is all.", (), id="a sentence"),
    ],
)
def test_plain_text(text: str, pairs: tuple[tuple[str, str], ...]) -> None:
    assert in_text(text) == Samples(pairs)


LINE = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=12)
BODY = st.lists(LINE, min_size=1, max_size=5).map(lambda lines: "".join(f"{line}\n" for line in lines))
PAIRS = st.lists(st.tuples(BODY, BODY), max_size=4)


@given(PAIRS, st.lists(BODY, min_size=5, max_size=5), st.booleans())
def test_any_samples_in_html_come_back(pairs: list[tuple[str, str]], drawings: list[str], japanese: bool) -> None:
    names = ("入力例", "出力例") if japanese else ("Sample Input", "Sample Output")
    parts = ["<h3>Input</h3><pre>N</pre>"]
    for number, pair in enumerate(pairs, 1):
        for name, text in zip(names, pair, strict=True):
            parts.append(f"<section><h3>{name} {number}</h3><pre>\n{html.escape(text)}</pre></section>")
        parts.append(f"<pre>{html.escape(drawings[number])}</pre>")
    assert in_html("".join(parts)) == Samples(tuple(pairs))


@given(PAIRS, st.sampled_from(["\n", "\r\n"]))
def test_any_samples_in_text_come_back(pairs: list[tuple[str, str]], line_end: str) -> None:
    parts = ["A task."]
    for number, (given_input, output) in enumerate(pairs, 1):
        parts += [f"Sample Input {number}", given_input.rstrip("\n"), f"Sample Output {number}", output.rstrip("\n")]
        parts.append("It is so.")
    assert in_text("\n\n".join(parts).replace("\n", line_end)) == Samples(tuple(pairs))


@given(st.lists(st.sampled_from(["Sample Input 1", "Sample Output 1:", "", "\r", "x", "1 2\r", "Note"])).map("\n".join))
def test_any_text_is_read(text: str) -> None:
    found = in_text(text)
    assert all("\r" not in half for pair in found.pairs for half in pair)
