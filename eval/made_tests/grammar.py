"""The shape of a problem's input: its variables, how they are laid out, and what holds among them. Pure.

A grammar is found in a statement (`eval.made_tests.reading`), inputs are checked against it and drawn from it. What the
statement says and nobody understood stands in ``not_understood``: from such a grammar nothing is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


@dataclass(frozen=True)
class Constant:
    """An integer, exact: bounds such as 10^18 are no floats."""

    value: int


@dataclass(frozen=True)
class Reference:
    """A variable, an element of one (``indices`` counted as the statement counts), or the index of a loop."""

    name: str
    indices: tuple[Expression, ...] = ()


@dataclass(frozen=True)
class Length:
    """How long a string or an array is."""

    of: Reference


@dataclass(frozen=True)
class Operation:
    """``left operator right`` with an operator of ``+ - * / ^``; "/" rounds down."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Extreme:
    """The least or the greatest of some expressions; ``which`` is "min" or "max"."""

    which: str
    of: tuple[Expression, ...]


@dataclass(frozen=True)
class Sum:
    """The sum of an expression over all values of an index, whose ends may name indices from outside."""

    expression: Expression
    index: Index


Expression: TypeAlias = Constant | Reference | Length | Operation | Extreme | Sum


class Kind(StrEnum):
    """What one element of a variable is."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    STRING = "string"


@dataclass(frozen=True)
class Variable:
    """A variable of the input. ``dimensions`` are () for one value, (N,) for a row, (H, W) for a table.

    The extent of a dimension may depend on the index of those before it: Reference("K", (Reference("i"),)). A grid of
    characters is a row of strings. ``first_index`` is 1 where the statement counts from 1.
    """

    name: str
    kind: Kind
    dimensions: tuple[Expression, ...] = ()
    first_index: int = 1


@dataclass(frozen=True)
class Index:
    """An index that runs from ``low`` to ``high``, both meant in."""

    name: str
    low: Expression
    high: Expression


@dataclass(frozen=True)
class Comparison:
    """``left operator right`` with an operator of ``< <= == !=``, for all values of the indices."""

    left: Expression
    operator: str
    right: Expression
    indices: tuple[Index, ...] = ()


@dataclass(frozen=True)
class Remainder:
    """``expression`` leaves ``remainder`` when divided by ``modulus``: "N is even"."""

    expression: Expression
    modulus: int | Expression
    remainder: int
    indices: tuple[Index, ...] = ()


@dataclass(frozen=True)
class Characters:
    """Every character of every string of a variable is one of these; ``each`` must occur in each string."""

    name: str
    characters: str
    each: str = ""


@dataclass(frozen=True)
class OneOf:
    """Every element of a variable is one of these values, written as they stand in an input."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Distinct:
    """The elements are pairwise different; of several variables the tuples (A_i, B_i). ``unordered``: (a, b) is (b, a).

    ``within_row``: in each row of a table by itself.
    """

    names: tuple[str, ...]
    unordered: bool = False
    within_row: bool = False


@dataclass(frozen=True)
class Permutation:
    """A row (or each row of a table) has each of ``low`` to ``high`` exactly once."""

    name: str
    low: Expression
    high: Expression


@dataclass(frozen=True)
class Sorted:
    """A row does not fall (or does not rise); ``strict``: and has no two equal neighbours."""

    name: str
    descending: bool = False
    strict: bool = False


@dataclass(frozen=True)
class SumAtMost:
    """The sum of an expression over all test cases, or over the values of the indices, is at most ``limit``."""

    expression: Expression
    limit: Expression
    indices: tuple[Index, ...] = ()


@dataclass(frozen=True)
class Occurrences:
    """Each of these values stands at least ``low`` and at most ``high`` times in a row; no values: each that could.

    Values are characters where the variable is a string (in each string by itself) and written integers elsewhere.
    ``whole``: in all rows or strings of the variable together.
    """

    name: str
    values: tuple[str, ...]
    low: Expression
    high: Expression
    whole: bool = False


