"""The sentences of a statement in Markdown, each with the part of the statement that it stands in. Pure.

Statements without marks are read as well: there a heading is a line with nothing but one of the known names in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum


def any_of(*alternatives: str) -> re.Pattern[str]:
    """A pattern that fits where one of the alternatives does."""
    return re.compile("|".join(f"(?:{alternative})" for alternative in alternatives))


class Part(Enum):
    """A part of a statement. What has no heading of its own belongs to the task."""

    TASK = "task"
    INPUT = "input"
    OUTPUT = "output"
    INTERACTION = "interaction"
    SCORING = "scoring"
    CONSTRAINTS = "constraints"
    SAMPLE = "sample"
    NOTE = "note"


# What headings are called, in lower case.
_NAMES = {
    Part.SAMPLE: any_of(
        r"(?:sample|example)s?(?: (?:test ?case|case|input|output|tests?|interaction)s?)?(?: ?/ ?output)?(?: ?#?\d+)?",
        r"(?:input|output) example(?: \d+)?|sample explanation(?: \d+)?",
        r"(?:入力|出力|入出力)例.*|サンプル.*",
        r"примеры?|пример \d+",
    ),
    Part.INPUT: any_of(
        r"input(?: (?:format|specification|data))?|入力|入力形式",
        r"входн(?:ые|ой) (?:данные|файл)|формат входных данных",
    ),
    Part.OUTPUT: any_of(
        r"outputs?(?: (?:format|specification|data))?|出力|出力形式",
        r"выходн(?:ые|ой) (?:данные|файл)|формат выходных данных",
    ),
    Part.INTERACTION: any_of(
        r"interaction(?: (?:protocol|format|details))?|interactive(?: problem| task)?",
        r"протокол взаимодействия|взаимодействие|インタラクション|対話",
    ),
    Part.SCORING: any_of(
        r"scoring(?: system)?|score calculation|grading|sub-?tasks?|partial (?:points?|scores?|credit)",
        r"配点|部分点|得点|採点|小課題|система оценки|оценивание|подзадачи",
    ),
    Part.CONSTRAINTS: any_of(r"constraints?|limits|制約|ограничения"),
    Part.NOTE: any_of(
        r"notes?|explanations?|hints?|remarks?|follow[- ]?up",
        r"補足|注意|ヒント|説明|解説|замечани[ея]|примечани[ея]",
    ),
    Part.TASK: any_of(r"problem|problem statement|statement|description|task|問題|問題文|условие|条件"),
}

_MAX_CHARACTERS = 300
_LEAD_CHARACTERS = 20
# A sentence goes on in the next line where the text was wrapped: in a line of this length, or in small letters.
_WRAPPED_CHARACTERS = 60
# Longer ones are data, and rules that look far would take long for them.
_LONGEST_CHARACTERS = 2000
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*)")
_BOLD_LINE = re.compile(r"\s*\*\*(.+?)\*\*\s*:?\s*")
_BULLET = re.compile(r"\s*(?:[*+\-•・]|\d{1,3}[.)])\s+")
_FENCE = re.compile(r"[\s>]*(`{3,})[^`]*")
_LINE_END = re.compile(r"[.!?:;。．！？：]['\"”’)\]`*$]*\s*$")
_SMALL_LETTER = re.compile(r"[a-zа-я]")
_ABBREVIATIONS = (r"e\.g\.", r"i\.e\.", r"vs\.", r"[Cc]f\.", r"etc\.", r"No\.", r"[Ff]ig\.", r"т\.е\.", r"т\. е\.")
_STOP = any_of(
    # a stop, perhaps within marks, before a blank and what can begin a sentence
    "".join(rf"(?<!\b{short})" for short in _ABBREVIATIONS)
    + r"""(?:(?<=[.!?])|(?<=[.!?][)\]"'”’`*$])|(?<=[.!?][)\]"'”’`*$]{2}))\s+(?=[^a-zа-я\s])""",
    r"(?<=[。！？])(?![)）」』])\s*",
)
_MARKS = any_of(
    r"!\[[^\[\]]*\]\([^()\s]*\)",
    r"\]\([^()\s]*\)",
    r"\[(?=[^\[\]]*\]\()",
    "[*`$\u200b]",
    r"\\[,;:! ]",
)


