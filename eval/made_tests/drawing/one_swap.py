"""A permutation in which two elements have changed places."""

from __future__ import annotations

import numpy as np

from eval.made_tests.drawing._building import build
from eval.made_tests.drawing._features import cases_for, has_permutations
from eval.made_tests.drawing._style import Order, Size, Style
from eval.made_tests.grammar import Grammar, Values

NAME = "one swap"
TURN = 1
SIZES = (Size.SMALL, Size.GREATEST)
applies = has_permutations


def draw(grammar: Grammar, rng: np.random.Generator, size: Size) -> Values:
    """One such input; CannotDraw."""
    return build(grammar, rng, Style(size, cases=cases_for(size, rng), order=Order.ONE_SWAP))
