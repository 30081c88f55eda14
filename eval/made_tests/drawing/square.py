"""Extents that have a limit in common are equal."""

from __future__ import annotations

import numpy as np

from eval.made_tests.drawing._building import build
from eval.made_tests.drawing._features import has_tables, shares_among_cases
from eval.made_tests.drawing._style import Size, Style
from eval.made_tests.grammar import Grammar, Values

NAME = "square"
TURN = 1
SIZES = (Size.GREATEST,)
applies = has_tables


def draw(grammar: Grammar, rng: np.random.Generator, size: Size) -> Values:
    """One such input; CannotDraw."""
    cases = Size.LEAST if shares_among_cases(grammar) else Size.GREATEST
    return build(grammar, rng, Style(size, cases=cases, is_balanced=True))
