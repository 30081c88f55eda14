"""Binary trees: the places of their nodes, and the values of search trees. Pure but for the generator."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from eval.made_tests.binary_trees import ranks_from_left
from eval.made_tests.drawing._distinct import sorted_rows
from eval.made_tests.drawing._errors import CannotDraw
from eval.made_tests.drawing._state import State
from eval.made_tests.exact import Numbers
from eval.made_tests.grammar import LevelOrder, SearchTree
from eval.made_tests.wording import constraint_text


def draw_places(state: State, name: str) -> Numbers | None:
    """The places of the nodes of binary trees, of the style's shape where it is allowed; None for other variables."""
    if not any(isinstance(each, LevelOrder) and each.places == name for each in state.problem.grammar.columns):
        return None
    low, high = state.domains.low[name], state.domains.high[name]
    sizes = np.diff(state.groups(name, within_row=True)).tolist()
    shapes = [state.style.binary_shape(state.rng, size) for size in sizes]
    places: Numbers = np.concatenate([np.zeros(0, dtype=np.int64), *shapes])
    # Where only complete trees are allowed nothing is left to choose.
    return places if ((low <= places) & (places <= high)).all() else low


def in_search_order(state: State, name: str, values: Numbers) -> Numbers:
    """The values of each search tree in the order that it wants; other values as they are."""
    for constraint in state.problem.constraints(name, SearchTree):
        assert isinstance(constraint, SearchTree)
        if constraint.values != name:
            continue
        rows = state.groups(name, within_row=True)
        ordered = sorted_rows(values, rows, is_descending=False)
        values = values.copy()
        for start, end in pairwise(rows.tolist()):
            ranks = ranks_from_left(state.domains.low[constraint.places][start:end].tolist())
            if ranks is None:
                raise CannotDraw(f"{constraint_text(constraint)} cannot be kept: the shape is not known yet")
            values[start:end] = ordered[start + np.array(ranks, dtype=np.int64)]
    return values
