"""Reading the fields of one JSON object, with errors that name the field. Pure."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from db.json_lines import json_kind
from ingest.errors import BadRow
from ingest.text import storable


def required_text(row: Mapping[str, Any], name: str) -> str:
    """The text under `name`, stripped; ``BadRow`` when it is missing, empty or no text."""
    text = optional_text(row, name)
    if text is None:
        raise BadRow(f"has no {name}", f"give {name} as a text that is not empty")
    return text


def optional_text(row: Mapping[str, Any], name: str) -> str | None:
    """The text under `name`, stripped; None when it is missing, null or empty; ``BadRow`` when it is no text."""
    return long_text(row, name).strip() or None


def long_text(row: Mapping[str, Any], name: str) -> str:
    """The text under `name` with LF line ends, "" when missing or null; ``BadRow`` when it is no text."""
    value = row.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadRow(f"{name} is {json_kind(value)}, not a text", f"write {name} in quotes")
    return storable(name, value)


def positive_number(row: Mapping[str, Any], name: str) -> float | None:
    """The finite number above zero under `name`; None when it is missing or null."""
    value = row.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise BadRow(f"{name} is {json_kind(value)}, not a number", f"write {name} as a number above zero")
    if not 0 < value <= sys.float_info.max:
        raise BadRow(f"{name} is {value}", f"write {name} as a number above zero")
    return value


def refuse_unknown(row: Mapping[str, Any], known: Iterable[str], what: str) -> None:
    """``BadRow`` when `row` has a key that `what` does not have: a typo must not pass for an absent field."""
    allowed = sorted(known)
    unknown = sorted(set(row) - set(allowed))
    if unknown:
        names = ", ".join(repr(name) for name in unknown)
        raise BadRow(f"{what} has no field {names}", f"the fields of {what} are: {', '.join(allowed)}")
