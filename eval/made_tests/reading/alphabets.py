"""Which characters or values words name: "lowercase English letters and digits", "'L', 'R' and '_'", "0 or 1". Pure."""

from __future__ import annotations

import re
import string

_LETTERS = r"(?:letters|alphabets|characters|letter|character|alphabet)"
_LOWER, _UPPER = r"lower[ -]?case", r"upper[ -]?case"
_BOTH = rf"(?:{_LOWER} (?:and|or) {_UPPER}|{_UPPER} (?:and|or) {_LOWER})"
_CLASSES = tuple(
    (re.compile(pattern, re.IGNORECASE), characters)
    for pattern, characters in (
        (rf"(?:English )?{_BOTH} (?:English |Latin )?{_LETTERS}", string.ascii_letters),
        (rf"letters of the English alphabet in {_BOTH}", string.ascii_letters),
        (rf"(?:English |Latin )?{_LOWER} (?:English |Latin )?{_LETTERS}", string.ascii_lowercase),
        (rf"(?:English |Latin )?{_UPPER} (?:English |Latin )?{_LETTERS}", string.ascii_uppercase),
        (r"English letters", string.ascii_letters),
    )
)
_DIGITS = re.compile(r"(?:numeric |decimal )?digits?(?: (?:from|in the range))?(?: '(\d)' (?:to|through) '(\d)')?")
_QUOTED = re.compile(r"""(?:(?:the )?(?:characters?|letters?|digits?):? )?(?:'([^'])'|"([^"])")(?: characters?)?""")
_FROM_STRING = re.compile(r'characters? (?:from|in|of) the string "([^"]+)"(?: \(excluding the quotes\))?')
_SEPARATOR = re.compile(r"(?:, and |, or |, | and | or )(?:an? |the )?")
# AtCoder leaves the quotes out: a character is what stands alone between two separators.
_BARE_SEPARATOR = re.compile(r"(?:,? (?:and|or) |, ?(?:and |or )?)(?:an? (?!and |or )|the )?")
_BARE_OPENING = re.compile(r"(?:either |only )?(?:an? (?!and |or )|the )?")
_BARE = re.compile(
    r"(?:(?:the )?(?:characters?|letters?|digits?):? )?(?:`([^`\s])`|'([^'\s])'|\"([^\"\s])\"|(\S)(?!\S)|(\S)(?=,))"
)
_BARE_DIGITS = re.compile(r"digits?(?: (?:from|between|in the range))? (\d) (?:to|through|and) (\d)(?:, inclusive)?")
_BARE_TEXT = re.compile(r"[`'\"]?([^\s,`'\"]+)[`'\"]?")
_OPENING = re.compile(r"(?:either |only )?(?:an? |the )?")
_INTEGER = re.compile(r"(-?\d+)(?:'s)?")
_TEXT = re.compile(r'"([^"\s]+)"')


def alphabet_of(text: str, *, bare: bool = False) -> str | None:
    """The characters that a text names, in order, each once; None where something else is in it.

    ``bare``: single characters may stand without quotes ("`#`, . and x").
    """
    found: set[str] = set()
    place = _start(text, bare)
    while True:
        part = _part(text, place, bare)
        if part is None:
            return None
        characters, place = part
        found.update(characters)
        if place == len(text):
            return "".join(sorted(found))
        separator = (_BARE_SEPARATOR if bare else _SEPARATOR).match(text, place)
        if separator is None:
            return None
        place = separator.end()


def _start(text: str, bare: bool) -> int:
    opening = (_BARE_OPENING if bare else _OPENING).match(text)
    return opening.end() if opening else 0


def _part(text: str, place: int, bare: bool) -> tuple[str, int] | None:
    """The characters that the text names at a place, and where it goes on."""
    for pattern, characters in _CLASSES:
        if match := pattern.match(text, place):
            return characters, match.end()
    for pattern in (*((_BARE_DIGITS,) if bare else ()), _DIGITS):
        if match := pattern.match(text, place):
            low, high = match.groups(default="")
            return string.digits[int(low or 0) : int(high or 9) + 1], match.end()
    for pattern in (_FROM_STRING, _QUOTED, *((_BARE,) if bare else ())):
        if match := pattern.match(text, place):
            return "".join(match.groups(default="")), match.end()
    return None


def values_of(text: str, *, bare: bool = False) -> tuple[str, ...] | None:
    """The values that a text lists, integers or quoted words, as an input has them; None where something else is in it.

    ``bare``: words may stand without quotes.
    """
    for pattern in (_INTEGER, _TEXT, *((_BARE_TEXT,) if bare else ())):
        parts = (_BARE_SEPARATOR if bare else _SEPARATOR).split(text[_start(text, bare) :])
        matches = [pattern.fullmatch(part) for part in parts]
        if all(matches):
            return tuple(dict.fromkeys(match[1] for match in matches if match))
    return None
