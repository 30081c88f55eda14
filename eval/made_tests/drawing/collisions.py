"""Values from a small range, and few letters: many are the same."""

from __future__ import annotations

import numpy as np

from eval.made_tests.drawing import _letters, _policies
from eval.made_tests.drawing._building import build
from eval.made_tests.drawing._features import cases_for
from eval.made_tests.drawing._style import Size, Style
from eval.made_tests.grammar import Grammar, Values

NAME = "collisions"
TURN = 0
SIZES = (Size.SMALL, Size.MID, Size.GREATEST)


def draw(grammar: Grammar, rng: np.random.Generator, size: Size) -> Values:
    """One such input; CannotDraw."""
    style = Style(
        size,
        cases=cases_for(size, rng),
        numbers=_policies.few,
        letters=_letters.few_letters,
        is_balanced=rng.random() < 0.5,
    )
    return build(grammar, rng, style)
