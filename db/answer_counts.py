"""What became of each run's answers, counted: empty and cut-off ones, verdicts, copies."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from sqlalchemy import and_, select
from sqlalchemy.orm import Session

from db import tables as t
from db.sql import is_one_of

EMPTY_SHA256 = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True)
class AnswersOfRun:
    """The answers of one run. ``verdicts`` counts those judged in the environment on the current tests.

    ``n_truncated`` ended for one of the reasons asked about. ``n_repeated`` problems have two samples or more; the
    samples of ``n_all_equal`` of these are one and the same program. ``n_distinct`` programs are in the whole run.
    """

    n_answers: int
    n_empty: int
    n_truncated: int
    n_repeated: int
    n_all_equal: int
    n_distinct: int
    verdicts: Counter[str] = field(default_factory=Counter)


def count_answers(
    session: Session, run_ids: Iterable[int], environment_id: int | None, *, truncated: Collection[str]
) -> dict[int, AnswersOfRun]:
    """By run id, its answers; verdicts in one environment (None: none). ``truncated`` are finish reasons."""
    done, judged = t.completion.c, t.judgement.c
    query = (
        select(done.run_id, done.problem_id, done.code_sha256, done.finish_reason, judged.verdict)
        .join(t.problem, t.problem.c.id == done.problem_id)
        .outerjoin(
            t.judgement,
            and_(
                judged.completion_id == done.id,
                judged.environment_id == (-1 if environment_id is None else environment_id),
                judged.suite_id == t.problem.c.current_suite_id,
            ),
        )
        .where(is_one_of(done.run_id, run_ids))
    )
    programs: defaultdict[int, defaultdict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    reasons: defaultdict[int, Counter[str | None]] = defaultdict(Counter)
    verdicts: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for run_id, problem_id, code, reason, verdict in session.execute(query):
        programs[run_id][problem_id].append(code)
        reasons[run_id][reason] += 1
        if verdict is not None:
            verdicts[run_id][verdict] += 1
    return {
        run_id: _counted(list(of_problem.values()), sum(reasons[run_id][one] for one in truncated), verdicts[run_id])
        for run_id, of_problem in programs.items()
    }


def _counted(problems: list[list[str]], n_truncated: int, verdicts: Counter[str]) -> AnswersOfRun:
    codes = [code for samples in problems for code in samples]
    repeated = [samples for samples in problems if len(samples) > 1]
    return AnswersOfRun(
        n_answers=len(codes),
        n_empty=codes.count(EMPTY_SHA256),
        n_truncated=n_truncated,
        n_repeated=len(repeated),
        n_all_equal=sum(len(set(samples)) == 1 for samples in repeated),
        n_distinct=len(set(codes)),
        verdicts=verdicts,
    )
