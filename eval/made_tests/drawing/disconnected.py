"""Half of the vertices have no edge, where that is allowed."""

from __future__ import annotations

import numpy as np

from eval.made_tests.drawing._building import build
from eval.made_tests.drawing._features import cases_for, has_graphs
from eval.made_tests.drawing._style import Size, Style
from eval.made_tests.grammar import Grammar, Values

NAME = "disconnected"
TURN = 2
SIZES = (Size.SMALL, Size.LARGE)
applies = has_graphs


def draw(grammar: Grammar, rng: np.random.Generator, size: Size) -> Values:
    """One such input; CannotDraw."""
    style = Style(size, cases=cases_for(size, rng), edges=Size.SMALL, leaves_out=True)
    return build(grammar, rng, style)
