"""What a sentence of a LeetCode statement speaks of: "words[i] and s", "a_i", "the points", as variables. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from eval.made_tests.grammar import Expression, Kind, Length, Reference
from eval.made_tests.reading.call_shapes import ROW, Shapes
from eval.made_tests.reading.terms import NotUnderstood

_BETWEEN = re.compile(r", and |, | and ")
_NAME = re.compile(r"^(?:[Tt]he |all |all the |each |every )?(\w+?)(_i)?((?:\[[^\[\]]+\])*)$")


class Level(StrEnum):
    """How far into a parameter a name with indices goes."""

    WHOLE = "whole"
    ROW = "row"
    ELEMENT = "element"
    CHARACTER = "character"


@dataclass(frozen=True)
class Subject:
    """Variables (several for the columns of a table) at a level; ``at`` are the indices that are numbers."""

    name: str
    variables: tuple[str, ...]
    level: Level
    kind: Kind
    at: tuple[int, ...] = ()

    @property
    def is_string(self) -> bool:
        """Whether it is one string, or strings."""
        return self.kind is Kind.STRING

    def reference(self, shapes: Shapes) -> Reference:
        """Any element of the only variable, by indices i and j."""
        if len(self.variables) != 1:
            raise NotUnderstood(f"{self.name} is several columns")
        letters = (ROW, Reference("j"))
        return Reference(self.variables[0], letters[: len(shapes.variables[self.variables[0]].dimensions)])


def subjects_of(text: str, shapes: Shapes) -> list[Subject]:
    """The subjects of a sentence; ``NotUnderstood`` where one of them is no name."""
    return [found for part in _BETWEEN.split(text) for found in _subject(part.strip(), shapes)]


def subject_of(text: str, shapes: Shapes) -> Subject:
    """The only subject."""
    found = subjects_of(text, shapes)
    if len(found) != 1:
        raise NotUnderstood("several subjects")
    return found[0]


def _subject(text: str, shapes: Shapes) -> list[Subject]:
    match = _NAME.match(text)
    if match is None:
        raise NotUnderstood(f"{text!r} is no name")
    name, subscript, brackets = match.groups()
    indices = re.findall(r"\[([^\[\]]+)\]", brackets)
    if name + (subscript or "") in shapes.parameters:
        return [_parameter(name + (subscript or ""), indices, shapes)]
    columns = shapes.aliases.get((name, bool(subscript)))
    if columns is None or indices:
        raise NotUnderstood(f"nothing is called {text}")
    return [Subject(text, (column,), Level.ELEMENT, shapes.variables[column].kind) for column in columns]


def _parameter(name: str, indices: list[str], shapes: Shapes) -> Subject:
    parameter = shapes.parameters[name]
    numbers = tuple(int(index) for index in indices if index.isdecimal() and len(index) < 6)
    if any(not index.isdecimal() and not re.fullmatch("[a-z]", index) for index in indices):
        raise NotUnderstood(f"{indices} are no indices")
    if len(indices) > parameter.depth + (parameter.kind is Kind.STRING):
        raise NotUnderstood(f"{name} has not so many indices")
    level = _level(parameter.depth, len(indices))
    if name not in shapes.columns:
        return Subject(name, (name,), level, parameter.kind, numbers)
    columns = shapes.columns[name]
    if level is Level.CHARACTER or (indices and indices[0].isdecimal()):
        raise NotUnderstood(f"a place in {name}")
    if len(indices) == 2 and numbers:
        if numbers[0] >= len(columns):
            raise NotUnderstood(f"{name} has no column {numbers[0]}")
        return Subject(name, (columns[numbers[0]],), Level.ELEMENT, parameter.kind)
    return Subject(name, columns, level, parameter.kind)


def _level(depth: int, n_indices: int) -> Level:
    if n_indices > depth:
        return Level.CHARACTER
    if n_indices == depth:
        return Level.ELEMENT
    return Level.WHOLE if n_indices == 0 else Level.ROW


def length_of(subject: Subject, shapes: Shapes) -> Expression:
    """The length of an array, or of a string or any string of an array."""
    if subject.level is Level.WHOLE and (length := shapes.length_of(subject.name)):
        return length
    if subject.is_string and subject.level is Level.ELEMENT:
        return Length(subject.reference(shapes))
    raise NotUnderstood(f"the length of {subject.name}")


def require_everywhere(subject: Subject) -> None:
    """``NotUnderstood`` for a subject that is at one place only: s[0]."""
    if subject.at:
        raise NotUnderstood(f"{subject.name} at one place")
