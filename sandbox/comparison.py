"""Hold an output against the expected one: bytes, then lines, then tokens. Pure; works on bytes, never raises.

Rules: numbers are compared with a tolerance only where one is declared or where the expected token is written as a
non-integer; NaN equals nothing; integers are text, however long; what is not UTF-8 is compared as bytes.
"""

from __future__ import annotations

import math
import re

from sandbox.programs import Comparison

# A number as problem statements write it; `nan`, `inf`, underscores and hex, which float() takes, are not among them.
# No two ways to match the same digits: the tokens come from programs that may wish to keep the judge busy.
_INTEGER = re.compile(rb"[+-]?[0-9]+\Z")
_NUMBER = re.compile(rb"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\Z")


def first_difference(expected: bytes, got: bytes, comparison: Comparison) -> str | None:
    """None when ``got`` is right; else one line that says where the first difference is."""
    if expected == got:
        return None
    if comparison.space_sensitive:
        return _compare_spaced(expected, got, comparison)
    expected_tokens, got_tokens = expected.split(), got.split()
    for index, (wanted, given) in enumerate(zip(expected_tokens, got_tokens, strict=False), start=1):
        if wanted != given and not _same_token(wanted, given, comparison):
            return f"token {index}: expected {_show(wanted)}, got {_show(given)}"
    if len(expected_tokens) != len(got_tokens):
        return f"expected {len(expected_tokens)} tokens, got {len(got_tokens)}"
    return None


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
    got_parts = re.split(rb"(\s+)", got.rstrip(b"\r\n"))
    for wanted, given in zip(expected_parts, got_parts, strict=False):
        if wanted != given and (wanted.isspace() or not _same_token(wanted, given, comparison)):
            return f"expected {_show(wanted)}, got {_show(given)}"
    if len(expected_parts) != len(got_parts):
        return f"expected {len(expected_parts)} parts, got {len(got_parts)}"
    return None


def _same_token(wanted: bytes, given: bytes, comparison: Comparison) -> bool:
    assumed = comparison.assume_tolerance and not _INTEGER.match(wanted)
    if _NUMBER.match(wanted) and (comparison.declares_tolerance or assumed):
        return _NUMBER.match(given) is not None and close(float(wanted), float(given), comparison)
    return not comparison.case_sensitive and _folded(wanted) == _folded(given)


def _folded(token: bytes) -> bytes:
    try:
        return token.decode().casefold().encode()
    except UnicodeDecodeError:
        return token


def _show(token: bytes, width: int = 40) -> str:
    text = token.decode(errors="backslashreplace")
    return repr(text if len(text) <= width else text[: width - 1] + "…")
