"""All elements of a row are the same, and all letters of a string."""

from __future__ import annotations

import numpy as np

from eval.made_tests.drawing import _letters, _policies
from eval.made_tests.drawing._building import build
from eval.made_tests.drawing._features import cases_for, has_rows_or_strings
from eval.made_tests.drawing._style import Size, Style
from eval.made_tests.grammar import Grammar, Values

NAME = "equal"
TURN = 1
SIZES = (Size.SMALL, Size.GREATEST)
applies = has_rows_or_strings


def draw(grammar: Grammar, rng: np.random.Generator, size: Size) -> Values:
    """One such input; CannotDraw."""
    style = Style(size, cases=cases_for(size, rng), numbers=_policies.equal, letters=_letters.single_letter)
    return build(grammar, rng, style)
