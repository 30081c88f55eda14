"""The parts of a statement that speak of its input: the task, the input and the constraints, in lines. Pure.

Markdown, plain text and LaTeX are read alike; a heading is a line with nothing but its name in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from eval.made_tests.reading.latex import as_markdown

_HEADING = re.compile(r"^(?:#{1,6}\s*)?(?:\*\*)?\s*([A-Za-z][A-Za-z ]*?(?: ?\d+)?)\s*:?\s*(?:\*\*)?\s*:?$")
_BULLET = re.compile(r"^\s*(?:[*+-]|•)\s+")
_INPUT = frozenset({"input", "input format"})
_CONSTRAINTS = frozenset({"constraints", "constraint"})
_OTHERS = frozenset(
    {"output", "output format", "problem statement", "problem", "statement", "scoring", "note", "notes"}
)
_SAMPLE = re.compile(r"^(?:sample|examples?)\b")
# "input / stdin" above Codeforces' statements is no heading.
_PROSE_END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z(])|(?<![ie]\.[eg]\.)(?<!vs\.)(?<=[.!?])\s+(?=\$)|\n(?=[A-Z(-])")
"""Where a sentence of prose ends: before a capital letter, or after a full stop before a formula."""
_STREAM = re.compile(r"^(?:stdin|stdout|standard (?:input|output)|\S+\.(?:txt|in|out))$", re.IGNORECASE)
_FENCE = re.compile(r"^\s*```")
_LONGEST, _LONGEST_HEADING = 100_000, 60


@dataclass(frozen=True)
class Line:
    """A line of a part. ``is_code``: it stands between fences. ``begins``: it begins a bullet or paragraph."""

    text: str
    is_code: bool = False
    begins: bool = True


@dataclass(frozen=True)
class Parts:
    """The lines before the first heading that is known, those of the input and those of the constraints."""

    task: tuple[Line, ...]
    input: tuple[Line, ...]
    constraints: tuple[Line, ...]


def parts_of(statement: str) -> Parts:
    """The parts; each is empty where the statement has none, or is longer than statements are."""
    found: dict[str, list[Line]] = {"task": [], "input": [], "constraints": [], "": []}
    if len(statement) > _LONGEST:
        return Parts((), (), ())
    part, is_code, begins = "task", False, True
    for raw in _without_streams(as_markdown(statement).splitlines()):
        if _FENCE.match(raw):
            is_code, begins = not is_code, True
            continue
        text = raw.strip()
        if not is_code and (heading := _heading(text)) is not None:
            if heading == "sample":
                break
            part, begins = (heading if heading not in found or not found[heading] or heading == "task" else ""), True
            continue
        if not text or (not is_code and set(text) <= {"-", "*", "_"} and len(text) >= 3):
            begins = True
            continue
        bullet = None if is_code else _BULLET.match(raw)
        text = raw[bullet.end() :].strip() if bullet else text
        if text:
            found[part].append(Line(text, is_code, begins or bullet is not None))
            begins = False
    return Parts(tuple(found["task"]), tuple(found["input"]), tuple(found["constraints"]))


def _without_streams(lines: list[str]) -> list[str]:
    """The lines without those that name where input and output go, and the words before them."""
    kept: list[str] = []
    for line in lines:
        if not _STREAM.match(line.strip()):
            kept.append(line)
            continue
        while kept and not kept[-1].strip():
            kept.pop()
        if kept and kept[-1].strip().lower() in ("input", "output"):
            kept.pop()
    return kept


def _heading(text: str) -> str | None:
    """The part that a heading begins; None for a line that is no heading."""
    match = _HEADING.match(text) if len(text) <= _LONGEST_HEADING else None
    if match is None:
        return None
    name = match.group(1).strip().lower()
    if name in _INPUT:
        return "input"
    if name in _CONSTRAINTS:
        return "constraints"
    if _SAMPLE.match(name):
        return "sample"
    return "" if name in _OTHERS or text.startswith("#") else None


def sentences(lines: tuple[Line, ...]) -> tuple[str, ...]:
    """The sentences of lines: a line that begins with a small letter goes on with the one before."""
    joined: list[str] = []
    for line in lines:
        if joined and not line.begins and re.match(r"[a-z(]", line.text) and not re.search(r"[.:]$", joined[-1]):
            joined[-1] = f"{joined[-1]} {line.text}"
        else:
            joined.append(line.text)
    return tuple(part for text in joined for part in _split(text))


def prose(lines: tuple[Line, ...]) -> tuple[str, ...]:
    """The sentences of a text that is no list."""
    text = "\n".join(line.text for line in lines if not line.is_code)
    return tuple(part.strip() for part in _PROSE_END.split(text) if part.strip())


def _split(text: str) -> list[str]:
    """Where a full stop ends a sentence, before a capital letter or a formula of more than a letter."""
    return [part for part in re.split(r"(?<=[a-z0-9)$}`][.])\s+(?=[A-Z][a-z]+ |In |It )", text) if part.strip()]
