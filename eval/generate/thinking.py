"""Telling a model's thinking from its answer where both stand in one text. Pure.

Known marks: ``<think>``, ``<thinking>``, ``<thought>``, ``<reasoning>``, ``<seed:think>``, ``◁think▷``, ``[THINK]``,
``<|begin_of_thought|>``, ``<|START_THINKING|>`` with their closing forms, in any case, and the channels of the harmony
form (``<|channel|>analysis<|message|>`` … ``<|channel|>final<|message|>``), also with its marks stripped off
("analysis…assistantfinal…"). An opening mark counts only at the start of a line or behind a closing one, and no mark
between two quotation marks or back-ticks does: programs and prose may speak of one. Nor does an opening mark inside a
fenced block that is closed, or a closing one that stands there beside other text, or behind an opening one of the
block, where no thinking has begun before the block.

What follows a mark of the end of a turn outside a block is a turn that the model made up: it is cut off where an answer
stands before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from eval.generate.fences import Fence, ends_in_block, fences

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
    r"(?:<\|(?:im_end|endoftext|end_of_text|eot_id|eom_id|end|return|end_of_solution|end_of_box)\|>|</s>|<end_of_turn>"
    r"|<eos>|<｜end▁of▁sentence｜>)\s*\Z"
)
# Those that nothing else can mean, and that models of that form write between two turns.
_BETWEEN_TURNS = re.compile(
    r"<\|(?:im_end|im_start|endoftext|end_of_text|eot_id|eom_id|start_header_id)\|>|<end_of_turn>|<start_of_turn>"
    r"|<｜end▁of▁sentence｜>"
)
_LONGEST_MARK = 64
_LONGEST_MARGIN = 64  # blanks before a mark that begins a line
_MOST_MARKS = 4  # at the end of one text: a model that goes on and on with them has not ended
_MOST_IN_BLOCKS = 20_000  # fences or marks of a text in which it is asked which marks stand inside blocks


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
    for match, _ in zip(_BETWEEN_TURNS.finditer(text), range(_MOST_MARKS), strict=False):
        first_turn = _part_marks(text[: match.start()])
        if not _is_quoted(match) and _has_ended(first_turn):
            return first_turn
    return _part_marks(text)


def _has_ended(parted: Parted) -> bool:
    return bool(parted.answer.strip()) and not parted.is_open and not ends_in_block(parted.answer)


def _part_marks(text: str) -> Parted:
    before, start, last_mark = 0, 0, 0
    marks = _marks(text)
    for match in marks.closing:
        before, start, last_mark = start, match.end(), match.start()
    opening = marks.opening(text, start)
    if opening is not None:
        return Parted(text[start : opening.start()], text[opening.end() :], is_open=True)
    answer = text[start:]
    first = marks.opening(text, before, last_mark)
    if first is None:
        return Parted(answer, text[:last_mark], is_open=False)
    if answer.strip():
        return Parted(answer, text[: first.start()] + text[first.end() : last_mark], is_open=False)
    return Parted(text[before : first.start()], text[first.end() : last_mark], is_open=False)


def without_thinking(text: str) -> tuple[str, str]:
    """What counts and the thinking; where the thinking is never closed, nothing counts and everything is thinking."""
    parted = part(text)
    return ("", text) if parted.is_open else (parted.answer, parted.thinking)


@dataclass(frozen=True)
class _Marks:
    """The closing marks that count, and where those opening ones are that do not."""

    closing: Iterable[re.Match[str]]
    in_blocks: frozenset[int] = frozenset()

    def opening(self, text: str, start: int, end: int | None = None) -> re.Match[str] | None:
        """The first opening mark from ``start`` on that begins a line or follows at once."""
        for match in _OPENING.finditer(text, start, len(text) if end is None else end):
            if _begins_line(match, start) and match.start() not in self.in_blocks:
                return match
        return None


def _marks(text: str) -> _Marks:
    last_fence = max(text.rfind("```"), text.rfind("~~~"))
    if last_fence >= 0 and text.count("```") + text.count("~~~") <= _MOST_IN_BLOCKS:
        opening = list(islice(_OPENING.finditer(text), _MOST_IN_BLOCKS))
        closing = list(islice(_closing(text), _MOST_IN_BLOCKS))
        if 0 < len(opening) + len(closing) < _MOST_IN_BLOCKS:
            return _outside_blocks(text, [one for one in opening if _begins_line(one, 0)], closing, last_fence)
    return _Marks(_closing(text))


def _closing(text: str) -> Iterator[re.Match[str]]:
    return (match for match in _CLOSING.finditer(text) if not _is_quoted(match))


def _outside_blocks(text: str, opening: list[re.Match[str]], closing: list[re.Match[str]], last_fence: int) -> _Marks:
    events: list[tuple[int, int, Fence | re.Match[str]]] = [
        *((fence.start, 0, fence) for fence in fences(text)),
        *((match.start(), 1, match) for match in opening),
        *((match.start(), 2, match) for match in closing),
    ]
    events.sort(key=lambda event: event[:2])
    counted, in_blocks = [], set()
    block: Fence | None = None
    is_thinking, is_opened_in_block = False, False
    for place, kind, event in events:
        if isinstance(event, Fence):
            if block is None:
                block, is_opened_in_block = (event if event.opens else None), False
            elif event.closes(block):
                block = None
        elif kind == 1:
            if block is None or place > last_fence:
                is_thinking = True
            else:
                is_opened_in_block = True
                in_blocks.add(place)
        elif block is None or is_thinking or place > last_fence or (_is_alone(event) and not is_opened_in_block):
            counted.append(event)
            block, is_thinking = None, False
    return _Marks(counted, frozenset(in_blocks))


def _is_alone(match: re.Match[str]) -> bool:
    behind = match.string[match.end() : match.end() + _LONGEST_MARGIN].partition("\n")[0]
    return _begins_line(match, 0) and not behind.strip()


def _begins_line(match: re.Match[str], start: int) -> bool:
    first = max(start, match.start() - _LONGEST_MARGIN)
    before = match.string[first : match.start()].rstrip(" \t")
    return before.endswith(("\r", "\n")) if before else first == start


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
