"""What a statement says about how its answers are judged, with the sentence that says so. Pure.

A false flag takes a good problem out of the benchmark, and a missed one makes right programs wrong: the rules ask for
headings and for orders to the program, not for single words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ingest.statements.sentences import Part, Sentence, any_of, sentences
from ingest.statements.several_answers import hints_at_several_answers, says_several_answers, says_unique_answer
from ingest.statements.tolerances import read_comparison_rule

_MAX_CHARACTERS = 300
_READ_CHARACTERS = 200_000
_HEADINGS = {Part.INTERACTION: "interactive", Part.SCORING: "scoring"}
_WHOLE = re.compile(r".+")

_INTERACTIVE = any_of(
    r"\b(?:this|problem|task|question)(?: problem| task| question)? is (?:an? )?(?:\w+ )?"
    r"(?:interactive|reactive|run[- ]?twice)\b(?! (?!problem|task|question)\w)",
    r"\b(?:interactive|reactive|run[- ]twice) (?:problem|task)\b",
    r"\b(?:interact|communicat)\w* with (?:the |an? |our )?"
    r"(?:judge|judging|jury|grader|interactor|checker|testing system)\b",
    r"\bthe interactor\b",
    r"(?:インタラクティブ|リアクティブ)(?:な|形式|型|の)*(?:問題|タスク|形式)|対話(?:型|形式)(?:の)?問題",
    r"ジャッジ(?:プログラム|システム|側)?と(?:の)?(?:対話|やりとり|やり取り|インタラク)",
    r"интерактивн\w+ (?:задач|проблем)|задач\w* .{0,20}интерактивн",
    r"взаимодейств\w+ с (?:программой|интерактор|проверяющ|тестирующ|жюри)",
)
_NOT_INTERACTIVE = any_of(
    r"\b(?:not|isn't|non)[- ](?:an? )?interactive|\bunlike\b",
    r"(?:インタラクティブ|リアクティブ)(?:な)?(?:問題|形式)?では(?:な|あり)",
    r"\bне (?:является )?интерактивн",
)
_FLUSH = any_of(
    r"\bflush(?:ing|ed)?\b.{0,60}\b(?:output|stdout|buffer|stream|print\w*|quer(?:y|ies))\b",
    r"\bafter (?:each|every|printing|outputting)\b.{0,80}\bflush",
    r"(?:flush|フラッシュ).{0,20}(?:必要|して|せよ|し(?:て)?ください|すること|忘れ)",
    r"сбр(?:ос|асыва)\w+ (?:буфер|вывод|поток)",
)
_NOT_FLUSH = re.compile(r"(?:\b(?:not|avoid|without|instead of|never|no need)\b|n't\b)(?! forget).{0,20}\bflush")
_GIVEN_API = any_of(
    r"\b(?:given|call|calling|provided|use|using|through|via|helper)\b(?: \w+){0,4} (?:api|helper function)\b",
    r"\bpre-?defined api\b",
)

_FILE_NAME = r"[\w-]+\.[a-z]{2,4}\b"
_FILE = any_of(
    r"\b(?:input|output)\.txt\b",
    rf"(?:\b(?:input|output) file(?: ?name)?|(?:входн|выходн)\w+ файл\w*)\s*[:：]\s*{_FILE_NAME}",
    r"\b(?:read|input|writ\w+|output|print\w*|given|stored|data)\b.{0,60}\b(?:from|in|into|to) (?:the |a )?(?:text )?"
    rf"file (?:named |called )?[\"'«]?{_FILE_NAME}",
    r"\bфайл\w* [\"'«]?[\w-]+\.(?:in|out|txt|dat)\b",
)

_SCORING = any_of(
    r"\bsub-?task\s*#?\d+\b.{0,30}\b(?:points?|pts|marks?)\b",
    r"\bpartial (?:credit|scores?|points?|marks?)\b",
    r"\bscore (?:for|on|of) (?:the |this |each |an? |every |your )?(?:test case|submission)\b",
    r"\b(?:test cases?|tests?|data ?sets?)\b.{0,40}\b(?:worth|award\w*)\b.{0,20}\b(?:points?|marks?)\b",
    r"部分点|小課題|подзадач\w* \d",
)

_THE = r"(?:the |this )?(?:following |above |next |attached )?"
_NEEDS_IMAGE = any_of(
    r"\b(?:is|are|was|were)(?: all| only| also)? (?:shown|depicted|specified|defined|indicated|pictured) (?:in|on|by) "
    rf"{_THE}(?:figure|picture|image|diagram|drawing|illustration)s?\b",
    r"\b(?:is|are|was|were)(?: all| only| also)? (?:numbered|arranged|connected|named|laid out|located|placed|built)"
    r"(?: \w+)? as(?: is)?(?: shown| depicted| given| drawn)? (?:in|on) "
    rf"{_THE}(?:figure|picture|image|diagram|drawing|illustration)s?\b",
    # pictures are what many stories are about: points are drawn in them, and towns are marked
    r"\b(?:is|are|was|were)(?: all| only| also)? (?:given|drawn|described|listed|marked|labell?ed|presented|displayed) "
    rf"(?:in|on|by) {_THE}(?:figure|diagram)s?\b",
    r"\b(?:according to|as (?:defined|specified) (?:in|by)) the (?:following |above )?(?:figure|picture|diagram)s?\b",
    r"図(?:の通り|のとおり)(?!に?な)|図で(?:与え|定義|示され)|図に示(?:す|され)",
    r"(?:показан|изображ[её]н|указан|задан|привед[её]н)\w* на (?:рисунк|картинк|схем)",
)
_ILLUSTRATES = any_of(
    r"\b(?:examples?|samples?|e\.g\.|for instance|see also|possible|one of|one way|such an?)\b",
    r"\b(?:explanation|notes?|illustrat\w+|respectively|test case)\b",
    r"例|пример|возможн",
)
_TASK_PARTS = frozenset({Part.TASK, Part.INPUT, Part.OUTPUT, Part.INTERACTION, Part.CONSTRAINTS})
_IMAGE = re.compile(r"!\[([^\[\]]*)\]\([^()\s]*\)")


@dataclass(frozen=True)
class Wording:
    """``flags`` are (name, sentence) pairs; ``comparison`` the rule that the text determines, {} for the default."""

    flags: tuple[tuple[str, str], ...] = ()
    comparison: dict[str, Any] = field(default_factory=dict)


def read_wording(statement: str, *, is_call: bool = False) -> Wording:
    """What the Markdown of a statement says about its answers; ``is_call`` for problems that ask for a function.

    The flags are ``interactive``, ``multiple_answers``, ``file_io``, ``scoring`` and ``needs_image`` (else
    ``has_image``), each at most once, with at most 300 characters. ``comparison`` has the keys of
    ``ingest.comparison``: a tolerance or a letter case that the text sets free is in it and no flag, since such answers
    can be compared. Of several tolerances the widest counts. Only the first 200,000 characters are read: no statement
    is longer, and megabytes of data in one would take many seconds.
    """
    statement = statement[:_READ_CHARACTERS]
    comparison: dict[str, Any] = {}
    others: list[Sentence] = []
    for sentence in sentences(statement):
        rule = {} if sentence.is_heading else read_comparison_rule(sentence.plain)
        for name, value in rule.items():
            comparison[name] = max(comparison.get(name, 0.0), value) if name != "case_sensitive" else value
        if not rule:
            others.append(sentence)
    flags: dict[str, str] = {}
    for sentence in others:
        for name, found in _flags(sentence, is_call=is_call):
            flags.setdefault(name, sentence.around(found.start()))
    if "multiple_answers" not in flags and (hint := _hint(others, is_lenient=bool(comparison))):
        flags["multiple_answers"] = hint
    flags.update(_image_flag(statement, flags))
    return Wording(tuple(flags.items()), comparison)


def _flags(sentence: Sentence, *, is_call: bool) -> Iterator[tuple[str, re.Match[str]]]:
    """The flags of one sentence, each with the words that raise it."""
    plain, part = sentence.plain, sentence.part
    if sentence.is_heading:
        if part in _HEADINGS and (whole := _WHOLE.match(plain)):
            yield _HEADINGS[part], whole
        return
    is_output = part is Part.OUTPUT
    found = {
        "interactive": _interactive(plain, part, is_call=is_call),
        "multiple_answers": None
        if part is Part.INPUT
        else says_several_answers(plain, is_call=is_call, is_output=is_output),
        "file_io": _FILE.search(plain),
        "scoring": _SCORING.search(plain),
        "needs_image": _needs_image(plain, part),
    }
    for name, match in found.items():
        if match:
            yield name, match


def _interactive(plain: str, part: Part, *, is_call: bool) -> re.Match[str] | None:
    if _NOT_INTERACTIVE.search(plain):
        return None
    if found := _INTERACTIVE.search(plain):
        return found
    if part in (Part.SAMPLE, Part.NOTE):
        return None
    if is_call:
        return _GIVEN_API.search(plain)
    return None if _NOT_FLUSH.search(plain) else _FLUSH.search(plain)


def _needs_image(plain: str, part: Part) -> re.Match[str] | None:
    """Where the task says that its data is in a picture. What a picture shows of a sample, the sample says as well."""
    return None if part not in _TASK_PARTS or _ILLUSTRATES.search(plain) else _NEEDS_IMAGE.search(plain)


def _hint(others: list[Sentence], *, is_lenient: bool) -> str:
    """A sentence that hints at several answers where none says so; an empty string where the answer is unique."""
    if any(says_unique_answer(sentence.plain) for sentence in others):
        return ""
    for sentence in others:
        if sentence.part is Part.INPUT or sentence.is_heading:
            continue
        if found := hints_at_several_answers(sentence.plain, is_lenient=is_lenient):
            return sentence.around(found.start())
    return ""


def _image_flag(statement: str, flags: dict[str, str]) -> dict[str, str]:
    """The flag for images: those that stand for formulas are needed, others only where the text says so."""
    images = list(_IMAGE.finditer(statement))
    if not images or "needs_image" in flags:
        return {}
    formula = next((image for image in images if image[1] == "formula"), None)
    return {"needs_image" if formula else "has_image": (formula or images[0])[0][:_MAX_CHARACTERS]}
