"""Reference solutions first: a problem whose known solutions are not accepted here is not scored here.

A verdict holds in its environment alone, and so does what follows from it: nothing is written on the problem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from db.engine import Store
from db.problems import list_problems
from db.records import storable_text
from db.references import (
    PendingReference,
    ReferenceVerdictRecord,
    pending_references,
    save_reference_verdicts,
)
from db.suites import load_suite
from eval.judging import KEPT_SUITES, Batch, OnJudged, to_suite, what_is_missing
from eval.outcomes import reference_flags
from sandbox import Grader, Job, Judge, Outcome, Program, Suite, Verdict

Progress = Callable[[int], AbstractContextManager[OnJudged]]
"""How progress is shown: told the number of programs, it gives the function to call for each."""


@dataclass(frozen=True)
class ReferenceReport:
    """What judging reference solutions came to: how many got a verdict, and the problems that are not scored in this
    environment with the reason, whenever that was found."""

    n_judged: int
    flagged: dict[str, str]


@contextmanager
def _unseen(total: int) -> Iterator[OnJudged]:
    yield lambda count, counters: None


def check_references(
    store: Store,
    judge: Judge,
    environment_id: int,
    run_ids: Sequence[int] | None = None,
    *,
    now: Callable[[], datetime],
    progress: Progress = _unseen,
) -> ReferenceReport:
    """Judge the reference solutions of the problems that some runs (None: all) have answered, and tell what fails.

    Each is judged once for its tests and environment; those that need what the sandbox does not have are left alone.
    Only our own rules are used: the faults of another grader say nothing about a problem.

    Raises ``SandboxError`` or ``StoreError`` when it cannot go on; what was judged before is saved all the same.
    """
    if judge.grader is not Grader.LIVE:
        return ReferenceReport(0, {})
    with store.read() as session:
        pending = pending_references(session, environment_id, run_ids=run_ids)

    @lru_cache(KEPT_SUITES)
    def suite_of(suite_id: int) -> Suite:
        with store.read() as session:
            return to_suite(load_suite(session, suite_id))

    def can_run(one: PendingReference) -> bool:
        if one.language not in judge.languages:  # known without its tests, which may be large
            return False
        try:
            return what_is_missing(judge.lacks, _program(one), suite_of(one.suite_id)) is None
        except ValueError:  # a suite of a kind that this version cannot judge
            return False

    def save(records: list[ReferenceVerdictRecord]) -> None:
        with store.write() as session:
            save_reference_verdicts(session, environment_id, records)

    runnable = [one for one in pending if can_run(one)]
    jobs = (Job(one, _program(one), suite_of(one.suite_id)) for one in runnable)
    n_judged = 0
    if runnable:
        with Batch(save) as batch, progress(len(runnable)) as on_judged:
            for one, outcome in judge.map(jobs):
                batch.add([_record(one, outcome, now())])
                n_judged += outcome.verdict is not Verdict.INTERNAL_ERROR
                on_judged(1, judge.counters)
    with store.read() as session:
        failing = reference_flags(session, environment_id, run_ids)
        keys = {problem.problem_id: str(problem.key) for problem in list_problems(session)} if failing else {}
    reasons = {keys[key]: "; ".join(reason for _, reason in flags) for key, flags in failing.items()}
    return ReferenceReport(n_judged, reasons)


def _record(one: PendingReference, outcome: Outcome, now: datetime) -> ReferenceVerdictRecord:
    detail = storable_text(outcome.detail)  # it may quote what the program printed
    return ReferenceVerdictRecord(one.reference_id, one.suite_id, str(outcome.verdict), detail, now)


def _program(pending: PendingReference) -> Program:
    return Program(pending.code, pending.language)
