"""Strings and grids of nothing but the first letter of the alphabet."""

from __future__ import annotations

import numpy as np

from eval.made_tests.drawing import _letters
from eval.made_tests.drawing._building import build
from eval.made_tests.drawing._features import cases_for, has_letters
from eval.made_tests.drawing._style import Size, Style
from eval.made_tests.grammar import Grammar, Values

NAME = "first letter"
TURN = 1
SIZES = (Size.SMALL, Size.GREATEST)
applies = has_letters


def draw(grammar: Grammar, rng: np.random.Generator, size: Size) -> Values:
    """One such input; CannotDraw."""
    return build(grammar, rng, Style(size, cases=cases_for(size, rng), letters=_letters.first_letter))
