"""Shapes of binary trees: the places of so many nodes in level order. Pure but for the generator.

What a place is, `eval.made_tests.binary_trees` says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from eval.made_tests.exact import Numbers

BinaryShape: TypeAlias = Callable[[np.random.Generator, int], Numbers]

_MEAN_GAPS = (0.1, 0.5, 0.9, 1.0, 1.1, 1.5, 4.0)
"""Missing children before each node: fewer than one make bushy trees, more than one long ones."""


def any_binary_tree(rng: np.random.Generator, n: int) -> Numbers:
    """From bushy to long ones."""
    mean = _MEAN_GAPS[int(rng.integers(len(_MEAN_GAPS)))]
    gaps = rng.geometric(1 / (1 + mean), size=n) - 1
    if n:
        gaps[0] = 1
    # Each node stands after the gap, but no later than where the last one's children end: 2k.
    steps = np.cumsum(gaps - 1)
    result: Numbers = 2 * np.arange(n) + steps - np.maximum.accumulate(np.maximum(steps, 0))
    return result


def complete_tree(rng: np.random.Generator, n: int) -> Numbers:
    """Level by level, none missing."""
    return np.arange(n)


def left_path(rng: np.random.Generator, n: int) -> Numbers:
    """Each node is the left child of the one before."""
    return np.maximum(2 * np.arange(n) - 1, 0)


def right_path(rng: np.random.Generator, n: int) -> Numbers:
    """Each node is the right child of the one before."""
    return 2 * np.arange(n)


def zigzag_path(rng: np.random.Generator, n: int) -> Numbers:
    """One path that turns at each node."""
    k = np.arange(n)
    result: Numbers = np.maximum(2 * k - (k + int(rng.integers(2))) % 2, 0)
    return result


def fishbone(rng: np.random.Generator, n: int) -> Numbers:
    """A path to one side, and a leaf at the other side of each of its nodes."""
    k = np.arange(n)
    if rng.integers(2):
        to_the_right: Numbers = np.maximum(2 * k - 2 + k % 2, 0)
        return to_the_right
    to_the_left: Numbers = np.maximum(2 * k - 4 + k % 2, k)
    return to_the_left
