"""Canonical JSON and the digests made from it. Pure."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from db.records import SuiteRecord, TestCaseRecord


def sha256_hex(data: bytes) -> str:
    """The sha256 of some bytes, as 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def canonical_json(value: Any) -> bytes:
    """The one JSON spelling of a value: sorted keys, no blanks, ASCII. ``ValueError`` for NaN and infinities."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def digest_of(value: Any) -> str:
    """The sha256 of a value's canonical JSON."""
    return sha256_hex(canonical_json(value))


def suite_rules(suite: SuiteRecord) -> dict[str, Any]:
    """What judges a suite beside comparison and limits, by name; what it does not have is left out."""
    rules = {"signature": suite.signature, "checker": suite.checker, "groups": suite.groups}
    return {name: value for name, value in rules.items() if value is not None}


def suite_digest(suite: SuiteRecord) -> str:
    """What decides a verdict beside the program, as one sha256: tests in their order, contract, comparison, limits.

    Names and origins of tests decide no verdict and are left out, but where tests are graded in groups: their names say
    which. What came to suites later (rules, arguments of checkers) is only there where a suite has it, so that those
    without keep their digest.
    """
    rules = suite_rules(suite)
    if suite.groups is not None:
        rules["names"] = [test.name for test in suite.tests]
    return digest_of(
        {
            "io_kind": str(suite.io_kind),
            "entry_point": suite.entry_point,
            "comparison": suite.comparison,
            # 2 and 2.0 seconds are one limit, but two JSON spellings.
            "time_limit_s": None if suite.time_limit_s is None else float(suite.time_limit_s),
            "memory_limit_bytes": suite.memory_limit_bytes,
            "tests": [_test_entry(test) for test in suite.tests],
            **rules,
        }
    )


def _test_entry(test: TestCaseRecord) -> list[Any]:
    expected = None if test.expected is None else sha256_hex(test.expected)
    entry = [sha256_hex(test.input), expected, test.comparison]
    return entry if test.checker_flags is None else [*entry, list(test.checker_flags)]
