"""Shapes of trees: the parent of each vertex but the first, for many trees at once. Pure but for the generator.

A shape takes the generator, the number k of each vertex in its tree (from 1) and the number of vertices n of that tree,
and gives a parent from 0 to k-1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from eval.made_tests.exact import Numbers

Shape: TypeAlias = Callable[[np.random.Generator, Numbers, Numbers], Numbers]


def path(rng: np.random.Generator, k: Numbers, n: Numbers) -> Numbers:
    """One vertex after the other."""
    return k - 1


def star(rng: np.random.Generator, k: Numbers, n: Numbers) -> Numbers:
    """All vertices at the first."""
    return np.zeros_like(k)


def binary_tree(rng: np.random.Generator, k: Numbers, n: Numbers) -> Numbers:
    """Two children for each vertex, level by level."""
    return (k - 1) // 2


def caterpillar(rng: np.random.Generator, k: Numbers, n: Numbers) -> Numbers:
    """A path of half of the vertices, and a leaf at each of them."""
    spine = (n + 1) // 2
    return np.where(k < spine, k - 1, k - spine)


def broom(rng: np.random.Generator, k: Numbers, n: Numbers) -> Numbers:
    """A path of half of the vertices, and all others at its end."""
    spine = (n + 1) // 2
    return np.where(k < spine, k - 1, spine - 1)


def any_tree(rng: np.random.Generator, k: Numbers, n: Numbers) -> Numbers:
    """Each vertex at any one before it."""
    return (rng.random(len(k)) * k).astype(np.int64)


def deep_tree(rng: np.random.Generator, k: Numbers, n: Numbers) -> Numbers:
    """Each vertex at one of the three before it."""
    return np.maximum(k - 1 - rng.integers(0, 3, size=len(k)), 0)


def zigzag(rng: np.random.Generator, k: Numbers, n: Numbers) -> Numbers:
    """Each vertex at one before it of the other parity."""
    result: Numbers = k - 1 - 2 * (rng.random(len(k)) * ((k + 1) // 2)).astype(np.int64)
    return result
