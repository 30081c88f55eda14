"""Pages: bytes become text by rules that never guess, and what is no JSON or has no such element says so."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.records import ContestRecord
from ingest.errors import BadRow, PageChanged
from ingest.pages import Page, Request, decode, json_request

TEXT = "都市の数を出力せよ。最短経路"
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def page(body: bytes, content_type: str = "text/html") -> Page:
    return Page("https://site.example/x", body, NOW, headers={"content-type": content_type}, snapshot_id=7)


@pytest.mark.parametrize(
    ("declared", "codec"),
    [
        ("shift_jis", "cp932"),
        ("Shift-JIS", "cp932"),
        ("x-sjis", "cp932"),
        ("Windows-31J", "cp932"),
        ("euc-jp", "euc_jp"),
        ("EUC-JP", "euc_jp"),
        ("iso-2022-jp", "iso2022_jp"),
        ("gb2312", "gb18030"),
        ("GBK", "gbk"),
        ("big5", "big5"),
        ("utf-8", "utf-8"),
        ("windows-1251", "cp1251"),
        ("euc-kr", "cp949"),
    ],
)
@pytest.mark.parametrize("where", ["meta", "http-equiv", "xml", "header"])
def test_the_declared_encoding_is_read_wherever_it_stands(declared: str, codec: str, where: str) -> None:
    words = {"gb18030": "简体中文", "gbk": "简体中文", "big5": "繁體中文", "cp1251": "Задача", "cp949": "문제"}.get(
        codec, TEXT
    )
    forms = {
        "meta": f'<html><head><meta charset="{declared}"><title>{words}</title>',
        "http-equiv": f"<meta http-equiv=Content-Type content='text/html; charset={declared}'><p>{words}",
        "xml": f'<?xml version="1.0" encoding="{declared}"?><p>{words}</p>',
        "header": f"<p>{words}</p>",
    }
    content_type = f"text/html; charset={declared}" if where == "header" else "text/html"
    assert decode(forms[where].encode(codec), content_type) == forms[where]


@pytest.mark.parametrize("codec", ["cp932", "euc_jp"])
def test_the_kind_of_report_a23(codec: str) -> None:
    """The charset stands in the page alone, or the header is wrong: the title is read all the same."""
    name = {"cp932": "Shift_JIS", "euc_jp": "EUC-JP"}[codec]
    body = f'<meta http-equiv="content-type" content="text/html; charset={name}"><title>{TEXT}</title>'
    for content_type in ("text/html", "", "text/html; charset=ISO-8859-1", "text/html; charset=utf-8"):
        assert page(body.encode(codec), content_type).soup().title.get_text() == TEXT  # type: ignore[union-attr]
    assert page(f"<title>{TEXT}</title>".encode(), "text/html; charset=ISO-8859-1").text() == f"<title>{TEXT}</title>"


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16"])
def test_a_mark_decides(codec: str) -> None:
    assert decode(TEXT.encode(codec), "text/plain; charset=iso-8859-1") == TEXT


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (TEXT.encode("cp932"), "text/html"),
        (TEXT.encode("euc_jp"), "text/html"),
        (TEXT.encode("cp932"), "text/html; charset=ISO-8859-1"),
        (TEXT.encode("cp932"), "text/html; charset=utf-8"),
        (b'<meta charset="utf-8">' + TEXT.encode("cp932"), "text/html"),
        (b'<meta charset="no-such-thing">\xff', "text/html"),
        (TEXT.encode("utf-16-le"), "text/html"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "image/png"),
        (b"caf\xe9", "text/html"),
        (b"\x1b$B\xff", "text/html"),
        (b'<meta charset="hex">00\xff', "text/html"),
        (b'<meta charset="undefined">00\xff', "text/html"),
    ],
)
def test_what_no_decoding_is_certain_of_is_no_text(body: bytes, content_type: str) -> None:
    with pytest.raises(PageChanged, match="cannot be read as text") as caught:
        page(body, content_type).text()
    assert caught.value.snapshot_id == 7


def test_latin_1_is_believed_where_it_makes_sense() -> None:
    assert decode(b"caf\xe9", "text/html; charset=ISO-8859-1") == "café"
    assert decode(b'<meta charset="windows-1252">\x93caf\xe9\x94') == '<meta charset="windows-1252">“café”'


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\x1b\ufeff")))
def test_utf_8_is_read_as_it_is(text: str) -> None:
    assert decode(text.encode(), "text/html; charset=iso-8859-1") == text


@given(st.binary(max_size=60), st.sampled_from(["", "text/html; charset=shift_jis", "a; charset=iso-8859-1"]))
def test_any_bytes_are_text_or_an_error(body: bytes, content_type: str) -> None:
    try:
        text = decode(body, content_type)
    except UnicodeError:
        return
    assert "\ufffd" not in text or "\ufffd".encode() in body or body[:2] in (b"\xff\xfe", b"\xfe\xff")


def test_json_or_what_stands_in_its_place() -> None:
    assert page(b'\xef\xbb\xbf{"a": [1, null]}').json() == {"a": [1, None]}
    with pytest.raises(PageChanged, match="is an HTML page, not JSON"):
        page(b"  <html>").json()
    for body in (b'{"a": ', b"", b"nope", b"[" * 100_000):
        with pytest.raises(PageChanged, match="is not JSON"):
            page(body).json()


def test_elements_are_found_or_named() -> None:
    soup = page(b"<div id=a><p class=b>x</p></div>").soup()
    assert page(b"").one(soup, "#a > p.b").get_text() == "x"
    with pytest.raises(PageChanged, match=r"https://site\.example/x has no '#c'"):
        page(b"").one(soup, "#c")


def test_a_page_is_whole_when_its_end_is_at_the_end() -> None:
    whole = b"<html><body><p class=b>x</p></body></HTML >\n"
    assert page(whole).whole_soup().select_one("p.b") is not None
    assert page(whole + b" " * 4000).whole_soup().select_one("p.b") is not None
    for body in (b"<html><body><p>x", b"<html><script>'</html>'</script>" + b"<p>x</p>" * 1000, b""):
        with pytest.raises(PageChanged, match="is cut off: it has no '</html>' at its end"):
            page(body).whole_soup()


def test_a_page_is_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(body: bytes, content_type: str = "") -> str:
        calls.append(content_type)
        return decode(body, content_type)

    monkeypatch.setattr("ingest.pages.decode", counted)
    page(b"<html><p>x</html>").whole_soup()
    assert len(calls) == 1


def test_values_of_another_kind_are_named() -> None:
    assert (page(b"").as_list([1], "data"), page(b"").as_object({"a": 1}, "data")) == ([1], {"a": 1})
    with pytest.raises(PageChanged, match=r"https://site\.example/x has null for 'data\.rows', not a list"):
        page(b"").as_list(None, "data.rows")
    with pytest.raises(PageChanged, match=r"https://site\.example/x has a list for 'data', not an object"):
        page(b"").as_object([], "data")


def test_entries_that_are_refused_are_named_and_all_of_them_are_a_fault() -> None:
    def even(entry: int) -> int:
        if entry % 2:
            raise BadRow(f"{entry} is odd")
        return entry

    assert page(b"").each([2, 3, 4], even, "rows") == ((2, 4), ("https://site.example/x has rows[1]: 3 is odd",))
    assert page(b"").each([], even, "rows") == ((), ())
    with pytest.raises(PageChanged, match=r"has no entry of 'rows' that can be read; .*rows\[0\]: 1 is odd"):
        page(b"").each([1, 3], even, "rows")


def test_an_entry_that_no_record_takes_is_one_of_those_that_cannot_be_read() -> None:
    found, (line,) = page(b"").each(["1", "\0"], lambda native: ContestRecord("x", native), "rows")
    assert found == (ContestRecord("x", "1"),)
    assert line.startswith("https://site.example/x has rows[1]: ContestRecord.native_id holds a NUL character")


def test_the_same_value_is_the_same_request() -> None:
    one, other = (json_request("https://x.example/g", value) for value in ({"a": 1, "b": 2}, {"b": 2, "a": 1}))
    assert one == other
    assert (one.method, one.body) == ("POST", b'{"a":1,"b":2}')
    assert Request("https://x.example/g") != one


def test_a_body_beyond_all_pages_becomes_no_tree() -> None:
    body = b"<html><p>" + b"a" * (16 * 2**20) + b"</p></html>"
    for read in (Page.soup, Page.whole_soup):
        with pytest.raises(PageChanged, match="too large to be a page"):
            read(Page("https://judge.example/a", body, NOW))


def test_an_encoding_that_no_page_is_in_is_not_tried() -> None:
    with pytest.raises(UnicodeError, match="holds a NUL"):
        decode(b'<meta charset="punycode">' + b"a\0" * 200_000)
