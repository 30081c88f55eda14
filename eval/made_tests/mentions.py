"""What expressions and constraints mention: references, and the names of variables in them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from eval.made_tests.grammar import (
    AtLeastOne,
    Block,
    Cases,
    Characters,
    Comparison,
    Constraint,
    Distinct,
    Expression,
    Extreme,
    Grammar,
    Graph,
    Index,
    Length,
    Lines,
    Occurrences,
    OneOf,
    Operation,
    Permutation,
    Reference,
    Remainder,
    SearchTree,
    Sorted,
    Sum,
    SumAtMost,
)


def references_in(expression: Expression) -> Iterator[Reference]:
    """Every reference in an expression, but for those to indices of sums; outer ones before those in their indices."""
    match expression:
        case Reference():
            yield expression
            for index in expression.indices:
                yield from references_in(index)
        case Length(of):
            yield from references_in(of)
        case Operation(_, left, right):
            yield from references_in(left)
            yield from references_in(right)
        case Extreme(_, of):
            for each in of:
                yield from references_in(each)
        case Sum(inner, index):
            yield from (each for each in references_in(inner) if each.indices or each.name != index.name)
            yield from references_in(index.low)
            yield from references_in(index.high)


def names_in(expressions: Iterable[Expression]) -> frozenset[str]:
    """The names of variables and indices in the expressions."""
    return frozenset(reference.name for expression in expressions for reference in references_in(expression))


def expressions_of(constraint: Constraint) -> tuple[Expression, ...]:
    """The expressions that a constraint computes, with the bounds of its indices."""
    match constraint:
        case Comparison(left, _, right, indices):
            return (left, right, *_bounds(indices))
        case Remainder(expression, modulus, _, indices):
            moduli = () if isinstance(modulus, int) else (modulus,)
            return (expression, *moduli, *_bounds(indices))
        case SumAtMost(expression, limit, indices):
            return (expression, limit, *_bounds(indices))
        case Permutation(_, low, high) | Graph(_, low, high) | Occurrences(_, _, low, high):
            return (low, high)
        case AtLeastOne(comparison):
            return expressions_of(comparison)
    return ()


def variables_of(constraint: Constraint) -> tuple[str, ...]:
    """The variables that a constraint names as a whole, in its order."""
    match constraint:
        case Characters(name) | OneOf(name) | Permutation(name) | Sorted(name) | Occurrences(name):
            return (name,)
        case Distinct(names):
            return names
        case SearchTree(values, places):
            return (values, places)
        case Graph():
            return (constraint.first,) if constraint.second is None else (constraint.first, constraint.second)
    return ()


def mentioned(constraint: Constraint) -> frozenset[str]:
    """All names in a constraint: of variables, and of indices that are used."""
    return names_in(expressions_of(constraint)) | frozenset(variables_of(constraint))


def number_of_cases(grammar: Grammar) -> Reference | None:
    """What says how many test cases there are; None where an input is one case without a number."""
    found = list(_cases(grammar.blocks))
    return found[0].count if found else None


def _cases(blocks: Iterable[Block]) -> Iterator[Cases]:
    for block in blocks:
        if isinstance(block, Cases):
            yield block
        elif isinstance(block, Lines):
            yield from _cases(block.blocks)


def _bounds(indices: Iterable[Index]) -> tuple[Expression, ...]:
    return tuple(bound for index in indices for bound in (index.low, index.high))


def trimmed(indices: Sequence[Index], sides: Iterable[Expression]) -> tuple[Index, ...]:
    """The indices with those that nothing names kept to one value, or none where they have none."""
    result: list[Index] = []
    used = names_in(sides)
    for index in reversed(indices):
        if index.name not in used:
            index = Index(index.name, index.low, Extreme("min", (index.low, index.high)))  # noqa: PLW2901
        used |= names_in((index.low, index.high))
        result.insert(0, index)
    return tuple(result)


def apart(comparison: Comparison) -> tuple[tuple[Index, ...], tuple[Index, ...]] | None:
    """The indices of either side, where there are two or more and no index or bound has to do with both sides."""
    names = {index.name for index in comparison.indices}
    parts = []
    for side in (comparison.left, comparison.right):
        own = names_in([side]) & names
        parts.append(tuple(index for index in comparison.indices if index.name in own))
    bounds = names_in(bound for index in comparison.indices for bound in (index.low, index.high))
    is_apart = len(parts[0]) + len(parts[1]) == len(comparison.indices) and parts[0] and parts[1] and not bounds & names
    return (parts[0], parts[1]) if is_apart else None
