"""Sentences under "Input" in the wording of problem packages, in the words that the other readers know. Pure.

Packages of the Kattis and ICPC contests have no list of constraints and no format in lines: "Input consists of a single
line containing the two integers $a$ and $b$", "$h$ lines, each with $w$ upper case letters A-Z". A sentence of a known
form is written otherwise, with all that it says; another one stays as it is, for the readers to understand or not.
"""

from __future__ import annotations

import re
from collections.abc import Callable

Rewrite = Callable[[re.Match[str]], str]

_NUMBER_WORDS = ("zero", "one", "two", "three", "four", "five", "six")
_ROW = "ROWS"
"""Stands for a name that the statement does not have."""
_SAID = "It is guaranteed that "
_LONGEST = 600
"""No sentence that is read is longer."""
_F = r"\$[^$]+\$"
_BOUNDS = r"\([^()]*(?:\([^()]*\)[^()]*)*\)"
_COUNTED = r"(?:an?|one|two|three|four|five|six) (?:single )?(?:\S+ )?(?:integers?|strings?|numbers?)\b"


def _one_row(match: re.Match[str]) -> str:
    """ "One line with $n$ integers $w$ ($3 <= w$)": the bounds are those of each element."""
    name, count = match["name"], match["count"]
    bounds = re.sub(rf"(?<![A-Za-z\\]){name}(?![A-Za-z_])", f"{name}_i", match["bounds"])
    return f"contains ${count}$ integers ${name}_1, \\ldots, {name}_{{{count}}}$ {bounds}"


def _joined(match: re.Match[str]) -> str:
    """Names that stand on both sides of what the first one is."""
    bounds = "; ".join(part.strip("()") for part in (match["bounds"], match["others_bounds"]))
    return f"{match['count']} integers {match['name']}, {match['others']} ({bounds})"


def _bounded(match: re.Match[str]) -> str:
    """ "an integer $1 <= N <= 10$": the bounds stand where the name should."""
    names = [each.strip() for each in re.split(r"\\leq?(?![A-Za-z])|<=?", match["formula"])]
    names = [each for each in names if re.fullmatch(r"[A-Za-z](?:_\w)?", each)]
    if len(names) != (2 if match["kind"] == "two numbers" else 1):
        return match[0]
    what = "two integers" if len(names) == 2 else match["kind"]
    return f"{what} {' and '.join(f'${name}$' for name in names)} (${match['formula']}$)"


_REWRITES: tuple[tuple[re.Pattern[str], str | Rewrite], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # What says nothing of a single value: how many lines there are, what the reader may do, an explanation.
        (r"^(?:The )?[Ii]nput consists of(?::| \w+ lines?\.)$", ""),
        (r"^(?:Note that you (?:are allowed|may|can)\b|This means that\b).*$", ""),
        (r"^(?:You can assume|It holds|You may assume) that ", _SAID),
        (r"^(?:It is (?:also )?guaranteed that )?[^$]*\b(?:sorted|ordered)\b[^$]*, that is, (?=\$)", _SAID),
        (r"^The first and only line(?: of (?:the )?input)? ", "The first line "),
        (
            rf"^(?:The )?[Ii]nput (?:consists of|contains) (?:a (?:single )?line (?:containing|with) )?(?:the )?"
            rf"(?={_COUNTED})",
            "The first line contains ",
        ),
        (r"^One line (?:with|containing) ", "The next line contains "),
        (rf"^({_F}) lines?, each (?:with|containing) (?={_COUNTED})", r"The following \1 lines each contain "),
        (
            rf"^({_F}) lines?,? (?:each )?with ({_F}) (upper|lower) ?case(?: English)? letters(?: `?[Aa]`?-`?[Zz]`?)?"
            r"(?:, the [^.$]*)?\.?$",
            rf"The following \1 lines each contain a string ${_ROW}_i$ of length \2 "
            r"consisting of \3case English letters.",
        ),
        (
            rf"^({_F}) lines with ({_F}) characters each follow\.$",
            rf"The following \1 lines each contain a string ${_ROW}_i$ of length \2.",
        ),
        (
            r"^The character (`\S`) represents [^.`]+, and the character (`\S`) represents [^.`]+\.$",
            rf"Each character of ${_ROW}_i$ is either \1 or \2.",
        ),
        (rf"^Then follows? ({_F}) lines?, each (?:with|containing) ", r"The following \1 lines each contain "),
        (
            rf"^The (?:following|next) ({_F}) lines contain [^:]*: the {_F}-th line contains ",
            r"The following \1 lines each contain ",
        ),
        (r"\b([2-6]) integers\b", lambda match: f"{_NUMBER_WORDS[int(match[1])]} integers"),
        (
            rf"(?P<count>\w+) integers (?P<name>{_F}) (?P<bounds>{_BOUNDS}), [^,$]+, "
            rf"and (?P<others>(?:{_F}(?:, | and )?)+) (?P<others_bounds>{_BOUNDS})",
            _joined,
        ),
        (
            rf"contains \$(?P<count>[A-Za-z])\$ integers \$(?P<name>[A-Za-z])\$ (?P<bounds>{_BOUNDS})",
            _one_row,
        ),
        (
            r"(?P<kind>two numbers|an integer|a single (?:positive )?integer) \$(?P<formula>[^$]*(?:\\le|<)[^$]*)\$",
            _bounded,
        ),
        (r"(Each character of \$\w+\$ is either `\S`) \([^()]*\) or (`\S`) \([^()]*\)", r"\1 or \2"),
    )
)


# What goes over more than one sentence, and formulas that are split or padded.
_TOGETHER = (
    (
        re.compile(rf"Then, ({_F}) descriptions of [^.$]* follow\.\s+Each description contains "),
        r"The following \1 lines each contain ",
    ),
    (re.compile(r"(?<=\d)\$, \$(?=[A-Za-z]\\cdot)"), "; "),
    (re.compile(r"\\cdot\{\}"), r"\\cdot "),
)
_SENTENCES = re.compile(r"(?<=[.:])\s+(?=[A-Z$])")


def reworded(text: str) -> str:
    """The text under "Input" with its sentences in other words, in the same paragraphs."""
    free = next((name for name in "stuvwxyz" if not re.search(rf"(?<![A-Za-z\\]){name}(?![A-Za-z])", text)), None)
    if free is None:
        return text
    text = _renamed(text)
    for pattern, replacement in _TOGETHER:
        text = pattern.sub(replacement, text)
    paragraphs = ("\n".join(filter(None, map(_reworded, _sentences(each)))) for each in text.split("\n\n"))
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph).replace(_ROW, free)


def _renamed(text: str) -> str:
    """``\\ell`` is a letter where there is no other l."""
    if not re.search(r"(?<![A-Za-z\\])l(?![A-Za-z])", text):
        text = re.sub(r"\\ell(?![A-Za-z])", "l", text)
    return text


def _sentences(paragraph: str) -> list[str]:
    return _SENTENCES.split(paragraph.removeprefix("- "))


def _reworded(sentence: str) -> str:
    if len(sentence) > _LONGEST:
        return sentence
    for pattern, replacement in _REWRITES:
        sentence = pattern.sub(replacement, sentence)
    return sentence
