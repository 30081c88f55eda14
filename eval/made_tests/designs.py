"""Inputs of design classes, drawn from the grammar of a statement: sequences of calls with their arguments.

A plan is what calls there are (`eval.made_tests.design_sequences`), how their arguments are chosen
(`eval.made_tests.design_arguments`) and how many they are. Plans take their turns, the first ones being a good choice
too; each input is checked before it is given out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from zlib import crc32

import numpy as np

from eval.made_tests import design_sequences as sequences
from eval.made_tests.coverage import BoundReached, extremes
from eval.made_tests.design_arguments import (
    EXTREMES,
    FEW,
    GREATEST,
    LEAST,
    MAGNITUDES,
    RANDOM,
    ArgumentStyle,
    draw_calls,
    draw_values,
)
from eval.made_tests.design_checks import check_calls
from eval.made_tests.design_grammar import Calls, DesignGrammar, together, values_together
from eval.made_tests.design_text import render
from eval.made_tests.drawing import MAX_BYTES, CannotDraw, Size
from eval.made_tests.grammar import Constraint, InputRefused
from eval.made_tests.mentions import mentioned

MAX_CALLS = 100_000
"""A drawn input has no more calls than this."""
SMALL, MID, LARGE = 6, 60, 1000
MAX_ROUNDS = 100
MAX_MISSES = 3
MAX_TRIES = 4


@dataclass(frozen=True)
class DrawnCalls:
    """One input with its text, and what it was drawn by: "mixed, collisions, mid"."""

    strategy: str
    calls: Calls
    text: str


@dataclass(frozen=True)
class DesignDrawing:
    """Inputs, those with fewer calls first. ``failures`` says of each plan that drew none why.

    ``is_capped``: more calls, or longer arguments, are allowed.
    """

    inputs: tuple[DrawnCalls, ...]
    failures: Mapping[str, str] = field(default_factory=dict)
    is_capped: bool = False


@dataclass(frozen=True)
class _Plan:
    name: str
    pattern: sequences.Pattern
    style: ArgumentStyle
    size: Size

    @property
    def text(self) -> str:
        """What inputs of this plan are said to be drawn by."""
        return f"{self.name}, {self.style.strategy}, {self.size}"


def draw_designs(grammar: DesignGrammar, seed: int, wanted: int) -> DesignDrawing:
    """So many different inputs, or all that are found, the same for the same grammar and seed.

    CannotDraw where there is none, or where the grammar is not complete.
    """
    if not grammar.is_complete:
        raise CannotDraw(f"the statement was not understood: {grammar.not_understood[0]}")
    plans = list(_plans(grammar))
    misses = dict.fromkeys(range(len(plans)), 0)
    found: dict[str, DrawnCalls] = {}
    failures: dict[str, str] = {}
    is_capped = sequences.most_calls(grammar) > MAX_CALLS
    for turn in range(MAX_ROUNDS):
        for place, plan in enumerate(plans):
            is_again = turn > 0 and plan.size is Size.GREATEST  # one such input of a plan is enough: they are large
            if len(found) >= wanted or misses[place] >= MAX_MISSES or is_again:
                continue
            rng = np.random.default_rng([seed, crc32(plan.text.encode()), turn])
            try:
                calls, text, is_cut = _drawn(grammar, plan, rng)
            except CannotDraw as error:
                failures.setdefault(plan.text, error.message)
                misses[place] += 1
                continue
            misses[place] = misses[place] + 1 if text in found else 0
            is_capped = is_capped or is_cut
            found.setdefault(text, DrawnCalls(plan.text, calls, text))
    if not found:
        raise CannotDraw(next(iter(failures.values()), "no calls are allowed"))
    drawn = sorted(found.values(), key=lambda each: len(each.calls.calls))
    drew = {each.strategy for each in drawn}
    return DesignDrawing(
        tuple(drawn),
        {name: message for name, message in failures.items() if name not in drew},
        is_capped=is_capped,
    )


def _plans(grammar: DesignGrammar) -> Iterator[_Plan]:
    """In the order in which they take their turns: few small ones of everything, then collisions and large ones."""
    names = [method.name for method in grammar.methods]
    mixed = ("mixed", sequences.mixed)
    yield _Plan("in turn", sequences.in_turn, RANDOM, Size.LEAST)
    yield _Plan(*mixed, FEW, Size.SMALL)
    yield _Plan(*mixed, RANDOM, Size.MID)
    yield _Plan(*mixed, FEW, Size.GREATEST)
    yield _Plan(*mixed, RANDOM, Size.GREATEST)
    for name in names:
        yield _Plan(f"{name} alone", sequences.alone(name), FEW, Size.SMALL)
    yield _Plan("in turn", sequences.in_turn, LEAST, Size.SMALL)
    yield _Plan("in turn", sequences.in_turn, EXTREMES, Size.MID)
    yield _Plan("in phases", sequences.in_phases, FEW, Size.MID)
    yield _Plan(*mixed, FEW, Size.MID)
    yield _Plan("in phases", sequences.in_phases, RANDOM, Size.GREATEST)
    for name in names:
        yield _Plan(f"mostly {name}", sequences.mostly(name), FEW, Size.MID)
    yield _Plan("in runs", sequences.in_runs, RANDOM, Size.MID)
    yield _Plan(*mixed, MAGNITUDES, Size.LARGE)
    yield _Plan("in turn", sequences.in_turn, GREATEST, Size.GREATEST)
    yield _Plan("in runs", sequences.in_runs, FEW, Size.LARGE)
    for name in names:
        yield _Plan(f"mostly {name}", sequences.mostly(name), RANDOM, Size.GREATEST)
        yield _Plan(f"{name} alone", sequences.alone(name), RANDOM, Size.LARGE)


def _drawn(grammar: DesignGrammar, plan: _Plan, rng: np.random.Generator) -> tuple[Calls, str, bool]:
    """One input of a plan that keeps what the statement says, with its text, and whether a longer one was cut short.

    CannotDraw says what defeats it.
    """
    last: CannotDraw | None = None
    share, is_cut = 1.0, False
    for _ in range(MAX_TRIES):
        try:
            made_with = draw_values(grammar.constructor, rng, plan.style, _size_of_arguments(plan.size))
            order = _order(grammar, plan, rng, share)
            calls = Calls(made_with, draw_calls(grammar, made_with, order, rng, plan.style, plan.size))
            check_calls(grammar, calls)
            text = render(grammar, calls)
        except CannotDraw as error:
            last = error
        except InputRefused as error:
            last = CannotDraw(str(error))
        else:
            if len(text) <= MAX_BYTES:
                return calls, text, is_cut
            last, is_cut = CannotDraw(f"the calls take {len(text)} bytes"), True
            share *= 0.8 * MAX_BYTES / len(text)
    raise last or CannotDraw("nothing was tried")


def _size_of_arguments(size: Size) -> Size:
    return Size.SMALL if size is Size.LEAST else size


def _order(grammar: DesignGrammar, plan: _Plan, rng: np.random.Generator, share: float) -> list[str]:
    names = [method.name for method in grammar.methods]
    most = min(sequences.most_calls(grammar), MAX_CALLS)
    match plan.size:
        case Size.LEAST:
            n_calls = len(names)
        case Size.SMALL:
            n_calls = int(rng.integers(1, SMALL + 1))
        case Size.MID:
            n_calls = int(rng.integers(SMALL, MID + 1))
        case Size.LARGE:
            n_calls = LARGE
        case Size.GREATEST:
            n_calls = most
    n_calls = int(n_calls * share)
    by_arguments = sorted(grammar.methods, key=lambda each: -len(each.grammar.parameters))
    order = plan.pattern(rng, [method.name for method in by_arguments], max(min(n_calls, most), 1))
    return sequences.allowed(grammar, sequences.with_required(grammar, order))


def extremes_of_calls(grammar: DesignGrammar, inputs: Sequence[Calls]) -> tuple[BoundReached, ...]:
    """The extremes of a class's inputs with how many of these reach each: of arguments, and of numbers of calls.

    Bounds that depend on what the class was made with are left out.
    """
    found = [
        replace(each, bound=f"{grammar.name}: {each.bound}")
        for each in extremes(grammar.constructor, [calls.constructor for calls in inputs])
    ]
    for method in grammar.methods:
        own = {variable.name for variable in method.grammar.variables}
        free = replace(
            method.grammar, constraints=tuple(each for each in method.grammar.constraints if _names(each) <= own)
        )
        of_calls = [[call.values for call in calls.calls if call.method == method.name] for calls in inputs]
        values = [values_together(free, each) for each in of_calls if each]
        found += (replace(each, bound=f"{method.name}: {each.bound}") for each in extremes(together(free), values))
    for limit in grammar.limits:
        counts = [sum(call.method in limit.methods for call in calls.calls) for calls in inputs]
        text = f"{limit.most} calls of {', '.join(limit.methods)}"
        found.append(BoundReached(text, sum(count == limit.most for count in counts)))
    return tuple(found)


def _names(constraint: Constraint) -> frozenset[str]:
    """The variables in a constraint, its own indices apart."""
    indices = getattr(constraint, "indices", ())
    return mentioned(constraint) - {index.name for index in indices}
