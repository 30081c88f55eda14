"""What keeps an input from growing too large, where the constraints would let it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from eval.made_tests.drawing._domains import Domains
from eval.made_tests.drawing._implied import length_of_all, loops
from eval.made_tests.drawing._rewriting import linear, plus, times
from eval.made_tests.exact import greatest_magnitude
from eval.made_tests.grammar import (
    Constant,
    Expression,
    Grammar,
    Index,
    Operation,
    SumAtMost,
    Variable,
)
from eval.made_tests.mentions import names_in
from eval.made_tests.shape import INDEX_NAMES
from eval.made_tests.wording import expression_text

MAX_BYTES = 8 * 2**20
"""The text of a drawn input is not longer than about this."""
MAX_VALUES = 1_000_000
"""A drawn input has no more numbers and strings than this."""


def size_caps(
    grammar: Grammar, lengths: Mapping[str, str], domains: Domains, count: str | None
) -> tuple[SumAtMost, ...]:
    """Sums that keep an input below MAX_BYTES and MAX_VALUES; none where its constraints already do."""
    weighing = _Weighing(grammar, lengths, domains)
    most_cases = 1 if count is None else int(domains.high[count][0])
    stated = [each for each in grammar.constraints if isinstance(each, SumAtMost)]
    return tuple(cap for cap in weighing.caps() if _may_pass(cap, stated, grammar, domains, most_cases))


@dataclass(frozen=True)
class _Weighing:
    grammar: Grammar
    lengths: Mapping[str, str]
    domains: Domains

    def caps(self) -> Iterator[SumAtMost]:
        variables = {variable.name: variable for variable in self.grammar.variables}
        bytes_of: dict[bool, list[Expression]] = {}
        values_of: dict[bool, list[Expression]] = {}
        for variable in self.grammar.variables:
            is_text = variable.name in self.lengths
            if variable.name in self.lengths.values() or not (variable.dimensions or is_text):
                continue
            extents = list(variable.dimensions)
            if is_text:
                extents.append(length_of_all(variables[self.lengths[variable.name]], self.grammar))
            width = Constant(1 if is_text else self._width(variable))
            open_extents = [bool(names_in([extent]) & set(INDEX_NAMES)) for extent in extents]
            if any(open_extents):
                place = open_extents.index(True)
                limit = min(MAX_BYTES // width.value, MAX_BYTES if is_text else MAX_VALUES) // 2
                yield SumAtMost(times(*extents[place:]), Constant(limit), loops(variable)[:place])
                continue
            is_per_case = variable.name in self.grammar.per_case
            bytes_of.setdefault(is_per_case, []).append(times(width, *extents))
            values_of.setdefault(is_per_case, []).append(times(*variable.dimensions))
        for limit, products in ((MAX_BYTES, bytes_of), (MAX_VALUES, values_of)):
            for parts in products.values():
                yield SumAtMost(_sum(parts), Constant(limit // len(products)))

    def _width(self, variable: Variable) -> int:
        """The most characters that one number of a variable takes, with what separates it."""
        if variable.name not in self.domains.low:
            return 20
        bounds = (self.domains.low[variable.name], self.domains.high[variable.name])
        has_sign = bool((bounds[0] < 0).any())
        return max(len(str(greatest_magnitude(bound))) for bound in bounds) + has_sign + 1


def _sum(parts: Iterable[Expression]) -> Expression:
    """The sum, with equal parts taken together."""
    factors: dict[Expression, int] = {}
    constant = 0
    for part in parts:
        form = linear(part)
        constant += form.constant
        for each, factor in form.multiples:
            factors[each] = factors.get(each, 0) + factor
    result: Expression | None = None
    for each in sorted(factors, key=expression_text):
        term = times(Constant(factors[each]), each)
        result = term if result is None else Operation("+", result, term)
    return Constant(constant) if result is None else plus(result, constant)


def _may_pass(cap: SumAtMost, stated: Iterable[SumAtMost], grammar: Grammar, domains: Domains, most_cases: int) -> bool:
    """Whether the constraints allow more than a cap does."""
    limits: dict[tuple[Expression, tuple[Index, ...]], int] = {}
    for each in stated:
        if isinstance(each.limit, Constant):
            limits[each.expression, each.indices] = each.limit.value
    counts = 1
    for index in cap.indices:
        high, low = domains.most(index.high), domains.least(index.low)
        counts *= max(high - low + 1, 0)
    form = linear(cap.expression)
    cases = most_cases if names_in([cap.expression]) & grammar.per_case else 1
    most = form.constant * counts * cases
    for part, factor in form.multiples:
        bound = counts * cases * domains.most(part, cap.indices)
        if factor > 0:
            bound = min(bound, limits.get((part, cap.indices), bound))
        most += factor * bound
    return not isinstance(cap.limit, Constant) or most > cap.limit.value
