"""Terms of integers: folded and put in one form, names replaced, and what a run from its first to its last one means.
Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from eval.made_tests.grammar import Constant, Expression, Extreme, Index, Length, Operation, Reference, Sum

# Bounds of statements have some hundred bits at most.
_MAX_BITS = 4096


class NotUnderstood(Exception):
    """A text that is not understood completely; the message says what of it."""


def operation(operator: str, left: Expression, right: Expression) -> Expression:
    """The operation, carried out where both sides are constants; ``NotUnderstood`` for numbers beyond reason."""
    if isinstance(left, Constant) and isinstance(right, Constant):
        return Constant(_number(operator, left.value, right.value))
    if operator == "*" and Constant(1) in (left, right):
        return right if left == Constant(1) else left
    return Operation(operator, left, right)


def _number(operator: str, left: int, right: int) -> int:
    if operator == "+":
        return left + right
    if operator == "-":
        return left - right
    if operator == "*":
        if left.bit_length() + right.bit_length() > _MAX_BITS:
            raise NotUnderstood("a number is too large")
        return left * right
    if operator == "/":
        if right == 0:
            raise NotUnderstood("a division by zero")
        return left // right
    if right < 0 or (right > 1 and left.bit_length() * right > _MAX_BITS):
        raise NotUnderstood("a power is too large")
    return int(left**right)


def simplified(expression: Expression) -> Expression:
    """The same value with sums in one form: terms as they come first, constants joined and last. ``N-1+1`` is ``N``."""
    terms, constant = linear(expression)
    result: Expression | None = None
    for term, count in terms.items():
        if count == 0:
            continue
        part = term if abs(count) == 1 else operation("*", Constant(abs(count)), term)
        if result is None:
            result = part if count > 0 else operation("-", Constant(0), part)
        else:
            result = operation("+" if count > 0 else "-", result, part)
    if result is None:
        return Constant(constant)
    if constant == 0:
        return result
    return operation("+" if constant > 0 else "-", result, Constant(abs(constant)))


def linear(expression: Expression) -> tuple[dict[Expression, int], int]:
    """The expression as a sum: how often each term is in it, and the constant."""
    if isinstance(expression, Constant):
        return {}, expression.value
    if isinstance(expression, Operation):
        if expression.operator in ("+", "-"):
            left, right = linear(expression.left), linear(expression.right)
            sign = 1 if expression.operator == "+" else -1
            terms = dict(left[0])
            for term, count in right[0].items():
                terms[term] = terms.get(term, 0) + sign * count
            return terms, left[1] + sign * right[1]
        if expression.operator == "*":
            for factor, other in ((expression.left, expression.right), (expression.right, expression.left)):
                if isinstance(factor, Constant):
                    terms, constant = linear(other)
                    return {term: count * factor.value for term, count in terms.items()}, constant * factor.value
    return {rebuilt(expression, simplified): 1}, 0


def difference(left: Expression, right: Expression) -> int | None:
    """``left - right`` where that is a number whatever the names stand for."""
    rest = simplified(Operation("-", left, right))
    return rest.value if isinstance(rest, Constant) else None


def replaced(expression: Expression, names: Mapping[str, Expression]) -> Expression:
    """The expression with other expressions in place of names that have no indices."""
    if isinstance(expression, Reference) and not expression.indices:
        return names.get(expression.name, expression)
    if isinstance(expression, Sum):
        index = expression.index
        inner = {name: by for name, by in names.items() if name != index.name}
        ends = Index(index.name, replaced(index.low, names), replaced(index.high, names))
        return Sum(replaced(expression.expression, inner), ends)
    return rebuilt(expression, lambda part: replaced(part, names))


def rebuilt(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The expression with each of the parts that it is made of changed."""
    if isinstance(expression, Reference):
        return Reference(expression.name, tuple(change(index) for index in expression.indices))
    if isinstance(expression, Length):
        of = change(expression.of)
        return Length(of) if isinstance(of, Reference) else expression
    if isinstance(expression, Operation):
        return operation(expression.operator, change(expression.left), change(expression.right))
    if isinstance(expression, Extreme):
        return Extreme(expression.which, tuple(change(each) for each in expression.of))
    if isinstance(expression, Sum):
        index = Index(expression.index.name, change(expression.index.low), change(expression.index.high))
        return Sum(change(expression.expression), index)
    return expression


def parts(expression: Expression) -> tuple[Expression, ...]:
    """The expressions that an expression is made of, those of a sum's ends too."""
    if isinstance(expression, Reference):
        return expression.indices
    if isinstance(expression, Length):
        return (expression.of,)
    if isinstance(expression, Operation):
        return (expression.left, expression.right)
    if isinstance(expression, Extreme):
        return expression.of
    if isinstance(expression, Sum):
        return (expression.index.low, expression.index.high, expression.expression)
    return ()


def references(expression: Expression) -> Iterator[Reference]:
    """All references in the expression, those in indices too, in the order of their places."""
    if isinstance(expression, Reference):
        yield expression
    for part in parts(expression):
        yield from references(part)


def has_quotient(expression: Expression) -> bool:
    """Whether there is a division in it, outside of indices."""
    if isinstance(expression, Operation):
        return expression.operator == "/" or has_quotient(expression.left) or has_quotient(expression.right)
    if isinstance(expression, Sum):
        return has_quotient(expression.expression)
    return isinstance(expression, Extreme) and any(has_quotient(each) for each in expression.of)


def spanned(first: Expression, last: Expression, start: Expression, end: Expression, index: str) -> Expression:
    """The term that is ``first`` where the index is ``start`` and ``last`` where it is ``end``.

    Numbers and sums that differ as start and end do depend on the index. ``NotUnderstood`` where the two have another
    shape.
    """
    if first == last:
        return first
    shift = difference(first, start)
    if shift is not None and difference(last, end) == shift:
        return simplified(operation("+", Reference(index), Constant(shift)))
    if isinstance(first, Reference) and isinstance(last, Reference):
        if first.name == last.name and len(first.indices) == len(last.indices):
            pairs = zip(first.indices, last.indices, strict=True)
            return Reference(first.name, tuple(spanned(a, b, start, end, index) for a, b in pairs))
    elif isinstance(first, Length) and isinstance(last, Length):
        of = spanned(first.of, last.of, start, end, index)
        if isinstance(of, Reference):
            return Length(of)
    elif isinstance(first, Operation) and isinstance(last, Operation) and first.operator == last.operator:
        left = spanned(first.left, last.left, start, end, index)
        return operation(first.operator, left, spanned(first.right, last.right, start, end, index))
    raise NotUnderstood("the first and the last of a row have different shapes")


def first_difference(first: Expression, last: Expression) -> tuple[Expression, Expression] | None:
    """The first pair of places, index by index, at which two references differ; None where they are the same."""
    if first == last:
        return None
    if isinstance(first, Length) and isinstance(last, Length):
        return first_difference(first.of, last.of)
    if isinstance(first, Reference) and isinstance(last, Reference) and first.indices and first.name == last.name:
        for one, other in zip(first.indices, last.indices, strict=False):
            if found := first_difference(one, other):
                return found
        return None
    return first, last
