"""What a mutation changes: for a place of a syntax tree the things that could stand there by mistake. Pure."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

Replacement: TypeAlias = "ast.AST | list[ast.stmt]"
"""What is put in a place: a node, or statements where a block stood."""

_WORD = 2**32
_SIGN = 2**31
_FINITE = 10**9
_INFINITIES = ("float('inf')", "math.inf", "inf", "INF")
_BOUNDARY: Mapping[type[ast.cmpop], type[ast.cmpop]] = MappingProxyType(
    {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
)
_ARITHMETIC: Mapping[type[ast.operator], type[ast.operator]] = MappingProxyType({ast.Add: ast.Sub, ast.Sub: ast.Add})


@dataclass(frozen=True)
class Slot:
    """A place of a tree: a field of a parent, or an element (``index``) of a field that is a list. ``line`` is that of
    the parent, counted from 1."""

    parent: ast.AST
    field: str
    index: int | None
    node: Replacement
    line: int

    def put(self, replacement: Replacement) -> None:
        """Put something else in this place of the tree."""
        if self.index is None:
            setattr(self.parent, self.field, replacement)
        else:
            getattr(self.parent, self.field)[self.index] = replacement


def slots(tree: ast.AST) -> list[Slot]:
    """Every place of a tree that holds a node or a block of statements, always in the same order."""
    found = []
    waiting = [(tree, 1)]
    while waiting:
        parent, line = waiting.pop()
        line = getattr(parent, "lineno", line)
        for field, value in ast.iter_fields(parent):
            if isinstance(value, ast.AST):
                found.append(Slot(parent, field, None, value, line))
                waiting.append((value, line))
            elif isinstance(value, list):
                if value and all(isinstance(each, ast.stmt) for each in value):
                    found.append(Slot(parent, field, None, value, line))
                nodes = [(index, each) for index, each in enumerate(value) if isinstance(each, ast.AST)]
                found.extend(Slot(parent, field, index, node, line) for index, node in nodes)
                waiting.extend((node, line) for _, node in nodes)
    return found


def changes(slot: Slot) -> list[tuple[str, list[Replacement]]]:
    """The operators that have something else for this place, with what they have; the tree itself is not changed."""
    found = ((name, list(operator(slot))) for name, operator in OPERATORS.items())
    return [(name, replacements) for name, replacements in found if replacements]


def _range_end(slot: Slot) -> Iterator[Replacement]:
    """range(n) -> range(n - 1), range(n + 1); range(a, n) also from a + 1. Constants have an operator of their own."""
    call = slot.node
    if not (_calls(call, "range") and isinstance(call, ast.Call) and 1 <= len(call.args) <= 3):
        return
    places = [(0, 1), (0, -1)] if len(call.args) == 1 else [(1, 1), (1, -1), (0, 1)]
    for place, step in places:
        if not isinstance(call.args[place], ast.Constant):
            changed = deepcopy(call)
            operator = ast.Add() if step > 0 else ast.Sub()
            changed.args[place] = ast.BinOp(changed.args[place], operator, ast.Constant(1))
            yield changed


def _boundary(slot: Slot) -> Iterator[Replacement]:
    """< and <=, > and >=."""
    if isinstance(slot.node, ast.cmpop) and type(slot.node) in _BOUNDARY:
        yield _BOUNDARY[type(slot.node)]()


def _arithmetic(slot: Slot) -> Iterator[Replacement]:
    """+ and -, where no text or list is joined."""
    parent = slot.parent
    if not (isinstance(slot.node, ast.operator) and type(slot.node) in _ARITHMETIC):
        return
    sides = [parent.left, parent.right] if isinstance(parent, ast.BinOp) else []
    sides = [parent.value] if isinstance(parent, ast.AugAssign) else sides
    if not any(map(_is_sequence, sides)):
        yield _ARITHMETIC[type(slot.node)]()


def _constant(slot: Slot) -> Iterator[Replacement]:
    """An integer one more or one less."""
    value = _integer(slot.node)
    if value is not None:
        yield ast.Constant(value + 1)
        yield ast.Constant(value - 1)


def _min_max(slot: Slot) -> Iterator[Replacement]:
    """min and max, called or handed over."""
    node = slot.node
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in ("min", "max"):
        yield ast.Name("max" if node.id == "min" else "min", ast.Load())


def _and_or(slot: Slot) -> Iterator[Replacement]:
    """And and or."""
    if isinstance(slot.node, ast.boolop):
        yield ast.Or() if isinstance(slot.node, ast.And) else ast.And()


def _no_else(slot: Slot) -> Iterator[Replacement]:
    """An else branch, with all its elifs, is forgotten."""
    if isinstance(slot.parent, ast.If) and slot.field == "orelse" and isinstance(slot.node, list):
        yield []


def _initial_value(slot: Slot) -> Iterator[Replacement]:
    """A variable that begins with 0 begins with 1, with another number it begins with 0, with infinity at 10^9."""
    if not (isinstance(slot.parent, ast.Assign | ast.AnnAssign) and slot.field == "value"):
        return
    node = slot.node
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and _integer(node.operand) is not None:
        yield ast.Constant(0)
    elif (value := _integer(node)) is not None:
        yield ast.Constant(0 if value else 1)
    elif isinstance(node, ast.expr) and ast.unparse(node) in _INFINITIES:
        yield ast.Constant(_FINITE)


def _no_modulus(slot: Slot) -> Iterator[Replacement]:
    """x % m -> x; x %= m goes. Text is not formatted less."""
    node = slot.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and not _is_sequence(node.left):
        yield deepcopy(node.left)
    elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Mod):
        yield ast.Pass()


def _sort_order(slot: Slot) -> Iterator[Replacement]:
    """sorted(a) and a.sort() the other way round, reverse=True left out."""
    call = slot.node
    is_sort = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "sort"
    if not (isinstance(call, ast.Call) and (is_sort or _calls(call, "sorted"))):
        return
    changed = deepcopy(call)
    others = [keyword for keyword in changed.keywords if keyword.arg != "reverse"]
    is_reversed = len(others) < len(changed.keywords)
    changed.keywords = others if is_reversed else [*others, ast.keyword("reverse", ast.Constant(True))]
    yield changed


def _early_end(slot: Slot) -> Iterator[Replacement]:
    """A loop that ends after its first pass, or a return in it that has lost its condition."""
    block = slot.node
    if not (isinstance(block, list) and slot.field == "body" and isinstance(slot.parent, ast.For | ast.While)):
        return
    if not isinstance(block[-1], ast.Break | ast.Continue | ast.Return):
        yield [*deepcopy(block), ast.Break()]
    for place, statement in enumerate(block):
        if isinstance(statement, ast.If) and isinstance(statement.body[-1], ast.Return):
            yield deepcopy([*block[:place], *statement.body])


def _overflow(slot: Slot) -> Iterator[Replacement]:
    """A product, a power, a shift or a running sum kept in 32 bits with a sign, as C keeps an int."""
    node = slot.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Pow | ast.LShift):
        sides = (node.left, node.right)
        if not any(map(_is_sequence, sides)) and not all(isinstance(side, ast.Constant) for side in sides):
            yield _in_32_bits(deepcopy(node))
    elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add | ast.Mult) and not _is_sequence(node.value):
        changed = deepcopy(node)
        read = deepcopy(changed.target)
        read.ctx = ast.Load()
        yield ast.Assign([changed.target], _in_32_bits(ast.BinOp(read, changed.op, changed.value)))


def _in_32_bits(value: ast.expr) -> ast.expr:
    shifted = ast.BinOp(value, ast.Add(), ast.Constant(_SIGN))
    return ast.BinOp(ast.BinOp(shifted, ast.Mod(), ast.Constant(_WORD)), ast.Sub(), ast.Constant(_SIGN))


def _integer(node: object) -> int | None:
    """The value of an integer constant; bools are none."""
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def _is_sequence(node: ast.AST) -> bool:
    """Whether an expression is a text, a list or a tuple for certain."""
    if isinstance(node, ast.BinOp):
        return _is_sequence(node.left) or _is_sequence(node.right)
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    texts = isinstance(node, ast.Call) and _calls(node, "str", "list", "tuple", "sorted", "input")
    return is_text or texts or isinstance(node, ast.JoinedStr | ast.List | ast.ListComp | ast.Tuple)


def _calls(node: object, *names: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


OPERATORS: Mapping[str, Callable[[Slot], Iterator[Replacement]]] = MappingProxyType(
    {
        "range off by one": _range_end,
        "boundary": _boundary,
        "plus and minus": _arithmetic,
        "constant": _constant,
        "min and max": _min_max,
        "and and or": _and_or,
        "no else": _no_else,
        "initial value": _initial_value,
        "no modulus": _no_modulus,
        "sort order": _sort_order,
        "early end": _early_end,
        "overflow": _overflow,
    }
)
"""The operators by name. Each yields new nodes and leaves the tree as it is."""
