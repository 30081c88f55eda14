"""Inputs as text: what is written is read back, and what is written otherwise is refused with its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.made_tests.grammar import (
    Block,
    Cases,
    Constant,
    Expression,
    Grammar,
    Index,
    InputRefused,
    Kind,
    Line,
    Lines,
    Operation,
    Reference,
    Repeated,
    Token,
    Values,
    Variable,
)
from eval.made_tests.stdin_text import parse, render
from eval.made_tests.values import check

HERE, J = Reference("i"), Reference("j")
INTEGERS = st.integers(-(10**20), 10**20)
WORDS = st.text(alphabet="abZ.#-09'\"é", min_size=1, max_size=5)
DECIMALS = st.from_regex(r"\A-?(0|[1-9][0-9]{0,3})(\.[0-9]{1,3})?\Z")
ELEMENTS = {Kind.INTEGER: INTEGERS, Kind.STRING: WORDS, Kind.DECIMAL: DECIMALS}


@dataclass(frozen=True)
class Piece:
    """Some lines of an input with the variables in them, and values for them."""

    variables: tuple[Variable, ...]
    blocks: tuple[Block, ...]
    values: Callable[[Callable[[Any], Any]], Values]


def _scalars(draw: Any, name: str) -> Piece:
    kinds = draw(st.lists(st.sampled_from(list(Kind)), min_size=1, max_size=3))
    variables = tuple(Variable(f"{name}{place}", kind) for place, kind in enumerate(kinds))
    line = Line(tuple(Token(Reference(variable.name)) for variable in variables))
    return Piece(variables, (line,), lambda d: {each.name: d(ELEMENTS[each.kind]) for each in variables})


def _row(draw: Any, name: str) -> Piece:
    kind, first = draw(st.sampled_from(list(Kind))), draw(st.integers(0, 2))
    count = Reference(f"n{name}")
    last = Operation("-", Operation("+", count, Constant(first)), Constant(1))
    row = Repeated((Token(Reference(name, (HERE,))),), Index("i", Constant(first), last))
    variables = (Variable(count.name, Kind.INTEGER), Variable(name, kind, (count,), first))

    def values(d: Callable[[Any], Any]) -> Values:
        elements = d(st.lists(ELEMENTS[kind], max_size=4))
        return {count.name: len(elements), name: elements}

    return Piece(variables, (Line((Token(count),)), Line((row,))), values)


def _columns(draw: Any, name: str) -> Piece:
    kinds = draw(st.lists(st.sampled_from(list(Kind)), min_size=1, max_size=3))
    count = Reference(f"n{name}")
    names = [f"{name}{place}" for place in range(len(kinds))]
    line = Line(tuple(Token(Reference(each, (HERE,))) for each in names))
    columns = (Variable(each, kind, (count,)) for each, kind in zip(names, kinds, strict=True))
    variables = (Variable(count.name, Kind.INTEGER), *columns)
    blocks = (Line((Token(count),)), Lines((line,), Index("i", Constant(1), count)))

    def values(d: Callable[[Any], Any]) -> Values:
        rows = d(st.lists(st.tuples(*(ELEMENTS[kind] for kind in kinds)), max_size=4))
        return {count.name: len(rows), **{each: [row[place] for row in rows] for place, each in enumerate(names)}}

    return Piece(variables, blocks, values)


def _ragged(draw: Any, name: str) -> Piece:
    together, before = draw(st.booleans()), draw(st.booleans())
    count, length = Reference(f"n{name}"), f"k{name}"
    row = Repeated((Token(Reference(name, (HERE, J))),), Index("j", Constant(1), Reference(length, (HERE,))))
    one = Token(Reference(length, (HERE,)))
    behind = Token(Reference(f"e{name}", (HERE,)))
    parts = (one, row, behind) if before else (one, row)
    lines = (Line(parts),) if together else (Line((one,)), Line(parts[1:]))
    variables = [Variable(count.name, Kind.INTEGER), Variable(length, Kind.INTEGER, (count,))]
    variables += [Variable(name, Kind.STRING, (count, Reference(length, (HERE,))))]
    variables += [Variable(f"e{name}", Kind.INTEGER, (count,))] if before else []

    def values(d: Callable[[Any], Any]) -> Values:
        rows = d(st.lists(st.lists(WORDS, max_size=3), max_size=3))
        found: Values = {count.name: len(rows), length: [len(each) for each in rows], name: rows}
        return found | ({f"e{name}": [d(INTEGERS) for _ in rows]} if before else {})

    return Piece(tuple(variables), (Line((Token(count),)), Lines(lines, Index("i", Constant(1), count))), values)


def _digits(draw: Any, name: str) -> Piece:
    height, width = Reference(f"h{name}"), Reference(f"w{name}")
    cells = Repeated((Token(Reference(name, (HERE, J))),), Index("j", Constant(1), width), "")
    blocks = (Line((Token(height), Token(width))), Lines((Line((cells,)),), Index("i", Constant(1), height)))
    sizes = (Variable(height.name, Kind.INTEGER), Variable(width.name, Kind.INTEGER))
    n_columns = draw(st.integers(1, 3))

    def values(d: Callable[[Any], Any]) -> Values:
        rows = d(st.lists(st.lists(st.integers(0, 9), min_size=n_columns, max_size=n_columns), max_size=3))
        return {height.name: len(rows), width.name: n_columns, name: rows}

    return Piece((*sizes, Variable(name, Kind.INTEGER, (height, width))), blocks, values)


def _cube(draw: Any, name: str) -> Piece:
    size = Reference(f"n{name}")
    element = Reference(name, (HERE, J, Reference("k")))
    row = Line((Repeated((Token(element),), Index("k", Constant(1), size)),))
    layers = Lines((Lines((row,), Index("j", Constant(1), size)),), Index("i", Constant(1), size))
    n = draw(st.integers(0, 2))

    def values(d: Callable[[Any], Any]) -> Values:
        return {size.name: n, name: [[[d(INTEGERS) for _ in range(n)] for _ in range(n)] for _ in range(n)]}

    dimensions: tuple[Expression, ...] = (size, size, size)
    variables = (Variable(size.name, Kind.INTEGER), Variable(name, Kind.INTEGER, dimensions))
    return Piece(variables, (Line((Token(size),)), layers), values)


PIECES = (_scalars, _row, _columns, _ragged, _digits, _cube)


@st.composite
def inputs(draw: Any) -> tuple[Grammar, Values]:
    """A grammar of some pieces, in test cases or not, and an input of it."""
    makers = draw(st.lists(st.sampled_from(PIECES), min_size=1, max_size=3))
    pieces = [maker(draw, "abc"[place]) for place, maker in enumerate(makers)]
    variables = tuple(variable for piece in pieces for variable in piece.variables)
    blocks = tuple(block for piece in pieces for block in piece.blocks)
    n_cases = draw(st.none() | st.integers(0, 3))

    def values() -> Values:
        return {name: value for piece in pieces for name, value in piece.values(draw).items()}

    if n_cases is None:
        return Grammar(variables, (), blocks), values()
    of_cases = [values() for _ in range(n_cases)]
    count = Reference("t")
    per_case = frozenset(variable.name for variable in variables)
    all_blocks = (Line((Token(count),)), Cases(count, blocks))
    grammar = Grammar((Variable("t", Kind.INTEGER), *variables), (), all_blocks, per_case=per_case)
    return grammar, {"t": n_cases, **{name: [each[name] for each in of_cases] for name in per_case}}


@given(inputs())
@settings(max_examples=200, deadline=None)
def test_what_is_written_is_read_back(given_input: tuple[Grammar, Values]) -> None:
    grammar, values = given_input
    check(grammar, values)
    text = render(grammar, values)
    assert text.endswith("\n") or not text
    assert parse(grammar, text) == values
    assert parse(grammar, text.replace("\n", " \t\r\n") + "\n \n") == values


@given(inputs(), st.data())
@settings(max_examples=200, deadline=None)
def test_a_token_more_or_less_is_refused(given_input: tuple[Grammar, Values], data: Any) -> None:
    """What is cut or doubled may still be another input, but never one of the same tokens."""
    grammar, values = given_input
    text = render(grammar, values)
    words = text.split(" ")
    place = data.draw(st.integers(0, len(words) - 1))
    changed = " ".join(words[:place] + words[place + 1 :] if data.draw(st.booleans()) else [*words, words[place]])
    try:
        found = parse(grammar, changed)
    except InputRefused as error:
        assert str(error).startswith("line ")
    else:
        assert render(grammar, found).split() == changed.split()


ROW = Grammar(
    (Variable("N", Kind.INTEGER), Variable("A", Kind.INTEGER, (Reference("N"),)), Variable("S", Kind.STRING)),
    (),
    (
        Line((Token(Reference("N")), Token(Reference("S")))),
        Line((Repeated((Token(Reference("A", (HERE,))),), Index("i", Constant(1), Reference("N"))),)),
    ),
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: N is expected, not the end"),
        ("3\n", "line 1: S is expected, not the end of the line"),
        ("3 x y\n1 2 3\n", "line 1: the end of the line is expected, not 'y'"),
        ("3  x\n1 2 3\n", "line 1: there is more than one space between two tokens"),
        (" 3 x\n1 2 3\n", "line 1: there is more than one space between two tokens"),
        ("x 3\n1 2 3\n", "line 1: N has 'x', which is not an integer"),
        ("3 x\n1 2\n", "line 2: 3 elements of A are expected, not the end of the line after 2"),
        ("3 x\n1 2 3 4\n", "line 2: the end of the line is expected, not '4'"),
        ("3 x\n1 2 3\n4\n", "line 3: the end is expected, not '4'"),
        ("3 x\n\n1 2 3\n", "line 2: 3 elements of A are expected, not the end of the line after 0"),
        ("3 x\n1 02 3\n", "line 2: A has '02', which is not an integer"),
        ("3 x\n1 -0 3\n", "line 2: A has '-0', which is not an integer"),
        ("3 x\n1 +2 3\n", "line 2: A has '+2', which is not an integer"),
        ("3 x\n1 2_0 3\n", "line 2: A has '2_0', which is not an integer"),
        ("3 x\n1 2.0 3\n", "line 2: A has '2.0', which is not an integer"),
        ("3 x\n1 ٣ 3\n", "line 2: A has '٣', which is not an integer"),
        ("3 x\n1\t2 3\n", "line 2: 3 elements of A are expected, not the end of the line after 2"),
        ("1000000000000 x\n1 2 3\n", "line 2: 1000000000000 elements of A are expected"),
    ],
)
def test_refusal_says_where_and_what(text: str, message: str) -> None:
    with pytest.raises(InputRefused) as refused:
        parse(ROW, text)
    assert str(refused.value).startswith(message)


def test_a_number_of_many_digits_is_refused() -> None:
    with pytest.raises(InputRefused, match="line 1: N has '9"):
        parse(ROW, f"{'9' * 100_000} x\n")


def test_fewer_than_no_test_cases_are_refused() -> None:
    cases = Cases(Reference("t"), (Line((Token(Reference("n")),)),))
    variables = (Variable("t", Kind.INTEGER), Variable("n", Kind.INTEGER))
    grammar = Grammar(variables, (), (Line((Token(Reference("t")),)), cases), per_case=frozenset({"n"}))
    assert parse(grammar, "0\n") == {"t": 0, "n": []}
    with pytest.raises(InputRefused, match="line 1: there are no -1 test cases"):
        parse(grammar, "-1\n")


def test_an_empty_row_is_an_empty_line_or_the_end() -> None:
    assert parse(ROW, "0 x\n\n") == parse(ROW, "0 x\n") == parse(ROW, "0 x") == {"N": 0, "S": "x", "A": []}
    assert render(ROW, {"N": 0, "S": "x", "A": []}) == "0 x\n\n"


def test_lines_that_are_all_empty_end_with_the_text() -> None:
    """10^12 empty lines are not waited for."""
    element = Repeated((Token(Reference("A", (HERE, J))),), Index("j", Constant(1), Reference("M")))
    blocks = (
        Line((Token(Reference("N")), Token(Reference("M")))),
        Lines((Line((element,)),), Index("i", Constant(1), Reference("N"))),
    )
    sizes = (Variable("N", Kind.INTEGER), Variable("M", Kind.INTEGER))
    grammar = Grammar((*sizes, Variable("A", Kind.INTEGER, (Reference("N"), Reference("M")))), (), blocks)
    assert parse(grammar, "2 0\n\n\n") == {"N": 2, "M": 0, "A": [[], []]}
    with pytest.raises(InputRefused, match="line"):
        parse(grammar, "1000000000000 0\n\n")


@pytest.mark.parametrize(
    "values",
    [
        {"N": 2, "A": [1, 2]},
        {"N": 2, "S": "x", "A": [1]},
        {"N": 2, "S": "x y", "A": [1, 2]},
        {"N": 2, "S": "", "A": [1, 2]},
        {"N": 2, "S": 5, "A": [1, 2]},
        {"N": 2, "S": "x", "A": [1, "2"]},
        {"N": 2, "S": "x", "A": 7},
        {"N": "2", "S": "x", "A": [1, 2]},
    ],
)
def test_values_of_another_shape_are_not_written(values: Values) -> None:
    with pytest.raises(InputRefused):
        render(ROW, values)
