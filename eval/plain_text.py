"""Text from outside as one line that shows what it says: nothing hidden in it, nothing that turns its order. Pure."""

from __future__ import annotations

from unicodedata import category

_REORDERING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_NO_CHARACTERS = frozenset({"Cc", "Cs", "Cn"})


def one_line(text: str) -> str:
    """Text on one line, without marks that turn its order; what is no character to be shown is U+FFFD."""
    kept = (char for char in text if char not in _REORDERING)
    drawn = "".join(char if char.isspace() or category(char) not in _NO_CHARACTERS else "\ufffd" for char in kept)
    return " ".join(drawn.split())
