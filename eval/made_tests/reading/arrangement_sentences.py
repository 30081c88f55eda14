"""Sentences about how elements stand to each other: distinct, a permutation, in order, how often each occurs. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from eval.made_tests.grammar import (
    Constant,
    Distinct,
    Expression,
    Length,
    Occurrences,
    Permutation,
    Reference,
    Sorted,
)
from eval.made_tests.reading.comparison_sentences import RUN, check_range, pair_of
from eval.made_tests.reading.expressions import parse_expression, parse_list
from eval.made_tests.reading.relations import DOTS, run
from eval.made_tests.reading.said import Fact, Whole, one, subjects, whole
from eval.made_tests.reading.scope import Qualifier, Scope, compared
from eval.made_tests.reading.terms import NotUnderstood
from eval.made_tests.reading.tex import SET_CLOSE, SET_OPEN

_OPEN, _CLOSE = rf"[({{{SET_OPEN}]", rf"[)}}{SET_CLOSE}]"
_ARE_DISTINCT = re.compile(
    r"^(?:all (?:of )?(?:the )?|the )?"
    r"(?:(?:values|elements|pairs|tuples|triples|triplets|integers|strings|points|numbers) (?:of |in )?)?"
    r"(?P<of>.+?) (?:are|is)(?: all)?(?: pairwise| mutually)? (?:distinct|different)(?: from each other)?$",
    re.IGNORECASE,
)
_TUPLES_DIFFER = re.compile(rf"^(?P<shape>[({SET_OPEN}{{])(?P<one>.+?){_CLOSE} ?!= ?{_OPEN}(?P<other>.+?){_CLOSE}$")
_TUPLES_DIFFER_TWICE = re.compile(
    rf"^{_OPEN}(?P<one>.+?){_CLOSE} ?!= ?{_OPEN}(?P<other>.+?){_CLOSE},? and "
    rf"{_OPEN}(?P<again>.+?){_CLOSE} ?!= ?{_OPEN}(?P<turned>.+?){_CLOSE}$"
)
_PARTS_DIFFER = re.compile(r"^(?P<a>\S+) != (?P<b>\S+) or (?P<c>\S+) != (?P<d>\S+)$")
_PERMUTATION = re.compile(
    r"^(?P<subject>.+?) (?:is|are|forms?) (?:an? (?:integer )?sequences? of length \S+ obtained by permuting"
    r"|(?:an? )?permutations? of) (?P<of>.+)$"
)
_EACH_ONCE = re.compile(
    r"^(?P<subject>.+?) contains? each (?:integer )?(?:of |from )?(?P<of>.+) exactly once$"
    r"|^each (?:integer )?(?:of |from )?(?P<values>.+) (?:appears|occurs|is contained)"
    r" (?:in (?P<where>\S+) )?exactly once(?: in (?P<place>\S+))?$",
    re.IGNORECASE,
)
_COUNTS = {"once": 1, "one": 1, "twice": 2, "two": 2, "three": 3, "thrice": 3, "four": 4, "five": 5}
_TIMES = r"(?P<count>once|twice|(?:\w+) times)"
_EACH_OFTEN = re.compile(
    rf"^each (?:integer )?(?:of |from )?(?P<of>.+?) (?:appears|occurs) exactly {_TIMES} in (?P<where>\S+)$",
    re.IGNORECASE,
)
_INDEX_OFTEN = re.compile(rf"^(?P<index>[A-Za-z]) (?:appears|occurs) in (?P<where>\S+) exactly {_TIMES}$")
_CONTAINS = re.compile(r"^(?P<subject>.+?) contains? (?P<what>.+)$")
_AMOUNT = re.compile(
    r"^(?P<how>at least|at most|exactly|only)? ?"
    r"(?:(?P<count>an?|one|two|three|four|five|\d+|[A-Z])(?: occurrences? of)?)? ?"
    r"(?:the )?(?:characters? |letters? )?(?P<character>`[^`]`|'[^']'|\S)(?:s|'s)?$"
)
_ALL_OF = re.compile(r"^(?:all|each|every one) of (?P<characters>.+)$")
_PAIRS = re.compile(
    r"^(?:there (?:is|are|exists?) )?(?P<how>exactly|at least|at most) (?P<count>\w+)"
    r"(?: pairs?)?(?: of (?:integers|indices))? ?\((?P<i>[A-Za-z]), ?(?P<j>[A-Za-z])\) "
    r"(?:(?:such that|satisfy|satisfies|satisfying|with|where) )(?P<of>.+?)"
    r"(?: ?==? ?| is )(?P<character>\S)$",
    re.IGNORECASE,
)
_JTH_CHARACTER = re.compile(r"^the (?P<index>[A-Za-z])-th character of (?P<of>.+)$")
_EXISTS = re.compile(
    r"^each of (?P<characters>.+) (?:exists|appears|occurs|is contained) exactly (?P<count>once|twice) in (?P<of>.+)$",
    re.IGNORECASE,
)
_IN_ORDER = re.compile(
    r"^(?P<subject>.+?) (?:is|are)(?: sorted)?(?: in)?(?: an?)? (?P<strict>strictly |monotonically )?"
    r"(?P<how>ascending|increasing|non-?decreasing|descending|decreasing|non-?increasing)(?: order)?$"
)


def read_arrangement(text: str, scope: Scope, said: Qualifier) -> list[Fact] | None:
    """What a sentence says of how elements stand to each other; None for a sentence of another form."""
    for pattern, reader in (
        (_EACH_ONCE, _each_once),
        (_EACH_OFTEN, _each_often),
        (_INDEX_OFTEN, _index_often),
        (_EXISTS, _exists),
        (_ARE_DISTINCT, _distinct),
        (_TUPLES_DIFFER_TWICE, _tuples_differ_twice),
        (_TUPLES_DIFFER, _tuples_differ),
        (_PARTS_DIFFER, _parts_differ),
        (_PERMUTATION, _permutation),
        (_IN_ORDER, _in_order),
        (_PAIRS, _pairs),
        (_CONTAINS, _contains),
    ):
        if match := pattern.match(text):
            return list(reader(match, scope, said))
    return None


def _distinct(match: re.Match[str], scope: Scope, said: Qualifier) -> Iterator[Fact]:
    of = match["of"].strip()
    if of.startswith("(") and of.endswith(")"):
        found = whole(subjects(of[1:-1], scope), scope, said)
        if len(found) < 2 or any(len(scope[each.name].dimensions) != 1 or each.cells for each in found):
            raise NotUnderstood("tuples of what is no row")
        yield Distinct(tuple(each.name for each in found))
        return
    found = whole(subjects(of, scope), scope, said, bare=True)
    if any(each.cells for each in found):
        raise NotUnderstood("distinct characters")
    rows = [each for each in found if scope[each.name].dimensions]
    if not rows and len(found) > 1:
        yield Distinct(tuple(each.name for each in found))
    elif len(rows) == len(found) == 1:
        yield _distinct_row(rows[0], match["of"], scope)
    else:
        raise NotUnderstood("rows that are distinct together")


def _distinct_row(of: Whole, text: str, scope: Scope) -> Distinct:
    n_dimensions = len(scope[of.name].dimensions)
    if n_dimensions == 1:
        return Distinct((of.name,))
    if n_dimensions == 2 and "..." in text:
        return Distinct((of.name,), within_row=True)
    raise NotUnderstood("a table of distinct elements")


def _tuples_differ(match: re.Match[str], scope: Scope, said: Qualifier) -> Iterator[Fact]:
    names, _, _ = _columns(match["one"], match["other"], scope, said)
    yield Distinct(names, unordered=match["shape"] != "(")


def _tuples_differ_twice(match: re.Match[str], scope: Scope, said: Qualifier) -> Iterator[Fact]:
    names, ones, others = _columns(match["one"], match["other"], scope, said)
    again, turned = _list(match["again"], scope), _list(match["turned"], scope)
    if again != ones or turned != others[::-1] or len(names) != 2:
        raise NotUnderstood("pairs that differ in another way")
    yield Distinct(names, unordered=True)


def _parts_differ(match: re.Match[str], scope: Scope, said: Qualifier) -> Iterator[Fact]:
    names, _, _ = _columns(f"{match['a']}, {match['c']}", f"{match['b']}, {match['d']}", scope, said)
    yield Distinct(names)


def _columns(
    one: str, other: str, scope: Scope, said: Qualifier
) -> tuple[tuple[str, ...], list[Reference], list[Reference]]:
    """The variables of ``(A_i, B_i) != (A_j, B_j)``, and both sides."""
    ones, others = _list(one, scope), _list(other, scope)
    if len(ones) != len(others) or len(ones) < 2:
        raise NotUnderstood("tuples of different lengths")
    pairs = set()
    for a, b in zip(ones, others, strict=True):
        if a.name != b.name or len(a.indices) != 1 or len(b.indices) != 1:
            raise NotUnderstood("tuples of different variables")
        shape = scope.get(a.name)
        pair = pair_of(a.indices[0], b.indices[0], scope, said)
        if shape is None or len(shape.dimensions) != 1 or pair is None or pair[0] == pair[1]:
            raise NotUnderstood("tuples of what is no row")
        pairs.add(pair)
        ranges = {index.name: index for index in said.ranges}
        for name in pair:
            check_range(ranges.get(name), a, 0, scope)
    if len(pairs) != 1:
        raise NotUnderstood("tuples with several indices")
    return tuple(a.name for a in ones), ones, others


def _list(text: str, scope: Scope) -> list[Reference]:
    found = parse_list(text, scope.keys())
    return [_reference(each) for each in found]


def _reference(of: Expression | str) -> Reference:
    if not isinstance(of, Reference):
        raise NotUnderstood("a tuple of what is no variable")
    return of


def _permutation(match: re.Match[str], scope: Scope, said: Qualifier) -> Iterator[Fact]:
    low, high = _range(match["of"], scope)
    for of in whole(subjects(match["subject"], scope), scope, said, bare=True):
        if of.cells or len(scope[of.name].dimensions) != 1:
            raise NotUnderstood("a permutation that is no row")
        yield Permutation(of.name, low, high)


def _range(text: str, scope: Scope) -> tuple[Expression, Expression]:
    """The ends of ``(1, 2, ..., N)``, ``1 to N``, ``the integers from 1 through N``."""
    text = re.sub(
        r"^(?:the )?(?:set of )?(?:(?:first )?(?:positive )?(?:integers?|sequence|numbers?) )?(?:from )?", "", text
    )
    if length := re.match(r"^length (\S+)$", text):
        return Constant(1), parse_expression(length[1], scope.keys())
    if words := re.match(r"^(?:between )?(\S+) (?:to|through|and) (\S+?)(?:, inclusive)?$", text):
        return parse_expression(words[1], scope.keys()), parse_expression(words[2], scope.keys())
    if text[:1] + text[-1:] in ("()", "{}", SET_OPEN + SET_CLOSE):
        text = text[1:-1]
    text = re.sub(r",? and ", ", ", text)
    members = [DOTS if isinstance(each, str) else each for each in parse_list(text, scope.keys())]
    if DOTS not in members and len(members) > 1:
        members = [*members[:-1], DOTS, members[-1]]
    of, start, end = run(members)
    if of != RUN:
        raise NotUnderstood("what is permuted is no range")
    return start, end


def _each_once(match: re.Match[str], scope: Scope, said: Qualifier) -> Iterator[Fact]:
    where = match["subject"] or match["where"] or match["place"]
    if not where:
        raise NotUnderstood("exactly once in what?")
    low, high = _range(match["of"] or match["values"], scope)
    for of in whole(subjects(where, scope), scope, said, bare=True):
        if of.cells or not scope[of.name].dimensions:
            raise NotUnderstood("a permutation that is no row")
        yield Permutation(of.name, low, high)


def _each_often(match: re.Match[str], scope: Scope, said: Qualifier) -> Iterator[Fact]:
    yield from _often(match, _range(match["of"], scope), scope)


def _index_often(match: re.Match[str], scope: Scope, said: Qualifier) -> Iterator[Fact]:
    ranges = {index.name: (index.low, index.high) for index in said.ranges}
    if match["index"] not in ranges:
        raise NotUnderstood("what occurs is no range")
    yield from _often(match, ranges[match["index"]], scope)


def _often(match: re.Match[str], ends: tuple[Expression, Expression], scope: Scope) -> Iterator[Fact]:
    """Each number of a range so many times in a row that has no others: the row's length is not looked at."""
    count = _number(match["count"])
    for of in whole(subjects(match["where"], scope), scope, Qualifier(), bare=True):
        if of.cells or len(scope[of.name].dimensions) != 1:
            raise NotUnderstood("occurs in what is no row")
        yield compared(ends[0], "<=", of.of, scope, Qualifier())
        yield compared(of.of, "<=", ends[1], scope, Qualifier())
        yield Occurrences(of.name, (), Constant(count), Constant(count))


