"""Rows of different values, permutations, and rows in order. Pure but for the generator."""

from __future__ import annotations

import numpy as np

from eval.made_tests import exact
from eval.made_tests.drawing._errors import CannotDraw
from eval.made_tests.drawing._policies import greatest, least, uniform
from eval.made_tests.drawing._state import State
from eval.made_tests.drawing._style import Order
from eval.made_tests.exact import Numbers
from eval.made_tests.wording import count_text

MAX_ROUNDS = 8


def permutations(rng: np.random.Generator, firsts: Numbers, rows: Numbers, order: Order) -> Numbers:
    """In each row every value from its first one on exactly once."""
    lengths = np.diff(rows)
    local = np.arange(int(rows[-1])) - np.repeat(rows[:-1], lengths)
    if order is Order.DOWN:
        local = np.repeat(lengths, lengths) - 1 - local
    if order is Order.AS_DRAWN:
        row_of = np.repeat(np.arange(len(lengths)), lengths)
        ranked = np.lexsort((rng.random(len(local)), row_of))
        local = ranked - np.repeat(rows[:-1], lengths)
    if order is Order.ONE_SWAP:
        local = local.copy()
        one, other = (rows[:-1] + (rng.random(len(lengths)) * lengths).astype(np.int64) for _ in range(2))
        one, other = one[lengths > 1], other[lengths > 1]
        local[one], local[other] = local[other], local[one]
    return exact.add(firsts, local)


def sorted_rows(values: Numbers, rows: Numbers, *, is_descending: bool) -> Numbers:
    """Each row in order."""
    row_of = np.repeat(np.arange(len(rows) - 1), np.diff(rows))
    if exact.is_large(values):
        keyed = sorted(zip(row_of.tolist(), (-values if is_descending else values).tolist(), strict=True))
        ordered = exact.numbers([value for _, value in keyed])
        return -ordered if is_descending else ordered
    return values[np.lexsort((-values if is_descending else values, row_of))]


def made_distinct(state: State, name: str, values: Numbers, groups: Numbers) -> Numbers:
    """The values with those that stand twice in a group drawn anew; CannotDraw."""
    low, high = state.domains.low[name], state.domains.high[name]
    if state.style.numbers in (least, greatest) and _are_same_bounds(low, high, groups):
        return _block(low, high, groups, is_upper=state.style.numbers is greatest)
    if exact.is_large(values):
        return _by_sets(state, name, values, groups)
    group_of = np.repeat(np.arange(len(groups) - 1), np.diff(groups))
    values = _dense_groups(state, name, values, groups)
    for _ in range(MAX_ROUNDS):
        again = _repeated(values, group_of)
        if not len(again):
            return values
        values = values.copy()
        values[again] = uniform(state.rng, low[again], high[again], np.array([0, len(again)]))
    for group in np.unique(group_of[_repeated(values, group_of)]).tolist():
        part = slice(int(groups[group]), int(groups[group + 1]))
        values[part] = _from_range(state.rng, values[part], low[part], high[part], name)
    return values


def _dense_groups(state: State, name: str, values: Numbers, groups: Numbers) -> Numbers:
    """The values with the groups drawn anew that need more than a third of all values that there are."""
    low, high = state.domains.low[name], state.domains.high[name]
    counts = np.diff(groups)
    firsts, ends = groups[:-1][counts > 1], groups[1:][counts > 1]
    spans = exact.subtract(high[firsts], low[firsts])
    is_dense = (spans < counts[counts > 1] * 3).astype(bool)
    values = values.copy()
    for start, end in zip(firsts[is_dense].tolist(), ends[is_dense].tolist(), strict=True):
        part = slice(start, end)
        if (low[part] == low[start]).all() and (high[part] == high[start]).all():
            values[part] = _from_range(state.rng, values[part], low[part], high[part], name)
    return values


def _are_same_bounds(low: Numbers, high: Numbers, groups: Numbers) -> bool:
    lengths = np.diff(groups)
    firsts = np.repeat(groups[:-1], lengths)
    return bool((low == low[firsts]).all() and (high == high[firsts]).all())


def _block(low: Numbers, high: Numbers, groups: Numbers, *, is_upper: bool) -> Numbers:
    """The smallest or the greatest values of a group's range."""
    lengths = np.diff(groups)
    local = np.arange(len(low)) - np.repeat(groups[:-1], lengths)
    block = exact.subtract(high, local) if is_upper else exact.add(low, local)
    if (block < low).any() or (block > high).any():
        raise CannotDraw("there are not enough different values")
    return block


def _repeated(values: Numbers, group_of: Numbers) -> Numbers:
    """The elements before which the same value stands in their group already."""
    order = np.lexsort((values, group_of))
    ordered, groups = values[order], group_of[order]
    again: Numbers = np.sort(order[1:][(ordered[1:] == ordered[:-1]) & (groups[1:] == groups[:-1])])
    return again


def _from_range(rng: np.random.Generator, values: Numbers, low: Numbers, high: Numbers, name: str) -> Numbers:
    """Different values for one group: those it has, and free ones for the others. The narrowest bounds choose first."""
    if int(high.max()) - int(low.min()) > 50 * len(values) + 1000:
        raise CannotDraw(f"no more different values are found for {name}")
    if (low == low[0]).all() and (high == high[0]).all():
        span = int(high[0]) - int(low[0]) + 1
        if span < len(values):
            raise CannotDraw(f"{name} has {len(values)} different values, and its range has {count_text(span)}")
        result: Numbers = low[0] + rng.permutation(span)[: len(values)]
        return result
    result = np.empty_like(values)
    taken: set[int] = set()
    for place in np.lexsort((rng.random(len(values)), high - low)).tolist():
        options = [each for each in range(int(low[place]), int(high[place]) + 1) if each not in taken]
        if not options:
            raise CannotDraw(f"no different value is left for an element of {name}")
        result[place] = options[int(rng.integers(len(options)))]
        taken.add(int(result[place]))
    return result


def _by_sets(state: State, name: str, values: Numbers, groups: Numbers) -> Numbers:
    """The same for integers beyond int64."""
    low, high = state.domains.low[name], state.domains.high[name]
    elements = values.tolist()
    for start, end in zip(groups[:-1].tolist(), groups[1:].tolist(), strict=True):
        taken: set[int] = set()
        for place in range(start, end):
            for _ in range(MAX_ROUNDS):
                if elements[place] not in taken:
                    break
                at = slice(place, place + 1)
                elements[place] = int(uniform(state.rng, low[at], high[at], np.array([0, 1]))[0])
            if elements[place] in taken:
                raise CannotDraw(f"no more different values are found for {name}")
            taken.add(elements[place])
    return exact.numbers(elements)
