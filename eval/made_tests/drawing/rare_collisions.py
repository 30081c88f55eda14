"""Values from a range about as wide as there are values: a few are the same, and most stand apart."""

from __future__ import annotations

import numpy as np

from eval.made_tests.drawing import _policies
from eval.made_tests.drawing._building import build
from eval.made_tests.drawing._features import cases_for
from eval.made_tests.drawing._style import Size, Style
from eval.made_tests.grammar import Grammar, Values

NAME = "rare collisions"
TURN = 0
SIZES = (Size.MID, Size.SMALL, Size.GREATEST)


def draw(grammar: Grammar, rng: np.random.Generator, size: Size) -> Values:
    """One such input; CannotDraw."""
    return build(grammar, rng, Style(size, cases=cases_for(size, rng), numbers=_policies.some_equal, is_balanced=True))
