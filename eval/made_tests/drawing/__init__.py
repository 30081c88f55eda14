"""Inputs drawn from a grammar: strategies, one module each, found by its place in this package.

A strategy module has

* ``NAME``, ``SIZES``, the sizes at which its inputs are worth having, and ``TURN``: strategies of turn 0 come first,
  then those of 1 and so on, so that few inputs are a good choice too;
* ``draw(grammar, rng, size) -> Values``: one input that keeps all constraints (``values.check``), the same for the same
  generator; ``CannotDraw`` names the constraint that defeats it;
* ``applies(grammar) -> bool`` where it is not for every grammar.

Modules whose name begins with an underscore are no strategies. Inputs stay below ``MAX_BYTES`` of text and
``MAX_VALUES`` values; ``Drawing.is_capped`` says that the constraints would allow larger ones.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from zlib import crc32

import numpy as np

from eval.made_tests.drawing._caps import MAX_BYTES, MAX_VALUES
from eval.made_tests.drawing._errors import CannotDraw
from eval.made_tests.drawing._exhausting import all_inputs
from eval.made_tests.drawing._problem import problem_of
from eval.made_tests.drawing._style import Size
from eval.made_tests.grammar import Grammar, Value, Values

__all__ = [
    "MAX_BYTES",
    "MAX_VALUES",
    "CannotDraw",
    "Drawing",
    "DrawnInput",
    "Size",
    "Strategy",
    "all_strategies",
    "amount",
    "draw_inputs",
    "draw_with_reasons",
]

MAX_MISSES = 4
"""So often in turn a strategy may have nothing new before it is asked no more; with large inputs only once."""
MAX_FAILURES = 3
"""After so many failures at a size at which nothing was drawn no strategy is asked for that size any more."""
MAX_ROUNDS = 200
"""So often the strategies take their turns when ever more inputs are wanted."""


@dataclass(frozen=True)
class DrawnInput:
    """One input, and what it was drawn by: "random, large"."""

    strategy: str
    values: Values


@dataclass(frozen=True)
class Drawing:
    """Inputs, smallest first. ``failures`` says of each strategy that drew none why.

    ``is_complete``: these are all inputs that there are. ``is_capped``: the constraints allow larger ones.
    """

    inputs: tuple[DrawnInput, ...]
    failures: Mapping[str, str]
    is_complete: bool = False
    is_capped: bool = False


@dataclass(frozen=True)
class Strategy:
    """One strategy module."""

    name: str
    turn: int
    sizes: tuple[Size, ...]
    draw: Callable[[Grammar, np.random.Generator, Size], Values]
    applies: Callable[[Grammar], bool]


@cache
def all_strategies() -> Mapping[str, Strategy]:
    """Every strategy of this package by name, in the order of their turns and names."""
    modules = (info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))
    found = [_load(f"{__name__}.{module}") for module in modules]
    return MappingProxyType({each.name: each for each in sorted(found, key=lambda each: (each.turn, each.name))})


def _load(module_name: str) -> Strategy:
    module = importlib.import_module(module_name)
    return Strategy(module.NAME, module.TURN, module.SIZES, module.draw, getattr(module, "applies", lambda _: True))


def draw_inputs(grammar: Grammar, seed: int, wanted: int) -> tuple[DrawnInput, ...]:
    """So many different inputs, or all that are found, smallest first; the same for the same grammar and seed.

    CannotDraw where there is none, or where the grammar is not complete.
    """
    return draw_with_reasons(grammar, seed, wanted).inputs


def draw_with_reasons(grammar: Grammar, seed: int, wanted: int) -> Drawing:
    """The same with the reasons for what was not drawn."""
    if not grammar.is_complete:
        raise CannotDraw(f"the statement was not understood: {grammar.not_understood[0]}")
    problem = problem_of(grammar)
    if (everything := all_inputs(grammar)) is not None and len(everything) <= wanted:
        if not everything:
            raise CannotDraw("no input keeps all constraints")
        return Drawing(tuple(DrawnInput("every input", values) for values in everything), {}, is_complete=True)
    plan = _Plan(grammar, seed)
    found = plan.run(wanted)
    if not found:
        raise CannotDraw(next(iter(plan.failures.values()), "no strategy applies"))
    found.sort(key=lambda each: amount(each.values))
    drew = {each.strategy for each in found}
    failures = {name: message for name, message in plan.failures.items() if name not in drew}
    return Drawing(tuple(found), failures, is_capped=bool(problem.caps))


class _Plan:
    """The strategies that apply, each at each of its sizes, by turns."""

    def __init__(self, grammar: Grammar, seed: int) -> None:
        self.grammar = grammar
        self.seed = seed
        self.failures: dict[str, str] = {}
        self._seen: dict[int, list[Values]] = {}
        self._failed = dict.fromkeys(Size, 0)
        self._drew: set[Size] = set()

    def run(self, wanted: int) -> list[DrawnInput]:
        """So many different inputs, or those that are found."""
        found: list[DrawnInput] = []
        going = [(strategy, size) for strategy, size in _turns() if strategy.applies(self.grammar)]
        misses = dict.fromkeys(range(len(going)), 0)
        for turn in range(MAX_ROUNDS):
            for place, (strategy, size) in enumerate(going):
                if len(found) >= wanted:
                    return found
                if misses[place] >= (1 if size in (Size.LARGE, Size.GREATEST) else MAX_MISSES):
                    continue
                drawn = self._draw(strategy, size, turn)
                misses[place] = 0 if drawn is not None else misses[place] + 1
                if drawn is not None:
                    found.append(drawn)
        return found

    def _draw(self, strategy: Strategy, size: Size, turn: int) -> DrawnInput | None:
        """A new input, or None."""
        name = f"{strategy.name}, {size}"
        if self._failed[size] >= MAX_FAILURES and size not in self._drew:
            return None
        rng = np.random.default_rng([self.seed, crc32(name.encode()), turn])
        try:
            values = strategy.draw(self.grammar, rng, size)
        except CannotDraw as error:
            self.failures.setdefault(name, error.message)
            self._failed[size] += 1
            return None
        self._drew.add(size)
        alike = self._seen.setdefault(amount(values), [])
        if values in alike:
            return None
        alike.append(values)
        return DrawnInput(name, values)


def _turns() -> Iterator[tuple[Strategy, Size]]:
    """Each strategy at each of its sizes: of each turn first all at their first size."""
    strategies = list(all_strategies().values())
    for turn in sorted({strategy.turn for strategy in strategies}):
        of_turn = [strategy for strategy in strategies if strategy.turn == turn]
        for place in range(max(len(strategy.sizes) for strategy in of_turn)):
            for strategy in of_turn:
                if place < len(strategy.sizes):
                    yield strategy, strategy.sizes[place]


def amount(values: Values) -> int:
    """How much an input holds: its numbers, and the letters of its strings."""
    return sum(map(_amount, values.values()))


def _amount(value: Value) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, int):
        return 1
    if value and isinstance(value[0], int):
        return len(value)
    if value and isinstance(value[0], str):
        return sum(map(len, value))  # type: ignore[arg-type] # all are strings
    return sum(map(_amount, value))
