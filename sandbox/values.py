"""Hold a returned value against the expected one, both as JSON text. Pure.

A bool is never a number. An integer where an integer is expected is compared exactly, whatever its length; where the
expected value is written as a non-integer, or a tolerance is declared, numbers are compared with it, in lists too.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from sandbox.comparison import close
from sandbox.programs import Comparison


@dataclass(frozen=True)
class _Integer:
    """An integer as its digits: Python refuses to read one of more than 4,300."""

    digits: str

    def __float__(self) -> float:
        # float() of text gives inf where float(int(text)) would raise.
        return float(self.digits)


def read_value(text: bytes) -> Any:
    """The JSON value, integers kept as text. Raises ``ValueError`` (or ``RecursionError``) for what is not JSON."""
    return json.loads(text, parse_int=lambda digits: _Integer("0" if digits == "-0" else digits))


def same_value(wanted: Any, given: Any, comparison: Comparison) -> bool:
    """Whether two values from :func:`read_value` agree."""
    if isinstance(wanted, _Integer) and wanted == given:
        return True
    if isinstance(wanted, float | _Integer):
        tolerant = isinstance(wanted, float) or comparison.declares_tolerance
        return tolerant and isinstance(given, float | _Integer) and close(float(wanted), float(given), comparison)
    if type(wanted) is not type(given):
        return False
    if isinstance(wanted, list):
        return len(wanted) == len(given) and all(map(same_value, wanted, given, repeat(comparison)))
    if isinstance(wanted, dict):
        return wanted.keys() == given.keys() and all(same_value(wanted[key], given[key], comparison) for key in wanted)
    return bool(wanted == given)


def first_difference(expected: bytes, got: bytes, comparison: Comparison) -> str | None:
    """None when the returned value is right; else one line that says what differs."""
    try:
        if same_value(read_value(expected), read_value(got), comparison):
            return None
    except (ValueError, RecursionError) as error:
        return f"not comparable as JSON values: {error}"
    return f"expected {_show(expected)}, got {_show(got)}"


def _show(value: bytes, width: int = 60) -> str:
    text = value.decode(errors="backslashreplace").strip()
    return text if len(text) <= width else text[: width - 1] + "…"
