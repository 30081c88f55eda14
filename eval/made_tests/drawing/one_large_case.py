"""As many test cases as there may be, and one that takes all that the others leave."""

from __future__ import annotations

import numpy as np

from eval.made_tests.drawing._building import build
from eval.made_tests.drawing._features import shares_among_cases
from eval.made_tests.drawing._style import Share, Size, Style
from eval.made_tests.grammar import Grammar, Values

NAME = "one large case"
TURN = 2
SIZES = (Size.GREATEST,)
applies = shares_among_cases


def draw(grammar: Grammar, rng: np.random.Generator, size: Size) -> Values:
    """One such input; CannotDraw."""
    style = Style(size, cases=Size.GREATEST, share=Share.FIRST)
    return build(grammar, rng, style)
