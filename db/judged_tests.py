"""What became of many completions test by test, and the tests and texts of many problems, each read at one go."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from sqlalchemy import and_, select
from sqlalchemy.orm import Session

from db import tables as t
from db.blobs import decode_text, get_blobs, unpack
from db.records import IoKind, TestOrigin
from db.revisions import is_older_statement
from db.sql import chunks, is_one_of

_AT_ONCE = 500


class SuiteTest(NamedTuple):
    """A test of a problem's current suite, by name; a sample is one that the statement shows."""

    name: str
    is_sample: bool


class SuiteRules(NamedTuple):
    """Whether a suite calls a function, and the comparison that it asks for."""

    calls_function: bool
    comparison: dict[str, Any]


class CaseResult(NamedTuple):
    """What became of one test: its name, the verdict, and the detail for a person ("" where there is none)."""

    name: str
    verdict: str
    detail: str


class JudgedTests(NamedTuple):
    """One completion with its verdict and the tests that were run, in the order of the suite."""

    run_id: int
    problem_id: int
    sample_index: int
    verdict: str
    tests: tuple[CaseResult, ...]


def iter_judged_tests(session: Session, environment_id: int, run_ids: Iterable[int]) -> Iterator[JudgedTests]:
    """The completions of some runs that have a verdict in an environment on their problem's current suite.

    Not those that answer a statement which has been changed since. One query, read as it comes: 16,474 judgements take
    about two seconds.
    """
    done, verdict = t.completion.c, t.judgement.c
    answered, current = t.revision.alias("answered"), t.revision.alias("current")
    query = (
        select(done.run_id, done.problem_id, done.sample_index, verdict.verdict, verdict.tests)
        .select_from(t.judgement)
        .join(t.completion, done.id == verdict.completion_id)
        .join(t.problem, and_(t.problem.c.id == done.problem_id, t.problem.c.current_suite_id == verdict.suite_id))
        .outerjoin(answered, answered.c.id == done.revision_id)
        .outerjoin(current, current.c.id == t.problem.c.current_revision_id)
        .where(
            verdict.environment_id == environment_id,
            is_one_of(done.run_id, run_ids),
            ~is_older_statement(answered, current),
        )
        .order_by(done.problem_id, done.run_id, done.sample_index)
    )
    for run_id, problem_id, sample_index, said, packed in session.execute(query):
        yield JudgedTests(run_id, problem_id, sample_index, said, tuple(map(case_result, json.loads(unpack(packed)))))


def case_result(fact: dict[str, Any]) -> CaseResult:
    """What is kept of one test in a judgement."""
    return CaseResult(str(fact.get("name", "")), str(fact.get("verdict", "")), str(fact.get("detail") or ""))


def load_suite_tests(session: Session, problem_ids: Iterable[int]) -> dict[int, tuple[SuiteTest, ...]]:
    """The tests with an expected answer of the current suites of some problems, by problem id, in their order."""
    case = t.test_case.c
    query = (
        select(t.problem.c.id, case.name, case.origin)
        .join(t.test_case, case.suite_id == t.problem.c.current_suite_id)
        .where(is_one_of(t.problem.c.id, problem_ids), case.expected_sha256.is_not(None))
        .order_by(t.problem.c.id, case.position)
    )
    found: defaultdict[int, list[SuiteTest]] = defaultdict(list)
    for problem_id, name, origin in session.execute(query):
        found[problem_id].append(SuiteTest(name, origin == TestOrigin.SAMPLE.value))
    return {problem_id: tuple(tests) for problem_id, tests in found.items()}


def load_suite_rules(session: Session, problem_ids: Iterable[int]) -> dict[int, SuiteRules]:
    """How answers to the current suites of some problems are given and compared, by problem id."""
    suite = t.test_suite.c
    query = (
        select(t.problem.c.id, suite.io_kind, suite.comparison)
        .join(t.test_suite, suite.id == t.problem.c.current_suite_id)
        .where(is_one_of(t.problem.c.id, problem_ids))
    )
    return {row[0]: SuiteRules(row[1] == str(IoKind.FUNCTION), row[2] or {}) for row in session.execute(query)}


def iter_statements(session: Session, problem_ids: Iterable[int]) -> Iterator[tuple[int, str]]:
    """The current statement of each of these problems that has one, with its problem id; some hundred at a time."""
    revision = t.revision.c
    for wanted in chunks(sorted(set(problem_ids)), _AT_ONCE):
        query = (
            select(t.problem.c.id, revision.statement_sha256)
            .join(t.revision, revision.id == t.problem.c.current_revision_id)
            .where(is_one_of(t.problem.c.id, wanted))
            .order_by(t.problem.c.id)
        )
        rows = session.execute(query).all()
        texts = get_blobs(session, {sha256 for _, sha256 in rows})
        for problem_id, sha256 in rows:
            statement = decode_text(texts[sha256])
            if statement.strip():
                yield problem_id, statement
