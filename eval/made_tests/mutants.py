"""Wrong programs made of right ones: small changes of Python source, each of them a mistake that people make. Pure.

A mutant differs from its original, and from every other mutant, in its syntax tree. It may still do the same: what no
test tells apart is counted by itself (``eval.made_tests.strength``). The source of a mutant is written anew from its
tree: comments and layout are gone.

Offutt and others 1996, "An experimental determination of sufficient mutant operators", found that changed relational,
logical and arithmetic operators and constants do nearly as well as many more; the rest here is what goes wrong in
programs for contests (ranges, moduli, orders, overflows as in C).
"""

from __future__ import annotations

import ast
import copy
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from eval.made_tests.mutation_operators import OPERATORS, Slot, changes, slots

MAX_SOURCE = 100_000
"""Sources of more characters have no mutants: they are mostly tables."""


@dataclass(frozen=True)
class Mutant:
    """A changed program: which operator made the change, and in which line of the original, counted from 1."""

    operator: str
    line: int
    source: str


def mutants(source: str, wanted: int, rng: np.random.Generator) -> tuple[Mutant, ...]:
    """At most so many mutants, by their lines; the same for the same source and generator.

    The operators that find something to change take turns, each with a place drawn among its own, so that a program
    full of constants has other mutants too. A source that cannot be read, or written again, has none.
    """
    tree = _parsed(source)
    if tree is None or wanted <= 0:
        return ()
    try:
        found = list(islice(_different(tree, rng), wanted))
    except RecursionError:  # an expression nested so deep that nobody wrote it
        return ()
    return tuple(sorted(found, key=lambda mutant: (mutant.line, mutant.operator, mutant.source)))


def _different(tree: ast.Module, rng: np.random.Generator) -> Iterator[Mutant]:
    seen = {ast.dump(tree)}
    for change in _by_turns(_changes(tree), rng):
        made = _mutant(tree, change)
        if made is not None and (dump := made[1]) not in seen:
            seen.add(dump)
            yield made[0]


@dataclass(frozen=True)
class _Change:
    """The ``variant``-th thing that an operator can make of what stands at a place of the tree."""

    operator: str
    place: int
    variant: int


def _changes(tree: ast.Module) -> dict[str, list[_Change]]:
    found: dict[str, list[_Change]] = {}
    for place, slot in enumerate(slots(tree)):
        for operator, replacements in changes(slot):
            of_operator = found.setdefault(operator, [])
            of_operator.extend(_Change(operator, place, variant) for variant in range(len(replacements)))
    return found


def _by_turns(found: dict[str, list[_Change]], rng: np.random.Generator) -> Iterator[_Change]:
    queues = [[found[name][at] for at in rng.permutation(len(found[name]))] for name in OPERATORS if name in found]
    queues = [queues[at] for at in rng.permutation(len(queues))]
    while queues:
        for queue in queues:
            yield queue.pop()
        queues = [queue for queue in queues if queue]


def _mutant(tree: ast.Module, change: _Change) -> tuple[Mutant, str] | None:
    """The mutant with the dump of its tree, read again from its source: -1 is not what it was written from."""
    changed = copy.deepcopy(tree)
    slot = slots(changed)[change.place]
    line = _line(slot)
    replacement = dict(changes(slot))[change.operator][change.variant]
    slot.put(replacement)
    source = _written(changed)
    read = None if source is None else _parsed(source)
    if source is None or read is None:
        return None
    return Mutant(change.operator, line, source), ast.dump(read)


def _line(slot: Slot) -> int:
    nodes = slot.node if isinstance(slot.node, list) else [slot.node]
    return min((node.lineno for node in nodes if isinstance(node, ast.stmt | ast.expr)), default=slot.line)


def _parsed(source: str) -> ast.Module | None:
    if len(source) > MAX_SOURCE:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the compiler thinks of its escape sequences is not ours to say
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _written(tree: ast.Module) -> str | None:
    try:
        return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    except ValueError:  # what cannot be written: an integer too long, an f-string nested in this version's way
        return None
