"""The inputs and expected outputs of tests as text: those short enough to be shown, and single ones by name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from db import tables as t
from db.blobs import get_blobs
from db.records import TestOrigin
from db.sql import is_one_of

_case, _suite = t.test_case.c, t.test_suite.c


class ShownTest(NamedTuple):
    """A test with what goes in and what is expected, as text."""

    input: str
    expected: str
    is_sample: bool


@dataclass(frozen=True)
class ShortTests:
    """The current suite of a problem: its comparison, whether a checker judges, how many of its tests are no samples
    (``n_hidden``), and in their order the ``tests`` that are short enough, are text and go by the suite's comparison.
    """

    comparison: dict[str, Any]
    has_checker: bool
    n_hidden: int
    tests: tuple[ShownTest, ...]


def load_short_tests(
    session: Session, problem_ids: Iterable[int], *, max_input_bytes: int, max_expected_bytes: int
) -> dict[int, ShortTests]:
    """By problem, what its current suite has of tests with at most so many bytes; problems without a suite have none.

    Long tests are not read at all.
    """
    wanted = set(problem_ids)
    suites = session.execute(
        select(t.problem.c.id, _suite.comparison, _suite.has_checker)
        .join(t.test_suite, _suite.id == t.problem.c.current_suite_id)
        .where(is_one_of(t.problem.c.id, wanted))
    ).all()
    given, expected = t.blob.alias("given"), t.blob.alias("expected")
    query = (
        select(t.problem.c.id, t.test_case, given.c.size.label("n_input"), expected.c.size.label("n_expected"))
        .join(t.test_case, _case.suite_id == t.problem.c.current_suite_id)
        .join(given, given.c.sha256 == _case.input_sha256)
        .join(expected, expected.c.sha256 == _case.expected_sha256)
        .where(is_one_of(t.problem.c.id, wanted))
        .order_by(t.problem.c.id, _case.position)
    )
    n_hidden: defaultdict[int, int] = defaultdict(int)
    short: defaultdict[int, list[Any]] = defaultdict(list)
    for row in session.execute(query):
        n_hidden[row[0]] += row.origin != TestOrigin.SAMPLE.value
        is_short = row.n_input <= max_input_bytes and row.n_expected <= max_expected_bytes
        if is_short and row.comparison is None and row.checker_flags is None:
            short[row[0]].append(row)
    rows = [row for some in short.values() for row in some]
    blobs = get_blobs(session, {sha256 for row in rows for sha256 in (row.input_sha256, row.expected_sha256)})
    return {
        problem_id: ShortTests(
            comparison or {}, bool(has_checker), n_hidden[problem_id], tuple(_texts(short[problem_id], blobs))
        )
        for problem_id, comparison, has_checker in suites
    }


def _texts(rows: Iterable[Any], blobs: dict[str, bytes]) -> Iterable[ShownTest]:
    for row in rows:
        try:
            given, expected = blobs[row.input_sha256].decode(), blobs[row.expected_sha256].decode()
        except UnicodeDecodeError:
            continue
        yield ShownTest(given, expected, row.origin == TestOrigin.SAMPLE.value)


def load_named_tests(session: Session, names: Iterable[tuple[int, str]]) -> dict[tuple[int, str], tuple[str, str]]:
    """Input and expected output of tests of the current suites, by (problem id, name of the test).

    What is no UTF-8 is written as escapes. Of two tests of one name the first is given.
    """
    wanted = set(names)
    query = (
        select(t.problem.c.id, _case.name, _case.input_sha256, _case.expected_sha256)
        .join(t.test_case, _case.suite_id == t.problem.c.current_suite_id)
        .where(is_one_of(t.problem.c.id, {problem_id for problem_id, _ in wanted}), _case.expected_sha256.is_not(None))
        .order_by(t.problem.c.id, _case.position.desc())
    )
    found = {(row[0], row.name): row for row in session.execute(query) if (row[0], row.name) in wanted}
    hashes = {sha256 for row in found.values() for sha256 in (row.input_sha256, row.expected_sha256)}
    texts = {sha256: data.decode(errors="backslashreplace") for sha256, data in get_blobs(session, hashes).items()}
    return {key: (texts[row.input_sha256], texts[row.expected_sha256]) for key, row in found.items()}
