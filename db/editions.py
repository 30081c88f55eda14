"""Frozen editions, kept for good under their names, and the instant at which what they rest on last changed."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from db import tables as t
from db.blobs import get_blob, put_blob
from db.digests import sha256_hex
from db.environments import latest_environment
from db.errors import EditionDamaged, StoreUnavailable, UnknownRow
from db.judged_programs import ACCEPTED
from db.judgements import INTERNAL_ERROR
from db.older_answers import is_of_older_statement
from db.records import CODE_GENERATION, require_text, require_utc
from db.sql import insert_row, is_one_of

__all__ = [
    "EditionDamaged",
    "EditionExists",
    "EditionRow",
    "EditionUnknown",
    "last_change",
    "list_editions",
    "load_edition",
    "save_edition",
]

_SHOWN: Final = 3


class _EditionError(Exception):
    """``message`` says what is wrong, ``hint`` what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message, hint)  # All arguments, so that an error can cross to another process.
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message


class EditionExists(_EditionError, ValueError):
    """Another edition has the name already, and no edition changes."""


class EditionUnknown(_EditionError, LookupError):
    """The store holds no edition of this name. ``hint`` has the names that are near it."""


@dataclass(frozen=True)
class EditionRow:
    """A frozen edition: its name as it was typed, its digest (sha256, hex), when it was frozen (UTC), and its size."""

    name: str
    digest: str
    frozen_at: datetime
    size_bytes: int


def save_edition(session: Session, name: str, digest: str, body: bytes, *, now: datetime) -> bool:
    """Keep an edition for good; whether it is new. The same name with the same digest changes nothing.

    ``digest`` is the sha256 of ``body`` in hex, ``now`` an aware UTC instant; names are one whatever their case. Raises
    ``EditionExists`` where another edition has the name.
    """
    require_utc("now", now)
    require_text("edition name", name, allow_empty=False)
    if sha256_hex(body) != digest:
        raise ValueError(f"{digest!r} is not the sha256 of the edition's {len(body)} bytes")
    stands = _find(session, name)
    if stands is None:
        row = {"name": name, "digest": digest, "frozen_at": now, "body_sha256": put_blob(session, body)}
        insert_row(session, t.edition, row)
        return True
    if stands.digest != digest:
        raise EditionExists(
            f'there is an edition "{stands.name}" already, frozen at {stands.frozen_at:%Y-%m-%dT%H:%MZ} '
            "with other content",
            "choose another name; what is frozen does not change",
        )
    return False


def list_editions(session: Session) -> list[EditionRow]:
    """All editions, oldest first."""
    return [EditionRow(row.name, row.digest, row.frozen_at, row.size) for row in _rows(session)]


def load_edition(session: Session, name: str) -> tuple[EditionRow, bytes]:
    """The edition of this name, in whatever case, and its bytes as they were frozen.

    Raises ``EditionUnknown``, and ``EditionDamaged`` where the bytes do not have its digest.
    """
    found = _find(session, name)
    if found is None:
        raise EditionUnknown(f'no edition "{name}" in the store', _near(session, name))
    damaged = EditionDamaged(
        f'the bytes of the edition "{found.name}" do not have its digest {found.digest}',
        "restore a copy of the store; what was published of it is its public part alone",
    )
    try:
        body = get_blob(session, found.body_sha256)
    except (StoreUnavailable, UnknownRow) as error:
        raise damaged from error
    if sha256_hex(body) != found.digest:
        raise damaged
    return EditionRow(found.name, found.digest, found.frozen_at, len(body)), body


def _rows(session: Session) -> list[Any]:
    edition = t.edition.c
    query = (
        select(t.edition, t.blob.c.size)
        .join(t.blob, t.blob.c.sha256 == edition.body_sha256)
        .order_by(edition.frozen_at, edition.id)
    )
    return list(session.execute(query))


def _find(session: Session, name: str) -> Any | None:
    # In Python: what lower case is differs between the databases, and they are few.
    return next((row for row in _rows(session) if row.name.casefold() == name.casefold()), None)


