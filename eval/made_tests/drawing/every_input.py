"""All inputs that there are, where they are few: one of them at random."""

from __future__ import annotations

import numpy as np

from eval.made_tests.drawing._errors import CannotDraw
from eval.made_tests.drawing._exhausting import all_inputs
from eval.made_tests.drawing._style import Size
from eval.made_tests.grammar import Grammar, Values

NAME = "every input"
TURN = 3
SIZES = (Size.SMALL,)


def applies(grammar: Grammar) -> bool:
    """There are few inputs."""
    return all_inputs(grammar) is not None


def draw(grammar: Grammar, rng: np.random.Generator, size: Size) -> Values:
    """One input of all; CannotDraw where they are too many to list."""
    found = all_inputs(grammar)
    if not found:
        raise CannotDraw("the inputs are too many to list")
    return found[int(rng.integers(len(found)))]
