"""What bounds the variables of a call, what follows from the bounds, and what is left open. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from eval.made_tests.grammar import (
    Characters,
    Comparison,
    Constant,
    Constraint,
    Expression,
    Graph,
    GraphKind,
    Kind,
    Length,
    OneOf,
    Operation,
    Permutation,
    Reference,
    Remainder,
    Variable,
)
from eval.made_tests.reading.call_sentences import Claim
from eval.made_tests.reading.call_shapes import Shapes
from eval.made_tests.reading.call_subjects import Level, Subject
from eval.made_tests.reading.call_terms import places_of
from eval.made_tests.reading.terms import NotUnderstood, difference, linear, operation, references, simplified

_MOST_VALUES = 10_000
_MOST_STEPS = 4
_MOST_PLACES = 100
_MOST_CHARACTERS = 1000


def claimed(claim: Claim, shapes: Shapes, constraints: Sequence[Constraint]) -> Constraint:
    """A claim as a constraint; ``NotUnderstood`` where the bounds do not fit it."""
    if claim.what == "tree":
        return _tree(claim.subject, shapes, constraints)
    (name,) = claim.subject.variables
    if claim.what == "perfect":
        # A binary tree with all its levels full has one node fewer than a power of two.
        extent = shapes.variables[name].dimensions[0]
        if not isinstance(extent, Reference):
            raise NotUnderstood("the number of nodes has no bounds")
        name = extent.name
    low, high = _ends(shapes.variables[name], constraints)
    if not isinstance(low, Constant) or not isinstance(high, Constant):
        raise NotUnderstood("the bounds are no numbers")
    first = max(low.value, 1)
    if claim.what == "power of two":
        values = [1 << exponent for exponent in range(high.value.bit_length()) if first <= 1 << exponent <= high.value]
    elif claim.what == "perfect":
        values = [
            (1 << n) - 1 for n in range(1, high.value.bit_length() + 1) if low.value <= (1 << n) - 1 <= high.value
        ]
    elif high.value > _MOST_VALUES:
        raise NotUnderstood("there are too many primes")
    else:
        values = [number for number in range(first, high.value + 1) if _is_prime(number)]
    if not values:
        raise NotUnderstood("no value is left")
    return OneOf(name, tuple(map(str, values)))


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % divisor for divisor in range(2, int(number**0.5) + 1))


def _tree(subject: Subject, shapes: Shapes, constraints: Sequence[Constraint]) -> Graph:
    """Edges between all vertices that the bounds allow, one fewer than vertices; or parents with a root."""
    kinds = frozenset({GraphKind.TREE})
    if subject.level is not Level.WHOLE or subject.kind is not Kind.INTEGER:
        raise NotUnderstood("a tree of what is no table")
    if subject.name not in shapes.columns:
        return _parents(shapes.variables[subject.name], constraints)
    first, second = (shapes.variables[name] for name in subject.variables[:2])
    low, high = _ends(first, constraints)
    if (low, high) != _ends(second, constraints):
        raise NotUnderstood("the ends of edges have different bounds")
    n_edges = first.dimensions[0]
    if difference(operation("-", high, low), n_edges) != 0:
        raise NotUnderstood("a tree has one edge fewer than vertices")
    return Graph(kinds, low, high, first.name, second.name)


def _parents(variable: Variable, constraints: Sequence[Constraint]) -> Graph:
    """parent[0] == -1, 0 <= parent[i] <= n - 1."""
    at_root = Comparison(Reference(variable.name, (Constant(0),)), "==", Constant(-1))
    low, high = _ends(variable, constraints)
    if len(variable.dimensions) != 1 or at_root not in constraints or low != Constant(0):
        raise NotUnderstood("a tree of parents without a root")
    if difference(operation("-", variable.dimensions[0], Constant(1)), high) != 0:
        raise NotUnderstood("the parents are not all vertices")
    return Graph(frozenset({GraphKind.TREE}), low, high, variable.name, is_parents=True, root=-1)


def _ends(variable: Variable, constraints: Iterable[Constraint]) -> tuple[Expression, Expression]:
    """The only bounds of a variable's elements, both meant in."""
    lows, highs = [], []
    for found in constraints:
        if not isinstance(found, Comparison) or found.operator not in ("<", "<="):
            continue
        shift = Constant(1 if found.operator == "<" else 0)
        if _is_any_element(found.right, variable):
            lows.append(simplified(operation("+", found.left, shift)))
        if _is_any_element(found.left, variable):
            highs.append(simplified(operation("-", found.right, shift)))
    if len(lows) != 1 or len(highs) != 1:
        raise NotUnderstood(f"{variable.name} has no bounds, or several")
    return lows[0], highs[0]


