"""The sentences of a list of constraints, each as the facts that it says. Pure.

A sentence is understood with all of its words or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from eval.made_tests.reading.arrangement_sentences import read_arrangement
from eval.made_tests.reading.comparison_sentences import read_comparisons
from eval.made_tests.reading.graph_sentences import read_graph
from eval.made_tests.reading.integer_sentences import read_integers
from eval.made_tests.reading.place_sentences import read_places
from eval.made_tests.reading.qualifiers import split_qualifier, without_definitions
from eval.made_tests.reading.said import Fact
from eval.made_tests.reading.scope import Qualifier, Scope
from eval.made_tests.reading.string_sentences import read_cell, read_string, read_values
from eval.made_tests.reading.terms import NotUnderstood
from eval.made_tests.reading.tex import plain_line

LONGEST = 600
_OPENING = re.compile(r"^(?:in other words|that is|here|also|note that|furthermore|moreover),? ", re.IGNORECASE)
_GUARANTEED = re.compile(r"^it is guaranteed that ", re.IGNORECASE)


def read_sentence(text: str, scope: Scope) -> tuple[Fact, ...]:
    """What one sentence says; ``NotUnderstood`` where anything in it is not understood."""
    if len(text) > LONGEST:
        raise NotUnderstood("the sentence is too long")
    plain = without_definitions(_GUARANTEED.sub("", _OPENING.sub("", plain_line(text))))
    reason: NotUnderstood | None = None
    for sentence in dict.fromkeys((re.sub(r"\.$", "", plain.strip()).strip(), plain.strip())):
        try:
            return _read(sentence, scope)
        except NotUnderstood as error:
            reason = reason or error
    raise reason or NotUnderstood("an empty sentence")


def _read(sentence: str, scope: Scope) -> tuple[Fact, ...]:
    """The facts of a sentence as it stands, or of what is left without what it says of its indices."""
    reason = NotUnderstood("no known form")
    for text, said in _readings(sentence, scope):
        try:
            found = _facts(text, scope, said)
        except NotUnderstood as error:
            reason = error
            continue
        if found is not None:
            return tuple(found)
    raise reason


def _readings(sentence: str, scope: Scope) -> Iterator[tuple[str, Qualifier]]:
    yield sentence, Qualifier()
    text, said = split_qualifier(sentence, scope)
    if text == sentence and said == Qualifier():
        return
    for each in dict.fromkeys((re.sub(r"\.$", "", text).strip(), text)):
        yield each, said


def _facts(text: str, scope: Scope, said: Qualifier) -> list[Fact] | None:
    found = read_graph(text)
    if found is not None:
        return found
    reason: NotUnderstood | None = None
    for reader in (read_places, read_arrangement, read_integers, read_string, read_cell, read_values, read_comparisons):
        try:
            found = reader(text, scope, said)
        except NotUnderstood as error:
            reason = reason or error
            continue
        if found is not None:
            return found
    if reason:
        raise reason
    return None
