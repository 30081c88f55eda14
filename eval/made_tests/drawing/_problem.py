"""A grammar made ready to be drawn from: its relations, its sums, and the order of its variables. Pure.

Extents come first, as everything stands in them; strings come last, when their lengths are known. What holds of several
variables together (edges, different pairs) makes a group that is drawn together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeGuard

from eval.made_tests.drawing._caps import size_caps
from eval.made_tests.drawing._domains import Domains
from eval.made_tests.drawing._errors import CannotDraw
from eval.made_tests.drawing._implied import Implications
from eval.made_tests.drawing._inverting import UNBOUNDED
from eval.made_tests.drawing._relations import Scope
from eval.made_tests.drawing._rewriting import linear, plus, times, with_lengths
from eval.made_tests.grammar import (
    AtLeastOne,
    Characters,
    Comparison,
    Constant,
    Constraint,
    Distinct,
    Expression,
    Grammar,
    Graph,
    Kind,
    Occurrences,
    OneOf,
    Operation,
    Permutation,
    Reference,
    Remainder,
    SearchTree,
    Sorted,
    SumAtMost,
    Variable,
)
from eval.made_tests.mentions import mentioned, names_in, number_of_cases, references_in, variables_of
from eval.made_tests.shape import INDEX_NAMES
from eval.made_tests.wording import KIND_NOUNS


@dataclass(frozen=True)
class Problem:
    """What there is to draw. ``steps`` are groups of variables in the order in which they are drawn.

    ``extents`` are the variables that sizes depend on, ``caps`` the sums that keep an input from growing too large, and
    ``texts`` the comparisons of characters and strings.
    """

    grammar: Grammar
    variables: Mapping[str, Variable]
    lengths: Mapping[str, str]
    helpers: frozenset[str]
    extents: frozenset[str]
    steps: tuple[tuple[str, ...], ...]
    sums: tuple[SumAtMost, ...]
    caps: tuple[SumAtMost, ...]
    texts: tuple[Comparison, ...]
    count: str | None
    domains: Domains
    pairs: Mapping[tuple[str, str], str | None]
    chains: Mapping[tuple[str, str], tuple[int, int]]
    of: Mapping[str, tuple[Constraint, ...]] = field(default_factory=dict)

    def constraints(self, name: str, kind: type[Constraint]) -> list[Constraint]:
        """The constraints of one kind that name this variable."""
        return [constraint for constraint in self.of.get(name, ()) if type(constraint) is kind]


@lru_cache(maxsize=64)
def problem_of(grammar: Grammar) -> Problem:
    """The grammar made ready; CannotDraw where its constraints contradict each other or leave something open."""
    rewritten = with_lengths(grammar)
    full = rewritten.grammar
    variables = {variable.name: variable for variable in full.variables}
    given = [each for each in full.constraints if isinstance(each, Comparison)]
    texts = [each for each in given if _is_of_texts(each, variables)]
    implications = Implications(full, dict(rewritten.lengths))
    reference = number_of_cases(grammar)
    count = None if reference is None else reference.name
    domains = Domains(variables, full.per_case, count)
    for comparison in given:
        if comparison not in texts:
            domains.compare(comparison)
    for comparison, origin in implications.comparisons():
        domains.compare(comparison, origin)
    domains.propagate()
    _compare_different_strings(full, rewritten.lengths, domains)
    sums = [each for each in full.constraints if isinstance(each, SumAtMost)]
    _compare_counts(sums, full, domains, count)
    domains.propagate()
    _refuse_unbounded(full, domains)
    caps = size_caps(full, rewritten.lengths, domains, count)
    _compare_counts(caps, full, domains, count)
    domains.propagate()
    extents = _extents(full, rewritten.lengths, count)
    return Problem(
        full,
        variables,
        rewritten.lengths,
        rewritten.helpers,
        extents,
        _steps(full, extents, rewritten.lengths, count),
        tuple(sums),
        caps,
        tuple(texts),
        count,
        domains,
        _pair_relations(full, implications),
        chains(full),
        _by_variable(full),
    )


def _is_of_texts(comparison: Comparison, variables: Mapping[str, Variable]) -> bool:
    bound = {index.name for index in comparison.indices}
    return any(
        variables[reference.name].kind is not Kind.INTEGER
        for side in (comparison.left, comparison.right)
        for reference in references_in(side)
        if reference.name in variables and (reference.indices or reference.name not in bound)
    )


def _compare_different_strings(grammar: Grammar, lengths: Mapping[str, str], domains: Domains) -> None:
    """There are no more different strings than letters and lengths allow: those of the greatest length."""
    variables = {variable.name: variable for variable in grammar.variables}
    alphabets = {each.name: len(each.characters) for each in grammar.constraints if isinstance(each, Characters)}
    words = {each.name: len(each.values) for each in grammar.constraints if isinstance(each, OneOf)}
    for each in grammar.constraints:
        if not isinstance(each, Distinct) or len(each.names) > 1 or each.names[0] not in lengths:
            continue
        name = each.names[0]
        longest = int(domains.high[lengths[name]].max(initial=0))
        most = words[name] if name in words else alphabets.get(name, UNBOUNDED) ** min(longest, 64)
        if most < UNBOUNDED and not names_in(variables[name].dimensions) & set(INDEX_NAMES):
            domains.compare(Comparison(times(*variables[name].dimensions), "<=", Constant(most)), each)


def _compare_counts(sums: Iterable[SumAtMost], grammar: Grammar, domains: Domains, count: str | None) -> None:
    """The number of terms of a sum, each at its least, is bounded too: T test cases of N >= 2 with a sum of 2*10^5."""
    for each in sums:
        names = names_in([each.expression])
        is_over_cases = bool(names & grammar.per_case) and not names_in([each.limit]) & grammar.per_case
        stated = int(domains.stated_least(each.expression, Scope(None)).min())
        least = max(domains.least(each.expression, each.indices), stated)
        if least >= 0:
            domains.compare(Comparison(each.expression, "<=", each.limit, each.indices))
        loop_names = {index.name for index in each.indices}
        bounds = [bound for index in each.indices for bound in (index.low, index.high)]
        if least < 1 or names_in(bounds) & loop_names:
            continue
        factors = [plus(_difference(index.high, index.low), 1) for index in each.indices]
        if is_over_cases and count is not None:
            if names_in(factors) & grammar.per_case:
                continue
            factors.append(Reference(count))
        if factors:
            domains.compare(Comparison(times(*factors, Constant(least)), "<=", each.limit))


def _difference(high: Expression, low: Expression) -> Expression:
    return plus(high, -low.value) if isinstance(low, Constant) else Operation("-", high, low)


def _extents(grammar: Grammar, lengths: Mapping[str, str], count: str | None) -> frozenset[str]:
    """The variables on which the extents of others depend."""
    named = names_in(extent for variable in grammar.variables for extent in variable.dimensions)
    names = {variable.name for variable in grammar.variables if variable.kind is Kind.INTEGER}
    vertices = [(each.low, each.high) for each in grammar.constraints if isinstance(each, Graph | Permutation)]
    named |= names_in(bound for bounds in vertices for bound in bounds)
    named |= _ranges(grammar)
    extents = names & (named | set(lengths.values()) | ({count} if count else set()))
    equal = [names_in((each.left, each.right)) for each in grammar.constraints if _is_equation(each)]
    for _ in equal:
        extents = extents | {name for group in equal if group & extents for name in group & names}
    return frozenset(extents)


def _ranges(grammar: Grammar) -> frozenset[str]:
    """The variables that bound rows of different values: sizes depend on them, if no extents do."""
    distinct = {name for each in grammar.constraints if isinstance(each, Distinct) for name in each.names}
    rows = {variable.name for variable in grammar.variables if variable.dimensions}
    found: set[str] = set()
    for each in grammar.constraints:
        if isinstance(each, Comparison) and each.operator in ("<", "<="):
            names = names_in((each.left, each.right))
            if names & distinct & rows:
                found |= names - rows
    return frozenset(found)


def _is_equation(constraint: Constraint) -> TypeGuard[Comparison]:
    return isinstance(constraint, Comparison) and constraint.operator == "=="


def _refuse_unbounded(grammar: Grammar, domains: Domains) -> None:
    one_of = {each.name for each in grammar.constraints if isinstance(each, OneOf)}
    alphabets = {each.name for each in grammar.constraints if isinstance(each, Characters)}
    lengths_of = {f"|{name}|" for name in one_of}
    for variable in grammar.variables:
        name = variable.name
        if variable.kind is Kind.INTEGER and name not in one_of | lengths_of:
            domains.refuse_unbounded(name)
        if variable.kind is Kind.STRING and name not in one_of | alphabets:
            raise CannotDraw(f"nothing says which characters {name} is made of")
        if variable.kind is Kind.DECIMAL and name not in one_of:
            raise CannotDraw(f"nothing says how many digits {name}, {KIND_NOUNS[variable.kind]}, has")


def _steps(
    grammar: Grammar, extents: frozenset[str], lengths: Mapping[str, str], count: str | None
) -> tuple[tuple[str, ...], ...]:
    groups = _groups(grammar)
    length_of = {length: name for name, length in lengths.items()}
    chosen = {each.name for each in grammar.constraints if isinstance(each, OneOf)} & set(lengths)
    places = {variable.name: place for place, variable in enumerate(grammar.variables)}
    dimensions = {variable.name: variable.dimensions for variable in grammar.variables}

    def urgency(name: str) -> tuple[int, int, bool, int]:
        is_extent = name in extents or (name in chosen and lengths[name] in extents)
        rank = 0 if name == count else 1 if is_extent else 3 if name in lengths else 2
        return rank, len(dimensions[name]) if is_extent else 0, name in length_of, places[name]

    waiting = sorted((name for name in places if length_of.get(name) not in chosen), key=urgency)
    done: set[str] = set()
    steps: list[tuple[str, ...]] = []
    while waiting:
        name = next(
            (name for name in waiting if _needs(name, grammar, dimensions, lengths, chosen, count) <= done), None
        )
        if name is None:
            raise CannotDraw(f"the extents of {waiting[0]} depend on each other")
        group = groups.get(name, (name,))
        steps.append(group)
        done |= set(group) | {lengths[each] for each in group if each in chosen}
        waiting = [each for each in waiting if each not in group]
    return tuple(steps)


def _needs(
    name: str,
    grammar: Grammar,
    dimensions: Mapping[str, tuple[Expression, ...]],
    lengths: Mapping[str, str],
    chosen: set[str],
    count: str | None,
) -> set[str]:
    """What has to be known before a variable is drawn."""
    needed = {each for each in names_in(dimensions[name]) if each in dimensions}
    if name in grammar.per_case and count is not None:
        needed.add(count)
    if name in lengths and name not in chosen:
        needed.add(lengths[name])
    return needed


def _groups(grammar: Grammar) -> dict[str, tuple[str, ...]]:
    """The variables that are drawn together, by each of their names; those of a graph before those of pairs."""
    dimensions = {variable.name: variable.dimensions for variable in grammar.variables}
    groups: dict[str, tuple[str, ...]] = {}
    constraints = sorted(grammar.constraints, key=lambda each: not isinstance(each, Graph))
    for constraint in constraints:
        if not isinstance(constraint, Graph | Distinct):
            continue
        names = variables_of(constraint)
        if len(names) > 1 and dimensions[names[0]] and not set(names) & groups.keys():
            groups.update(dict.fromkeys(names, names))
    for first, second in chains(grammar):
        if not {first, second} & groups.keys():
            groups.update(dict.fromkeys((first, second), (first, second)))
    return groups


def _pair_relations(grammar: Grammar, implications: Implications) -> dict[tuple[str, str], str | None]:
    groups = {group for group in _groups(grammar).values() if len(group) == 2}
    return {(one, other): implications.relation_of_pair(one, other) for one, other in sorted(groups)}


def _by_variable(grammar: Grammar) -> dict[str, tuple[Constraint, ...]]:
    found: dict[str, list[Constraint]] = {}
    wholes = (Characters, OneOf, Distinct, Permutation, Sorted, Occurrences, Graph, SearchTree)
    for constraint in (*grammar.constraints, *_orders(grammar)):
        if isinstance(constraint, wholes):
            names = frozenset(variables_of(constraint))
        elif isinstance(constraint, Remainder | Comparison | AtLeastOne):
            names = mentioned(constraint)
        else:
            continue
        for name in names:
            found.setdefault(name, []).append(constraint)
    return {name: tuple(constraints) for name, constraints in found.items()}


def _orders(grammar: Grammar) -> Iterable[Sorted]:
    """A_i < A_{i+1} for all i is a row that is sorted."""
    names = {variable.name for variable in grammar.variables if variable.dimensions}
    for each in grammar.constraints:
        if not isinstance(each, Comparison) or each.operator not in ("<", "<="):
            continue
        step = neighbour_step(each)
        if step is not None and step[0] in names:
            yield Sorted(step[0], descending=step[1] < 0, strict=each.operator == "<")


def neighbour_step(comparison: Comparison) -> tuple[str, int] | None:
    """The row whose neighbours are compared, and whether the right one comes after (1) or before (-1) the left one."""
    left, right = comparison.left, comparison.right
    if not (isinstance(left, Reference) and isinstance(right, Reference)) or left.name != right.name:
        return None
    if not left.indices or left.indices[:-1] != right.indices[:-1]:
        return None
    step = linear(Operation("-", right.indices[-1], left.indices[-1]))
    return (left.name, step.constant) if not step.multiples and abs(step.constant) == 1 else None


def chains(grammar: Grammar) -> dict[tuple[str, str], tuple[int, int]]:
    """Rows L and R with L_i <= R_i and R_i < L_{i+1}: by their names, what lies at least between these."""
    inner: dict[tuple[str, str], int] = {}
    outer: dict[tuple[str, str], int] = {}
    for each in grammar.constraints:
        if not isinstance(each, Comparison) or each.operator not in ("<", "<="):
            continue
        left, right = each.left, each.right
        if not (isinstance(left, Reference) and isinstance(right, Reference)) or left.name == right.name:
            continue
        if len(left.indices) != 1 or len(right.indices) != 1:
            continue
        step = linear(Operation("-", right.indices[0], left.indices[0]))
        if not step.multiples and step.constant in (0, 1):
            (inner if step.constant == 0 else outer)[left.name, right.name] = int(each.operator == "<")
    return {(one, other): (gap, outer[other, one]) for (one, other), gap in inner.items() if (other, one) in outer}
