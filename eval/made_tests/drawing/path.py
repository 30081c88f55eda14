"""Trees that are one path, or graphs with one through all vertices."""

from __future__ import annotations

import numpy as np

from eval.made_tests.drawing import _trees
from eval.made_tests.drawing._building import build
from eval.made_tests.drawing._features import cases_for, has_edges
from eval.made_tests.drawing._style import Size, Style
from eval.made_tests.grammar import Grammar, Values

NAME = "path"
TURN = 1
SIZES = (Size.SMALL, Size.GREATEST)
applies = has_edges


def draw(grammar: Grammar, rng: np.random.Generator, size: Size) -> Values:
    """One such input; CannotDraw."""
    style = Style(size, cases=cases_for(size, rng), edges=Size.LEAST, shape=_trees.path, is_shuffled=rng.random() < 0.7)
    return build(grammar, rng, style)
