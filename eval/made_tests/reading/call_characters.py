"""Which characters and values strings and arrays may have, as LeetCode says it. Pure.

A function that finds something else than its pattern promises raises ``NotUnderstood``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from eval.made_tests.grammar import (
    AtLeastOne,
    Characters,
    Comparison,
    Constant,
    Constraint,
    Kind,
    Length,
    Occurrences,
    OneOf,
    Reference,
)
from eval.made_tests.reading.alphabets import alphabet_of, values_of
from eval.made_tests.reading.call_shapes import Shapes
from eval.made_tests.reading.call_subjects import Level, Subject, require_everywhere, subject_of, subjects_of
from eval.made_tests.reading.call_terms import indices_of
from eval.made_tests.reading.terms import NotUnderstood

_NUMBERS = {"one": 1, "two": 2, "three": 3, "1": 1, "2": 2, "3": 3}


def of_alphabet(match: re.Match[str], shapes: Shapes) -> list[Constraint]:
    """s and words[i] consist only of lowercase English letters [and exactly one '*']."""
    subjects = subjects_of(match["subjects"], shapes)
    if match["marks"]:
        subject = subject_of(match["subjects"], shapes)
        if not subject.is_string or subject.level is not Level.ELEMENT:
            raise NotUnderstood("marks in what is no string")
        count = Constant(_NUMBERS[match["count"]])
        characters = _alphabet_in(match["of"]) + match["mark"]
        (name,) = subject.variables
        return [Characters(name, characters), Occurrences(name, (match["mark"],), count, count)]
    return [each for subject in subjects for each in _restricted(subject, match["of"])]


def of_values(match: re.Match[str], shapes: Shapes) -> list[Constraint]:
    """The values in nums are either 0's or 1's."""
    return [each for subject in subjects_of(match["subjects"], shapes) for each in _restricted(subject, match["of"])]


def _restricted(subject: Subject, of: str) -> list[Constraint]:
    """Every character, or every value, is one of those that a text names."""
    require_everywhere(subject)
    if subject.is_string and (alphabet := alphabet_of(of)):
        if subject.level is Level.ROW or (len(subject.variables) > 1 and subject.level is not Level.WHOLE):
            raise NotUnderstood("characters of a row")
        return [Characters(name, alphabet) for name in subject.variables]
    values = _values_in(of)
    if subject.level is Level.CHARACTER or (subject.level is Level.ELEMENT and not subject.at and subject.is_string):
        raise NotUnderstood("a string is one of some values")
    return _one_of(subject, values)


def _one_of(subject: Subject, values: Iterable[str]) -> list[Constraint]:
    require_everywhere(subject)
    are_numbers = all(re.fullmatch(r"-?\d+", value) for value in values)
    if are_numbers != (subject.kind is Kind.INTEGER) or subject.kind is Kind.DECIMAL:
        raise NotUnderstood("values of another kind")
    return [OneOf(name, tuple(values)) for name in subject.variables]


def either(match: re.Match[str], shapes: Shapes) -> list[Constraint]:
    """s[i] is either '0' or '1'; grid[i][j] is either 0 or 1; x is a lowercase English letter."""
    found: list[Constraint] = []
    for subject in subjects_of(match["subjects"], shapes):
        require_everywhere(subject)
        if subject.level not in (Level.ELEMENT, Level.CHARACTER):
            raise NotUnderstood("an array is one of some values")
        if subject.kind is Kind.INTEGER:
            found += _one_of(subject, _values_in(match["of"]))
            continue
        values = values_of(match["of"]) or alphabet_of(match["of"])
        if subject.level is Level.CHARACTER:
            found += [Characters(name, _alphabet_in(match["of"])) for name in subject.variables]
        elif isinstance(values, tuple):
            found += _one_of(subject, values)
        else:
            found += _single(subject, _alphabet_in(match["of"]), shapes)
    return found


def _single(subject: Subject, alphabet: str, shapes: Shapes) -> list[Constraint]:
    """Strings of one character."""
    length = Length(subject.reference(shapes))
    indices = indices_of((length,), shapes.variables, {})
    (name,) = subject.variables
    return [Characters(name, alphabet), Comparison(length, "==", Constant(1), indices)]


def each_character(match: re.Match[str], shapes: Shapes) -> list[Constraint]:
    """Each character in words[i] is a lowercase English letter."""
    found: list[Constraint] = []
    for subject in subjects_of(match["subjects"], shapes):
        require_everywhere(subject)
        if not subject.is_string or subject.level is not Level.ELEMENT or len(subject.variables) > 1:
            raise NotUnderstood("characters of what is no string")
        found += [Characters(name, _alphabet_in(match["of"])) for name in subject.variables]
    return found


def in_range(match: re.Match[str], shapes: Shapes) -> list[Constraint]:
    """'0' <= s[i] <= '9'."""
    low, high = match["low"], match["high"]
    subjects = subjects_of(match["subjects"], shapes)
    if low > high or any(subject.level is not Level.CHARACTER or subject.at for subject in subjects):
        raise NotUnderstood("characters at one place, or none")
    alphabet = "".join(map(chr, range(ord(low), ord(high) + 1)))
    return [Characters(name, alphabet) for subject in subjects for name in subject.variables]


def has_value(match: re.Match[str], shapes: Shapes) -> list[Constraint]:
    """There is at least one 1 in grid; s contains at least one '1'."""
    subject = subject_of(match["subject"], shapes)
    require_everywhere(subject)
    value = match["value"]
    if len(subject.variables) > 1 or subject.level not in (Level.WHOLE, Level.ELEMENT):
        raise NotUnderstood("a value somewhere in columns")
    if subject.is_string and subject.level is Level.ELEMENT and re.fullmatch("'.'", value):
        length = Length(subject.reference(shapes))
        if shapes.variables[subject.name].dimensions:
            raise NotUnderstood("a character in each string")
        return [Occurrences(subject.name, (value[1:-1],), Constant(1), length)]
    if subject.kind is not Kind.INTEGER or subject.level is not Level.WHOLE or not re.fullmatch(r"-?\d+", value):
        raise NotUnderstood("a value of another kind")
    reference = subject.reference(shapes)
    indices = indices_of((reference,), shapes.variables, {})
    return [AtLeastOne(Comparison(reference, "==", Constant(int(value)), indices))]


def alternatives(match: re.Match[str], shapes: Shapes) -> list[Constraint]:
    """queries[i][0] == 1 or queries[i][0] == 2."""
    subject = subject_of(match["subject"], shapes)
    values = re.findall(r"== (\S+)", match[0])
    if subject.level is not Level.ELEMENT or match[0] != " or ".join(f"{match['subject']} == {one}" for one in values):
        raise NotUnderstood("alternatives of several values")
    return _one_of(subject, _values_in(" or ".join(values)))


def no_leading_zeros(match: re.Match[str], shapes: Shapes) -> list[Constraint]:
    """num does not contain any leading zeros. "0" is refused with them: not all agree that its zero does not lead."""
    found: list[Constraint] = []
    for subject in subjects_of(match["subjects"], shapes):
        if not subject.is_string or subject.level is not Level.ELEMENT or subject.at:
            raise NotUnderstood("leading zeros of a number")
        any_string = subject.reference(shapes)
        first = Reference(any_string.name, (*any_string.indices, Constant(0)))
        indices = indices_of((any_string,), shapes.variables, {})
        found.append(Comparison(first, "!=", Constant(ord("0")), indices))
    return found


def _alphabet_in(text: str) -> str:
    if (alphabet := alphabet_of(text)) is None:
        raise NotUnderstood("the words name no characters")
    return alphabet


def _values_in(text: str) -> tuple[str, ...]:
    if (values := values_of(text)) is None:
        raise NotUnderstood("the words name no values")
    return values
