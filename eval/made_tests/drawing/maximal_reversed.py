"""Every bound at its greatest, the last extent first: of extents with a limit in common it takes what it can."""

from __future__ import annotations

import numpy as np

from eval.made_tests.drawing._building import build
from eval.made_tests.drawing._features import has_extents, shares_among_cases
from eval.made_tests.drawing._style import Share, Size, Style
from eval.made_tests.grammar import Grammar, Values

NAME = "last extent first"
TURN = 0
SIZES = (Size.GREATEST,)
applies = has_extents


def draw(grammar: Grammar, rng: np.random.Generator, size: Size) -> Values:
    """One such input; CannotDraw."""
    cases = Size.LEAST if shares_among_cases(grammar) else Size.GREATEST
    return build(grammar, rng, Style(size, cases=cases, share=Share.FIRST, is_reversed=True))
