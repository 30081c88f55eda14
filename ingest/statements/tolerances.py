"""How far an output may be from the expected one by the words of a sentence: in numbers, and in letter case. Pure.

Sentences come in lower case and without marks (``ingest.statements.sentences.Sentence.plain``).
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from ingest.statements.sentences import any_of

# A power of ten as statements write it (the mark of the power may have been lost), e-notation, a decimal fraction.
_MINUS = "[-\u2212\u2013]"
_FACTOR = r"(?:(?P<factor>\d(?:\.\d+)?)\s*(?:\\times|\\cdot|\*|\u00d7|\u00b7|x)\s*)?"
_NUMBER = any_of(
    rf"{_FACTOR}\{{?10\}}?\s*(?:\^|\*\*)?\s*[{{(]?\s*{_MINUS}\s*(?P<power>\d{{1,2}})",
    rf"(?P<mantissa>\d(?:\.\d+)?)\s?e\s?{_MINUS}(?P<exponent>\d{{1,2}})\b",
    r"(?P<fraction>\b0[.,]0*[1-9]\d{0,2})(?!\d|\s*(?:%|\\%))",
)
_SUPERSCRIPT = re.compile("10(\u207b[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+)")

_ABSOLUTE = re.compile(r"\babsolute\b|絶対|абсолютн")
_RELATIVE = re.compile(r"\brelative\b|相対|относительн")
_ERROR = any_of(
    r"\b(?:errors?|precision|accura(?:cy|te)|tolerances?)\b",
    r"誤差|精度|погрешност|точност|отлича",
)
# Words that stories have as well: only where something is accepted.
_DISTANCE = re.compile(r"\b(?:differ(?:s|ence)?|deviat\w+|within|off by)\b")
# Who allows it: without one of these words a sentence is about the input, or about the story.
_JUDGED = any_of(
    r"\b(?:answers?|outputs?|results?|solutions?|print(?:ed)?|display(?:ed)?|your|correct|accept(?:ed|able)?)\b",
    r"\b(?:judged?|jury|checker|considered|tolerated|permitted|allowed)\b",
    r"出力|解答|正解|正答|答え|許容|ジャッジ|想定解",
    r"ответ|вывед|выводит|вывест|засчит|считает|правильн|верн",
)
_ABOUT_INPUT = any_of(
    r"\bguaranteed\b|гарантир|保証",
    r"\b(?:in|of) the input\b|\binput (?:values?|numbers?|data)\b|\bgiven (?:with|to|up to)\b",
)
_ACCEPTED = re.compile(r"\b(?:accepted|considered|judged|correct|your|jury)\b")
# What stands before a decimal fraction that is a limit: such numbers are of many kinds.
_LIMIT = any_of(
    r"\b(?:exceeds?|at most|less than|smaller than|more than|below|under|within|up to|by|to)\b[^.]{0,15}$",
    r"\b(?:error|tolerance|precision|accuracy) (?:of|is)\b[^.]{0,15}$",
    r"(?:≤|<|\\leq?)\s*$|(?:誤差|精度)(?:が|は)?\s*$|(?:более|превы\w+|превос\w+|меньше|чем на|до)\s*$",
)
_WITHIN_ANSWER = re.compile(r"\bwithin\b.{0,60}\bof the (?:actual|correct|true|expected|exact|judge'?s?|jury'?s?) ")

_IN_ANY_CASE = (
    r"\bin (?:any|either|both|arbitrary|whichever) (?:letter )?(?:case|register)s?\b(?! where| when| that| of )"
)
_IN_EITHER_CASE = r"\b(?:upper|lower)(?:-? ?case)? or (?:upper|lower)"
_NO_DIFFERENCE_JAPANESE = r"大文字.{0,30}小文字.{0,30}(?:区別し(?:ない|ません|ず)|どちら|問わ|問いません|いずれ)"
_OUTPUT_JAPANESE = r"(?:出力|ジャッジ|解答|正解|答え)"
_CASE = any_of(
    r"\b(?:can|may|could|might|allowed to|free to)\b.{0,60}\b(?:print|output|display|writ|answer|return)\w*\b.{0,120}"
    + _IN_ANY_CASE,
    rf"\byes\b.{{0,60}}{_IN_ANY_CASE}",
    r"\b(?:each|every|any) (?:letter|character)s? in (?:any|either) (?:case|register)\b",
    r"\bin (?:any|either) (?:case|register) \((?:upper|lower|for example|so|e\.g\.)",
    rf"\b(?:can|may)\b.{{0,30}}\b(?:print|output|display|answer)\w*\b.{{0,80}}{_IN_EITHER_CASE}",
    r"\b(?:judge|judging|checker|grader|answers?|outputs?|responses?|yes|no)\b.{0,40}\b(?:is|are|be)\b.{0,30}"
    r"(?:\bcase[- ]?insensitive|\bnot case[- ]?sensitive)",
    r"\b(?:judge|checker|grader)\b.{0,40}\bignor\w+ (?:the )?(?:letter )?case\b",
    r"\brecogni[sz]ed as (?:a |an |the )?(?:positive|negative|affirmative)\b",
    # the same word three times, as it looks in lower case: yes, YES and yEs
    r"""\b(?P<word>[a-z]+)\b\W+(?:and |or )?["'“]?(?P=word)\b\W+(?:and |or )?["'“]?(?P=word)\b.{0,60}"""
    r"\b(?:accepted|recogni[sz]ed|considered)\b",
    rf"{_OUTPUT_JAPANESE}.*{_NO_DIFFERENCE_JAPANESE}",
    rf"{_NO_DIFFERENCE_JAPANESE}.*{_OUTPUT_JAPANESE}",
    r"(?:вывод|вывест|выведите|печата|ответ|букв).*в (?:любом|произвольном) регистре",
    r"регистр\w* (?:букв |символов )?(?:ответа )?(?:не имеет значения|не важен|не учитывается)",
)
_CASE_IS_NOTHING = re.compile(
    r"(?:\b(?:capitali[sz]ation|letter case|case of (?:the |each )?(?:letters?|characters?|output|answer))\b.{0,40}"
    r"|\bcase )\b(?:does|is)(?:n't| not) (?:matter|important|relevant|checked)"
)
_OUTPUT = re.compile(r"\b(?:print|output|answer|yes|no|display|recogni[sz]|accept|judge|checker)")


