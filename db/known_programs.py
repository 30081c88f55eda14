"""Programs that models wrote for a problem, with what tests that were not made here say of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, or_, select
from sqlalchemy.orm import Session

from db import tables as t
from db.answer_counts import EMPTY_SHA256
from db.blobs import decode_text, get_blobs
from db.judgements import INTERNAL_ERROR
from db.records import CODE_GENERATION, AnswerStatus
from db.revisions import is_older_statement

_done, _run, _verdict, _suite = t.completion.c, t.run.c, t.judgement.c, t.test_suite.c
_answered, _current = t.revision.alias("answered"), t.revision.alias("current")
_PROGRAMS = (
    select(
        _run.model,
        _run.label,
        _run.conditions,
        _done.sample_index,
        _done.code_sha256,
        _done.language,
    )
    .select_from(t.completion)
    .join(t.run, _run.id == _done.run_id)
    .join(t.problem, t.problem.c.id == _done.problem_id)
    .outerjoin(_answered, _answered.c.id == _done.revision_id)
    .outerjoin(_current, _current.c.id == t.problem.c.current_revision_id)
    .where(
        _done.problem_id == bindparam("problem"),
        or_(_done.status.is_(None), _done.status.in_([str(one) for one in AnswerStatus if one.has_program])),
        _done.code_sha256 != EMPTY_SHA256,
        ~is_older_statement(_answered, _current),
    )
    .order_by(_run.model, _run.label, _run.id, _done.sample_index)
)
_VERDICTS = (
    select(_done.code_sha256, _done.language, _verdict.verdict)
    .select_from(t.judgement)
    .join(t.completion, _done.id == _verdict.completion_id)
    .join(t.test_suite, _suite.id == _verdict.suite_id)
    .outerjoin(t.made_suite, t.made_suite.c.suite_id == _suite.id)
    .where(
        _done.problem_id == bindparam("problem"),
        _suite.hidden_origins != "",
        t.made_suite.c.suite_id.is_(None),
        _verdict.verdict != INTERNAL_ERROR,
    )
    .order_by(_verdict.judged_at, _verdict.id)
)


@dataclass(frozen=True)
class CompletionProgram:
    """A program of a model for a problem, and where it first stands: ``label`` and ``conditions`` are its run's.

    ``verdict`` is the newest that is no internal error, in any environment, by a suite of the problem with tests beyond
    the samples that was not made here; None: there is none.
    """

    model: str
    label: str
    conditions: dict[str, Any]
    sample_index: int
    code: str
    language: str
    verdict: str | None


def completions_of(session: Session, problem_id: int) -> list[CompletionProgram]:
    """The programs of code generation for a problem, each once for a model, by model, label, run and sample.

    Empty ones are left out, and those that answer a statement which its source has changed since. A verdict is of a
    program, whichever of its copies was judged.
    """
    here = {"problem": problem_id}
    rows = [
        row
        for row in session.execute(_PROGRAMS, here)
        if row.conditions.get("scenario", CODE_GENERATION) == CODE_GENERATION
    ]
    verdicts = {(sha256, language): verdict for sha256, language, verdict in session.execute(_VERDICTS, here)}
    first: dict[tuple[str, str, str], Any] = {}
    for row in rows:
        first.setdefault((row.model, row.code_sha256, row.language), row)
    code = get_blobs(session, {row.code_sha256 for row in rows})
    return [
        CompletionProgram(
            row.model,
            row.label,
            row.conditions,
            row.sample_index,
            decode_text(code[row.code_sha256]),
            row.language,
            verdicts.get((row.code_sha256, row.language)),
        )
        for row in first.values()
    ]
