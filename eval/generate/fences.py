"""The fenced code blocks of a text, and the languages that they name. Pure.

`read_blocks` reads as markdown-it does (CommonMark 0.31): fences of three or more back-ticks or tildes, indented by up
to three columns, also in lists and quotes, closed by one as long of the same character. Two departures, since answers
are no pages: HTML is text (a line ``<answer>`` must not hide the block below it), and models indent a fence and leave
the code at the margin. A block that ends only because its list item or quote does makes all fences be read again line
by line, at any indentation and without lists; and the fence's indentation is taken off the lines only where all of them
have it.

`read_loosely` reads what models mean by fences that are none to CommonMark, line by line:

- "```python" at the end of a line opens a block, whatever stands before it ("Solution: ```python");
- a closing fence may stand at the end of the last line of code ("main()```"), and a mark may stand behind it
  ("```</answer>");
- a block of markdown is no block: what is fenced inside it is;
- of two opening fences with nothing between them the second counts;
- a fence inside a text of the program (a docstring) does not close the block, where the caller says that the program
  would be broken there and is not at one of the next MAX_INNER closing fences.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from sandbox import languages

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_CHARACTERS = 1 << 20
MAX_LINES = 20_000
"""What is longer is not read as blocks: the parser takes up to 40 µs a line (a list of empty items)."""
MAX_INNER = 8

_BLOCK_RULES = ["code", "fence", "blockquote", "list", "heading", "hr", "paragraph"]
_FLAT_RULES = ["fence", "paragraph"]


@dataclass(frozen=True)
class Block:
    """One fenced block. ``info`` is what stands behind the opening fence, ``content`` the lines between the fences as
    they are, without the indentation of the fence and with LF line ends. ``is_closed``: a closing fence was there.
    ``lead`` is the last line with words before the block, behind any block before it."""

    info: str
    content: str
    is_closed: bool
    lead: str = ""


class TooLong(ValueError):
    """A text beyond MAX_CHARACTERS or MAX_LINES."""


def read_blocks(text: str) -> tuple[Block, ...]:
    """All fenced blocks in their order; only the last can be open. Raises :class:`TooLong`."""
    text = _checked(text)
    tokens = _parse(text, is_flat=False)
    n_lines = text.rstrip().count("\n") + 1
    if any(not _is_closed(token) and _span(token)[1] < n_lines for token in tokens):
        tokens = _parse(text, is_flat=True)
    lines = text.split("\n")
    ends = [0, *(_span(token)[1] for token in tokens)]
    return tuple(_block(token, lines, end) for token, end in zip(tokens, ends, strict=False))


def _checked(text: str) -> str:
    text = with_lf(text)
    if len(text) > MAX_CHARACTERS or text.count("\n") > MAX_LINES:
        raise TooLong
    return text if text.endswith("\n") else f"{text}\n"


@dataclass(frozen=True)
class Fence:
    """A line with a fence: where the line begins and ends, what stands before the fence and behind it."""

    start: int
    end: int
    before: str
    mark: str
    behind: str

    @property
    def opens(self) -> bool:
        """Whether a block may begin here: behind other words only one with a tag does, or one behind a colon."""
        if "`" in self.before or "`" in self.behind:
            return False
        return not self.before.strip() or bool(self.behind.strip()) or self.before.rstrip().endswith(":")

    def closes(self, opening: Fence) -> bool:
        """Whether a block that was opened so ends here."""
        if self.mark[0] != opening.mark[0] or len(self.mark) < len(opening.mark) or self.mark[0] in self.before:
            return False
        return _TAIL.fullmatch(self.behind) is not None and not (self.before.strip() and self.behind.strip())


_FENCE = re.compile(
    r"^(?P<before>(?:[^`~\n]++|`(?!``)|~(?!~~))*+)(?P<mark>`{3,}+|~{3,}+)(?P<behind>[^\n]*+)$", re.MULTILINE
)
_TAIL = re.compile(r"[ \t]*(?:[<\[).,;*\"'][^`]*)?")


def fences(text: str) -> Iterator[Fence]:
    """The first fence of each line that has one, at whatever place of the line."""
    for match in _FENCE.finditer(text):
        yield Fence(match.start(), match.end(), match["before"], match["mark"], match["behind"])


def ends_in_block(text: str) -> bool:
    """Whether a text breaks off inside a fenced block."""
    block: Fence | None = None
    for fence in fences(text):
        if block is None:
            block = fence if fence.opens else None
        elif fence.closes(block):
            block = None
    return block is not None


def read_loosely(text: str, is_broken: Callable[[Block], bool]) -> tuple[Block, ...]:
    """All blocks in their order as models mean them; only the last can be open. Raises :class:`TooLong`.

    ``is_broken`` says whether a program ends inside one of its own texts.
    """
    text = _checked(text)
    lines = [one for one in fences(text) if tag_of(one.behind) not in _MARKDOWN]
    blocks: list[Block] = []
    place, end = 0, 0
    while place < len(lines):
        opening = lines[place]
        place += 1
        if not opening.opens:
            continue
        if place < len(lines) and _is_opened_again(text, opening, lines[place]):
            continue
        lead = _lead(text[end : opening.start].split("\n"), opening.before)
        closings = (at for at in range(place, len(lines)) if lines[at].closes(opening))
        first = next(closings, None)
        if first is None:
            blocks.append(_loose_block(text, opening, len(text), lead, is_closed=False))
            break
        block, last = _loose_block(text, opening, _content_end(lines[first]), lead), first
        if is_broken(block):
            for _, at in zip(range(MAX_INNER), closings, strict=False):
                longer = _loose_block(text, opening, _content_end(lines[at]), lead)
                if not is_broken(longer):
                    block, last = longer, at
                    break
        blocks.append(block)
        place, end = last + 1, lines[last].end
    return tuple(blocks)


_MARKDOWN = frozenset({"markdown", "md"})


def _is_opened_again(text: str, opening: Fence, following: Fence) -> bool:
    is_opening = not following.before.strip() and bool(language_of(tag_of(following.behind)))
    return is_opening and not text[opening.end : following.start].strip()


def _content_end(closing: Fence) -> int:
    return closing.start + len(closing.before) if closing.before.strip() else closing.start


def _loose_block(text: str, opening: Fence, end: int, lead: str, *, is_closed: bool = True) -> Block:
    content = text[opening.end + 1 : end]
    if content and not content.endswith("\n"):
        content += "\n"
    indent = "" if opening.before.strip() else opening.before
    written = content.split("\n")
    if indent and all(line.startswith(indent) for line in written if line.strip()):
        content = "\n".join(line[len(indent) :] for line in written)
    return Block(opening.behind.strip(), content, is_closed, lead)


def _lead(lines: list[str], before: str = "") -> str:
    return next((line.strip() for line in (before, *reversed(lines)) if line.strip()), "")


def with_lf(text: str) -> str:
    """The text with line ends LF, as CommonMark and every language here read them."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _parse(text: str, *, is_flat: bool) -> list[Token]:
    parser = _parser(is_flat)
    tokens: list[Token] = []
    # The block parser alone: the rest of markdown-it reads words, and changes NULs.
    parser.block.parse(text, parser, {}, tokens)
    return [token for token in tokens if token.type == "fence"]


