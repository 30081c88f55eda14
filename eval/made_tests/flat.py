"""The variables of an input laid flat, and expressions evaluated for all values of their indices at once. Pure.

An input may have 10^5 test cases of two numbers each: nothing here takes a step for each case. A test case is one more
index before the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, pairwise

import numpy as np

from eval.made_tests import exact
from eval.made_tests.exact import Numbers
from eval.made_tests.grammar import (
    Constant,
    Expression,
    Extreme,
    Index,
    Length,
    Operation,
    Reference,
    Sum,
    Variable,
)

MAX_TUPLES = 8_000_000
"""So many values of the indices of one constraint are looked at, and no more."""


class TooManyTuples(ValueError):
    """The indices of a constraint have more values than anyone looks at."""


class NoSuchElement(ValueError):
    """An index outside of its variable, for at least one tuple; ``place`` is the first one's number."""

    def __init__(self, reference: Reference, place: int) -> None:
        super().__init__(f"{reference.name} has no such element")
        self.reference = reference
        self.place = place


@dataclass(frozen=True)
class Layout:
    """Where the elements of nested rows stand when they are laid flat.

    ``offsets[k][p]`` is where the children of node p of level k begin. Level 0 is one root; no levels are one value.
    """

    offsets: tuple[Numbers, ...] = ()

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(self.offsets[-1][-1]) if self.offsets else 1

    @property
    def rows(self) -> Numbers:
        """Where each row of the last level begins, and the end; one value is a row by itself."""
        return self.offsets[-1] if self.offsets else np.array([0, 1])

    def below(self, counts: Numbers) -> Layout:
        """One more level: so many children for each node of the last."""
        return Layout((*self.offsets, np.concatenate(([0], np.cumsum(counts))).astype(np.int64)))

    def positions(self, indices: Sequence[Numbers]) -> tuple[Numbers, Numbers]:
        """The nodes at these indices, counted from 0, and which of them are there at all."""
        nodes = np.zeros(1, dtype=np.int64)
        there = np.ones(1, dtype=bool)
        for offsets, index in zip(self.offsets, indices, strict=False):
            start, end = offsets[nodes], offsets[nodes + 1]
            if index.size and int(index.min()) >= 0 and int(index.max()) < int((end - start).min(initial=0)):
                nodes = (start + index).astype(np.int64)  # all are there, and nothing is to be looked at one by one
                continue
            there = there & (index >= 0) & (index < end - start)
            nodes = np.where(there, start + np.where(there, index, 0), 0).astype(np.int64)
        return nodes, there

    def nested(self, elements: list[object]) -> object:
        """The elements as the nested rows they are."""
        for offsets in reversed(self.offsets):
            bounds = offsets.tolist()
            elements = [elements[start:end] for start, end in pairwise(bounds)]
        return elements[0]


@dataclass(frozen=True)
class Flat:
    """One variable: numbers as an array, strings as a list."""

    variable: Variable
    layout: Layout
    is_per_case: bool
    numbers: Numbers | None = None
    strings: list[str] = field(default_factory=list)

    @cached_property
    def lengths(self) -> Numbers:
        """How long each string is."""
        return np.fromiter(map(len, self.strings), dtype=np.int64, count=len(self.strings))

    @cached_property
    def _characters(self) -> tuple[Numbers, Numbers]:
        joined = np.frombuffer("".join(self.strings).encode("utf-32-le", "surrogatepass"), dtype="<u4")
        return joined.astype(np.int64), np.concatenate(([0], np.cumsum(self.lengths)))

    def characters_at(self, strings: Numbers, indices: Numbers) -> tuple[Numbers, Numbers]:
        """The code points of characters of these strings, and which of them are there at all."""
        codes, starts = self._characters
        there = (indices >= 0) & (indices < self.lengths[strings]) if len(self.strings) else np.zeros(1, dtype=bool)
        places = np.where(there, starts[strings] + indices, 0) if len(codes) else np.zeros(len(there), dtype=np.int64)
        return (codes if len(codes) else np.zeros(1, dtype=np.int64))[places], there


@dataclass(frozen=True)
class Tuples:
    """All values of some indices, in order; ``case`` is the test case of each (None: not of any)."""

    size: int
    case: Numbers | None
    indices: Mapping[str, Numbers]

    def with_index(self, name: str, low: Numbers, high: Numbers) -> tuple[Tuples, Numbers]:
        """One more index from ``low`` to ``high``, both in it, and how many values it has for each tuple so far."""
        counts = np.broadcast_to(np.maximum(exact.subtract(high, low) + 1, 0), (self.size,))
        if int(exact.total(counts)) > MAX_TUPLES:
            raise TooManyTuples(f"an index has more than {MAX_TUPLES} values")
        counts = counts.astype(np.int64)
        starts = np.concatenate(([0], np.cumsum(counts)))
        size = int(starts[-1])
        lows = np.broadcast_to(low, (self.size,))
        values = np.repeat(exact.subtract(lows, starts[:-1]), counts) + np.arange(size)
        known = {key: np.repeat(np.broadcast_to(value, (self.size,)), counts) for key, value in self.indices.items()}
        case = None if self.case is None else np.repeat(self.case, counts)
        return Tuples(size, case, {**known, name: values}), counts


def no_indices(n_cases: int | None) -> Tuples:
    """The empty tuple, once for each test case (None: once)."""
    return Tuples(1, None, {}) if n_cases is None else Tuples(n_cases, np.arange(n_cases), {})


