"""Comparison rules as the store keeps them: the keyword arguments of ``sandbox.Comparison`` as JSON values. Pure."""

from __future__ import annotations

from typing import Any

from db.json_lines import json_kind
from ingest.errors import BadRow
from ingest.fields import refuse_unknown
from sandbox.programs import Unordered

TOLERANCES = ("absolute_tolerance", "relative_tolerance")
SWITCHES = ("case_sensitive", "space_sensitive", "assume_tolerance")


def read_comparison(given: object) -> dict[str, Any]:
    """The comparison that a JSON object states, checked; an empty one when it is None."""
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise BadRow(f"comparison is {json_kind(given)}, not an object", 'write {"absolute_tolerance": 1e-6}, say')
    refuse_unknown(given, (*TOLERANCES, *SWITCHES, "unordered"), "comparison")
    rules: dict[str, Any] = {name: checked_tolerance(name, given[name]) for name in TOLERANCES if name in given}
    for name in SWITCHES:
        if name in given and not isinstance(given[name], bool):
            raise BadRow(f"comparison: {name} is {json_kind(given[name])}", f"write {name} as true or false")
    if given.get("unordered") is not None:
        if given["unordered"] not in list(Unordered):
            raise BadRow(f"comparison: unordered is {given['unordered']!r}", f"it is one of {', '.join(Unordered)}")
        rules["unordered"] = given["unordered"]
    return rules | {name: given[name] for name in SWITCHES if name in given}


def checked_tolerance(name: str, value: object) -> float:
    """`value` as a tolerance, a number from 0 up to (not including) 1; ``BadRow`` otherwise."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1:
        shown = value if isinstance(value, (int, float)) else json_kind(value)
        raise BadRow(f"comparison: {name} is {shown}", f"write {name} as a number from 0 up to 1, like 1e-6")
    return float(value)
