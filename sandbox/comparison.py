"""Hold an output against the expected one: bytes, then tokens, in their order or in any. Pure; works on any bytes.

Rules: numbers are compared with a tolerance only where one is declared or where the expected token is written as a
non-integer; NaN equals nothing, itself not either; integers are text, however long; what is not UTF-8 is compared as
bytes; letter case, where it does not count, is that of ASCII (as strcasecmp has it in Kattis' default validator).

No more of an output is taken apart than the expected one has parts: it may be there to keep the judge busy.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable
from itertools import islice

from sandbox.excerpts import excerpt
from sandbox.matching import Item, TooMuchWork, same_items
from sandbox.programs import Comparison, Io, Unordered

# A number as problem statements write it; `nan`, `inf`, underscores and hex, which float() takes, are not among them.
# No two ways to match the same digits: the tokens come from programs that may wish to keep the judge busy.
_INTEGER = re.compile(rb"[+-]?[0-9]+\Z")
_NUMBER = re.compile(rb"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\Z")
_NAN = re.compile(rb"[+-]?nan\Z", re.IGNORECASE)
_NAN_AMONG_TOKENS = re.compile(rb"(?<!\S)[+-]?nan(?!\S)", re.IGNORECASE)
_TOKEN = re.compile(rb"\S+")
_LINE = re.compile(rb"\S[^\n]*")  # from its first token on


def first_difference(expected: bytes, got: bytes, comparison: Comparison) -> str | None:
    """None when ``got`` is right; else one line that says where the first difference is.

    ``ValueError`` for a comparison that is one for values.
    """
    comparison.require_for(Io.STDIN)
    if expected == got and not _has_nan(got):
        return None
    if comparison.unordered is not None:
        return _compare_unordered(expected, got, comparison)
    if comparison.space_sensitive:
        return _compare_spaced(expected, got, comparison)
    expected_tokens = expected.split()
    got_tokens = got.split(None, len(expected_tokens))
    for index, (wanted, given) in enumerate(zip(expected_tokens, got_tokens, strict=False), start=1):
        if not _agree(wanted, given, comparison):
            return f"token {index}: expected {_show(wanted)}, got {_show(given)}"
    return _other_count("tokens", len(expected_tokens), len(got_tokens))


def _has_nan(text: bytes) -> bool:
    return b"nan" in text.lower() and _NAN_AMONG_TOKENS.search(text) is not None


def close(wanted: float, given: float, comparison: Comparison) -> bool:
    """Whether two numbers agree within the declared tolerances, or the default where none is declared.

    False where one is not finite: infinity is what is left of every number beyond the range of floats.
    """
    if not (math.isfinite(wanted) and math.isfinite(given)):
        return False
    absolute, relative = comparison.absolute_tolerance, comparison.relative_tolerance
    if not comparison.declares_tolerance:
        absolute = relative = comparison.DEFAULT_TOLERANCE
    difference = abs(wanted - given)
    return difference <= (absolute or 0.0) or difference <= (relative or 0.0) * abs(wanted)


def _compare_spaced(expected: bytes, got: bytes, comparison: Comparison) -> str | None:
    expected_parts = re.split(rb"(\s+)", expected.rstrip(b"\r\n"))
    got_parts = re.split(rb"(\s+)", got.rstrip(b"\r\n"), maxsplit=len(expected_parts))
    for wanted, given in zip(expected_parts, got_parts, strict=False):
        if (wanted != given and wanted.isspace()) or not _agree(wanted, given, comparison):
            return f"expected {_show(wanted)}, got {_show(given)}"
    return _other_count("parts", len(expected_parts), len(got_parts))


def _other_count(what: str, expected: int, got: int) -> str | None:
    """What is wrong with the number of parts, of which no more than one too many was taken."""
    if got > expected:
        return f"expected {expected} {what}, got more"
    return f"expected {expected} {what}, got {got}" if got < expected else None


class _Tokens:
    """How tokens that are numbers agree, for :mod:`sandbox.matching`."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison

    def is_tolerant(self, wanted: bytes) -> bool:
        return _has_tolerance(wanted, self._comparison)

    def key(self, number: bytes) -> bytes:
        return number if self._comparison.case_sensitive else number.lower()

    def value(self, number: bytes) -> float:
        return float(number)

    def agree(self, wanted: bytes, given: bytes) -> bool:
        return _agree(wanted, given, self._comparison)

    def item(self, tokens: list[bytes]) -> Item:
        numbers = [token for token in tokens if _is_finite(token)]
        return Item(tuple(map(self._skeleton, tokens)), tuple(numbers))

    def _skeleton(self, token: bytes) -> Hashable:
        if _is_finite(token):
            return None
        return object() if _NAN.match(token) else self.key(token)  # an object agrees with nothing


def _is_finite(token: bytes) -> bool:
    return _NUMBER.match(token) is not None and math.isfinite(float(token))


def _compare_unordered(expected: bytes, got: bytes, comparison: Comparison) -> str | None:
    in_lines = comparison.unordered is Unordered.LINES
    what = "lines" if in_lines else "tokens"
    part = _LINE if in_lines else _TOKEN
    wanted = [found.split() for found in part.findall(expected)]
    found_parts = list(islice(part.finditer(got), len(wanted) + 1))
    difference = _other_count(f"{what} in any order", len(wanted), len(found_parts))
    n_tokens = sum(map(len, wanted))
    difference = difference or _other_count("tokens", n_tokens, len(got.split(None, n_tokens)))
    if difference is not None:
        return difference
    given = [found[0].split() for found in found_parts]
    rule = _Tokens(comparison)
    try:
        if same_items(list(map(rule.item, wanted)), list(map(rule.item, given)), rule):
            return None
    except TooMuchWork:
        return f"too many {what} with a tolerance to find out whether they agree in some order"
    shown = Counter(map(b" ".join, wanted)) - Counter(map(b" ".join, given))
    return f"in any order: no {what[:-1]} for {_show(next(iter(shown), b''))}"


def _agree(wanted: bytes, given: bytes, comparison: Comparison) -> bool:
    if wanted == given:
        return not _NAN.match(given)
    return _same_token(wanted, given, comparison) and not _NAN.match(given)


def _same_token(wanted: bytes, given: bytes, comparison: Comparison) -> bool:
    if _has_tolerance(wanted, comparison):
        return _NUMBER.match(given) is not None and close(float(wanted), float(given), comparison)
    return not comparison.case_sensitive and wanted.lower() == given.lower()


def _has_tolerance(wanted: bytes, comparison: Comparison) -> bool:
    assumed = comparison.assume_tolerance and not _INTEGER.match(wanted)
    return (comparison.declares_tolerance or assumed) and _NUMBER.match(wanted) is not None


def _show(token: bytes) -> str:
    return f"'{excerpt(token, 40)}'"