@dataclass(frozen=True)
class AtLeastOne:
    """The comparison holds for some values of its indices, not for all."""

    comparison: Comparison


class GraphKind(StrEnum):
    """What edges make together."""

    TREE = "tree"
    CONNECTED = "connected"
    SIMPLE = "simple"
    ACYCLIC = "acyclic"


@dataclass(frozen=True)
class Graph:
    """The edges (first_i, second_i) on vertices ``low`` to ``high`` are of all these kinds.

    ``second`` None: ``first`` is a row of pairs (two columns). ``parents``: a row in which element i is the parent of
    vertex i, ``root`` the value that stands at the root (None: the row begins with the second vertex).
    """

    kinds: frozenset[GraphKind]
    low: Expression
    high: Expression
    first: str
    second: str | None = None
    is_parents: bool = False
    root: int | None = None
    is_directed: bool = False


@dataclass(frozen=True)
class SearchTree:
    """The values of a binary tree rise strictly from left to right; ``places`` are those of its nodes (LevelOrder)."""

    values: str
    places: str


Constraint: TypeAlias = (
    Comparison
    | Remainder
    | Characters
    | OneOf
    | Distinct
    | Permutation
    | Sorted
    | SumAtMost
    | Graph
    | Occurrences
    | AtLeastOne
    | SearchTree
)


@dataclass(frozen=True)
class Token:
    """One value of the input: a variable or an element of it."""

    of: Reference


@dataclass(frozen=True)
class Repeated:
    """Parts again and again for all values of an index, on one line, by ``separator`` (" " or "")."""

    parts: tuple[Part, ...]
    index: Index
    separator: str = " "


Part: TypeAlias = Token | Repeated


@dataclass(frozen=True)
class Line:
    """One line: parts separated by a space."""

    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Lines:
    """Blocks of lines again and again for all values of an index."""

    blocks: tuple[Block, ...]
    index: Index


@dataclass(frozen=True)
class Cases:
    """Test cases, as many as ``count`` says: each has variables of its own in these blocks."""

    count: Reference
    blocks: tuple[Block, ...]


Block: TypeAlias = Line | Lines | Cases


@dataclass(frozen=True)
class Columns:
    """A parameter of a call, written as rows [a_i, b_i]: ``columns`` are the row variables a, b in their order."""

    name: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class LevelOrder:
    """A parameter of a call that is a binary tree, written level by level with null where a child is missing.

    The row variable ``name`` has the values of the nodes in that order, and ``places`` where each stands in what is
    written, counted from 0: these rise strictly, and the k-th is at most 2k, since the children of the node that
    comes k-th stand at 2k + 1 and 2k + 2. Every such row is one shape of a tree.
    """

    name: str
    places: str


@dataclass(frozen=True)
class Grammar:
    """The shape of an input. ``blocks`` lay out what a program reads; a call has ``parameters`` in their order instead.

    A parameter is a variable, or is written otherwise (``columns``): as rows of several variables, or as a tree.
    Variables in neither are lengths: they are values too, but are not written. ``per_case`` are the variables that each
    test case has of its own. ``not_understood`` are the statement's sentences.
    """

    variables: tuple[Variable, ...]
    constraints: tuple[Constraint, ...]
    blocks: tuple[Block, ...] = ()
    parameters: tuple[str, ...] = ()
    columns: tuple[Columns | LevelOrder, ...] = ()
    per_case: frozenset[str] = frozenset()
    not_understood: tuple[str, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether everything that the statement says of its input was understood."""
        return not self.not_understood


Value: TypeAlias = "int | str | list[Value]"
"""A value of a variable; decimals are kept as they are written."""

Values: TypeAlias = dict[str, Value]
"""The variables of an input by name; those of test cases have one value for each case."""


class InputRefused(ValueError):
    """An input that does not have the shape of a grammar, or breaks a constraint of it; the message says which."""
