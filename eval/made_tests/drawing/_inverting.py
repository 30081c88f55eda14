"""Intervals of integers through an operator, forth and back. Pure.

``operate`` is interval arithmetic (Moore, Interval Analysis, 1966); ``invert`` says what bounds of a result mean for
one operand when the other's interval is known. Bounds are never too narrow: what they exclude is impossible.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from typing import TypeAlias

import numpy as np

from eval.made_tests import exact
from eval.made_tests.exact import Numbers

UNBOUNDED = 2**2000
"""Stands for no bound: far beyond every number of an input, and exact like all of them."""

Interval: TypeAlias = tuple[Numbers, Numbers]
Bounds: TypeAlias = tuple[Numbers | None, Numbers | None]
"""A lower and an upper bound; None is no bound."""

ANYTHING: Interval = (exact.constant(-UNBOUNDED), exact.constant(UNBOUNDED))
_ONE = exact.constant(1)
_Operation: TypeAlias = Callable[[Numbers, Numbers], Numbers]


def operate(operator: str, left: Interval, right: Interval) -> Interval:
    """All results of an operator on elements of two intervals."""
    match operator:
        case "+":
            low, high = exact.add(left[0], right[0]), exact.add(left[1], right[1])
        case "-":
            low, high = exact.subtract(left[0], right[1]), exact.subtract(left[1], right[0])
        case "*":
            low, high = _product(left, right)
        case "/":
            if (right[1] < 1).any():
                return ANYTHING
            divisors = exact.at_least(right[0], _ONE), right[1]
            low, high = _extremes([exact.floor_divide(one, other) for one in left for other in divisors])
        case _:
            low, high = _power(left, right)
    return _clipped(low), _clipped(high)


def _product(left: Interval, right: Interval) -> Interval:
    if not (left[0] < 0).any() and not (right[0] < 0).any():
        return exact.multiply(left[0], right[0]), exact.multiply(left[1], right[1])
    return _extremes([exact.multiply(one, other) for one in left for other in right])


def _extremes(results: list[Numbers]) -> Interval:
    low = high = results[0]
    for result in results[1:]:
        low, high = exact.at_most(low, result), exact.at_least(high, result)
    return low, high


def _power(left: Interval, right: Interval) -> Interval:
    if (left[0] < 0).any() or (right[0] < 0).any():
        return ANYTHING
    try:
        # Every corner, since 0^0 is 1 and 0^1 is 0: a power of 0 falls where others rise.
        return _extremes([exact.power(one, other) for one in left for other in right])
    except exact.TooLarge:
        return exact.constant(0), exact.constant(UNBOUNDED)


def _clipped(array: Numbers) -> Numbers:
    if array.dtype != object:
        return array
    return exact.narrowed(np.clip(array, -UNBOUNDED, UNBOUNDED))


def invert(operator: str, bounds: Bounds, other: Interval, own: Interval, is_right: bool) -> Bounds:
    """Bounds of an operand (``own`` interval, the right one or the left) from bounds of the result."""
    lower, upper = bounds
    match operator:
        case "+":
            return _map(lower, exact.subtract, other[1]), _map(upper, exact.subtract, other[0])
        case "-" if is_right:
            below = None if upper is None else exact.subtract(other[0], upper)
            return below, None if lower is None else exact.subtract(other[1], lower)
        case "-":
            return _map(lower, exact.add, other[0]), _map(upper, exact.add, other[1])
        case "*":
            return _factor(lower, upper, other, own)
        case "/":
            return _divisor(lower, upper, other, own) if is_right else _dividend(lower, upper, other)
        case "^":
            return _exponent(lower, upper, other) if is_right else _base(lower, upper, other, own)
    raise ValueError(f"a grammar has no operator {operator!r}")


def _map(array: Numbers | None, operation: _Operation, other: Numbers) -> Numbers | None:
    return None if array is None else operation(array, other)


def _ceiling_divide(left: Numbers, right: Numbers) -> Numbers:
    return exact.subtract(exact.constant(0), exact.floor_divide(exact.subtract(exact.constant(0), left), right))


def _factor(lower: Numbers | None, upper: Numbers | None, other: Interval, own: Interval) -> Bounds:
    low, high = other
    if high.size and (high < 0).all():  # of an index without values nothing is below 0
        zero = exact.constant(0)
        turned = exact.subtract(zero, high), exact.subtract(zero, low)
        below = None if upper is None else exact.subtract(zero, upper)
        return _factor(below, None if lower is None else exact.subtract(zero, lower), turned, own)
    if (low > 0).all():
        most = None if upper is None else np.where(upper >= 0, *_both(exact.floor_divide, upper, low, high))
        least = None if lower is None else np.where(lower > 0, *_both(_ceiling_divide, lower, high, low))
        return least, most
    if lower is not None and (lower > 0).all() and (own[0] >= 0).all() and (high > 0).all():
        return _ceiling_divide(lower, high), None
    return None, None


def _both(operation: _Operation, array: Numbers, one: Numbers, other: Numbers) -> tuple[Numbers, Numbers]:
    return operation(array, one), operation(array, other)


def _dividend(lower: Numbers | None, upper: Numbers | None, other: Interval) -> Bounds:
    low, high = other
    if not (low > 0).all():
        return None, None
    most = least = None
    if upper is not None:
        after = exact.add(upper, _ONE)
        most = exact.subtract(np.where(after >= 0, *_both(exact.multiply, after, high, low)), _ONE)
    if lower is not None:
        least = np.where(lower >= 0, *_both(exact.multiply, lower, low, high))
    return least, most


def _divisor(lower: Numbers | None, upper: Numbers | None, other: Interval, own: Interval) -> Bounds:
    if not (own[0] > 0).all() or not (other[0] >= 0).all():
        return None, None
    most = exact.floor_divide(other[1], lower) if lower is not None and (lower > 0).all() else None
    least = None
    if upper is not None and (upper >= 0).all():
        least = exact.add(exact.floor_divide(other[0], exact.add(upper, _ONE)), _ONE)
    return least, most


def _base(lower: Numbers | None, upper: Numbers | None, other: Interval, own: Interval) -> Bounds:
    exponent = int(other[0].max()) if other[0].size else 0
    if exponent < 1 or (other[0] != exponent).any() or (other[1] != exponent).any() or not (own[0] >= 0).all():
        return None, None
    most = None if upper is None else exact.numbers([root(max(int(each), 0), exponent) for each in upper])
    least = None
    if lower is not None:
        least = exact.numbers([root(int(each) - 1, exponent) + 1 if each > 0 else 0 for each in lower])
    return least, most


def _exponent(lower: Numbers | None, upper: Numbers | None, other: Interval) -> Bounds:
    base = int(other[1].max()) if other[1].size else 0
    if base < 2 or (other[0] != base).any() or (other[1] != base).any():
        return None, None
    most = None if upper is None else exact.numbers([_logarithm(int(each), base) for each in upper])
    least = None
    if lower is not None:
        least = exact.numbers([_logarithm(int(each) - 1, base) + 1 if each > 1 else 0 for each in lower])
    return least, most


def root(number: int, degree: int) -> int:
    """The greatest integer whose power of this degree is at most a number from 0."""
    if degree == 2:
        return isqrt(number)
    low, high = 0, 1 << (number.bit_length() // degree + 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**degree <= number else (low, middle - 1)
    return low


def _logarithm(number: int, base: int) -> int:
    """The greatest exponent whose power is at most a number; -1 below 1."""
    exponent, power = -1, 1
    while power <= number:
        exponent, power = exponent + 1, power * base
    return exponent
