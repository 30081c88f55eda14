"""What sentences are about: variables as a whole, lengths and bounds in words, and the facts that follow. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias, TypeVar

from eval.made_tests.grammar import Comparison, Constant, Constraint, Expression, GraphKind, Kind, Length, Reference
from eval.made_tests.reading.expressions import parse_expression, parse_list
from eval.made_tests.reading.relations import DOTS, RUN_INDEX, run
from eval.made_tests.reading.scope import Qualifier, Scope, compared, ends, free_letters
from eval.made_tests.reading.terms import NotUnderstood, difference, references, replaced

_Item = TypeVar("_Item")


@dataclass(frozen=True)
class KindSaid:
    """A variable is of this kind."""

    name: str
    kind: Kind


@dataclass(frozen=True)
class GraphSaid:
    """The edges of the input are of these kinds; which variables they are is seen from the layout."""

    kinds: frozenset[GraphKind]
    is_directed: bool = False


@dataclass(frozen=True)
class PlaceSaid:
    """The first character of a string (or each of the others) is one of these."""

    name: str
    is_first: bool
    characters: str


Fact: TypeAlias = Constraint | KindSaid | GraphSaid | PlaceSaid


@dataclass(frozen=True)
class Subject:
    """What a sentence is about: a variable, an element, or a run of elements with the ends of its index."""

    of: Reference
    ends: tuple[Expression, Expression] | None = None


@dataclass(frozen=True)
class Whole:
    """A variable that is meant with all of its elements; ``cells``: with each character of its strings."""

    name: str
    of: Reference
    cells: bool = False


_OPENING = re.compile(
    r"^(?:each of|each|all of|all|every|both of|both)?\s*(?:the )?(?:given )?"
    r"(?:(?:strings?|integers?|values?|elements?|characters?)(?: (?:of|in))?\s+)?(?=\S)",
    re.IGNORECASE,
)
# The characters of a row one by one: the string that they make.
_GLUED = re.compile(
    r"^(?P<name>\w+)_\{(?P<row>\w), ?[01]\}(?P=name)_\{(?P=row), ?[12]\} ?\.\.\. ?(?P=name)_\{(?P=row), ?[\w-]+\}$"
)
_BETWEEN = re.compile(r"^(?:between|from) (.+?) (?:and|to|through) (.+?)(?:,? (?:inclusive|\(inclusive\)))?$")
_AT_LEAST_MOST = re.compile(r"^at least (.+?) and at most (.+)$")
_ONE_SIDED = (
    (re.compile(r"^(?:at most|not (?:greater|more|longer) than|no (?:greater|more|longer) than|up to) (.+)$"), "<="),
    (re.compile(r"^(?:less|shorter) than (.+)$"), "<"),
    (re.compile(r"^(?:at least|not less than|no less than) (.+)$"), ">="),
)
_RANGE = re.compile(r"^(\S+) to (.+?)(?:,? (?:inclusive|\(inclusive\)))?$")


def subjects(text: str, scope: Scope) -> tuple[Subject, ...]:
    """The variables that a text lists: ``S``, ``Each of S and T``, ``H, W, and N``, ``A_1, A_2, ..., A_N``."""
    text = _OPENING.sub("", text.strip(), count=1)
    if glued := _GLUED.match(text):
        text = f"{glued['name']}_{{{glued['row']}}}"
    text = re.sub(r",? and (?:the )?", ", ", text)
    found = [DOTS if isinstance(each, str) else each for each in parse_list(_bare(text), scope.keys())]
    if DOTS in found:
        of, start, end = run(found)
        return (Subject(_reference(of), (start, end)),)
    return tuple(Subject(_reference(each)) for each in found)


def _bare(text: str) -> str:
    if text.startswith("(") and text.endswith(")") and text.count("(") == 1:
        return text[1:-1]
    return text


def _reference(of: Expression) -> Reference:
    if not isinstance(of, Reference):
        raise NotUnderstood("what is spoken of is no variable")
    return of


def whole(found: Sequence[Subject], scope: Scope, said: Qualifier, *, bare: bool = False) -> tuple[Whole, ...]:
    """The variables of the subjects, each with all of its elements; ``bare``: a name may stand for its elements.

    ``NotUnderstood`` where something is said of some elements only.
    """
    result: dict[str, Whole] = {}
    single: dict[str, list[Reference]] = {}
    for subject in found:
        of = subject.of
        shape = scope.get(of.name)
        if shape is None:
            raise NotUnderstood(f"{of.name} is no name of the input")
        if of.indices and all(isinstance(index, Constant) for index in of.indices):
            single.setdefault(of.name, []).append(of)
        elif not of.indices and (not shape.dimensions or shape.each or bare):
            result[of.name] = Whole(of.name, _element(of.name, scope))
        else:
            cells = _check_whole(subject, scope, said)
            letters = free_letters(scope, [each.name for each in references(of)])
            element = replaced(of, {RUN_INDEX: Reference(letters[0])}) if subject.ends else of
            result[of.name] = Whole(of.name, _reference(element), cells)
    for name, elements in single.items():
        result[name] = Whole(name, _element(name, scope), _check_listed(elements, scope))
    return tuple(result.values())


def _element(name: str, scope: Scope) -> Reference:
    letters = free_letters(scope)
    return Reference(name, tuple(Reference(letter) for letter in letters[: len(scope[name].dimensions)]))


def one(found: Sequence[_Item]) -> _Item:
    """The one thing that is spoken of."""
    if len(found) != 1:
        raise NotUnderstood("something is said of several variables")
    return found[0]


def _check_whole(subject: Subject, scope: Scope, said: Qualifier) -> bool:
    """Whether the indices go through all cells; ``NotUnderstood`` where they leave elements out."""
    of = subject.of
    shape = scope[of.name]
    letters = [index.name for index in of.indices if isinstance(index, Reference) and not index.indices]
    if len(set(letters)) != len(of.indices) or not letters:
        raise NotUnderstood("something is said of some elements only")
    if any(letter in scope and not scope[letter].dimensions for letter in letters):
        raise NotUnderstood("something is said of one element only")
    cells = len(letters) == len(shape.dimensions) + 1 and shape.cells is not None
    if len(letters) != len(shape.dimensions) and not cells:
        raise NotUnderstood(f"{of.name} has another number of indices")
    ranges = {index.name: (index.low, index.high) for index in said.ranges}
    if subject.ends:
        ranges[RUN_INDEX] = subject.ends
    for place, letter in enumerate(letters):
        expected = ends(of, place, scope)
        given = ranges.get(letter, expected)
        if any(difference(one, other) != 0 for one, other in zip(given, expected, strict=True)):
            raise NotUnderstood("something is said of some elements only")
    return cells


def _check_listed(elements: list[Reference], scope: Scope) -> bool:
    """The same for elements that are listed one by one."""
    shape = scope[elements[0].name]
    listed = {tuple(index.value for index in of.indices if isinstance(index, Constant)) for of in elements}
    count = len(elements[0].indices)
    cells = count == len(shape.dimensions) + 1 and shape.cells is not None
    extents = [*shape.dimensions, *([shape.cells] if cells and shape.cells is not None else [])]
    if len(extents) != count or not all(isinstance(extent, Constant) and extent.value <= 1000 for extent in extents):
        raise NotUnderstood("something is said of some elements only")
    first = shape.first_index
    sizes = [range(first, first + extent.value) for extent in extents if isinstance(extent, Constant)]
    if listed != set(product(*sizes)):
        raise NotUnderstood("something is said of some elements only")
    return cells


def bounds(text: str, scope: Scope) -> tuple[tuple[str, Expression], ...]:
    """The bounds that words say: ``between 1 and N, inclusive``, ``at most 5``, ``N``; pairs of operator and bound."""
    text = text.strip().rstrip(",").strip()
    names = scope.keys()
    for pattern in (_BETWEEN, _AT_LEAST_MOST, _RANGE):
        if match := pattern.match(text):
            return ((">=", parse_expression(match[1], names)), ("<=", parse_expression(match[2], names)))
    for pattern, operator in _ONE_SIDED:
        if match := pattern.match(text):
            return ((operator, parse_expression(match[1], names)),)
    return (("==", parse_expression(text, names)),)


def bounded(
    of: Expression, by: Iterable[tuple[str, Expression]], scope: Scope, said: Qualifier
) -> Iterator[Comparison]:
    """The comparisons that bounds make."""
    for operator, bound in by:
        if operator == ">=":
            yield compared(bound, "<=", of, scope, said)
        else:
            yield compared(of, operator, bound, scope, said)


def length_of(of: Whole) -> Expression:
    """The length of each string of a variable."""
    return Length(of.of)
