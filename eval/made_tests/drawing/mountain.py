"""Rows that rise to their middle and fall again, or the other way round; palindromes."""

from __future__ import annotations

import numpy as np

from eval.made_tests.drawing import _letters, _policies
from eval.made_tests.drawing._building import build
from eval.made_tests.drawing._features import cases_for, has_rows_or_strings
from eval.made_tests.drawing._style import Size, Style
from eval.made_tests.grammar import Grammar, Values

NAME = "mountain"
TURN = 2
SIZES = (Size.MID, Size.GREATEST)
applies = has_rows_or_strings


def draw(grammar: Grammar, rng: np.random.Generator, size: Size) -> Values:
    """One such input; CannotDraw."""
    style = Style(size, cases=cases_for(size, rng), numbers=_policies.mountain, letters=_letters.palindromes)
    return build(grammar, rng, style)
