"""The greatest sizes, and random values."""

from __future__ import annotations

import numpy as np

from eval.made_tests.drawing._building import build
from eval.made_tests.drawing._features import shares_among_cases
from eval.made_tests.drawing._style import Share, Size, Style
from eval.made_tests.grammar import Grammar, Values

NAME = "largest random"
TURN = 1
SIZES = (Size.GREATEST,)


def draw(grammar: Grammar, rng: np.random.Generator, size: Size) -> Values:
    """One such input; CannotDraw."""
    cases = Size.LEAST if shares_among_cases(grammar) else Size.GREATEST
    return build(grammar, rng, Style(size, cases=cases, share=Share.FIRST, is_reversed=rng.random() < 0.5))
