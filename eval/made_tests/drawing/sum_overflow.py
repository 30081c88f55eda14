"""Rows whose sums lie close to those at which programs break that count with too few bits."""

from __future__ import annotations

import numpy as np

from eval.made_tests.drawing import _policies
from eval.made_tests.drawing._building import build
from eval.made_tests.drawing._features import cases_for, has_large_sums
from eval.made_tests.drawing._style import Share, Size, Style
from eval.made_tests.grammar import Grammar, Values

NAME = "sum overflow"
TURN = 2
SIZES = (Size.MID, Size.GREATEST)
applies = has_large_sums


def draw(grammar: Grammar, rng: np.random.Generator, size: Size) -> Values:
    """One such input; CannotDraw."""
    style = Style(size, cases=cases_for(size, rng), share=Share.FIRST, numbers=_policies.sum_edges)
    return build(grammar, rng, style)
