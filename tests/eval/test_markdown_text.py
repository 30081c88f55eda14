"""Text from outside in Markdown: whatever it is, a reader of GitHub's dialect sees that text and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from eval.plain_text import one_line
from eval.sheets import markdown_row, markdown_text

READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])

PLACES = {
    "cell": "| a | b |\n| --- | --- |\n| {} | 1 |\n",
    "first of a list": "- {}\n- other\n",
    "heading": "# {}\n",
    "paragraph": "{}\n",
    "bold": "- **x {} x**: y\n",
}
HOSTILE = [
    "# Big",
    "a # b #",
    "~~struck~~",
    "~~~",
    "``` code",
    "1. one",
    "12) twelve",
    "- item",
    "+ item",
    "* item",
    "-",
    "---",
    "===",
    "- - -",
    "> quoted",
    "&amp; &lt;b&gt; &#35; &nbsp;",
    "<img src=x onerror=y>",
    "<https://evil.example>",
    "[x](javascript:alert(1))",
    "![x](y)",
    "[x]: https://evil.example",
    "a | b \\| c",
    "ends with \\",
    "*b* _i_ __b__ `c`",
    "pass@1 and @someone",
    "$x^2$",
    "\u202eesrever \u2066a\u2069 \u200eb\u200f",
    "back\x08 \x1b[31m nul\x00",
    "two\r\n\r\nlines\u2028more",
    "    indented",
    "| --- |",
]
MARKUP = st.text("ab1 .-+=#*_~`|\\[]()<>&;:/@$!\n\t\u202e\x00w", max_size=30)


def shown(place: str, text: str) -> tuple[set[str], list[str]]:
    """The kinds of what is drawn in this place, blocks apart, and the texts there."""
    tokens = READER.parse(PLACES[place].replace("{}", markdown_text(text)))
    found = list(_inline(tokens))
    return {token.type for token in found}, [_words(token) for token in tokens if token.type == "inline"]


def _inline(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield from token.children or ()


def _words(token: Token) -> str:
    return "".join(child.content for child in token.children or ())


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("place", PLACES)
def test_hostile_text_is_read_as_the_text_that_it_is(place: str, text: str) -> None:
    _check(place, text)


@given(text=st.one_of(MARKUP, st.text(max_size=30)))
@example(text="www.evil.example")
@example(text="\u202e - hidden before a sign of a list")
def test_any_text_is_read_as_the_text_that_it_is(text: str) -> None:
    assume(one_line(text))
    for place in PLACES:
        _check(place, text)


def _check(place: str, text: str) -> None:
    said = one_line(text)
    wanted = {"cell": ["a", "b", said, "1"], "first of a list": [said, "other"], "bold": [f"x {said} x: y"]}
    kinds, words = shown(place, text)
    assert kinds == ({"text", "strong_open", "strong_close"} if place == "bold" else {"text"})
    assert words == wanted.get(place, [said])


@pytest.mark.parametrize(
    "address", ["https://evil.example/a", "HTTP://evil.example", "ftp://evil.example", "www.e.example"]
)
def test_an_address_is_no_link_where_bare_ones_are_linked(address: str) -> None:
    """GitHub links what begins with "http://", "https://", "ftp://" or "www.", as its specification has it (6.9)."""
    written = markdown_text(f"see {address} for it")
    assert re.search(r"(?:https?|ftp)://|www\.", written, re.IGNORECASE) is None
    assert shown("paragraph", address) == ({"text"}, [address])


def test_what_is_no_markup_stays_readable() -> None:
    for cell in ["-1.2", "+3.0", "-2.0 to +3.1", "41.2–47.9", "2024-06?", "pass@1, %", "1.5", "4 of 5", "a (b), c: d!"]:
        assert markdown_text(cell) == cell
    assert markdown_row(map(markdown_text, ("a|b", "<0.0001"))) == "| a\\|b | &lt;0.0001 |"


def test_marks_that_turn_the_order_are_gone_and_control_characters_are_seen() -> None:
    assert markdown_text("\u202egpt\u2066-\u20695\u200e\u200f\u061c") == "gpt-5"
    assert markdown_text("a\x00b\x1bc") == "a\ufffdb\ufffdc"
