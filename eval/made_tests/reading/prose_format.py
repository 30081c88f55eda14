"""The format of an input in sentences, "The first line of each test case contains integers n and k", as lines. Pure.

What the sentences say of the values is left to the readers of constraints: the bounds in brackets, and sentences of
their own. What stands behind a dash only names things; where it says more, it is not understood.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from eval.made_tests.reading.terms import NotUnderstood
from eval.made_tests.reading.tex import plain_line

_ORDINALS = {
    "first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "sixth": 5, "next": None, "following": None,
    "last": None, "only": 0, "single": 0,
}  # fmt: skip
_COUNTS = {"a": 1, "an": 1, "one": 1, "the": 1, "single": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_WHICH = r"(?P<which>" + "|".join(_ORDINALS) + r")"
_OF_CASE = r"(?P<case> of (?:each|every|the) (?:test ?case|test|case|description)s?| of the (?:test )?case)?"
_ONE_LINE = re.compile(
    rf"^(?:then,? )?the {_WHICH} line{_OF_CASE}(?: of (?:the )?input)?(?: in the input)?"
    r" (?:contains?|consists of) (?P<what>.+)$",
    re.IGNORECASE,
)
_SINGLE = re.compile(
    r"^(?P<case>each test case|each test) (?:consists of|contains) (?:a |one |only )?(?:single )?line,?"
    r" (?:containing|with|which contains) (?P<what>.+)$",
    re.IGNORECASE,
)
_MORE_LINES = re.compile(
    r"^(?:then,? )?(?:each of the|the [a-z]-th (?:line )?of the|the) (?:next|following)"
    rf" (?P<count>\S+|\S+ ?[-+] ?\S+) lines{_OF_CASE}(?: of (?:the )?input)?"
    r" (?:each )?contains?(?: each)? (?P<what>.+)$",
    re.IGNORECASE,
)
_CASES = r"(?:the |each )?(?:multiple |several |some )?test ?cases?"
_EMPTY = tuple(
    re.compile(rf"^{pattern}\.?$", re.IGNORECASE)
    for pattern in (
        rf"(?:the input|each test|each input|the test) (?:consists of|contains) {_CASES}",
        rf"this is followed by (?:their|the) descriptions?(?: of {_CASES})?",
        rf"(?:(?:then|next) (?:follows?|comes?) )?(?:the )?descriptions? of {_CASES}(?: follows?)?",
        rf"{_CASES} (?:is|are) described as follows",
    )
)
_OBJECT = re.compile(
    r"^(?P<count>a single|an? |one|the|two|three|four|five|six|\S+(?: ?[-+*] ?\S+)?) ?"
    r"(?:space[- ]separated |single |positive |non-negative |(?P<distinct>(?:pairwise )?distinct ))*"
    r"(?P<kind>integers?|numbers?|(?:binary )?strings?) (?P<names>.+)$",
    re.IGNORECASE,
)
_NAME = r"(?!(?:and|the|is|are|of|in|to|all)\b)[A-Za-z]{1,3}(?![A-Za-z])(?:_(?:\{[^{}]*\}|[A-Za-z0-9]+))?"
_NAMES = re.compile(rf"^{_NAME}(?:(?:, and |, | and ){_NAME})*")
_RUN = re.compile(
    r"^(?P<first>[A-Za-z]+)_\{?(?P<low>[01])\}?,? (?:(?P=first)_\{?[12]\}?,? )?\.\.\. ?,? "
    r"(?P=first)_(?P<high>\{[^{}]+\}|\w+)"
)
_OBJECTS = re.compile(
    r",? (?:and|followed by) (?=(?:an?|one|two|three|four|the) (?:single )?(?:integer|string|binary))"
)
_BRACKETS = re.compile(r"\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
# Words by which a description says more than what something is called.
_SAYS_MORE = re.compile(
    r"\b(?:distinct|different|permutation|sorted|increasing|decreasing|ascending|descending|prime|palindrom\w*|unique"
    r"|every|guarantee\w*|such that|tree|simple|connected|valid|not|no|even|odd|divisible|only|consist\w*|between|if"
    r"|must|than)\b",
    re.IGNORECASE,
)
_NUMBER_OF_CASES = re.compile(r"number of (?:the )?(?:test ?cases|tests|test sets|queries to process)", re.IGNORECASE)


@dataclass
class ProseFormat:
    """The lines of the format, those of each case, what is said of the values, and what is not understood."""

    lines: list[str] = field(default_factory=list)
    case_lines: list[str] = field(default_factory=list)
    n_cases: str = ""
    each: set[str] = field(default_factory=set)
    said: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    place: int = 0
    in_case: bool = False

    def segments(self) -> list[list[str]]:
        """The lines in pieces, as a format in lines has them."""
        if not self.case_lines:
            return [self.lines]
        if not self.n_cases:
            raise NotUnderstood("nothing says how many test cases there are")
        return [[*self.lines, "case_1", "\\vdots", f"case_{{{self.n_cases}}}"], self.case_lines]


def read_prose(sentences: Sequence[str]) -> ProseFormat:
    """The format that sentences describe; each sentence that is no known one stands in ``unknown``."""
    found = ProseFormat()
    for sentence in sentences:
        text = plain_line(sentence)
        if any(pattern.match(text) for pattern in _EMPTY):
            continue
        try:
            if not _is_line(text, found):
                found.said.append(sentence)
        except NotUnderstood:
            found.unknown.append(sentence)
    return found


def _is_line(text: str, found: ProseFormat) -> bool:
    """Read a sentence about lines; False for another sentence."""
    if match := _MORE_LINES.match(text):
        _enter(match["case"], None, found)
        _add_rows(match["count"], match["what"], found)
        return True
    match = _ONE_LINE.match(text) or _SINGLE.match(text)
    if match is None:
        if re.match(r"^(?:then|the|each) .*\blines?\b", text, re.IGNORECASE):
            raise NotUnderstood("lines of another form")
        return False
    groups = match.groupdict()
    _enter(groups["case"], _ORDINALS[groups.get("which", "only").lower()] if "which" in groups else 0, found)
    what, bounds = _described(match["what"], found)
    line, said, names = _objects(what)
    if found.in_case:
        found.case_lines.append(line)
    else:
        found.lines.append(line)
        if _NUMBER_OF_CASES.search(match["what"]):
            found.n_cases = names[-1]
    found.said += [*bounds, *said]
    return True


def _enter(case: str | None, ordinal: int | None, found: ProseFormat) -> None:
    """Go on to the next line, inside of test cases or before them; ``NotUnderstood`` where another line is named."""
    if case and not found.in_case:
        found.in_case, found.place = True, 0
    elif ordinal is not None and ordinal == 0 and found.place > 0:
        raise NotUnderstood("the first line stands behind others")
    if ordinal is not None and ordinal != found.place:
        raise NotUnderstood("a line is left out")
    found.place += 1


def _described(text: str, found: ProseFormat) -> tuple[str, list[str]]:
    """What stands in a line, and its bounds; what only names things is left out."""
    del found
    text, *descriptions = re.split(r"\s+(?:—|--)\s*|(?<=\))\s+-\s+", text.rstrip(". "))
    bounds: list[str] = []
    for inside in _BRACKETS.findall(text):
        if re.search(r"[<>=]| in ", inside):
            bounds += [part.strip() for part in inside.split(";")]
        else:
            descriptions.append(inside)
    text = _BRACKETS.sub("", text)
    text, *more = re.split(
        r",? (?:where|denoting|representing|describing|meaning|which|that) |, (?=the |its |their |respectively)", text
    )
    for description in (*descriptions, *more):
        stray = _BRACKETS.findall(description)
        bounds += [part.strip() for inside in stray if re.search(r"[<>=]", inside) for part in inside.split(";")]
        if _SAYS_MORE.search(_BRACKETS.sub("", description)):
            raise NotUnderstood("a description says more than a name")
    return text.strip(), bounds


def _objects(text: str) -> tuple[str, list[str], list[str]]:
    """The line of a format that the words give, what they say of it, and the names in it."""
    line: list[str] = []
    said: list[str] = []
    names: list[str] = []
    for part in re.split(
        r",? (?:and|followed by) (?=(?:an?|one|two|three|four|the) (?:single )?(?:integer|string|binary))", text
    ):
        match = _OBJECT.match(part.strip())
        if match is None:
            raise NotUnderstood(f"a line with {part!r}")
        words, rest, of = _named(match)
        line += words
        names += of
        said += _sentences(match["kind"], part, of, rest)
        if match["distinct"]:
            said.append(f"{', '.join(of)} are distinct")
    return " ".join(line), said, names


def _named(match: re.Match[str]) -> tuple[list[str], str, list[str]]:
    """The words of the line, what is left of the text, and the names."""
    text, count = match["names"], match["count"].strip().lower()
    number = _COUNTS.get(count.removeprefix("a ").strip(), _COUNTS.get(count))
    if run := _RUN.match(text):
        name, high = run["first"], run["high"].strip("{}")
        if number is None and high != match["count"].strip():
            raise NotUnderstood("a row of another length")
        return [f"{name}_{run['low']}", "\\ldots", f"{name}_{{{high}}}"], text[run.end() :], [name]
    listed = _NAMES.match(text)
    if listed is None:
        raise NotUnderstood("a line without names")
    names = re.split(r", and |, | and ", listed.group(0))
    rest = text[listed.end() :]
    if number is None:
        if len(names) != 1 or not (indexed := re.fullmatch(r"([A-Za-z]+)_\{?[a-z]\}?", names[0])):
            raise NotUnderstood("a row without an index")
        return [f"{indexed[1]}_1", "\\ldots", f"{indexed[1]}_{{{match['count'].strip()}}}"], rest, [indexed[1]]
    if number != len(names):
        raise NotUnderstood("another number of names")
    return names, rest, names


def _sentences(kind: str, part: str, names: list[str], rest: str) -> list[str]:
    rest = rest.strip(" ,.")
    if "string" in kind.lower():
        if len(names) != 1:
            raise NotUnderstood("several strings")
        found = [f"{names[0]} is a string {rest}".strip()] if rest else []
        return [*found, f"{names[0]} consists of 0 and 1"] if kind.lower().startswith("binary") else found
    if rest:
        raise NotUnderstood(f"integers {rest!r}")
    sign = re.search(r"\b(positive|non-negative) (?:integer|number)", part)
    return [f"{name} is a {sign[1]} integer" for name in names] if sign else []


def _add_rows(count: str, text: str, found: ProseFormat) -> None:
    """Add lines that repeat: the names with or without an index."""
    what, bounds = _described(text, found)
    line, said, names = _objects(what)
    if "\\ldots" in line:
        raise NotUnderstood("rows in rows")
    bases = [re.sub(r"_\{?[a-z]\}?$", "", name) for name in names]
    if any("_" in base for base in bases):
        raise NotUnderstood("rows with other indices")
    found.each |= {name for name in names if "_" not in name}
    rows = [" ".join(f"{base}_{{{index}}}" for base in bases) for index in ("1", count)]
    (found.case_lines if found.in_case else found.lines).extend((rows[0], "\\vdots", rows[1]))
    found.said += [*bounds, *said]
    found.place = -100
