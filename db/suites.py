"""Test suites: written once under their digest, never changed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from functools import cache

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from db import tables as t
from db.blobs import get_blobs, put_blob, put_blobs
from db.digests import canonical_json, suite_rules
from db.errors import UnknownRow
from db.records import IoKind, SuiteRecord, TestCaseRecord, TestOrigin
from db.sql import insert_row, insert_rows

_SUITE_BY_DIGEST = select(t.test_suite.c.id).where(
    t.test_suite.c.problem_id == bindparam("problem"), t.test_suite.c.digest == bindparam("digest")
)
_SUITE = select(t.test_suite).where(t.test_suite.c.id == bindparam("suite"))
_IS_MADE = select(t.made_suite.c.suite_id).where(t.made_suite.c.suite_id == bindparam("suite"))
_NEW, _OLD = t.test_case.alias("new"), t.test_case.alias("old")
_CONTRADICTED = (
    select(_NEW.c.position)
    .join(_OLD, _OLD.c.input_sha256 == _NEW.c.input_sha256)
    .where(
        _NEW.c.suite_id == bindparam("suite"),
        _OLD.c.suite_id == bindparam("than"),
        _NEW.c.expected_sha256 != _OLD.c.expected_sha256,
    )
    .limit(1)
)
_HIDDEN_ORIGINS = select(t.test_suite.c.hidden_origins).where(t.test_suite.c.id == bindparam("suite"))
_CASES = select(t.test_case).where(t.test_case.c.suite_id == bindparam("suite")).order_by(t.test_case.c.position)


def save_suite(
    session: Session, problem_id: int, suite: SuiteRecord, digest: str, *, source: str, now: datetime
) -> int:
    """The id of this suite of a problem, written if it is not there yet. ``digest`` is its ``suite_digest``."""
    known = session.execute(_SUITE_BY_DIGEST, {"problem": problem_id, "digest": digest}).scalar()
    if known is not None:
        return int(known)
    judged = [test for test in suite.tests if test.expected is not None]
    hidden = beyond_samples(suite.tests)
    rules = suite_rules(suite)
    suite_id = insert_row(
        session,
        t.test_suite,
        {
            "problem_id": problem_id,
            "digest": digest,
            "io_kind": str(suite.io_kind),
            "entry_point": suite.entry_point,
            "comparison": suite.comparison,
            "time_limit_s": suite.time_limit_s,
            "memory_limit_bytes": suite.memory_limit_bytes,
            "n_tests": len(judged),
            "samples_only": bool(judged) and not hidden,
            "source": source,
            "first_seen_at": now,
            "rules_sha256": put_blob(session, canonical_json(rules)) if rules else None,
            "has_checker": suite.checker is not None,
            "hidden_origins": ",".join(sorted({str(test.origin) for test in hidden})),
        },
    )
    _save_cases(session, suite_id, suite.tests)
    return suite_id


def is_weaker(session: Session, suite_id: int, than: int | None) -> bool:
    """Whether a suite judges by nothing but samples while the other (None: there is none) has more.

    Tests that were made here are no more once a sample contradicts one of them: the others may be wrong as well.
    """
    if than is None or than == suite_id:
        return False
    is_made = session.execute(_IS_MADE, {"suite": than}).scalar() is not None
    if is_made and session.execute(_CONTRADICTED, {"suite": suite_id, "than": than}).scalar() is not None:
        return False
    return not has_hidden_tests(session, suite_id) and has_hidden_tests(session, than)


def has_hidden_tests(session: Session, suite_id: int) -> bool:
    """Whether a suite judges by more than samples. The suite must be there."""
    return bool(session.execute(_HIDDEN_ORIGINS, {"suite": suite_id}).scalar_one())


def beyond_samples(tests: Iterable[TestCaseRecord]) -> list[TestCaseRecord]:
    """The tests with an expected output that are no samples; one that is a sample again tells nothing new."""
    judged = [test for test in tests if test.expected is not None]
    samples = {(test.input, test.expected) for test in judged if test.origin is TestOrigin.SAMPLE}
    return [test for test in judged if (test.input, test.expected) not in samples]


def read_origin(text: str) -> TestOrigin:
    """The origin that a row names. One that this version does not know says nothing that a verdict rests on: it is
    taken for the platform's."""
    return TestOrigin(text) if text in set(TestOrigin) else TestOrigin.OFFICIAL


@cache  # There are a handful of texts, and ten thousand problems in a list.
def read_origins(text: str) -> tuple[TestOrigin, ...]:
    """The origins that ``test_suite.hidden_origins`` names, sorted."""
    return tuple(sorted({read_origin(one) for one in text.split(",") if one}))


def _save_cases(session: Session, suite_id: int, tests: tuple[TestCaseRecord, ...]) -> None:
    parts = [part for test in tests for part in (test.input, test.expected) if part is not None]
    hashes = iter(put_blobs(session, parts))
    insert_rows(
        session,
        t.test_case,
        [
            {
                "suite_id": suite_id,
                "position": position,
                "name": test.name,
                "input_sha256": next(hashes),
                "expected_sha256": None if test.expected is None else next(hashes),
                "origin": str(test.origin),
                "comparison": test.comparison,
                "checker_flags": None if test.checker_flags is None else list(test.checker_flags),
            }
            for position, test in enumerate(tests)
        ],
    )


def load_suite(session: Session, suite_id: int) -> SuiteRecord:
    """A suite as it was saved, tests in order, those without an expected output included. ``UnknownRow`` if missing."""
    suite = session.execute(_SUITE, {"suite": suite_id}).one_or_none()
    if suite is None:
        raise UnknownRow("test suite", suite_id)
    cases = session.execute(_CASES, {"suite": suite_id}).all()
    hashes = {case.input_sha256 for case in cases} | {case.expected_sha256 for case in cases} | {suite.rules_sha256}
    blobs = get_blobs(session, hashes - {None})
    rules = {} if suite.rules_sha256 is None else json.loads(blobs[suite.rules_sha256])
    return SuiteRecord(
        tests=tuple(
            TestCaseRecord(
                name=case.name,
                input=blobs[case.input_sha256],
                expected=None if case.expected_sha256 is None else blobs[case.expected_sha256],
                origin=read_origin(case.origin),
                comparison=case.comparison,
                checker_flags=None if case.checker_flags is None else tuple(case.checker_flags),
            )
            for case in cases
        ),
        io_kind=IoKind(suite.io_kind),
        entry_point=suite.entry_point,
        comparison=suite.comparison,
        time_limit_s=suite.time_limit_s,
        memory_limit_bytes=suite.memory_limit_bytes,
        signature=rules.get("signature"),
        checker=rules.get("checker"),
        groups=rules.get("groups"),
    )
