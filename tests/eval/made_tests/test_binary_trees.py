"""Binary trees as rows of places, held against trees that are made of nodes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import combinations, pairwise
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.made_tests.binary_trees import is_shape, ranks_from_left
from eval.made_tests.call_text import parse, render
from eval.made_tests.drawing import CannotDraw, Size, all_strategies, draw_with_reasons
from eval.made_tests.grammar import Grammar, InputRefused
from eval.made_tests.reading.calls import read_call
from eval.made_tests.values import check
from sandbox.agent.forms import FORMS
from sandbox.agent.nodes import Nodes


def made_of_nodes(written: list[Any]) -> Any:
    """The tree as programs get it."""
    form = FORMS["TreeNode"]
    return form.read(written, Nodes(form, {}))


def from_left(node: Any) -> Iterator[Any]:
    """The nodes from left to right, without recursion."""
    above: list[Any] = []
    while node is not None or above:
        while node is not None:
            above.append(node)
            node = node.left
        node = above.pop()
        yield node
        node = node.right


def tree(*sentences: str, kind: str = "binary tree") -> Grammar:
    lines = "\n".join(
        sentences or ("The number of nodes in the tree is in the range [0, 300].", "-9 <= Node.val <= 999")
    )
    grammar = read_call(f"Given the root of a {kind}, look at it.\n\nConstraints:\n{lines}", [("root", "TreeNode")])
    assert grammar.not_understood == ()
    return grammar


@pytest.mark.parametrize("n", range(7))
def test_there_are_as_many_shapes_as_catalan_numbers_say(n: int) -> None:
    places = [each for each in combinations(range(2 * n + 1), n) if is_shape(each)]
    assert len(places) == comb(2 * n, n) // (n + 1)


@given(st.integers(0, 40), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_ranks_are_those_of_a_walk_from_left_to_right(n: int, seed: int) -> None:
    grammar = tree(f"The number of nodes in the tree is in the range [{n}, {n}].", "0 <= Node.val <= 1000")
    values: Any = all_strategies()["random"].draw(grammar, np.random.default_rng(seed), Size.SMALL)
    places = values["root.places"]
    ranks = ranks_from_left(places)
    assert ranks is not None
    numbered: list[Any] = [None] * (max(places, default=-1) + 1)
    for number, place in enumerate(places):
        numbered[place] = number
    assert [ranks[node.val] for node in from_left(made_of_nodes(numbered))] == list(range(n))


@pytest.mark.parametrize("places", [[1], [0, 3], [0, 1, 5], [0, 2, 2], [0, 2, 1], [-1, 0]])
def test_places_that_are_no_tree_have_no_ranks(places: list[int]) -> None:
    assert not is_shape(places)
    assert ranks_from_left(places) is None


def shape_of(strategy: str, size: Size = Size.GREATEST, seed: int = 0) -> Any:
    values = all_strategies()[strategy].draw(tree(), np.random.default_rng(seed), size)
    return made_of_nodes(json.loads(render(tree(), values)))


def sides(node: Any) -> list[str]:
    """On which side each node of a path has its child."""
    found = []
    while node.left is not None or node.right is not None:
        assert node.left is None or node.right is None
        found.append("left" if node.left is not None else "right")
        node = node.left or node.right
    return found


def test_paths_go_to_the_side_that_their_strategies_say() -> None:
    assert sides(shape_of("path to the left")) == ["left"] * 299
    assert sides(shape_of("path to the right")) == ["right"] * 299
    turns = sides(shape_of("zig-zag path"))
    assert len(turns) == 299
    assert all(one != other for one, other in pairwise(turns))


def test_no_level_of_a_complete_tree_but_the_last_has_a_gap() -> None:
    values: Any = all_strategies()["complete binary tree"].draw(tree(), np.random.default_rng(0), Size.GREATEST)
    assert None not in json.loads(render(tree(), values))


@pytest.mark.parametrize("seed", range(6))
def test_a_fishbone_has_a_leaf_at_each_node_of_a_path(seed: int) -> None:
    node, n_nodes, spine = shape_of("fishbone", seed=seed), 1, set()
    while node.left is not None and node.right is not None:
        leaves = [each for each in (node.left, node.right) if each.left is None and each.right is None]
        assert leaves
        going = [each for each in (node.left, node.right) if each not in leaves]
        n_nodes += 2
        if not going:
            break
        spine.add("left" if going[0] is node.left else "right")
        node = going[0]
    assert len(spine) == 1
    assert n_nodes >= 299  # the last node of the path has one child where the number is even


def test_random_trees_are_bushy_and_long() -> None:
    depths = []
    for seed in range(40):
        level, depth = [shape_of("random", Size.LARGE, seed)], 0
        while level:
            level = [child for node in level for child in (node.left, node.right) if child is not None]
            depth += 1
        depths.append(depth)
    assert min(depths) < 20
    assert max(depths) > 60


@given(st.integers(0, 10**6), st.sampled_from(["binary tree", "binary search tree"]), st.integers(0, 3))
@settings(max_examples=12, deadline=None)
def test_every_drawn_tree_keeps_all_constraints(seed: int, kind: str, least: int) -> None:
    grammar = tree(
        f"The number of nodes in the tree is in the range [{least}, 60].", "-30 <= Node.val <= 60", kind=kind
    )
    drawing = draw_with_reasons(grammar, seed, 40)
    assert len(drawing.inputs) == 40
    assert not drawing.failures
    for drawn in drawing.inputs:
        text = render(grammar, drawn.values)
        assert parse(grammar, text) == drawn.values
        check(grammar, drawn.values)
        nodes = list(from_left(made_of_nodes(json.loads(text))))
        values = [node.val for node in nodes]
        assert least <= len(values) <= 60
        assert all(-30 <= value <= 60 for value in values)
        if kind == "binary search tree":
            assert values == sorted(set(values))


def test_the_same_seed_draws_the_same_trees() -> None:
    one, other, another = (draw_with_reasons(tree(), seed, 30).inputs for seed in (3, 3, 4))
    assert one == other
    assert one != another


def test_small_trees_are_all_listed() -> None:
    grammar = tree("The number of nodes in the tree is in the range [0, 3].", "7 <= Node.val <= 7")
    drawing = draw_with_reasons(grammar, 0, 50)
    assert drawing.is_complete
    assert len(drawing.inputs) == 1 + 1 + 2 + 5


def test_a_search_tree_is_no_larger_than_its_values_are_many() -> None:
    grammar = tree(
        "The number of nodes in the tree is in the range [1, 100].", "0 <= Node.val <= 9", kind="binary search tree"
    )
    assert max(len(each.values["root"]) for each in draw_with_reasons(grammar, 0, 40).inputs) == 10  # type: ignore[arg-type]
    with pytest.raises(CannotDraw):
        draw_with_reasons(
            tree("The number of nodes in the tree is 11.", "0 <= Node.val <= 9", kind="binary search tree"), 0, 5
        )


def test_a_message_names_the_values_that_are_in_the_wrong_order() -> None:
    grammar = tree(kind="binary search tree")
    with pytest.raises(InputRefused, match="root is a binary search tree does not hold: 6 stands left of 5"):
        check(grammar, parse(grammar, "[5, 6]"))
