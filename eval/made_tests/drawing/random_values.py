"""Every value is as likely as every other one."""

from __future__ import annotations

import numpy as np

from eval.made_tests.drawing._building import build
from eval.made_tests.drawing._features import cases_for
from eval.made_tests.drawing._style import Size, Style
from eval.made_tests.grammar import Grammar, Values

NAME = "random"
TURN = 0
SIZES = (Size.SMALL, Size.MID, Size.LARGE)


def draw(grammar: Grammar, rng: np.random.Generator, size: Size) -> Values:
    """One such input; CannotDraw."""
    return build(grammar, rng, Style(size, cases=cases_for(size, rng), is_balanced=rng.random() < 0.5))
