"""Suites whose tests beyond the samples were made here: what they are made from, how strong they are, which counts.

Tests that come from elsewhere win: a made suite is a problem's current one only while nothing else has more than
samples (``db.suites.is_weaker`` keeps it there when the samples are saved again). No row of it ever goes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, bindparam, case, func, or_, select, update
from sqlalchemy.orm import Session

from db import tables as t
from db.blobs import get_blob, put_blob
from db.digests import canonical_json, suite_digest
from db.errors import UnknownRow
from db.records import (
    MAX_INTEGER,
    MadeStrength,
    ProblemKey,
    SaveOutcome,
    SuiteRecord,
    TestOrigin,
    require_text,
    require_utc,
)
from db.sql import insert_row, is_one_of
from db.suites import beyond_samples, has_hidden_tests, save_suite

MADE_HERE: Final = "made here"
"""The source of such a suite. Its row in ``made_suite`` is what tells it from others: users name sources, too."""

_made, _suite, _problem = t.made_suite.c, t.test_suite.c, t.problem.c
STRENGTH_COLUMNS: Final = tuple(_made[one.name] for one in fields(MadeStrength))
"""The columns of a ``MadeStrength``, in the order of its fields."""

_CURRENT = select(_problem.current_suite_id).where(_problem.id == bindparam("problem"))
_SET_CURRENT = update(t.problem).where(_problem.id == bindparam("problem"))
_MADE = select(t.made_suite).where(_made.suite_id == bindparam("suite"))
_CHANGE = update(t.made_suite).where(_made.suite_id == bindparam("suite"))
_DETAILS = select(_made.details_sha256).where(_made.suite_id == bindparam("suite"))
_other, _made_too, _made_current = t.test_suite.alias("other"), t.made_suite.alias("too"), t.made_suite.alias("current")
_from_elsewhere = _other.outerjoin(_made_too, _made_too.c.suite_id == _other.c.id)
_OTHERS = (
    select(_other.c.id, _other.c.digest)
    .select_from(_from_elsewhere)
    .where(_other.c.problem_id == bindparam("problem"), _made_too.c.suite_id.is_(None))
)
_IS_CURRENT_MADE = _made_current.c.suite_id == _problem.current_suite_id
_BASE = func.coalesce(
    case((_made_current.c.suite_id.is_(None), _problem.current_suite_id)),
    select(func.max(_other.c.id))
    .select_from(_from_elsewhere)
    .where(_other.c.problem_id == _problem.id, _made_too.c.suite_id.is_(None))
    .correlate(t.problem)
    .scalar_subquery(),
)
"""Of a row of ``problem``, joined to its made current suite where that is one (``_IS_CURRENT_MADE``)."""
_BASE_OF_PROBLEM = (
    select(_BASE)
    .select_from(t.problem.outerjoin(_made_current, _IS_CURRENT_MADE))
    .where(_problem.id == bindparam("problem"))
)


@dataclass(frozen=True)
class MadeSuiteRecord:
    """A suite with made tests (origin ``generated``), at least one of them no sample again.

    ``base_suite_id`` is the suite that its samples and rules come from, ``revision_id`` the statement that was read,
    ``recipe`` the digest of all that it is made from. ``details`` are JSON values: who voted, what was set aside.
    """

    suite: SuiteRecord
    base_suite_id: int
    revision_id: int | None
    recipe: str
    seed: int
    strength: MadeStrength
    details: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_text("MadeSuiteRecord.recipe", self.recipe, allow_empty=False)
        if not -MAX_INTEGER <= self.seed <= MAX_INTEGER:
            raise ValueError(f"MadeSuiteRecord.seed must fit into 64 bits, not {self.seed!r}")
        origins = {test.origin for test in beyond_samples(self.suite.tests)}
        if origins != {TestOrigin.GENERATED}:
            found = ", ".join(sorted(origins)) or "none"
            raise ValueError(
                f"MadeSuiteRecord.suite must have made tests beyond its samples and no others, not {found}"
            )

    @property
    def n_made(self) -> int:
        """How many tests were made."""
        return len(beyond_samples(self.suite.tests))


@dataclass(frozen=True)
class MadeSuiteRow:
    """A stored suite with made tests. ``is_older``: it was made from another statement than the problem has now, or
    from another suite than ``base_suite_id`` gives now."""

    problem_id: int
    key: ProblemKey
    suite_id: int
    digest: str
    n_tests: int
    n_made: int
    recipe: str
    seed: int
    made_at: datetime
    base_suite_id: int
    revision_id: int | None
    is_current: bool
    is_older: bool
    strength: MadeStrength


def save_made_suite(
    session: Session, problem_id: int, record: MadeSuiteRecord, *, now: datetime
) -> tuple[int, SaveOutcome]:
    """Save a made suite under its digest, and make it the problem's current one unless the current one has tests beyond
    the samples that were not made here. Its id, and what became of it.

    The same suite with another recipe, strength or details (measured anew, say) takes these over. One whose very tests
    came from elsewhere before stays what it is: UNCHANGED. ``UnknownRow`` when the store has no such problem or the
    base is no suite of it that came from elsewhere; ``ValueError`` or ``TypeError`` when details are not JSON. Nothing
    is written then. ``now`` is an aware UTC instant.
    """
    require_utc("now", now)
    digest, details = suite_digest(record.suite), canonical_json(record.details)
    problem = session.execute(_CURRENT, {"problem": problem_id}).one_or_none()
    if problem is None:
        raise UnknownRow("problem", problem_id)
    others = {row.digest: int(row.id) for row in session.execute(_OTHERS, {"problem": problem_id})}
    if record.base_suite_id not in others.values():
        raise UnknownRow("test suite to make tests for", record.base_suite_id)
    if digest in others:
        return others[digest], SaveOutcome.UNCHANGED
    suite_id = save_suite(session, problem_id, record.suite, digest, source=MADE_HERE, now=now)
    outcome = _save_row(session, suite_id, _values(record, put_blob(session, details)), now)
    current: int | None = problem.current_suite_id
    official_wins = current in others.values() and current is not None and has_hidden_tests(session, current)
    if current != suite_id and not official_wins:
        session.execute(_SET_CURRENT, {"problem": problem_id, "current_suite_id": suite_id})
        outcome = SaveOutcome.UPDATED if outcome is SaveOutcome.UNCHANGED else outcome
    return suite_id, outcome


def _values(record: MadeSuiteRecord, details_sha256: str) -> dict[str, Any]:
    return {
        "base_suite_id": record.base_suite_id,
        "revision_id": record.revision_id,
        "recipe": record.recipe,
        "seed": record.seed,
        "n_made": record.n_made,
        "details_sha256": details_sha256,
        **asdict(record.strength),
    }


def _save_row(session: Session, suite_id: int, values: Mapping[str, Any], now: datetime) -> SaveOutcome:
    stored = session.execute(_MADE, {"suite": suite_id}).mappings().one_or_none()
    if stored is None:
        insert_row(session, t.made_suite, {"suite_id": suite_id, "made_at": now, **values})
        return SaveOutcome.CREATED
    if all(stored[name] == value for name, value in values.items()):
        return SaveOutcome.UNCHANGED
    session.execute(_CHANGE, {"suite": suite_id, "made_at": now, **values})
    return SaveOutcome.UPDATED


def base_suite_id(session: Session, problem_id: int) -> int | None:
    """The suite that counts for a problem apart from made ones, for tests to be made on: the current one, or the newest
    that came from elsewhere where the current one was made here. None: there is none."""
    found = session.execute(_BASE_OF_PROBLEM, {"problem": problem_id}).scalar()
    return None if found is None else int(found)


def list_made_suites(session: Session, *, problem_ids: Iterable[int] | None = None) -> list[MadeSuiteRow]:
    """All suites with made tests, or those of some problems, by platform, native id and age."""
    query = (
        select(
            _problem.id.label("problem_id"),
            _problem.platform,
            _problem.native_id,
            _suite.digest,
            _suite.n_tests,
            t.made_suite,
            (_problem.current_suite_id == _suite.id).label("is_current"),
            or_(
                _made.revision_id.is_distinct_from(_problem.current_revision_id),
                _made.base_suite_id.is_distinct_from(_BASE),
            ).label("is_older"),
        )
        .select_from(t.made_suite)
        .join(t.test_suite, _suite.id == _made.suite_id)
        .join(t.problem, _problem.id == _suite.problem_id)
        .outerjoin(_made_current, _IS_CURRENT_MADE)
        .order_by(_problem.platform, _problem.native_id, _suite.id)
    )
    if problem_ids is not None:
        query = query.where(is_one_of(_problem.id, problem_ids))
    return [_row(row) for row in session.execute(query)]


def _row(row: Row[Any]) -> MadeSuiteRow:
    return MadeSuiteRow(
        problem_id=row.problem_id,
        key=ProblemKey(row.platform, row.native_id),
        suite_id=row.suite_id,
        digest=row.digest,
        n_tests=row.n_tests,
        n_made=row.n_made,
        recipe=row.recipe,
        seed=row.seed,
        made_at=row.made_at,
        base_suite_id=row.base_suite_id,
        revision_id=row.revision_id,
        is_current=bool(row.is_current),
        is_older=bool(row.is_older),
        strength=MadeStrength(*(getattr(row, column.name) for column in STRENGTH_COLUMNS)),
    )


def load_made_details(session: Session, suite_id: int) -> dict[str, Any]:
    """What was kept of how a suite was made. ``UnknownRow`` when it was not made here."""
    sha256 = session.execute(_DETAILS, {"suite": suite_id}).scalar()
    if sha256 is None:
        raise UnknownRow("suite with made tests", suite_id)
    details: dict[str, Any] = json.loads(get_blob(session, sha256))
    return details
