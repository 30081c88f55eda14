"""Near-duplicates in the store: pairs of problems with what was judged about them, fingerprints of statements, and what
comparing problems needs to know of each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import bindparam, select, true, update
from sqlalchemy.orm import Session, aliased

from db import tables as t
from db.blobs import decode_text, get_blobs
from db.records import ContestKind, Precision, ProblemKey, SaveOutcome, TestOrigin, require_text, require_utc
from db.sql import insert_row, is_one_of, upsert_rows

HAND: Final = "hand"
"""The method of a verdict that a person gave. No machine's verdict takes its place."""
TWIN: Final = "twin"
"""The method of a verdict that a collector gave because a platform lists one problem under two ids. No comparison of
texts takes its place, for it says less."""
MAX_STATEMENT_BYTES: Final = 128 * 1024
"""A longer statement is a page gone wrong: it is not read for comparing."""
MAX_SAMPLE_BYTES: Final = 64 * 1024
"""The input or output of a sample that is longer is compared by its sha256."""
_EXACT_DATES: Final = (Precision.INSTANT, Precision.DAY)


class DuplicateVerdict(StrEnum):
    """What two problems are to each other. ``related`` ones read alike and need a person's look."""

    SAME = "same"
    RELATED = "related"
    DIFFERENT = "different"


@dataclass(frozen=True)
class DuplicatePair:
    """A stored verdict on two problems; ``similarity`` is between 0 and 1, ``reason`` one sentence."""

    first_id: int
    second_id: int
    first: ProblemKey
    second: ProblemKey
    verdict: DuplicateVerdict
    similarity: float
    method: str
    reason: str
    found_at: datetime


@dataclass(frozen=True)
class Candidate:
    """What a problem is compared by.

    ``text`` is the statement of its current revision ("" when it is too long to be one), ``samples`` are (input,
    expected output) of its current suite, ``contests`` the ids of the rounds that have it, ``starts`` the instants at
    which these start; where no start is known, the instant or day on which the problem is said to have come out.
    """

    problem_id: int
    revision_id: int
    key: ProblemKey
    title: str
    text: str
    samples: frozenset[tuple[bytes, bytes]] = frozenset()
    contests: frozenset[int] = frozenset()
    starts: frozenset[datetime] = frozenset()


# Built once: SQLAlchemy takes two to three times as long to build a statement as to run it.
_PAIR = select(t.duplicate).where(
    t.duplicate.c.first_id == bindparam("first"), t.duplicate.c.second_id == bindparam("second")
)
_CHANGE_PAIR = update(t.duplicate).where(t.duplicate.c.id == bindparam("row_id"))


def save_pair(
    session: Session,
    first_id: int,
    second_id: int,
    verdict: DuplicateVerdict,
    similarity: float,
    method: str,
    reason: str,
    now: datetime,
) -> SaveOutcome:
    """Save what was judged about two problems, in either order. The same again changes nothing.

    A verdict of the method `HAND` stays against any other method, one of the method `TWIN` against any but these two.
    That two problems are the same stays until a person says otherwise: a text that is edited or translated later makes
    no problem unseen. ``found_at`` is when the verdict that holds was first given. ``ValueError`` when the two are one
    problem, or the similarity is not between 0 and 1.
    """
    require_utc("now", now)
    require_text("method", method, allow_empty=False)
    require_text("reason", reason)
    if first_id == second_id:
        raise ValueError(f"problem {first_id} cannot be a duplicate of itself")
    if not 0 <= similarity <= 1:
        raise ValueError(f"similarity must be between 0 and 1, not {similarity!r}")
    first_id, second_id = sorted((first_id, second_id))
    said = {"verdict": str(verdict), "similarity": float(similarity), "method": method, "reason": reason}
    row = session.execute(_PAIR, {"first": first_id, "second": second_id}).one_or_none()
    if row is None:
        insert_row(session, t.duplicate, {"first_id": first_id, "second_id": second_id, "found_at": now} | said)
        return SaveOutcome.CREATED
    if _stays(row, verdict, method):
        return SaveOutcome.UNCHANGED
    changes: dict[str, Any] = {name: value for name, value in said.items() if getattr(row, name) != value}
    if not changes:
        return SaveOutcome.UNCHANGED
    if "verdict" in changes:
        changes["found_at"] = now
    session.execute(_CHANGE_PAIR, changes | {"row_id": row.id})
    return SaveOutcome.UPDATED


