"""Every bound at its greatest: the largest input that the constraints allow, in one test case where a sum is shared."""

from __future__ import annotations

import numpy as np

from eval.made_tests.drawing import _letters, _policies
from eval.made_tests.drawing._building import build
from eval.made_tests.drawing._features import shares_among_cases
from eval.made_tests.drawing._style import Order, Share, Size, Style
from eval.made_tests.grammar import Grammar, Values

NAME = "maximal"
TURN = 0
SIZES = (Size.GREATEST,)


def draw(grammar: Grammar, rng: np.random.Generator, size: Size) -> Values:
    """One such input; CannotDraw."""
    cases = Size.LEAST if shares_among_cases(grammar) else Size.GREATEST
    style = Style(
        size,
        cases=cases,
        share=Share.FIRST,
        numbers=_policies.greatest,
        order=Order.DOWN,
        letters=_letters.last_letter,
    )
    return build(grammar, rng, style)
