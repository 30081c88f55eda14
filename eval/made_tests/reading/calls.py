"""The grammar of a call's arguments, from the constraints of a LeetCode statement. Pure.

The list of constraints is read sentence by sentence; what the text before the examples says of the parameters must be
said there too, or is read as well. What is left open stands in ``not_understood`` in words of ours, in brackets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from eval.made_tests.grammar import Constraint, Expression, Grammar, Length, Reference
from eval.made_tests.reading.call_bounds import (
    are_there,
    characters_by_places,
    claimed,
    contradict,
    even_terms,
    free_names,
    left_open,
    single_letters,
)
from eval.made_tests.reading.call_comparisons import Known, links_of
from eval.made_tests.reading.call_premises import unmet_premises
from eval.made_tests.reading.call_sentences import Claim, Said, read_sentence
from eval.made_tests.reading.call_shapes import Parameter, Shapes, parameter_of, shapes_of
from eval.made_tests.reading.call_statement import (
    constraints_of,
    is_rectangular,
    premises_of,
    rows_of,
    table_of_rows,
)
from eval.made_tests.reading.node_sentences import without_nodes
from eval.made_tests.reading.relations import Link
from eval.made_tests.reading.terms import NotUnderstood

_SIZE_NAME = re.compile(r"\b([A-Za-z]+) == \w+(?:\[[a-z]\])?\.length\b|\.length == ([A-Za-z]+)\b")
# Sentences that say nothing of a single value, and why.
_SAYS_NOTHING = (
    # It only introduces the sentences after it, which are read each by itself.
    re.compile(r"^The (?:input|test cases) (?:is|are) generated such that:$"),
    # They speak of answers and programs.
    re.compile(r"^Answers within \S+ of the actual (?:value|answer) will be accepted$"),
    re.compile(r"^Please do not use the built-in \w+(?: \w+)? library$"),
)


def read_call(statement: str, parameters: Sequence[tuple[str, str]]) -> Grammar:
    """The grammar of the arguments: (name, type) in order, a type such as "List[List[int]]"."""
    known = {name: parameter_of(name, type_name) for name, type_name in parameters}
    names = tuple(known)
    unknown = tuple(f"(nobody knows the type {type_})" for name, type_ in parameters if known[name] is None)
    sentences = constraints_of(statement)
    if sentences is None or unknown or not names:
        return Grammar((), (), parameters=names, not_understood=(*unknown, *_nothing(sentences, names)))
    typed = {name: parameter for name, parameter in known.items() if parameter}
    found = understood(typed, sentences, premises_of(statement))
    return Grammar(
        variables=tuple(found.shapes.variables.values()),
        constraints=found.constraints,
        parameters=names,
        columns=found.shapes.written(),
        not_understood=tuple(dict.fromkeys((*found.not_understood, *left_open(found.shapes, found.constraints)))),
    )


@dataclass(frozen=True)
class Understood:
    """The shapes of parameters with what sentences say of them, and the sentences that are not understood."""

    shapes: Shapes
    constraints: tuple[Constraint, ...]
    not_understood: tuple[str, ...]


def understood(parameters: dict[str, Parameter], sentences: Sequence[str], premises: Sequence[str]) -> Understood:
    """What the constraints and the text before the examples say; what is left open is not looked at."""
    shapes = _shapes(parameters, sentences, premises)
    constraints, not_understood = _read_all(sentences, shapes)
    more, unmet = unmet_premises(premises, shapes, constraints)
    constraints += more
    constraints += characters_by_places(shapes, constraints)
    constraints += shapes.of_trees()
    return Understood(shapes, tuple(dict.fromkeys(constraints)), (*not_understood, *unmet))


def _nothing(sentences: tuple[str, ...] | None, names: Iterable[str]) -> tuple[str, ...]:
    if sentences is None:
        return ("(the statement has no list of constraints)",)
    return sentences if names else ("(the call has no parameters)",)


def _shapes(parameters: dict[str, Parameter], sentences: Sequence[str], premises: Sequence[str]) -> Shapes:
    """The shapes, from what the constraints say to be equal; names that they do not bind are sought in the premises."""
    rows = rows_of([*sentences, *premises])
    names = {*parameters, *(name for row in rows for name, _ in row.names)}
    plain = [each for sentence in sentences for each in without_nodes(sentence, parameters)]
    names |= {part for sentence in plain for found in _SIZE_NAME.findall(sentence) for part in found if part}
    links = [link for sentence in plain for link in _links(sentence, names)]
    equal = [(link.left, link.right) for link in links if link.operator == "=="]
    sheet = is_rectangular(premises)
    shapes = shapes_of(parameters, equal, rows, is_rectangular=sheet)
    open_names = set(free_names(side for link in links for side in (link.left, link.right))) - shapes.names
    if found := list(_said_lengths(open_names, parameters, premises)):
        return shapes_of(parameters, [*equal, *found], rows, is_rectangular=sheet)
    return shapes


def _links(sentence: str, names: set[str]) -> Sequence[Link]:
    try:
        return links_of(sentence, names)
    except NotUnderstood:
        return ()


def _said_lengths(
    names: Iterable[str], parameters: dict[str, Parameter], premises: Iterable[str]
) -> Iterable[tuple[Expression, Expression]]:
    """ "an array nums of length n", "nums1 and nums2 of sizes n and m"."""
    arrays = "|".join(re.escape(name) for name, parameter in parameters.items() if parameter.depth == 1)
    letters = "|".join(map(re.escape, sorted(names)))
    if not arrays or not letters:
        return
    one = re.compile(rf"\b({arrays})\b,? (?:of|having|with) (?:length|size) ({letters})\b")
    two = re.compile(
        rf"\b({arrays})\b,? and,? ({arrays})\b,? (?:of|having|with) (?:lengths|sizes) ({letters}) and ({letters})\b"
    )
    for sentence in premises:
        for array, letter in one.findall(sentence):
            yield Reference(letter), Length(Reference(array))
        for first, second, letter, other in two.findall(sentence):
            yield Reference(letter), Length(Reference(first))
            yield Reference(other), Length(Reference(second))


def _read_all(sentences: Sequence[str], shapes: Shapes) -> tuple[list[Constraint], tuple[str, ...]]:
    """The constraints of all sentences, and the sentences that are not understood."""
    said: dict[str, Said] = {}
    known = Known()
    for _ in range(2):
        # What some sentences need to know, others say: these are read a second time.
        for sentence in sentences:
            if sentence not in said and (found := _read(sentence, shapes, known)) is not None:
                said[sentence] = found
        constraints = _constraints(said)
        known = Known(single_letters(constraints), even_terms(constraints))
    not_understood = [sentence for sentence in sentences if sentence not in said]
    for sentence, found in said.items():
        kept = [each for each in found if not isinstance(each, Claim)]
        if contradict(kept) or not all(are_there(each, shapes, constraints) for each in kept):
            not_understood.append(sentence)
        try:
            constraints += [claimed(each, shapes, constraints) for each in found if isinstance(each, Claim)]
        except NotUnderstood:
            not_understood.append(sentence)
    return constraints, tuple(not_understood)


def _constraints(said: dict[str, Said]) -> list[Constraint]:
    return [each for found in said.values() for each in found if not isinstance(each, Claim)]


def _read(sentence: str, shapes: Shapes, known: Known) -> Said | None:
    if any(pattern.match(sentence) for pattern in _SAYS_NOTHING):
        return ()
    if (table := table_of_rows(sentence)) is not None:
        return () if table in shapes.columns else None
    try:
        return [
            each for part in without_nodes(sentence, shapes.parameters) for each in read_sentence(part, shapes, known)
        ]
    except NotUnderstood:
        return None
