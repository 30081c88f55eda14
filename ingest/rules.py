"""What judges a suite beside its comparison, as JSON objects of a file state it: checked, and in one spelling. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from db.json_lines import json_kind
from db.records import SuiteRecord
from ingest.errors import BadRow
from sandbox import languages, plain
from sandbox.programs import Checker, Comparison, Groups, Io, Signature, Suite, Test

T = TypeVar("T", Signature, Checker, Groups)


def read_signature(given: object) -> dict[str, Any] | None:
    """The signature that an object states; None for null."""
    return _read("signature", given, plain.read_signature, plain.signature_as_plain)


def read_checker(given: object) -> dict[str, Any] | None:
    """The checker that an object states; None for null. ``BadRow`` for one in a language that the sandbox lacks."""
    checker = _read("checker", given, plain.read_checker, plain.checker_as_plain)
    if checker is not None and checker["program"]["language"] not in languages.names():
        raise BadRow(
            f"checker: the sandbox has no language {checker['program']['language']!r}",
            f"write it in one of: {', '.join(languages.names())}",
        )
    return checker


def read_groups(given: object) -> dict[str, Any] | None:
    """The groups that an object states; None for null."""
    return _read("groups", given, plain.read_groups, plain.groups_as_plain)


def _read(
    name: str, given: object, read: Callable[[dict[str, Any]], T], write: Callable[[T], dict[str, Any]]
) -> dict[str, Any] | None:
    if given is None:
        return None
    if not isinstance(given, dict):
        raise BadRow(f"{name} is {json_kind(given)}, not an object", f"write {name} as an object, or leave it out")
    try:
        return write(read(given))
    except ValueError as error:
        raise BadRow(f"{name}: {error}", f"correct {name}") from None


def require_judgeable(record: SuiteRecord) -> None:
    """``BadRow`` for a suite whose parts do not go together, as the sandbox would refuse it."""
    try:
        Suite(
            # Nothing that is asked here depends on what the tests hold.
            tests=tuple(
                Test(test.name, b"", b"", None if test.comparison is None else Comparison(**test.comparison))
                for test in record.tests
            ),
            io=Io(record.io_kind),
            entry_point=record.entry_point,
            comparison=Comparison(**record.comparison),
            signature=None if record.signature is None else plain.read_signature(record.signature),
            checker=None if record.checker is None else plain.read_checker(record.checker),
            groups=None if record.groups is None else plain.read_groups(record.groups),
        )
    except ValueError as error:
        raise BadRow(f"its suite cannot be judged: {error}", "correct what judges it, or leave the tests out") from None