def _near(session: Session, name: str) -> str:
    known = {row.name.casefold(): row.name for row in _rows(session)}
    if not known:
        return "live edition freeze makes one"
    near = [known[one] for one in difflib.get_close_matches(name.casefold(), known, n=_SHOWN)]
    return f"did you mean {' or '.join(near)}?" if near else f"the last one is {list(known.values())[-1]}"


def last_change(session: Session, *, environment_id: int | None = None) -> datetime | None:
    """The last instant at which something came or changed that an edition rests on; None in an empty store.

    That is what an edition of code generation can show: problems with their current texts and tests, dates and flags,
    runs with their answers, and verdicts on current tests in one environment (None: that in which the own grader
    judged last). Looking again at what is there already moves nothing, so the same content gives the same instant.

    Not counted is what shows through something else that has a date (withdrawn problems, near-duplicates and sightings
    through flags), and what is tried again until it succeeds (failed requests, internal errors). Some things bear no
    date: tallies, completions without a response, and a problem's title, address and difficulty.
    """
    if environment_id is None:
        latest = latest_environment(session)
        environment_id = latest.environment_id if latest is not None else None
    found = [session.execute(query).scalar_one() for query in _changes(session, environment_id)]
    return max((at for at in found if at is not None), default=None)


def _changes(session: Session, environment_id: int | None) -> Iterator[Select[Any]]:
    """Queries for the last instant of each kind."""
    yield from _changes_of_problems()
    run = t.run.c
    runs = [
        row.id
        for row in session.execute(select(run.id, run.conditions))
        if row.conditions.get("scenario", CODE_GENERATION) == CODE_GENERATION
        and not is_of_older_statement(row.conditions)
    ]
    yield select(func.max(run.created_at)).where(is_one_of(run.id, runs))
    said = t.response.c
    yield select(func.max(said.requested_at)).where(is_one_of(said.run_id, runs))
    if environment_id is not None:
        yield from _changes_of_verdicts(environment_id, runs)


def _changes_of_problems() -> Iterator[Select[Any]]:
    problem, claim, flag = t.problem.c, t.date_claim.c, t.flag.c
    for column in (
        problem.first_seen_at,
        claim.first_seen_at,
        claim.superseded_at,
        flag.since,
        flag.cleared_at,
    ):
        yield select(func.max(column))
    for table, current in ((t.revision, problem.current_revision_id), (t.test_suite, problem.current_suite_id)):
        yield select(func.max(table.c.first_seen_at)).join(t.problem, current == table.c.id)
    # What made tests are worth may be measured anew while they stay what they are.
    made = t.made_suite.c
    yield select(func.max(made.made_at)).join(t.problem, problem.current_suite_id == made.suite_id)
    # A problem counts to the first of its contests. That another source names the same start is no news.
    start = t.contest_start.c
    before = func.lag(start.starts_at).over(partition_by=start.contest_id, order_by=start.id)
    moved = select(start.contest_id, start.starts_at, start.first_seen_at, before.label("before")).subquery().c
    yield (
        select(func.max(moved.first_seen_at))
        .join(t.contest_problem, t.contest_problem.c.contest_id == moved.contest_id)
        .where(moved.starts_at.is_distinct_from(moved.before))
    )


def _changes_of_verdicts(environment_id: int, runs: list[int]) -> Iterator[Select[Any]]:
    for table in (t.judgement, t.reference_verdict):
        query = (
            select(func.max(table.c.judged_at))
            .join(t.problem, t.problem.c.current_suite_id == table.c.suite_id)
            .where(table.c.environment_id == environment_id, table.c.verdict != INTERNAL_ERROR)
        )
        if table is t.judgement:
            done = t.completion.c
            yield query.join(t.completion, done.id == table.c.completion_id).where(is_one_of(done.run_id, runs))
        else:  # One that is accepted flags no problem.
            yield query.where(table.c.verdict != ACCEPTED)