def _is_any_element(expression: Expression, variable: Variable) -> bool:
    return (
        isinstance(expression, Reference)
        and expression.name == variable.name
        and len(expression.indices) == len(variable.dimensions)
        and all(isinstance(index, Reference) for index in expression.indices)
    )


def left_open(shapes: Shapes, constraints: Sequence[Constraint]) -> Iterator[str]:
    """What nothing bounds, in words; the names are in the order of the parameters."""
    for variable in shapes.variables.values():
        if variable.kind is Kind.STRING:
            yield from _open_string(variable, constraints)
        elif not _has_values(variable.name, constraints):
            low, high = (_is_bounded(variable, constraints, is_low=is_low) for is_low in (True, False))
            if not low or not high:
                what = "small" if high else "large"
                yield f"(nothing says how {what} {variable.name} may be)"


def _has_values(name: str, constraints: Iterable[Constraint]) -> bool:
    return any(isinstance(each, OneOf | Permutation) and each.name == name for each in constraints)


def _is_bounded(variable: Variable, constraints: Iterable[Constraint], *, is_low: bool) -> bool:
    for each in constraints:
        if not isinstance(each, Comparison) or each.operator == "!=":
            continue
        sides = _bounded(each, is_low=is_low)
        if any(_is_any_element(side, variable) or _is_factor(variable, side) for side in sides):
            return True
    return False


def _bounded(comparison: Comparison, *, is_low: bool) -> tuple[Expression, ...]:
    """The sides that a comparison bounds from below, or from above."""
    if comparison.operator == "==":
        return comparison.left, comparison.right
    return (comparison.right,) if is_low else (comparison.left,)


def _is_factor(variable: Variable, side: Expression) -> bool:
    """Whether a bound of 2 * k, or of a product of lengths, bounds this variable: lengths are not negative."""
    if not isinstance(side, Operation) or side.operator != "*":
        return False
    factors = (side.left, side.right)
    if variable.dimensions or not all(isinstance(factor, Reference) for factor in factors):
        terms, _ = linear(side)
        return len(terms) == 1 and all(_is_any_element(term, variable) and count > 0 for term, count in terms.items())
    return Reference(variable.name) in factors


def _open_string(variable: Variable, constraints: Sequence[Constraint]) -> Iterator[str]:
    if any(isinstance(each, OneOf) and each.name == variable.name for each in constraints):
        return
    lows = [each for each in constraints if _bounds_length(each, variable, is_low=True)]
    highs = [each for each in constraints if _bounds_length(each, variable, is_low=False)]
    if not lows or not highs:
        yield f"(nothing says how {'short' if highs else 'long'} {variable.name} may be)"
    elif not any(isinstance(each, Characters) and each.name == variable.name for each in constraints):
        yield f"(nothing says which characters {variable.name} has)"


def _bounds_length(found: Constraint, variable: Variable, *, is_low: bool) -> bool:
    if not isinstance(found, Comparison) or found.operator == "!=":
        return False
    return any(
        isinstance(side, Length) and _is_any_element(side.of, variable) for side in _bounded(found, is_low=is_low)
    )


def characters_by_places(shapes: Shapes, constraints: Sequence[Constraint]) -> Iterator[Characters]:
    """The characters of strings of a fixed length that are bounded place by place: 'a' <= s[0] <= 'h'."""
    named = {each.name for each in constraints if isinstance(each, Characters)}
    for variable in shapes.variables.values():
        if variable.kind is not Kind.STRING or variable.name in named:
            continue
        length = _fixed_length(variable, constraints)
        ranges = [_range_at(variable, place, constraints) for place in range(length)]
        if length and all(ranges):
            yield Characters(variable.name, "".join(sorted({chr(code) for each in ranges for code in each})))


