"""All test cases that there are, in one input, where they are few."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eval.made_tests.drawing._errors import CannotDraw
from eval.made_tests.drawing._exhausting import all_inputs
from eval.made_tests.drawing._features import has_cases
from eval.made_tests.drawing._style import Size
from eval.made_tests.grammar import Comparison, Constant, Grammar, InputRefused, Value, Values
from eval.made_tests.mentions import number_of_cases
from eval.made_tests.values import check

NAME = "every case"
TURN = 0
SIZES = (Size.LARGE,)


def applies(grammar: Grammar) -> bool:
    """There are test cases, and few that are different."""
    return has_cases(grammar) and all_inputs(one_case(grammar)) is not None


def draw(grammar: Grammar, rng: np.random.Generator, size: Size) -> Values:
    """The inputs of one test case each, put together as far as the constraints allow; CannotDraw."""
    count = number_of_cases(grammar)
    if count is None:
        raise CannotDraw("there are no test cases")
    found = all_inputs(one_case(grammar))
    if found is None or len(found) < 2:
        raise CannotDraw("the test cases are too many to list")
    most = len(found)
    while most > 1:
        values = _together(grammar, found[:most], count.name)
        try:
            check(grammar, values)
        except InputRefused:
            most //= 2
        else:
            return values
    raise CannotDraw("no two test cases go together")


def one_case(grammar: Grammar) -> Grammar:
    """The grammar of an input with one test case."""
    count = number_of_cases(grammar)
    single = () if count is None else (Comparison(count, "==", Constant(1)),)
    return replace(grammar, constraints=(*grammar.constraints, *single))


def _together(grammar: Grammar, inputs: tuple[Values, ...], count: str) -> Values:
    values: Values = dict(inputs[0])
    for name in grammar.per_case:
        cases: list[Value] = []
        for each in inputs:
            value = each[name]
            cases += value if isinstance(value, list) else [value]
        values[name] = cases
    values[count] = len(inputs)
    return values