def _span(token: Token) -> tuple[int, int]:
    """The numbers of the opening fence's line and of the line behind the block."""
    assert token.map is not None
    first, end = token.map
    return first, end


def _is_closed(token: Token) -> bool:
    # Every line of the content ends with LF; a closing fence is one line more.
    first, end = _span(token)
    return end - first == token.content.count("\n") + 2


def _block(token: Token, lines: list[str], end_before: int) -> Block:
    content, first = token.content, _span(token)[0]
    indent = len(lines[first]) - len(lines[first].lstrip(" "))
    if indent and token.level == 0:
        written = lines[first + 1 : first + 1 + content.count("\n")]
        if any(line.strip() and not line.startswith(" " * indent) for line in written):
            content = "".join(f"{line}\n" for line in written)
    return Block(token.info.strip(), content, _is_closed(token), _lead(lines[end_before:first]))


@cache
def _parser(is_flat: bool) -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark")
    parser.block.ruler.enableOnly(_FLAT_RULES if is_flat else _BLOCK_RULES)
    return parser


_ATTRIBUTES = re.compile(r"[\s,{}]+")
_VERSION = re.compile(r"\d[\d.]*")
_PREFIXES = re.compile(r"^(?:\.|language-|lang-|code-cell$|=)")
_ALIASES = {
    "ipython": "python3",
    "ipython3": "python3",
    "mjs": "javascript",
    "cjs": "javascript",
    "ecmascript": "javascript",
}
NEUTRAL_TAGS = frozenset(
    """
    text txt plain plaintext plain-text code source solution answer final program main none tool_code
    """.split()  # noqa: SIM905 - one word a line would be no easier to read
)
"""Tags that name no language: such a block counts as one without a tag."""
PROSE_TAGS = frozenset(
    """
    output stdout stderr input stdin sample example test tests testcase result console terminal shell-session sh-
    session shellsession bash sh shell zsh cmd powershell ps1 bat diff patch json jsonl yaml yml toml ini csv tsv
    xml html markdown md latex tex math mermaid dot graphviz ascii log traceback error pycon pytb pseudocode pseudo
    algorithm makefile dockerfile
    """.split()  # noqa: SIM905 - one word a line would be no easier to read
)
"""Tags of what is not the program that was asked for, in whatever language."""


def tag_of(info: str) -> str:
    """The language's name in an info string, in lower case: "" where there is none.

    ``python``, ``Python 3``, ``py title="x"``, ``{.python .numberLines}``, ``language-python``, ``python:main.py``,
    ``{code-cell} ipython3``.
    """
    words = [_PREFIXES.sub("", word.lower()) for word in _ATTRIBUTES.split(info[:200])]
    words = [word for word in words if word]
    if not words or "=" in words[0]:
        return ""
    if len(words) > 1 and _VERSION.fullmatch(words[1]):
        return f"{words[0]} {words[1]}"
    return words[0]


def language_of(tag: str) -> str | None:
    """The sandbox's name of the language that a tag (or a file's name in its place) means; None for others."""
    for name in (tag, tag.partition(":")[0]):
        found = _ALIASES.get(name) or languages.canonical(name) or languages.by_suffix(PurePosixPath(name).suffix)
        if found is not None:
            return found
    return None
