"""Exact arithmetic on arrays of integers: int64 where no result can overflow, Python's integers otherwise. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Numbers: TypeAlias = npt.NDArray[Any]
"""An array of int64, or of objects: Python's integers (or fractions) of any size."""

INT64_MAX = 2**63 - 1
MAX_POWER_BITS = 4096


class TooLarge(ValueError):
    """A power that nobody means: its result has more than 4,096 bits; or one whose exponent is negative."""


def numbers(values: Sequence[object]) -> Numbers:
    """The values as an array; what does not fit into int64 stays as it is."""
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        return objects(values)


def objects(values: Sequence[object]) -> Numbers:
    """The values, whatever they are, as an array of objects."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def constant(value: int) -> Numbers:
    """An array of one number, which goes together with an array of any length."""
    return numbers([value])


def is_large(*arrays: Numbers) -> bool:
    """Whether one of the arrays holds objects, and no int64."""
    return any(array.dtype == object for array in arrays)


def narrowed(array: Numbers) -> Numbers:
    """The same integers in int64 where all of them fit."""
    if array.dtype != object or (array.size and greatest_magnitude(array) > INT64_MAX):
        return array
    return array.astype(np.int64)


def greatest_magnitude(array: Numbers) -> int:
    """The greatest absolute value, exact; 0 for nothing."""
    if not array.size:
        return 0
    return max(abs(int(array.max())), abs(int(array.min())))


def total(array: Numbers) -> int:
    """The sum, exact."""
    if array.dtype == object or greatest_magnitude(array) * array.size > INT64_MAX:
        return sum(array.tolist())
    return int(array.sum())


def add(left: Numbers, right: Numbers) -> Numbers:
    """left + right."""
    return _combined(np.add, left, right, lambda one, other: one + other)


def subtract(left: Numbers, right: Numbers) -> Numbers:
    """left - right."""
    return _combined(np.subtract, left, right, lambda one, other: one + other)


def multiply(left: Numbers, right: Numbers) -> Numbers:
    """left * right."""
    return _combined(np.multiply, left, right, lambda one, other: one * other)


def floor_divide(left: Numbers, right: Numbers) -> Numbers:
    """left / right, rounded down; ZeroDivisionError."""
    if (right == 0).any():
        raise ZeroDivisionError("division by zero")
    return _combined(np.floor_divide, left, right, lambda one, _: one)


def power(left: Numbers, right: Numbers) -> Numbers:
    """left ^ right for exponents from 0; TooLarge."""
    if (right < 0).any():
        raise TooLarge("a negative exponent")
    base, exponent = greatest_magnitude(left), greatest_magnitude(right)
    if base > 1 and exponent * base.bit_length() > MAX_POWER_BITS:
        raise TooLarge(f"a power of more than {MAX_POWER_BITS} bits")
    return _combined(np.power, left, right, lambda one, other: one**other if one > 1 else 1)


def at_most(left: Numbers, right: Numbers) -> Numbers:
    """The smaller ones of two."""
    return _combined(np.minimum, left, right, lambda _one, _other: 0)


def at_least(left: Numbers, right: Numbers) -> Numbers:
    """The greater ones of two."""
    return _combined(np.maximum, left, right, lambda _one, _other: 0)


def _combined(operation: np.ufunc, left: Numbers, right: Numbers, greatest: Callable[[int, int], int]) -> Numbers:
    if is_large(left, right) or greatest(greatest_magnitude(left), greatest_magnitude(right)) > INT64_MAX:
        left, right = left.astype(object), right.astype(object)
    result: Numbers = operation(left, right)
    return result
