"""JSON lines from a plain or gzip-compressed file, one object at a time, whatever the length of the file.

Both rooms that import read them: ``ingest`` problems, ``eval`` solutions and results.
"""

from __future__ import annotations

import codecs
import gzip
import io
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from db.importing import Refusal, UnreadableSource

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MAX_LINE_BYTES = 256 * 1024 * 1024
"""Longer lines are refused: real rows reach some tens of MB, and one line is held in memory whole."""

MAX_RAW = 2000
"""So many characters of a row are kept with what is said about it."""

READ_FAULTS = (OSError, EOFError, zlib.error)
"""What is raised where a file, once opened, cannot be read any further."""

GET_IT_AGAIN = "What stood before this place was read; get the file again and import it again for the rest."

_BUFFER_BYTES = 1024 * 1024
"""A line of tens of MB put together from small pieces leaves the memory in small pieces, too."""

_NEAR_THE_END = 32
"""The decoder points at most this far before the end when a token (an escape, a literal) is merely cut off."""

_GZIP_MAGIC = b"\x1f\x8b"
_LITERALS = ("true", "false", "null", "NaN", "Infinity", "-Infinity")
_ONE_EACH = "write one whole JSON object on each line"
_KINDS = {str: "a text", int: "a number", float: "a number", bool: "true or false", list: "a list", dict: "an object"}


@dataclass(frozen=True)
class JsonRow:
    """One row of a file: where it stands ("line 12"), its value, and the beginning of its text (`raw_of`)."""

    where: str
    value: Any
    raw: str


def open_bytes(path: Path) -> io.BufferedReader:
    """Open a file for reading, through gzip when its first bytes say so (the name does not matter).

    ``UnreadableSource`` when `path` is no readable file. A compressed file that is damaged or cut off gives all that
    stands before the damage and raises one of `READ_FAULTS` then.
    """
    try:
        file: io.BufferedReader = io.BufferedReader(io.FileIO(path), _BUFFER_BYTES)
        # Looked at, not read and opened again: a pipe can be read only once.
        compressed = file.peek(2).startswith(_GZIP_MAGIC)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UnreadableSource(
            f"{path} cannot be read: {reason}", "give the path of a file that you may read"
        ) from None
    return io.BufferedReader(_Unpacked(file), _BUFFER_BYTES) if compressed else file


