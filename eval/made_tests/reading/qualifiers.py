"""What a sentence says of its indices: ``(1 <= i <= N)``, ``if i != j``, ``for each i = 1, 2, ..., N``. Pure."""

from __future__ import annotations

import re
from itertools import pairwise

from eval.made_tests.grammar import Constant, Expression, Index, Reference
from eval.made_tests.reading.expressions import parse_list
from eval.made_tests.reading.relations import DOTS, Chain, parse_chains, run
from eval.made_tests.reading.scope import Qualifier, Scope
from eval.made_tests.reading.terms import NotUnderstood, operation, simplified

_FOR = r"(?:for|if)(?: (?:each|every|all|any))?(?: (?:pairs? of )?(?:integers?|indices|index))?"
_TRAILING_GROUP = re.compile(r"^(.*?[^\s*+/^,(-])\s*\(\s*([^()]*(?:\([^()]*\)[^()]*)?)\s*\)\s*$")
_TRAILING_WORDS = re.compile(rf"^(.*?),? {_FOR} ([^,].*)$")
_LEADING = (
    re.compile(rf"^{_FOR} (.+?), then (.+)$", re.IGNORECASE),
    re.compile(rf"^{_FOR} ([^()]+? != [^(), ]+), (.+)$", re.IGNORECASE),
    re.compile(rf"^{_FOR} ([A-Za-z] \([^()]*\)), (.+)$", re.IGNORECASE),
    re.compile(rf"^{_FOR} ([A-Za-z] ?= ?[^()]+?, ?\.\.\., ?[^,]+), (.+)$", re.IGNORECASE),
    re.compile(r"^([A-Za-z] != [A-Za-z]) => (.+)$"),
)
_DEFINITION = re.compile(
    r"\s*\((?:[Hh]ere,? )?\|(\w+)\| (?:is|denotes|represents) the length of (?:the )?(?:string )?\1\.?\)\.?\s*$"
    r"|\s*\(For a real number x, floor\( ?x\) denotes the greatest integer not exceeding x\.\)\s*$"
)
_MIDDLE_GROUP = re.compile(r"^([^()]+?) ?\(([^()]*[<>=][^()]*)\) ((?:is|are|consists?) .+)$")
_RELATION = re.compile(r"<|>|=")
_RUN = re.compile(r"^([A-Za-z]) ?= ?(.+)$")
_NAMED = re.compile(r"^([A-Za-z](?:(?:, ?| and )[A-Za-z])*) ?(?:\((.+)\)|(?:such that|with|satisfying) (.+))$")
_NOTHING = Qualifier()


def without_definitions(text: str) -> str:
    """The sentence without what only explains a notation: ``(|S| is the length of the string S.)``."""
    return _DEFINITION.sub("", text)


def split_qualifier(text: str, scope: Scope) -> tuple[str, Qualifier]:
    """What is left of a sentence without what it says of its indices, and that.

    ``NotUnderstood`` where the sentence says when it holds, and that is no range of indices.
    """
    said = _NOTHING
    for pattern in _LEADING:
        if match := pattern.match(text):
            said = said.joined(read_qualifier(match.group(1), scope))
            text = match.group(2)
            break
    if match := _MIDDLE_GROUP.match(text):
        text = f"{match.group(1)} {match.group(3).rstrip('.')} ({match.group(2)})"
    for _ in range(3):
        text = text.strip().rstrip(",").rstrip()
        found = _trailing(text, scope)
        if found is None:
            return text, said
        text, more = found
        said = said.joined(more)
    return text, said


def _trailing(text: str, scope: Scope) -> tuple[str, Qualifier] | None:
    if text.endswith(")") and (match := _TRAILING_GROUP.match(text)) and _RELATION.search(match.group(2)):
        try:
            return match.group(1), read_qualifier(match.group(2), scope)
        except NotUnderstood:
            return None
    if match := _TRAILING_WORDS.match(text):
        return match.group(1), read_qualifier(match.group(2), scope)
    return None


def read_qualifier(text: str, scope: Scope) -> Qualifier:
    """The ranges and pairs of indices in ``1 <= i < j <= N``, ``i != j``, ``i = 1, 2, ..., N``, ``i (1 <= i <= N)``."""
    text = text.strip()
    if match := _NAMED.match(text):
        return read_qualifier(match.group(2) or match.group(3), scope)
    if re.fullmatch(r"[A-Za-z]", text) and text not in scope:
        return _NOTHING
    if match := _RUN.match(text):
        return Qualifier((_run(match.group(1), match.group(2), scope),))
    said = _NOTHING
    for part in re.split(r" and ", text):
        for chain in parse_chains(part, scope.keys()):
            said = said.joined(_of_chain(chain, scope))
    return said


def _run(name: str, text: str, scope: Scope) -> Index:
    if name in scope and not scope[name].dimensions:
        raise NotUnderstood(f"{name} is no index")
    members = [DOTS if isinstance(each, str) else each for each in parse_list(text, scope.keys())]
    if DOTS not in members:
        members = [members[0], *members[1:-1], DOTS, members[-1]]
    of, start, end = run(members, "#")
    if of != Reference("#"):
        raise NotUnderstood("a list of indices has no order")
    return Index(name, start, end)


def _of_chain(chain: Chain, scope: Scope) -> Qualifier:
    """A chain whose inner members are indices; what stands at its ends are their bounds."""
    lists = [tuple(operand.value for operand in each) for each in chain.lists]
    are_indices = [all(_is_index(value, scope) for value in each) for each in lists]
    rounds = [any(operand.rounds for operand in each) for each in chain.lists]
    if any(rounds[:-1]) or (rounds[-1] and chain.operators[-1:] != ("<=",)) or not any(are_indices):
        raise NotUnderstood("what is said of the indices is no range")
    if chain.operators == ("!=",) and all(are_indices) and len(lists[0]) == len(lists[1]) == 1:
        return Qualifier(pairs=((_name(lists[0][0]), "!=", _name(lists[1][0])),))
    if not set(chain.operators) <= {"<", "<="}:
        raise NotUnderstood("what is said of the indices is no range")
    first, last = are_indices.index(True), len(are_indices) - 1 - are_indices[::-1].index(True)
    if first > 1 or last < len(lists) - 2 or not all(are_indices[first : last + 1]):
        raise NotUnderstood("what is said of the indices is no range")
    names = [[_name(value) for value in each] for each in lists[first : last + 1]]
    pairs = [(a, "<", b) for one, other in pairwise(names) for a in one for b in other]
    if first == 0 or last == len(lists) - 1:
        if first == 0 and last == len(lists) - 1 and pairs:
            return Qualifier(pairs=tuple(pairs))
        raise NotUnderstood("a range of indices has one end")
    if len(names) > 1 and set(chain.operators[first:last]) != {"<"}:
        raise NotUnderstood("what is said of the indices is no range")
    low, high = _bound(lists[0], chain.operators[0], 1), _bound(lists[-1], chain.operators[-1], -1)
    return Qualifier(tuple(Index(name, low, high) for each in names for name in each), tuple(pairs))


def _bound(values: tuple[Expression, ...], operator: str, inwards: int) -> Expression:
    if len(values) != 1:
        raise NotUnderstood("a range of indices has several ends")
    if operator == "<=":
        return values[0]
    return simplified(operation("+", values[0], Constant(inwards)))


def _is_index(value: Expression, scope: Scope) -> bool:
    return isinstance(value, Reference) and not value.indices and value.name not in scope


def _name(value: Expression) -> str:
    assert isinstance(value, Reference)
    return value.name
