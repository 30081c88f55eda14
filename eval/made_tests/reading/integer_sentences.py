"""Sentences about integers: that they are some, between which bounds, in which set, even or odd. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from eval.made_tests.grammar import (
    AtLeastOne,
    Constant,
    Distinct,
    Expression,
    Kind,
    Length,
    OneOf,
    Remainder,
    SumAtMost,
)
from eval.made_tests.reading.comparison_sentences import RUN, facts_of
from eval.made_tests.reading.expressions import Parser, parse_expression, parse_list
from eval.made_tests.reading.relations import DOTS, Link, relations, run
from eval.made_tests.reading.said import Fact, KindSaid, Whole, bounded, bounds, subjects, whole
from eval.made_tests.reading.scope import Qualifier, Scope, compared, indexed, indices_of
from eval.made_tests.reading.terms import NotUnderstood
from eval.made_tests.reading.tex import SET_CLOSE, SET_OPEN

_ALL = re.compile(
    r"^all (?:of )?(?:the )?(?:given )?(?:(?:numeric|numerical|other) )?(?:input )?"
    r"(?:values|inputs?|numbers)(?: (?:in|of) the input| given| given in the input| to be input)?"
    r" (?:are|is) integers?(?:,? except (?:for )?(?P<other>.+))?$",
    re.IGNORECASE,
)
_ARE = re.compile(
    r"^(?P<subject>.+?) (?:is|are)(?: all| both| each)? ?(?:an? )?(?P<sign>positive |non-?negative )?"
    r"(?P<parity>even |odd )?(?P<different>different |distinct )?"
    r"(?:integers?|numbers?)(?P<rest>\b.*)$"
)
_SUCH_THAT = re.compile(r"^,? ?(?:satisfying|such that|with|that satisf(?:y|ies)|where) (?P<chain>.+)$")
_BOUNDS = re.compile(r"^,? ?(?P<bounds>(?:between|not|at|from|no|less) .+)$")
_BETWEEN = re.compile(
    r"^(?P<subject>.+?) (?:is|are)(?: all| each)? "
    r"(?P<bounds>(?:between|at (?:least|most)|not (?:more|less|greater) than) .+)$"
)
_PARITY = re.compile(r"^(?P<of>.+?) (?:is|are)(?: all)? (?P<parity>even|odd)$")
_DIVISIBLE = re.compile(r"^(?P<of>.+?) (?:is|are)(?: all)? (?:an? )?(?:multiples? of|divisible by) (?P<by>.+)$")
_IN = re.compile(rf"^(?P<subject>.+?) in [{SET_OPEN}{{](?P<values>.+)[{SET_CLOSE}}}]$")
_OVER_CASES = (
    r"(?:over|across|for|in) (?:all |the )?(?:[A-Za-z] )?(?:the )?test ?cases"
    r"(?: in (?:each|a single|one|an?) (?:input|file|input file|test|test file))?"
)
_AT_MOST = (
    r"(?:both )?(?:(?:is|are) at most|(?:does|do) not exceed|(?:does|do)n't exceed|won't exceed|is not greater than"
    r"|is no more than|<=)"
)
_SUM_OVER = re.compile(rf"^the (?:sum|total) of (?P<of>.+?) {_OVER_CASES} {_AT_MOST} (?P<limit>.+)$", re.IGNORECASE)
_SUMS_OVER = re.compile(
    rf"^(?:both )?the sum of (?P<of>\S+) (?:{_OVER_CASES} )?and the sum of (?P<other>\S+) {_OVER_CASES}"
    rf" {_AT_MOST} (?P<limit>.+)$",
    re.IGNORECASE,
)
_TOTAL_LENGTH = re.compile(
    r"^the (?:total|sum of the) lengths? of (?P<of>.+?) (?:is|are) at most (?P<limit>.+)$", re.IGNORECASE
)
_SOME = re.compile(
    r"^there (?:is|exists?) (?:at least one |an? |some )?(?:index |integer )?(?P<index>[A-Za-z]) "
    r"(?:such that|with|satisfying|that satisfies) (?P<chain>.+)$",
    re.IGNORECASE,
)


def read_integers(text: str, scope: Scope, said: Qualifier) -> list[Fact] | None:
    """What a sentence says of integers in words; None for a sentence of another form."""
    for pattern, reader in (
        (_ALL, _all),
        (_SUMS_OVER, _sum_over),
        (_SUM_OVER, _sum_over),
        (_TOTAL_LENGTH, _total_length),
        (_SOME, _some),
        (_ARE, _are),
        (_BETWEEN, _between),
        (_PARITY, _parity),
        (_DIVISIBLE, _divisible),
        (_IN, _in),
    ):
        if match := pattern.match(text):
            return list(reader(match, scope, said))
    return None


def _all(match: re.Match[str], scope: Scope, said: Qualifier) -> Iterator[Fact]:
    if match["other"]:
        for of in whole(subjects(match["other"], scope), scope, said):
            yield KindSaid(of.name, Kind.STRING)


def _sum_over(match: re.Match[str], scope: Scope, said: Qualifier) -> Iterator[Fact]:
    limit = parse_expression(match["limit"], scope.keys())
    for text in (match["of"], match.groupdict().get("other")):
        if text:
            of = indexed(_operand(text, scope), scope)
            yield SumAtMost(of, limit, indices_of((of, limit), scope, said))


def _total_length(match: re.Match[str], scope: Scope, said: Qualifier) -> Iterator[Fact]:
    found = whole(subjects(match["of"], scope), scope, said)
    if len(found) != 1:
        raise NotUnderstood("the total length of several variables")
    of, limit = Length(found[0].of), parse_expression(match["limit"], scope.keys())
    yield KindSaid(found[0].name, Kind.STRING)
    yield SumAtMost(of, limit, indices_of((of, limit), scope, said))


def _some(match: re.Match[str], scope: Scope, said: Qualifier) -> Iterator[Fact]:
    found = relations(match["chain"], scope.keys())
    if len(found) != 1 or not isinstance(found[0], Link) or match["index"] in scope:
        raise NotUnderstood("what there is, is no one comparison")
    comparison = compared(found[0].left, found[0].operator, found[0].right, scope, said.ordered())
    if [index.name for index in comparison.indices] != [match["index"]]:
        raise NotUnderstood("what there is, has other indices")
    yield AtLeastOne(comparison)


def _are(match: re.Match[str], scope: Scope, said: Qualifier) -> Iterator[Fact]:
    found = whole(subjects(match["subject"], scope), scope, said)
    for of in found:
        yield KindSaid(of.name, Kind.INTEGER)
        if match["sign"]:
            low = Constant(1 if match["sign"] == "positive " else 0)
            yield compared(low, "<=", of.of, scope, said)
        if match["parity"]:
            yield _remainder(of.of, 2, int(match["parity"] == "odd "), scope, said)
    if match["different"]:
        yield Distinct(_scalars(found, scope))
    yield from _rest_of_integers(match["rest"].strip(), found, scope, said)


def _rest_of_integers(rest: str, found: tuple[Whole, ...], scope: Scope, said: Qualifier) -> Iterator[Fact]:
    """What is said of integers behind the word."""
    if such_that := _SUCH_THAT.match(rest):
        for relation in relations(such_that["chain"], scope.keys()):
            yield from facts_of(relation, scope, said)
    elif between := _BOUNDS.match(rest):
        for of in found:
            yield from bounded(of.of, bounds(between["bounds"], scope), scope, said)
    elif rest:
        raise NotUnderstood(f"integers {rest!r}")


def _between(match: re.Match[str], scope: Scope, said: Qualifier) -> Iterator[Fact]:
    for of in whole(subjects(match["subject"], scope), scope, said, bare=True):
        if of.cells:
            raise NotUnderstood("characters between bounds")
        yield from bounded(of.of, bounds(match["bounds"], scope), scope, said)


def _scalars(found: tuple[Whole, ...], scope: Scope) -> tuple[str, ...]:
    if len(found) == 1 or any(scope[of.name].dimensions for of in found):
        raise NotUnderstood("what is different from what?")
    return tuple(of.name for of in found)


def _remainder(of: Expression, modulus: int | Expression, rest: int, scope: Scope, said: Qualifier) -> Remainder:
    of = indexed(of, scope)
    return Remainder(of, modulus, rest, indices_of((of,), scope, said.ordered()))


def _operand(text: str, scope: Scope) -> Expression:
    parser = Parser(text, scope.keys())
    operand = parser.operand()
    parser.at_end()
    if operand.rounds:
        raise NotUnderstood("a quotient that may be no integer")
    return operand.value


def _parity(match: re.Match[str], scope: Scope, said: Qualifier) -> Iterator[Fact]:
    yield _remainder(_operand(match["of"], scope), 2, int(match["parity"] == "odd"), scope, said)


def _divisible(match: re.Match[str], scope: Scope, said: Qualifier) -> Iterator[Fact]:
    by = parse_expression(match["by"], scope.keys())
    modulus = by.value if isinstance(by, Constant) else indexed(by, scope)
    if modulus == 0:
        raise NotUnderstood("divisible by zero")
    yield _remainder(_operand(match["of"], scope), modulus, 0, scope, said)


def _in(match: re.Match[str], scope: Scope, said: Qualifier) -> Iterator[Fact]:
    values = parse_list(match["values"], scope.keys())
    found = whole(subjects(match["subject"], scope), scope, said)
    if any(isinstance(each, str) for each in values):
        of, low, high = run([DOTS if isinstance(each, str) else each for each in values])
        if of != RUN:
            raise NotUnderstood("a set that is no range")
        for each in found:
            yield from bounded(each.of, ((">=", low), ("<=", high)), scope, said)
        return
    written = tuple(str(each.value) for each in values if isinstance(each, Constant))
    if len(written) != len(values):
        raise NotUnderstood("a set of what is no number")
    for each in found:
        yield OneOf(each.name, written)