def _fixed_length(variable: Variable, constraints: Iterable[Constraint]) -> int:
    """The only length of a variable's strings; 0 where it is not fixed, or too long to have its places named."""
    for each in constraints:
        if not isinstance(each, Comparison) or each.operator != "==" or not isinstance(each.right, Constant):
            continue
        if isinstance(each.left, Length) and _is_any_element(each.left.of, variable):
            return each.right.value if 0 < each.right.value <= _MOST_PLACES else 0
    return 0


def _range_at(variable: Variable, place: int, constraints: Iterable[Constraint]) -> range:
    """The code points that may stand at a place; none where nothing bounds them."""
    low, high = None, None
    for each in constraints:
        if not isinstance(each, Comparison) or each.operator != "<=":
            continue
        if isinstance(each.left, Constant) and _is_at(each.right, variable, place):
            low = each.left.value
        if isinstance(each.right, Constant) and _is_at(each.left, variable, place):
            high = each.right.value
    if low is None or high is None or high - low > _MOST_CHARACTERS:
        return range(0)
    return range(low, high + 1)


def _is_at(expression: Expression, variable: Variable, place: int) -> bool:
    return (
        isinstance(expression, Reference)
        and expression.name == variable.name
        and expression.indices[len(variable.dimensions) :] == (Constant(place),)
    )


def are_there(found: Constraint, shapes: Shapes, constraints: Sequence[Constraint]) -> bool:
    """Whether the places that a constraint names by numbers, as in s[0], are in each input."""
    if not isinstance(found, Comparison):
        return True
    return all(
        not isinstance(index, Constant) or index.value < (_least(extent, constraints) or 0)
        for side in (found.left, found.right)
        for reference in references(side)
        for index, extent in places_of(reference, shapes.variables)
    )


def _least(expression: Expression, constraints: Sequence[Constraint], depth: int = _MOST_STEPS) -> int | None:
    """A number that an expression is never less than, from its bounds and theirs; None if none is found."""
    if isinstance(expression, Constant):
        return expression.value
    bounds: list[tuple[Expression, int]] = []
    for each in constraints if depth else ():
        if isinstance(each, Comparison) and each.operator in ("<", "<=", "=="):
            of = _same_indices(each.right, expression)
            if of == expression:
                bounds.append((each.left, 1 if each.operator == "<" else 0))
            elif each.operator == "==" and _same_indices(each.left, expression) == expression:
                bounds.append((each.right, 0))
    known = ((_least(bound, constraints, depth - 1), shift) for bound, shift in bounds)
    return max((least + shift for least, shift in known if least is not None), default=None)


def _same_indices(side: Expression, like: Expression) -> Expression:
    """The length of any string of an array, with the indices of another one."""
    if not isinstance(side, Length) or not isinstance(like, Length) or side.of.name != like.of.name:
        return side
    return like if all(isinstance(index, Reference) for index in side.of.indices) else side


def contradict(constraints: Iterable[Constraint]) -> bool:
    """Whether two bounds of one sentence leave nothing between them."""
    lows: dict[Expression, int] = {}
    highs: dict[Expression, int] = {}
    for each in constraints:
        if isinstance(each, Comparison) and each.operator in ("<", "<="):
            shift = 1 if each.operator == "<" else 0
            if isinstance(each.left, Constant):
                lows[each.right] = max(each.left.value + shift, lows.get(each.right, each.left.value))
            if isinstance(each.right, Constant):
                highs[each.left] = min(each.right.value - shift, highs.get(each.left, each.right.value))
    return any(low > highs[of] for of, low in lows.items() if of in highs)


def even_terms(constraints: Iterable[Constraint]) -> frozenset[Expression]:
    """What is said to be even."""
    return frozenset(
        each.expression
        for each in constraints
        if isinstance(each, Remainder) and (each.modulus, each.remainder, each.indices) == (2, 0, ())
    )


def single_letters(constraints: Iterable[Constraint]) -> frozenset[str]:
    """The variables whose strings have one character."""
    return frozenset(
        each.left.of.name
        for each in constraints
        if isinstance(each, Comparison) and (each.operator, each.right) == ("==", Constant(1))
        if isinstance(each.left, Length)
    )


def free_names(expressions: Iterable[Expression]) -> Iterator[str]:
    """The names without indices that stand in expressions, indices apart."""
    for expression in expressions:
        for found in references(expression):
            if not found.indices:
                yield found.name
