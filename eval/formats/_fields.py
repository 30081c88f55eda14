"""Checked access to the fields of one row, with the words for what is wrong with it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import cast

from db.json_lines import json_kind


class BadRow(Exception):
    """A row that is not taken: ``reason`` says what is wrong with it, ``hint`` what to do."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


Row = Mapping[str, object]


def as_row(value: object) -> Row:
    """The value as an object with text keys."""
    if not isinstance(value, dict):
        raise BadRow(f"expected an object, found {json_kind(value)}")
    return cast(Row, value)


def only_known_keys(row: Row, known: Collection[str]) -> None:
    """Refuse keys that the format does not have, by name: a misspelt optional key would be lost without a word."""
    unknown = sorted(set(row) - set(known))
    if unknown:
        named = ", ".join(repr(key) for key in unknown)
        raise BadRow(f"unknown key {named}", f"the keys of this format are {', '.join(known)}")


def identifier(row: Row, key: str) -> str:
    """A platform's id for a problem: a text, or a number (LeetCode's ids are numbers in some files)."""
    value = row.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise BadRow(_wrong(row, key, "an id"))
    return _clean(key, value)


def required_text(row: Row, key: str) -> str:
    """A text, possibly empty."""
    value = row.get(key)
    if not isinstance(value, str):
        raise BadRow(_wrong(row, key, "a text"))
    return value


def optional_text(row: Row, key: str) -> str | None:
    """A text, or None where the key is absent, null or empty."""
    value = row.get(key)
    if value is None or value == "":
        return None
    return required_text(row, key)


def optional_name(row: Row, key: str) -> str | None:
    """A short text that names something, or None where the key is absent, null or empty."""
    value = optional_text(row, key)
    return None if value is None else _clean(key, value)


def optional_count(row: Row, key: str) -> int | None:
    """A whole number from 0 on, or None where the key is absent or null."""
    if row.get(key) is None:
        return None
    return required_count(row, key)


def required_count(row: Row, key: str) -> int:
    """A whole number from 0 on."""
    value = row.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise BadRow(_wrong(row, key, "a whole number from 0 on"))
    return value


def required_list(row: Row, key: str) -> list[object]:
    """A list, possibly empty."""
    value = row.get(key)
    if not isinstance(value, list):
        raise BadRow(_wrong(row, key, "a list"))
    return cast("list[object]", value)


def storable_code(code: str) -> str:
    """The code itself, or a refusal when no UTF-8 file can hold it: replacing a character would change the program."""
    if not is_storable(code):
        raise BadRow("the code holds half a surrogate pair, which no UTF-8 file can hold", "mend the damaged text")
    return code


def storable_text(text: str | None) -> str | None:
    """Text for reading, with characters that UTF-8 cannot hold replaced by U+FFFD."""
    if text is None or is_storable(text):
        return text
    return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)


def is_storable(text: str) -> bool:
    """Whether UTF-8 can hold the text (it cannot hold lone surrogates)."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _clean(key: str, name: str) -> str:
    if "\0" in name or not is_storable(name):
        raise BadRow(f"{key!r} holds a character that is no text: {name!r:.60}", "mend the damaged text")
    return name


def _wrong(row: Row, key: str, wanted: str) -> str:
    if key not in row:
        return f"the key {key!r} is missing"
    value = row[key]
    shown = f"{value!r:.60}" if isinstance(value, int | float | str) else json_kind(value)
    return f"{key!r} must be {wanted}, not {shown}"
