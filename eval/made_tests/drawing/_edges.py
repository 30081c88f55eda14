"""Edges of the graphs of all test cases at once. Pure but for the generator.

Vertices are counted from 0 in each graph here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eval.made_tests.drawing._errors import CannotDraw
from eval.made_tests.drawing._trees import Shape
from eval.made_tests.exact import Numbers
from eval.made_tests.grammar import Graph, GraphKind

MAX_ROUNDS = 60
MAX_PAIRS = 4_000_000
"""So many pairs of vertices are listed where almost all of them are edges, and no more."""


@dataclass(frozen=True)
class Wanted:
    """``n`` vertices and ``m`` edges for each case, what the edges have to be, and the shape of the tree in them."""

    n: Numbers
    m: Numbers
    kinds: frozenset[GraphKind]
    is_directed: bool
    has_no_loops: bool
    shape: Shape
    closes_cycle: bool = False
    is_shuffled: bool = True
    is_bipartite: bool = False

    @property
    def starts(self) -> Numbers:
        """The first edge of each case, and the end."""
        return np.concatenate(([0], np.cumsum(self.m)))

    @property
    def case(self) -> Numbers:
        """The case of each edge."""
        return np.repeat(np.arange(len(self.m)), self.m)

    @property
    def place(self) -> Numbers:
        """The number of each edge in its case."""
        result: Numbers = np.arange(int(self.m.sum())) - np.repeat(self.starts[:-1], self.m)
        return result

    @property
    def is_dense(self) -> Numbers:
        """Whether each case has more than half of the edges that it could have, if no two join the same vertices."""
        result: Numbers = self.m * 2 > self.n * (self.n - 1) // 2
        return result

    @property
    def is_simple(self) -> bool:
        """Whether no edge may stand there twice."""
        return GraphKind.SIMPLE in self.kinds

    @property
    def is_forest(self) -> bool:
        """Whether there may be no cycle, whatever the directions."""
        return GraphKind.TREE in self.kinds or (GraphKind.ACYCLIC in self.kinds and not self.is_directed)


def graph_edges(rng: np.random.Generator, wanted: Wanted) -> tuple[Numbers, Numbers]:
    """Both ends of each edge; CannotDraw where there is no such graph."""
    if not int(wanted.m.sum()):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    if (too_few := (wanted.n < 1) & (wanted.m > 0)).any():
        raise CannotDraw(f"{wanted.m[np.argmax(too_few)]} edges need vertices")
    case, place = wanted.case, wanted.place
    first, second = _tree_part(rng, wanted, case, place)
    rest = np.flatnonzero(place >= wanted.n[case] - 1)
    if len(rest):
        if wanted.is_forest:
            raise CannotDraw("edges without a cycle are fewer than the vertices")
        _add_others(rng, wanted, first, second, rest)
    if wanted.is_directed or GraphKind.ACYCLIC not in wanted.kinds:
        first, second = _directed(rng, wanted, first, second)
    labels = shuffled_labels(rng, wanted.n, keeps_first=False) if wanted.is_shuffled else None
    if labels is not None:
        bases = np.concatenate(([0], np.cumsum(wanted.n)))[:-1]
        first, second = labels[bases[case] + first], labels[bases[case] + second]
        order = np.lexsort((rng.random(len(case)), case))
        first, second = first[order], second[order]
    return first, second


def _tree_part(rng: np.random.Generator, wanted: Wanted, case: Numbers, place: Numbers) -> tuple[Numbers, Numbers]:
    """The edges of a tree for the first n-1 of each case, 0 for the others."""
    child = place + 1
    is_tree = child < wanted.n[case]
    parent = wanted.shape(rng, np.maximum(child, 1), wanted.n[case])
    return np.where(is_tree, parent, 0), np.where(is_tree, child, 0)


def _add_others(rng: np.random.Generator, wanted: Wanted, first: Numbers, second: Numbers, rest: Numbers) -> None:
    """Fill in the edges at ``rest`` of both arrays."""
    n, case = wanted.n, wanted.case
    closing = np.zeros(0, dtype=np.int64)
    if wanted.closes_cycle:
        closing = rest[(wanted.place[rest] == n[case[rest]] - 1) & (n[case[rest]] > 2)]
        first[closing], second[closing] = 0, n[case[closing]] - 1
    open_ones = np.setdiff1d(rest, closing, assume_unique=True)
    if not (wanted.is_simple or wanted.has_no_loops):
        first[open_ones] = (rng.random(len(open_ones)) * n[case[open_ones]]).astype(np.int64)
        second[open_ones] = (rng.random(len(open_ones)) * n[case[open_ones]]).astype(np.int64)
        return
    if not wanted.is_simple:
        one, other = _pairs(rng, n[case[open_ones]], is_bipartite=wanted.is_bipartite)
        first[open_ones], second[open_ones] = one, other
        return
    dense = open_ones[wanted.is_dense[case[open_ones]]]
    _add_by_trying(rng, wanted, first, second, np.setdiff1d(open_ones, dense, assume_unique=True))
    if len(dense):
        _add_from_all(rng, wanted, first, second, dense)


def _pairs(rng: np.random.Generator, n: Numbers, *, is_bipartite: bool) -> tuple[Numbers, Numbers]:
    """Two different vertices of each graph of n, the smaller one first; of a bipartite one an even and an odd one."""
    if len(n) and (n < 2).any():
        raise CannotDraw("an edge without a loop needs two vertices")
    one = (rng.random(len(n)) * n).astype(np.int64)
    other = (one + 1 + (rng.random(len(n)) * (n - 1)).astype(np.int64)) % np.maximum(n, 1)
    if is_bipartite:
        one, other = 2 * (one // 2), 2 * (other // 2) + 1
        other = np.where(other >= n, 1, other)
    return np.minimum(one, other), np.maximum(one, other)


def _keys(wanted: Wanted, first: Numbers, second: Numbers, case: Numbers) -> Numbers:
    """One number for each pair of vertices of each case, whatever the order of the pair."""
    widest = int(wanted.n.max()) + 1
    bases = np.concatenate(([0], np.cumsum(wanted.n)))[:-1]
    return (bases[case] + np.minimum(first, second)) * widest + np.maximum(first, second)


def _add_by_trying(rng: np.random.Generator, wanted: Wanted, first: Numbers, second: Numbers, rest: Numbers) -> None:
    case = wanted.case
    filled = np.ones(len(case), dtype=bool)
    filled[wanted.place >= wanted.n[case] - 1] = False
    filled |= (first != second) & ~filled  # the edge that closes a cycle
    for _ in range(MAX_ROUNDS):
        if not len(rest):
            return
        first[rest], second[rest] = _pairs(rng, wanted.n[case[rest]], is_bipartite=wanted.is_bipartite)
        there = np.flatnonzero(filled)
        keys = np.concatenate((_keys(wanted, first[there], second[there], case[there]), np.zeros(0, dtype=np.int64)))
        new = _keys(wanted, first[rest], second[rest], case[rest])
        _, first_of = np.unique(new, return_index=True)
        is_good = np.zeros(len(rest), dtype=bool)
        is_good[first_of] = True
        is_good &= ~np.isin(new, keys)
        filled[rest[is_good]] = True
        rest = rest[~is_good]
    raise CannotDraw("no more different edges are found")


def _add_from_all(rng: np.random.Generator, wanted: Wanted, first: Numbers, second: Numbers, rest: Numbers) -> None:
    """Choose among all pairs of the cases in which almost all pairs are edges."""
    case = wanted.case
    both = wanted.is_directed and GraphKind.ACYCLIC not in wanted.kinds
    cases = np.unique(case[rest])
    counts = wanted.n[cases] * (wanted.n[cases] - 1) // 2
    if int(counts.sum()) > MAX_PAIRS:
        raise CannotDraw(f"there are more than {MAX_PAIRS} pairs of vertices to choose from")
    of = np.repeat(cases, counts)
    number = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    great = ((1 + np.sqrt(8.0 * number + 1)) / 2).astype(np.int64)
    great -= great * (great - 1) // 2 > number
    great += great * (great + 1) // 2 <= number
    small = number - great * (great - 1) // 2
    if both:
        of, small, great = np.tile(of, 2), np.concatenate((small, great)), np.concatenate((great, small))
    taken = np.ones(len(case), dtype=bool)
    taken[rest] = False
    taken &= np.isin(case, cases)
    widest = int(wanted.n.max()) + 1

    def key(one: Numbers, other: Numbers, at: Numbers) -> Numbers:
        return (at * widest + one) * widest + other if both else _keys(wanted, one, other, at)

    is_free = ~np.isin(key(small, great, of), key(first[taken], second[taken], case[taken]))
    of, small, great = of[is_free], small[is_free], great[is_free]
    order = np.lexsort((rng.random(len(of)), of))
    of, small, great = of[order], small[order], great[order]
    needed = np.bincount(case[rest], minlength=len(wanted.n))
    offered = np.bincount(of, minlength=len(wanted.n))
    if (offered < needed).any():
        raise CannotDraw(f"{needed[np.argmax(offered < needed)]} more different edges are not there")
    rank = np.arange(len(of)) - (np.cumsum(offered) - offered)[of]
    is_chosen = rank < needed[of]
    first[rest], second[rest] = small[is_chosen], great[is_chosen]


def _directed(rng: np.random.Generator, wanted: Wanted, first: Numbers, second: Numbers) -> tuple[Numbers, Numbers]:
    """The edges with directions; those of a graph without cycles go from smaller to greater vertices."""
    if GraphKind.ACYCLIC in wanted.kinds:
        return np.minimum(first, second), np.maximum(first, second)
    keeps = np.zeros(len(first), dtype=bool)
    if wanted.is_directed and wanted.is_simple:
        keeps = wanted.is_dense[wanted.case]  # the other direction of some pairs is an edge too
    turns = (rng.random(len(first)) < 0.5) & ~keeps & wanted.is_shuffled
    return np.where(turns, second, first), np.where(turns, first, second)


def shuffled_labels(rng: np.random.Generator, n: Numbers, *, keeps_first: bool) -> Numbers:
    """For each vertex of each graph another number; ``keeps_first``: the first one keeps its own."""
    case = np.repeat(np.arange(len(n)), n)
    starts = np.cumsum(n) - n
    keys = rng.random(len(case))
    if keeps_first:
        keys[starts[n > 0]] = -1.0
    order = np.lexsort((keys, case))
    result: Numbers = np.empty(len(case), dtype=np.int64)
    result[np.arange(len(case))] = order - starts[case]
    return result


def parents(
    rng: np.random.Generator, constraint: Graph, n: Numbers, shape: Shape, relabel: Callable[[], Numbers] | None
) -> Numbers:
    """The parent of each vertex of each tree, -1 for the root, which is the first vertex before ``relabel``."""
    case = np.repeat(np.arange(len(n)), n)
    starts = np.cumsum(n) - n
    local = np.arange(len(case)) - starts[case]
    parent = np.where(local > 0, shape(rng, np.maximum(local, 1), n[case]), -1)
    if relabel is None:
        return parent
    labels = relabel()
    result = np.empty_like(parent)
    moved = np.where(parent >= 0, labels[starts[case] + np.maximum(parent, 0)], -1)
    result[starts[case] + labels] = moved
    return result
