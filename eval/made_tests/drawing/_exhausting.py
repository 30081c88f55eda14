"""All inputs of a grammar that has but few, in the order of their values. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import combinations, combinations_with_replacement, permutations, product
from math import comb, perm, prod

import numpy as np

from eval.made_tests import exact
from eval.made_tests.drawing._errors import CannotDraw
from eval.made_tests.drawing._numbers import allowed_values
from eval.made_tests.drawing._problem import problem_of
from eval.made_tests.drawing._state import State
from eval.made_tests.drawing._strings import alphabet_of, split, words_of
from eval.made_tests.drawing._style import Size, Style
from eval.made_tests.exact import Numbers
from eval.made_tests.grammar import (
    Constraint,
    Distinct,
    Grammar,
    InputRefused,
    Kind,
    Permutation,
    Sorted,
    Values,
)
from eval.made_tests.values import check

LIMIT = 200
"""A grammar with more inputs than this is not listed."""
MAX_OPTIONS = 1024
"""So many values of one variable are tried at one place, and no more."""
MAX_STEPS = 800
"""So many values of variables are tried in all, and no more."""


class _TooMany(Exception):
    """There are more inputs than anyone wants, or they take too long to list."""


@lru_cache(maxsize=16)
def all_inputs(grammar: Grammar) -> tuple[Values, ...] | None:
    """Every input that keeps the constraints, smaller values first; None where there are more than LIMIT, or may be."""
    listing = _Listing(grammar)
    try:
        return tuple(listing.run())
    except _TooMany:
        return None


class _Listing:
    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self.names = [name for step in problem_of(grammar).steps for name in step]
        self.steps = 0

    def run(self) -> list[Values]:
        problem = problem_of(self.grammar)
        state = State(problem, problem.domains.copy(), np.random.default_rng(0), Style(Size.LEAST))
        found: list[Values] = []
        for values in self._from(state, 0):
            found.append(values)
            if len(found) > LIMIT:
                raise _TooMany
        return found

    def _from(self, state: State, place: int) -> Iterator[Values]:
        if place == len(self.names):
            values = state.values()
            try:
                check(self.grammar, values)
            except InputRefused:
                return
            yield values
            return
        name = self.names[place]
        kind = state.problem.variables[name].kind
        for option in self._numbers(state, name) if kind is Kind.INTEGER else self._texts(state, name):
            self.steps += 1
            if self.steps > MAX_STEPS:
                raise _TooMany
            after = replace(state, domains=state.domains.copy(), texts=dict(state.texts))
            try:
                if isinstance(option, list):
                    after.texts[name] = option
                    lengths = exact.numbers([len(text) for text in option])
                    if kind is Kind.STRING and not after.domains.is_settled(state.problem.lengths[name]):
                        after.settle(state.problem.lengths[name], lengths)
                else:
                    after.settle(name, option)
                yield from self._from(after, place + 1)
            except CannotDraw:
                continue

    def _numbers(self, state: State, name: str) -> Iterator[Numbers]:
        low, high = state.domains.low[name].tolist(), state.domains.high[name].tolist()
        allowed = allowed_values(state, name)
        if (arranged := _arranged(state, name, low, high)) is not None:
            yield from map(exact.numbers, arranged)
            return
        if not allowed and prod(other - one + 1 for one, other in zip(low, high, strict=True)) > MAX_OPTIONS:
            raise _TooMany
        ranges = [
            [each for each in allowed if one <= each <= other] if allowed else range(one, other + 1)
            for one, other in zip(low, high, strict=True)
        ]
        if prod(map(len, ranges)) > MAX_OPTIONS:
            raise _TooMany
        for values in product(*ranges):
            yield exact.numbers(values)

    def _texts(self, state: State, name: str) -> Iterator[list[str]]:
        count = state.layout(name).size
        if words := words_of(state, name):
            if len(words) ** min(count, 20) > MAX_OPTIONS:
                raise _TooMany
            yield from map(list, product(words, repeat=count))
            return
        alphabet = alphabet_of(state, name)
        lengths = state.domains.low[state.problem.lengths[name]]
        total = int(lengths.sum())
        if total > 40 or len(alphabet) ** total > MAX_OPTIONS:
            raise _TooMany
        starts = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        for letters in product(map(ord, alphabet), repeat=total):
            yield split(np.array(letters, dtype=np.int64), starts)


def _arranged(state: State, name: str, low: list[int], high: list[int]) -> Iterator[tuple[int, ...]] | None:
    """The rows of a variable whose elements are different or in order; None where that does not shorten the list."""
    constraints = state.problem.of.get(name, ())
    if len(state.groups(name, within_row=True)) != 2 or len(set(low)) != 1 or len(set(high)) != 1:
        return None
    width, size = high[0] - low[0] + 1, len(low)
    orders = [each for each in constraints if isinstance(each, Sorted)]
    different = [each for each in constraints if isinstance(each, Permutation) or _is_distinct(each, name)]
    if not orders and not different:
        return None
    if width > MAX_OPTIONS or size > MAX_OPTIONS:
        raise _TooMany  # before anything is counted or listed: the values may be 10^18
    span = range(low[0], high[0] + 1)
    rows: Iterator[tuple[int, ...]]
    if orders and (orders[0].strict or different):
        count, rows = comb(width, size), combinations(span, size)
    elif orders:
        count, rows = comb(width + size - 1, size), combinations_with_replacement(span, size)
    else:
        count, rows = perm(width, size), permutations(span, size)
    if count > MAX_OPTIONS:
        raise _TooMany
    if orders and orders[0].descending:
        return iter(sorted(tuple(reversed(row)) for row in rows))
    return rows


def _is_distinct(constraint: Constraint, name: str) -> bool:
    return isinstance(constraint, Distinct) and constraint.names == (name,)
