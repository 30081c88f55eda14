"""Finding the program in a model's answer, by one chain of rules. Pure.

The rule that fired is kept by name with each answer; `RULES` says what each means. In this order:

1. An endpoint's refusal is one, whatever stands beside it. An answer without text is none (`EmptyContent`), nor is one
   that begins with "$ERROR$": both are failed requests. A byte order mark at the start of the answer and the mark of
   the end of a turn at its end are cut off.
2. Thinking is cut away (`eval.generate.thinking`). Thinking that never ends leaves no answer.
3. Code blocks are read as CommonMark reads them (`eval.generate.fences`). A block that names another language is never
   taken; one that names none counts, if it reads like the language wanted.
4. A last block that is never closed, in the language wanted, means that the answer was cut off: what stands complete
   before it was a draft. An open block of another kind (words, output, another language) is passed over.
5. Of the complete blocks the last is taken that is a whole program; of a call-based problem, the last that defines the
   entry point. Whole: it writes output, and reads input or does more than make calls (a line ``print(solve(3))`` after
   the program shows its use, a line ``dp[i] += 1`` explains it). Where none is whole, the last one that names the
   language, then the last one that names none. Sample data, sessions of a shell and changes to files (`is_no_program`)
   come last even where they name the language. Blocks are never glued together: parts of a program are none.
6. Without a block, the whole answer is taken if it is a program, else its longest end of whole lines that is one.

A program's characters are never changed, but for line ends (LF) and the indentation of its fence. What a model wrote
in HTML (``&lt;``), with no-break or zero-width spaces, is its program, and fails where the language refuses it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from db.records import AnswerStatus
from eval.generate import shapes
from eval.generate.completing import completed
from eval.generate.fences import (
    NEUTRAL_TAGS,
    PROSE_TAGS,
    Block,
    TooLong,
    language_of,
    read_blocks,
    tag_of,
    with_lf,
)
from eval.generate.replies import Reply
from eval.generate.thinking import part

__all__ = ["RULES", "EmptyContent", "Extraction", "explain", "extract_program", "extraction_digest"]

RULES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "entry_point_block": "the last complete block that defines the entry point",
        "completed_method": "the last complete block that defines the entry point, a lone method: its class was added",
        "whole_block": "the last complete block that is a whole program: it writes output, and reads input or does "
        "more than make calls",
        "tagged_block": "no block is a whole program or defines the entry point: the last that names the language",
        "untagged_block": "no block names the language: the last of those that name none",
        "whole_answer": "no block: the whole answer is a program",
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

_VERSION: Final = "1"

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
    said = RULES.get(name, name)
    return f"{said}: {detail}" if detail else said


@dataclass(frozen=True)
class _Wanted:
    """What is looked for, and how the answer ended (None: not known)."""

    language: str
    entry_point: str | None
    starter_code: str
    finish_reason: str | None

    @property
    def is_cut(self) -> bool:
        return self.finish_reason in _LIMITS

    @property
    def cut_status(self) -> AnswerStatus:
        """What an answer is that breaks off: only where it ended normally a stop word can have cut it."""
        return AnswerStatus.SUSPICIOUS_STOP if self.finish_reason in _NORMAL_ENDS else AnswerStatus.TRUNCATED

    def nothing(self, status: AnswerStatus, rule: str) -> Extraction:
        """No program: for the limit of length, where that ended the answer."""
        return Extraction(AnswerStatus.TRUNCATED, "limit_before_program") if self.is_cut else Extraction(status, rule)

    def is_whole(self, code: str) -> bool:
        if self.entry_point is not None:
            return shapes.defines(code, self.entry_point, self.language)
        return shapes.is_whole(code, self.language)


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
    ended = reply.finish_reason.lower() if reply.finish_reason else None
    content = reply.content.removeprefix("\ufeff")
    if reply.refusal.strip() or ended in _FILTERS:
        return Extraction(AnswerStatus.REFUSED, "refusal_field" if reply.refusal.strip() else "content_filter")
    if content.lstrip().startswith(_ERROR_MARK):
        return EmptyContent("error_text", f"the answer is an error's text: {' '.join(content[:200].split())}")
    wanted = _Wanted(language, entry_point, starter_code, ended)
    parted = part(content)
    answer, is_open = parted.answer, parted.is_open
    if reasoning_is_answer and not answer.strip():
        reasoning = part(parted.thinking or reply.reasoning)
        answer, is_open = reasoning.answer or reasoning.thinking, False
    if is_open:
        return Extraction(wanted.cut_status, "open_thinking")
    if answer.strip():
        return _search(with_lf(answer), wanted)
    if wanted.is_cut:
        return Extraction(AnswerStatus.TRUNCATED, "limit_before_program")
    has_thinking = bool(parted.thinking.strip() or reply.reasoning.strip())
    return EmptyContent("empty_content", f"the answer has {'thinking and nothing else' if has_thinking else 'no text'}")


def _search(answer: str, wanted: _Wanted) -> Extraction:
    try:
        blocks = read_blocks(answer)
    except TooLong:
        return wanted.nothing(AnswerStatus.NO_CODE, "too_long")
    seen = [_Seen.of(block, wanted) for block in blocks]
    if seen and seen[-1].is_cut_off(wanted):
        return Extraction(wanted.cut_status, "open_block")
    chosen = _choose([one for one in seen if one.block.is_closed])
    if chosen is not None:
        return _taken(chosen, wanted)
    if seen and not seen[-1].block.is_closed and seen[-1].is_neutral:
        # Nothing before it that could be the program, so it was to come here.
        return Extraction(wanted.cut_status, "open_block")
    others = [one.other for one in seen if one.other]
    if others:
        return wanted.nothing(AnswerStatus.WRONG_LANGUAGE, f"other_language:{others[-1]}")
    return _without_block(answer, wanted, has_blocks=bool(seen))


# How much speaks for a block: of those with the highest grade the last is taken.
_WHOLE, _TAGGED, _READS_LIKE_IT, _UNLIKELY, _NEVER = 4, 3, 2, 1, 0


@dataclass(frozen=True)
class _Seen:
    """A block with what speaks for it. ``is_tagged``: it names the language wanted, ``is_neutral``: none, and nothing
    else that it would be; ``other`` is the language that it names, or is plainly written in, where that is another."""

    block: Block
    grade: int
    other: str = ""
    is_tagged: bool = False
    is_neutral: bool = False
    has_tag: bool = True

    @staticmethod
    def of(block: Block, wanted: _Wanted) -> _Seen:
        tag = tag_of(block.info)
        named = language_of(tag) or tag
        if shapes.family(named) == shapes.family(wanted.language):
            return _Seen(block, _grade_of_tagged(block.content, wanted), is_tagged=True)
        if named in PROSE_TAGS:
            return _Seen(block, _NEVER)
        if named and named not in NEUTRAL_TAGS:
            return _Seen(block, _NEVER, _shown(named))
        grade, other = _grade_of_untagged(block.content, wanted)
        return _Seen(block, grade, other, is_neutral=not other, has_tag=bool(tag))

    def is_cut_off(self, wanted: _Wanted) -> bool:
        """Whether this is an open block of the program that was wanted."""
        if self.block.is_closed or self.other:
            return False
        reads_like_it = self.grade > _UNLIKELY and shapes.has_code(self.block.content, wanted.language)
        return self.is_tagged or (reads_like_it and not self.has_tag)


def _grade_of_tagged(code: str, wanted: _Wanted) -> int:
    if shapes.is_no_program(code):
        return _UNLIKELY if code.strip() else _NEVER
    return _WHOLE if wanted.is_whole(code) else _TAGGED


def _grade_of_untagged(code: str, wanted: _Wanted) -> tuple[int, str]:
    """The grade, and the language that the block is plainly written in where that is another one."""
    if shapes.is_no_program(code):
        return _NEVER, ""
    if wanted.language in shapes.PYTHON:
        tree = shapes.parsed(code)
        if tree is not None:
            if not shapes.is_python_program(tree):
                return _NEVER, ""
            return (_WHOLE if wanted.is_whole(code) else _READS_LIKE_IT), ""
    other = shapes.other_family(code, wanted.language)
    if other is not None:
        return _NEVER, other
    if wanted.is_whole(code):
        return _WHOLE, ""
    return (_READS_LIKE_IT if shapes.has_code(code, wanted.language) else _NEVER), ""


def _choose(seen: list[_Seen]) -> _Seen | None:
    best = max((one.grade for one in seen), default=_NEVER)
    return next((one for one in reversed(seen) if one.grade == best), None) if best else None


def _taken(chosen: _Seen, wanted: _Wanted) -> Extraction:
    code = chosen.block.content
    if chosen.grade < _WHOLE:
        return Extraction(AnswerStatus.OK, "tagged_block" if chosen.is_tagged else "untagged_block", code)
    if wanted.entry_point is None:
        return Extraction(AnswerStatus.OK, "whole_block", code)
    whole = _with_class(code, wanted)
    return Extraction(AnswerStatus.OK, "entry_point_block" if whole == code else "completed_method", whole)


def _with_class(code: str, wanted: _Wanted) -> str:
    if wanted.entry_point is None or wanted.language not in shapes.PYTHON:
        return code
    return completed(code, wanted.entry_point, wanted.starter_code)


def _without_block(answer: str, wanted: _Wanted, *, has_blocks: bool) -> Extraction:
    if wanted.is_cut:
        # Where it would have ended nobody can say.
        return Extraction(AnswerStatus.TRUNCATED, "limit_before_program")
    # Blank lines around it, whole ones, are no part of it.
    text = re.sub(r"\A(?:[ \t]*\n)++", "", answer)
    whole = _with_class(text, wanted)
    found = shapes.whole_program(whole, wanted.language)
    if found:
        return Extraction(AnswerStatus.OK_UNFENCED, "whole_answer", whole)
    last = None if has_blocks else shapes.last_program(text, wanted.language)
    if last is not None:
        return Extraction(AnswerStatus.OK_UNFENCED, "last_lines", _with_class(last, wanted))
    return Extraction(AnswerStatus.NO_CODE, "no_program_block" if has_blocks else "no_block")


def _shown(tag: str) -> str:
    """A tag as a rule may carry it: the word of a stranger, which ends in tables."""
    return re.sub(r"[^a-z0-9+#.\-]", "", tag)[:20] or "unknown"