def _stays(row: Any, verdict: DuplicateVerdict, method: str) -> bool:
    """Whether the stored verdict stays as it is against another one."""
    if method == HAND:
        return False
    if row.method == HAND or row.method == TWIN != method:
        return True
    return _verdict(row.verdict) is DuplicateVerdict.SAME is not verdict


def list_pairs(session: Session, verdict: DuplicateVerdict | None = None) -> list[DuplicatePair]:
    """All pairs, or those with one verdict, by their problems' keys."""
    first, second = aliased(t.problem), aliased(t.problem)
    pair = t.duplicate.c
    query = (
        select(t.duplicate, first.c.platform, first.c.native_id, second.c.platform, second.c.native_id)
        .join(first, first.c.id == pair.first_id)
        .join(second, second.c.id == pair.second_id)
        .order_by(first.c.platform, first.c.native_id, second.c.platform, second.c.native_id)
    )
    if verdict is not None:
        query = query.where(pair.verdict == str(verdict))
    return [
        DuplicatePair(
            first_id=row.first_id,
            second_id=row.second_id,
            first=ProblemKey(*row[-4:-2]),
            second=ProblemKey(*row[-2:]),
            verdict=_verdict(row.verdict),
            similarity=row.similarity,
            method=row.method,
            reason=row.reason,
            found_at=row.found_at,
        )
        for row in session.execute(query)
    ]


def _verdict(text: str) -> DuplicateVerdict:
    """A verdict that this version does not know needs a look, and must not take a whole query with it."""
    return DuplicateVerdict(text) if text in set(DuplicateVerdict) else DuplicateVerdict.RELATED


def without_fingerprint(session: Session, kind: str, *, limit: int) -> list[int]:
    """The ids of up to `limit` problems whose current revision has no fingerprint of this kind, the oldest first."""
    query = (
        select(t.problem.c.id)
        .join(t.revision, t.revision.c.id == t.problem.c.current_revision_id)
        .outerjoin(t.fingerprint, (t.fingerprint.c.revision_id == t.revision.c.id) & (t.fingerprint.c.kind == kind))
        .where(t.fingerprint.c.revision_id.is_(None))
        .order_by(t.problem.c.id)
        .limit(limit)
    )
    return list(session.execute(query).scalars())


def load_fingerprints(session: Session, kind: str, known: Set[int] = frozenset()) -> list[tuple[int, int, bytes]]:
    """(revision id, problem id, fingerprint) of all current revisions that have one, without those in `known`."""
    current = t.problem.c.current_revision_id
    joined = t.problem.join(t.fingerprint, t.fingerprint.c.revision_id == current)
    ids = session.execute(select(current).select_from(joined).where(t.fingerprint.c.kind == kind)).scalars()
    missing = [revision_id for revision_id in ids if revision_id not in known]
    if not missing:
        return []
    columns = select(current, t.problem.c.id, t.fingerprint.c.data).select_from(joined).order_by(current)
    rows = session.execute(columns.where(is_one_of(current, missing)))
    return [(revision_id, problem_id, data) for revision_id, problem_id, data in rows]


def save_fingerprints(session: Session, kind: str, data: Mapping[int, bytes]) -> None:
    """Save the fingerprints of revisions by their ids, in place of any of another kind."""
    upsert_rows(
        session,
        t.fingerprint,
        [{"revision_id": revision_id, "kind": kind, "data": one} for revision_id, one in data.items()],
        key=["revision_id"],
        replace=["kind", "data"],
        only_where=true(),
    )


