"""Values next to those at which programs break that count with too few bits."""

from __future__ import annotations

import numpy as np

from eval.made_tests.drawing import _policies
from eval.made_tests.drawing._building import build
from eval.made_tests.drawing._features import cases_for, has_large_numbers
from eval.made_tests.drawing._style import Share, Size, Style
from eval.made_tests.grammar import Grammar, Values

NAME = "overflow"
TURN = 1
SIZES = (Size.SMALL, Size.GREATEST)
applies = has_large_numbers


def draw(grammar: Grammar, rng: np.random.Generator, size: Size) -> Values:
    """One such input; CannotDraw."""
    return build(grammar, rng, Style(size, cases=cases_for(size, rng), share=Share.FIRST, numbers=_policies.edges))
