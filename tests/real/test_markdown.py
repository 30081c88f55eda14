"""Recorded pages as Markdown: no letter of a statement is lost, doubled or moved, whichever parser read the page."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, Tag

from ingest.statements.markdown import pre_text, to_markdown

pytestmark = pytest.mark.shared

_FOLDERS = {"codeforces": "div.problem-statement", "atcoder": "#task-statement", "kattis": ".problembody"}
_FURNITURE = "style, button, .input-output-copier, .btn-copy, .MathJax_Preview, .MathJax, .MathJax_Display"
# The numbers of ordered lists are the browser's: a page does not hold them.
_NUMBERED = re.compile(r"^ *\d+\. ", re.MULTILINE)
_IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
_ADDRESS = re.compile(r"\]\([^)]*\)")


def _statements(recorded: Path, parser: str) -> Iterator[tuple[str, Tag]]:
    for folder, selector in _FOLDERS.items():
        for path in sorted((recorded / folder).glob("*.html")):
            soup = BeautifulSoup(_whole(path), parser)
            yield from ((path.name, element) for element in soup.select(selector))
    for path in sorted((recorded / "leetcode").glob("content_*.md")):
        html = re.search(r"<!-- description:start -->(.*)<!-- description:end -->", path.read_text(), re.DOTALL)
        assert html is not None
        yield path.name, BeautifulSoup(f"<div>{html[1]}</div>", parser).div or Tag(name="div")


def _whole(path: Path) -> str:
    """The page; of some Codeforces statements only what was in their div is recorded."""
    html = path.read_text(encoding="utf-8")
    inside = path.name.startswith("statement_fragment") and 'class="problem-statement"' not in html
    return f'<div class="problem-statement">{html}</div>' if inside and path.parent.name == "codeforces" else html


def _letters(text: str) -> str:
    return "".join(re.findall(r"[^\W_]", text))


def _shown(element: Tag) -> str:
    element = copy.copy(element)
    for furniture in element.select(_FURNITURE):
        furniture.decompose()
    for script in element.select("script"):
        script.replace_with(script.get_text() if str(script.get("type")).startswith("math/tex") else "")
    return element.get_text(" ")


@pytest.fixture(scope="module")
def recorded(shared_data: Path) -> Path:
    return shared_data.parent / "sources" / "recorded"


@pytest.mark.parametrize("parser", ["lxml", "html.parser"])
def test_no_letter_is_lost_or_doubled(recorded: Path, parser: str) -> None:
    count = 0
    for name, element in _statements(recorded, parser):
        text = _NUMBERED.sub("", to_markdown(element, base_url="https://example.org/"))
        numbered = element.find("ol") is not None
        shown = _NUMBERED.sub("", _shown(element)) if numbered else _shown(element)
        assert _letters(_ADDRESS.sub("]", _IMAGE.sub("", text))) == _letters(shown), name
        count += 1
    assert count == 53


def test_both_parsers_give_the_same(recorded: Path) -> None:
    trees = zip(_statements(recorded, "lxml"), _statements(recorded, "html.parser"), strict=True)
    for (name, element), (_, other) in trees:
        assert to_markdown(element) == to_markdown(other), name
        assert [pre_text(pre) for pre in element.select("pre")] == [pre_text(pre) for pre in other.select("pre")], name


def test_no_mark_of_a_formula_is_left(recorded: Path) -> None:
    for name, element in _statements(recorded, "lxml"):
        text = to_markdown(element)
        assert "$$$" not in text, name
        assert text.count("$") % 2 == 0, name


def test_samples_of_codeforces_equal_their_twins(recorded: Path) -> None:
    paths = sorted((recorded / "codeforces").glob("statement_*.expected.json"))
    assert len(paths) == 5
    for path in paths:
        page = BeautifulSoup(path.with_name(path.name.replace(".expected.json", ".html")).read_text(), "lxml")
        pres = [pre_text(pre) for pre in page.select(".sample-test pre")]
        tests = json.loads(path.read_text())["expected"]["tests"]
        assert pres == [f"{test[half].rstrip()}\n" for test in tests for half in ("input", "expected")], path.name


def test_report_case_of_lost_powers(shared_data: Path) -> None:
    folder = shared_data.parent / "reports" / "cases" / "A18"
    content = json.loads((folder / "content.json").read_text())["content"]
    expected = json.loads((folder / "expected.json").read_text())
    text = to_markdown(BeautifulSoup(content, "lxml"))
    assert all(part in text for part in expected["must_contain"])
    assert not any(part in text for part in expected["must_not_contain"])


def test_report_case_of_lines_in_divs(shared_data: Path) -> None:
    folder = shared_data.parent / "reports" / "cases" / "A16"
    page = BeautifulSoup((folder / "page.html").read_text(), "lxml")
    pres = [pre_text(pre) for pre in page.select(".sample-test pre")]
    assert pres == json.loads((folder / "expected.json").read_text())["samples"][0]
