"""From the store: the share of tests that the samples of each run passed, where all tests were run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from db.judgements import VerdictRow, load_verdicts
from db.records import WITHOUT_PROGRAM
from db.test_results import TestResults, load_results_of_tests
from sandbox.verdicts import Verdict

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

_PAGE = 500
_PASSES_NOTHING = {Verdict.COMPILE_ERROR, *WITHOUT_PROGRAM}


def load_test_shares(
    session: Session, environment_id: int, run_ids: Iterable[int], problem_ids: Iterable[int]
) -> dict[int, dict[int, float]]:
    """By run and problem, the mean over samples of the share of tests passed, in [0, 1].

    A run ends at the first sample of which a share cannot be known, since judging stopped at a failed test: it has no
    problem then. Samples without a verdict, and answers to an older statement, do not count.
    """
    wanted = set(problem_ids)
    shares: dict[int, dict[int, float]] = {}
    for run_id in run_ids:
        rows = [row for row in load_verdicts(session, environment_id, [run_id]) if row.problem_id in wanted]
        counted = [row for row in rows if not row.is_older and row.verdict not in {None, Verdict.INTERNAL_ERROR}]
        shares[run_id] = _of_run(session, environment_id, counted)
    return shares


def _of_run(session: Session, environment_id: int, rows: Sequence[VerdictRow]) -> dict[int, float]:
    found: dict[int, list[float]] = defaultdict(list)
    for start in range(0, len(rows), _PAGE):
        page = rows[start : start + _PAGE]
        failed = [row.completion_id for row in page if row.verdict not in {Verdict.ACCEPTED, *_PASSES_NOTHING}]
        results = load_results_of_tests(session, environment_id, failed)
        for row in page:
            share = _share(row, results.get(row.completion_id))
            if share is None:
                return {}
            found[row.problem_id].append(share)
    return {problem_id: sum(values) / len(values) for problem_id, values in found.items()}


def _share(row: VerdictRow, results: TestResults | None) -> float | None:
    """None where not every test was run."""
    if row.verdict == Verdict.ACCEPTED:
        return 1.0
    if row.verdict in _PASSES_NOTHING:
        return 0.0
    if results is None or not results.n_tests or len(results.tests) < results.n_tests:
        return None
    passed = sum(bool(test["verdict"] == Verdict.ACCEPTED) for test in results.tests)
    return passed / results.n_tests
