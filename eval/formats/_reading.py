"""Reading large JSON documents without holding them, plain or gzip-compressed.

A document is read with the standard decoder, one element at a time. The streaming parsers built on yajl were no
choice: they silently turn half a surrogate pair into "?" (which changes a program) and stop at NaN and at integers
beyond 64 bits, all of which Python's own ``json.dump`` writes.
"""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from db.importing import Refusal
from db.json_lines import GET_IT_AGAIN, MAX_RAW, READ_FAULTS, JsonRow, cannot_go_on, is_cut_off, open_bytes, raw_of

CHUNK = 1 << 18
MAX_ROW = 32 << 20
"""Longest row that is read (bytes of a line, characters of an element). A larger one is a file of another kind."""

_DECODER = json.JSONDecoder()
_WHITESPACE = " \t\n\r"
_IN_NUMBERS = set("+-.eE")
_KINDS = {"{": "an object", "[": "an array", '"': "a text", "": "the end of the file"}


class BrokenInput(Exception):
    """The file cannot be read any further. ``reason`` says why, ``place`` where it stands (empty when unknown)."""

    def __init__(self, reason: str, place: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.place = place


def peek_bytes(path: Path, count: int = 4096) -> bytes:
    """Up to the first ``count`` bytes; none of a damaged file, whose reader says what is wrong with it."""
    try:
        with open_bytes(path) as stream:
            return stream.peek(count)[:count]
    except READ_FAULTS:
        return b""


def read_elements(path: Path, *keys: str) -> Iterator[JsonRow | Refusal]:
    """The elements of the array at ``keys`` of a JSON document (no keys: the document itself), as "row 1" and so on.

    Where the document breaks off, one ``Refusal`` says so and is the last thing yielded.
    """
    row = 0
    try:
        with open_bytes(path) as stream:
            document = JsonDocument(stream)
            for row, value in enumerate(document.elements(*keys), start=1):
                yield JsonRow(f"row {row}", value, document.raw)
    except BrokenInput as error:
        yield _broken_off(f"row {row + 1}", error)


def read_members(path: Path, *keys: str) -> Iterator[JsonRow | Refusal]:
    """The members of the object at ``keys`` of a JSON document, each under its name; else as `read_elements`."""
    last = "the start"
    try:
        with open_bytes(path) as stream:
            document = JsonDocument(stream)
            for name, value in document.members(*keys):
                yield JsonRow(name, value, document.raw)
                last = repr(name)
    except BrokenInput as error:
        yield _broken_off(f"after {last}", error)


def _broken_off(where: str, error: BrokenInput) -> Refusal:
    return Refusal(f"{where}, {error.place}" if error.place else where, error.reason, GET_IT_AGAIN)


class JsonDocument:
    """One JSON document read from front to back, holding one element at a time. ``raw`` is the beginning of its text.

    Bytes that are not UTF-8 come through as lone surrogates, so that one damaged row does not end the file.
    """

    def __init__(self, stream: io.BufferedReader) -> None:
        self.raw = ""
        self._stream = stream
        self._decode = codecs.getincrementaldecoder("utf-8-sig")(errors="surrogateescape").decode
        self._buffer = ""
        self._at = 0
        self._before = 0  # characters that were dropped from the front of the buffer
        self._ended = False
        self._fault: Exception | None = None  # what ended the reading, if it was not the end of the file

    def elements(self, *keys: str) -> Iterator[object]:
        """The elements of the array at ``keys``. Raises ``BrokenInput`` where the document is not what it should be."""
        self._descend(keys)
        for _ in self._entries("[", "]"):
            yield self._value()
        self._finish(keys)

    def members(self, *keys: str) -> Iterator[tuple[str, object]]:
        """The members of the object at ``keys``, as `elements` gives those of an array."""
        self._descend(keys)
        for _ in self._entries("{", "}"):
            name = self._name()
            yield name, self._value()
        self._finish(keys)

    def _descend(self, keys: tuple[str, ...]) -> None:
        for key in keys:
            for _ in self._entries("{", "}"):
                if self._name() == key:
                    break
                self._skip()
            else:
                raise self._broken(f"the file has no key {key!r}")

    def _finish(self, keys: tuple[str, ...]) -> None:
        # Inside a larger document, what follows the wanted part is none of our business.
        if keys:
            return
        if self._peek():
            raise self._broken("something follows after the end of the JSON")
        if self._fault is not None:
            raise self._broken(self._end())

    def _entries(self, opening: str, closing: str) -> Iterator[None]:
        """Stop before each entry of an array or object; the caller reads it before going on."""
        found = self._peek()
        if not found and self._fault is not None:
            raise self._broken(self._end())
        if found != opening:
            raise self._broken(f"{_KINDS[opening]} was expected, not {_KINDS.get(found, 'a plain value')}")
        self._at += 1
        if self._peek() == closing:
            self._at += 1
            return
        while True:
            yield
            mark = self._peek()
            if mark not in (",", closing):
                raise self._broken(f"not JSON: expected ',' or '{closing}'" if mark else self._end())
            self._at += 1
            if mark == closing:
                return

    def _name(self) -> str:
        if self._peek() not in ('"', ""):
            raise self._broken("not JSON: expected the name of a member")
        name = self._value()
        mark = self._peek()
        if mark != ":":
            raise self._broken("not JSON: expected ':'" if mark else self._end())
        self._at += 1
        self._peek()
        return str(name)

    def _skip(self) -> None:
        if self._peek() != "[":
            self._value()
            return
        for _ in self._entries("[", "]"):
            self._value()

    def _value(self) -> object:
        self._peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._buffer, self._at)
            except json.JSONDecodeError as error:
                cut = is_cut_off(error, len(self._buffer))
                if cut and self._more():
                    continue
                if cut:
                    raise self._broken(self._end(), len(self._buffer) - 1) from None
                raise self._broken(f"not JSON: {error.msg}", error.pos) from None
            except (RecursionError, ValueError) as error:
                raise self._broken(f"not readable as JSON: {error}") from None
            # A number at the end of what was read may go on behind it: of "1.5e-7", "1.5e-" gives 1.5 and leaves "e-".
            if len(self._buffer) - end <= 2 and not set(self._buffer[end:]) - _IN_NUMBERS and self._more():
                continue
            self.raw = raw_of(self._buffer[self._at : min(end, self._at + MAX_RAW + 1)])
            self._at = end
            return cast(object, value)

    def _peek(self) -> str:
        """The next character that is not white space, without consuming it; empty at the end."""
        while True:
            while self._at < len(self._buffer):
                if self._buffer[self._at] not in _WHITESPACE:
                    return self._buffer[self._at]
                self._at += 1
            if not self._more():
                return ""

    def _more(self) -> bool:
        """Read on. At least as much again as is waiting, so that a long element is not scanned over and over."""
        if self._ended:
            return False
        waiting = self._buffer[self._at :]
        if len(waiting) > MAX_ROW:
            raise self._broken(f"a single row is longer than {MAX_ROW >> 20} million characters")
        self._before += self._at
        self._at = 0
        parts, wanted = [waiting], max(CHUNK, len(waiting))
        while wanted > 0 and not self._ended:
            try:
                # read1 hands over what a damaged gzip file still holds; read would lose it.
                data = self._stream.read1(CHUNK)
            except READ_FAULTS as error:
                # What came before may hold whole rows: it is read first, and the fault told where it runs out.
                self._fault, data = error, b""
            self._ended = not data
            parts.append(self._decode(data, self._ended))
            wanted -= len(parts[-1])
        self._buffer = "".join(parts)
        return len(self._buffer) > len(waiting)

    def _end(self) -> str:
        """Why nothing more comes, where something should."""
        return _ENDS_EARLY if self._fault is None else cannot_go_on(self._fault)

    def _broken(self, reason: str, position: int | None = None) -> BrokenInput:
        place = self._before + (self._at if position is None else max(position, 0)) + 1
        return BrokenInput(reason, f"character {place:,}")


_ENDS_EARLY = "the file ends here, in the middle of its JSON"
