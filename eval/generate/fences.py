"""The fenced code blocks of a text by the rules of CommonMark, and the languages that they name. Pure.

The reading is markdown-it's (CommonMark 0.31): fences of three or more back-ticks or tildes, indented by up to three
columns, also in lists and quotes, closed by one as long of the same character. Two departures, since answers are no
pages: HTML is text (a line ``<answer>`` must not hide the block below it), and models indent a fence and leave the code
at the margin. A block that ends only because its list item or quote does makes all fences be read again line by line,
at any indentation and without lists; and the fence's indentation is taken off the lines only where all of them have it.
"""

from __future__ import annotations

import re
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

_BLOCK_RULES = ["code", "fence", "blockquote", "list", "heading", "hr", "paragraph"]
_FLAT_RULES = ["fence", "paragraph"]


@dataclass(frozen=True)
class Block:
    """One fenced block. ``info`` is what stands behind the opening fence, ``content`` the lines between the fences as
    they are, without the indentation of the fence and with LF line ends. ``is_closed``: a closing fence was there."""

    info: str
    content: str
    is_closed: bool


class TooLong(ValueError):
    """A text beyond MAX_CHARACTERS or MAX_LINES."""


def read_blocks(text: str) -> tuple[Block, ...]:
    """All fenced blocks in their order; only the last can be open. Raises :class:`TooLong`."""
    text = with_lf(text)
    if len(text) > MAX_CHARACTERS or text.count("\n") > MAX_LINES:
        raise TooLong
    if not text.endswith("\n"):
        text += "\n"
    tokens = _parse(text, is_flat=False)
    n_lines = text.rstrip().count("\n") + 1
    if any(not _is_closed(token) and _span(token)[1] < n_lines for token in tokens):
        tokens = _parse(text, is_flat=True)
    lines = text.split("\n")
    return tuple(_block(token, lines) for token in tokens)


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


def _block(token: Token, lines: list[str]) -> Block:
    content, first = token.content, _span(token)[0]
    indent = len(lines[first]) - len(lines[first].lstrip(" "))
    if indent and token.level == 0:
        written = lines[first + 1 : first + 1 + content.count("\n")]
        if any(line.strip() and not line.startswith(" " * indent) for line in written):
            content = "".join(f"{line}\n" for line in written)
    return Block(token.info.strip(), content, _is_closed(token))


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
