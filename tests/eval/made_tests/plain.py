"""Whether an input keeps a shape's constraints, looked at in plain Python: a second opinion beside ``values.check``."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

Holds = Callable[[dict[str, Any]], bool]


def all_in(elements: list[int], low: int, high: int) -> bool:
    return all(low <= each <= high for each in elements)


def parts(n: int, edges: list[tuple[int, int]], first: int = 1) -> int:
    """How many parts a graph has, by union and find."""
    leader = list(range(n + first))

    def find(vertex: int) -> int:
        while leader[vertex] != vertex:
            leader[vertex] = leader[leader[vertex]]
            vertex = leader[vertex]
        return vertex

    for one, other in edges:
        leader[find(one)] = find(other)
    return len({find(vertex) for vertex in range(first, n + first)})


def is_tree(n: int, edges: list[tuple[int, int]], first: int = 1) -> bool:
    return len(edges) == n - 1 and parts(n, edges, first) == 1


def is_simple(edges: list[tuple[int, int]], *, is_directed: bool = False) -> bool:
    keys: set[Any] = set(edges) if is_directed else {frozenset(edge) for edge in edges}
    return len(keys) == len(edges) and all(one != other for one, other in edges)


def has_no_cycle(n: int, edges: list[tuple[int, int]]) -> bool:
    """Of a directed graph: vertices without incoming edges are taken away until none is left."""
    incoming, after = [0] * (n + 1), [[] for _ in range(n + 1)]  # type: list[int], list[list[int]]
    for one, other in edges:
        incoming[other] += 1
        after[one].append(other)
    waiting = [vertex for vertex in range(1, n + 1) if not incoming[vertex]]
    for vertex in waiting:
        for other in after[vertex]:
            incoming[other] -= 1
            if not incoming[other]:
                waiting.append(other)
    return len(waiting) == n


def _edges(v: dict[str, Any]) -> list[tuple[int, int]]:
    return list(zip(v["u"], v["v"], strict=True))


def _row(v: dict[str, Any]) -> bool:
    return 1 <= v["N"] <= 200_000 and len(v["A"]) == v["N"] and all_in(v["A"], 1, 10**9)


def _string_with_queries(v: dict[str, Any]) -> bool:
    queries = list(zip(v["l"], v["r"], strict=True))
    return (
        1 <= v["N"] == len(v["S"]) <= 300_000
        and 1 <= v["Q"] == len(queries) <= 300_000
        and set(v["S"]) <= set("abcdefghijklmnopqrstuvwxyz")
        and all(1 <= left <= right <= v["N"] for left, right in queries)
    )


def _grid(v: dict[str, Any]) -> bool:
    rows = v["S"]
    return (
        1 <= v["H"] == len(rows) <= 1000
        and 1 <= v["W"] <= 1000
        and {len(row) for row in rows} == {v["W"]}
        and set("".join(rows)) <= set(".#")
    )


def _tree(v: dict[str, Any]) -> bool:
    edges = _edges(v)
    return (
        2 <= v["N"] <= 200_000
        and is_tree(v["N"], edges)
        and all(1 <= one < other <= v["N"] for one, other in edges)
        and len(v["w"]) == v["N"] - 1
        and all_in(v["w"], 1, 10**9)
    )


def _graph(v: dict[str, Any], *, is_directed: bool = False) -> bool:
    edges = _edges(v)
    return (
        1 <= v["N"] <= 20_000
        and 0 <= v["M"] == len(edges) <= 20_000
        and all_in(v["u"] + v["v"], 1, v["N"])
        and is_simple(edges, is_directed=is_directed)
    )


def _case(v: dict[str, Any], case: int, names: str) -> dict[str, Any]:
    return {name: v[name][case] for name in names}


def _cases(v: dict[str, Any]) -> bool:
    return (
        1 <= v["T"] == len(v["N"]) == len(v["A"]) <= 100_000
        and min(v["N"]) >= 1
        and sum(v["N"]) <= 200_000
        and all(len(row) == n and all_in(row, 1, n) for n, row in zip(v["N"], v["A"], strict=True))
    )


def _cases_of_trees(v: dict[str, Any]) -> bool:
    each = [_case(v, case, "NuvS") for case in range(v["T"])]
    return (
        1 <= v["T"] <= 10_000
        and sum(v["N"]) <= 200_000
        and all(is_tree(case["N"], _edges(case)) for case in each)
        and all(len(case["S"]) == case["N"] and set(case["S"]) <= set("01") for case in each)
    )


def _cases_of_graphs(v: dict[str, Any]) -> bool:
    each = [_case(v, case, "NMuv") for case in range(v["T"])]
    return (
        1 <= v["T"] <= 10_000
        and sum(v["N"]) <= 100_000
        and sum(v["M"]) <= 200_000
        and min(v["N"]) >= 2
        and min(v["M"]) >= 1
        and all(is_simple(_edges(case)) and parts(case["N"], _edges(case)) == 1 for case in each)
        and all(len(case["u"]) == case["M"] for case in each)
    )


def _parents(v: dict[str, Any]) -> bool:
    return (
        2 <= v["N"] <= 100_000
        and len(v["P"]) == v["N"] - 1
        and all(1 <= parent < child for child, parent in enumerate(v["P"], start=2))
        and len(v["A"]) == v["N"]
        and all_in(v["A"], -(10**9), 10**9)
    )


def _parents_with_root(v: dict[str, Any]) -> bool:
    edges = [(child, parent) for child, parent in enumerate(v["parent"]) if parent != -1]
    return v["parent"][0] == -1 and len(v["parent"]) == v["n"] <= 1000 and is_tree(v["n"], edges, first=0)


def _distinct_pairs(v: dict[str, Any]) -> bool:
    found = list(zip(v["X"], v["Y"], strict=True))
    return 1 <= v["M"] == len(found) == len(set(found)) and v["N"] <= 200 and all_in(v["X"] + v["Y"], 1, v["N"])


def _ragged(v: dict[str, Any]) -> bool:
    return (
        1 <= v["N"] == len(v["K"]) <= 100
        and [len(row) for row in v["A"]] == v["K"]
        and min(v["K"]) >= 1
        and sum(v["K"]) <= 200_000
        and all(all_in(row, 0, 10**18) for row in v["A"])
    )


def _words(v: dict[str, Any]) -> bool:
    words = v["S"]
    return (
        1 <= v["N"] == len(words) == len(set(words)) <= 100_000
        and min(map(len, words)) >= 1
        and sum(map(len, words)) <= 500_000
        and set("".join(words)) <= set("abcdefghijklmnopqrstuvwxyz")
    )


def _call(v: dict[str, Any]) -> bool:
    nums = v["nums"]
    return 1 <= len(nums) == v["nums.length"] <= 100_000 and all_in(nums, -(10**9), 10**9) and 1 <= v["k"] <= len(nums)


def _free_lengths(v: dict[str, Any]) -> bool:
    grid = v["grid"]
    return 1 <= len(grid) <= 50 and all(1 <= len(row) <= 50 and all_in(row, 0, 9) for row in grid)


def _mixed(v: dict[str, Any]) -> bool:
    rising, colours = v["X"], v["C"]
    return (
        v["N"] % 2 == 0
        and 2 <= v["N"] <= 1000
        and all(one < other for one, other in pairwise(rising))
        and all(one != other for one, other in pairwise(colours))
        and all_in(rising, -(10**9), 10**9)
        and all_in(colours, 1, 3)
        and set(v["D"]) <= {"left", "right"}
        and sorted([v["a"], v["b"], v["c"]]) == [1, 2, 3]
        and {len(v[name]) for name in "XCD"} == {v["N"]}
    )


def _no_leading_zero(v: dict[str, Any]) -> bool:
    return 1 <= len(v["s"]) <= 100 and v["s"].isdigit() and v["s"][0] != "0"


PLAIN: dict[str, Holds] = {
    "row": _row,
    "string with queries": _string_with_queries,
    "grid": _grid,
    "tree": _tree,
    "simple graph": _graph,
    "connected graph": lambda v: _graph(v) and parts(v["N"], _edges(v)) == 1,
    "directed graph": lambda v: _graph(v, is_directed=True),
    "directed graph without cycles": lambda v: _graph(v) and has_no_cycle(v["N"], _edges(v)),
    "forest": lambda v: _graph(v) and v["M"] == v["N"] - parts(v["N"], _edges(v)),
    "cases": _cases,
    "cases of trees": _cases_of_trees,
    "cases of graphs": _cases_of_graphs,
    "permutation": lambda v: sorted(v["P"]) == list(range(1, v["N"] + 1)) and v["N"] <= 200_000,
    "parents": _parents,
    "parents with a root": _parents_with_root,
    "distinct pairs": _distinct_pairs,
    "ragged": _ragged,
    "words": _words,
    "call": _call,
    "free lengths": _free_lengths,
    "mixed": _mixed,
    "no leading zero": _no_leading_zero,
}
