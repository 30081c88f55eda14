"""The tokens of formulas in the plain text that `tex` makes. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from eval.made_tests.reading.terms import NotUnderstood
from eval.made_tests.reading.tex import SET_CLOSE, SET_OPEN

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<word>[A-Za-zℓ][A-Za-z0-9]*'*)|(?P<character>'[^']'|`[^`]`)"
    rf"|(?P<sign>\.\.\.|<=|>=|==|!=|=>|[-+*/^(){{}}\[\]|,<>=_.⋮{SET_OPEN}{SET_CLOSE}]))"
)
_MAX_CHARACTERS, _MAX_TOKENS, _MAX_WORD = 600, 250, 40
ELLIPSIS = "..."


@dataclass(frozen=True)
class Token:
    """``kind`` is "number", "word", "character" or "sign"."""

    kind: str
    text: str
    start: int
    end: int


def tokens(text: str) -> list[Token]:
    """The tokens of a text; ``NotUnderstood`` where something else is in it, or it is too long."""
    if len(text) > _MAX_CHARACTERS:
        raise NotUnderstood("the text is too long")
    found: list[Token] = []
    position = 0
    text = text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or match.lastgroup is None:
            raise NotUnderstood(f"{text[position : position + 20]!r} is no part of an expression")
        kind = match.lastgroup
        if len(found) == _MAX_TOKENS or len(match.group(kind)) > _MAX_WORD:
            raise NotUnderstood("the text is too long")
        found.append(Token(kind, match.group(kind), match.start(kind), match.end()))
        position = match.end()
    return found
