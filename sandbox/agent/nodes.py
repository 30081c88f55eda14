"""LeetCode's nodes: the classes that its starter code defines, and what all structures of them have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

# LeetCode's largest lists and trees have 100,000 nodes.
MAX_NODES = 1_000_000


class Misshapen(ValueError):
    """The test's input is not what its signature says; the message says in what."""


class Unencodable(TypeError):
    """A returned value has no JSON form; the message completes "returned ..."."""


class ListNode:
    """A node of a linked list."""

    def __init__(self, val: Any = 0, next: Any = None) -> None:
        self.val, self.next = val, next


class TreeNode:
    """A node of a binary tree."""

    def __init__(self, val: Any = 0, left: Any = None, right: Any = None) -> None:
        self.val, self.left, self.right = val, left, right


class RandomNode:
    """A node of a list with random pointers."""

    def __init__(self, x: Any = 0, next: Any = None, random: Any = None) -> None:
        self.val, self.next, self.random = x, next, random


class ParentNode:
    """A node of a tree with any number of children."""

    def __init__(self, val: Any = None, children: Any = None) -> None:
        self.val, self.children = val, children


class GraphNode:
    """A node of an undirected graph."""

    def __init__(self, val: Any = 0, neighbors: Any = None) -> None:
        self.val, self.neighbors = val, [] if neighbors is None else neighbors


class LevelNode:
    """A node of a binary tree with a pointer to its right neighbour."""

    def __init__(self, val: Any = 0, left: Any = None, right: Any = None, next: Any = None) -> None:
        self.val, self.left, self.right, self.next = val, left, right, next


class MultilevelNode:
    """A node of a doubly linked list, which may have a list below it."""

    def __init__(self, val: Any = 0, prev: Any = None, next: Any = None, child: Any = None) -> None:
        self.val, self.prev, self.next, self.child = val, prev, next, child


class QuadNode:
    """A node of a quad tree."""

    def __init__(
        self,
        val: Any = False,
        isLeaf: Any = False,  # noqa: N803
        topLeft: Any = None,  # noqa: N803
        topRight: Any = None,  # noqa: N803
        bottomLeft: Any = None,  # noqa: N803
        bottomRight: Any = None,  # noqa: N803
    ) -> None:
        self.val, self.isLeaf = val, isLeaf
        self.topLeft, self.topRight, self.bottomLeft, self.bottomRight = topLeft, topRight, bottomLeft, bottomRight


class Form(NamedTuple):
    """One kind of node: what programs call it, its class where they do not define it, its fields beside ``val``, and
    how a structure is read and written."""

    name: str
    standard: type
    links: tuple[str, ...]
    read: Callable[[list[Any], Nodes], Any]
    write: Callable[[Any, Nodes], list[Any]]


class Nodes:
    """The nodes of one form in one test: of the program's own class where it defines one with the same fields."""

    def __init__(self, form: Form, namespace: dict[str, Any]) -> None:
        self._form = form
        self._own = namespace.get(form.name)
        self._class: Any = form.standard
        self._rest: tuple[None, ...] = ()
        self._made: dict[int, Any] = {}
        if isinstance(self._own, type) and self._own is not form.standard:
            self._adopt(self._own)

    def _adopt(self, own: Any) -> None:
        """Make nodes of the program's class, if it can be used like LeetCode's."""
        for rest in ((), (None,) * len(self._form.links)):
            try:
                sample = own(0, *rest)
                for field in ("val", *self._form.links):
                    setattr(sample, field, getattr(sample, field))
            except Exception:  # whatever its constructor raises, it is not meant for this
                continue
            self._class, self._rest = own, rest
            return

    def new(self, val: Any) -> Any:
        """A node with this value and no links."""
        if type(val) not in (int, float, str, bool):
            raise Misshapen(f"{val!r:.60} is no value of a {self._form.name}")
        return self._class(val, *self._rest)

    def remember(self, made: list[Any]) -> None:
        """These are the argument's: none of them may be in the answer where that is a copy."""
        self._made.update((id(node), node) for node in made)

    def expect(self, node: Any) -> None:
        """``Unencodable`` unless this is a node of the form, with all its fields."""
        kind: Any = type(node)
        if kind is not self._form.standard and kind is not self._own:
            raise Unencodable(f"{kind.__name__} in place of {self._form.name}")
        for field in ("val", *self._form.links):
            if not hasattr(node, field):
                raise Unencodable(f"{self._form.name} without {field}")

    def expect_copy(self, node: Any) -> None:
        """``Unencodable`` for a node of the argument: where a copy is asked for, all nodes are new."""
        if id(node) in self._made:
            raise Unencodable(f"a {self._form.name} of the argument in place of a copy")

    def children(self, node: Any, field: str) -> list[Any]:
        """The nodes in a field that holds a list of them, or None."""
        held = getattr(node, field)
        if type(held) not in (list, tuple, type(None)):
            raise Unencodable(f"{self._form.name} whose {field} is {type(held).__name__}")
        for part in held or ():
            self.expect(part)
        return list(held or ())

    def chain(self, node: Any, field: str) -> list[Any]:
        """The nodes from this one on, each reached through a field of the one before."""
        found: dict[int, Any] = {}
        while node is not None:
            self.expect(node)
            if id(node) in found:
                raise Unencodable(f"{self._form.name} that leads back to itself")
            if len(found) >= MAX_NODES:
                raise Unencodable(f"{self._form.name} with more than {MAX_NODES:,} nodes after it")
            found[id(node)] = node
            node = getattr(node, field)
        return list(found.values())

    def levels(self, node: Any, below: Callable[[Any], list[Any]]) -> list[list[Any]]:
        """All nodes under this one, level by level; ``below`` gives what is below one, with None for what is missing.

        A part may stand in several places (solutions that remember subtrees do so), but never below itself.
        """
        distinct: dict[int, Any] = {}
        levels = [[node]]
        n_nodes = 0
        while any(part is not None for part in levels[-1]):
            parts = [part for part in levels[-1] if part is not None]
            for part in parts:
                self.expect(part)
                distinct[id(part)] = part
            n_nodes += len(parts)
            if len(levels) > len(distinct):
                raise Unencodable(f"{self._form.name} that leads back to itself")
            if n_nodes > MAX_NODES:
                raise Unencodable(f"{self._form.name} with more than {MAX_NODES:,} nodes under it")
            levels.append([piece for part in parts for piece in below(part)])
        return levels
