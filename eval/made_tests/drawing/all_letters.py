"""Strings in which the alphabet stands again and again."""

from __future__ import annotations

import numpy as np

from eval.made_tests.drawing import _letters, _policies
from eval.made_tests.drawing._building import build
from eval.made_tests.drawing._features import cases_for, has_letters
from eval.made_tests.drawing._style import Size, Style
from eval.made_tests.grammar import Grammar, Values

NAME = "all letters"
TURN = 2
SIZES = (Size.MID, Size.GREATEST)
applies = has_letters


def draw(grammar: Grammar, rng: np.random.Generator, size: Size) -> Values:
    """One such input; CannotDraw."""
    style = Style(size, cases=cases_for(size, rng), numbers=_policies.few, letters=_letters.all_letters)
    return build(grammar, rng, style)
