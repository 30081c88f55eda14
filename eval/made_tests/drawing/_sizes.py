"""How large extents, lengths and numbers of test cases get. Pure but for the generator."""

from __future__ import annotations

from eval.made_tests import exact
from eval.made_tests.drawing._policies import uniform
from eval.made_tests.drawing._state import State
from eval.made_tests.drawing._style import Size
from eval.made_tests.exact import Numbers
from eval.made_tests.grammar import Comparison, Expression, Graph
from eval.made_tests.mentions import names_in

SMALL = 6
MID = 60
SMALL_CASES = 4
MID_CASES = 20


def sizes_of(state: State, name: str) -> Numbers:
    """A value for each element of a variable that extents depend on."""
    low, high = state.domains.low[name], state.domains.high[name]
    style, rng, rows = state.style, state.rng, state.groups(name, within_row=True)
    size = style.cases if name == state.problem.count else style.sizes
    if style.edges is not None and _counts_edges(state, name):
        size = style.edges
    if style.is_balanced and low.size == 1 and name != state.problem.count:
        high = exact.at_least(low, exact.at_most(high, exact.constant(_balanced(state, name))))
    small, mid = (SMALL_CASES, MID_CASES) if name == state.problem.count else (SMALL, MID)
    match size:
        case Size.LEAST:
            return low
        case Size.GREATEST:
            return high
        case Size.SMALL:
            return uniform(rng, low, exact.at_most(high, exact.at_least(low, exact.constant(small))), rows)
        case Size.MID:
            return uniform(rng, low, exact.at_most(high, exact.at_least(low, exact.constant(mid))), rows)
        case Size.LARGE:
            least = exact.add(low, exact.floor_divide(exact.subtract(high, low), exact.constant(2)))
            return uniform(rng, least, high, rows)


def _counts_edges(state: State, name: str) -> bool:
    graphs = [each for each in state.problem.grammar.constraints if isinstance(each, Graph)]
    return any(
        names_in(state.problem.variables[each.first].dimensions) == {name}
        and name not in names_in((each.low, each.high))
        for each in graphs
    )


def _balanced(state: State, name: str) -> int:
    """The greatest size that a variable and the open ones that share a limit with it can have all at once."""
    domains, problem = state.domains, state.problem
    open_ones = {
        each for each in problem.extents if each not in problem.grammar.per_case and not domains.is_settled(each)
    }
    limits: list[tuple[Expression, Expression]] = [
        (each.left, each.right)
        for each in problem.grammar.constraints
        if isinstance(each, Comparison) and each.operator in ("<", "<=")
    ]
    limits += [(each.expression, each.limit) for each in (*problem.sums, *problem.caps) if not each.indices]
    shared = [each for each in limits if len(names_in([each[0]]) & open_ones) > 1 and name in names_in([each[0]])]
    together = [names_in([each[0]]) & open_ones for each in shared]

    def fits(size: int) -> bool:
        for (left, right), names in zip(shared, together, strict=True):
            trial = domains.copy()
            for other in names:
                trial.low[other] = exact.at_least(
                    domains.low[other], exact.at_most(domains.high[other], exact.constant(size))
                )
            if trial.least(left) > trial.most(right):
                return False
        return True

    low, high = int(domains.low[name][0]), int(domains.high[name][0])
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
