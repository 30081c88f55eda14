"""Reading of a yukicoder problem's page: its statement, its limits, how it is judged, its samples. Pure.

How answers are judged stands in the line of the limits: by comparison, by comparison with a tolerance, by a program of
its own, or in a dialogue. What keeps a problem out of scores are the words above its title.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from bs4 import Tag
from bs4.element import NavigableString

from db.records import TestCaseRecord
from ingest.pages import Page
from ingest.sources._samples_as_tests import sample_test
from ingest.statements.markdown import pre_text, to_markdown
from ingest.statements.wording import read_wording

_LIMITS = re.compile(
    r"実行時間制限\s*[:：]\s*1ケース\s*(?P<seconds>\d+(?:\.\d+)?)\s*(?:秒|sec)\s*/\s*"
    r"メモリ制限\s*[:：]\s*(?P<mib>\d+)\s*MB\s*/\s*(?P<judge>[^\s/]+)(?P<more>.*)"
)
_TOLERANCE = re.compile(
    r"(?P<kind>絶対誤差または相対誤差|絶対誤差|相対誤差)が\s*(?:\$|\\\()?\s*10\^\{?-(?P<digits>\d{1,2})\}?"
)
_PLAIN_JUDGES: Final = ("標準ジャッジ問題", "通常問題")
_KINDS: Final = (
    ("スコア", "scoring", "its page calls it a problem with scores (スコア)"),
    ("ショートコード", "scoring", "its page asks for the shortest code (ショートコード)"),
    ("ネタ", "joke", "its page calls it a joke (ネタ)"),
    ("未証明", "unproved", "its page calls it unproved (未証明): its answers may be wrong"),
)
_KANA = re.compile("[\u3041-\u30fa]")


@dataclass(frozen=True)
class Statement:
    """What a problem's page says."""

    markdown: str
    language: str | None
    time_limit_s: float
    memory_limit_bytes: int
    comparison: dict[str, Any]
    samples: tuple[TestCaseRecord, ...]
    flags: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]


def read_statement(page: Page, number: str) -> Statement:
    """The page of a problem: its blocks as Markdown, its limits, how it is judged, its samples.

    ``PageChanged`` names what is not there: the title with the problem's number, the line of the limits, a block.
    """
    content = page.one(page.whole_soup(), "#content")
    title = page.one(content, "h3")
    if not re.search(rf"No\.\s*{number}(?!\d)", title.get_text()):
        raise page.changed(f"has another title than that of No.{number}: {title.get_text().strip()[:80]!r}")
    blocks = [block for block in content.select("div.block") if not block.select_one("form, textarea")]
    own_blocks = {id(block) for block in blocks}
    blocks = [block for block in blocks if not any(id(parent) in own_blocks for parent in block.parents)]
    if not blocks:
        raise page.changed("has no 'div.block' with a statement")
    limits = _LIMITS.search(_text_before(content, blocks[0]))
    if limits is None:
        raise page.changed("has no line with 実行時間制限, メモリ制限 and the kind of judge")
    markdown = "\n".join(to_markdown(block, base_url=page.url) for block in blocks)
    wording = read_wording(markdown)
    judge_flags, tolerance = _judge(limits)
    samples, notes = _samples(content)
    kinds = [(name, reason) for word, name, reason in _KINDS if word in _text_before(content, title)]
    own = dict((*judge_flags, *kinds))
    return Statement(
        markdown=markdown,
        language="ja" if _KANA.search(markdown) else None,
        time_limit_s=float(limits["seconds"]),
        memory_limit_bytes=int(limits["mib"]) * 2**20,
        comparison=wording.comparison | tolerance,
        samples=() if "interactive" in own else samples,
        flags=(*own.items(), *((name, reason) for name, reason in wording.flags if name not in own)),
        notes=notes,
    )


def _text_before(content: Tag, element: Tag) -> str:
    """What stands in `content` before the child that is, or holds, the element; blanks as single spaces."""
    parts: list[str] = []
    for child in content.children:
        if child is element or any(child is parent for parent in element.parents):
            break
        if isinstance(child, Tag):
            parts.append(child.get_text(" "))
        elif type(child) is NavigableString:  # no comment
            parts.append(child)
    return " ".join(" ".join(parts).split())


def _judge(limits: re.Match[str]) -> tuple[list[tuple[str, str]], dict[str, float]]:
    """Flags and tolerances that the line of the limits gives. A kind of judge that is not known is flagged."""
    judge = limits["judge"]
    if judge in _PLAIN_JUDGES:
        return [], {}
    if "リアクティブ" in judge:
        return [("interactive", f"its judge talks with the running program ({judge})")], {}
    if "小数誤差" in judge:
        said = _TOLERANCE.search(limits["more"])
        if said is None:
            return [("custom_validator", f"it allows an error, but its page does not say how large ({judge})")], {}
        epsilon = float(f"1e-{said['digits']}")
        kinds = {"絶対誤差": ("absolute_tolerance",), "相対誤差": ("relative_tolerance",)}
        return [], dict.fromkeys(kinds.get(said["kind"], ("absolute_tolerance", "relative_tolerance")), epsilon)
    return [("custom_validator", f"its answers are judged by its own program ({judge})")], {}


def _samples(content: Tag) -> tuple[tuple[TestCaseRecord, ...], tuple[str, ...]]:
    """The samples, each with one input and one output under headings that say so; notes on those that have not."""
    found: list[TestCaseRecord] = []
    notes: list[str] = []
    for number, sample in enumerate(content.select(".sample"), start=1):
        halves: dict[str, list[str]] = {"入力": [], "出力": []}
        for pre in sample.select("pre"):
            heading = pre.find_previous_sibling(["h5", "h6"])
            text = heading.get_text() if heading else ""
            for half, english in (("入力", "input"), ("出力", "output")):
                if half in text or english in text.lower():
                    halves[half].append(pre_text(pre))
        if [len(texts) for texts in halves.values()] != [1, 1]:
            notes.append(f"sample {number} has not one input and one output: it is not taken")
            continue
        given, expected = (texts[0].encode() for texts in halves.values())
        found.append(sample_test(number, given, expected))
    return tuple(found), tuple(notes)
