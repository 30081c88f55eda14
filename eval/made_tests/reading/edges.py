"""Which variables of an input are the ends of a graph's edges. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from eval.made_tests.grammar import (
    Block,
    Comparison,
    Constant,
    Expression,
    Graph,
    GraphKind,
    Line,
    Lines,
    Reference,
    Token,
)
from eval.made_tests.reading.said import Fact, GraphSaid
from eval.made_tests.reading.sentences import LONGEST
from eval.made_tests.reading.stdin_format import Format
from eval.made_tests.reading.terms import NotUnderstood, difference
from eval.made_tests.reading.tex import plain_line

_JOINS = re.compile(r"\b(?:edge|road|bridge)s?\b.*\b(?:connect|from|between|join)", re.IGNORECASE)


def edge_columns(layout: Format, facts: Sequence[Fact]) -> list[tuple[str, str]]:
    """The pairs of columns that both hold vertices 1 to N: those that may be edges."""
    return [pair for pair in _pairs(layout.blocks) if _vertices(pair[0], facts) and _vertices(pair[1], facts)]


def graph_of(said: GraphSaid, layout: Format, facts: Sequence[Fact], task: Sequence[str]) -> Graph:
    """The graph whose edges are the one pair of columns that may be some; of several the one that the task names.

    ``NotUnderstood`` where there is no such pair.
    """
    found = edge_columns(layout, facts)
    if len(found) > 1:
        found = [pair for pair in found if any(_names_edges(sentence, pair) for sentence in task)]
    if len(found) != 1:
        raise NotUnderstood("which variables are the edges is not clear")
    first, second = found[0]
    high = _vertices(first, facts)
    if high is None or high != _vertices(second, facts):
        raise NotUnderstood("the ends of the edges are different vertices")
    extent = layout.shapes[first].dimensions[0]
    if GraphKind.TREE in said.kinds and difference(high, extent) != 1:
        raise NotUnderstood("a tree with another number of edges")
    return Graph(said.kinds, Constant(1), high, first, second, is_directed=said.is_directed)


def _names_edges(sentence: str, pair: tuple[str, str]) -> bool:
    """Whether a sentence says that an edge joins the vertices A_i and B_i."""
    if len(sentence) > LONGEST or not _JOINS.search(sentence):
        return False
    text = plain_line(sentence)
    return all(re.search(rf"(?<![A-Za-z]){re.escape(name)}_\{{?[a-z]", text) for name in pair)


def _pairs(blocks: Sequence[Block]) -> Iterator[tuple[str, str]]:
    """The first two columns of each block of lines, where they are rows of one index."""
    for block in blocks:
        if isinstance(block, Line):
            continue
        if isinstance(block, Lines) and len(block.blocks) == 1 and isinstance(block.blocks[0], Line):
            parts = block.blocks[0].parts
            expected = (Reference(block.index.name),)
            names = [each.of.name for each in parts[:2] if isinstance(each, Token) and each.of.indices == expected]
            if len(names) == 2:
                yield names[0], names[1]
        else:
            yield from _pairs(block.blocks)


def _vertices(name: str, facts: Sequence[Fact]) -> Expression | None:
    """The N of vertices 1 to N that a variable holds; None for one that holds something else."""
    low = any(_compares(fact, Constant(1), name) for fact in facts) or any(
        _is_above_another(fact, name, facts) for fact in facts
    )
    highs = {high for fact in facts if (high := _high(fact, name, facts)) is not None}
    if not low or len(highs) != 1:
        return None
    return highs.pop()


def _compares(fact: Fact, low: Constant, name: str) -> bool:
    return (
        isinstance(fact, Comparison)
        and fact.operator == "<="
        and fact.left == low
        and isinstance(fact.right, Reference)
        and fact.right.name == name
    )


def _is_above_another(fact: Fact, name: str, facts: Sequence[Fact]) -> bool:
    """``1 <= u_i < v_i``: v holds vertices as u does."""
    if not isinstance(fact, Comparison) or fact.operator not in ("<", "<="):
        return False
    left, right = fact.left, fact.right
    if not isinstance(left, Reference) or not isinstance(right, Reference) or right.name != name or not left.indices:
        return False
    return any(_compares(each, Constant(1), left.name) for each in facts)


def _high(fact: Fact, name: str, facts: Sequence[Fact], *, follows: bool = True) -> Expression | None:
    """What holds a column from above: ``v_i <= N``, and N for u too where ``u_i < v_i``."""
    if not isinstance(fact, Comparison) or fact.operator not in ("<", "<="):
        return None
    left, right = fact.left, fact.right
    if not isinstance(left, Reference) or left.name != name:
        return None
    if isinstance(right, Reference) and right.indices:
        if not follows:
            return None
        found = {high for each in facts if (high := _high(each, right.name, facts, follows=False)) is not None}
        return found.pop() if len(found) == 1 else None
    return right if fact.operator == "<=" else None