def all_tuples(indices: Iterable[Index], flats: Mapping[str, Flat], n_cases: int | None) -> Tuples:
    """All values of the indices, within each test case or once; TooManyTuples."""
    tuples = no_indices(n_cases)
    for index in indices:
        low, high = evaluate_all(index.low, flats, tuples), evaluate_all(index.high, flats, tuples)
        tuples, _ = tuples.with_index(index.name, low, high)
    return tuples


def evaluate_all(expression: Expression, flats: Mapping[str, Flat], tuples: Tuples) -> Numbers:
    """The expression for each tuple: as many numbers as tuples, or one that holds for all of them.

    NoSuchElement, ZeroDivisionError, exact.TooLarge.
    """
    match expression:
        case Constant(value):
            return exact.constant(value)
        case Reference():
            return _elements(expression, flats, tuples)
        case Length(of):
            return _lengths(of, flats, tuples)
        case Operation(operator, left, right):
            return calculate(operator, evaluate_all(left, flats, tuples), evaluate_all(right, flats, tuples))
        case Extreme(which, of):
            choose = exact.at_most if which == "min" else exact.at_least
            found = [evaluate_all(each, flats, tuples) for each in of]
            result = found[0]
            for other in found[1:]:
                result = choose(result, other)
            return result
        case Sum(inner_expression, index):
            low, high = evaluate_all(index.low, flats, tuples), evaluate_all(index.high, flats, tuples)
            inner, counts = tuples.with_index(index.name, low, high)
            return segment_sums(np.broadcast_to(evaluate_all(inner_expression, flats, inner), (inner.size,)), counts)


def calculate(operator: str, left: Numbers, right: Numbers) -> Numbers:
    """``left operator right`` for an operator of a grammar."""
    match operator:
        case "+":
            return exact.add(left, right)
        case "-":
            return exact.subtract(left, right)
        case "*":
            return exact.multiply(left, right)
        case "/":
            return exact.floor_divide(left, right)
        case "^":
            return exact.power(left, right)
    raise ValueError(f"a grammar has no operator {operator!r}")


def segment_sums(elements: Numbers, counts: Numbers) -> Numbers:
    """The exact sums of consecutive segments of so many elements."""
    if elements.dtype != object and exact.greatest_magnitude(elements) * max(len(elements), 1) > exact.INT64_MAX:
        elements = elements.astype(object)
    sums = np.concatenate((np.zeros(1, dtype=elements.dtype), np.cumsum(elements)))
    ends = np.cumsum(counts)
    result: Numbers = sums[ends] - sums[ends - counts]
    return result


def places_of(reference: Reference, flat: Flat, index_values: Sequence[Numbers], tuples: Tuples) -> Numbers:
    """The nodes that a reference names, for index values as the statement counts; NoSuchElement."""
    indices = [exact.subtract(value, exact.constant(flat.variable.first_index)) for value in index_values]
    if flat.is_per_case:
        if tuples.case is None:
            raise ValueError(f"{reference.name} belongs to test cases, and what names it does not")
        indices.insert(0, tuples.case)
    nodes, there = flat.layout.positions(indices)
    if not there.all() and tuples.size:
        raise NoSuchElement(reference, int(np.argmin(np.broadcast_to(there, (tuples.size,)))))
    return nodes


def _elements(reference: Reference, flats: Mapping[str, Flat], tuples: Tuples) -> Numbers:
    if not reference.indices and reference.name in tuples.indices:
        return tuples.indices[reference.name]
    flat = flats[reference.name]
    indices = [evaluate_all(index, flats, tuples) for index in reference.indices]
    depth = len(flat.variable.dimensions)
    nodes = places_of(reference, flat, indices[:depth], tuples)
    if flat.numbers is not None and len(indices) == depth:
        return flat.numbers[nodes] if flat.layout.size else flat.numbers
    if flat.numbers is None and len(indices) == depth + 1:
        at = exact.subtract(indices[depth], exact.constant(flat.variable.first_index))
        codes, there = flat.characters_at(np.broadcast_to(nodes, (tuples.size,)), at)
        if not there.all() and tuples.size:
            raise NoSuchElement(reference, int(np.argmin(np.broadcast_to(there, (tuples.size,)))))
        return codes
    raise ValueError(f"{reference.name} is named with {len(indices)} indices, which is no number")


def _lengths(of: Reference, flats: Mapping[str, Flat], tuples: Tuples) -> Numbers:
    flat = flats[of.name]
    indices = [evaluate_all(index, flats, tuples) for index in of.indices]
    nodes = places_of(of, flat, indices, tuples)
    level = len(of.indices) + flat.is_per_case
    if level < len(flat.layout.offsets):
        return np.diff(flat.layout.offsets[level])[nodes]
    if flat.numbers is not None:
        raise ValueError(f"{of.name} is named with {len(indices)} indices, which has no length")
    return flat.lengths[nodes] if len(flat.strings) else flat.lengths


def laid_flat(variable: Variable, value: object, is_per_case: bool) -> tuple[Layout, list[object]]:
    """The nested rows of a variable's value, level by level; TypeError where there should be a row."""
    layout = Layout()
    elements: list[object] = [value]
    for _ in range(len(variable.dimensions) + is_per_case):
        if set(map(type, elements)) - {list}:
            raise TypeError(f"{variable.name} should be a row")
        rows: list[list[object]] = elements  # type: ignore[assignment] # each was looked at
        layout = layout.below(np.fromiter(map(len, rows), dtype=np.int64, count=len(rows)))
        elements = list(chain.from_iterable(rows))
    return layout, elements
