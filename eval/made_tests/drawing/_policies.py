"""How the numbers of rows are chosen between their bounds: one function for each way. Pure but for the generator.

Each takes the generator, the least and the greatest value of each element, and where the rows begin (with the end), and
gives one value for each element.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TypeAlias

import numpy as np

from eval.made_tests import exact
from eval.made_tests.exact import Numbers

Policy: TypeAlias = Callable[[np.random.Generator, Numbers, Numbers, Numbers], Numbers]

EDGES = (2**31 - 1, 2**31, 2**32, 10**9, 998244353, 10**9 + 7, 10**18, 2**53 + 1, 2**62, 2**63 - 1)
"""Values at which programs break that count with too few bits, or with floats."""
SUM_EDGES = (2**31, 2**32, 2**63)
"""Sums at which they break."""


def least(rng: np.random.Generator, low: Numbers, high: Numbers, rows: Numbers) -> Numbers:
    """Every element at its least."""
    return low


def greatest(rng: np.random.Generator, low: Numbers, high: Numbers, rows: Numbers) -> Numbers:
    """Every element at its greatest."""
    return high


def uniform(rng: np.random.Generator, low: Numbers, high: Numbers, rows: Numbers) -> Numbers:
    """Every value is as likely as every other one."""
    if not exact.is_large(low, high):
        if len(low) > 1 and (low == low[0]).all() and (high == high[0]).all():
            return rng.integers(low[0], high[0], size=len(low), endpoint=True)
        return rng.integers(low, high, endpoint=True)
    source = Random(int(rng.integers(2**63)))
    return exact.numbers([source.randint(int(one), int(other)) for one, other in zip(low, high, strict=True)])


def few(rng: np.random.Generator, low: Numbers, high: Numbers, rows: Numbers) -> Numbers:
    """Values from a small range, at the lower end or (one time in four) at the upper end: they collide."""
    width = exact.constant(int(rng.integers(1, 6)))
    if rng.random() < 0.25:
        return uniform(rng, exact.at_least(low, exact.subtract(high, width)), high, rows)
    return uniform(rng, low, exact.at_most(high, exact.add(low, width)), rows)


def some_equal(rng: np.random.Generator, low: Numbers, high: Numbers, rows: Numbers) -> Numbers:
    """Of n values of a row each is one of n to n^2/2: there are from many pairs of equal ones to a single pair."""
    lengths = np.repeat(np.diff(rows), np.diff(rows))
    spread = float(rng.random())
    widths = np.maximum(lengths * np.maximum(lengths / 2, 1) ** spread, 1).astype(np.int64)
    return uniform(rng, low, exact.at_most(high, exact.add(low, widths)), rows)


def magnitudes(rng: np.random.Generator, low: Numbers, high: Numbers, rows: Numbers) -> Numbers:
    """Every number of digits is as likely as every other one."""
    spans = exact.subtract(high, low)
    bits = np.array([int(span).bit_length() for span in spans], dtype=np.int64) if len(spans) else spans
    chosen = rng.integers(0, bits, endpoint=True) if len(bits) else bits
    reach = exact.power(exact.constant(2), exact.numbers(chosen.tolist()))
    return uniform(rng, low, exact.at_most(high, exact.add(low, exact.subtract(reach, exact.constant(1)))), rows)


def ends(rng: np.random.Generator, low: Numbers, high: Numbers, rows: Numbers) -> Numbers:
    """Each element at its least or its greatest."""
    return np.where(rng.random(len(low)) < 0.5, low, high)


def one_other(rng: np.random.Generator, low: Numbers, high: Numbers, rows: Numbers) -> Numbers:
    """Each row at its greatest but for one element at its least, or the other way round."""
    is_other = np.zeros(len(low), dtype=bool)
    lengths = np.diff(rows)
    places = rows[:-1] + (rng.random(len(lengths)) * lengths).astype(np.int64)
    is_other[places[lengths > 0]] = True
    return np.where(is_other, *((low, high) if rng.random() < 0.5 else (high, low)))


def equal(rng: np.random.Generator, low: Numbers, high: Numbers, rows: Numbers) -> Numbers:
    """All elements of a row are the same where their bounds are."""
    return scaled(low, high, np.repeat(rng.random(len(rows) - 1), np.diff(rows)))


def rising(rng: np.random.Generator, low: Numbers, high: Numbers, rows: Numbers) -> Numbers:
    """Each row from smaller to greater ones."""
    return scaled(low, high, _sorted_in_rows(rng.random(len(low)), rows))


def falling(rng: np.random.Generator, low: Numbers, high: Numbers, rows: Numbers) -> Numbers:
    """Each row from greater to smaller ones."""
    return scaled(low, high, 1 - _sorted_in_rows(rng.random(len(low)), rows))


def alternating(rng: np.random.Generator, low: Numbers, high: Numbers, rows: Numbers) -> Numbers:
    """Small and great by turns."""
    small, great = (float(each) for each in np.sort(rng.random(2)))
    if rng.random() < 0.5:
        small, great = 0.0, 1.0
    return scaled(low, high, np.where(_local(rows) % 2 == 0, small, great))


def mountain(rng: np.random.Generator, low: Numbers, high: Numbers, rows: Numbers) -> Numbers:
    """Each row rises to its middle and falls again, or the other way round."""
    lengths = np.repeat(np.diff(rows), np.diff(rows))
    heights = np.minimum(_local(rows) + 1, lengths - _local(rows)) / np.maximum((lengths + 1) // 2, 1)
    return scaled(low, high, heights if rng.random() < 0.5 else 1 - heights)


def edges(rng: np.random.Generator, low: Numbers, high: Numbers, rows: Numbers) -> Numbers:
    """Values next to those at which programs break, where the bounds let them; else the greatest."""
    result = high
    for edge in rng.permutation(np.array(EDGES, dtype=object)):
        value = exact.add(exact.constant(int(edge)), rng.integers(-1, 2, size=len(low)))
        fits = (value >= low) & (value <= high) & (rng.random(len(low)) < 0.4)
        result = np.where(fits, value, result)
    return exact.narrowed(result)


def sum_edges(rng: np.random.Generator, low: Numbers, high: Numbers, rows: Numbers) -> Numbers:
    """Elements whose sum in a row lies close to a number at which sums break, where the bounds let it."""
    target = int(rng.choice(np.array(SUM_EDGES, dtype=object)))
    lengths = np.repeat(np.diff(rows), np.diff(rows))
    share = exact.numbers([target // int(length) + 1 for length in lengths])
    return exact.narrowed(exact.at_least(low, exact.at_most(high, share)))


def scaled(low: Numbers, high: Numbers, parts: Numbers) -> Numbers:
    """The value at a part of the way from the least (0) to the greatest (1)."""
    if exact.is_large(low, high) or (len(low) and int(high.max()) - int(low.min()) > exact.INT64_MAX // 2):
        chosen = zip(low.tolist(), high.tolist(), parts.tolist(), strict=True)
        return exact.numbers([one + int(part * 2**53) * (other - one) // 2**53 for one, other, part in chosen])
    spans = high - low
    steps = np.minimum((parts * (spans + 1.0)).astype(np.int64), spans)
    result: Numbers = low + steps
    return result


def _local(rows: Numbers) -> Numbers:
    """The place of each element in its row, from 0."""
    local: Numbers = np.arange(int(rows[-1])) - np.repeat(rows[:-1], np.diff(rows))
    return local


def _sorted_in_rows(values: Numbers, rows: Numbers) -> Numbers:
    row_of = np.repeat(np.arange(len(rows) - 1), np.diff(rows))
    return values[np.lexsort((values, row_of))]
