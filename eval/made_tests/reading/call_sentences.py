"""The sentences of LeetCode's constraints, "words[i] consists of lowercase English letters", as constraints. Pure.

Each kind of sentence is a pattern and a function of its match. A function that finds something else than it expects
raises ``NotUnderstood``: then the next pattern is tried, and nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from eval.made_tests.grammar import (
    AtLeastOne,
    Comparison,
    Constant,
    Constraint,
    Distinct,
    Kind,
    Permutation,
    Reference,
    SearchTree,
    Sorted,
    SumAtMost,
)
from eval.made_tests.reading import call_characters as characters
from eval.made_tests.reading.call_comparisons import Known, comparisons, divisible, term_of
from eval.made_tests.reading.call_shapes import ROW, Shapes
from eval.made_tests.reading.call_subjects import (
    Level,
    Subject,
    length_of,
    require_everywhere,
    subject_of,
    subjects_of,
)
from eval.made_tests.reading.call_terms import indices_of
from eval.made_tests.reading.terms import NotUnderstood


@dataclass(frozen=True)
class Claim:
    """What can be said in a grammar only when all bounds are known: "tree", "power of two", "prime", "perfect"."""

    what: str
    subject: Subject


Said: TypeAlias = Sequence[Constraint | Claim]
Reader: TypeAlias = Callable[[re.Match[str], Shapes], Said]


def _distinct(match: re.Match[str], shapes: Shapes) -> Said:
    """All elements of nums are distinct; words consists of unique strings; all points[i] are unique."""
    subject = subject_of(match["subject"], shapes)
    require_everywhere(subject)
    n_dimensions = len(shapes.variables[subject.variables[0]].dimensions)
    if n_dimensions == 0 or subject.level is Level.CHARACTER:
        raise NotUnderstood("one value is distinct")
    if subject.level is Level.ROW and subject.name not in shapes.columns:
        raise NotUnderstood("the rows of a table are distinct")
    if subject.level is Level.WHOLE and n_dimensions > 1:
        raise NotUnderstood("rows or cells are distinct")
    if subject.level is Level.ELEMENT and len(subject.variables) > 1:
        raise NotUnderstood("several columns are distinct")
    parts = match.groupdict()
    # Of edges in no said direction only such are drawn as are different in either.
    are_edges = len(subject.variables) == 2 and subject.kind is Kind.INTEGER and parts.get("edges") is not None
    distinct = Distinct(subject.variables, unordered=are_edges)
    if parts.get("low") is None:
        return [distinct]
    if subject.kind is not Kind.INTEGER or subject.level is not Level.WHOLE:
        raise NotUnderstood("a range of what is no array of integers")
    bounds = comparisons(f"{parts['low']} <= {subject.name}[i] <= {parts['high']}", shapes, Known())
    return [distinct, *bounds]


def _sorted(match: re.Match[str], shapes: Shapes) -> Said:
    """nums is sorted in non-decreasing order. "Increasing" is taken strictly: that is sorted in either meaning."""
    subject = subject_of(match["by"] or match["subject"], shapes)
    n_dimensions = len(shapes.variables[subject.variables[0]].dimensions)
    are_rows = n_dimensions == 2 and subject.level is Level.ROW
    if len(subject.variables) > 1 or subject.is_string or subject.at or not (n_dimensions == 1 or are_rows):
        raise NotUnderstood("this has no order")
    if (parameter := shapes.parameters.get(subject.name)) and parameter.is_tree:
        raise NotUnderstood("the level order of a tree is sorted")
    word = match["order"].lower()
    is_descending = word in ("non-increasing", "decreasing", "descending", "strictly decreasing")
    is_strict = word in ("increasing", "strictly increasing", "decreasing", "strictly decreasing")
    return [Sorted(subject.variables[0], is_descending, is_strict)]


def _permutation(match: re.Match[str], shapes: Shapes) -> Said:
    """nums is a permutation of the integers in the range [1, n]; of [0, 1, ..., n - 1]."""
    subject = subject_of(match["subject"], shapes)
    if subject.level is not Level.WHOLE or subject.kind is not Kind.INTEGER or len(subject.variables) > 1:
        raise NotUnderstood("a permutation of what is no array")
    if (following := match.groupdict().get("next")) and int(following) != int(match["low"]) + 1:
        raise NotUnderstood("the numbers of a permutation do not follow each other")
    return [Permutation(subject.name, term_of(match["low"], shapes), term_of(match["high"], shapes))]


def _divisible(match: re.Match[str], shapes: Shapes) -> Said:
    """n is even; k is odd; n is a multiple of 4; k divides word.length; s.length is divisible by k."""
    parts = match.groupdict()
    over = term_of(parts["over"], shapes)
    if parity := parts.get("parity"):
        return [divisible(over, Constant(2), 1 if parity == "odd" else 0, indices_of((over,), shapes.variables, {}))]
    under = term_of(parts["under"], shapes)
    return [divisible(over, under, 0, indices_of((over, under), shapes.variables, {}))]


def _parity_of_length(match: re.Match[str], shapes: Shapes) -> Said:
    """s has an even length; the length of nums is odd."""
    length = length_of(subject_of(match["subject"], shapes), shapes)
    rest = 1 if match["parity"] == "odd" else 0
    return [divisible(length, Constant(2), rest, indices_of((length,), shapes.variables, {}))]


def _sum(match: re.Match[str], shapes: Shapes) -> Said:
    """The total sum of words[i].length does not exceed 10^5; sum(words[i].length) <= 10^5."""
    of = match["of"].strip()
    if of in shapes.parameters and shapes.parameters[of].depth == 1:
        of = f"{of}[i]"
    expression, limit = term_of(of, shapes), term_of(match["limit"], shapes)
    indices = indices_of((expression,), shapes.variables, {})
    if not indices or indices_of((limit,), shapes.variables, {}):
        raise NotUnderstood("a sum of one value")
    return [SumAtMost(expression, limit, indices)]


def _at_least_one(match: re.Match[str], shapes: Shapes) -> Said:
    """There is at least one i such that nums[i] >= k."""
    found = comparisons(match["holds"], shapes, Known())
    if len(found) != 1 or not isinstance(found[0], Comparison):
        raise NotUnderstood("several comparisons")
    if [index.name for index in found[0].indices] != [match["index"]]:
        raise NotUnderstood("another index")
    return [AtLeastOne(found[0])]


def _is_value(match: re.Match[str], shapes: Shapes) -> Said:
    """grid[i][i] is 0; s[2] is equal to the character ":"."""
    value = re.sub('"(.)"', r"'\1'", match["value"])
    return [*comparisons(f"{match['before'] or ''}{match['subject']} == {value}", shapes, Known())]


def _one_or_range(match: re.Match[str], shapes: Shapes) -> Said:
    """nums[i] is either -1 or in the range [1, 10^9]: where one number is between them, all but that one."""
    one, low = int(match["one"]), int(match["low"])
    if one + 2 != low:
        raise NotUnderstood("several numbers are left out")
    subject = match["subject"]
    texts = (f"{one} <= {subject} <= {match['high']}", f"{subject} != {one + 1}")
    return [each for text in texts for each in comparisons(text, shapes, Known())]


def _binary_tree(match: re.Match[str], shapes: Shapes) -> Said:
    """root is a binary search tree; root is a complete binary tree. A perfect one is complete with 2^h - 1 nodes."""
    subject = subject_of(match["subject"], shapes)
    parameter = shapes.parameters.get(subject.name)
    if parameter is None or not parameter.is_tree or subject.level is not Level.WHOLE:
        raise NotUnderstood(f"{subject.name} is no binary tree")
    if match["kind"].endswith("search"):
        return [Distinct((parameter.name,)), SearchTree(parameter.name, parameter.places)]
    place = Reference(parameter.places, (ROW,))
    complete = Comparison(place, "==", ROW, indices_of((place,), shapes.variables, {}))
    return [complete, Claim("perfect", subject)] if match["kind"].startswith("perfect") else [complete]


def _tree(match: re.Match[str], shapes: Shapes) -> Said:
    """edges represents a valid tree."""
    return [Claim("tree", subject) for subject in subjects_of(match["subjects"], shapes)]


def _of_numbers(match: re.Match[str], shapes: Shapes) -> Said:
    """nums consists only of non-negative powers of two; k is a power of 2; nums[i] is a prime number."""
    subject = subject_of(match["subject"], shapes)
    if subject.kind is not Kind.INTEGER or subject.level is Level.ROW or len(subject.variables) > 1 or subject.at:
        raise NotUnderstood("numbers of what is none")
    return [Claim("prime" if "prime" in match["what"] else "power of two", subject)]


_MOST_CHARACTERS = 500
_SUBJECTS = r"(?P<subjects>[\w\[\], ]+?)"
_SUBJECT = r"(?P<subject>\w+(?:\[[^\[\]]+\])*)"
_SIZE = r"[\w.\[\]]+"
_ORDER = r"(?P<order>non-decreasing|non-increasing|(?:strictly )?(?:increasing|decreasing)|ascending|descending)"
_THINGS = r"(?:elements|integers|values|numbers|strings|words)"
_GENERATED = re.compile(
    r"^(?:The (?:input|test cases|tests|testcases) (?:is|are) generated (?:such|so|in a way)(?: that)? "
    r"|It(?: is|'s) guaranteed that )"
)
_READERS: tuple[tuple[re.Pattern[str], Reader], ...] = tuple(
    (re.compile(pattern), reader)
    for pattern, reader in (
        (
            rf"^{_SUBJECTS},? (?:only (?:consists? of|contains?)|consists? (?:only of|of only|of)|contains? only)"
            r" (?P<of>.+?)(?: only)?(?P<marks> and exactly (?P<count>one|two|three|\d) '(?P<mark>[^'])')?$",
            characters.of_alphabet,
        ),
        (rf"^(?:The|All) (?:values|elements) (?:in|of) {_SUBJECTS} are (?P<of>.+)$", characters.of_values),
        (r"^'(?P<low>.)' <= (?P<subjects>[^<>=']+) <= '(?P<high>.)'$", characters.in_range),
        (
            rf"^(?:[Ee]ach |[Ee]very |[Aa]ll (?:the )?|[Tt]he )?characters? (?:in|of) {_SUBJECTS}"
            r" (?:is|are) (?P<of>.+)$",
            characters.each_character,
        ),
        (
            rf"^(?:[Aa]ll )?(?:the )?(?:given )?(?:{_THINGS} (?:in|of) (?:the )?|pairs |points )?{_SUBJECT}"
            r" are (?:all )?(?:pairwise )?(?:unique|distinct)$",
            _distinct,
        ),
        (
            rf"^{_SUBJECT} (?:consists of|contains|has)(?: only)? (?:pairwise )?(?:distinct|unique)"
            rf" (?:positive )?{_THINGS}(?: in the range \[(?P<low>[^,\[\]]+), (?P<high>[^,\[\]]+)\])?$",
            _distinct,
        ),
        (
            r"^There are no (?:repeated|duplicate) (?:(?P<edges>edges|roads|connections|paths|links)|\w+)"
            rf" (?:among|in) (?:the )?{_SUBJECT}$",
            _distinct,
        ),
        (rf"^{_SUBJECT} (?:is|are) sorted in (?:an? )?{_ORDER} order(?: of (?P<by>\w+))?$", _sorted),
        (
            rf"^{_SUBJECT} (?:is|represents) a permutation of (?:(?:the |all the |all )?(?:integers |numbers )?"
            r"(?:in the range |from )?)\[(?P<low>\d+), (?:(?P<next>\d+), \.\.\., )?(?P<high>[^,\[\]]+)\]$",
            _permutation,
        ),
        (
            rf"^{_SUBJECT} (?:is|represents) a permutation of (?:(?:the |all the |all )?(?:integers |numbers )?)"
            rf"from (?P<low>\d+) to (?P<high>{_SIZE}(?: - \d+)?)$",
            _permutation,
        ),
        (rf"^(?P<over>{_SIZE}) is (?:an )?(?P<parity>even|odd)(?: number| integer)?$", _divisible),
        (rf"^(?P<over>{_SIZE}) is (?:a multiple of|divisible by) (?P<under>{_SIZE})$", _divisible),
        (rf"^(?P<under>{_SIZE}) divides (?P<over>{_SIZE})$", _divisible),
        (rf"^{_SUBJECT} has an (?P<parity>even|odd) (?:length|number of elements)$", _parity_of_length),
        (rf"^[Tt]he length of {_SUBJECT} is (?P<parity>even|odd)$", _parity_of_length),
        (
            rf"^(?:The )?(?:total )?[Ss]um of (?:all )?(?P<of>{_SIZE})"
            r" (?:is at most|(?:does|will) not exceed|doesn't exceed|is (?:less|smaller) than or equal(?: to)?|<=)"
            r" (?P<limit>.+)$",
            _sum,
        ),
        (r"^sum\((?P<of>[^()]+)\) <= (?P<limit>.+)$", _sum),
        (
            rf"^{_SUBJECTS} (?:(?:doesn't|don't|does not|do not) (?:have|contain)(?: any)?|has no|have no)"
            r" leading zeros$",
            characters.no_leading_zeros,
        ),
        (
            r"^[Tt]here (?:is|exists) at least one (?:index |element |integer )?(?P<index>[a-z])"
            r" (?:such that|where|with) (?P<holds>.+)$",
            _at_least_one,
        ),
        (rf"^[Tt]here is at least one (?P<value>\S+) in (?:the )?{_SUBJECT}$", characters.has_value),
        (rf"^{_SUBJECT} contains at least one (?P<value>\S+)$", characters.has_value),
        (r"^(?P<subject>\S+) == \S+(?: or \S+ == \S+)+$", characters.alternatives),
        (
            rf"^(?P<before>For all [a-z](?:, [a-z])*,? )?{_SUBJECT} is (?:equal to )?"
            r"""(?:the (?:character|letter|number) )?(?P<value>-?\d+|'.'|".")$""",
            _is_value,
        ),
        (
            rf"^{_SUBJECT} is either (?P<one>-?\d+) or in the range \[(?P<low>-?\d+), (?P<high>[^,\[\]]+)\]$",
            _one_or_range,
        ),
        (rf"^{_SUBJECT} is a (?P<kind>binary search|complete binary|perfect binary) tree$", _binary_tree),
        (rf"^{_SUBJECTS} (?:represents?|forms?) (?:a )?valid trees?$", _tree),
        (rf"^{_SUBJECT} consists only of (?:non-negative )?(?P<what>powers of (?:two|2))$", _of_numbers),
        (rf"^{_SUBJECT} is a (?P<what>power of (?:two|2)|prime(?: number)?)$", _of_numbers),
        (rf"^{_SUBJECTS} (?:is|are|will be) (?:one of )?(?P<of>.+)$", characters.either),
    )
)


def read_sentence(sentence: str, shapes: Shapes, known: Known) -> Said:
    """What a sentence says; ``NotUnderstood`` where it is not understood completely."""
    if len(sentence) > _MOST_CHARACTERS:
        raise NotUnderstood("the sentence is too long")
    sentence = _GENERATED.sub("", sentence)
    for pattern, reader in _READERS:
        if match := pattern.match(sentence):
            try:
                return reader(match, shapes)
            except NotUnderstood:
                continue
    return comparisons(sentence, shapes, known)
