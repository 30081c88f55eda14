"""Hold a returned value against the expected one, both as JSON text, and say what a call comes to. Pure.

A bool is never a number. Where the expected value is written as a non-integer (2.0), or a tolerance is declared,
numbers are compared with it, in lists too, and an integer (2) may be the right one; integers otherwise exactly,
whatever their length, and never with what is written as a non-integer.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from sandbox import signatures
from sandbox.agent import calls
from sandbox.comparison import close
from sandbox.excerpts import excerpt
from sandbox.matching import Item, TooMuchWork, same_groups, same_items
from sandbox.programs import Comparison, Io, Suite, Test, Unordered
from sandbox.verdicts import Verdict

_EXACT = Comparison(absolute_tolerance=0.0)

# Python reads integers of up to 4,300 digits; longer ones stay text.
_MAX_DIGITS = 4_000
_SHOWN = 60

# Lists and objects take some 70 bytes each once they are read, however short they are written.
_MOST_LISTS = 1_000_000


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
    """Whether two values from :func:`read_value` agree, lists in their order."""
    kind = type(wanted)
    if _has_tolerance(wanted, comparison):
        return type(given) in (int, float) and _same_number(wanted, given, comparison)
    if kind is not type(given):
        return False
    if kind is list:
        return len(wanted) == len(given) and all(map(same_value, wanted, given, repeat(comparison)))
    if kind is dict:
        return wanted.keys() == given.keys() and all(same_value(wanted[key], given[key], comparison) for key in wanted)
    if kind is str and not comparison.case_sensitive:
        return bool(wanted.casefold() == given.casefold())
    return bool(wanted == given) and wanted != _Constant("NaN")


def _has_tolerance(wanted: Any, comparison: Comparison) -> bool:
    """Whether other numbers than the same integer can be right. A float always may be written in another way."""
    return type(wanted) is float or (type(wanted) is int and comparison.declares_tolerance)


def _same_number(wanted: float, given: float, comparison: Comparison) -> bool:
    if type(wanted) is int and wanted == given and type(given) is int:
        return True
    tolerant = type(wanted) is int or comparison.declares_tolerance or comparison.assume_tolerance
    try:
        return close(float(wanted), float(given), comparison if tolerant else _EXACT)
    except OverflowError:  # an integer beyond the range of floats
        return False


class _Numbers:
    """How numbers agree, for :mod:`sandbox.matching`."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison

    def is_tolerant(self, wanted: float) -> bool:
        return _has_tolerance(wanted, self._comparison)

    def key(self, number: float) -> Hashable:
        return type(number), number

    def value(self, number: float) -> float:
        return number

    def agree(self, wanted: float, given: float) -> bool:
        if not self.is_tolerant(wanted):
            return type(wanted) is type(given) and wanted == given
        return _same_number(wanted, given, self._comparison)

    def item(self, value: Any) -> Item:
        numbers: list[float] = []
        return Item(self._skeleton(value, numbers), tuple(numbers))

    def _skeleton(self, value: Any, numbers: list[float]) -> Hashable:
        """The value with a gap for each number; the numbers are added to the list in their order."""
        kind = type(value)
        if kind is int or (kind is float and math.isfinite(value)):
            numbers.append(value)
            return None
        if kind is list:
            return list, tuple([self._skeleton(part, numbers) for part in value])
        if kind is dict:
            return dict, tuple([(key, self._skeleton(value[key], numbers)) for key in sorted(value)])
        if kind is float or value == _Constant("NaN"):
            return object()  # agrees with nothing
        return kind, value.casefold() if kind is str and not self._comparison.case_sensitive else value


def _same_unordered(wanted: Any, given: Any, comparison: Comparison) -> bool:
    """Whether two lists agree in some order. What should be a list and is none is compared as it is."""
    if type(wanted) is not list or type(given) is not list:
        return same_value(wanted, given, comparison)
    rule = _Numbers(comparison)
    if comparison.unordered is Unordered.LIST or not all(type(part) is list for part in wanted):
        return same_items(list(map(rule.item, wanted)), list(map(rule.item, given)), rule)
    if not all(type(part) is list for part in given):
        return False
    groups, others = ([[rule.item(thing) for thing in part] for part in side] for side in (wanted, given))
    return same_groups(groups, others, rule)


