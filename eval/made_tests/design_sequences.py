"""The order in which the methods of a class are called: one function for each pattern. Pure but for the generator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from eval.made_tests.design_grammar import DesignGrammar

Pattern: TypeAlias = Callable[[np.random.Generator, Sequence[str], int], list[str]]
"""Takes the generator, the methods (those with most arguments first) and how many calls are wanted."""


def mixed(rng: np.random.Generator, methods: Sequence[str], n_calls: int) -> list[str]:
    """Any method at any time."""
    return [methods[place] for place in rng.integers(0, len(methods), size=n_calls).tolist()]


def in_turn(rng: np.random.Generator, methods: Sequence[str], n_calls: int) -> list[str]:
    """One method after the other, again and again."""
    return [methods[place % len(methods)] for place in range(n_calls)]


def in_phases(rng: np.random.Generator, methods: Sequence[str], n_calls: int) -> list[str]:
    """All calls of a method, then those of the next one: what fills a structure comes before what looks at it."""
    return [methods[place * len(methods) // n_calls] for place in range(n_calls)]


def in_runs(rng: np.random.Generator, methods: Sequence[str], n_calls: int) -> list[str]:
    """Several calls of a method in a row, then of another one."""
    found: list[str] = []
    while len(found) < n_calls:
        found += [methods[int(rng.integers(len(methods)))]] * int(rng.geometric(0.2))
    return found[:n_calls]


def mostly(method: str) -> Pattern:
    """Four of five calls are of one method."""

    def pattern(rng: np.random.Generator, methods: Sequence[str], n_calls: int) -> list[str]:
        others = mixed(rng, methods, n_calls)
        is_other = rng.random(n_calls) < 0.2
        return [other if chosen else method for other, chosen in zip(others, is_other.tolist(), strict=True)]

    return pattern


def alone(method: str) -> Pattern:
    """No other method is called."""
    return lambda rng, methods, n_calls: [method] * n_calls


def most_calls(grammar: DesignGrammar) -> int:
    """How many calls the limits allow in all."""
    free = {method.name for method in grammar.methods}
    total = 0
    # A method under several limits counts with the first one only: the sum may be too large, but never too small.
    for limit in grammar.limits:
        if free & set(limit.methods):
            total += limit.most
            free -= set(limit.methods)
    return total


def with_required(grammar: DesignGrammar, order: Sequence[str]) -> list[str]:
    """The calls with those before them that have to be there."""
    missing = [group[0] for group in grammar.required if not set(group) & set(order)]
    return [*missing, *order]


def allowed(grammar: DesignGrammar, order: Sequence[str]) -> list[str]:
    """The calls that limits and what has to be there allow; where an element is missing it is added first."""
    counts: Counter[str] = Counter()
    sizes = [0] * len(grammar.needs)
    found: list[str] = []

    def is_within_limits(method: str) -> bool:
        return all(
            sum(counts[each] for each in limit.methods) < limit.most
            for limit in grammar.limits
            if method in limit.methods
        )

    for method in order:
        chosen = method
        for needs, size in zip(grammar.needs, sizes, strict=True):
            if chosen in needs.methods and size <= 0:
                chosen = needs.adders[len(found) % len(needs.adders)]
        is_empty = any(chosen in needs.methods and size <= 0 for needs, size in zip(grammar.needs, sizes, strict=True))
        if is_empty or not is_within_limits(chosen):
            continue
        found.append(chosen)
        counts[chosen] += 1
        for place, needs in enumerate(grammar.needs):
            sizes[place] += (chosen in needs.adders) - (chosen in needs.removers)
    return found
