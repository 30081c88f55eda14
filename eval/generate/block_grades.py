"""What speaks for each block of an answer being the program, and which way of reading the blocks finds more. Pure.

The rules are those of `eval.generate.extraction` (3 to 5).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from eval.generate import shapes
from eval.generate.completing import completed
from eval.generate.fences import (
    NEUTRAL_TAGS,
    PROSE_TAGS,
    Block,
    language_of,
    read_blocks,
    read_loosely,
    tag_of,
)
from eval.generate.python_programs import MAX_PARSED, is_python_program, parsed

# How much speaks for a block: of those with the highest grade the last is taken.
WHOLE, WRITES, _TAGGED, _READS_LIKE_IT, _UNLIKELY, _NEVER = 5, 4, 3, 2, 1, 0


@dataclass(frozen=True)
class Wanted:
    """What is looked for."""

    language: str
    entry_point: str | None
    starter_code: str

    @property
    def is_python(self) -> bool:
        return self.language in shapes.PYTHON

    def with_class(self, code: str) -> str:
        """The code with the class that a lone method needs."""
        if self.entry_point is None or not self.is_python:
            return code
        return completed(code, self.entry_point, self.starter_code)

    def grade_of(self, code: str) -> int:
        """`WHOLE` or `WRITES` for a program by itself, else `_NEVER`."""
        if self.entry_point is not None:
            return WHOLE if shapes.defines(self.with_class(code), self.entry_point, self.language) else _NEVER
        if not shapes.writes(code, self.language) or shapes.is_harness(code, self.language):
            return _NEVER
        return WHOLE if shapes.reads(code, self.language) else WRITES


def read(answer: str, wanted: Wanted, *, is_cut: bool) -> Reading:
    """The blocks of an answer, read so that more is found; ``is_cut``: a limit of length ended it. Raises `TooLong`."""
    reading = Reading.of(read_blocks(answer), wanted)
    if reading.is_sure and not is_cut:
        return reading
    second = Reading.of(read_loosely(answer, _EndsInText(wanted)), wanted)
    return second if second.rank > reading.rank or (second.is_cut_off and is_cut) else reading


@dataclass(frozen=True)
class Reading:
    """The blocks of an answer in one way of reading it; ``chosen`` is the best one, where the answer is not cut off.
    ``parses`` says whether it does, where that can be told."""

    seen: list[Seen]
    is_cut_off: bool
    chosen: Seen | None
    parses: bool

    @staticmethod
    def of(blocks: Sequence[Block], wanted: Wanted) -> Reading:
        seen = [Seen.of(_without_slipped_line(block, wanted), wanted) for block in _looked_at(blocks)]
        if seen and seen[-1].is_cut_off(wanted):
            return Reading(seen, is_cut_off=True, chosen=None, parses=False)
        chosen = _choose([one for one in seen if one.block.is_closed])
        parses = chosen is not None and (
            not wanted.is_python or parsed(wanted.with_class(chosen.block.content)) is not None
        )
        return Reading(seen, is_cut_off=False, chosen=chosen, parses=parses)

    @property
    def is_sure(self) -> bool:
        ends_open = bool(self.seen) and not self.seen[-1].block.is_closed
        return self.chosen is not None and self.chosen.grade == WHOLE and self.parses and not ends_open

    @property
    def rank(self) -> tuple[int, bool, bool, bool]:
        """How much a reading finds: a program, one that parses, all blocks closed, or at least a block cut off."""
        ends_open = bool(self.seen) and not self.seen[-1].block.is_closed
        return (self.chosen.grade if self.chosen else _NEVER, self.parses, self.is_cut_off, not ends_open)


def _looked_at(blocks: Sequence[Block]) -> Sequence[Block]:
    """The last blocks: drafts before their last MAX_PARSED characters are passed over, for the time that they take."""
    n_characters = 0
    for number, block in enumerate(reversed(blocks)):
        if n_characters > MAX_PARSED:
            return blocks[-number:]
        n_characters += len(block.content)
    return blocks


@dataclass
class _EndsInText:
    """Whether a block of Python ends inside a text of its own: it does not parse, with an odd number of triple quotes
    (in all, at most MAX_PARSED characters are looked at)."""

    wanted: Wanted
    n_parsed: int = 0

    def __call__(self, block: Block) -> bool:
        tag, code = tag_of(block.info), block.content
        is_wanted = self.wanted.is_python and (not tag or shapes.family(language_of(tag) or tag) == "python")
        if not is_wanted or not (code.count('"""') % 2 or code.count("'''") % 2):
            return False
        self.n_parsed += len(code)
        return self.n_parsed <= MAX_PARSED and parsed(code) is None


