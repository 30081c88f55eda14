"""Tables in a Markdown file of yours: what stands between two marks is replaced, every other byte stays. Pure.

A table goes between ``<!-- live:own -->`` (or common, equated) and ``<!-- /live -->``, each on a line of its own. What
stands in code is text: a file may say how its marks are written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

TABLES = ("own", "common", "equated")
_FORM = "write <!-- live:own --> (or common, equated) and <!-- /live -->, each on a line of its own"
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_MARK = re.compile(r"\s*<!--\s*(?P<end>/?)live(?P<colon>:?)(?P<which>[^\s>]*?)\s*-->\s*")


class MarksUnreadable(ValueError):
    """A file whose marks cannot be told, or that is no text. ``hint`` says what to do."""

    def __init__(self, message: str, hint: str = _FORM) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True)
class TableInFile:
    """A table between marks: which, the line of its first mark counted from 1, and whether it is another one now."""

    which: str
    line: int
    is_stale: bool


@dataclass(frozen=True)
class Rewritten:
    """A file with its tables as they are now."""

    body: bytes
    tables: tuple[TableInFile, ...]

    @property
    def is_stale(self) -> bool:
        """Whether anything changes."""
        return any(one.is_stale for one in self.tables)


@dataclass(frozen=True)
class _Mark:
    place: int
    which: str | None


def rewrite(body: bytes, name: str, table_of: Callable[[str], str]) -> Rewritten:
    """A file with each table between marks replaced by ``table_of(which)``, in the file's own line endings.

    ``name`` is the file's, for errors. Raises ``MarksUnreadable``.
    """
    lines = _LINE.findall(_text(body, name))
    parts: list[str] = []
    tables: list[TableInFile] = []
    rest = 0
    for first, last in _pairs(_marks(lines, name), name):
        end = _ending(lines[first.place])
        new = [end, *(line + end for line in table_of(str(first.which)).strip("\n").split("\n")), end]
        old = "".join(lines[first.place + 1 : last.place])
        parts += [*lines[rest : first.place + 1], *new]
        rest = last.place
        tables.append(TableInFile(str(first.which), first.place + 1, "".join(new) != old))
    parts += lines[rest:]
    return Rewritten("".join(parts).encode(), tuple(tables))


def _text(body: bytes, name: str) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        raise MarksUnreadable(f"{name}:{line}: not UTF-8, and tables are written in it", "save it as UTF-8") from error


def _marks(lines: list[str], name: str) -> list[_Mark]:
    """The marks of a file that stand outside of code."""
    code = _lines_of_code("".join(lines))
    found = []
    for place, line in enumerate(lines):
        match = _MARK.fullmatch(line.lstrip("\ufeff"))
        if match is None or place in code:
            continue
        which, is_end = match["which"], bool(match["end"])
        if is_end and not match["colon"] and not which:
            found.append(_Mark(place, None))
        elif not is_end and match["colon"] and which in TABLES:
            found.append(_Mark(place, which))
        elif match["colon"] or not which:
            raise MarksUnreadable(f"{name}:{place + 1}: no table is called so: {line.strip()}")
    return found


def _pairs(marks: list[_Mark], name: str) -> Iterator[tuple[_Mark, _Mark]]:
    if not marks:
        raise MarksUnreadable(f"{name} has no mark for a table")
    opened: _Mark | None = None
    for mark in marks:
        if opened is None:
            if mark.which is None:
                raise MarksUnreadable(f"{name}:{mark.place + 1}: <!-- /live --> ends a table that begins nowhere")
            opened = mark
        elif mark.which is None:
            yield opened, mark
            opened = None
        else:
            raise MarksUnreadable(
                f"{name}:{mark.place + 1}: <!-- live:{mark.which} --> stands inside the table of line "
                f"{opened.place + 1}, which has no <!-- /live --> before it"
            )
    if opened is not None:
        raise MarksUnreadable(f"{name}:{opened.place + 1}: <!-- live:{opened.which} --> has no <!-- /live --> after it")


def _lines_of_code(text: str) -> set[int]:
    """The places of lines that are shown as code."""
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").parse(text)
    blocks = [token.map for token in tokens if token.type in {"fence", "code_block"} and token.map]
    return {place for first, after in blocks for place in range(first, after)}


def _ending(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]