def load_candidates(session: Session, problem_ids: Iterable[int]) -> dict[int, Candidate]:
    """What comparing needs of these problems, by problem id; those without a statement are left out.

    All their texts and samples are in memory at once: ask for some hundred at a time.
    """
    wanted = sorted(set(problem_ids))
    problem, revision, blob = t.problem.c, t.revision.c, t.blob.c
    rows = session.execute(
        select(
            problem.id,
            problem.platform,
            problem.native_id,
            problem.title,
            problem.released_at,
            problem.released_precision,
            problem.current_revision_id,
            revision.statement_sha256,
            blob.size,
        )
        .join(t.revision, revision.id == problem.current_revision_id)
        .join(t.blob, blob.sha256 == revision.statement_sha256)
        .where(is_one_of(problem.id, wanted))
    ).all()
    texts = get_blobs(session, [row.statement_sha256 for row in rows if row.size <= MAX_STATEMENT_BYTES])
    samples = _load_samples(session, wanted)
    rounds = _load_rounds(session, wanted)
    return {
        row.id: Candidate(
            problem_id=row.id,
            revision_id=row.current_revision_id,
            key=ProblemKey(row.platform, row.native_id),
            title=row.title,
            text=decode_text(texts.get(row.statement_sha256, b"")),
            samples=frozenset(samples[row.id]),
            contests=frozenset(rounds[row.id]),
            starts=_starts(rounds[row.id].values(), row.released_at, row.released_precision),
        )
        for row in rows
    }


def _starts(
    starts: Iterable[datetime | None], released_at: datetime | None, precision: str | None
) -> frozenset[datetime]:
    known = frozenset(start for start in starts if start is not None)
    if known or released_at is None or precision not in _EXACT_DATES:
        return known
    return frozenset({released_at})


def _load_rounds(session: Session, problem_ids: Iterable[int]) -> defaultdict[int, dict[int, datetime | None]]:
    """The rounds of each problem with their starts. Other contests list problems again, twins among them."""
    link, contest = t.contest_problem.c, t.contest.c
    rounds: defaultdict[int, dict[int, datetime | None]] = defaultdict(dict)
    for problem_id, contest_id, starts_at in session.execute(
        select(link.problem_id, contest.id, contest.starts_at)
        .join(t.contest, contest.id == link.contest_id)
        .where(is_one_of(link.problem_id, problem_ids), contest.kind == str(ContestKind.ROUND))
    ):
        rounds[problem_id][contest_id] = starts_at
    return rounds


def _load_samples(session: Session, problem_ids: Iterable[int]) -> defaultdict[int, set[tuple[bytes, bytes]]]:
    given, wanted = aliased(t.blob), aliased(t.blob)
    case = t.test_case.c
    rows = session.execute(
        select(t.problem.c.id, given.c.sha256, given.c.size, wanted.c.sha256, wanted.c.size)
        .join(t.test_case, case.suite_id == t.problem.c.current_suite_id)
        .join(given, given.c.sha256 == case.input_sha256)
        .join(wanted, wanted.c.sha256 == case.expected_sha256)
        .where(is_one_of(t.problem.c.id, problem_ids), case.origin == str(TestOrigin.SAMPLE))
    ).all()
    sizes = {sha256: size for row in rows for sha256, size in (row[1:3], row[3:5])}
    parts = get_blobs(session, [sha256 for sha256, size in sizes.items() if size <= MAX_SAMPLE_BYTES])
    samples: defaultdict[int, set[tuple[bytes, bytes]]] = defaultdict(set)
    for problem_id, given_sha256, _, wanted_sha256, _ in rows:
        samples[problem_id].add(
            (parts.get(given_sha256, given_sha256.encode()), parts.get(wanted_sha256, wanted_sha256.encode()))
        )
    return samples
