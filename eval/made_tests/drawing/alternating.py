"""Small and great elements by turns, and two letters by turns."""

from __future__ import annotations

import numpy as np

from eval.made_tests.drawing import _letters, _policies
from eval.made_tests.drawing._building import build
from eval.made_tests.drawing._features import cases_for, has_rows_or_strings
from eval.made_tests.drawing._style import Size, Style
from eval.made_tests.grammar import Grammar, Values

NAME = "alternating"
TURN = 2
SIZES = (Size.SMALL, Size.GREATEST)
applies = has_rows_or_strings


def draw(grammar: Grammar, rng: np.random.Generator, size: Size) -> Values:
    """One such input; CannotDraw."""
    style = Style(size, cases=cases_for(size, rng), numbers=_policies.alternating, letters=_letters.alternating_letters)
    return build(grammar, rng, style)
