"""Rows from greater to smaller elements; a permutation from the last to the first."""

from __future__ import annotations

import numpy as np

from eval.made_tests.drawing import _policies
from eval.made_tests.drawing._building import build
from eval.made_tests.drawing._features import cases_for, has_rows
from eval.made_tests.drawing._style import Order, Size, Style
from eval.made_tests.grammar import Grammar, Values

NAME = "falling"
TURN = 1
SIZES = (Size.SMALL, Size.GREATEST)
applies = has_rows


def draw(grammar: Grammar, rng: np.random.Generator, size: Size) -> Values:
    """One such input; CannotDraw."""
    style = Style(size, cases=cases_for(size, rng), numbers=_policies.falling, order=Order.DOWN)
    return build(grammar, rng, style)
