"""The ways in which LeetCode's tests write structures of nodes as JSON, both directions.

They are those that the statements of its problems describe:

``ListNode``        [1, 2, 3]
``TreeNode``        by levels, null where a child is missing
``Node.children``   (429, 559, 589) by levels, a null after each group of children
``Node.random``     (138) pairs of a value and the index of the random node
``Node.neighbors``  (133) for each of the values 1, 2, ... the values of its neighbours
``Node.next``       (116, 117) a tree when read; when written, each level as its next pointers connect it, "#" after it
``Node.child``      (430) level after level of a list: a null between two, and one more for each node before the one
                    that the level hangs from; written only when it is flat
``Node.quad``       (427, 558) pairs of isLeaf and the value by levels, as 0 and 1
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from .nodes import (
    MAX_NODES,
    Form,
    GraphNode,
    LevelNode,
    ListNode,
    Misshapen,
    MultilevelNode,
    Nodes,
    ParentNode,
    QuadNode,
    RandomNode,
    TreeNode,
    Unencodable,
)


def trimmed(values: list[Any]) -> list[Any]:
    """The list without the nulls at its end."""
    end = len(values)
    while end and values[end - 1] is None:
        end -= 1
    return values[:end]


def _linked(values: list[Any], nodes: Nodes) -> list[Any]:
    made = [nodes.new(val) for val in values]
    for node, following in pairwise(made):
        node.next = following
    return made


def _read_list(values: list[Any], nodes: Nodes) -> Any:
    made = _linked(values, nodes)
    return made[0] if made else None


def _write_list(node: Any, nodes: Nodes) -> list[Any]:
    return [part.val for part in nodes.chain(node, "next")]


def _read_levels(values: list[Any], fields: tuple[str, ...], new: Callable[[Any], Any]) -> Any:
    """A tree whose nodes have the same number of children each; null stands for a missing one and has none itself."""
    values = trimmed(values)
    if not values:
        return None
    if values[0] is None:
        raise Misshapen("a tree without a root has nodes")
    made = [new(values[0])]
    position = 1
    for node in made:
        for field in fields:
            if position >= len(values):
                return made[0]
            if values[position] is not None:
                made.append(new(values[position]))
                setattr(node, field, made[-1])
            position += 1
    if position < len(values):
        raise Misshapen("a tree has nodes under no node")
    return made[0]


def _read_tree(values: list[Any], nodes: Nodes) -> Any:
    return _read_levels(values, ("left", "right"), nodes.new)


def _write_tree(node: Any, nodes: Nodes) -> list[Any]:
    levels = nodes.levels(node, lambda part: [part.left, part.right])
    return trimmed([None if part is None else part.val for level in levels for part in level])


def _read_random(values: list[Any], nodes: Nodes) -> Any:
    if not all(type(pair) is list and len(pair) == 2 for pair in values):
        raise Misshapen("a list with random pointers is not written in pairs")
    made = _linked([val for val, _ in values], nodes)
    for node, (_, index) in zip(made, values, strict=True):
        if index is not None and not (type(index) is int and 0 <= index < len(made)):
            raise Misshapen(f"{index!r:.60} is no index of a node")
        node.random = None if index is None else made[index]
    nodes.remember(made)
    return made[0] if made else None


def _write_random(node: Any, nodes: Nodes) -> list[Any]:
    chain = nodes.chain(node, "next")
    indexes = {id(part): index for index, part in enumerate(chain)}
    pairs = []
    for part in chain:
        nodes.expect_copy(part)
        if part.random is not None and id(part.random) not in indexes:
            raise Unencodable("Node whose random pointer leads out of its list")
        pairs.append([part.val, None if part.random is None else indexes[id(part.random)]])
    return pairs


def _read_children(values: list[Any], nodes: Nodes) -> Any:
    if not values:
        return None
    if len(values) > 1 and values[1] is not None:
        raise Misshapen("a tree has two roots")
    made = [nodes.new(values[0])]
    made[0].children = []
    parent = 0
    for val in values[2:]:
        if val is None:
            parent += 1
            continue
        if parent >= len(made):
            raise Misshapen("a tree has nodes under no node")
        child = nodes.new(val)
        child.children = []
        made[parent].children.append(child)
        made.append(child)
    return made[0]


def _write_children(node: Any, nodes: Nodes) -> list[Any]:
    levels = nodes.levels(node, lambda part: [*nodes.children(part, "children"), None])
    if node is None:
        return []
    return trimmed([None if part is None else part.val for level in [[node, None], *levels[1:]] for part in level])


def _read_graph(values: list[Any], nodes: Nodes) -> Any:
    made = [nodes.new(val) for val in range(1, len(values) + 1)]
    for node, near in zip(made, values, strict=True):
        if type(near) is not list or not all(type(val) is int and 0 < val <= len(made) for val in near):
            raise Misshapen(f"{near!r:.60} is no list of neighbours")
        node.neighbors = [made[val - 1] for val in near]
    nodes.remember(made)
    return made[0] if made else None


def _write_graph(node: Any, nodes: Nodes) -> list[Any]:
    """The neighbours of each node in ascending order: statements call them unordered."""
    found: dict[Any, list[Any]] = {}
    seen: dict[int, Any] = {}
    waiting = [] if node is None else [node]
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        nodes.expect(part)
        nodes.expect_copy(part)
        seen[id(part)] = part
        if type(part.val) is not int or part.val in found or len(seen) > MAX_NODES:
            raise Unencodable("Node of a graph whose values are not 1, 2, 3 and so on")
        near = nodes.children(part, "neighbors")
        waiting.extend(near)
        found[part.val] = near
    if sorted(found) != list(range(1, len(found) + 1)):
        raise Unencodable("Node of a graph whose values are not 1, 2, 3 and so on")
    return [sorted(near.val for near in found[val]) for val in sorted(found)]


def _write_connected(node: Any, nodes: Nodes) -> list[Any]:
    written: list[Any] = []
    first = node
    while first is not None:
        level = nodes.chain(first, "next")
        written += [*(part.val for part in level), "#"]
        if len(written) > 2 * MAX_NODES:
            raise Unencodable("Node that leads back to itself")
        below = (side for part in level for side in (part.left, part.right) if side is not None)
        first = next(below, None)
    return written


def _read_multilevel(values: list[Any], nodes: Nodes) -> Any:
    head = None
    above: list[Any] = []
    level: list[Any] = []
    place = 0
    for val in trimmed(values):
        if val is None:
            if level:
                above, level, place = level, [], 0
            else:
                place += 1
            continue
        node = nodes.new(val)
        if level:
            level[-1].next, node.prev = node, level[-1]
        elif head is None and not place:
            head = node
        elif place < len(above):
            above[place].child = node
        else:
            raise Misshapen("a level of a list is below no node")
        level.append(node)
    return head


def _write_flat(node: Any, nodes: Nodes) -> list[Any]:
    chain = nodes.chain(node, "next")
    for part, before in zip(chain, [None, *chain], strict=False):
        if part.prev is not before:
            raise Unencodable("Node whose prev is not the node before it")
        if part.child is not None:
            raise Unencodable("Node that still has a child")
    return [part.val for part in chain]


_CORNERS = ("topLeft", "topRight", "bottomLeft", "bottomRight")


def _read_quad(values: list[Any], nodes: Nodes) -> Any:
    def new(pair: Any) -> Any:
        if type(pair) is not list or len(pair) != 2 or not all(bit in (0, 1) for bit in pair):
            raise Misshapen(f"{pair!r:.60} is no pair of isLeaf and val")
        node = nodes.new(bool(pair[1]))
        node.isLeaf = bool(pair[0])
        return node

    return _read_levels(values, _CORNERS, new)


def _write_quad(node: Any, nodes: Nodes) -> list[Any]:
    """The value of a node that is no leaf may be anything: it is written as 1, as in the statements."""
    levels = nodes.levels(node, lambda part: [getattr(part, corner) for corner in _CORNERS])
    return trimmed(
        [
            None if part is None else [int(bool(part.isLeaf)), int(bool(part.val or not part.isLeaf))]
            for level in levels
            for part in level
        ]
    )


FORMS = {
    "ListNode": Form("ListNode", ListNode, ("next",), _read_list, _write_list),
    "TreeNode": Form("TreeNode", TreeNode, ("left", "right"), _read_tree, _write_tree),
    "Node.random": Form("Node", RandomNode, ("next", "random"), _read_random, _write_random),
    "Node.children": Form("Node", ParentNode, ("children",), _read_children, _write_children),
    "Node.neighbors": Form("Node", GraphNode, ("neighbors",), _read_graph, _write_graph),
    "Node.next": Form("Node", LevelNode, ("left", "right", "next"), _read_tree, _write_connected),
    "Node.child": Form("Node", MultilevelNode, ("prev", "next", "child"), _read_multilevel, _write_flat),
    "Node.quad": Form("Node", QuadNode, ("isLeaf", *_CORNERS), _read_quad, _write_quad),
}