class _Unpacked(io.RawIOBase):
    """What a gzip file holds, in pieces as large as they are asked for."""

    def __init__(self, packed: io.BufferedReader) -> None:
        self._packed = packed
        self._file = gzip.GzipFile(fileobj=packed, mode="rb")
        self._fault: Exception | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Fill the buffer. A fault waits until all that came before it has been handed over, and then stays."""
        room, filled = memoryview(buffer), 0
        while filled < len(room) and self._fault is None:
            try:
                # The plain readinto would lose what it has gathered before a fault.
                count = self._file.readinto1(room[filled:])
            except READ_FAULTS as error:
                self._fault = error
                break
            if not count:
                break
            filled += count
        if self._fault is not None and not filled:
            raise self._fault
        return filled

    def close(self) -> None:
        self._file.close()
        self._packed.close()
        super().close()


def read_json_lines(path: Path, max_bytes: int = MAX_LINE_BYTES) -> Iterator[JsonRow | Refusal]:
    """The JSON object on each line, or the refusal that stands for it. Blank lines are passed over.

    ``UnreadableSource`` when `path` is no readable file. A line of more than `max_bytes` is refused. A file that is
    one JSON array is refused as a whole; one that breaks off gives its whole lines and then one refusal.
    """
    with open_bytes(path) as file:
        lines = _Lines(file, max_bytes)
        try:
            if file.peek(1).removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"["):
                hint = "choose the format that this file is in, or write one JSON object on each line"
                yield Refusal("line 1", "the file is one JSON array, not one JSON object per line", hint)
                return
            # The rows pass through: tens of MB need not live here while they are worked on.
            rows: Iterator[JsonRow | Refusal] = iter(lines.next_row, None)
            yield from rows
        except READ_FAULTS as error:
            yield Refusal(f"line {lines.number + 1}", cannot_go_on(error), GET_IT_AGAIN)


class _Lines:
    """The lines of an open file. Each form of a line (bytes, text, value) is gone before the one after next grows."""

    def __init__(self, file: io.BufferedReader, max_bytes: int) -> None:
        self._file = file
        self._max_bytes = max_bytes
        self.number = 0

    def next_row(self) -> JsonRow | Refusal | None:
        """The next row or refusal; None at the end."""
        while (text := self._next_text()) is not None:
            if isinstance(text, Refusal):
                return text
            if text and not text.isspace():
                return _row_of(f"line {self.number}", text)
        return None

    def _next_text(self) -> str | Refusal | None:
        line = self._file.readline(self._max_bytes + 1)
        if not line:
            return None
        self.number += 1
        where = f"line {self.number}"
        if self.number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        if len(line) > self._max_bytes:
            raw = _raw_of_bytes(line)
            while line and not line.endswith(b"\n"):
                line = self._file.readline(_BUFFER_BYTES)
            reason = f"the line is longer than {self._max_bytes >> 20} MiB"
            return Refusal(where, reason, "write one JSON object on each line; is this file in another format?", raw)
        try:
            return line.decode()
        except UnicodeDecodeError as error:
            reason = f"not UTF-8 at byte {error.start + 1} of the line"
            return Refusal(where, reason, "write the file in UTF-8", _raw_of_bytes(line))


def _row_of(where: str, text: str) -> JsonRow | Refusal:
    raw = raw_of(text)
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        cut = is_cut_off(error, len(text.rstrip()))
        reason = "the line ends in the middle of its JSON" if cut else f"not JSON: {error.msg}, column {error.colno}"
        return Refusal(where, reason, _ONE_EACH, raw)
    except (RecursionError, ValueError) as error:
        return Refusal(where, f"not readable as JSON: {error}", _ONE_EACH, raw)
    if isinstance(value, dict):
        return JsonRow(where, value, raw)
    return Refusal(where, f"expected an object, found {json_kind(value)}", _ONE_EACH, raw)


def named(where: str, row: object, key: str) -> str:
    """``where`` with the row's id, when it has one, so that the row can be found again."""
    value = row.get(key) if isinstance(row, dict) else None
    return where if value is None else f"{where}, {key} {value!r:.80}"


def json_kind(value: object) -> str:
    """What a JSON value is, in a reader's words."""
    return "null" if value is None else _KINDS.get(type(value), type(value).__name__)


def raw_of(text: str) -> str:
    """The beginning of a row's text, with halves of surrogate pairs written out: a report must always be printable."""
    beginning = text[:MAX_RAW].encode("utf-8", "backslashreplace").decode().strip()
    return f"{beginning}…" if len(text) > MAX_RAW else beginning


def _raw_of_bytes(line: bytes) -> str:
    return raw_of(line[: MAX_RAW + 1].decode("utf-8", "backslashreplace"))


def is_cut_off(error: json.JSONDecodeError, length: int) -> bool:
    """Whether more text could still make this JSON whole: it stops in a string, or inside the last token."""
    rest = error.doc[error.pos : length]
    if error.msg == "Expecting value":
        return any(literal.startswith(rest) for literal in _LITERALS)
    unfinished_token = len(rest) <= _NEAR_THE_END and not set(rest) & set(',:"]}') and error.msg != "Extra data"
    return unfinished_token or error.msg.startswith("Unterminated string")


def cannot_go_on(error: Exception) -> str:
    """Why a file cannot be read any further, said for one of `READ_FAULTS`."""
    if isinstance(error, EOFError):
        return "the compressed file ends here, in the middle of its data"
    return f"the file cannot be read any further: {error}"
