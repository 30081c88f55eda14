"""As many test cases as there may be, of equal size."""

from __future__ import annotations

import numpy as np

from eval.made_tests.drawing._building import build
from eval.made_tests.drawing._features import has_cases
from eval.made_tests.drawing._style import Share, Size, Style
from eval.made_tests.grammar import Grammar, Values

NAME = "many cases"
TURN = 0
SIZES = (Size.GREATEST,)
applies = has_cases


def draw(grammar: Grammar, rng: np.random.Generator, size: Size) -> Values:
    """One such input; CannotDraw."""
    style = Style(size, cases=Size.GREATEST, share=Share.EVEN)
    return build(grammar, rng, style)
