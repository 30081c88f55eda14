"""What a store holds after an import, read straight from its tables."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select

from db import tables as t
from db.blobs import decode_text, get_blob
from db.engine import Store
from db.records import ProblemKey


@dataclass(frozen=True)
class StoredCompletion:
    """One completion with its run."""

    model: str
    label: str
    key: ProblemKey
    sample_index: int
    code: str
    language: str
    finish_reason: str | None
    raw_output: str | None


def completions(store: Store) -> list[StoredCompletion]:
    """Every completion of a store, in the order in which they were saved."""
    query = (
        select(t.completion, t.run.c.model, t.run.c.label, t.problem.c.platform, t.problem.c.native_id)
        .join(t.run, t.run.c.id == t.completion.c.run_id)
        .join(t.problem, t.problem.c.id == t.completion.c.problem_id)
        .order_by(t.completion.c.id)
    )
    with store.read() as session:
        return [
            StoredCompletion(
                model=row.model,
                label=row.label,
                key=ProblemKey(row.platform, row.native_id),
                sample_index=row.sample_index,
                code=decode_text(get_blob(session, row.code_sha256)),
                language=row.language,
                finish_reason=row.finish_reason,
                raw_output=None if row.raw_sha256 is None else decode_text(get_blob(session, row.raw_sha256)),
            )
            for row in session.execute(query)
        ]


def tallies(store: Store) -> set[tuple[str, str, str, int, int]]:
    """Every tally of a store as (model, problem, origin, right, samples)."""
    query = select(t.tally, t.problem.c.platform, t.problem.c.native_id).join(
        t.problem, t.problem.c.id == t.tally.c.problem_id
    )
    with store.read() as session:
        return {
            (row.model, f"{row.platform}:{row.native_id}", row.origin, row.n_correct, row.n_samples)
            for row in session.execute(query)
        }
