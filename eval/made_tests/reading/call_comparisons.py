"""Comparisons as LeetCode writes them, "1 <= nums[i], k <= 10^5 for all i >= 1", as constraints of a grammar. Pure."""

from __future__ import annotations

import itertools
import operator as operators
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from eval.made_tests.grammar import (
    Comparison,
    Constant,
    Constraint,
    Expression,
    Extreme,
    Index,
    Kind,
    Operation,
    Reference,
    Remainder,
    Variable,
)
from eval.made_tests.reading.call_shapes import Shapes
from eval.made_tests.reading.call_terms import TOTAL, Range, indices_of, variants
from eval.made_tests.reading.expressions import Operand, Parser
from eval.made_tests.reading.relations import Chain, Link, link, parse_chains
from eval.made_tests.reading.terms import NotUnderstood, operation, references, simplified

_HOLDS = {"<": operators.lt, "<=": operators.le, "==": operators.eq, "!=": operators.ne}
_FUNCTIONS = frozenset({"min", "max", "floor", "length"})
_AND = re.compile(r",?\s+and\s+|;\s*")
_OPERATOR = re.compile(r"<=|>=|==|!=|<|>|=")
_CHARACTER = re.compile(r"'([^'])'")
_WHERE = re.compile(
    r"^(?P<holds>.+?),? (?:where|for (?:all|every|each|any)(?: (?:indices|index|valid))?) (?P<range>.+)$", re.IGNORECASE
)
_FOR_ALL = re.compile(
    r"^For (?:all|every|each)(?: (?:index|indices))? (?P<range>[^,]+?),? (?:that )?(?P<holds>\w+\[.+)$"
)
_IN_RANGE = re.compile(r"^(?P<index>[a-z]) (?:lies |is )?in the range \[(?P<low>[^\[\],]+), ?(?P<high>[^\[\],]+)\]$")
_REMAINDER = re.compile(r"^(?P<over>[^%<>=]+?) % (?P<under>[^%<>=]+?) (?P<operator>==|!=) (?P<rest>\d{1,9})$")
_SUM = re.compile(r"\bsum\((\w+)\)")
# Code points of characters that can be seen; a character is compared with nothing else.
_LEAST_CHARACTER = 32


@dataclass(frozen=True)
class Known:
    """What other sentences say: strings of a single character, and what is even."""

    letters: Collection[str] = frozenset()
    even: Collection[Expression] = field(default_factory=frozenset)


def links_of(text: str, names: Collection[str], known: Known | None = None) -> list[Link]:
    """The comparisons of a text without the words that say of which indices they hold."""
    names = {*names, *(f"{TOTAL}{name}" for name in _SUM.findall(text))}
    text = _AND.sub(", ", _SUM.sub(rf"{TOTAL}\1", _CHARACTER.sub(lambda found: str(ord(found[1])), text)))
    _require_words(text, names)
    parts = re.split(r",\s*", text)
    # "a_i == queries[i][0], b_i == queries[i][1]": elsewhere a comma may also stand in a list.
    chains = parts if all(_OPERATOR.findall(part) == ["=="] for part in parts) else [text]
    found = []
    for chain in (each for part in chains for each in parse_chains(part, names)):
        if not chain.operators:
            raise NotUnderstood("nothing is compared")
        for left, operator, right in _neighbours(chain):
            for one, other in itertools.product(left, right):
                found.append(link(_exact(one, known), operator, _exact(other, known)))
    return found


def _neighbours(chain: Chain) -> Iterator[tuple[tuple[Operand, ...], str, tuple[Operand, ...]]]:
    """The comparisons of a chain; in "a == b == 2" all are compared with the number."""
    lists = list(chain.lists)
    numbers = [place for place, each in enumerate(lists) if len(each) == 1 and isinstance(each[0].value, Constant)]
    if set(chain.operators) == {"=="} and len(numbers) == 1:
        number = lists.pop(numbers[0])
        yield from ((each, "==", number) for each in lists)
    else:
        yield from zip(lists, chain.operators, lists[1:], strict=False)


