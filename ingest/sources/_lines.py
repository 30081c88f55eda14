"""Text of a site on its way into reports: lines that are not too many, and words that can always be printed. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

MAX_LINES: Final = 20
_LONGEST_KEY: Final = 40


def capped(lines: Sequence[str]) -> tuple[str, ...]:
    """The first 20 lines, and one that counts the others."""
    more = len(lines) - MAX_LINES
    return (*lines[:MAX_LINES], *([f"and {more} more"] if more > 0 else []))


def printable(text: str) -> str:
    """`text` with escapes for what no terminal and no database takes: controls and lone surrogates."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def count_key(kind: str, value: object) -> str:
    """The key under which an entry is counted: the kind and its value, or "other" for one that is long or odd."""
    key = f"{kind} {value}"
    return key if key.isascii() and key.isprintable() and len(key) <= _LONGEST_KEY else f"{kind} other"