def _number(text: str) -> int:
    word = text.removesuffix(" times").lower()
    if word.isdigit():
        return int(word[:9])
    if word not in _COUNTS:
        raise NotUnderstood(f"{text!r} is no number")
    return _COUNTS[word]


def _in_order(match: re.Match[str], scope: Scope, said: Qualifier) -> Iterator[Fact]:
    how = match["how"].replace("-", "")
    strict = match["strict"] == "strictly " or how in ("increasing", "decreasing")
    if how in ("increasing", "decreasing", "ascending", "descending") and match["strict"] != "strictly ":
        raise NotUnderstood("whether neighbours may be equal is not said")
    for of in whole(subjects(match["subject"], scope), scope, said, bare=True):
        if of.cells or not scope[of.name].dimensions:
            raise NotUnderstood("the order of what is no row")
        yield Sorted(of.name, descending=how in ("descending", "decreasing", "nonincreasing"), strict=strict)


def _contains(match: re.Match[str], scope: Scope, said: Qualifier) -> Iterator[Fact]:
    """``S contains at least one x``, ``S contains exactly two |s``, ``S contains one R, one M, and one S``."""
    found = whole(subjects(match["subject"], scope), scope, said, bare=True)
    what = match["what"].strip()
    if every := _ALL_OF.match(what):
        parts = [f"at least one {each}" for each in re.split(r",? and |, ", every["characters"])]
    else:
        parts = re.split(r",? and |, ", what)
    for of in found:
        for part in parts:
            yield _amount(of, part, scope)


