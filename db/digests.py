"""Canonical JSON and the digests made from it. Pure."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from db.records import SuiteRecord


def sha256_hex(data: bytes) -> str:
    """The sha256 of some bytes, as 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def canonical_json(value: Any) -> bytes:
    """The one JSON spelling of a value: sorted keys, no blanks, ASCII. ``ValueError`` for NaN and infinities."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def digest_of(value: Any) -> str:
    """The sha256 of a value's canonical JSON."""
    return sha256_hex(canonical_json(value))


def suite_digest(suite: SuiteRecord) -> str:
    """What decides a verdict beside the program, as one sha256: tests in their order, contract, comparison, limits.

    Names and origins of tests decide no verdict and are left out.
    """
    return digest_of(
        {
            "io_kind": str(suite.io_kind),
            "entry_point": suite.entry_point,
            "comparison": suite.comparison,
            # 2 and 2.0 seconds are one limit, but two JSON spellings.
            "time_limit_s": None if suite.time_limit_s is None else float(suite.time_limit_s),
            "memory_limit_bytes": suite.memory_limit_bytes,
            "tests": [
                [
                    sha256_hex(test.input),
                    None if test.expected is None else sha256_hex(test.expected),
                    test.comparison,
                ]
                for test in suite.tests
            ],
        }
    )
