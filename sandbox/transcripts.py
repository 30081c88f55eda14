"""What two processes said to each other, for a person to read. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Final

# Who speaks, as problem packages mark the lines of an interaction: what the program reads, and what it writes.
READ, WRITTEN = "<", ">"

_KEPT_BYTES: Final = 8 * 1024
_ESCAPES: Final = {code: f"\\x{code:02x}" for code in (*range(32), 127) if chr(code) not in "\n\t"}


class Transcript:
    """A conversation: of a long one the beginning is kept, the end, and how much is missing between the two."""

    def __init__(self, kept_bytes: int = _KEPT_BYTES) -> None:
        """``kept_bytes`` is the size of either part."""
        self._kept_bytes = kept_bytes
        self._beginning: list[tuple[str, bytes]] = []
        self._end: deque[tuple[str, bytes]] = deque()
        self._room_bytes = kept_bytes
        self._end_bytes = 0
        self._missing_bytes = 0

    def add(self, mark: str, data: bytes) -> None:
        """Something was said; ``mark`` says by whom."""
        first, rest = data[: self._room_bytes], data[self._room_bytes :]
        if first:
            self._beginning.append((mark, first))
            self._room_bytes -= len(first)
        if rest:
            self._end.append((mark, rest))
            self._end_bytes += len(rest)
            self._shorten()

    def _shorten(self) -> None:
        while (excess := self._end_bytes - self._kept_bytes) > 0:
            mark, oldest = self._end.popleft()
            if len(oldest) > excess:
                self._end.appendleft((mark, oldest[excess:]))
            gone = min(len(oldest), excess)
            self._end_bytes -= gone
            self._missing_bytes += gone

    @property
    def text(self) -> str:
        """A line for each line that was said, its mark before it; what is no text stands as ``\\xNN``."""
        if not self._missing_bytes:
            return "".join(_lines([*self._beginning, *self._end]))
        gap = f"[{self._missing_bytes} bytes are left out]\n"
        return "".join((*_lines(self._beginning), gap, *_lines(self._end)))


def _lines(said: Iterable[tuple[str, bytes]]) -> Iterator[str]:
    for mark, parts in groupby(said, key=itemgetter(0)):
        text = b"".join(data for _, data in parts).decode(errors="backslashreplace").translate(_ESCAPES)
        for line in text.removesuffix("\n").split("\n"):
            yield f"{mark} {line}\n"
