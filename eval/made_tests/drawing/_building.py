"""One input, drawn step by step in the order of a problem. Pure but for the generator."""

from __future__ import annotations

import numpy as np

from eval.made_tests import exact
from eval.made_tests.drawing._binary_trees import draw_places, in_search_order
from eval.made_tests.drawing._errors import CannotDraw
from eval.made_tests.drawing._implied import length_for
from eval.made_tests.drawing._numbers import draw_numbers
from eval.made_tests.drawing._problem import Problem, problem_of
from eval.made_tests.drawing._sharing import share_out
from eval.made_tests.drawing._state import State
from eval.made_tests.drawing._strings import alphabet_of, draw_strings
from eval.made_tests.drawing._style import Size, Style
from eval.made_tests.drawing._together import are_integers, draw_chain, draw_graph, draw_pairs
from eval.made_tests.exact import numbers
from eval.made_tests.grammar import Distinct, Grammar, Graph, InputRefused, Kind, OneOf, SumAtMost, Values
from eval.made_tests.mentions import names_in
from eval.made_tests.values import check

MAX_TRIES = {Size.LEAST: 20, Size.SMALL: 30, Size.MID: 10, Size.LARGE: 3, Size.GREATEST: 3}
"""So often an input is drawn anew when it turns out to break a constraint; small ones are quick to draw."""


def build(grammar: Grammar, rng: np.random.Generator, style: Style) -> Values:
    """An input in a style that keeps all constraints; CannotDraw names the one that defeats it."""
    problem = problem_of(grammar)
    last: CannotDraw | None = None
    for _ in range(MAX_TRIES[style.sizes]):
        try:
            values = _attempt(problem, rng, style)
            check(grammar, values)
        except CannotDraw as error:
            last = error
        except InputRefused as error:
            last = CannotDraw(str(error))
        else:
            return values
    raise last or CannotDraw("nothing was tried")


def _attempt(problem: Problem, rng: np.random.Generator, style: Style) -> Values:
    state = State(problem, problem.domains.copy(), rng, style)
    waiting = [*problem.sums, *problem.caps]
    for step in _ordered(problem, style):
        _lengthen(state, step)
        waiting = _share_out(state, waiting, step)
        draw_step(state, step)
    return state.values()


def _ordered(problem: Problem, style: Style) -> tuple[tuple[str, ...], ...]:
    """The steps, with the extents without indices the other way round where the style wants it."""
    if not style.is_reversed:
        return problem.steps
    scalars = [
        step
        for step in problem.steps
        if len(step) == 1
        and step[0] in problem.extents
        and step[0] != problem.count
        and not problem.variables[step[0]].dimensions
    ]
    turned = iter(reversed(scalars))
    return tuple(next(turned) if step in scalars else step for step in problem.steps)


def _lengthen(state: State, step: tuple[str, ...]) -> None:
    """Strings that have to be different are as long as that takes."""
    problem, domains = state.problem, state.domains
    for name, length in problem.lengths.items():
        distinct = [each for each in problem.constraints(name, Distinct) if isinstance(each, Distinct)]
        if length not in step or not any(each.names == (name,) for each in distinct):
            continue
        counts = np.diff(state.groups(length))
        needed = [length_for(int(count), len(alphabet_of(state, name))) for count in counts]
        least = exact.at_most(domains.high[length], np.repeat(numbers(needed), counts))
        domains.low[length] = exact.at_least(domains.low[length], least)
        domains.propagate([length])


def _share_out(state: State, waiting: list[SumAtMost], step: tuple[str, ...]) -> list[SumAtMost]:
    """Share out the sums in which a step's variables are terms, as far as that can be done by now."""
    left = []
    for each in waiting:
        is_next = bool(names_in([each.expression]) & set(step))
        if not (is_next and share_out(state.rng, state.domains, each, state.style.share)):
            left.append(each)
    return left


def draw_step(state: State, step: tuple[str, ...]) -> None:
    """Settle the variables of one step; CannotDraw."""
    graphs = [each for each in state.problem.grammar.constraints if isinstance(each, Graph) and each.first == step[0]]
    if graphs:
        draw_graph(state, graphs[0])
    elif len(step) == 2 and (step[0], step[1]) in state.problem.chains:
        draw_chain(state, step[0], step[1])
    elif len(step) > 1 and are_integers(state, step):
        draw_pairs(state, step)
    else:
        for name in step:
            _draw(state, name)


def _draw(state: State, name: str) -> None:
    variable = state.problem.variables[name]
    if variable.kind is Kind.INTEGER:
        places = draw_places(state, name)
        state.settle(name, in_search_order(state, name, draw_numbers(state, name)) if places is None else places)
        return
    if variable.kind is Kind.DECIMAL:
        state.texts[name] = _decimals(state, name)
        return
    state.texts[name] = draw_strings(state, name)
    length = state.problem.lengths[name]
    if not state.domains.is_settled(length):
        found = numbers([len(text) for text in state.texts[name]])
        low, high = state.domains.low[length], state.domains.high[length]
        if ((found < low) | (found > high)).any():
            raise CannotDraw(f"the strings that {name} may be do not have the lengths that they should")
        state.settle(length, found)


def _decimals(state: State, name: str) -> list[str]:
    lists = [each.values for each in state.problem.constraints(name, OneOf) if isinstance(each, OneOf)]
    choices = lists[0] if lists else ()
    if not choices:
        raise CannotDraw(f"nothing says how many digits {name} has")
    chosen = state.rng.integers(0, len(choices), size=state.layout(name).size)
    return [choices[place] for place in chosen.tolist()]
