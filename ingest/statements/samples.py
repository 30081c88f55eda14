"""Samples of a statement, found by their headings: one finder for HTML and for plain text. Pure.

A ``<pre>`` alone says nothing: formats, drawings and explanations stand in one too. A sample is the first preformatted
block below a heading that calls it one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bs4 import Tag

from ingest.statements.markdown import pre_text

_MARKED = ("h1", "h2", "h3", "h4", "h5", "h6", "p", "pre")
# The heading of an output may name its input too ("入力例 1 に対する出力例", "Output for Sample Input 1").
_OUTPUT = (
    r"(?:入力例\s*[0-9]*\s*に対する)?出力例|(?:sample|example) outputs?(?: for (?:the )?(?:sample )?input)?"
    r"|outputs? (?:sample|example)|outputs? for (?:the )?sample input"
)
_INPUT = r"入力例|(?:sample|example) inputs?|inputs? (?:sample|example)"
_LABEL = re.compile(
    rf"(?:(?P<output>{_OUTPUT})|{_INPUT})\s*#?\s*(?P<number>[0-9]+(?:-[0-9]+)?)?\s*(?:\([^()]*\))?", re.IGNORECASE
)
# Some texts lost the line break between the end of the statement and its first sample.
_GLUED = re.compile(r"(?<=\S)(?:Sample|Example) (?:Input|Output) [0-9]+:\Z")
_ORNAMENTS = " :.[]【】■●◆・"


@dataclass(frozen=True)
class Block:
    """A heading of a statement, or one of its preformatted blocks."""

    text: str
    is_heading: bool = False


@dataclass(frozen=True)
class Samples:
    """What was found. ``pairs`` are (input, output); ``unpaired`` the headings that lack a block or their partner."""

    pairs: tuple[tuple[str, str], ...] = ()
    unpaired: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Label:
    """The heading of one half of a sample."""

    text: str
    is_output: bool
    number: str | None

    def answers(self, other: _Label) -> bool:
        """Whether this output belongs to that input, as far as their numbers say."""
        return self.number is None or other.number is None or self.number == other.number


def find_samples(blocks: Iterable[Block]) -> Samples:
    """The samples among the blocks, in their order: an input, then the output with the same number."""
    pairs: list[tuple[str, str]] = []
    unpaired: list[str] = []
    waiting: tuple[_Label, str] | None = None
    for label, text in _labelled(blocks):
        if waiting is not None and text is not None and label.is_output and label.answers(waiting[0]):
            pairs.append((waiting[1], text))
            waiting = None
            continue
        if waiting is not None:
            unpaired.append(waiting[0].text)
        waiting = None if label.is_output or text is None else (label, text)
        if waiting is None:
            unpaired.append(label.text)
    if waiting is not None:
        unpaired.append(waiting[0].text)
    return Samples(tuple(pairs), tuple(unpaired))


def _labelled(blocks: Iterable[Block]) -> Iterator[tuple[_Label, str | None]]:
    """Each heading of a sample with the first block below it; None where the next heading comes first."""
    label: _Label | None = None
    for block in blocks:
        if block.is_heading:
            if label is not None:
                yield label, None
            label = _read_label(block.text)
        elif label is not None:
            yield label, block.text
            label = None
    if label is not None:
        yield label, None


def _read_label(text: str) -> _Label | None:
    """What a heading calls the block below it; None for any other heading."""
    plain = " ".join(unicodedata.normalize("NFKC", text).split())
    match = _LABEL.fullmatch(plain.strip(_ORNAMENTS))
    return match and _Label(plain, match["output"] is not None, match["number"])


def html_blocks(element: Tag) -> Iterator[Block]:
    """The headings and ``<pre>`` of a statement in HTML, in their order, however they are nested.

    A paragraph counts as a heading where it holds nothing but a sample's name.
    """
    for tag in element.find_all(_MARKED):
        if tag.name == "pre":
            yield Block(pre_text(tag))
        elif tag.name != "p" or _read_label(tag.get_text()):
            yield Block(tag.get_text(), is_heading=True)


def text_blocks(text: str) -> Iterator[Block]:
    """The headings and the text of samples in a statement as plain text.

    A sample stands below its heading, after as many blank lines as below the others, and ends before the next blank
    line; one more blank line below the heading is an empty sample. Where a text has both kinds of line ends, as when
    the markup's LF was put around blocks of a page with CRLF, a line that ends in CRLF is part of the block and so
    never the blank line after it. An input that follows its heading at once goes on to the next heading, and its blank
    lines are not its own: there each line was an element.
    """
    lines = _without_common_cr(text).split("\n")
    labels = [(place, label) for place, line in enumerate(lines) if (label := _label_at_end(line))]
    ends = [place for place, _ in labels[1:]] + [len(lines)]
    bodies = [lines[place + 1 : end] for (place, _), end in zip(labels, ends, strict=False)]
    gap = min((count for body in bodies if (count := _first_line(body))), default=1)
    for (_, label), body in zip(labels, bodies, strict=True):
        yield Block(label.text, is_heading=True)
        if _first_line(body) == 0 and not label.is_output:
            block = [line for line in body if line]
        else:
            block = body[min(gap, _first_line(body)) :]
            block = block[: block.index("")] if "" in block else block
        yield Block("".join(line.removesuffix("\r") + "\n" for line in block))


def _without_common_cr(text: str) -> str:
    """`text` with LF, where all its line ends are CRLF."""
    return text.replace("\r\n", "\n") if text.count("\r\n") == text.count("\n") else text


def _label_at_end(line: str) -> _Label | None:
    """The sample's heading that a line is, or ends with."""
    glued = _GLUED.search(line)
    return _read_label(glued[0] if glued else line)


def _first_line(lines: list[str]) -> int:
    """The place of the first line that is not blank."""
    return next((place for place, line in enumerate(lines) if line), len(lines))
