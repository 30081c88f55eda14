"""The grammar of a problem that reads its input from standard input, from its statement. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from eval.made_tests.grammar import (
    Block,
    Cases,
    Characters,
    Comparison,
    Constant,
    Constraint,
    Expression,
    Grammar,
    Index,
    Kind,
    Length,
    Line,
    Lines,
    OneOf,
    Part,
    Reference,
    Token,
    Variable,
)
from eval.made_tests.reading.bounds import counts, unbounded, with_permutations
from eval.made_tests.reading.edges import edge_columns, graph_of
from eval.made_tests.reading.promises import promises, unsaid
from eval.made_tests.reading.said import Fact, GraphSaid, KindSaid, PlaceSaid
from eval.made_tests.reading.scope import PLACES, Scope, Shape
from eval.made_tests.reading.sentences import read_sentence
from eval.made_tests.reading.statement import parts_of, prose, sentences
from eval.made_tests.reading.stdin_format import Format, read_format
from eval.made_tests.reading.terms import NotUnderstood, operation, rebuilt

_MOST_SENTENCES = 200


def read_stdin(statement: str) -> Grammar:
    """The grammar that a statement in Markdown or plain text gives; what it says and is not understood stands in it."""
    parts = parts_of(statement)
    layout = read_format(parts.input)
    task = prose(parts.task)
    unknown = list(layout.not_understood)
    if not parts.constraints and not layout.said:
        unknown.append("(no list of constraints)")
    said: list[tuple[Fact, str]] = []
    listed = [(each, each) for each in (*layout.said, *sentences(parts.constraints))]
    listed += promises(task)
    unknown += [sentence for sentence, _ in listed[_MOST_SENTENCES:]]
    for sentence, text in listed[:_MOST_SENTENCES]:
        try:
            said += [(fact, sentence) for fact in read_sentence(text, layout.shapes)]
        except NotUnderstood:
            unknown.append(sentence)
    return _joined(layout, said, unknown, task)


def _joined(layout: Format, said: Sequence[tuple[Fact, str]], unknown: list[str], task: Sequence[str]) -> Grammar:
    kinds, strange = _kinds(layout.shapes, said)
    unknown += strange
    tables = frozenset(
        name for name, shape in layout.shapes.items() if shape.cells is not None and kinds[name] is Kind.INTEGER
    )
    variables = tuple(_variable(name, shape, kinds[name], name in tables) for name, shape in layout.shapes.items())
    facts = [fact for fact, _ in said]
    constraints: list[Constraint] = [*_lengths_of_cells(layout.shapes, tables)]
    for fact, sentence in said:
        try:
            if isinstance(fact, GraphSaid):
                constraints.append(graph_of(fact, layout, facts, task))
            elif not isinstance(fact, KindSaid | PlaceSaid):
                constraints += _constraints(fact, kinds, layout.shapes)
        except NotUnderstood:
            unknown.append(sentence)
    constraints += _alphabets(facts)
    constraints = with_permutations(variables, [*constraints, *counts(variables, constraints)])
    unknown += unsaid(task, constraints, bool(edge_columns(layout, facts)))
    unknown += unbounded(variables, constraints, tables)
    return Grammar(
        variables,
        tuple(dict.fromkeys(constraints)),
        tuple(_block(block, tables) for block in layout.blocks),
        per_case=layout.per_case,
        not_understood=tuple(dict.fromkeys(unknown)),
    )


def _alphabets(facts: Sequence[Fact]) -> Iterable[Characters]:
    """All characters of a string of which its first and its other ones are said."""
    said = [fact for fact in facts if isinstance(fact, PlaceSaid)]
    for first in said:
        others = [fact for fact in said if fact.name == first.name and not fact.is_first]
        if first.is_first and len(others) == 1:
            yield Characters(first.name, "".join(sorted({*first.characters, *others[0].characters})))


def _kinds(shapes: Scope, said: Iterable[tuple[Fact, str]]) -> tuple[dict[str, Kind], list[str]]:
    """The kind of each variable, and the sentences that contradict it."""
    kinds: dict[str, Kind] = {}
    strange: list[str] = []
    for fact, sentence in said:
        if isinstance(fact, KindSaid):
            if kinds.setdefault(fact.name, fact.kind) is not fact.kind:
                strange.append(sentence)
        elif isinstance(fact, Characters) and kinds.setdefault(fact.name, Kind.STRING) is not Kind.STRING:
            strange.append(sentence)
    return {name: kinds.get(name, Kind.INTEGER) for name in shapes}, strange


def _variable(name: str, shape: Shape, kind: Kind, is_table: bool) -> Variable:
    cells = (shape.cells,) if is_table and shape.cells is not None else ()
    return Variable(name, kind, (*shape.dimensions, *cells), shape.first_index)


def _lengths_of_cells(shapes: Mapping[str, Shape], tables: frozenset[str]) -> Iterable[Comparison]:
    """How long the strings are whose characters stand one by one in the format."""
    for name, shape in shapes.items():
        if shape.cells is None or name in tables:
            continue
        indices = []
        for place, extent in enumerate(shape.dimensions):
            first = Constant(shape.first_index)
            high = operation("-", operation("+", extent, first), Constant(1))
            indices.append(Index(PLACES[place], first, high))
        of = Reference(name, tuple(Reference(index.name) for index in indices))
        yield Comparison(Length(of), "==", shape.cells, tuple(indices))


def _constraints(fact: Constraint, kinds: Mapping[str, Kind], shapes: Scope) -> tuple[Constraint, ...]:
    """The constraints that a fact is, now that the kinds are known."""
    if isinstance(fact, Comparison):
        return _without_lengths_of_integers(fact, kinds)
    if isinstance(fact, OneOf) and kinds[fact.name] is Kind.STRING and shapes[fact.name].cells is not None:
        if any(len(each) != 1 for each in fact.values):
            raise NotUnderstood("the cells of a grid are words")
        return (Characters(fact.name, "".join(sorted(fact.values))),)
    return (fact,)


def _without_lengths_of_integers(fact: Comparison, kinds: Mapping[str, Kind]) -> tuple[Comparison, ...]:
    """``|x| <= b`` of an integer as two comparisons."""
    if not _has_length_of_integer(fact.left, kinds) and not _has_length_of_integer(fact.right, kinds):
        return (fact,)
    if not isinstance(fact.left, Length) or fact.operator not in ("<", "<="):
        raise NotUnderstood("the size of an integer")
    if _has_length_of_integer(fact.right, kinds):
        raise NotUnderstood("the size of an integer")
    low = operation("-", Constant(0), fact.right)
    return (
        Comparison(low, fact.operator, fact.left.of, fact.indices),
        Comparison(fact.left.of, fact.operator, fact.right, fact.indices),
    )


def _has_length_of_integer(expression: Expression, kinds: Mapping[str, Kind]) -> bool:
    found = False

    def look(part: Expression) -> Expression:
        nonlocal found
        if isinstance(part, Length) and kinds.get(part.of.name) is not Kind.STRING:
            found = True
        return rebuilt(part, look)

    look(expression)
    return found


def _block(block: Block, tables: frozenset[str]) -> Block:
    """The layout with strings in place of characters that stand one by one, where they are no numbers."""
    if isinstance(block, Line):
        return Line(tuple(_part(part, tables) for part in block.parts))
    blocks = tuple(_block(each, tables) for each in block.blocks)
    return Cases(block.count, blocks) if isinstance(block, Cases) else Lines(blocks, block.index)


def _part(part: Part, tables: frozenset[str]) -> Part:
    if isinstance(part, Token) or part.separator:
        return part
    (token,) = part.parts
    if not isinstance(token, Token) or token.of.name in tables:
        return part
    return Token(Reference(token.of.name, token.of.indices[:-1]))
