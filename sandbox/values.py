"""Hold a returned value against the expected one, both as JSON text. Pure.

A bool is never a number, and a non-integer never an integer. Where the expected value is written as a non-integer, or a
tolerance is declared, numbers are compared with it, in lists too; integers otherwise exactly, whatever their length.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from sandbox.comparison import close
from sandbox.programs import Comparison

_EXACT = Comparison(absolute_tolerance=0.0)

# Python reads integers of up to 4,300 digits; longer ones stay text.
_MAX_DIGITS = 4_000


@dataclass(frozen=True)
class _Long:
    """An integer too long to be read, as its digits."""

    digits: str


@dataclass(frozen=True)
class _Constant:
    """``Infinity``, ``-Infinity`` or ``NaN`` written as such; a number that is merely too large is a float."""

    name: str


def _integer(text: str) -> int | _Long:
    return int(text) if len(text) <= _MAX_DIGITS else _Long(text)


def read_value(text: bytes) -> Any:
    """The JSON value, very long integers kept as text. Raises ``ValueError`` or ``RecursionError`` for what is none."""
    return json.loads(text, parse_int=_integer, parse_constant=_Constant)


def same_value(wanted: Any, given: Any, comparison: Comparison) -> bool:
    """Whether two values from :func:`read_value` agree."""
    kind = type(wanted)
    if kind is float or (kind is int and comparison.declares_tolerance):
        tolerant = kind is int or comparison.declares_tolerance or comparison.assume_tolerance
        return type(given) in (int, float) and _same_number(wanted, given, comparison if tolerant else _EXACT)
    if kind is not type(given):
        return False
    if kind is list:
        return len(wanted) == len(given) and all(map(same_value, wanted, given, repeat(comparison)))
    if kind is dict:
        return wanted.keys() == given.keys() and all(same_value(wanted[key], given[key], comparison) for key in wanted)
    return bool(wanted == given) and wanted != _Constant("NaN")


def _same_number(wanted: float, given: float, comparison: Comparison) -> bool:
    if type(wanted) is int and wanted == given and type(given) is int:
        return True
    try:
        return close(float(wanted), float(given), comparison)
    except OverflowError:  # an integer beyond the range of floats
        return False


def first_difference(expected: bytes, got: bytes, comparison: Comparison) -> str | None:
    """None when the returned value is right; else one line that says what differs.

    Raises ``ValueError`` when the expected value, which is the test's own, is not JSON.
    """
    if expected == got and b"NaN" not in got:
        return None
    wanted = read_value(expected)
    try:
        if same_value(wanted, read_value(got), comparison):
            return None
    except (ValueError, RecursionError) as error:
        return f"returned what is not comparable: {error}"
    return f"expected {_show(expected)}, got {_show(got)}"


def _show(value: bytes, width: int = 60) -> str:
    text = value.decode(errors="backslashreplace").strip()
    return text if len(text) <= width else text[: width - 1] + "…"
