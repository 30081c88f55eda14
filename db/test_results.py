"""The facts of each test of many completions at once."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from db import tables as t
from db.blobs import unpack
from db.sql import is_one_of


@dataclass(frozen=True)
class TestResults:
    """What is kept of a completion's tests: ``tests`` are those that were run, of the suite's ``n_tests``."""

    __test__ = False  # not a test of pytest's

    completion_id: int
    n_tests: int
    tests: tuple[dict[str, Any], ...]


def load_results_of_tests(
    session: Session, environment_id: int, completion_ids: Collection[int]
) -> dict[int, TestResults]:
    """By completion, what its tests came to in an environment, on its problem's current suite."""
    if not completion_ids:
        return {}
    query = (
        select(t.judgement.c.completion_id, t.test_suite.c.n_tests, t.judgement.c.tests)
        .join(t.completion, t.completion.c.id == t.judgement.c.completion_id)
        .join(t.problem, t.problem.c.id == t.completion.c.problem_id)
        .join(t.test_suite, t.test_suite.c.id == t.judgement.c.suite_id)
        .where(
            is_one_of(t.judgement.c.completion_id, completion_ids),
            t.judgement.c.environment_id == environment_id,
            t.judgement.c.suite_id == t.problem.c.current_suite_id,
        )
    )
    return {
        row.completion_id: TestResults(row.completion_id, row.n_tests, tuple(json.loads(unpack(row.tests))))
        for row in session.execute(query)
    }
