"""Reference solutions first: a problem whose known solutions are not accepted here is flagged and not scored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from db.engine import Store
from db.flags import sync_flags
from db.problems import list_problems
from db.records import storable_text
from db.references import (
    FailedReference,
    PendingReference,
    ReferenceVerdictRecord,
    failed_references,
    pending_references,
    save_reference_verdicts,
)
from db.suites import load_suite
from eval.judging import KEPT_SUITES, Batch, OnJudged, to_suite, what_is_missing
from sandbox import Grader, Job, Judge, Outcome, Program, Suite, Verdict

FLAG = "reference_fails"
_FLAGGED_BY = "reference solutions"

Progress = Callable[[int], AbstractContextManager[OnJudged]]
"""How progress is shown: told the number of programs, it gives the function to call for each."""


@dataclass(frozen=True)
class ReferenceReport:
    """What judging reference solutions came to: how many got a verdict, the problems that are newly flagged with the
    reason, and those that are no longer flagged."""

    n_judged: int
    flagged: dict[str, str]
    cleared: tuple[str, ...]


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
    """Judge the reference solutions of the problems that some runs (None: all) have answered, and flag what fails.

    Each is judged once for its tests and environment; those that need what the sandbox does not have are left alone.
    Only our own rules are used: the faults of another grader say nothing about a problem.

    Raises ``SandboxError`` or ``StoreError`` when it cannot go on; what was judged before is saved all the same.
    """
    if judge.grader is not Grader.LIVE:
        return ReferenceReport(0, {}, ())
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
    flagged, cleared = _update_flags(store, environment_id, now())
    return ReferenceReport(n_judged, flagged, cleared)


def _record(one: PendingReference, outcome: Outcome, now: datetime) -> ReferenceVerdictRecord:
    detail = storable_text(outcome.detail)  # it may quote what the program printed
    return ReferenceVerdictRecord(one.reference_id, one.suite_id, str(outcome.verdict), detail, now)


def _update_flags(store: Store, environment_id: int, now: datetime) -> tuple[dict[str, str], tuple[str, ...]]:
    """Flag what fails in this environment, whenever that was found, and take the flag off what does not any more.

    A flag stays where a reference solution could not be judged here. Gives the newly flagged problems with the reason,
    and those that lost the flag.
    """
    with store.read() as session:
        problems = {problem.problem_id: problem for problem in list_problems(session)}
        failed = failed_references(session, environment_id, problems, accepted=Verdict.ACCEPTED)
        failing_ids = {one.problem_id for one in failed}
        flagged_ids = {key for key, problem in problems.items() if any(name == FLAG for name, _ in problem.flags)}
        to_clear = flagged_ids - failing_ids
        if to_clear:
            to_clear -= {one.problem_id for one in pending_references(session, environment_id)}
    if not failed and not to_clear:
        return {}, ()
    newly: dict[str, str] = {}
    cleared = []
    with store.write() as session:
        for problem_id in sorted(failing_ids):
            reasons = [_reason(one) for one in failed if one.problem_id == problem_id]
            if sync_flags(session, problem_id, [(FLAG, reason) for reason in reasons], by=_FLAGGED_BY, now=now):
                newly[str(problems[problem_id].key)] = "; ".join(reasons)
        for problem_id in sorted(to_clear):
            if sync_flags(session, problem_id, [], by=_FLAGGED_BY, now=now):
                cleared.append(str(problems[problem_id].key))
    return newly, tuple(cleared)


def _reason(one: FailedReference) -> str:
    return f"its solution {one.name} gets {one.verdict}" + (f" ({one.detail})" if one.detail else "")


def _program(pending: PendingReference) -> Program:
    return Program(pending.code, pending.language)
