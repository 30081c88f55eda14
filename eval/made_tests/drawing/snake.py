"""Grids with one long way through them."""

from __future__ import annotations

import numpy as np

from eval.made_tests.drawing import _letters
from eval.made_tests.drawing._building import build
from eval.made_tests.drawing._features import cases_for, has_grids
from eval.made_tests.drawing._style import Size, Style
from eval.made_tests.grammar import Grammar, Values

NAME = "snake"
TURN = 1
SIZES = (Size.MID, Size.GREATEST)
applies = has_grids


def draw(grammar: Grammar, rng: np.random.Generator, size: Size) -> Values:
    """One such input; CannotDraw."""
    return build(grammar, rng, Style(size, cases=cases_for(size, rng), letters=_letters.snake, is_balanced=True))