def read_comparison_rule(plain: str) -> dict[str, Any]:
    """The rules that a sentence sets, as keys of ``ingest.comparison``; empty for none."""
    rule: dict[str, Any] = dict(_tolerance(plain))
    if _CASE.search(plain) or (_CASE_IS_NOTHING.search(plain) and _OUTPUT.search(plain)):
        rule["case_sensitive"] = False
    return rule


def _tolerance(plain: str) -> dict[str, float]:
    """An error that is not called absolute or relative is an absolute one.

    LeetCode's "within 10^-5 of the actual answer" counts as either, as such answers are compared.
    """
    text = _SUPERSCRIPT.sub(lambda match: "10^" + unicodedata.normalize("NFKC", match[1]), plain)
    absolute, relative = _ABSOLUTE.search(text), _RELATIVE.search(text)
    error = _ERROR.search(text) or (_DISTANCE.search(text) if _ACCEPTED.search(text) else None)
    numbers = _numbers(text)
    if not numbers or not _is_about_answers(text) or not (error or (absolute and relative)):
        return {}
    if not absolute and not relative and _WITHIN_ANSWER.search(text):
        return {"absolute_tolerance": numbers[0][1], "relative_tolerance": numbers[0][1]}
    found = {}
    if absolute or not relative:
        found["absolute_tolerance"] = _after(numbers, absolute or error)
    if relative:
        found["relative_tolerance"] = _after(numbers, relative)
    return found


def _is_about_answers(text: str) -> bool:
    return bool(_JUDGED.search(text)) and (not _ABOUT_INPUT.search(text) or bool(_ACCEPTED.search(text)))


def _numbers(text: str) -> list[tuple[int, float]]:
    """The numbers between 0 and 1 that may be limits, with where they stand."""
    return [
        (match.start(), value)
        for match in _NUMBER.finditer(text)
        if 0 < (value := _value(match)) < 1 and (not match["fraction"] or _LIMIT.search(text, 0, match.start()))
    ]


def _after(numbers: list[tuple[int, float]], word: re.Match[str] | None) -> float:
    """The number that follows the word, or the first one where none does."""
    return next((value for start, value in numbers if word and start > word.start()), numbers[0][1])


def _value(match: re.Match[str]) -> float:
    if match["power"]:
        return float(f"{match['factor'] or 1}e-{match['power']}")
    if match["exponent"]:
        return float(f"{match['mantissa']}e-{match['exponent']}")
    return float(match["fraction"].replace(",", "."))
