"""The strings of one variable: letters as the style chooses, and then as constraints want them.

Pure but for the generator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise, product
from operator import eq, le, lt, ne

import numpy as np

from eval.made_tests import exact
from eval.made_tests.drawing._counting import Wanted, counted
from eval.made_tests.drawing._errors import CannotDraw
from eval.made_tests.drawing._problem import neighbour_step
from eval.made_tests.drawing._state import State
from eval.made_tests.exact import Numbers
from eval.made_tests.flat import Flat, NoSuchElement, Tuples, all_tuples, evaluate_all
from eval.made_tests.grammar import (
    Characters,
    Comparison,
    Distinct,
    Expression,
    Kind,
    Occurrences,
    OneOf,
    Reference,
    Sorted,
)
from eval.made_tests.mentions import names_in
from eval.made_tests.wording import constraint_text

MAX_TRIES = 60
MAX_ROUNDS = 12
MAX_ENUMERATED = 20_000
_COMPARE: dict[str, Callable[[int, int], bool]] = {"<": lt, "<=": le, "==": eq, "!=": ne}


def draw_strings(state: State, name: str) -> list[str]:
    """One string for each element, laid flat; CannotDraw."""
    if words := words_of(state, name):
        return _unlike_others(state, name, _chosen_words(state, name, words), words)
    alphabet = alphabet_of(state, name)
    lengths = state.domains.low[state.problem.lengths[name]]
    starts = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    if not alphabet and int(starts[-1]):
        raise CannotDraw(f"there is no letter that {name} may have")
    letters = state.style.letters(state.rng, max(len(alphabet), 1), starts)
    codes = np.array([ord(letter) for letter in alphabet] or [0], dtype=np.int64)[letters]
    codes = _with_each(state, name, codes, starts)
    codes = _with_counts(state, name, codes, starts, alphabet)
    codes = _with_comparisons(state, name, codes, starts, alphabet)
    strings = split(codes, starts)
    if any(each.names == (name,) for each in state.problem.constraints(name, Distinct) if isinstance(each, Distinct)):
        strings = _made_distinct(state, name, strings, alphabet)
    for order in state.problem.constraints(name, Sorted):
        strings = _in_order(
            strings, state.groups(name, within_row=True), isinstance(order, Sorted) and order.descending
        )
    return strings


def alphabet_of(state: State, name: str) -> str:
    """The letters that all constraints let a variable have, in their order."""
    alphabets = [
        each.characters for each in state.problem.constraints(name, Characters) if isinstance(each, Characters)
    ]
    shared = set.intersection(*map(set, alphabets)) if alphabets else set()
    return "".join(dict.fromkeys(letter for letter in (alphabets or [""])[0] if letter in shared))


def split(codes: Numbers, starts: Numbers) -> list[str]:
    """Code points as the strings that they make."""
    text = codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    return [text[start:end] for start, end in pairwise(starts.tolist())]


def words_of(state: State, name: str) -> list[str]:
    """The strings that a variable may be where they are listed."""
    lists = [each.values for each in state.problem.constraints(name, OneOf) if isinstance(each, OneOf)]
    return [word for word in (lists or [()])[0] if all(word in other for other in lists)]


def _chosen_words(state: State, name: str, words: list[str]) -> list[str]:
    count = state.layout(name).size
    zeros, lasts = exact.numbers([0] * count), exact.numbers([len(words) - 1] * count)
    is_distinct = bool(state.problem.constraints(name, Distinct))
    if is_distinct:
        chosen = []
        for start, end in pairwise(state.groups(name).tolist()):
            if end - start > len(words):
                raise CannotDraw(f"{name} has {end - start} different strings of {len(words)}")
            chosen += state.rng.permutation(len(words))[: end - start].tolist()
        return [words[place] for place in chosen]
    rows = state.groups(name, within_row=True)
    return [words[place] for place in state.style.numbers(state.rng, zeros, lasts, rows).tolist()]


def _unlike_others(state: State, name: str, strings: list[str], words: list[str]) -> list[str]:
    """The words with others in the place of those that a string drawn before has, where they have to differ."""
    result = list(strings)
    for comparison in state.problem.texts:
        sides = comparison.left, comparison.right
        if comparison.operator != "!=" or not all(isinstance(side, Reference) for side in sides):
            continue
        others = [each.name for each in sides if isinstance(each, Reference) and each.name != name]
        if len(others) != 1 or name not in names_in(sides) or len(state.texts.get(others[0], ())) != len(result):
            continue
        for place, other in enumerate(state.texts[others[0]]):
            if result[place] == other and (good := [word for word in words if word != other]):
                result[place] = good[int(state.rng.integers(len(good)))]
    return result


def _with_each(state: State, name: str, codes: Numbers, starts: Numbers) -> Numbers:
    """The letters with those that each string must have, at places of their own."""
    each = sorted(
        {
            letter
            for found in state.problem.constraints(name, Characters)
            if isinstance(found, Characters)
            for letter in found.each
        }
    )
    if not each:
        return codes
    codes = codes.copy()
    for start, end in pairwise(starts.tolist()):
        if end - start < len(each):
            raise CannotDraw(f"{name} is too short for {len(each)} different letters")
        missing = [letter for letter in each if ord(letter) not in set(codes[start:end].tolist())]
        if missing:
            places = state.rng.permutation(end - start)[: len(each)]
            codes[start + places] = [ord(letter) for letter in each]
    return codes


def _with_counts(state: State, name: str, codes: Numbers, starts: Numbers, alphabet: str) -> Numbers:
    """The letters with those that are counted as often as they have to be."""
    constraints = [each for each in state.problem.constraints(name, Occurrences) if isinstance(each, Occurrences)]
    others = [ord(letter) for letter in alphabet if letter not in _counted_letters(state, name)]
    cases, letters = state.case_of(name), codes.tolist()
    for whole in sorted({constraint.whole for constraint in constraints}):
        groups = state.groups(name) if whole else np.arange(len(starts))
        here = [each for each in constraints if each.whole == whole]
        bounds = [(state.of_cases(each.low), state.of_cases(each.high), constraint_text(each)) for each in here]
        for first, last in pairwise(groups.tolist()):
            if first == last:
                continue
            case = int(cases[first])
            wanted = [
                Wanted(ord(value), int(low[case]), int(high[case]), text)
                for each, (low, high, text) in zip(here, bounds, strict=True)
                for value in each.values
            ]
            part = slice(int(starts[first]), int(starts[last]))
            letters[part] = counted(state.rng, letters[part], wanted, others)
    return np.array(letters, dtype=np.int64)


def _counted_letters(state: State, name: str) -> set[str]:
    constraints = [each for each in state.problem.constraints(name, Occurrences) if isinstance(each, Occurrences)]
    return {value for constraint in constraints for value in constraint.values}


def _with_comparisons(state: State, name: str, codes: Numbers, starts: Numbers, alphabet: str) -> Numbers:
    """The letters with those changed that a comparison of characters excludes."""
    for comparison in state.problem.texts:
        if name not in names_in([comparison.left, comparison.right]):
            continue
        step = neighbour_step(comparison)
        if step is not None and step[0] == name and comparison.operator == "!=":
            codes = _unlike_neighbours(state, codes, starts, alphabet)
            continue
        for side, other in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
            if isinstance(side, Reference) and side.name == name and name not in names_in([other]):
                codes = _compared(state, comparison, side, other, codes, starts, alphabet)
    return codes


def _unlike_neighbours(state: State, codes: Numbers, starts: Numbers, alphabet: str) -> Numbers:
    letters = codes.tolist()
    choices = [ord(letter) for letter in alphabet]
    if len(choices) < 2 and len(letters) > len(starts) - 1:
        raise CannotDraw("neighbours are different letters, and there is but one")
    for start, end in pairwise(starts.tolist()):
        for place in range(start + 1, end):
            if letters[place] == letters[place - 1]:
                after = letters[place + 1] if place + 1 < end else None
                options = [each for each in choices if each != letters[place - 1]]
                better = [each for each in options if each != after] or options
                letters[place] = better[int(state.rng.integers(len(better)))]
    return np.array(letters, dtype=np.int64)


def _compared(
    state: State,
    comparison: Comparison,
    side: Reference,
    other: Expression,
    codes: Numbers,
    starts: Numbers,
    alphabet: str,
) -> Numbers:
    """The letters with those at the places that a reference names changed until the comparison holds."""
    variable = state.problem.variables[name := side.name]
    if len(side.indices) != len(variable.dimensions) + 1 or variable.kind is not Kind.STRING:
        return codes
    flats = {
        **state.flats(),
        name: Flat(variable, state.layout(name), name in state.problem.grammar.per_case, None, []),
    }
    is_per_case = bool(names_in([side, other]) & state.problem.grammar.per_case)
    try:
        tuples = all_tuples(comparison.indices, flats, state.domains.n_cases if is_per_case else None)
        limits = np.broadcast_to(evaluate_all(other, flats, tuples), (tuples.size,)).tolist()
        places = _letter_places(state, side, flats, tuples, starts).tolist()
    except (NoSuchElement, KeyError):
        return codes
    compare, is_left = _COMPARE[comparison.operator], side is comparison.left
    codes, kept = codes.copy(), {ord(letter) for letter in _counted_letters(state, name)}
    for place, limit in zip(places, limits, strict=True):
        good = [code for code in map(ord, alphabet) if (compare(code, limit) if is_left else compare(limit, code))]
        if not good:
            raise CannotDraw(f"{constraint_text(comparison)} cannot be kept by any letter")
        if int(codes[place]) not in good:
            good = [code for code in good if code not in kept] or good
            codes[place] = good[int(state.rng.integers(len(good)))]
    return codes


def _letter_places(state: State, side: Reference, flats: dict[str, Flat], tuples: Tuples, starts: Numbers) -> Numbers:
    variable = state.problem.variables[side.name]
    indices = [
        exact.subtract(evaluate_all(index, flats, tuples), exact.constant(variable.first_index))
        for index in side.indices
    ]
    at = indices.pop()
    if side.name in state.problem.grammar.per_case and tuples.case is not None:
        indices.insert(0, tuples.case)
    nodes, there = state.layout(side.name).positions(indices)
    lengths = np.diff(starts)
    if not there.all() or ((at < 0) | (at >= lengths[nodes])).any():
        raise NoSuchElement(side, 0)
    return np.broadcast_to(starts[nodes] + at, (tuples.size,))


def _made_distinct(state: State, name: str, strings: list[str], alphabet: str) -> list[str]:
    """The strings with those that stand twice in a test case drawn anew, as long as they are."""
    result = list(strings)
    codes = np.array([ord(letter) for letter in alphabet] or [0], dtype=np.int64)
    case_of = state.case_of(name).tolist()
    seen: set[tuple[int, str]] = set()
    again = _repeated(result, case_of, range(len(result)), seen)
    for _ in range(MAX_ROUNDS):
        if not again:
            return result
        starts = np.concatenate(([0], np.cumsum([len(result[place]) for place in again]))).astype(np.int64)
        others = split(codes[state.rng.integers(0, len(codes), size=int(starts[-1]))], starts)
        for place, other in zip(again, others, strict=True):
            result[place] = other
        again = _repeated(result, case_of, again, seen)
    for place in again:
        taken = {text for case, text in seen if case == case_of[place]}
        result[place] = _other_string(state, name, len(result[place]), alphabet, taken)
        seen.add((case_of[place], result[place]))
    return result


def _repeated(strings: list[str], case_of: list[int], places: Iterable[int], seen: set[tuple[int, str]]) -> list[int]:
    """The strings at these places that were seen in their test case before; the others are seen now."""
    again = []
    for place in places:
        key = case_of[place], strings[place]
        if key in seen:
            again.append(place)
        seen.add(key)
    return again


def _other_string(state: State, name: str, length: int, alphabet: str, taken: set[str]) -> str:
    for _ in range(MAX_TRIES):
        text = "".join(alphabet[letter] for letter in state.rng.integers(0, len(alphabet), size=length).tolist())
        if text not in taken:
            return text
    if len(alphabet) ** length <= MAX_ENUMERATED:
        for letters in product(alphabet, repeat=length):
            if (text := "".join(letters)) not in taken:
                return text
    raise CannotDraw(f"no more different strings of {length} letters are found for {name}")


def _in_order(strings: list[str], rows: Numbers, is_descending: bool) -> list[str]:
    result = list(strings)
    for start, end in pairwise(rows.tolist()):
        result[start:end] = sorted(result[start:end], reverse=is_descending)
    return result
