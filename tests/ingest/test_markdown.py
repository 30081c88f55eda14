"""Statements and samples out of HTML: cases as data, and what holds for every tree."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, Tag
from hypothesis import given
from hypothesis import strategies as st

from ingest.statements.markdown import pre_text, to_markdown

_DATA = Path(__file__).parent / "data" / "markdown"
_BASE = "https://example.org/contest/1/"
_PARSERS = pytest.mark.parametrize("parser", ["lxml", "html.parser"])


def _cases(*stems: str) -> list[object]:
    return [
        pytest.param(case, id=f"{stem}: {case['name']}")
        for stem in stems
        for case in tomllib.loads((_DATA / f"{stem}.toml").read_text(encoding="utf-8"))["case"]
    ]


def _element(html: str, selector: str, parser: str = "lxml") -> Tag:
    found = BeautifulSoup(html, parser).select_one(selector)
    assert found is not None
    return found


def _converted(html: str, parser: str = "lxml") -> str:
    return to_markdown(_element(f"<div id='root'>{html}</div>", "#root", parser), base_url=_BASE)


@_PARSERS
@pytest.mark.parametrize("case", _cases("mathematics", "text"))
def test_markdown(case: dict[str, str], parser: str) -> None:
    expected = case["markdown"].strip("\n")
    assert _converted(case["html"], parser) == (f"{expected}\n" if expected else "")


@_PARSERS
@pytest.mark.parametrize("case", _cases("samples"))
def test_pre_text(case: dict[str, str], parser: str) -> None:
    assert pre_text(_element(case["html"], "pre", parser)) == case["text"]


def test_element_is_left_as_it_is() -> None:
    html = "<div><b>a</b><b>b</b><p>$$$x$$$ <a href='y'>z</a></p><pre>\n1</pre></div>"
    element = _element(html, "div")
    before = str(element)
    assert to_markdown(element, base_url=_BASE) == to_markdown(element, base_url=_BASE)
    assert str(element) == before


def test_addresses_stay_without_a_base() -> None:
    assert to_markdown(_element("<p><a href='/x'>y</a></p>", "p")) == "[y](/x)\n"


@pytest.mark.parametrize("tag", ["div", "b", "sub", "blockquote"])
def test_tree_without_an_end_is_no_statement(tag: str) -> None:
    html = f"<{tag}>" * 5000 + "x"
    with pytest.raises(RecursionError, match="nested too deeply"):
        to_markdown(_element(f"<div>{html}</div>", "div", "html.parser"))


def test_sample_without_an_end_is_none() -> None:
    with pytest.raises(RecursionError, match="nested too deeply"):
        pre_text(_element("<pre>" + "<span>" * 5000, "pre", "html.parser"))


_WORDS = st.text(alphabet="ab1 <&^_*`$|#-.\u00a0é", min_size=1, max_size=8).map(
    lambda text: text.replace("&", "&amp;").replace("<", "&lt;")
)
_INLINE = st.recursive(
    _WORDS,
    lambda inner: st.builds(
        "<{0}>{1}</{0}>".format, st.sampled_from(["b", "i", "code", "sub", "sup", "var", "span", "a"]), inner
    ),
    max_leaves=4,
)
_BLOCKS = st.recursive(
    st.builds("<p>{}</p>".format, _INLINE) | st.builds("<pre>{}</pre>".format, _WORDS),
    lambda inner: st.builds(
        "{}".format,
        st.builds("<ul>\n<li>{}</li>\n</ul>".format, inner)
        | st.builds("<div>\n{}\n{}\n</div>".format, inner, inner)
        | st.builds("<blockquote>\n{}\n</blockquote>".format, inner),
    ),
    max_leaves=6,
)


@given(_BLOCKS, st.sampled_from(["", " ", "\n\n", "\n        ", "\r\n\t"]))
def test_indentation_of_the_source_changes_nothing(html: str, blanks: str) -> None:
    assert _converted(html.replace("\n", blanks)).split() == _converted(html).split()


@given(_BLOCKS)
def test_output_is_clean(html: str) -> None:
    text = _converted(html)
    assert text == "" or (text.endswith("\n") and not text.endswith("\n\n") and not text.startswith("\n"))
    outside = re.sub(r"(?ms)^[ >*+-]*(`{3,}).*?^[ >]*\1$", "", text)
    assert not re.search(r"[ \t]$|\r|\n\n\n", re.sub(r"\n{2,}", "\n", outside), re.MULTILINE)


@given(_BLOCKS)
def test_no_letter_is_lost_or_doubled(html: str) -> None:
    shown = _element(f"<div>{html}</div>", "div").get_text()
    assert re.findall(r"[ab1é]", _converted(html)) == re.findall(r"[ab1é]", shown)


@given(st.text(alphabet="a 1<&\n\u00a0\t`", max_size=20))
def test_code_keeps_every_character(text: str) -> None:
    html = text.replace("&", "&amp;").replace("<", "&lt;")
    shown = text.replace("\u00a0", " ").rstrip("\n")
    assert pre_text(_element(f"<pre>\n{html}</pre>", "pre")) == (f"{shown}\n" if shown else "")
    fences = re.fullmatch(r"(?s)(`{3,})\n(.*\n)\1\n", _converted(f"<pre>\n{html}</pre>"))
    assert (fences[2] if fences else "") == (f"{shown}\n" if shown.strip() else "")
