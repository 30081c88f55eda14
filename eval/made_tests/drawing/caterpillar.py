"""Trees of a path with a leaf at each vertex."""

from __future__ import annotations

import numpy as np

from eval.made_tests.drawing import _trees
from eval.made_tests.drawing._building import build
from eval.made_tests.drawing._features import cases_for, has_edges
from eval.made_tests.drawing._style import Size, Style
from eval.made_tests.grammar import Grammar, Values

NAME = "caterpillar"
TURN = 2
SIZES = (Size.SMALL, Size.GREATEST)
applies = has_edges


def draw(grammar: Grammar, rng: np.random.Generator, size: Size) -> Values:
    """One such input; CannotDraw."""
    style = Style(
        size, cases=cases_for(size, rng), edges=Size.LEAST, shape=_trees.caterpillar, is_shuffled=rng.random() < 0.7
    )
    return build(grammar, rng, style)