_FENCE_LINE = re.compile(r"[ \t]*(?:`{3,}|~{3,})[ \t]*(?P<tag>[\w+#.-]*)[ \t]*")
_NAME_LINE = re.compile(r"[ \t]*(?P<tag>[A-Za-z][\w+#]+)[ \t]*")


def _without_slipped_line(block: Block, wanted: Wanted) -> Block:
    """The block without a first line that was meant as its fence, or as the language behind it."""
    content = block.content.lstrip("\n")
    first, _, rest = content.partition("\n")
    fence = _FENCE_LINE.fullmatch(first)
    if fence is not None and rest.strip():
        return replace(block, info=fence["tag"] or block.info, content=rest)
    name = _NAME_LINE.fullmatch(first)
    named = language_of(name["tag"].lower()) if name is not None else None
    tag = tag_of(block.info)
    if name is None or named is None or (tag and shapes.family(language_of(tag) or tag) != shapes.family(named)):
        return block
    is_program = not shapes.is_no_program(rest) and shapes.has_code(rest, named)
    return replace(block, info=block.info or name["tag"], content=rest) if is_program else block


@dataclass(frozen=True)
class Seen:
    """A block with what speaks for it. ``is_tagged``: it names the language wanted, ``is_neutral``: none, and nothing
    else that it would be; ``other`` is the language that it names, or is plainly written in, where that is another."""

    block: Block
    grade: int
    other: str = ""
    is_tagged: bool = False
    is_neutral: bool = False
    has_tag: bool = True

    @staticmethod
    def of(block: Block, wanted: Wanted) -> Seen:
        tag = tag_of(block.info)
        named = language_of(tag) or tag
        if shapes.family(named) == shapes.family(wanted.language):
            return Seen(block, _grade_of_tagged(block.content, wanted), is_tagged=True)
        if named in PROSE_TAGS:
            return Seen(block, _NEVER)
        if named and named not in NEUTRAL_TAGS:
            return Seen(block, _NEVER, _shown(named))
        grade, other = _grade_of_untagged(block.content, wanted)
        return Seen(block, grade, other, is_neutral=not other, has_tag=bool(tag))

    def is_cut_off(self, wanted: Wanted) -> bool:
        """Whether this is an open block of the program that was wanted."""
        if self.block.is_closed or self.other:
            return False
        reads_like_it = self.grade > _UNLIKELY and shapes.has_code(self.block.content, wanted.language)
        return self.is_tagged or (reads_like_it and not self.has_tag)


def _grade_of_tagged(code: str, wanted: Wanted) -> int:
    if shapes.is_no_program(code):
        return _UNLIKELY if code.strip() else _NEVER
    return wanted.grade_of(code) or _TAGGED


def _grade_of_untagged(code: str, wanted: Wanted) -> tuple[int, str]:
    """The grade, and the language that the block is plainly written in where that is another one."""
    if shapes.is_no_program(code):
        return _NEVER, ""
    if wanted.is_python:
        tree = parsed(code)
        if tree is not None:
            if not is_python_program(tree):
                return _NEVER, ""
            return wanted.grade_of(code) or _READS_LIKE_IT, ""
    other = shapes.other_family(code, wanted.language)
    if other is not None:
        return _NEVER, other
    likely = _READS_LIKE_IT if shapes.has_code(code, wanted.language) else _NEVER
    return wanted.grade_of(code) or likely, ""


def _choose(seen: list[Seen]) -> Seen | None:
    best = max((one.grade for one in seen), default=_NEVER)
    return next((one for one in reversed(seen) if one.grade == best), None) if best else None


def _shown(tag: str) -> str:
    """A tag as a rule may carry it: the word of a stranger, which ends in tables."""
    return re.sub(r"[^a-z0-9+#.\-]", "", tag)[:20] or "unknown"
