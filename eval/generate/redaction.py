"""Texts of a server as we may show and keep them: without the user's key, and in a message as one line. Pure."""

from __future__ import annotations

from collections.abc import Iterable

INSTEAD = "[key]"
MESSAGE_CHARACTERS = 300
_SHORTEST = 8
"""A shorter text may stand in a message by chance, and is a placeholder: "EMPTY", "none"."""
_SHORTEST_IN_ANSWERS = 20
"""In an answer a placeholder such as "anything" is a variable's name, and a program must not be changed."""
_PIECE = 12
"""So many characters of a key in a row are taken out of a message although the rest is missing."""


class Secrets:
    """What must not be shown. Not shown itself."""

    def __init__(self, values: Iterable[str | None]) -> None:
        self._values = sorted({one for one in values if one and len(one) >= _SHORTEST}, key=len, reverse=True)
        self._unmistakable = [one for one in self._values if _is_unmistakable(one)]

    def __repr__(self) -> str:
        return f"Secrets({len(self._values)})"

    def without(self, answer: str) -> str:
        """A text of an answer without the secrets that no program holds by chance: some servers send back what they
        were sent."""
        return _without(answer, self._unmistakable)

    def line(self, text: str, ending: str = "") -> str:
        """A text as a line of a message: no secret nor a piece of one, printable characters alone, not too long.

        `ending` is ours, and stays whole.
        """
        text = self._without_pieces(_without(text, self._values)[: 20 * MESSAGE_CHARACTERS])
        line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
        line = self._without_pieces(_without(line, self._values))
        room = MESSAGE_CHARACTERS - len(ending)
        return (line if len(line) <= room else line[: room - 1] + "…") + ending

    def _without_pieces(self, text: str) -> str:
        for value in self._values:
            start = 0
            while start + _PIECE <= len(value):
                found = text.find(value[start : start + _PIECE])
                if found < 0:
                    start += 1
                    continue
                length = _common(text[found:], value[start:])
                text = text[:found] + INSTEAD + text[found + length :]
        return text


def _is_unmistakable(value: str) -> bool:
    is_mixed = value != value.lower() and value != value.upper()
    return len(value) >= _SHORTEST_IN_ANSWERS and (is_mixed or any(char.isdigit() for char in value))


def _without(text: str, values: Iterable[str]) -> str:
    for value in values:
        if value in text:
            text = text.replace(value, INSTEAD)
    return text


def _common(left: str, right: str) -> int:
    """How many characters two texts begin with alike."""
    length = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        length += 1
    return length


def whole_characters(text: str) -> str:
    """A text whose halves of surrogate pairs are put together; a half that is alone becomes a replacement sign.

    A stream may send the halves in two pieces, each written as an escape in its own JSON.
    """
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
