"""Every bound at its least; where that cannot be, the least sizes at which something can."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eval.made_tests.drawing import _letters, _policies, _trees
from eval.made_tests.drawing._building import build
from eval.made_tests.drawing._errors import CannotDraw
from eval.made_tests.drawing._style import Order, Size, Style
from eval.made_tests.grammar import Grammar, Values

NAME = "minimal"
TURN = 0
SIZES = (Size.LEAST,)


def draw(grammar: Grammar, rng: np.random.Generator, size: Size) -> Values:
    """One such input; CannotDraw."""
    style = Style(
        size,
        cases=Size.LEAST,
        numbers=_policies.least,
        order=Order.UP,
        letters=_letters.first_letter,
        shape=_trees.path,
        is_shuffled=False,
    )
    try:
        return build(grammar, rng, style)
    except CannotDraw as first:
        for other in (replace(style, numbers=_policies.few), replace(style, sizes=Size.SMALL)):
            try:
                return build(grammar, rng, other)
            except CannotDraw:
                continue
        raise first