def _require_words(text: str, names: Collection[str]) -> None:
    """Refuse words that are no names: LeetCode writes no products without a sign, so that none is names in a row."""
    known = {part for name in names for part in (name, *name.split("_"))} | _FUNCTIONS
    for word in re.findall(r"[A-Za-z][A-Za-z0-9]*", text):
        if word not in known and len(word) > 1:
            raise NotUnderstood(f"nothing is called {word}")


def _exact(operand: Operand, known: Known | None) -> Operand:
    """The operand, no longer said to be rounded where its quotients are halves of what is even."""
    even = known.even if known else ()
    if all(quotient.right == Constant(2) and quotient.left in even for quotient in _quotients(operand.value)):
        return Operand(operand.value)
    return operand


def comparisons(text: str, shapes: Shapes, known: Known) -> list[Constraint]:
    """The constraints that a comparison says; none where the shapes of the variables say it already."""
    if match := _REMAINDER.match(text):
        return [_remainder(match, shapes)]
    holds, ranges = _ranges(text, shapes)
    constraints: list[Constraint] = []
    for found in links_of(holds, shapes.names, known):
        for sides in variants((found.left, found.right), shapes):
            _require_names_agree(sides, found.operator, shapes)
            if not _is_known(sides[0], found.operator, sides[1]):
                left, right = _as_values(sides[0], found.operator, sides[1], shapes.variables, known)
                indices = indices_of((left, right), shapes.variables, ranges)
                constraints.append(Comparison(left, found.operator, right, indices))
    return constraints


def _ranges(text: str, shapes: Shapes) -> tuple[str, dict[str, Range]]:
    """The comparison itself, and what the sentence says of indices."""
    match = _FOR_ALL.match(text) or _WHERE.match(text)
    if match is None:
        return text, {}
    said = match["range"]
    if re.fullmatch(r"[a-z](?:, [a-z])*", said):
        return match["holds"], {}
    if within := _IN_RANGE.match(said):
        ends = (term_of(within[end], shapes) for end in ("low", "high"))
        return match["holds"], {within["index"]: Range(*ends)}
    return match["holds"], _range_of_chain(said, shapes)


def _range_of_chain(text: str, shapes: Shapes) -> dict[str, Range]:
    """``0 <= i < nums.length``, ``i >= 1``."""
    low = high = index = None
    for found in links_of(text, shapes.names):
        left, right = found.left, found.right
        strict = 1 if found.operator == "<" else 0
        name, is_low = (right, True) if _is_letter(right, shapes) else (left, False)
        if not isinstance(name, Reference) or not _is_letter(name, shapes) or found.operator not in ("<", "<="):
            raise NotUnderstood("a range of an index")
        if index not in (None, name.name):
            raise NotUnderstood("a range of several indices")
        index = name.name
        (bound,) = next(variants((left if is_low else right,), shapes))
        if is_low:
            low = simplified(operation("+", bound, Constant(strict)))
        else:
            high = simplified(operation("-", bound, Constant(strict)))
    return {index: Range(low, high)} if index else {}


def _is_letter(expression: Expression, shapes: Shapes) -> bool:
    return (
        isinstance(expression, Reference)
        and not expression.indices
        and len(expression.name) == 1
        and expression.name not in shapes.names
    )


def _quotients(expression: Expression) -> Iterator[Operation]:
    if isinstance(expression, Operation):
        if expression.operator == "/":
            yield expression
        yield from _quotients(expression.left)
        yield from _quotients(expression.right)
    elif isinstance(expression, Extreme):
        for each in expression.of:
            yield from _quotients(each)


def _require_names_agree(sides: tuple[Expression, ...], operator: str, shapes: Shapes) -> None:
    """Refuse "x_i == queries[i][1]" where x_i is the first column: there columns are counted from 1."""
    names = {side.name for side in sides if isinstance(side, Reference)}
    if operator == "==" and len(names) == 2 and any(names <= set(columns) for columns in shapes.columns.values()):
        raise NotUnderstood("two columns of one table are equal")


