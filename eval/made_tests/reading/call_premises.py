"""What a LeetCode statement says of its input before the examples, and whether the constraints say it too. Pure.

The list of constraints is not always complete: "an array of n distinct integers" may stand in the text alone. Words
that restrict an input must have their constraint; else the sentence is read, or it is not understood.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from eval.made_tests.grammar import (
    Characters,
    Comparison,
    Constant,
    Constraint,
    Distinct,
    Expression,
    Graph,
    Kind,
    Length,
    Occurrences,
    OneOf,
    Permutation,
    Reference,
    Remainder,
    SearchTree,
    Sorted,
)
from eval.made_tests.reading.call_comparisons import Known
from eval.made_tests.reading.call_sentences import Claim, read_sentence
from eval.made_tests.reading.call_shapes import Parameter, Shapes
from eval.made_tests.reading.call_terms import resolved
from eval.made_tests.reading.terms import NotUnderstood

Constraints: TypeAlias = Sequence[Constraint]

_MOST_CHARACTERS = 1000
_SPEAKS_OF_INPUT = re.compile(
    r"\b(?:given|known)\b|^You have (?!to\b)|\b(?:tree|graph|forest)\b.*\b(?:nodes|vertices|cities)\b",
    re.IGNORECASE,
)
_GUARANTEES = re.compile(
    r"\bguarantee|\b(?:may|can) assume\b|^Assume\b|\bgenerated (?:such|so|in a way)\b", re.IGNORECASE
)
# What the task is begins here, or a definition: words after it do not speak of the input.
_TASK = re.compile(
    r"(?:^|,? )(?:return|find|determine|partition|split|permute|perform|repeatedly|your task|you (?:can|may|need))\b"
    r"|, (?:group|delete|remove|reverse|swap|convert|flatten|invert|sort|rotate|merge|insert|replace)\b"
    r"|(?:^|, )an? [\w -]+ is (?:an? |called |said |defined )",
    re.IGNORECASE,
)
_BINARY = re.compile(r"\bbinary (?:strings?|arrays?|matrix|grid)\b")
_SEARCH_TREE = re.compile(r"\b(?:binary search trees?(?: \(BSTs?\))?|BSTs?)\b\)?")
_BINARY_TREE = re.compile(r"\b(?:binary )?trees?\b")
_SHAPED = re.compile(r"\b(?:given|you have)\b.*\b(?:complete|perfect)\b", re.IGNORECASE)
_ONE_CHARACTER = re.compile(r"\ba character (\w+)\b")
_EQUAL_LENGTHS = re.compile(
    r"\b(?P<what>strings|arrays)\b(?:(?!\b(?:strings|arrays)\b|respectively).)*?"
    r"(?:\b(?:same|equal) (?:length|size)\b|\b(?:of|having) (?:length|size) \w+)(?! and \w+\W+respectively)"
)
_DISTINCT_ARRAY = (
    re.compile(
        r"\barray (?:of )?(\w+) (?:of length \w+ )?(?:containing|consisting of|of)(?: \w+)? (?:distinct|unique) "
    ),
    re.compile(r"\barray of (?:distinct|unique) \w+ (\w+)\b"),
)


def _has(*kinds: type) -> Callable[[Constraints], bool]:
    return lambda constraints: any(isinstance(each, kinds) for each in constraints)


def _never(constraints: Constraints) -> bool:
    return False


# Words that restrict an input, and whether the constraints have what they mean.
_RESTRICTING: tuple[tuple[re.Pattern[str], Callable[[Constraints], bool]], ...] = tuple(
    (re.compile(pattern), is_met)
    for pattern, is_met in (
        (r"\b(?:distinct|unique|duplicates?)\b", _has(Distinct, Permutation)),
        (r"\b(?:sorted|(?:non-)?(?:in|de)creasing|(?:as|des)cending|monoton\w+)\b", _has(Sorted)),
        (r"\bpermutation\b", _has(Permutation)),
        (r"\b(?:balanced|symmetric|full|n-ary)\b.*\btree\b", _never),
        (r"\b(?:trees?|forest|connected|acyclic|bipartite)\b", _has(Graph)),
        (r"\bprimes?\b|\bpowers? of\b", _has(OneOf)),
        (r"\b(?:even|odd)\b", _has(Remainder)),
        (r"\b(?:exactly|at least|at most) (?:one|two|three|\d+) '.'", _has(Occurrences)),
        (r"\b(?:palindrom\w*|coprime|valid|overlap\w*|non-overlapping|disjoint|dominant|known to be)\b", _never),
        (r"\b(?:subsequence|substring|anagrams?|permutation|concatenation|prefix|suffix|rotation) of\b", _never),
    )
)


def unmet_premises(
    premises: Sequence[str], shapes: Shapes, constraints: Constraints
) -> tuple[list[Constraint], tuple[str, ...]]:
    """What the premises say beyond the constraints, and the sentences of which that is not understood."""
    more: list[Constraint] = []
    unmet = []
    for sentence in premises:
        try:
            more += _read(sentence, shapes, [*constraints, *more])
        except NotUnderstood:
            unmet.append(sentence)
    return more, tuple(unmet)


def _read(sentence: str, shapes: Shapes, constraints: Constraints) -> Iterator[Constraint]:
    if len(sentence) > _MOST_CHARACTERS:
        raise NotUnderstood("the sentence is too long")
    if guarantee := _GUARANTEES.search(sentence):
        yield from _guaranteed(sentence[guarantee.start() :], shapes, constraints)
        return
    if not _SPEAKS_OF_INPUT.search(sentence):
        return
    said = _TASK.split(sentence)[0]
    found = [*_distinct(said, shapes), *_binary(said, shapes, constraints), *_characters(said, shapes, constraints)]
    if trees := [each for each in shapes.parameters.values() if each.is_tree]:
        said, of_trees = _of_trees(said, trees, constraints)
        found += of_trees
    yield from found
    for word, is_met in _RESTRICTING:
        if word.search(said) and not is_met([*constraints, *found]):
            raise NotUnderstood(f"{word.pattern} has no constraint")
    _require_equal_lengths(said, shapes, constraints)


def _guaranteed(text: str, shapes: Shapes, constraints: Constraints) -> Iterator[Constraint]:
    """It is guaranteed that n is a multiple of 4, and …"""
    said = re.sub(r"^\w+ that ", "", text.split(", and ", maxsplit=1)[0])
    for each in read_sentence(said, shapes, Known()):
        if isinstance(each, Claim):
            raise NotUnderstood("a claim outside of the constraints")
        yield each


def _distinct(said: str, shapes: Shapes) -> Iterator[Constraint]:
    for pattern in _DISTINCT_ARRAY:
        for name in pattern.findall(said):
            if name in shapes.parameters and shapes.parameters[name].depth == 1:
                yield Distinct((name,))


def _of_trees(said: str, trees: Sequence[Parameter], constraints: Constraints) -> tuple[str, list[Constraint]]:
    """What is said of the trees that are parameters, and the rest, in which that they are trees is said no more.

    A search tree is said to be one before the examples, and not always among the constraints.
    """
    rest, n_found = _SEARCH_TREE.subn("", said)
    found: list[Constraint] = []
    if n_found:
        if "duplicate" in said or (len(trees) > 1 and not re.search(r"\btwo (?:binary search trees|BSTs)\b", said)):
            raise NotUnderstood("which tree is a search tree, and of what kind, is not certain")
        for tree in trees:
            found += [Distinct((tree.name,)), SearchTree(tree.name, tree.places)]
    if _SHAPED.search(rest) and not any(_is_complete(tree, constraints) for tree in trees):
        raise NotUnderstood("a shape that has no constraint")
    return _BINARY_TREE.sub("", rest), found


def _is_complete(tree: Parameter, constraints: Constraints) -> bool:
    """Whether it is said where each node stands."""
    places = (each.left for each in constraints if isinstance(each, Comparison) and each.operator == "==")
    return any(isinstance(each, Reference) and each.name == tree.places for each in places)


def _binary(said: str, shapes: Shapes, constraints: Constraints) -> Iterator[Constraint]:
    """You are given a binary string s."""
    if not _BINARY.search(said):
        return
    for name in _named(said, shapes):
        is_string = shapes.parameters[name].kind is Kind.STRING and shapes.parameters[name].depth == 0
        if is_string and not any(isinstance(each, Characters) and each.name == name for each in constraints):
            yield Characters(name, "01")


def _characters(said: str, shapes: Shapes, constraints: Constraints) -> Iterator[Constraint]:
    """You are given a string s and a character c."""
    for name in _ONE_CHARACTER.findall(said):
        parameter = shapes.parameters.get(name)
        if parameter and parameter.kind is Kind.STRING and parameter.depth == 0:
            yield Comparison(Length(Reference(name)), "==", Constant(1))


def _named(said: str, shapes: Shapes) -> list[str]:
    return [name for name in shapes.parameters if re.search(rf"\b{re.escape(name)}\b", said)]


def _require_equal_lengths(said: str, shapes: Shapes, constraints: Constraints) -> None:
    """Two arrays of equal length must have one length."""
    match = _EQUAL_LENGTHS.search(said)
    if match is None:
        return
    named = [shapes.parameters[name] for name in _named(said, shapes)]
    lengths = [
        resolved(Length(Reference(each.name)), shapes)
        for each in named
        if (each.depth > 0 if match["what"] == "arrays" else each.depth == 0 and each.kind is Kind.STRING)
    ]
    equal = [{each.left, each.right} for each in constraints if isinstance(each, Comparison) and each.operator == "=="]
    for one, other in itertools.pairwise(lengths):
        if one != other and not _are_linked(one, other, equal):
            raise NotUnderstood("the lengths are not equal")


def _are_linked(one: Expression, other: Expression, equal: Iterable[set[Expression]]) -> bool:
    """Whether two lengths are equal to each other, or to the same."""
    partners = [{side for pair in equal if each in pair for side in pair} | {each} for each in (one, other)]
    return bool(partners[0] & partners[1])
