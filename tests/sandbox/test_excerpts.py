"""What programs wrote is shown as a piece of one line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.excerpts import excerpt


@pytest.mark.parametrize(
    ("text", "width", "line"),
    [
        ("", 5, ""),
        ("12345", 5, "12345"),
        ("123456", 5, "1234…"),
        ("héllo ‘x’", 20, "héllo ‘x’"),
        (b"\xc3\xa9" * 6, 5, "éééé…"),
        ("a\tb\r\nc", 20, "a\\tb\\r\\nc"),
        ("\x1b[2J\x1b]0;title\x07", 40, "\\x1b[2J\\x1b]0;title\\x07"),
        (b"\0\xff", 20, "\\x00\\xff"),
        ("\ud800", 20, "\\ud800"),
        ("\u202egnirts", 20, "\\u202egnirts"),
        ("\0" * 5, 7, "\\x00\\x…"),
    ],
)
def test_it_is_printable_and_cut(text: str | bytes, width: int, line: str) -> None:
    assert excerpt(text, width) == line


@given(st.text(st.characters()) | st.binary(), st.integers(1, 50))
def test_any_text_gives_one_line_of_the_width(text: str | bytes, width: int) -> None:
    line = excerpt(text, width)
    assert line.isprintable()
    assert len(line) <= width
    assert bool(line) == bool(text)