def _is_known(left: Expression, operator: str, right: Expression) -> bool:
    """Whether a comparison adds nothing; ``NotUnderstood`` for one that never holds."""
    if isinstance(left, Constant) and isinstance(right, Constant):
        if not _HOLDS[operator](left.value, right.value):
            raise NotUnderstood("this never holds")
        return True
    return left == right and operator in ("==", "<=")


def _as_values(
    left: Expression, operator: str, right: Expression, variables: Mapping[str, Variable], known: Known
) -> tuple[Expression, Expression]:
    """Both sides as values that can be compared: characters with characters, numbers with numbers."""
    sides = [_first_letter(side, variables, known) if operator in ("==", "!=") else side for side in (left, right)]
    are_characters = [_is_character(side, variables) for side in sides]
    for side, other, is_character in zip(sides, sides[::-1], are_characters[::-1], strict=True):
        for found in references(side):
            variable = variables.get(found.name)
            if variable is None or variable.kind is not Kind.STRING or found.name in _measured(side):
                continue
            if found != side or not _is_character(side, variables):
                raise NotUnderstood(f"{found.name} is a string")
            if not is_character and not (isinstance(other, Constant) and other.value >= _LEAST_CHARACTER):
                raise NotUnderstood(f"{found.name} is compared with a number")
    return sides[0], sides[1]


def _first_letter(side: Expression, variables: Mapping[str, Variable], known: Known) -> Expression:
    if not isinstance(side, Reference) or side.name not in known.letters:
        return side
    is_whole = len(side.indices) == len(variables[side.name].dimensions)
    return Reference(side.name, (*side.indices, Constant(0))) if is_whole else side


def _is_character(side: Expression, variables: Mapping[str, Variable]) -> bool:
    if not isinstance(side, Reference) or side.name not in variables:
        return False
    variable = variables[side.name]
    return variable.kind is Kind.STRING and len(side.indices) == len(variable.dimensions) + 1


def _measured(side: Expression) -> set[str]:
    """The strings of which only the length is in an expression."""
    whole = {found.name for found in references(side)}
    return whole - {found.name for found in _bare(side)}


def _bare(side: Expression) -> Iterator[Reference]:
    if isinstance(side, Reference):
        yield from references(side)
    elif isinstance(side, Operation):
        yield from _bare(side.left)
        yield from _bare(side.right)
    elif isinstance(side, Extreme):
        for each in side.of:
            yield from _bare(each)


def term_of(text: str, shapes: Shapes) -> Expression:
    """One integer expression in the names of the grammar."""
    _require_words(text, shapes.names)
    parser = Parser(text, shapes.names)
    operand = parser.operand()
    parser.at_end()
    if operand.rounds:
        raise NotUnderstood("a quotient that may be no integer")
    found = list(variants((operand.value,), shapes))
    if len(found) != 1:
        raise NotUnderstood("several columns")
    (term,) = found[0]
    if any(
        shapes.variables[part.name].kind is not Kind.INTEGER for part in _bare(term) if part.name in shapes.variables
    ):
        raise NotUnderstood("this is no integer")
    return term


def _remainder(match: re.Match[str], shapes: Shapes) -> Constraint:
    """``nums[i] % 10 != 0``, ``nums.length % 2 == 0``."""
    over, under = term_of(match["over"], shapes), term_of(match["under"], shapes)
    rest = int(match["rest"])
    indices = indices_of((over, under), shapes.variables, {})
    if match["operator"] == "==":
        return divisible(over, under, rest, indices)
    whole = operation("*", operation("/", over, under), under)
    return Comparison(Operation("-", over, whole), "!=", Constant(rest), indices)


def divisible(over: Expression, under: Expression, rest: int, indices: tuple[Index, ...] = ()) -> Remainder:
    """``over`` leaves ``rest`` when divided by ``under``."""
    if isinstance(under, Constant):
        if under.value < 1 or rest >= under.value:
            raise NotUnderstood("a remainder that never is left")
        return Remainder(over, under.value, rest, indices)
    return Remainder(over, under, rest, indices)
