"""The columns of an exported table, as its JSON Schema (beside this file) names them, and its rows as CSV. Pure.

The schema is the one place where columns stand, with their types, units and meanings: CSV, JSON and Parquet follow it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources
from itertools import chain
from typing import Any

from eval.csv_text import write_csv_text

Values = Mapping[str, Any]
"""A row: plain JSON values by column, every column there."""


class Kind(StrEnum):
    """What a column holds."""

    TEXT = "text"
    INSTANT = "instant"
    DAY = "day"
    COUNT = "count"
    NUMBER = "number"
    TRUTH = "truth"
    NESTED = "nested"
    """An object or an array, which is JSON in a cell."""


_ON_ONE_LINE = json.JSONEncoder(ensure_ascii=False, sort_keys=True, allow_nan=False, separators=(",", ":"))
_FORMATS = {"date-time": Kind.INSTANT, "date": Kind.DAY}
_TYPES = {
    "string": Kind.TEXT,
    "integer": Kind.COUNT,
    "number": Kind.NUMBER,
    "boolean": Kind.TRUTH,
    "object": Kind.NESTED,
    "array": Kind.NESTED,
}


@dataclass(frozen=True)
class Column:
    """A column by its name, with what it holds."""

    name: str
    kind: Kind


def schema_bytes(table: str) -> bytes:
    """The schema of a table ("results", "problems", "outcomes") as it is published."""
    return resources.files(__package__).joinpath(f"{table}.schema.json").read_bytes()


@cache
def columns_of(table: str) -> tuple[Column, ...]:
    """The columns of a table in their order."""
    properties: dict[str, dict[str, Any]] = json.loads(schema_bytes(table))["$defs"]["row"]["properties"]
    return tuple(Column(name, _kind(described)) for name, described in properties.items())


def _kind(described: Mapping[str, Any]) -> Kind:
    written = described["type"]
    name = written if isinstance(written, str) else written[0]
    return _FORMATS.get(described.get("format", ""), _TYPES[name])


def ordered(value: Any) -> Any:
    """Plain values with the keys of every object in the order of the alphabet."""
    if isinstance(value, dict):
        return {key: ordered(value[key]) for key in sorted(value)}
    return [ordered(item) for item in value] if isinstance(value, list) else value


def json_text(value: object) -> str:
    """Nested values on one line, keys sorted. Raises ``ValueError`` for a number that is not finite."""
    return _ON_ONE_LINE.encode(value)


def csv_bytes(columns: Iterable[Column], rows: Iterable[Values]) -> bytes:
    """A header and one line for each row, in UTF-8, ended by line feeds. What is null is an empty cell.

    Cells are the values themselves, for programs: text that begins with "=", "+", "-" or "@" is not changed, so a
    spreadsheet may take it for a formula.
    """
    chosen = tuple(columns)
    writers = [(column.name, _CELLS.get(column.kind)) for column in chosen]
    header = [column.name for column in chosen]
    cells = (
        [row[name] if write is None or row[name] is None else write(row[name]) for name, write in writers]
        for row in rows
    )
    return write_csv_text(chain([header], cells)).encode()


def json_bytes(document: Values) -> bytes:
    """A document of strict JSON, its keys as they stand. Raises ``ValueError`` for a number that is not finite."""
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def _truth_text(value: bool) -> str:
    return "true" if value else "false"


_CELLS: dict[Kind, Callable[[Any], str]] = {Kind.TRUTH: _truth_text, Kind.NESTED: json_text}
