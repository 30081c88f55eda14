"""How strong made tests are: what they kill of known-wrong programs, what wrongly, and which are enough. Pure.

Matrices are programs x tests of bool, True where the program fails the test; the tests stand in their suite's order,
smaller inputs first.

The kill rate is over known-wrong programs, those that other tests judged wrong. Mutants are counted apart: a mutant
that no test kills may do the same as its original, so their rate is a lower bound (the mutation score without the
equivalent mutants is at least as high), and says nothing where other tests would have told them apart.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eval.statistics.intervals import wilson

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class MadeTest:
    """A test of the suite: the strategy that drew its input ("rising, greatest"), the input's size, and the CPU seconds
    that the slowest reference took on it (None: not known)."""

    name: str
    strategy: str
    input_bytes: int
    cpu_s: float | None = None


@dataclass(frozen=True, eq=False)
class Programs:
    """Programs and the tests that they fail. ValueError where the shape is not programs x tests."""

    names: tuple[str, ...]
    fails: BoolArray

    def __post_init__(self) -> None:
        if self.fails.ndim != 2 or self.fails.shape[0] != len(self.names) or self.fails.dtype != np.bool_:
            raise ValueError(f"{len(self.names)} programs with failed tests of shape {self.fails.shape}")

    @staticmethod
    def of(rows: Sequence[tuple[str, ArrayLike]], n_tests: int) -> Programs:
        """From (name, which tests it fails) of each program; no rows are a matrix of no programs."""
        fails = np.array([np.asarray(row, dtype=np.bool_) for _, row in rows], dtype=np.bool_)
        return Programs(tuple(name for name, _ in rows), fails.reshape(len(rows), n_tests))


@dataclass(frozen=True)
class KillRate:
    """How many programs fail at least one test, with Wilson's 95 % interval; None without a program.

    Programs of one model or problem are not independent: over those of one problem the interval is rather too narrow.
    """

    n_killed: int
    n: int
    low: float | None
    high: float | None

    @property
    def rate(self) -> float | None:
        """The share that is killed; None without a program."""
        return self.n_killed / self.n if self.n else None

    @staticmethod
    def of(n_killed: int, n: int) -> KillRate:
        """The rate of counts."""
        return KillRate(n_killed, n, *(wilson(n_killed / n, n) if n else (None, None)))


@dataclass(frozen=True)
class FalseKill:
    """A known-right program that fails a test: the reference, the comparison or the input is wrong, or the program."""

    program: str
    test: str


@dataclass(frozen=True)
class Strength:
    """What is known of a suite. ``mutants`` is a lower bound: ``maybe_equal`` are those that nothing kills.

    ``survivors`` are known-wrong programs that pass every test. ``alone`` has for each test what it alone kills, of the
    known-wrong programs, the slow ones and the mutants. ``slow`` are programs known to be too slow.
    """

    wrong: KillRate
    slow: KillRate
    mutants: KillRate
    survivors: tuple[str, ...]
    slow_survivors: tuple[str, ...]
    maybe_equal: tuple[str, ...]
    n_right: int
    false_kills: tuple[FalseKill, ...]
    alone: tuple[tuple[str, ...], ...]


def strength(
    tests: Sequence[MadeTest],
    *,
    wrong: Programs,
    right: Programs,
    slow: Programs | None = None,
    mutants: Programs | None = None,
) -> Strength:
    """How strong a suite is. ``slow`` programs (known to give right outputs, but too late) are not among ``wrong``.

    ValueError where programs were run on another number of tests.
    """
    none = Programs.of([], len(tests))
    slow, mutants = slow or none, mutants or none
    groups = (wrong, right, slow, mutants)
    if any(group.fails.shape[1] != len(tests) for group in groups):
        raise ValueError(f"programs were not run on just these {len(tests)} tests")
    culprits = (wrong, slow, mutants)
    names = [name for group in culprits for name in group.names]
    return Strength(
        wrong=_rate(wrong),
        slow=_rate(slow),
        mutants=_rate(mutants),
        survivors=_survivors(wrong),
        slow_survivors=_survivors(slow),
        maybe_equal=_survivors(mutants),
        n_right=len(right.names),
        false_kills=tuple(
            FalseKill(right.names[program], tests[test].name) for program, test in np.argwhere(right.fails).tolist()
        ),
        alone=_alone(names, np.vstack([group.fails for group in culprits])),
    )


def minimal_subset(kills: BoolArray, keep: Collection[int] = (), sizes: Sequence[int] | None = None) -> tuple[int, ...]:
    """Few tests, in their order, that kill every program that all together kill: ``keep`` and what a greedy cover adds.

    The test that kills most of what is left comes next; of those level the one with the smaller input (``sizes``, None:
    the tests' order), then the earlier one. Then tests that the others make needless go, the last one chosen first, so
    that none can be left out. Greedy covers are at most 1 + ln(programs) times the smallest (Chvátal 1979, "A greedy
    heuristic for the set-covering problem"). ValueError for a test in ``keep`` that is none.
    """
    n_tests = kills.shape[1]
    if not all(0 <= test < n_tests for test in keep):
        raise ValueError(f"tests to keep are numbered from 0 to {n_tests - 1}")
    if sizes is not None and len(sizes) != n_tests:
        raise ValueError(f"{len(sizes)} sizes of {n_tests} tests")
    by_size = sorted(range(n_tests), key=lambda test: (sizes[test] if sizes is not None else 0, test))
    left = ~kills[:, sorted(keep)].any(axis=1) & kills.any(axis=1)
    chosen: list[int] = []
    while left.any():
        gains = kills[left].sum(axis=0)
        best = max(by_size, key=lambda test: gains[test])  # the first of those level
        chosen.append(best)
        left &= ~kills[:, best]
    n_killers = kills[:, [*sorted(keep), *chosen]].sum(axis=1)
    for test in reversed(chosen.copy()):
        if (n_killers[kills[:, test]] > 1).all():
            chosen.remove(test)
            n_killers = n_killers - kills[:, test]
    return tuple(sorted({*keep, *chosen}))


def largest(tests: Sequence[MadeTest], most: int = 5) -> tuple[int, ...]:
    """The tests with the largest inputs, of those level the first.

    They are worth keeping whatever they kill: the programs known to be too slow are few. Which take longest would
    depend on the machine's other work, and so would the digest of what is kept.
    """
    by_size = sorted(range(len(tests)), key=lambda number: (-tests[number].input_bytes, number))
    return tuple(sorted(by_size[:most]))


def _rate(programs: Programs) -> KillRate:
    return KillRate.of(int(programs.fails.any(axis=1).sum()), len(programs.names))


def _survivors(programs: Programs) -> tuple[str, ...]:
    alive = np.flatnonzero(~programs.fails.any(axis=1)).tolist()
    return tuple(programs.names[program] for program in alive)


def _alone(names: Sequence[str], fails: BoolArray) -> tuple[tuple[str, ...], ...]:
    once = fails & (fails.sum(axis=1) == 1)[:, np.newaxis]
    return tuple(tuple(names[program] for program in np.flatnonzero(column).tolist()) for column in once.T)
