"""Values and letters that stand as often as they have to. Pure but for the generator."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eval.made_tests import exact
from eval.made_tests.drawing._errors import CannotDraw
from eval.made_tests.drawing._policies import uniform
from eval.made_tests.drawing._state import State
from eval.made_tests.exact import Numbers
from eval.made_tests.grammar import Occurrences
from eval.made_tests.wording import constraint_text


@dataclass(frozen=True)
class Wanted:
    """How often a value has to stand somewhere, at least and at most."""

    value: int
    low: int
    high: int
    text: str


def counted(rng: np.random.Generator, elements: list[int], wanted: list[Wanted], others: list[int]) -> list[int]:
    """The elements with each wanted one as often as it has to be: first fewer of some, then more; CannotDraw."""
    result = list(elements)
    places: dict[int, list[int]] = {each.value: [] for each in wanted}
    free: list[int] = []
    for place, element in enumerate(elements):
        places.get(element, free).append(place)
    for each in wanted:
        if each.low > each.high:
            raise CannotDraw(f"{each.text} cannot be kept: {each.low} is more than {each.high}")
        surplus = len(places[each.value]) - max(each.high, 0)
        if surplus > 0 and others:
            order = [places[each.value][place] for place in rng.permutation(len(places[each.value])).tolist()]
            chosen = rng.integers(len(others), size=surplus).tolist()
            for place, other in zip(order[:surplus], chosen, strict=True):
                result[place] = others[other]
            free += order[:surplus]
            places[each.value] = order[surplus:]
    for each in wanted:
        while len(places[each.value]) < each.low:
            sources = [free] if free else [places[one.value] for one in wanted if len(places[one.value]) > one.low]
            if not sources:
                raise CannotDraw(f"{each.text} cannot be kept in {len(elements)} elements")
            place = _taken(rng, sources[0])
            result[place] = each.value
            places[each.value].append(place)
    return result


def _taken(rng: np.random.Generator, places: list[int]) -> int:
    """One of the places, which is no longer among them."""
    at = int(rng.integers(len(places)))
    places[at], places[-1] = places[-1], places[at]
    return places.pop()


def with_occurrences(state: State, constraints: list[Occurrences], name: str, values: Numbers) -> Numbers:
    """The values of an integer variable with each value that is counted as often as it has to be; CannotDraw."""
    result = values.tolist()
    cases = state.case_of(name)
    for whole in sorted({constraint.whole for constraint in constraints}):
        groups = state.groups(name, within_row=not whole)
        here = [each for each in constraints if each.whole == whole]
        bounds = [(state.of_cases(each.low), state.of_cases(each.high)) for each in here]
        for start, end in zip(groups[:-1].tolist(), groups[1:].tolist(), strict=True):
            if start < end:
                case = int(cases[start])
                counts = [(int(low[case]), int(high[case])) for low, high in bounds]
                result[start:end] = _with(state, here, counts, name, result[start:end], start)
    return exact.numbers(result)


def _with(
    state: State,
    constraints: list[Occurrences],
    counts: list[tuple[int, int]],
    name: str,
    elements: list[int],
    start: int,
) -> list[int]:
    least, most = int(state.domains.low[name][start]), int(state.domains.high[name][start])
    wanted = []
    for each, (low, high) in zip(constraints, counts, strict=True):
        if not each.values:
            return _each_equally(state, each, len(elements), least, most, low)
        wanted += [Wanted(int(value), low, high, constraint_text(each)) for value in each.values]
    return counted(state.rng, elements, wanted, _others(state, least, most, {each.value for each in wanted}))


def _others(state: State, least: int, most: int, wanted: set[int]) -> list[int]:
    sample = uniform(state.rng, exact.numbers([least] * 8), exact.numbers([most] * 8), np.array([0, 8])).tolist()
    return [value for value in sample if value not in wanted]


def _each_equally(state: State, constraint: Occurrences, length: int, least: int, most: int, times: int) -> list[int]:
    """Each value of the row exactly so many times."""
    if times < 1 or length % times or most - least + 1 < length // times:
        raise CannotDraw(f"{constraint_text(constraint)} cannot be kept in {length} elements")
    count = length // times
    span = most - least + 1
    if span <= 4 * count:
        chosen = [least + each for each in state.rng.permutation(span)[:count].tolist()]
    else:
        drawn: dict[int, None] = {}
        while len(drawn) < count:
            drawn[int(uniform(state.rng, exact.constant(least), exact.constant(most), np.array([0, 1]))[0])] = None
        chosen = list(drawn)
    repeated = [value for value in chosen for _ in range(times)]
    return [repeated[place] for place in state.rng.permutation(length).tolist()]