def _amount(of: Whole, text: str, scope: Scope) -> Occurrences:
    match = _AMOUNT.match(text)
    if match is None or not (match["how"] or match["count"]) or of.cells or len(scope[of.name].dimensions) > 1:
        raise NotUnderstood(f"contains {text!r}")
    character = match["character"].strip("`'") or match["character"]
    count = match["count"] or "one"
    if count in ("a", "an"):
        count = "one"
    amount: Expression = Constant(_number(count)) if not count.isupper() else parse_expression(count, scope.keys())
    if count.isupper() and (count not in scope or scope[count].dimensions):
        raise NotUnderstood(f"contains {text!r}")
    low = Constant(0) if match["how"] == "at most" else amount
    length: Expression = Length(Reference(of.name)) if not scope[of.name].dimensions else Constant(10**9)
    return Occurrences(of.name, (character,), low, length if match["how"] == "at least" else amount)


def _pairs(match: re.Match[str], scope: Scope, said: Qualifier) -> Iterator[Fact]:
    """``Exactly one pair (i, j) satisfies A_{i,j} = S``: in the whole grid."""
    text, letters = match["of"], [match["i"], match["j"]]
    if jth := _JTH_CHARACTER.match(text):
        text, expected = jth["of"], [letters[0]]
        if jth["index"] != letters[1]:
            raise NotUnderstood("pairs of other indices")
    else:
        expected = letters
    subject = one(subjects(text, scope))
    if [getattr(index, "name", "") for index in subject.of.indices] != expected:
        raise NotUnderstood("pairs of other indices")
    found = one(whole((subject,), scope, said))
    if not found.cells and not (jth and len(scope[found.name].dimensions) == 1):
        raise NotUnderstood("a grid that has no characters")
    yield _in_grid(found.name, match["character"], match["how"].lower(), match["count"], scope)


def _in_grid(name: str, character: str, how: str, count: str, scope: Scope) -> Occurrences:
    amount = Constant(_number(count))
    low = Constant(0) if how == "at most" else amount
    high = Constant(10**9) if how == "at least" else amount
    if len(scope[name].dimensions) != 1:
        raise NotUnderstood("a grid of several layers")
    return Occurrences(name, (character,), low, high, whole=True)


def _exists(match: re.Match[str], scope: Scope, said: Qualifier) -> Iterator[Fact]:
    """``Each of S and T exists exactly once in A_{i, j}``."""
    found = one(whole(subjects(match["of"], scope), scope, said))
    characters: Sequence[str] = re.split(r",? and |, ", match["characters"])
    if not found.cells or any(len(each) != 1 for each in characters):
        raise NotUnderstood("what exists in what is no grid")
    for character in characters:
        yield _in_grid(found.name, character, "exactly", match["count"], scope)
