"""Reference solutions first: a problem whose known solutions are not accepted here is flagged and not scored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import lru_cache

from db.engine import Store
from db.flags import sync_flags
from db.references import (
    PendingReference,
    ReferenceVerdictRecord,
    failed_references,
    pending_references,
    save_reference_verdicts,
)
from db.suites import load_suite
from eval.judging import to_suite, what_is_missing
from sandbox import Job, Judge, Program, Suite, Verdict

FLAG = "reference_fails"
_FLAGGED_BY = "reference solutions"
_KEPT_SUITES = 16


def check_references(
    store: Store,
    judge: Judge,
    environment_id: int,
    run_ids: Sequence[int] | None = None,
    *,
    now: Callable[[], datetime],
) -> list[str]:
    """Judge the reference solutions of the problems that some runs (None: all) have answered, and flag what fails.

    Each is judged once for its tests and environment. Returns a line for each problem whose reference solutions fail.
    Raises ``SandboxError`` or ``StoreError`` when it cannot go on.
    """
    with store.read() as session:
        pending = pending_references(session, environment_id, run_ids=run_ids)

    @lru_cache(_KEPT_SUITES)
    def suite_of(suite_id: int) -> Suite:
        with store.read() as session:
            return to_suite(load_suite(session, suite_id))

    def can_run(one: PendingReference) -> bool:
        try:
            return what_is_missing(judge.lacks, _program(one), suite_of(one.suite_id)) is None
        except ValueError:  # a suite of a kind that this version cannot judge
            return False

    runnable = [one for one in pending if can_run(one)]
    if not runnable:
        return []
    jobs = (Job(one, _program(one), suite_of(one.suite_id)) for one in runnable)
    records = [
        ReferenceVerdictRecord(one.reference_id, one.suite_id, str(outcome.verdict), outcome.detail, now())
        for one, outcome in judge.map(jobs)
    ]
    with store.write() as session:
        save_reference_verdicts(session, environment_id, records)
        problem_ids = {one.problem_id for one in runnable}
        failed = failed_references(session, environment_id, problem_ids, accepted=Verdict.ACCEPTED)
        for problem_id in sorted(problem_ids):
            flags = [
                (FLAG, f"its solution {one.name} gets {one.verdict} ({one.detail})")
                for one in failed
                if one.problem_id == problem_id
            ]
            sync_flags(session, problem_id, flags, by=_FLAGGED_BY, now=now())
    return [f"{one.name}: {one.verdict} ({one.detail})" for one in failed]


def _program(pending: PendingReference) -> Program:
    return Program(pending.code, pending.language)
