"""What a sum allows beyond the least of its terms, shared out among them. Pure but for the generator."""

from __future__ import annotations

import numpy as np

from eval.made_tests import exact
from eval.made_tests.drawing._domains import Domains
from eval.made_tests.drawing._errors import CannotDraw
from eval.made_tests.drawing._relations import Relation, Scope
from eval.made_tests.drawing._style import Share
from eval.made_tests.exact import Numbers
from eval.made_tests.flat import no_indices
from eval.made_tests.grammar import SumAtMost
from eval.made_tests.mentions import names_in
from eval.made_tests.wording import constraint_text

MAX_ROUNDS = 40


def share_out(rng: np.random.Generator, domains: Domains, constraint: SumAtMost, share: Share) -> bool:
    """Give each term of a sum the most that it may be, and narrow by that; CannotDraw.

    False while the number of terms is open.
    """
    per_case = domains.per_case
    bounds = [bound for index in constraint.indices for bound in (index.low, index.high)]
    is_per_case = bool(names_in([constraint.expression, constraint.limit, *bounds]) & per_case)
    is_limit_per_case = bool(names_in([constraint.limit]) & per_case)
    scope = domains.scope(constraint.indices, is_per_case)
    if scope.tuples is None:
        return False
    shape = (scope.tuples.size,)
    low, high = (np.broadcast_to(each, shape) for each in domains.interval(constraint.expression, scope))
    low = exact.at_most(high, exact.at_least(low, domains.stated_least(constraint.expression, scope)))
    n_cases = domains.n_cases if is_limit_per_case else None
    limits, _ = domains.interval(constraint.limit, Scope(no_indices(n_cases)))
    groups = np.zeros(shape, dtype=np.int64)
    if is_limit_per_case and scope.tuples.case is not None:
        groups = scope.tuples.case
        limits = np.broadcast_to(limits, (n_cases or 0,))
    most = low.astype(object) if exact.is_large(low, high) else low.copy()
    is_shared = False
    for group, limit in enumerate(limits.tolist()):
        members = groups == group if len(limits) > 1 else slice(None)
        extra = _extra(rng, low[members], high[members], limit, share, constraint)
        is_shared = is_shared or extra is not None
        most[members] = high[members] if extra is None else exact.add(low[members], extra)
    if is_shared:
        text = constraint_text(constraint)
        domains.narrow_by(Relation(constraint.expression, "<=", None, constraint.indices, is_per_case, text, most))
    return True


def _extra(
    rng: np.random.Generator, low: Numbers, high: Numbers, limit: int, share: Share, constraint: SumAtMost
) -> Numbers | None:
    """What each term gets beyond its least; None where all may have their most."""
    if exact.total(high) <= limit:
        return None
    slack = limit - exact.total(low)
    if slack < 0:
        raise CannotDraw(f"{constraint_text(constraint)} cannot be kept: it is at least {exact.total(low)}")
    return parts(rng, slack, exact.subtract(high, low), share)


def parts(rng: np.random.Generator, amount: int, capacities: Numbers, share: Share) -> Numbers:
    """An amount in parts that are at most the capacities, whose sum is greater."""
    if share is Share.FIRST:
        return _in_turn(amount, capacities)
    if exact.is_large(capacities) or amount > exact.INT64_MAX:
        capacities = capacities.astype(object)
    result = np.zeros_like(capacities)
    left = amount
    for _ in range(MAX_ROUNDS):
        room = exact.subtract(capacities, result)
        open_ones = np.flatnonzero(room > 0)
        if left <= 0 or not len(open_ones):
            break
        offers = _even(left, len(open_ones)) if share is Share.EVEN else _random(rng, left, len(open_ones))
        given = exact.at_most(offers, room[open_ones])
        result[open_ones] = exact.add(result[open_ones], given)
        left -= exact.total(given)
    return result


def _in_turn(amount: int, capacities: Numbers) -> Numbers:
    """The first ones get all they can take."""
    if exact.greatest_magnitude(capacities) * max(len(capacities), 1) > exact.INT64_MAX:
        capacities = capacities.astype(object)
    before = np.cumsum(capacities) - capacities
    left = exact.at_least(exact.subtract(exact.constant(amount), before), exact.constant(0))
    return exact.at_most(capacities, left)


def _even(amount: int, count: int) -> Numbers:
    each, more = divmod(amount, count)
    return exact.add(np.broadcast_to(exact.constant(each), (count,)), (np.arange(count) < more).astype(np.int64))


def _random(rng: np.random.Generator, amount: int, count: int) -> Numbers:
    """Parts of very different sizes; their sum is the amount, or a little less."""
    weights = rng.exponential(size=count) ** float(rng.choice([1.0, 2.0, 3.0]))
    fractions = weights / weights.sum()
    if amount < 2**52:
        offers: Numbers = np.floor(fractions * amount).astype(np.int64)
    else:
        offers = exact.numbers([int(part * 2**52) * amount // 2**53 for part in fractions.tolist()])
    rest = amount - exact.total(offers)
    if rest > 0:
        offers = exact.add(offers, (np.arange(count) < rest).astype(np.int64))
    return offers
