"""What a LeetCode statement says of its input: the list of constraints, and the text before the examples. Pure.

Statements are plain text or Markdown; both are read as the plain text "1 <= nums[i] <= 10^9", without marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from eval.made_tests.reading.call_shapes import Rows

_HEADING = "Constraints:"
_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff"))
_PLAIN = str.maketrans(
    {"≤": "<=", "≥": ">=", "≠": "!=", "−": "-", "–": "-", "×": "*", "·": "*"}
    | {"‘": "'", "’": "'", "“": '"', "”": '"', "`": "", "\u00a0": " ", "\t": " "}
)
_BULLET = re.compile(r"^[*•]\s+")
_EXAMPLE = re.compile(r"^(?:Example|Examples)\b[^.]*:$")
_SENTENCE_END = re.compile(r"(?<=[.:])\s+(?=[A-Z])")
_ASKS_MORE = re.compile(r"^Follow[ -]?up\b", re.IGNORECASE)
_ROWS = re.compile(r"\b(\w+)\[i\] ?(?:==|=|is (?:of|in) the form(?: of)?) ?\[([^\[\]]*)\]")
_ROW_SENTENCE = re.compile(r"^(\w+)\[i\] ?(?:==|=) ?\[[^\[\]]*\]$")
_COLUMN = re.compile(r"^([A-Za-z]\w*?)(_i)?$")
_SHEETS = re.compile(r"\b(?:matrix|grid|board|[nm] ?[x*] ?[nm])\b")


def constraints_of(statement: str) -> tuple[str, ...] | None:
    """The sentences of the list of constraints, one a line of it, without the full stop; None if there is no list.

    What a follow-up asks says nothing of the input.
    """
    lines = _plain_lines(statement)
    headings = [place for place, line in enumerate(lines) if line == _HEADING]
    if not headings:
        return None
    listed = []
    for line in lines[headings[-1] + 1 :]:
        if _ASKS_MORE.match(line):
            break
        listed.append(line.removesuffix("."))
    return tuple(line for line in listed if line)


def premises_of(statement: str) -> tuple[str, ...]:
    """The sentences before the first example (or before the constraints), without the full stop."""
    sentences: list[str] = []
    for line in _plain_lines(statement):
        if _EXAMPLE.match(line) or line == _HEADING:
            break
        sentences += (part.removesuffix(".") for part in _SENTENCE_END.split(line))
    return tuple(sentence for sentence in sentences if sentence)


def _plain_lines(statement: str) -> list[str]:
    lines = (_plain(line) for line in statement.splitlines())
    return [line for line in lines if line]


def _plain(line: str) -> str:
    """A line without bullets, marks of Markdown and what cannot be seen."""
    text = line.translate(_INVISIBLE).translate(_PLAIN).replace("**", "")
    return re.sub(r" +", " ", _BULLET.sub("", text.strip())).strip()


def rows_of(sentences: Iterable[str]) -> list[Rows]:
    """What the sentences call the columns of tables."""
    found = []
    for sentence in sentences:
        for name, listed in _ROWS.findall(sentence):
            columns = [_COLUMN.match(column.strip()) for column in listed.split(",")]
            names = tuple((column[1], bool(column[2])) for column in columns if column)
            found.append(Rows(name, names if len(names) == len(columns) == len(set(names)) else ()))
    return found


def table_of_rows(sentence: str) -> str | None:
    """The table whose columns a sentence names, if it says nothing else."""
    match = _ROW_SENTENCE.match(sentence)
    return match[1] if match else None


def is_rectangular(premises: Iterable[str]) -> bool:
    """Whether words such as "matrix" say that the rows of a table have one length."""
    return any(_SHEETS.search(sentence) for sentence in premises)
