"""The arguments of calls: drawn for all calls of a method at once, some shared by methods, in order where wanted.

Pure but for the generator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from eval.made_tests.design_grammar import (
    Call,
    DesignGrammar,
    DifferentCalls,
    RisingCalls,
    closed,
    together,
    values_apart,
    values_together,
)
from eval.made_tests.drawing import MAX_BYTES, CannotDraw, Size, Strategy, all_strategies
from eval.made_tests.grammar import (
    Comparison,
    Constant,
    Grammar,
    InputRefused,
    Kind,
    Reference,
    Value,
    Values,
    Variable,
)
from eval.made_tests.values import check

MOST_SHARED = 1000
"""So many values of an argument are known again in other calls, and no more."""
FEW_SHARED = 4
_CUT = 0.3
"""This share of strings that come again is cut short: prefixes of what is there already."""


@dataclass(frozen=True)
class ArgumentStyle:
    """How arguments are chosen: by a strategy of `eval.made_tests.drawing`, and how many come again in other calls.

    ``shared`` is the share of arguments that are taken from those of other methods, ``n_shared`` from so many values.
    """

    strategy: str
    shared: float
    n_shared: int = MOST_SHARED


RANDOM = ArgumentStyle("random", 0.5)
FEW = ArgumentStyle("collisions", 0.8, FEW_SHARED)
EXTREMES = ArgumentStyle("extremes", 0.3)
LEAST = ArgumentStyle("minimal", 0.0)
GREATEST = ArgumentStyle("maximal", 0.3)
MAGNITUDES = ArgumentStyle("magnitudes", 0.5)


def draw_values(grammar: Grammar, rng: np.random.Generator, style: ArgumentStyle, size: Size) -> Values:
    """One input of a grammar in a style, or at random where the style is not for this grammar; CannotDraw."""
    if not grammar.variables:
        return {}
    strategies = all_strategies()
    last: CannotDraw | None = None
    for strategy in dict.fromkeys((strategies[style.strategy], strategies["random"])):
        if not strategy.applies(grammar):
            continue
        try:
            return strategy.draw(grammar, rng, _size_for(strategy, size))
        except CannotDraw as error:
            last = error
    raise last or CannotDraw("no strategy applies")


def _size_for(strategy: Strategy, size: Size) -> Size:
    """The size, or the one of the strategy's that comes closest."""
    order = list(Size)
    return min(strategy.sizes, key=lambda each: abs(order.index(each) - order.index(size)))


def draw_calls(
    grammar: DesignGrammar,
    made_with: Values,
    order: Sequence[str],
    rng: np.random.Generator,
    style: ArgumentStyle,
    size: Size,
) -> tuple[Call, ...]:
    """Calls of these methods in this order with arguments; CannotDraw. Calls for which none are left are left out."""
    grammars = {name: closed(grammar.by_name[name], grammar.constructor, made_with) for name in dict.fromkeys(order)}
    drawn: dict[str, list[Values]] = {}
    for name, own in grammars.items():
        n_calls = order.count(name)
        if not own.variables:
            drawn[name] = [{}] * n_calls
            continue
        try:
            drawn[name] = values_apart(own, draw_values(together(own, n_calls), rng, style, size))
        except CannotDraw as error:
            raise CannotDraw(f"{name}: {error.message}") from None
    shared = _share(grammars, drawn, rng, style)
    queues = {name: iter(values) for name, values in shared.items()}
    calls = [Call(name, next(queues[name])) for name in order]
    for rising in grammar.rising:
        calls = _in_order(calls, rising, grammars)
    for different in grammar.different:
        calls = _without_repeated(calls, different)
    return tuple(calls)


