from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.errors import BadRow
from ingest.text import encode_test_text, normalise_file, require_call_test, storable

ANSWER = b"1 2\nYes\n"


@pytest.mark.parametrize(
    ("data", "changes"),
    [
        (ANSWER, ()),
        (b"", ()),
        (b"1 2\r\nYes\r\n", ("CRLF",)),
        (b"\xef\xbb\xbf" + ANSWER, ("byte-order mark",)),
        ("1 2\r\nYes\n".encode("utf-16"), ("UTF-16", "CRLF")),
        (b"\xfe\xff" + "1 2\nYes\n".encode("utf-16-be"), ("UTF-16",)),
    ],
)
def test_every_text_file_becomes_utf8_with_lf(data: bytes, changes: tuple[str, ...]) -> None:
    assert normalise_file(data) == (b"" if not data else ANSWER, changes)


@pytest.mark.parametrize("data", [b"caf\xe9\n", b"\xff\xfe1", b"a\x00b\x00", b"\xff\xfe\x00\xd8"])
def test_bytes_that_are_no_text_are_refused(data: bytes) -> None:
    with pytest.raises(BadRow) as refused:
        normalise_file(data)
    assert "UTF-8" in refused.value.hint


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\x00\ufeff")))
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    once, _ = normalise_file(text.encode("utf-16"))
    assert normalise_file(once) == (once, ())
    assert once == encode_test_text("input", text)


def test_text_that_no_database_keeps_is_refused_by_its_field() -> None:
    for text in ("a\x00", "\ud800"):
        with pytest.raises(BadRow, match="title"):
            storable("title", text)
    with pytest.raises(BadRow, match="expected"):
        encode_test_text("expected", "\udfff")
    assert storable("title", "a\r\nb\rc") == "a\nb\rc"


@pytest.mark.parametrize(("given", "expected"), [(b"[1,", b"1"), (b"1\nx", b"1"), (b"1", b"[1,"), (b"1", b"")])
def test_a_call_based_test_that_is_not_json_is_refused(given: bytes, expected: bytes) -> None:
    with pytest.raises(BadRow, match="is call-based, but its"):
        require_call_test(given, expected)


def test_a_call_based_test() -> None:
    require_call_test(b'[1, 2]\n"a"\n', b"1" * 5000)
    require_call_test(b"", b"null")
