"""Every number of digits is as likely as every other one."""

from __future__ import annotations

import numpy as np

from eval.made_tests.drawing import _policies
from eval.made_tests.drawing._building import build
from eval.made_tests.drawing._features import cases_for, has_integers
from eval.made_tests.drawing._style import Size, Style
from eval.made_tests.grammar import Grammar, Values

NAME = "magnitudes"
TURN = 1
SIZES = (Size.SMALL, Size.MID)
applies = has_integers


def draw(grammar: Grammar, rng: np.random.Generator, size: Size) -> Values:
    """One such input; CannotDraw."""
    return build(grammar, rng, Style(size, cases=cases_for(size, rng), numbers=_policies.magnitudes))
