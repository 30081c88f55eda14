"""Programs together with what became of them: all of one run, and those known to be right."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from typing import Final, NamedTuple

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.orm import Session

from db import tables as t
from db.blobs import decode_text, get_blobs, unpack
from db.judged_tests import CaseResult, case_result
from db.judgements import INTERNAL_ERROR
from db.records import CODE_GENERATION, ProgramRole
from db.revisions import is_older_statement
from db.sql import is_one_of

ACCEPTED: Final = "accepted"


class JudgedProgram(NamedTuple):
    """A completion with its verdict in an environment and the tests that were run, in the order of the suite.

    ``status`` is that of its extraction (None: it came as a program), ``verdict`` None where it was not judged.
    ``is_older`` as ``VerdictRow`` has it.
    """

    problem_id: int
    sample_index: int
    language: str
    code: str
    status: str | None
    verdict: str | None
    tests: tuple[CaseResult, ...]
    is_older: bool


class RightProgram(NamedTuple):
    """A program that solves its problem. ``name`` says which it is; ``model`` wrote it (None: it is no model's)."""

    name: str
    model: str | None
    code: str


def load_judged_programs(
    session: Session, run_id: int, environment_id: int, problem_ids: Iterable[int]
) -> list[JudgedProgram]:
    """The completions of a run for some problems, by problem and sample, with their verdicts on the current suites."""
    done, verdict = t.completion.c, t.judgement
    answered, current = t.revision.alias("answered"), t.revision.alias("current")
    query = (
        select(
            done.problem_id,
            done.sample_index,
            done.language,
            done.code_sha256,
            done.status,
            verdict.c.verdict,
            verdict.c.tests,
            is_older_statement(answered, current).label("is_older"),
        )
        .select_from(t.completion)
        .join(t.problem, t.problem.c.id == done.problem_id)
        .outerjoin(answered, answered.c.id == done.revision_id)
        .outerjoin(current, current.c.id == t.problem.c.current_revision_id)
        .outerjoin(verdict, _is_of(environment_id))
        .where(done.run_id == run_id, is_one_of(done.problem_id, problem_ids))
        .order_by(done.problem_id, done.sample_index)
    )
    rows = session.execute(query).all()
    code = get_blobs(session, {row.code_sha256 for row in rows})
    return [
        JudgedProgram(
            row.problem_id,
            row.sample_index,
            row.language,
            decode_text(code[row.code_sha256]),
            row.status,
            row.verdict,
            () if row.tests is None else tuple(map(case_result, json.loads(unpack(row.tests)))),
            row.is_older,
        )
        for row in rows
    ]


def load_right_programs(
    session: Session, environment_id: int | None, problem_ids: Iterable[int], *, language: str, max_bytes: int
) -> dict[int, list[RightProgram]]:
    """Programs of at most so many bytes in a language that are known to be right, by problem.

    Reference solutions by name come first, unless one is not accepted in the environment; then the completions of code
    generation that are accepted there, in the order in which the store got them.
    """
    wanted = set(problem_ids)
    found: defaultdict[int, list[RightProgram]] = defaultdict(list)
    hashes: list[tuple[int, str, str | None, str]] = []
    hashes += _references(session, environment_id, wanted, language, max_bytes)
    if environment_id is not None:
        hashes += _accepted(session, environment_id, wanted, language, max_bytes)
    code = get_blobs(session, {sha256 for *_, sha256 in hashes})
    for problem_id, name, model, sha256 in hashes:
        found[problem_id].append(RightProgram(name, model, decode_text(code[sha256])))
    return dict(found)


def _references(
    session: Session, environment_id: int | None, problem_ids: set[int], language: str, max_bytes: int
) -> list[tuple[int, str, str | None, str]]:
    solution, verdict = t.reference.c, t.reference_verdict.c
    on_suite = and_(
        verdict.reference_id == solution.id,
        verdict.suite_id == t.problem.c.current_suite_id,
        verdict.environment_id == (-1 if environment_id is None else environment_id),
    )
    query = (
        select(solution.problem_id, solution.name, solution.source, solution.code_sha256)
        .join(t.problem, t.problem.c.id == solution.problem_id)
        .join(t.blob, t.blob.c.sha256 == solution.code_sha256)
        .outerjoin(t.reference_verdict, on_suite)
        .where(
            is_one_of(solution.problem_id, problem_ids),
            solution.role == str(ProgramRole.ACCEPTED),
            solution.language == language,
            t.blob.c.size <= max_bytes,
            or_(verdict.verdict.is_(None), verdict.verdict.in_((ACCEPTED, INTERNAL_ERROR))),
        )
        .order_by(solution.problem_id, solution.name, solution.id)
    )
    rows = session.execute(query)
    return [(row.problem_id, f"solution {row.name} of {row.source}", None, row.code_sha256) for row in rows]


def _accepted(
    session: Session, environment_id: int, problem_ids: set[int], language: str, max_bytes: int
) -> list[tuple[int, str, str | None, str]]:
    done, run = t.completion.c, t.run.c
    query = (
        select(done.problem_id, run.model, run.label, run.conditions, done.sample_index, done.code_sha256)
        .select_from(t.completion)
        .join(t.problem, t.problem.c.id == done.problem_id)
        .join(t.run, run.id == done.run_id)
        .join(t.blob, t.blob.c.sha256 == done.code_sha256)
        .join(t.judgement, _is_of(environment_id))
        .where(
            is_one_of(done.problem_id, problem_ids),
            done.language == language,
            t.blob.c.size <= max_bytes,
            t.judgement.c.verdict == ACCEPTED,
        )
        .order_by(done.problem_id, done.id)
    )
    return [
        (row.problem_id, f"sample {row.sample_index} of {row.model}, run {row.label!r}", row.model, row.code_sha256)
        for row in session.execute(query)
        if row.conditions.get("scenario", CODE_GENERATION) == CODE_GENERATION
    ]


def _is_of(environment_id: int) -> ColumnElement[bool]:
    """Join a completion to its verdict in an environment, on its problem's current suite."""
    verdict = t.judgement.c
    return and_(
        verdict.completion_id == t.completion.c.id,
        verdict.suite_id == t.problem.c.current_suite_id,
        verdict.environment_id == environment_id,
    )
