"""Whether the calls of an input keep what the statement of a design class says. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from eval.made_tests.design_grammar import (
    Call,
    Calls,
    DesignGrammar,
    DifferentCalls,
    NeedsElement,
    RisingCalls,
    closed,
    together,
    values_together,
)
from eval.made_tests.design_text import grammar_of
from eval.made_tests.grammar import InputRefused
from eval.made_tests.values import check

_CASE = re.compile(r"\bin test case (\d+)")


def check_calls(grammar: DesignGrammar, calls: Calls) -> None:
    """Refuse calls that break a constraint: InputRefused names it."""
    try:
        check(grammar.constructor, calls.constructor)
    except InputRefused as error:
        raise InputRefused(f"{grammar.name}: {error}") from None
    for method in dict.fromkeys(call.method for call in calls.calls):
        _check_method(grammar, calls, method)
    _check_limits(grammar, calls.calls)
    for rising in grammar.rising:
        _check_rising(rising, calls.calls)
    for needs in grammar.needs:
        _check_needs(needs, calls.calls)
    for different in grammar.different:
        _check_different(different, calls.calls)


def _check_method(grammar: DesignGrammar, calls: Calls, method: str) -> None:
    """All calls of a method at once, which is much quicker than one by one."""
    own = grammar_of(grammar, method)
    values = values_together(own, [call.values for call in calls.calls if call.method == method])
    try:
        check(together(closed(own, grammar.constructor, calls.constructor)), values)
    except InputRefused as error:
        message = _CASE.sub(lambda found: f"in call {found[1]} of it", str(error))
        raise InputRefused(f"{method}: {message}") from None


def _check_limits(grammar: DesignGrammar, calls: Sequence[Call]) -> None:
    counts = Counter(call.method for call in calls)
    for limit in grammar.limits:
        found = sum(counts[method] for method in limit.methods)
        if found > limit.most:
            raise InputRefused(
                f"there are {found} calls of {', '.join(limit.methods)}, and at most {limit.most} allowed"
            )
    for group in grammar.required:
        if not any(counts[method] for method in group):
            raise InputRefused(f"there is no call of {' or '.join(group)}")


def _check_rising(rising: RisingCalls, calls: Sequence[Call]) -> None:
    last: int | None = None
    for place, call in enumerate(calls, start=1):
        value = call.values.get(rising.parameter) if call.method in rising.methods else None
        if not isinstance(value, int):
            continue
        if last is not None and (value < last or (rising.is_strict and value == last)):
            raise InputRefused(f"{rising.parameter} of {call.method} is {value} in call {place}, after {last}")
        last = value


def _check_needs(needs: NeedsElement, calls: Sequence[Call]) -> None:
    n_elements = 0
    for place, call in enumerate(calls, start=1):
        if call.method in needs.methods and n_elements <= 0:
            raise InputRefused(f"{call.method} is called while there may be no element, in call {place}")
        n_elements += (call.method in needs.adders) - (call.method in needs.removers)


def _check_different(different: DifferentCalls, calls: Sequence[Call]) -> None:
    seen: set[str] = set()
    for place, call in enumerate(calls, start=1):
        if call.method not in different.methods:
            continue
        value = repr(call.values[different.parameter])
        if value in seen:
            raise InputRefused(f"{different.parameter} of {call.method} is {value} in call {place}, and before")
        seen.add(value)
