"""Binary trees as rows: where each node stands in the level order that is written. Pure.

The children of the node that comes k-th stand at 2k + 1 (left) and 2k + 2 (right), so a tree is its nodes' places:
they rise strictly, and the k-th is at most 2k (`eval.made_tests.grammar.LevelOrder`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


def is_shape(places: Sequence[int]) -> bool:
    """Whether the places are those of the nodes of a tree."""
    rises = all(one < other for one, other in pairwise(places))
    return rises and all(0 <= place <= 2 * k for k, place in enumerate(places))


def ranks_from_left(places: Sequence[int]) -> list[int] | None:
    """For each node how many stand left of it, in the order from left to right; None where the places are no tree."""
    if not is_shape(places):
        return None
    sizes = [1] * len(places)
    for k in range(len(places) - 1, 0, -1):
        sizes[(places[k] - 1) // 2] += sizes[k]
    # What stands before a subtree is known when its root is reached, since parents come first.
    before = [0] * len(places)
    ranks = [0] * len(places)
    left_sizes = [0] * len(places)
    for k, place in enumerate(places):
        if place and place % 2:
            left_sizes[(place - 1) // 2] = sizes[k]
    for k, place in enumerate(places):
        parent = (place - 1) // 2
        if place:
            before[k] = before[parent] if place % 2 else ranks[parent] + 1
        ranks[k] = before[k] + left_sizes[k]
    return ranks
