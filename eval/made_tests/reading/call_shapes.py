"""The shapes of a call's parameters: what they are made of, how long they are, what their columns are called. Pure.

A length is a helper variable, called as the statement calls it ("n == nums.length") or "nums.length"; rows [a_i, b_i]
of a fixed length are columns, a variable each.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from eval.made_tests.grammar import (
    Columns,
    Comparison,
    Constant,
    Constraint,
    Expression,
    Extreme,
    Index,
    Kind,
    Length,
    LevelOrder,
    Operation,
    Reference,
    Sorted,
    Variable,
)
from eval.made_tests.reading.terms import references, replaced, simplified
from sandbox.signatures import read_type

_KINDS = {
    "integer": Kind.INTEGER,
    "long": Kind.INTEGER,
    "double": Kind.DECIMAL,
    "string": Kind.STRING,
    "character": Kind.STRING,
}
_LINKED_LIST, _TREE = "ListNode", "TreeNode"
_MOST_DEPTH = 2
_MOST_COLUMNS = 8
_INDEX_NAMES = ("i", "j", "k")
ROW, COLUMN = Reference("i"), Reference("j")

Sizes = Sequence[tuple[Expression, Expression]]


@dataclass(frozen=True)
class Parameter:
    """A parameter: what its innermost elements are, and in how many arrays each of them is."""

    name: str
    kind: Kind
    depth: int
    is_linked_list: bool = False
    is_tree: bool = False

    @property
    def places(self) -> str:
        """The variable that says where the nodes of a tree stand."""
        return f"{self.name}.places"


def parameter_of(name: str, type_name: str) -> Parameter | None:
    """The parameter of a type such as "List[List[int]]"; None for a type whose values are not known here.

    A linked list is the array of its values, and a binary tree that of its nodes' values, level by level.
    """
    try:
        known = read_type(type_name)
    except ValueError:
        return None
    depth = known.count("[]")
    inner = known.removesuffix("[]" * depth)
    if inner == _TREE and depth == 0:
        return Parameter(name, Kind.INTEGER, 1, is_tree=True)
    if inner == _LINKED_LIST and depth < _MOST_DEPTH:
        return Parameter(name, Kind.INTEGER, depth + 1, is_linked_list=True)
    if inner not in _KINDS or depth > _MOST_DEPTH:
        return None
    return Parameter(name, _KINDS[inner], depth)


@dataclass(frozen=True)
class Rows:
    """What a row of a table is said to be, "edges[i] = [a_i, b_i]": the names with (True) or without a subscript.

    No names: something else than names is in it, as in "queries[i] = [1, l_i, r_i]".
    """

    of: str
    names: tuple[tuple[str, bool], ...]


@dataclass(frozen=True)
class Shapes:
    """The variables of a call, and what the names of its statement stand for."""

    parameters: Mapping[str, Parameter]
    variables: Mapping[str, Variable]
    columns: Mapping[str, tuple[str, ...]]
    aliases: Mapping[tuple[str, bool], tuple[str, ...]]
    helpers: frozenset[str] = field(default_factory=frozenset)

    @property
    def names(self) -> frozenset[str]:
        """All names that the statement may use, as it writes them without subscripts."""
        return frozenset(self.parameters) | self.helpers | {name for name, _ in self.aliases}

    def written(self) -> tuple[Columns | LevelOrder, ...]:
        """The parameters that are written in columns or as trees, in the order of the parameters."""
        return tuple(
            Columns(each.name, self.columns[each.name])
            if each.name in self.columns
            else LevelOrder(each.name, each.places)
            for each in self.parameters.values()
            if each.name in self.columns or each.is_tree
        )

    def of_trees(self) -> Iterator[Constraint]:
        """What makes the places of nodes those of a tree: they rise, and the k-th is at most 2k."""
        for tree in (each for each in self.parameters.values() if each.is_tree):
            place = Reference(tree.places, (ROW,))
            last = simplified(Operation("-", self.variables[tree.places].dimensions[0], Constant(1)))
            over = (Index("i", Constant(0), last),)
            yield Sorted(tree.places, strict=True)
            yield Comparison(Constant(0), "<=", place, over)
            yield Comparison(place, "<=", Operation("*", Constant(2), ROW), over)

    def length_of(self, name: str) -> Expression | None:
        """How many elements (rows) a parameter has; None for what is no array."""
        variable = self.variables[self.columns[name][0] if name in self.columns else name]
        return variable.dimensions[0] if variable.dimensions else None


def shapes_of(
    parameters: Mapping[str, Parameter], equal: Sizes, rows: Iterable[Rows], *, is_rectangular: bool
) -> Shapes:
    """The shapes that follow from what is said to be equal. Tables are ragged where nothing says that they are not."""
    said = _consistent_rows(parameters, rows)
    classes = _classes(parameters, [*equal, *_lengths_of_rows(said)])
    extents = _extents(parameters, classes)
    taken = {*parameters, *_INDEX_NAMES, *(part.name for one in classes for size in one for part in references(size))}
    variables: dict[str, Variable] = {}
    columns: dict[str, tuple[str, ...]] = {}
    for parameter in parameters.values():
        new = _variables_of(parameter, extents, is_rectangular)
        if parameter.depth == 2 and parameter.name not in {variable.name for variable in new}:
            names = _column_names(parameter.name, len(new), said, taken)
            new = [replace(variable, name=name) for variable, name in zip(new, names, strict=True)]
            columns[parameter.name] = names
        variables |= {variable.name: variable for variable in new}
    helpers = _helpers(parameters, classes, variables)
    variables |= {name: Variable(name, Kind.INTEGER, (), 0) for name in sorted(helpers - set(variables))}
    return Shapes(parameters, variables, columns, _aliases(said, columns), helpers)


def _consistent_rows(parameters: Mapping[str, Parameter], rows: Iterable[Rows]) -> list[Rows]:
    """The rows of known tables; none of a table whose rows are said to be of several lengths."""
    known = [row for row in rows if row.of in parameters and parameters[row.of].depth == 2]
    widths = {row.of: {len(other.names) for other in known if other.of == row.of} for row in known}
    return [row for row in known if len(widths[row.of]) == 1 and row.names]


def _lengths_of_rows(rows: Iterable[Rows]) -> Iterator[tuple[Expression, Expression]]:
    for row in rows:
        yield Length(Reference(row.of, (ROW,))), Constant(len(row.names))


def _classes(parameters: Mapping[str, Parameter], equal: Sizes) -> list[list[Expression]]:
    """Sizes that are equal, in the order in which they are named."""
    classes: list[list[Expression]] = []
    for left, right in equal:
        pair = [_in_one_form(side) for side in (left, right)]
        if not all(_is_size(side, parameters) for side in pair):
            continue
        touched = [one for one in classes if any(side in one for side in pair)]
        merged = list(dict.fromkeys(side for one in [*touched, pair] for side in one))
        classes = [one for one in classes if one not in touched] + [merged]
    return classes


def _in_one_form(size: Expression) -> Expression:
    """A size with its row called i: grid[r].length is grid[i].length."""
    if isinstance(size, Length) and len(size.of.indices) == 1:
        index = size.of.indices[0]
        if isinstance(index, Reference) and not index.indices:
            return Length(Reference(size.of.name, (ROW,)))
    return simplified(size)


def _is_size(expression: Expression, parameters: Mapping[str, Parameter]) -> bool:
    if isinstance(expression, Length):
        of = expression.of
        known = parameters.get(of.name)
        if known is None:
            return False
        return not of.indices or (of.indices == (ROW,) and known.depth >= 1)
    if isinstance(expression, Reference):
        is_number = expression.name not in parameters or parameters[expression.name].kind is Kind.INTEGER
        is_single = expression.name not in parameters or parameters[expression.name].depth == 0
        return not expression.indices and is_number and is_single
    if isinstance(expression, Operation):
        return _is_size(expression.left, parameters) and _is_size(expression.right, parameters)
    if isinstance(expression, Extreme):
        return all(_is_size(each, parameters) for each in expression.of)
    return True


def _extents(parameters: Mapping[str, Parameter], classes: list[list[Expression]]) -> dict[Expression, Expression]:
    """What stands for the length of an array whose length is equal to something."""
    extents: dict[Expression, Expression] = {}
    for one in classes:
        arrays = [size for size in one if _is_array_length(size, parameters)]
        if not arrays:
            continue
        others = [size for size in one if not isinstance(size, Length)]
        own = _own_length(arrays[0])
        chosen = min(others, key=lambda size: _preference(size, parameters)) if others else own
        extents |= dict.fromkeys(arrays, chosen)
    # A length may be said by another one: "edges.length == n - 1" where n is nums.length.
    return {size: _without_lengths(extent, extents) for size, extent in extents.items()}


def _is_array_length(size: Expression, parameters: Mapping[str, Parameter]) -> bool:
    return isinstance(size, Length) and parameters[size.of.name].depth > len(size.of.indices)


def _preference(size: Expression, parameters: Mapping[str, Parameter]) -> int:
    if isinstance(size, Constant):
        return 0
    if isinstance(size, Reference):
        return 1 if size.name in parameters else 2
    return 3


def _own_length(size: Expression) -> Expression:
    if not isinstance(size, Length):
        raise TypeError(f"{size} is no length")
    return Reference(f"{size.of.name}[i].length" if size.of.indices else f"{size.of.name}.length")


def _without_lengths(extent: Expression, extents: Mapping[Expression, Expression]) -> Expression:
    if isinstance(extent, Operation):
        left, right = _without_lengths(extent.left, extents), _without_lengths(extent.right, extents)
        return Operation(extent.operator, left, right)
    if isinstance(extent, Extreme):
        return Extreme(extent.which, tuple(_without_lengths(each, extents) for each in extent.of))
    if isinstance(extent, Length):
        return extents.get(extent) or _own_length(extent)
    return extent


def _variables_of(
    parameter: Parameter, extents: Mapping[Expression, Expression], is_rectangular: bool
) -> list[Variable]:
    """The variables of a parameter and the helpers that are its lengths."""
    name = parameter.name
    if parameter.depth == 0:
        return [Variable(name, parameter.kind, (), 0)]
    whole = Length(Reference(name))
    n_rows = extents.get(whole, _own_length(whole))
    if parameter.depth == 1:
        places = [Variable(parameter.places, Kind.INTEGER, (n_rows,), 0)] if parameter.is_tree else []
        return [*places, Variable(name, parameter.kind, (n_rows,), 0)]
    row = Length(Reference(name, (ROW,)))
    width = extents.get(row)
    if isinstance(width, Constant) and 1 <= width.value <= _MOST_COLUMNS and not isinstance(n_rows, Constant):
        # What they are called is seen where the names of all parameters are known.
        return [Variable(f"{name}[{place}]", parameter.kind, (n_rows,), 0) for place in range(width.value)]
    if width is not None:
        return [Variable(name, parameter.kind, (n_rows, width), 0)]
    own = _own_length(row)
    if is_rectangular or not isinstance(own, Reference):
        return [Variable(name, parameter.kind, (n_rows, own), 0)]
    lengths = Variable(own.name, Kind.INTEGER, (n_rows,), 0)
    return [lengths, Variable(name, parameter.kind, (n_rows, Reference(own.name, (ROW,))), 0)]


def _column_names(of: str, width: int, rows: Sequence[Rows], taken: Collection[str]) -> tuple[str, ...]:
    """The columns as the statement calls them in "[a_i, b_i]", if nothing else has these names."""
    own = next((row.names for row in rows if row.of == of), ())
    others = {name for row in rows if row.of != of for name, _ in row.names}
    if own and all(is_indexed and name not in others and name not in taken for name, is_indexed in own):
        return tuple(name for name, _ in own)
    return tuple(f"{of}[{place}]" for place in range(width))


def _helpers(
    parameters: Mapping[str, Parameter], classes: list[list[Expression]], variables: Mapping[str, Variable]
) -> frozenset[str]:
    """The names of lengths, and those that are said to be as long as something."""
    found = {
        part.name
        for variable in variables.values()
        for extent in variable.dimensions
        for part in references(extent)
        if part.name not in parameters and part != ROW
    }
    found |= {
        size.name
        for one in classes
        if any(isinstance(size, Length) for size in one)
        for size in one
        if isinstance(size, Reference) and size.name not in parameters
    }
    return frozenset(found)


def _aliases(rows: Iterable[Rows], columns: Mapping[str, tuple[str, ...]]) -> dict[tuple[str, bool], tuple[str, ...]]:
    """The columns that a name stands for: more than one where two tables have rows of the same names."""
    aliases: dict[tuple[str, bool], tuple[str, ...]] = {}
    for row in rows:
        for name, column in zip(row.names, columns.get(row.of, ()), strict=False):
            aliases[name] = tuple(dict.fromkeys((*aliases.get(name, ()), column)))
    return aliases


def with_row(expression: Expression, index: Expression) -> Expression:
    """An extent of a later dimension, "nums[i].length", for the row at an index."""
    return replaced(expression, {"i": index})