def first_difference(expected: bytes, got: bytes, comparison: Comparison) -> str | None:
    """None when the returned value is right; else one line that says what differs.

    Raises ``ValueError`` when the expected value, which is the test's own, is not JSON, and for a comparison that is
    one for outputs.
    """
    comparison.require_for(Io.FUNCTION)
    if expected == got and b"NaN" not in got:
        return None
    wanted = read_value(expected)
    if _has_more_parts(expected, got):
        return _difference(expected, got, comparison)
    same = same_value if comparison.unordered is None else _same_unordered
    try:
        if same(wanted, read_value(got), comparison):
            return None
    except (ValueError, RecursionError) as error:
        return f"returned what is not comparable: {error}"
    except TooMuchWork:
        return "too many numbers with a tolerance to find out whether they agree in some order"
    return _difference(expected, got, comparison)


def _has_more_parts(expected: bytes, got: bytes) -> bool:
    """Whether a returned value has more parts than the expected one, told from its text: built, it may be very large.

    What opens and separates parts stands in texts, too, but as often in both when they agree; the expected one may
    have it written with ``\\u``.
    """
    escaped = expected.count(b"\\u")
    return any(got.count(mark) > expected.count(mark) + escaped for mark in (b"[", b"{", b","))


def _difference(expected: bytes, got: bytes, comparison: Comparison) -> str:
    wanted, given = excerpt(expected.strip(), _SHOWN), excerpt(got.strip(), _SHOWN)
    return f"expected {wanted}{' in any order' if comparison.unordered else ''}, got {given}"


def not_json(value: bytes) -> tuple[Verdict, str] | None:
    """The verdict on a returned value that no test could expect, with a line for a person; None for one that is JSON.

    A program may write there what it likes. What has more lists than any answer is not read: they would be built.
    """
    if value.count(b"[") + value.count(b"{") > _MOST_LISTS:
        return Verdict.OUTPUT_LIMIT, f"returned more than {_MOST_LISTS:,} lists"
    try:
        json.loads(value.decode(), parse_int=_integer, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        return Verdict.WRONG_ANSWER, f"returned {excerpt(value.strip(), _SHOWN)}, which is no JSON: {error}"
    return None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def failure(suite: Suite, test: Test, written: bytes) -> tuple[Verdict, str] | None:
    """The verdict on what the process of a call wrote where that is no value, with a line for a person; else None.

    Nothing of it is believed: whether the test itself is at fault, which is an internal error, is found out here.
    """
    tag, value = written[:1], written[1:]
    if tag == calls.UNENCODABLE:
        return Verdict.WRONG_ANSWER, f"returned {excerpt(value, _SHOWN)}, which has no JSON form"
    if tag == calls.UNREADABLE:
        try:
            calls.check(signatures.call_details(suite), test.input)
        except (ValueError, RecursionError) as error:
            return Verdict.INTERNAL_ERROR, f"the test's input cannot be read: {error}"
    if tag != calls.VALUE:
        return Verdict.RUNTIME_ERROR, "ended without returning a value"
    return None


def judge_returned(suite: Suite, test: Test, written: bytes, comparison: Comparison) -> tuple[Verdict, str]:
    """The verdict on what the process of a call wrote, with a line for a person."""
    failed = failure(suite, test, written)
    if failed is not None:
        return failed
    try:
        difference = first_difference(test.expected, written[1:], comparison)
    except (ValueError, RecursionError) as error:
        return Verdict.INTERNAL_ERROR, f"the test's expected value cannot be compared with: {error}"
    return (Verdict.ACCEPTED, "") if difference is None else (Verdict.WRONG_ANSWER, difference)
