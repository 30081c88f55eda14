"""Whether edges make the graph that a statement promises, for all test cases at once. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eval.made_tests.exact import Numbers, is_large
from eval.made_tests.flat import MAX_TUPLES, Flat, TooManyTuples
from eval.made_tests.grammar import Graph, GraphKind


@dataclass(frozen=True)
class Edges:
    """Edges of the graphs of all cases: vertices counted through from 0, ``starts`` is each case's first vertex."""

    first: Numbers
    second: Numbers
    case: Numbers
    starts: Numbers

    @property
    def n_vertices(self) -> int:
        """Of all cases together."""
        return int(self.starts[-1])

    def name(self, edge: int, low: Numbers) -> str:
        """The edge with its vertices as the statement counts them."""
        shift = int(low[self.case[edge]]) - int(self.starts[self.case[edge]])
        return f"({self.first[edge] + shift}, {self.second[edge] + shift})"


def broken_graph(constraint: Graph, flats: Sequence[Flat], low: Numbers, high: Numbers) -> str | None:
    """What is wrong with the graph of some test case, as a message goes on; None: nothing.

    ``low`` and ``high`` are the first and last vertex of each case.
    """
    if is_large(high, low) or int((high - low).sum()) > MAX_TUPLES:
        raise TooManyTuples(f"there are more than {MAX_TUPLES} vertices")
    starts = np.concatenate(([0], np.cumsum(np.maximum(high - low + 1, 0))))
    one, other, case = _ends(constraint, flats, low)
    case_text = _CaseText(flats[0].is_per_case)
    if constraint.is_parents and (wrong := _wrong_parents(constraint, flats[0], one, low, high)) is not None:
        return f"{case_text(wrong[0])}: {wrong[1]}"
    if constraint.is_parents and constraint.root is not None:
        is_root = one == constraint.root
        one, other, case = one[~is_root], other[~is_root], case[~is_root]
    for ends in (one, other):
        outside = (ends < low[case]) | (ends > high[case])
        if outside.any():
            edge = int(np.argmax(outside))
            return f"{case_text(int(case[edge]))}: there is no vertex {ends[edge]}"
    shift = starts[:-1][case] - low[case]
    edges = Edges((one + shift).astype(np.int64), (other + shift).astype(np.int64), case, starts)
    for kind, look in _LOOKS.items():
        if kind in constraint.kinds and (found := look(edges, constraint.is_directed, low)) is not None:
            return f"{case_text(found[0])}: {found[1]}"
    return None


@dataclass(frozen=True)
class _CaseText:
    is_per_case: bool

    def __call__(self, case: int) -> str:
        return f" in test case {case + 1}" if self.is_per_case else ""


def _ends(constraint: Graph, flats: Sequence[Flat], low: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Both ends of each edge, and its test case; of a parent, the vertex is the second end."""
    first = flats[0]
    numbers = first.numbers if first.numbers is not None else np.zeros(0, dtype=np.int64)
    levels = first.layout.offsets
    counts = np.diff(levels[1]) if first.is_per_case else np.array([int(levels[0][-1])])
    case = np.repeat(np.arange(len(counts)), counts)
    if constraint.is_parents:
        local = np.arange(len(case)) - np.repeat(np.cumsum(counts) - counts, counts)
        return numbers, low[case] + local + (constraint.root is None), case
    if len(flats) > 1:
        other = flats[1].numbers
        return numbers, numbers if other is None else other, case
    return numbers[0::2], numbers[1::2], case


def _wrong_parents(
    constraint: Graph, flat: Flat, parents: Numbers, low: Numbers, high: Numbers
) -> tuple[int, str] | None:
    counts = np.diff(flat.layout.offsets[1]) if flat.is_per_case else np.array([flat.layout.size])
    wanted = high - low + (constraint.root is not None)
    if (counts != wanted).any():
        case = int(np.argmax(counts != wanted))
        return case, f"there are {counts[case]} parents, not {wanted[case]}"
    if constraint.root is None or GraphKind.TREE not in constraint.kinds:
        return None
    case_of = np.repeat(np.arange(len(counts)), counts)
    roots = np.bincount(case_of[parents == constraint.root], minlength=len(counts))
    if (roots != 1).any():
        case = int(np.argmax(roots != 1))
        return case, f"it has {roots[case]} roots"
    return None


def _components(edges: Edges, *, is_strong: bool = False) -> tuple[int, Numbers]:
    """How many components all graphs have together, and the component of each vertex."""
    from scipy.sparse import coo_array  # type: ignore[import-untyped]
    from scipy.sparse.csgraph import connected_components  # type: ignore[import-untyped]

    size = edges.n_vertices
    if not size:
        return 0, np.zeros(0, dtype=np.int64)
    ones = np.ones(len(edges.first), dtype=np.int8)
    matrix = coo_array((ones, (edges.first, edges.second)), shape=(size, size))
    count, labels = connected_components(
        matrix.tocsr(), directed=is_strong, connection="strong" if is_strong else "weak"
    )
    return int(count), labels


def _n_components(edges: Edges) -> Numbers:
    """The number of components of each case's graph."""
    _, labels = _components(edges)
    _, first = np.unique(labels, return_index=True)
    of_case = np.searchsorted(edges.starts, first, side="right") - 1
    return np.bincount(of_case, minlength=len(edges.starts) - 1)


def _looks_simple(edges: Edges, is_directed: bool, low: Numbers) -> tuple[int, str] | None:
    loops = edges.first == edges.second
    if loops.any():
        edge = int(np.argmax(loops))
        return int(edges.case[edge]), f"{edges.name(edge, low)} is a loop"
    one, other = edges.first, edges.second
    if not is_directed:
        one, other = np.minimum(one, other), np.maximum(one, other)
    keys = one * max(edges.n_vertices, 1) + other
    order = np.argsort(keys, kind="stable")
    double = keys[order][1:] == keys[order][:-1]
    if not double.any():
        return None
    edge = int(order[1:][double].min())
    return int(edges.case[edge]), f"{edges.name(edge, low)} is there twice"


def _looks_connected(edges: Edges, is_directed: bool, low: Numbers) -> tuple[int, str] | None:
    found = _n_components(edges)
    if not (found > 1).any():
        return None
    case = int(np.argmax(found > 1))
    return case, f"it has {found[case]} parts that no edges join"


def _looks_acyclic(edges: Edges, is_directed: bool, low: Numbers) -> tuple[int, str] | None:
    if is_directed:
        count, labels = _components(edges, is_strong=True)
        sizes = np.bincount(labels, minlength=count)
        on_cycle = (sizes[labels[edges.first]] > 1) & (labels[edges.first] == labels[edges.second])
        on_cycle |= edges.first == edges.second
        if not on_cycle.any():
            return None
        edge = int(np.argmax(on_cycle))
        return int(edges.case[edge]), f"{edges.name(edge, low)} is on a cycle"
    n_edges = np.bincount(edges.case, minlength=len(edges.starts) - 1)
    cyclic = n_edges != np.diff(edges.starts) - _n_components(edges)
    return (int(np.argmax(cyclic)), "it has a cycle") if cyclic.any() else None


def _looks_tree(edges: Edges, is_directed: bool, low: Numbers) -> tuple[int, str] | None:
    return _looks_connected(edges, False, low) or _looks_acyclic(edges, False, low)


_LOOKS = {
    GraphKind.SIMPLE: _looks_simple,
    GraphKind.CONNECTED: _looks_connected,
    GraphKind.ACYCLIC: _looks_acyclic,
    GraphKind.TREE: _looks_tree,
}
