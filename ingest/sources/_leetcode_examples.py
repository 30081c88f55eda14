"""The examples that a LeetCode statement shows: what stands after "Input" and after "Output". Pure.

The outputs of LeetCode's tests are in no field of its answers, only in the statement. One finder reads all its markups
(``<pre>``, ``div.example-block``, bare lines, one "Example:" without a number, labels without a colon) and plain text,
since the tree of a page is made plain text first, in which each label begins a line.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NoReturn

from bs4 import Tag
from bs4.element import NavigableString

from ingest.errors import BadRow

_BLOCKS = frozenset(
    {"blockquote", "dd", "div", "dl", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "table"}
    | {"td", "th", "tr", "ul"}
)
_WORDS = r"(?:Input|Output|Explanations?|Examples?|Constraints?|Notes?|Follow[ -]?up)"
_LABEL = re.compile(rf"^[ \t]*(?P<word>{_WORDS})[ \t]*(?:\d+[ \t]*)?(?::|$)", re.IGNORECASE | re.MULTILINE)
_BOLD_LABEL = re.compile(rf"\s*{_WORDS}(?:[ \t]*\d+)?\s*(?::\s*)?", re.IGNORECASE)
_SPACES = re.compile(r"[ \t\r\n]+")
_BEFORE_ARGUMENT = re.compile(r"[\s,;]*(?:[A-Za-z_]\w*[ \t]*=\s*)?", re.ASCII)
_VALUE_BEGINS = frozenset('[{"-0123456789')


@dataclass(frozen=True)
class Example:
    """One example as its statement shows it: ``given`` stands after "Input", ``answer`` after "Output"."""

    given: str
    answer: str


def examples_of(statement: Tag) -> tuple[Example, ...]:
    """The examples in the tree of a statement, in their order."""
    return find_examples(_plain_text(statement, in_pre=False))


def find_examples(text: str) -> tuple[Example, ...]:
    """The examples in a plain text: a line that begins with "Input", and the next label is "Output".

    A label has a colon or stands alone on its line; an answer goes on to the next label.
    """
    text = text.replace("\r\n", "\n").replace("\u00a0", " ")
    labels = list(_LABEL.finditer(text))
    ends = [*(label.start() for label in labels[1:]), len(text)]
    parts = [(label["word"].lower(), text[label.end() : end].strip()) for label, end in zip(labels, ends, strict=False)]
    return tuple(
        Example(given, answer)
        for (first, given), (second, answer) in pairwise(parts)
        if (first, second) == ("input", "output")
    )


def read_arguments(given: str) -> list[Any] | None:
    """The values of ``nums = [1,2], k = 3``, with names or without; None when a part of it is no JSON value."""
    values = []
    position = _past_name(given, 0)
    while position < len(given):
        try:
            value, position = read_json(given, position)
        except BadRow:
            return None
        values.append(value)
        position = _past_name(given, position)
    return values


def read_lines(case: str) -> list[Any]:
    """The arguments of a test as the site's answer has them, one JSON value on each line; ``BadRow`` otherwise."""
    values = []
    for number, line in enumerate(case.split("\n"), start=1):
        text = line.strip()
        try:
            value, end = read_json(text)
        except BadRow:
            value, end = None, -1
        if end != len(text):
            raise BadRow(f"its input is not JSON in line {number}: {text[:60]!r}")
        values.append(value)
    return values


def read_answer(answer: str) -> Any:
    """The JSON value that an answer begins with; what follows on later lines is explanation, and cut.

    ``BadRow`` when it begins with none, when its line goes on, or when another value follows.
    """
    if not answer:
        raise BadRow("is empty")
    value, end = read_json(answer)
    line, _, later = answer[end:].partition("\n")
    if line.strip():
        raise BadRow(f"goes on after a value: {answer[:60]!r}")
    if later.lstrip()[:1] in _VALUE_BEGINS:
        raise BadRow(f"has more than one value: {answer[:60]!r}")
    return value


def read_json(text: str, start: int = 0) -> tuple[Any, int]:
    """The JSON value at `start`, and where it ends. ``BadRow`` when there is none; infinity and NaN are none."""
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        raise BadRow(f"is not JSON: {text[start : start + 60]!r}") from None


def answers_to(cases: Sequence[list[Any] | None], examples: Sequence[Example]) -> list[str | None]:
    """The answer to each test, given by its arguments (None: unreadable); None where no example is surely its own.

    Examples belong to the tests in the order of both when they are as many and none shows another input than its
    test has. Otherwise an example belongs to the tests whose input it shows.
    """
    shown = [read_arguments(example.given) for example in examples]
    known = [values is None or case is None or _same(values, case) for values, case in zip(shown, cases, strict=False)]
    if len(shown) == len(cases) and all(known):
        return [example.answer for example in examples]
    answers = [{e.answer for e, values in zip(examples, shown, strict=True) if _same(values, case)} for case in cases]
    return [found.pop() if len(found) == 1 else None for found in answers]


def _same(one: list[Any] | None, other: list[Any] | None) -> bool:
    """Whether both are known and the same; true is not 1 here."""
    return one is not None and other is not None and json.dumps(one) == json.dumps(other)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text} is beyond the range of numbers")
    return value


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)


def _past_name(given: str, position: int) -> int:
    match = _BEFORE_ARGUMENT.match(given, position)
    return match.end() if match else position


def _plain_text(element: Tag, *, in_pre: bool) -> str:
    """The text with a line for each block and each bold label; only in ``<pre>`` are line ends the page's own."""
    pieces: list[str] = []
    for child in element.children:
        if isinstance(child, Tag):
            pieces.append(_tag_text(child, in_pre=in_pre or child.name == "pre"))
        elif type(child) is NavigableString:  # not a comment, which is a subclass
            pieces.append(str(child) if in_pre else _SPACES.sub(" ", str(child)))
    return "".join(pieces)


def _tag_text(tag: Tag, *, in_pre: bool) -> str:
    if tag.name == "br":
        return "\n"
    text = _plain_text(tag, in_pre=in_pre)
    if tag.name in _BLOCKS:
        return f"\n{text}\n"
    if tag.name in ("strong", "b") and _BOLD_LABEL.fullmatch(text):
        return f"\n{text}"
    return text