@dataclass(frozen=True)
class Sentence:
    """``text`` as it stands in the Markdown, on one line; ``plain`` in lower case and without marks, to look for words.

    ``is_heading`` is for the lines that only say what comes.
    """

    text: str
    plain: str
    part: Part
    is_heading: bool = False

    def around(self, start: int) -> str:
        """The sentence, cut to 300 characters where it is longer, with what begins at ``plain[start]`` in it."""
        if len(self.text) <= _MAX_CHARACTERS:
            return self.text
        room = _MAX_CHARACTERS - 2
        begin = min(max(0, _positions(self.text)[start] - _LEAD_CHARACTERS), len(self.text) - room)
        cut = self.text[begin : begin + room]
        return f"{'…' if begin else ''}{cut.strip()}{'…' if begin + room < len(self.text) else ''}"


def sentences(markdown: str) -> Iterator[Sentence]:
    """The sentences of a statement in their order, without those in code."""
    part = Part.TASK
    for block, is_heading in _blocks(markdown):
        if is_heading:
            part = _named_part(block) or (part if part is Part.SAMPLE else Part.TASK)
            yield Sentence(block, plain_text(block), part, is_heading=True)
            continue
        for text in _split(block):
            yield Sentence(text, plain_text(text), part)


def plain_text(text: str) -> str:
    """The text in lower case and without the marks of Markdown, images and addresses."""
    plain = _MARKS.sub("", text)
    lowered = plain.lower()
    if len(lowered) != len(plain):
        lowered = "".join(char.lower() for char in plain if len(char.lower()) == 1)
    return lowered.replace("\u2019", "'")


def _positions(text: str) -> list[int]:
    """Where in the text each character of its plain form stands: the few that lower() lengthens are not in it."""
    marked = {index for match in _MARKS.finditer(text) for index in range(match.start(), match.end())}
    return [index for index, char in enumerate(text) if index not in marked and len(char.lower()) == 1]


def _blocks(markdown: str) -> Iterator[tuple[str, bool]]:
    """Paragraphs, items and headings as single lines; True for headings."""
    held: list[str] = []
    fence = ""
    for line in [*markdown.split("\n"), ""]:
        opening = _FENCE.fullmatch(line)
        if fence:
            fence = "" if opening and opening[1].startswith(fence) else fence
            continue
        heading = "" if opening else _heading_of(line)
        bullet = _BULLET.match(line)
        if held and (opening or heading or bullet or not line.strip() or not _goes_on(held[-1], line)):
            yield " ".join(" ".join(held).split()), False
            held = []
        if opening:
            fence = opening[1]
        elif heading:
            yield heading, True
        elif line.strip():
            held.append(line[bullet.end() :] if bullet else line)


def _heading_of(line: str) -> str:
    """The words of a heading; an empty string for any other line."""
    if match := _HEADING.fullmatch(line):
        return " ".join(match[1].rstrip().rstrip("#").split())
    bold = _BOLD_LINE.fullmatch(line)
    words = " ".join((bold[1] if bold else line).split()).rstrip(":：").rstrip()
    return words if len(words) <= _WRAPPED_CHARACTERS and _named_part(words) else ""


def _named_part(heading: str) -> Part | None:
    words = plain_text(heading).strip().rstrip(":：").rstrip()
    return next((part for part, names in _NAMES.items() if names.fullmatch(words)), None)


def _goes_on(line: str, following: str) -> bool:
    if _LINE_END.search(line):
        return False
    return len(line) >= _WRAPPED_CHARACTERS or _SMALL_LETTER.match(following.strip()) is not None


def _split(block: str) -> Iterator[str]:
    for piece in _STOP.split(block):
        for start in range(0, len(piece), _LONGEST_CHARACTERS):
            if text := piece[start : start + _LONGEST_CHARACTERS].strip():
                yield text
