"""Strings and grids of one letter, with others here and there."""

from __future__ import annotations

import numpy as np

from eval.made_tests.drawing import _letters
from eval.made_tests.drawing._building import build
from eval.made_tests.drawing._features import cases_for, has_letters
from eval.made_tests.drawing._style import Size, Style
from eval.made_tests.grammar import Grammar, Values

NAME = "sparse"
TURN = 1
SIZES = (Size.SMALL, Size.MID, Size.GREATEST)
applies = has_letters


def draw(grammar: Grammar, rng: np.random.Generator, size: Size) -> Values:
    """One such input; CannotDraw."""
    style = Style(size, cases=cases_for(size, rng), letters=_letters.sparse, is_balanced=True)
    return build(grammar, rng, style)
