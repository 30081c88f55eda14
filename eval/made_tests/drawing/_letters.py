"""How the letters of strings are chosen: one function for each way, for many strings at once.

Each takes the generator, how many letters the alphabet has, and where the strings begin (with the end), and gives the
number of a letter for each place. Pure but for the generator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from eval.made_tests.exact import Numbers

LetterPolicy: TypeAlias = Callable[[np.random.Generator, int, Numbers], Numbers]


def any_letters(rng: np.random.Generator, n_letters: int, starts: Numbers) -> Numbers:
    """Each letter is as likely as each other one."""
    return rng.integers(0, n_letters, size=int(starts[-1]))


def single_letter(rng: np.random.Generator, n_letters: int, starts: Numbers) -> Numbers:
    """One letter everywhere."""
    return np.full(int(starts[-1]), rng.integers(n_letters))


def first_letter(rng: np.random.Generator, n_letters: int, starts: Numbers) -> Numbers:
    """The first letter of the alphabet everywhere."""
    return np.zeros(int(starts[-1]), dtype=np.int64)


def last_letter(rng: np.random.Generator, n_letters: int, starts: Numbers) -> Numbers:
    """The last letter of the alphabet everywhere."""
    return np.full(int(starts[-1]), n_letters - 1)


def alternating_letters(rng: np.random.Generator, n_letters: int, starts: Numbers) -> Numbers:
    """Two letters by turns."""
    one, other = rng.integers(n_letters), rng.integers(n_letters)
    if n_letters > 1 and one == other:
        other = (one + 1) % n_letters
    return np.where(_local(starts) % 2 == 0, one, other)


def few_letters(rng: np.random.Generator, n_letters: int, starts: Numbers) -> Numbers:
    """Two or three letters."""
    chosen = rng.permutation(n_letters)[: int(rng.integers(2, 4))]
    return chosen[rng.integers(0, len(chosen), size=int(starts[-1]))]


def all_letters(rng: np.random.Generator, n_letters: int, starts: Numbers) -> Numbers:
    """The alphabet again and again."""
    return _local(starts) % n_letters


def palindromes(rng: np.random.Generator, n_letters: int, starts: Numbers) -> Numbers:
    """Strings that read the same from both ends."""
    letters = rng.integers(0, min(n_letters, 3), size=int(starts[-1]))
    lengths = np.repeat(np.diff(starts), np.diff(starts))
    local = _local(starts)
    result: Numbers = letters[np.arange(len(letters)) - local + np.minimum(local, lengths - 1 - local)]
    return result


def periodic(rng: np.random.Generator, n_letters: int, starts: Numbers) -> Numbers:
    """A short string again and again."""
    word = rng.integers(0, n_letters, size=int(rng.integers(2, 5)))
    result: Numbers = word[_local(starts) % len(word)]
    return result


def one_other_letter(rng: np.random.Generator, n_letters: int, starts: Numbers) -> Numbers:
    """One letter everywhere but at one place of each string."""
    result = single_letter(rng, n_letters, starts)
    lengths = np.diff(starts)
    places = starts[:-1] + (rng.random(len(lengths)) * lengths).astype(np.int64)
    places = places[lengths > 0]
    result[places] = (result[places] + 1) % n_letters
    return result


def sparse(rng: np.random.Generator, n_letters: int, starts: Numbers) -> Numbers:
    """One letter almost everywhere, any other ones here and there."""
    result = single_letter(rng, n_letters, starts)
    is_other = rng.random(len(result)) < rng.choice([0.05, 0.2, 0.4])
    result[is_other] = rng.integers(0, n_letters, size=int(is_other.sum()))
    return result


def snake(rng: np.random.Generator, n_letters: int, starts: Numbers) -> Numbers:
    """Rows of one letter, joined at their ends by turns through rows of another one: a long way through a grid."""
    row = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    lengths = np.repeat(np.diff(starts), np.diff(starts))
    gap = np.where(row // 2 % 2 == 0, lengths - 1, 0)
    way, wall = (0, n_letters - 1) if rng.random() < 0.5 else (n_letters - 1, 0)
    return np.where((row % 2 == 1) & (_local(starts) != gap), wall, way)


def _local(starts: Numbers) -> Numbers:
    """The place of each letter in its string, from 0."""
    local: Numbers = np.arange(int(starts[-1])) - np.repeat(starts[:-1], np.diff(starts))
    return local
