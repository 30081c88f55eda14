"""Sentences about the graph of an input: a tree, connected, simple, without cycles. Pure."""

from __future__ import annotations

import re

from eval.made_tests.grammar import GraphKind
from eval.made_tests.reading.said import Fact, GraphSaid

_SUBJECT = r"(?:the|this|these) (?:(?:given|input|resulting) )?(?:(?P<directed>un)?directed )?(?:graph|edges)"
_IS = re.compile(
    rf"^{_SUBJECT}(?: given(?: in the input)?)? (?:is|are|forms?|represents?|is guaranteed to be) (?P<what>.+)$",
    re.IGNORECASE,
)
_HAS_NONE = re.compile(
    rf"^{_SUBJECT} (?:contains?|has|have|does not contain|does not have|contains neither) (?P<what>.+)$", re.IGNORECASE
)
_KINDS = {
    "tree": frozenset({GraphKind.TREE}),
    "simple": frozenset({GraphKind.SIMPLE}),
    "connected": frozenset({GraphKind.CONNECTED}),
    "acyclic": frozenset({GraphKind.ACYCLIC}),
}
_FILLING = frozenset({"a", "an", "and", "graph", "undirected", "also", "both", "valid", "given"})
_LOOPS = r"self-?\s?loops?"
_MULTIPLE = r"(?:multi-?(?:ple)?[- ]?edges?|parallel edges?|double edges?|duplicate edges?)"
_NEITHER = re.compile(
    rf"^(?:no |neither |any )?(?:{_LOOPS},? (?:and|or|nor) (?:no )?{_MULTIPLE}"
    rf"|{_MULTIPLE},? (?:and|or|nor) (?:no )?{_LOOPS})$"
)


def read_graph(text: str) -> list[Fact] | None:
    """What a sentence says of the graph; None for another sentence, also for one that says more than is known here."""
    if match := _HAS_NONE.match(text):
        negated = re.search(r"\b(?:not|no|neither)\b", text)
        return [GraphSaid(frozenset({GraphKind.SIMPLE}))] if negated and _NEITHER.match(match["what"].lower()) else None
    match = _IS.match(text)
    if match is None:
        return None
    kinds: frozenset[GraphKind] = frozenset()
    directed = False
    for word in re.findall(r"[A-Za-z-]+|\S", match["what"].lower()):
        if word in _KINDS:
            kinds |= _KINDS[word]
        elif word == "directed":
            directed = True
        elif word not in _FILLING and word != ",":
            return None
    if not kinds:
        return None
    return [GraphSaid(kinds, directed)]
