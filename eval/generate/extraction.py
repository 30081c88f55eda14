"""Finding the program in a model's answer, by one chain of rules. Pure.

The rule that fired is kept by name with each answer; `RULES` says what each means. In this order:

1. An endpoint's refusal is one, whatever stands beside it. An answer without text is none (`EmptyContent`), nor is one
   that begins with "$ERROR$": both are failed requests. A byte order mark at the start of the answer and the mark of
   the end of a turn at its end are cut off.
2. Thinking is cut away, and turns that the model made up behind its own (`eval.generate.thinking`). Thinking that never
   ends leaves no answer.
3. Code blocks are read as CommonMark reads them (`eval.generate.fences`). Where that finds no block of the highest
   grade, one that does not parse, or an open one at the end, and where a limit of length ended the answer, they are
   read again as models mean them, and that reading counts if it finds more, or the block that the limit cut. A block
   that names another language is never taken; one that names none counts, if it reads like the language wanted. A first
   line of a block that is a fence or the language's name is cut off. Drafts before the last 2^17 characters of blocks
   are passed over.
4. A last block that is never closed, in the language wanted, means that the answer was cut off: what stands complete
   before it was a draft. An open block of another kind (words, output, another language) is passed over.
5. Of the complete blocks the last of the highest grade is taken. For a call-based problem that is one that defines the
   entry point, in Python with more than the outline of a body; else a whole program, which reads input and writes
   output. Below it stand those that write output and do more than make calls; then those that name the language, among
   them tests of another program (made-up input, an import of "solution" or of a module for tests); then those that name
   none. Sample data, sessions of a shell and changes to files (`is_no_program`) come last even where they name the
   language. So the use, the test, the input or the key line of a program behind it are passed over. A second program
   that does read and write is taken: nothing in it says that it is the slow or the wrong one. Blocks are never glued
   together: parts of a program are none, and the last of them is at best an ``output_block``.
6. Without a block, the whole answer is taken if it is a program, else the lines between the last two marks
   (``[PYTHON]`` and ``[/PYTHON]``, ``<answer>`` and ``</answer>``) that are one, else its longest end of whole lines
   that is one. Nothing is taken from the middle of a line, and words behind a program without a block leave none.

A program's characters are never changed, but for line ends (LF), the indentation of its fence and rule 3; a lone method
of a call-based problem gets its class (`eval.generate.completing`). What a model wrote in HTML (``&lt;``), with
no-break or zero-width spaces, is its program, and fails where the language refuses it. Time is linear in the answer:
more than 2^20 characters or 20,000 lines without the thinking are not read (`fences`), and what is parsed is bounded
(`python_programs`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from db.records import AnswerStatus
from eval.generate import shapes
from eval.generate.block_grades import WHOLE, WRITES, Seen, Wanted, read
from eval.generate.fences import TooLong, with_lf
from eval.generate.replies import Reply
from eval.generate.thinking import part

__all__ = [
    "RULES",
    "TOLD_RULES",
    "EmptyContent",
    "Extraction",
    "answer_text",
    "cut_status",
    "explain",
    "extract_program",
    "extraction_digest",
    "is_limit",
]

RULES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "entry_point_block": "the last complete block that defines the entry point",
        "completed_method": "the last complete block that defines the entry point, a lone method: its class was added",
        "whole_block": "the last complete block that is a whole program: it reads input and writes output",
        "output_block": "no block is a whole program: the last that writes output and does more than make calls",
        "tagged_block": "no block is a program by itself or defines the entry point: the last that names the language",
        "untagged_block": "no block names the language: the last of those that name none",
        "whole_answer": "no block: the whole answer is a program",
        "marked_lines": "no block: the lines between two marks ([PYTHON] and [/PYTHON], <answer> and </answer>) are a "
        "program",
        "last_lines": "no block: the last lines of the answer are a program",
        "open_block": "a block in the language wanted is never closed; what stands before it is a draft",
        "open_thinking": "the thinking is never closed",
        "limit_before_program": "the limit of length was reached before there was a whole program",
        "no_block": "no block, and no program without one",
        "no_program_block": "the blocks hold samples, commands or words",
        "too_long": "the answer is too long to be read as one",
        "other_language": "the blocks name other languages than the one wanted; the last of these stands behind the "
        "colon",
        "refusal_field": "the endpoint says that the model refused",
        "content_filter": "the endpoint's filter ended the answer",
    }
)
"""Name of each rule and what it means; `explain` also takes a name with a language behind it."""
TOLD_RULES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "answer_block": "the last complete block whose tag is answer",
        "last_block": "no block has the tag answer: the last one that is no program, first of those behind words of an "
        "answer or output",
        "answer_line": "no block: the last line that begins with ANSWER:",
        "answer_mark": "no block and no line: the last <answer>, \\boxed{} or heading Answer",
    }
)
"""The same where an output or a value is asked for and no program (`eval.scenarios`)."""

_VERSION: Final = "2"

_ERROR_MARK = "$ERROR$"
_NORMAL_ENDS = frozenset({"stop", "end_turn", "eos", "eos_token", "stop_sequence", "complete", "completed"})
_LIMITS = frozenset({"length", "max_tokens", "max_output_tokens", "model_length", "max_length"})
_FILTERS = frozenset({"content_filter", "safety", "refusal", "recitation", "blocklist", "prohibited_content"})


@dataclass(frozen=True)
class Extraction:
    """What was found. ``rule`` is a name of `RULES`, for another language with that behind a colon; ``code`` is the
    program, empty where the status has none."""

    status: AnswerStatus
    rule: str
    code: str = ""


@dataclass(frozen=True)
class EmptyContent:
    """No answer but a request that failed: to be asked again, never scored."""

    kind: Literal["empty_content", "error_text"]
    message: str


def extraction_digest() -> str:
    """The version of the rules: a condition of each run whose answers went through them."""
    return _VERSION


def explain(rule: str) -> str:
    """What a stored rule means, in words; one of another version as it stands."""
    name, _, detail = rule.partition(":")
    said = RULES.get(name) or TOLD_RULES.get(name, name)
    return f"{said}: {detail}" if detail else said


@dataclass(frozen=True)
class _Wanted(Wanted):
    """What is looked for, and how the answer ended (None: not known)."""

    finish_reason: str | None

    @property
    def is_cut(self) -> bool:
        return is_limit(self.finish_reason)

    @property
    def cut_status(self) -> AnswerStatus:
        return cut_status(self.finish_reason)

    def nothing(self, status: AnswerStatus, rule: str) -> Extraction:
        """No program: for the limit of length, where that ended the answer."""
        return Extraction(AnswerStatus.TRUNCATED, "limit_before_program") if self.is_cut else Extraction(status, rule)


def extract_program(
    reply: Reply,
    *,
    language: str,
    entry_point: str | None = None,
    starter_code: str = "",
    reasoning_is_answer: bool = False,
) -> Extraction | EmptyContent:
    """The program of an answer in ``language`` (the sandbox's name), or why there is none.

    ``entry_point`` is the function, or the class, that a call-based problem calls; ``starter_code`` names the class of
    a lone method. ``reasoning_is_answer`` searches the reasoning where there is no other text: a condition of the run.
    """
    answer = answer_text(reply, reasoning_is_answer=reasoning_is_answer)
    if not isinstance(answer, str):
        return answer
    return _search(answer, _Wanted(language, entry_point, starter_code, reply.finish_reason))


def answer_text(reply: Reply, *, reasoning_is_answer: bool = False) -> str | Extraction | EmptyContent:
    """The text of an answer that counts, with line ends LF and never blank, by rules 1 and 2; or what it is in place of
    one."""
    content = reply.content.removeprefix("\ufeff")
    if reply.refusal.strip() or _ended(reply.finish_reason) in _FILTERS:
        return Extraction(AnswerStatus.REFUSED, "refusal_field" if reply.refusal.strip() else "content_filter")
    if content.lstrip().startswith(_ERROR_MARK):
        return EmptyContent("error_text", f"the answer is an error's text: {' '.join(content[:200].split())}")
    parted = part(content)
    answer, is_open = parted.answer, parted.is_open
    if reasoning_is_answer and not answer.strip():
        reasoning = part(parted.thinking or reply.reasoning)
        answer, is_open = reasoning.answer or reasoning.thinking, False
    if is_open:
        return Extraction(cut_status(reply.finish_reason), "open_thinking")
    if answer.strip():
        return with_lf(answer)
    if is_limit(reply.finish_reason):
        return Extraction(AnswerStatus.TRUNCATED, "limit_before_program")
    has_thinking = bool(parted.thinking.strip() or reply.reasoning.strip())
    return EmptyContent("empty_content", f"the answer has {'thinking and nothing else' if has_thinking else 'no text'}")


def is_limit(finish_reason: str | None) -> bool:
    """Whether a limit of length ended an answer."""
    return _ended(finish_reason) in _LIMITS


def cut_status(finish_reason: str | None) -> AnswerStatus:
    """What an answer is that breaks off: only where it ended normally a stop word can have cut it."""
    return AnswerStatus.SUSPICIOUS_STOP if _ended(finish_reason) in _NORMAL_ENDS else AnswerStatus.TRUNCATED


def _ended(finish_reason: str | None) -> str | None:
    return finish_reason.lower() if finish_reason else None


def _search(answer: str, wanted: _Wanted) -> Extraction:
    try:
        reading = read(answer, wanted, is_cut=wanted.is_cut)
    except TooLong:
        return wanted.nothing(AnswerStatus.NO_CODE, "too_long")
    if reading.is_cut_off:
        return Extraction(wanted.cut_status, "open_block")
    if reading.chosen is not None:
        return _taken(reading.chosen, wanted)
    seen = reading.seen
    if seen and not seen[-1].block.is_closed and seen[-1].is_neutral:
        # Nothing before it that could be the program, so it was to come here.
        return Extraction(wanted.cut_status, "open_block")
    others = [one.other for one in seen if one.other]
    if others:
        return wanted.nothing(AnswerStatus.WRONG_LANGUAGE, f"other_language:{others[-1]}")
    return _without_block(answer, wanted, has_blocks=bool(seen))


def _taken(chosen: Seen, wanted: _Wanted) -> Extraction:
    code = chosen.block.content
    if chosen.grade < WRITES:
        return Extraction(AnswerStatus.OK, "tagged_block" if chosen.is_tagged else "untagged_block", code)
    if wanted.entry_point is None:
        return Extraction(AnswerStatus.OK, "whole_block" if chosen.grade == WHOLE else "output_block", code)
    whole = wanted.with_class(code)
    return Extraction(AnswerStatus.OK, "entry_point_block" if whole == code else "completed_method", whole)


def _without_block(answer: str, wanted: _Wanted, *, has_blocks: bool) -> Extraction:
    if wanted.is_cut:
        # Where it would have ended nobody can say.
        return Extraction(AnswerStatus.TRUNCATED, "limit_before_program")
    # Blank lines around it, whole ones, are no part of it.
    text = re.sub(r"\A(?:[ \t]*\n)++", "", answer)
    whole = wanted.with_class(text)
    found = shapes.whole_program(whole, wanted.language)
    if found:
        return Extraction(AnswerStatus.OK_UNFENCED, "whole_answer", whole)
    marked = _between_marks(text)
    if marked is not None and shapes.whole_program(wanted.with_class(marked), wanted.language):
        return Extraction(AnswerStatus.OK_UNFENCED, "marked_lines", wanted.with_class(marked))
    last = None if has_blocks else shapes.last_program(text, wanted.language)
    if last is not None:
        return Extraction(AnswerStatus.OK_UNFENCED, "last_lines", wanted.with_class(last))
    return Extraction(AnswerStatus.NO_CODE, "no_program_block" if has_blocks else "no_block")


_CLOSING_MARK = re.compile(r"^[ \t]*(?:\[/(?P<square>\w+)\]|</(?P<angle>\w+)>)[ \t]*$", re.MULTILINE)


def _between_marks(text: str) -> str | None:
    """The lines between the last closing mark and the last opening one of its name before it."""
    closings = list(_CLOSING_MARK.finditer(text))
    if not closings:
        return None
    closing, square = closings[-1], closings[-1]["square"]
    mark = rf"\[{square}\]" if square else rf"<{closing['angle']}\b[^>\n]*>"
    openings = list(re.finditer(rf"^[ \t]*{mark}[ \t]*\n", text[: closing.start()], re.MULTILINE))
    return text[openings[-1].end() : closing.start()] if openings else None
