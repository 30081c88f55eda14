"""Binary trees that are one path to the left."""

from __future__ import annotations

import numpy as np

from eval.made_tests.drawing import _shapes_of_trees
from eval.made_tests.drawing._building import build
from eval.made_tests.drawing._features import cases_for, has_binary_trees
from eval.made_tests.drawing._style import Size, Style
from eval.made_tests.grammar import Grammar, Values

NAME = "path to the left"
TURN = 1
SIZES = (Size.SMALL, Size.GREATEST)
applies = has_binary_trees


def draw(grammar: Grammar, rng: np.random.Generator, size: Size) -> Values:
    """One such input; CannotDraw."""
    return build(grammar, rng, Style(size, cases=cases_for(size, rng), binary_shape=_shapes_of_trees.left_path))
