"""Whether things agree in some order, numbers in them with a tolerance. Pure.

What has no tolerance is counted. The rest is matched: agreement within a tolerance is not transitive, so that sorting
alone, or taking the first that fits, would refuse right answers. Single numbers are matched exactly in n log n steps;
for whole lines and lists there is a limit on the work.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, Protocol, TypeVar

MAX_STEPS = 1_000_000

T = TypeVar("T")


class TooMuchWork(Exception):
    """Whether all agree in some order was not found out within ``MAX_STEPS`` comparisons of numbers."""


@dataclass(frozen=True)
class Item:
    """Something with numbers in it: ``skeleton`` is all but the numbers, equal for what can agree at all."""

    skeleton: Hashable
    numbers: tuple[Any, ...] = ()


class Rule(Protocol):
    """How numbers agree. The given numbers that a wanted one agrees with stand together in the order of ``value``."""

    def is_tolerant(self, wanted: Any) -> bool:
        """Whether others than equal ones can agree with a wanted number."""

    def key(self, number: Any) -> Hashable:
        """The same for numbers that agree where there is no tolerance."""

    def value(self, number: Any) -> float:
        """What numbers are sorted by."""

    def agree(self, wanted: Any, given: Any) -> bool:
        """Whether a given number is right for the wanted one."""


def same_items(wanted: Sequence[Item], given: Sequence[Item], rule: Rule) -> bool:
    """Whether there is an order in which all agree. Raises :class:`TooMuchWork`."""

    def exact_key(item: Item) -> Hashable:
        return None if any(map(rule.is_tolerant, item.numbers)) else key(item)

    def key(item: Item) -> Hashable:
        return tuple(map(rule.key, item.numbers))

    def match(left: list[Item], right: list[Item]) -> bool:
        if len(left[0].numbers) == 1:
            return _numbers_agree([item.numbers[0] for item in left], [item.numbers[0] for item in right], rule)
        left, right = (sorted(side, key=lambda item: tuple(map(rule.value, item.numbers))) for side in (left, right))
        work = sum(len(item.numbers) for item in left) * len(right)
        return _some_order(left, right, lambda one, other: _agree(one, other, rule), work)

    return _same(wanted, given, lambda item: item.skeleton, exact_key, key, match)


def same_groups(wanted: Sequence[Sequence[Item]], given: Sequence[Sequence[Item]], rule: Rule) -> bool:
    """The same for groups of items, in which any order is right too."""

    def skeletons(group: Sequence[Item]) -> Hashable:
        return frozenset(Counter(item.skeleton for item in group).items())

    def key(group: Sequence[Item]) -> Hashable:
        return frozenset(Counter((item.skeleton, *map(rule.key, item.numbers)) for item in group).items())

    def exact_key(group: Sequence[Item]) -> Hashable:
        return None if any(map(rule.is_tolerant, _numbers(group))) else key(group)

    def match(left: list[Sequence[Item]], right: list[Sequence[Item]]) -> bool:
        left, right = (
            sorted(side, key=lambda group: sorted(map(rule.value, _numbers(group)))) for side in (left, right)
        )
        work = sum(len(_numbers(group)) for group in left) * len(right)
        return _some_order(left, right, lambda one, other: same_items(one, other, rule), work)

    return _same(wanted, given, skeletons, exact_key, key, match)


def _numbers(group: Iterable[Item]) -> list[Any]:
    return [number for item in group for number in item.numbers]


def _agree(wanted: Item, given: Item, rule: Rule) -> bool:
    return all(map(rule.agree, wanted.numbers, given.numbers))


def _same(
    wanted: Sequence[T],
    given: Sequence[T],
    bucket: Callable[[T], Hashable],
    exact_key: Callable[[T], Hashable],
    key: Callable[[T], Hashable],
    match: Callable[[list[T], list[T]], bool],
) -> bool:
    """Count what is exact, bucket by bucket, and have the rest matched.

    To take an exact one's partner first is safe: all that could be it have the same key, and so agree with the same.
    """
    if len(wanted) != len(given):
        return False
    left, right = _buckets(wanted, bucket), _buckets(given, bucket)
    if {name: len(part) for name, part in left.items()} != {name: len(part) for name, part in right.items()}:
        return False
    return all(_same_in_bucket(part, right[name], exact_key, key, match) for name, part in left.items())


def _buckets(things: Sequence[T], bucket: Callable[[T], Hashable]) -> dict[Hashable, list[T]]:
    found: dict[Hashable, list[T]] = defaultdict(list)
    for thing in things:
        found[bucket(thing)].append(thing)
    return found


def _same_in_bucket(
    wanted: list[T],
    given: list[T],
    exact_key: Callable[[T], Hashable],
    key: Callable[[T], Hashable],
    match: Callable[[list[T], list[T]], bool],
) -> bool:
    keys = [exact_key(thing) for thing in wanted]
    missing = Counter(name for name in keys if name is not None)
    rest = []
    for thing in given:
        name = key(thing)
        if missing[name] > 0:
            missing[name] -= 1
        else:
            rest.append(thing)
    tolerant = [thing for thing, name in zip(wanted, keys, strict=True) if name is None]
    if len(tolerant) != len(rest):
        return False
    return not rest or match(tolerant, rest)


def _numbers_agree(wanted: list[Any], given: list[Any], rule: Rule) -> bool:
    """Whether single numbers agree in some order.

    Each wanted one agrees with a run of the sorted given ones. Going up through these, each goes to the wanted one
    whose run ends first, which is what Glover's rule for convex graphs says (Naval Research Logistics 14, 1967).
    """
    given = sorted(given, key=rule.value)
    values = [rule.value(number) for number in given]
    runs = sorted(_run(number, given, values, rule) for number in wanted)
    ends: list[int] = []
    following = 0
    for place in range(len(given)):
        while following < len(runs) and runs[following][0] <= place:
            heappush(ends, runs[following][1])
            following += 1
        if not ends or heappop(ends) <= place:
            return False
    return True


def _run(wanted: Any, given: list[Any], values: list[float], rule: Rule) -> tuple[int, int]:
    """Where the given numbers begin and end that agree with a wanted one."""
    middle = bisect_right(values, rule.value(wanted))
    low, high = 0, middle
    while low < high:
        place = (low + high) // 2
        low, high = (low, place) if rule.agree(wanted, given[place]) else (place + 1, high)
    start = low
    low, high = middle, len(given)
    while low < high:
        place = (low + high) // 2
        low, high = (place + 1, high) if rule.agree(wanted, given[place]) else (low, place)
    return start, low


def _some_order(wanted: list[T], given: list[T], agree: Callable[[T, T], bool], work: int) -> bool:
    """Whether there is an order in which all agree; both come sorted, so that mostly this is the order.

    ``work`` is how many numbers have to be compared when each is held against each.
    """
    if all(map(agree, wanted, given)):
        return True
    if work > MAX_STEPS:
        raise TooMuchWork
    return _perfect([[place for place, other in enumerate(given) if agree(one, other)] for one in wanted])


def _perfect(partners: list[list[int]]) -> bool:
    """Whether all can have a partner of their own, found by paths on which partners are exchanged."""
    taken_by: dict[int, int] = {}
    partner_of: dict[int, int] = {}
    steps = 0
    for start in range(len(partners)):
        reached_from: dict[int, int] = {}
        waiting = [start]
        free = None
        for one in waiting:
            steps += len(partners[one])
            new = [place for place in partners[one] if place not in reached_from]
            reached_from.update(dict.fromkeys(new, one))
            free = next((place for place in new if place not in taken_by), None)
            if free is not None:
                break
            waiting.extend(taken_by[place] for place in new)
        if free is None:
            return False
        if steps > MAX_STEPS:
            raise TooMuchWork
        place: int | None = free
        while place is not None:
            one = reached_from[place]
            taken_by[place] = one
            previous = partner_of.get(one)
            partner_of[one] = place
            place = None if one == start else previous
    return True
