"""Variables that are drawn together: the ends of edges, the columns of different pairs. Pure but for the generator."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from eval.made_tests import exact
from eval.made_tests.drawing._distinct import sorted_rows
from eval.made_tests.drawing._edges import Wanted, graph_edges, parents, shuffled_labels
from eval.made_tests.drawing._errors import CannotDraw
from eval.made_tests.drawing._numbers import draw_numbers
from eval.made_tests.drawing._policies import uniform
from eval.made_tests.drawing._relations import HOLDS, Scope
from eval.made_tests.drawing._rewriting import rebuilt
from eval.made_tests.drawing._state import State
from eval.made_tests.exact import Numbers
from eval.made_tests.flat import Tuples
from eval.made_tests.grammar import Comparison, Distinct, Expression, Graph, GraphKind, Kind, Reference
from eval.made_tests.mentions import references_in, variables_of

MAX_ROUNDS = 8
MAX_PAIRS = 4_000_000


def draw_graph(state: State, constraint: Graph) -> None:
    """Settle the variables of a graph; CannotDraw."""
    low = state.of_cases(constraint.low)
    n = exact.narrowed(exact.subtract(state.of_cases(constraint.high), low)) + 1
    if exact.is_large(n):
        raise CannotDraw("a graph has more vertices than can be drawn")
    if constraint.is_parents:
        _draw_parents(state, constraint, low, n)
        return
    names = variables_of(constraint)
    groups = state.groups(names[0])
    m = np.diff(groups) if len(names) > 1 else np.diff(groups) // 2
    relation = state.problem.pairs.get((names[0], names[-1]))
    style, kinds = state.style, _kinds(state, constraint, names)
    wanted = Wanted(
        _with_edges(state, n, m, kinds),
        m,
        kinds,
        constraint.is_directed,
        relation in ("<", ">", "!="),
        style.shape,
        style.closes_cycle,
        style.is_shuffled,
        style.is_bipartite,
    )
    first, second = graph_edges(state.rng, wanted)
    first, second = _turned(relation, first + low[wanted.case], second + low[wanted.case])
    if len(names) == 1:
        state.settle(names[0], np.stack((first, second), axis=1).reshape(-1))
        return
    _refuse_outside(state, names[0], first)
    state.settle(names[0], first)
    _refuse_outside(state, names[1], second)
    state.settle(names[1], second)


def _with_edges(state: State, n: Numbers, m: Numbers, kinds: frozenset[GraphKind]) -> Numbers:
    """How many vertices have edges: all, or half of them where the style leaves some out and the edges let it."""
    if not state.style.leaves_out or kinds & {GraphKind.TREE, GraphKind.CONNECTED}:
        return n
    half = np.maximum((n + 1) // 2, 1)
    has_room = m <= half - 1 if GraphKind.ACYCLIC in kinds else m <= half * (half - 1) // 2
    return np.where(has_room, half, n)


def _kinds(state: State, constraint: Graph, names: tuple[str, ...]) -> frozenset[GraphKind]:
    """What the edges have to be; pairs that have to be different are edges that do not stand there twice."""
    distinct = [each for each in state.problem.constraints(names[0], Distinct) if isinstance(each, Distinct)]
    is_simple = any(set(each.names) == set(names) for each in distinct)
    return constraint.kinds | {GraphKind.SIMPLE} if is_simple else constraint.kinds


def _turned(relation: str | None, first: Numbers, second: Numbers) -> tuple[Numbers, Numbers]:
    if relation in ("<", "<="):
        return np.minimum(first, second), np.maximum(first, second)
    if relation in (">", ">="):
        return np.maximum(first, second), np.minimum(first, second)
    return first, second


def _refuse_outside(state: State, name: str, values: Numbers) -> None:
    low, high = state.domains.low[name], state.domains.high[name]
    if ((values < low) | (values > high)).any():
        raise CannotDraw(f"{name} has other bounds than the vertices of its graph")


def _draw_parents(state: State, constraint: Graph, low: Numbers, n: Numbers) -> None:
    """The parents of trees: with numbers shuffled where the bounds allow it, else each before its children."""
    name = constraint.first
    bounds = state.domains.low[name], state.domains.high[name]
    relabellings = [None, partial(shuffled_labels, state.rng, n, keeps_first=True)]
    if constraint.root is not None:
        relabellings.append(partial(shuffled_labels, state.rng, n, keeps_first=False))
    bases = np.repeat(low, n)
    for relabel in reversed(relabellings if state.style.is_shuffled else relabellings[:1]):
        found = parents(state.rng, constraint, n, state.style.shape, relabel)
        is_root = found < 0
        if constraint.root is None:
            values = (found + bases)[~is_root]
        else:
            values = np.where(is_root, constraint.root, found + bases)
        if len(values) == len(bounds[0]) and not ((values < bounds[0]) | (values > bounds[1])).any():
            state.settle(name, values)
            return
    raise CannotDraw(f"{name} has other bounds than the parents of a tree")


def draw_chain(state: State, first: str, second: str) -> None:
    """Settle rows L and R with L_1 <= R_1 < L_2 <= R_2 …: values in order, with what has to lie between; CannotDraw."""
    domains = state.domains
    inner, outer = state.problem.chains[first, second]
    groups = state.groups(first, within_row=True)
    counts = np.diff(groups)
    local = np.arange(int(groups[-1])) - np.repeat(groups[:-1], counts)
    before = np.stack((local * (inner + outer), local * (inner + outer) + inner), axis=1).reshape(-1)
    whole = np.repeat(counts, counts) * (inner + outer) - outer
    low = np.repeat(exact.at_most(domains.low[first], domains.low[second]), 2)
    most = exact.at_least(domains.high[first], domains.high[second])
    high = np.repeat(exact.subtract(most, whole), 2)
    low, high = _same_in_rows(low, high, groups * 2)
    if (low > high).any():
        raise CannotDraw(f"{first} and {second} have no room for {counts.max()} pairs in order")
    chosen = sorted_rows(state.style.numbers(state.rng, low, high, groups * 2), groups * 2, is_descending=False)
    values = exact.add(chosen, before)
    _refuse_outside(state, first, values[0::2])
    state.settle(first, values[0::2])
    _refuse_outside(state, second, values[1::2])
    state.settle(second, values[1::2])


def _same_in_rows(low: Numbers, high: Numbers, rows: Numbers) -> tuple[Numbers, Numbers]:
    """The bounds of the whole row for each of its elements."""
    counts, starts = np.diff(rows), rows[:-1]
    filled = starts[counts > 0]
    if not len(filled):
        return low, high
    lows, highs = np.minimum.reduceat(low, filled), np.maximum.reduceat(high, filled)
    return np.repeat(lows, counts[counts > 0]), np.repeat(highs, counts[counts > 0])


@dataclass(frozen=True)
class _Pair:
    names: tuple[str, ...]
    comparisons: list[Comparison]
    unordered: bool


def draw_pairs(state: State, names: tuple[str, ...]) -> None:
    """Settle variables whose tuples are pairwise different; CannotDraw."""
    before = state.domains.copy()
    constraint = next(
        each
        for each in state.problem.constraints(names[0], Distinct)
        if isinstance(each, Distinct) and each.names == names
    )
    columns = []
    for name in names:
        columns.append(draw_numbers(state, name))
        state.settle(name, columns[-1])
    if any(exact.is_large(column) for column in columns):
        return  # 10^19 values do not collide
    groups = state.groups(names[0], within_row=constraint.within_row)
    group_of = np.repeat(np.arange(len(groups) - 1), np.diff(groups))
    again = _repeated(columns, group_of, constraint.unordered)
    if not len(again):
        return
    low, high = ([before.low[name] for name in names], [before.high[name] for name in names])
    pair = _Pair(names, _pair_comparisons(state, names), constraint.unordered)
    for _ in range(MAX_ROUNDS):
        if not len(again):
            break
        columns = _drawn_anew(state, columns, low, high, again, pair)
        again = _repeated(columns, group_of, constraint.unordered)
    for group in np.unique(group_of[again]).tolist() if len(again) else ():
        part = slice(int(groups[group]), int(groups[group + 1]))
        _fill_from_all(state, columns, low, high, part, pair)
    state.domains = before
    for name, column in zip(names, columns, strict=True):
        _refuse_outside(state, name, column)
        state.settle(name, column)


def _repeated(columns: list[Numbers], group_of: Numbers, unordered: bool) -> Numbers:
    if unordered and len(columns) == 2:
        columns = [np.minimum(*columns), np.maximum(*columns)]
    keys = group_of
    for column in columns:
        least, most = int(column.min(initial=0)), int(column.max(initial=0))
        width = most - least + 1
        if int(keys.max(initial=0)) * width + width > exact.INT64_MAX:
            _, keys = np.unique(keys, return_inverse=True)
        keys = keys * width + (column - least)
    order = np.argsort(keys, kind="stable")
    again: Numbers = np.sort(order[1:][keys[order][1:] == keys[order][:-1]])
    return again


def _pair_comparisons(state: State, names: tuple[str, ...]) -> list[Comparison]:
    """The comparisons of the elements of a pair with each other, with the names of the rows for its elements."""
    if len(names) != 2:
        return []
    found = []
    for each in state.problem.grammar.constraints:
        if not isinstance(each, Comparison):
            continue
        references = [one for side in (each.left, each.right) for one in references_in(side)]
        of_pair = {one.indices for one in references if one.name in names}
        others = {one.name for one in references if one.name not in names} - {index.name for index in each.indices}
        is_plain = all(state.domains.is_settled(other) for other in others) and not others & state.domains.per_case
        if {one.name for one in references} >= set(names) and len(of_pair) == 1 and is_plain:
            left, right = (rebuilt(side, partial(_without_index, names)) for side in (each.left, each.right))
            found.append(Comparison(left, each.operator, right))
    return found


def _without_index(names: tuple[str, ...], part: Expression) -> Expression | None:
    return Reference(part.name) if isinstance(part, Reference) and part.name in names else None


def _holds(state: State, names: tuple[str, ...], comparisons: list[Comparison], columns: list[Numbers]) -> Numbers:
    """Which pairs keep the comparisons."""
    good = np.ones(len(columns[0]), dtype=bool)
    scope = Scope(Tuples(len(good), None, dict(zip(names, columns, strict=True))))
    for each in comparisons:
        left, right = (state.domains.interval(side, scope)[0] for side in (each.left, each.right))
        good &= HOLDS[each.operator](left, right).astype(bool)
    return good


def _drawn_anew(
    state: State, columns: list[Numbers], low: list[Numbers], high: list[Numbers], again: Numbers, pair: _Pair
) -> list[Numbers]:
    columns = [column.copy() for column in columns]
    waiting = again
    for _ in range(8 * MAX_ROUNDS):
        for column, least, most in zip(columns, low, high, strict=True):
            column[waiting] = uniform(state.rng, least[waiting], most[waiting], np.array([0, len(waiting)]))
        waiting = waiting[~_holds(state, pair.names, pair.comparisons, [column[waiting] for column in columns])]
        if not len(waiting):
            break
    return columns


def _fill_from_all(
    state: State,
    columns: list[Numbers],
    low: list[Numbers],
    high: list[Numbers],
    part: slice,
    pair: _Pair,
) -> None:
    """Choose the pairs of a group among all that there are."""
    if len(columns) != 2 or any((each[part] != each[part][0]).any() for each in (*low, *high)):
        raise CannotDraw("no more different pairs are found")
    one, other = (np.arange(int(least[part][0]), int(most[part][0]) + 1) for least, most in zip(low, high, strict=True))
    if len(one) * len(other) > MAX_PAIRS:
        raise CannotDraw("no more different pairs are found")
    first, second = np.repeat(one, len(other)), np.tile(other, len(one))
    good = _holds(state, pair.names, pair.comparisons, [first, second])
    if pair.unordered:
        both_ways = np.isin(second, one) & np.isin(first, other)
        good &= (first <= second) | ~both_ways
    choices = np.flatnonzero(good)
    count = part.stop - part.start
    if len(choices) < count:
        raise CannotDraw(f"there are {len(choices)} different pairs, and {count} are wanted")
    chosen = state.rng.permutation(choices)[:count]
    columns[0][part], columns[1][part] = first[chosen], second[chosen]


def are_integers(state: State, names: tuple[str, ...]) -> bool:
    """Whether all of these variables are integers."""
    return all(state.problem.variables[name].kind is Kind.INTEGER for name in names)
