"""What became of each run's answers, counted: empty and cut-off ones, what was found in them, verdicts, copies."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session

from db import tables as t
from db.failed_requests import count_failures
from db.records import WITHOUT_PROGRAM, AnswerStatus
from db.sql import is_one_of

EMPTY_SHA256 = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True)
class AnswersOfRun:
    """The answers of one run. ``verdicts`` counts those judged in the environment on the current tests.

    ``n_empty`` are empty programs; ``statuses`` counts what was found in answers that were searched for one, and an
    answer without a program is no empty one. ``n_truncated`` ended for one of the reasons asked about, or before their
    program was whole. ``n_repeated`` problems have two programs or more; those of ``n_all_equal`` of these are one and
    the same. ``n_distinct`` programs are in the whole run. ``n_failed`` places got no answer: they are none of
    ``n_answers``.
    """

    n_answers: int
    n_empty: int
    n_truncated: int
    n_repeated: int
    n_all_equal: int
    n_distinct: int
    verdicts: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    n_failed: int = 0


class _Answer(NamedTuple):
    problem_id: int
    code_sha256: str
    finish_reason: str | None
    status: str | None
    verdict: str | None


def count_answers(
    session: Session, run_ids: Iterable[int], environment_id: int | None, *, truncated: Collection[str]
) -> dict[int, AnswersOfRun]:
    """By run id, its answers; verdicts in one environment (None: none). ``truncated`` are finish reasons."""
    wanted = list(run_ids)
    done, judged = t.completion.c, t.judgement.c
    query = (
        select(done.run_id, done.problem_id, done.code_sha256, done.finish_reason, done.status, judged.verdict)
        .join(t.problem, t.problem.c.id == done.problem_id)
        .outerjoin(
            t.judgement,
            and_(
                judged.completion_id == done.id,
                judged.environment_id == (-1 if environment_id is None else environment_id),
                judged.suite_id == t.problem.c.current_suite_id,
            ),
        )
        .where(is_one_of(done.run_id, wanted))
    )
    answers: defaultdict[int, list[_Answer]] = defaultdict(list)
    for run_id, *answer in session.execute(query):
        answers[run_id].append(_Answer(*answer))
    failed = count_failures(session, wanted)
    return {
        run_id: _counted(of_run, truncated, failed[run_id].total() if run_id in failed else 0)
        for run_id, of_run in answers.items()
    }


def rules_of_runs(session: Session, run_ids: Iterable[int]) -> dict[int, Counter[tuple[str, str]]]:
    """By run id, its answers by status and rule of extraction; runs whose answers were not searched are left out.

    They are those that an endpoint gave; of a run that has more programs with a rule than these, its programs.
    """
    wanted = list(run_ids)
    found: dict[int, Counter[tuple[str, str]]] = {}
    for table in (t.response.c, t.completion.c):
        query = (
            select(table.run_id, table.status, table.rule, func.count())
            .where(is_one_of(table.run_id, wanted), table.status.is_not(None), table.rule.is_not(None))
            .group_by(table.run_id, table.status, table.rule)
        )
        counted: defaultdict[int, Counter[tuple[str, str]]] = defaultdict(Counter)
        for run_id, status, rule, n_answers in session.execute(query):
            counted[run_id][status, rule] = n_answers
        for run_id, one in counted.items():
            if run_id not in found or one.total() > found[run_id].total():
                found[run_id] = one
    return found


def _counted(answers: list[_Answer], truncated: Collection[str], n_failed: int) -> AnswersOfRun:
    programs: defaultdict[int, list[str]] = defaultdict(list)
    for one in answers:
        if one.status not in WITHOUT_PROGRAM:
            programs[one.problem_id].append(one.code_sha256)
    repeated = [codes for codes in programs.values() if len(codes) > 1]
    return AnswersOfRun(
        n_answers=len(answers),
        n_empty=sum(one.code_sha256 == EMPTY_SHA256 and one.status is None for one in answers),
        n_truncated=sum(one.finish_reason in truncated or one.status == AnswerStatus.TRUNCATED for one in answers),
        n_repeated=len(repeated),
        n_all_equal=sum(len(set(codes)) == 1 for codes in repeated),
        n_distinct=len({code for codes in programs.values() for code in codes}),
        verdicts=Counter(one.verdict for one in answers if one.verdict is not None),
        statuses=Counter(one.status for one in answers if one.status is not None),
        n_failed=n_failed,
    )