def _share(
    grammars: Mapping[str, Grammar], drawn: Mapping[str, list[Values]], rng: np.random.Generator, style: ArgumentStyle
) -> dict[str, list[Values]]:
    """The arguments with some replaced by what calls of other methods have, where the constraints allow them there."""
    result = dict(drawn)
    for name, own in grammars.items():
        for parameter in _shareable(own) if result[name] and style.shared else ():
            others = _partners(name, parameter, grammars)
            pool = _pool(others, result)[: style.n_shared]
            if not pool:
                continue
            changed = _replaced(result[name], parameter.name, pool, rng, style.shared)
            if _n_letters(changed, parameter.name) > max(MAX_BYTES // 4, _n_letters(result[name], parameter.name)):
                continue
            try:
                check(together(own), values_together(own, changed))
            except InputRefused:
                continue
            result[name] = changed
    return result


def _shareable(grammar: Grammar) -> list[Variable]:
    return [each for each in grammar.variables if not each.dimensions and each.kind is not Kind.DECIMAL]


def _partners(method: str, parameter: Variable, grammars: Mapping[str, Grammar]) -> list[tuple[str, str]]:
    """The arguments of other methods that mean the same: those of the same name.

    Where none of a method's arguments has such a partner, those of the same kind: add(number) and find(value).
    """
    others = [(other, each) for other, own in grammars.items() if other != method for each in _shareable(own)]
    names = {each.name for _, each in others}
    if names & {each.name for each in _shareable(grammars[method])}:
        return [(other, each.name) for other, each in others if each.name == parameter.name]
    return [(other, each.name) for other, each in others if each.kind is parameter.kind]


def _pool(arguments: Sequence[tuple[str, str]], drawn: Mapping[str, list[Values]]) -> list[int | str]:
    """The different values that these arguments have, as they come first."""
    found: dict[int | str, None] = {}
    for method, name in arguments:
        for values in drawn[method][:MOST_SHARED]:
            value = values[name]
            if not isinstance(value, list):
                found.setdefault(value)
    return list(found)


def _n_letters(calls: Sequence[Values], name: str) -> int:
    return sum(len(value) for values in calls if isinstance(value := values[name], str))


def _replaced(
    calls: Sequence[Values], name: str, pool: Sequence[int | str], rng: np.random.Generator, share: float
) -> list[Values]:
    chosen = (rng.random(len(calls)) < share).tolist()
    places = rng.integers(0, len(pool), size=len(calls)).tolist()
    cuts = rng.random(len(calls)).tolist()
    found = []
    for values, is_chosen, place, cut in zip(calls, chosen, places, cuts, strict=True):
        value: Value = pool[place]
        if isinstance(value, str) and cut < _CUT and len(value) > 1:
            value = value[: 1 + int(cut / _CUT * (len(value) - 1))]
        found.append({**values, name: value} if is_chosen else values)
    return found


def _in_order(calls: list[Call], rising: RisingCalls, grammars: Mapping[str, Grammar]) -> list[Call]:
    """The calls with a parameter's values in order; those for which no greater value is left are left out."""
    places = [place for place, call in enumerate(calls) if call.method in rising.methods]
    values = sorted(_numbers(calls[place].values[rising.parameter] for place in places))
    if rising.is_strict or rising.is_doubtful:
        most = min(
            (_most(grammars[call.method], rising.parameter) for call in calls if call.method in rising.methods),
            default=0,
        )
        values = _made_strict(values, most)
    left_out = set(places[len(values) :])
    following = dict(zip(places, values, strict=False))
    return [
        replace(call, values={**call.values, rising.parameter: following[place]}) if place in following else call
        for place, call in enumerate(calls)
        if place not in left_out
    ]


def _without_repeated(calls: Sequence[Call], different: DifferentCalls) -> list[Call]:
    """The calls without those that have a value which one before has."""
    seen: set[str] = set()
    found = []
    for call in calls:
        if call.method in different.methods:
            value = repr(call.values[different.parameter])
            if value in seen:
                continue
            seen.add(value)
        found.append(call)
    return found


def _numbers(values: Iterator[Value]) -> Iterator[int]:
    return (value for value in values if isinstance(value, int))


def _made_strict(values: Sequence[int], most: int) -> list[int]:
    """Values in order, moved up where they are equal, and down again where that passes the greatest one."""
    found: list[int] = []
    for value in values:
        found.append(max(value, found[-1] + 1) if found else value)
    for place in range(len(found) - 1, -1, -1):
        limit = most - (len(found) - 1 - place)
        if found[place] <= limit:
            break
        found[place] = limit
    # What was moved down below its least value is too much for the range.
    least = min(values, default=0)
    return [value for value in found if value >= least]


def _most(grammar: Grammar, name: str) -> int:
    """The greatest value that a number may have; CannotDraw where no number says it."""
    bounds = [
        each.right.value - (each.operator == "<")
        for each in grammar.constraints
        if isinstance(each, Comparison) and each.operator in ("<", "<=")
        if each.left == Reference(name) and isinstance(each.right, Constant)
    ]
    if not bounds:
        raise CannotDraw(f"nothing says how large {name} may be")
    return min(bounds)
