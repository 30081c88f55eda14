"""Text as it goes into the store: UTF-8 with LF line ends, whatever editor or system it came from. Pure."""

from __future__ import annotations

import codecs
import json

from ingest.errors import BadRow

_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def with_unix_line_ends(text: str) -> str:
    """`text` with CRLF turned into LF. A lone CR is data and stays."""
    return text.replace("\r\n", "\n") if "\r\n" in text else text


def storable(name: str, text: str) -> str:
    """`text` with LF line ends, refused with a ``BadRow`` that names the field if no database could keep it."""
    if "\x00" in text:
        raise BadRow(f"{name} holds a NUL character", f"remove the NUL character from {name}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise _lone_surrogate(name, error) from None
    return with_unix_line_ends(text)


def encode_test_text(name: str, text: str) -> bytes:
    """A test's input or expected output as bytes: UTF-8 with LF. ``BadRow`` if the text is not valid Unicode."""
    try:
        return with_unix_line_ends(text).encode()
    except UnicodeEncodeError as error:
        raise _lone_surrogate(name, error) from None


def _lone_surrogate(name: str, error: UnicodeEncodeError) -> BadRow:
    return BadRow(
        f"{name} is not valid Unicode: half of a surrogate pair at character {error.start}",
        "write characters beyond U+FFFF as a full pair (\\ud83d\\ude00) or directly in UTF-8",
    )


def normalise_file(data: bytes) -> tuple[bytes, tuple[str, ...]]:
    """A text file's bytes as UTF-8 with LF, and the names of what was changed ("UTF-16", "byte-order mark", "CRLF").

    ``BadRow`` when the bytes are no text. Files made on Windows otherwise fail every right program, by a "\\r" at the
    end of lines or by an invisible first character.
    """
    changes: list[str] = []
    if data.startswith(_UTF16_MARKS):
        text = _decode(data, "utf-16")
        changes.append("UTF-16")
    elif data.startswith(codecs.BOM_UTF8):
        text = _decode(data[len(codecs.BOM_UTF8) :], "utf-8")
        changes.append("byte-order mark")
    else:
        text = _decode(data, "utf-8")
    if "\x00" in text:
        raise BadRow("holds NUL bytes: binary data, or UTF-16 without its mark", "save the file as UTF-8 text")
    if "\r\n" in text:
        changes.append("CRLF")
        text = with_unix_line_ends(text)
    return (text.encode(), tuple(changes)) if changes else (data, ())


def _decode(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        reason = f"is not {encoding.upper()} text (byte {error.start}: {error.reason})"
        raise BadRow(reason, "save the file as UTF-8 text") from None


def require_call_test(given: bytes, expected: bytes) -> None:
    """``BadRow`` unless a call-based test is one: a JSON value on each line of input, and one expected JSON value."""
    for what, texts in (("input", given.split(b"\n")), ("expected output", [expected])):
        for text in texts:
            try:
                if text.strip() or what != "input":
                    json.loads(text, parse_int=str)
            except (ValueError, RecursionError) as error:
                reason = f"is call-based, but its {what} is not JSON ({error})"
                raise BadRow(
                    reason, "write each argument on a line of its own, and the result, as JSON values"
                ) from None
