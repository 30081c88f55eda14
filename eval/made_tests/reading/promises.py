"""What a task says of its input outside of the constraints: "It is guaranteed that …", "You are given a tree". Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from eval.made_tests.grammar import Comparison, Constraint, Distinct, Graph, GraphKind, Permutation, Sorted
from eval.made_tests.reading.sentences import LONGEST
from eval.made_tests.reading.tex import plain_line

_GUARANTEED = re.compile(r"\bguarante", re.IGNORECASE)
# What follows from the constraints says nothing more of the input.
_FOLLOWS = re.compile(
    r"constraints?[^.]* (?:guarantee|ensure)|under (?:the|these|this)[^.]* (?:constraints|conditions)"
    r"|can be (?:proved|proven|shown)|guarantee (?:their|his|her|its|a|the) |to guarantee",
    re.IGNORECASE,
)
_PROMISES = (
    re.compile(
        r"^(?:here,? |also,? |note that |additionally,? |in other words,? )*it is guaranteed that (.+)$", re.IGNORECASE
    ),
    re.compile(r"^(?:here,? |also,? |in other words,? )*(.+) is guaranteed$", re.IGNORECASE),
)
_TO_DO = re.compile(r"\b(?P<verb>is|are) guaranteed to (?P<what>\w+)")
_GIVEN = re.compile(r"^(?:you are |we are |you're )?(?:also )?given |^we have ", re.IGNORECASE)
_THERE = re.compile(r"^there (?:is|are) ", re.IGNORECASE)


def promises(sentences: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The sentences of a task that promise something of the input, and what each of them promises."""
    for sentence in sentences:
        if not _GUARANTEED.search(sentence):
            continue
        if len(sentence) > LONGEST:
            yield sentence, sentence
            continue
        if _FOLLOWS.search(sentence):
            continue
        text = plain_line(sentence).strip()
        if text.startswith("(") and text.endswith(")"):
            text = text[1:-1]
        text = text.rstrip(".")
        text = _TO_DO.sub(_done, text)
        for pattern in _PROMISES:
            if match := pattern.match(text):
                text = match.group(1)
        yield sentence, text


def _done(match: re.Match[str]) -> str:
    """ "is guaranteed to contain" as "contains"."""
    if match["what"] == "be":
        return match["verb"]
    return f"{match['what']}{'s' if match['verb'] == 'is' else ''}"


def unsaid(sentences: Sequence[str], constraints: Sequence[Constraint], has_edges: bool) -> Iterator[str]:
    """The sentences of a task that give a tree, a permutation, … of which the constraints say nothing."""
    for sentence in sentences:
        text = plain_line(sentence[:LONGEST])
        gifts = _GIFTS if _GIVEN.search(text) else _PLAIN_GIFTS if _THERE.search(text) else ()
        if any(pattern.search(text) and not known(constraints, has_edges) for pattern, known in gifts):
            yield sentence


def _has_graph(kind: GraphKind) -> Callable[[Sequence[Constraint], bool], bool]:
    def known(constraints: Sequence[Constraint], has_edges: bool) -> bool:
        graphs = [each for each in constraints if isinstance(each, Graph)]
        return not has_edges or any(kind in each.kinds or GraphKind.TREE in each.kinds for each in graphs)

    return known


def _is_simple(constraints: Sequence[Constraint], has_edges: bool) -> bool:
    pairs = any(isinstance(each, Distinct) and len(each.names) > 1 for each in constraints)
    return pairs or _has_graph(GraphKind.SIMPLE)(constraints, has_edges)


def _has_permutation(constraints: Sequence[Constraint], has_edges: bool) -> bool:
    del has_edges
    return any(isinstance(each, Permutation | Distinct) for each in constraints)


def _has_order(constraints: Sequence[Constraint], has_edges: bool) -> bool:
    del has_edges
    return any(isinstance(each, Sorted) for each in constraints)


def _has_difference(constraints: Sequence[Constraint], has_edges: bool) -> bool:
    del has_edges
    return any(
        isinstance(each, Permutation | Distinct)
        or (isinstance(each, Sorted) and each.strict)
        or (isinstance(each, Comparison) and each.operator in ("!=", "<"))
        for each in constraints
    )


# What "there is" may be something else than the input: "There are N! permutations".
_PLAIN_GIFTS = (
    (re.compile(r"\btree\b", re.IGNORECASE), _has_graph(GraphKind.TREE)),
    (re.compile(r"\bconnected\b.*\bgraph\b", re.IGNORECASE), _has_graph(GraphKind.CONNECTED)),
    (re.compile(r"\bsimple\b.*\bgraph\b", re.IGNORECASE), _is_simple),
    (re.compile(r"\bacyclic\b", re.IGNORECASE), _has_graph(GraphKind.ACYCLIC)),
    (
        re.compile(r"\b(?:arranged|sorted|listed) in (?:\w+ )?(?:ascending|descending|increasing|decreasing)"),
        _has_order,
    ),
)
_GIFTS = (
    *_PLAIN_GIFTS,
    (re.compile(r"\bpermutations? [A-Z(]|\bpermutations? of \(", re.IGNORECASE), _has_permutation),
    (
        re.compile(
            r"\b(?:distinct|different) (?:positive |non-negative )?(?:integers|elements|numbers|strings|points|values)"
        ),
        _has_difference,
    ),
)
