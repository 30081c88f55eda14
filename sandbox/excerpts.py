"""What a program, a checker or a compiler wrote, as a piece of one line of ours. Pure."""

from __future__ import annotations


def excerpt(text: str | bytes, width: int) -> str:
    """The text's beginning on one line of at most ``width`` characters, "…" the last of them where it was cut.

    What a terminal obeys (line ends, escape sequences) and what no text can be stored with (a zero byte, half a
    surrogate pair, bytes that are no UTF-8) is written as its escape.
    """
    if isinstance(text, bytes):
        text = text[: 4 * width + 4].decode(errors="backslashreplace")
    line = "".join(
        [char if char.isprintable() else char.encode("unicode_escape").decode() for char in text[: width + 1]]
    )
    return line if len(line) <= width else line[: width - 1] + "…"
