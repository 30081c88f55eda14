"""Programs in JSON lines, plain or ``.gz``, one program an object.

=========== =================================================================================================
field       meaning
=========== =================================================================================================
problem     the problem that it is for: ``"atcoder:abc301_a"``, or the id alone where no other platform has it
name        what it is called; no two programs of a problem share a name
language    its language, under any name that is known here; left out: told by the ending of its name
role        ``accepted`` (default), ``brute_force``, ``wrong``, ``too_slow``, ``generator`` or ``validator``
code        the program, up to 256 KiB
=========== =================================================================================================

A field that is not in this table is refused by its name, so that a typo does not pass for an absent field.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from db.importing import Refusal
from db.json_lines import named, read_json_lines
from db.records import ProgramRole
from ingest.errors import BadRow
from ingest.fields import long_text, optional_text, refuse_unknown, required_text
from ingest.package_submissions import MOST_BYTES
from ingest.reference_formats import Item, ReferenceRow
from ingest.reference_formats._programs import language_of, problem_named, program, read_language, read_role

NAME = "jsonl"
DESCRIPTION = "one program with its problem and its role a line, .jsonl or .jsonl.gz"

_FIELDS = frozenset({"problem", "name", "language", "role", "code"})
_MOST_LINE_BYTES: Final = 16 * MOST_BYTES
"""A character takes six bytes as JSON at most ("\\u0000"); a longer line holds no program that would be taken."""


def read(path: Path) -> Iterator[Item]:
    """Stream the programs of the file at `path`; a row that cannot be used becomes a refusal."""
    for row in read_json_lines(path, _MOST_LINE_BYTES):
        if isinstance(row, Refusal):
            yield row
            continue
        where = named(row.where, row.value, "name")
        try:
            yield _row(where, row.value, row.raw)
        except BadRow as error:
            yield Refusal(where, error.reason, error.hint, row.raw)


def _row(where: str, row: dict[str, Any], raw: str) -> ReferenceRow:
    refuse_unknown(row, _FIELDS, "a program")
    problem, name = problem_named(required_text(row, "problem")), required_text(row, "name")
    written = optional_text(row, "language")
    language = language_of(name) if written is None else read_language(written)
    role = read_role(optional_text(row, "role") or ProgramRole.ACCEPTED)
    return ReferenceRow(where, problem, program(name, language, long_text(row, "code"), role), raw)
