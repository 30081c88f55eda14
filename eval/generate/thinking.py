"""Telling a model's thinking from its answer where both stand in one text. Pure.

Known marks: ``<think>``, ``<thinking>``, ``<thought>``, ``<reasoning>``, ``<seed:think>``, ``◁think▷``, ``[THINK]``,
``<|begin_of_thought|>``, ``<|START_THINKING|>`` with their closing forms, in any case, and the channels of the harmony
form (``<|channel|>analysis<|message|>`` … ``<|channel|>final<|message|>``), also with its marks stripped off
("analysis…assistantfinal…"). An opening mark counts only at the start of a line or behind a closing one, and no mark
between two quotation marks or back-ticks does: programs and prose may speak of one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAMES = "(?:think|thinking|thought|reasoning|seed:think)"
# Each begins with a sign of its own: the search then passes over everything else at once.
_OPENING = re.compile(rf"<{_NAMES}>|◁think▷|\[THINK\]|<\|begin_of_thought\|>|<\|START_THINKING\|>", re.IGNORECASE)
_CLOSING = re.compile(rf"</{_NAMES}>|◁/think▷|\[/THINK\]|<\|end_of_thought\|>|<\|END_THINKING\|>", re.IGNORECASE)
_QUOTES = frozenset("'\"`")

_HARMONY = "<|channel|>"
_FINAL = re.compile(r"<\|channel\|>final\b[^\n<]*(?:<\|constrain\|>[^\n<]*)?<\|message\|>")
_END_OF_MESSAGE = re.compile(r"<\|(?:end|return|start|call)\|>")
_BARE_FINAL = "assistantfinal"
_BARE_ANALYSIS = "analysis"

# Servers with a wrong chat template let the mark of the end of a turn through; behind a fence it would keep it open.
_END_OF_TURN = re.compile(
    r"(?:<\|(?:im_end|endoftext|end_of_text|eot_id|end|return|end_of_solution)\|>|</s>|<end_of_turn>"
    r"|<｜end▁of▁sentence｜>)\s*\Z"
)
_LONGEST_MARK = 64
_MOST_MARKS = 4  # at the end of one text: a model that goes on and on with them has not ended


@dataclass(frozen=True)
class Parted:
    """``answer`` is what counts, ``thinking`` what stands before (or around) it. ``is_open``: the text ends inside
    thinking that nothing closes; ``answer`` is then what stands between the thoughts before it."""

    answer: str
    thinking: str
    is_open: bool


def part(text: str) -> Parted:
    """Part a text: only what follows the last closing mark counts.

    Where nothing but white space follows it, a text before its opening mark does (an answer that is explained
    afterwards). After an opening mark that is never closed everything is thinking.
    """
    text = _without_end_of_turn(text)
    if _HARMONY in text:
        return _part_harmony(text)
    if text.startswith(_BARE_ANALYSIS) and _BARE_FINAL in text:
        thinking, _, answer = text.rpartition(_BARE_FINAL)
        return Parted(answer, thinking.removeprefix(_BARE_ANALYSIS), is_open=False)
    before, start, last_mark = 0, 0, 0
    for match in _CLOSING.finditer(text):
        if not _is_quoted(match):
            before, start, last_mark = start, match.end(), match.start()
    opening = _opening(text, start)
    if opening is not None:
        return Parted(text[start : opening.start()], text[opening.end() :], is_open=True)
    answer = text[start:]
    first = _opening(text, before, last_mark)
    if first is None:
        return Parted(answer, text[:last_mark], is_open=False)
    if answer.strip():
        return Parted(answer, text[: first.start()] + text[first.end() : last_mark], is_open=False)
    return Parted(text[before : first.start()], text[first.end() : last_mark], is_open=False)


def without_thinking(text: str) -> tuple[str, str]:
    """What counts and the thinking; where the thinking is never closed, nothing counts and everything is thinking."""
    parted = part(text)
    return ("", text) if parted.is_open else (parted.answer, parted.thinking)


def _opening(text: str, start: int, end: int | None = None) -> re.Match[str] | None:
    """The first opening mark from ``start`` on that begins a line or follows at once."""
    for match in _OPENING.finditer(text, start, len(text) if end is None else end):
        place = match.start()
        while place > start and text[place - 1] in " \t":
            place -= 1
        if place == start or text[place - 1] in "\r\n":
            return match
    return None


def _is_quoted(match: re.Match[str]) -> bool:
    text, before, behind = match.string, match.start() - 1, match.end()
    return before >= 0 and text[before] in _QUOTES and text[behind : behind + 1] in _QUOTES


def _without_end_of_turn(text: str) -> str:
    for _ in range(_MOST_MARKS):
        match = _END_OF_TURN.search(text, max(0, len(text.rstrip()) - _LONGEST_MARK))
        if match is None:
            break
        text = text[: match.start()]
    return text


def _part_harmony(text: str) -> Parted:
    final = None
    for match in _FINAL.finditer(text):
        final = match
    if final is None:
        return Parted("", text, is_open=True)
    end = _END_OF_MESSAGE.search(text, final.end())
    answer = text[final.end() : end.start() if end is not None else len(text)]
    return Parted(answer, text[: final.start()], is_open=False)
