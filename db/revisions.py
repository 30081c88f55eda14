"""What a problem said at one time, and which of all that counts now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, FromClause, and_, bindparam, delete, false, func, select, update
from sqlalchemy.orm import Session

from db import tables as t
from db.blobs import decode_text, encode_text, get_blobs, put_blobs
from db.digests import digest_of
from db.records import ProblemKey, ProblemRecord
from db.sql import insert_row

_KNOWN = select(t.revision.c.id).where(
    t.revision.c.problem_id == bindparam("problem"), t.revision.c.content_hash == bindparam("hash")
)
_STANDING = select(t.revision.c.source, t.revision.c.language).where(t.revision.c.id == bindparam("revision"))
_ENGLISH = (None, "en")


@dataclass(frozen=True)
class ProblemRevision:
    """What a problem said at one time, in which language (None: not known), and which source said it first."""

    statement: str
    starter_code: str
    source: str
    first_seen_at: datetime
    is_current: bool
    language: str | None = None


def save_revisions(
    session: Session, problem_id: int, record: ProblemRecord, *, current: int | None, now: datetime
) -> int:
    """Write the record's statement and its translations where they are new; the id of the revision that counts now.

    A text from the very page that a revision was made of is that revision, read better: it takes the place of the text.

    English counts before other languages, then the platform's own page before a copy of it, then the newest word. A
    statement that differs from a known one in white space alone is that one.
    """
    # A text that comes without starter code takes nothing away: the code that is there goes with it.
    starter = record.starter_code or _starter_of(session, current)
    said = [(record.language, record.statement, starter)] if record.statement or record.starter_code else []
    said += [(language, statement, "") for language, statement in record.translations]
    for language, statement, code in said:
        revision = _save(session, problem_id, record, (language, statement, code), now)
        if current is None or _counts_before(session, record, language, current):
            current = revision
    assert current is not None
    return current


def _starter_of(session: Session, revision: int | None) -> str:
    if revision is None:
        return ""
    sha256 = session.execute(select(t.revision.c.starter_sha256).where(t.revision.c.id == revision)).scalar_one()
    return decode_text(get_blobs(session, [sha256])[sha256])


def _counts_before(session: Session, record: ProblemRecord, language: str | None, current: int) -> bool:
    standing = session.execute(_STANDING, {"revision": current}).one()
    new = (language in _ENGLISH, record.source == record.key.platform)
    return new >= (standing.language in _ENGLISH, standing.source == record.key.platform)


def _save(
    session: Session, problem_id: int, record: ProblemRecord, said: tuple[str | None, str, str], now: datetime
) -> int:
    language, statement, starter = said
    content_hash = digest_of([" ".join(statement.split()), starter])
    known = session.execute(_KNOWN, {"problem": problem_id, "hash": content_hash}).scalar()
    if known is not None:
        return int(known)
    statement_sha256, starter_sha256 = put_blobs(session, [encode_text(statement), encode_text(starter)])
    content = {"content_hash": content_hash, "statement_sha256": statement_sha256, "starter_sha256": starter_sha256}
    from_page = {"language": language, "source": record.source, "page_sha256": record.page_sha256}
    read_before = None
    if record.page_sha256 is not None:
        same = [t.revision.c[name].is_not_distinct_from(value) for name, value in from_page.items()]
        query = select(t.revision.c.id).where(t.revision.c.problem_id == problem_id, *same)
        read_before = session.execute(query.order_by(t.revision.c.id.desc()).limit(1)).scalar()
    if read_before is not None:
        session.execute(update(t.revision).where(t.revision.c.id == read_before).values(content))
        session.execute(delete(t.fingerprint).where(t.fingerprint.c.revision_id == read_before))
        return int(read_before)
    return insert_row(session, t.revision, {"problem_id": problem_id, "first_seen_at": now} | content | from_page)


def is_older_statement(answered: FromClause, current: FromClause) -> ColumnElement[bool]:
    """Whether an answer is to a statement that its source has changed since, or written in another language; both are
    aliases of ``revision`` in an outer join. The same statement as another source copied it is not another one."""
    return func.coalesce(and_(answered.c.id != current.c.id, answered.c.source == current.c.source), false())


def current_content_hashes(session: Session) -> dict[int, str]:
    """By problem id, the content hash of what its statement says now; problems without a statement are not there."""
    current = t.problem.c.current_revision_id
    rows = session.execute(
        select(t.problem.c.id, t.revision.c.content_hash).join(t.revision, t.revision.c.id == current)
    )
    return {problem_id: content_hash for problem_id, content_hash in rows}


def has_statement(session: Session, key: ProblemKey) -> bool:
    """Whether the store has a text of this problem."""
    query = select(t.problem.c.current_revision_id).where(
        t.problem.c.platform == key.platform, t.problem.c.native_id == key.native_id
    )
    return session.execute(query).scalar() is not None


def list_revisions(session: Session, problem_id: int) -> list[ProblemRevision]:
    """All that a problem ever said, oldest first."""
    current = session.execute(select(t.problem.c.current_revision_id).where(t.problem.c.id == problem_id)).scalar()
    rows = session.execute(
        select(t.revision).where(t.revision.c.problem_id == problem_id).order_by(t.revision.c.id)
    ).all()
    blobs = get_blobs(session, {sha256 for row in rows for sha256 in (row.statement_sha256, row.starter_sha256)})
    return [
        ProblemRevision(
            statement=decode_text(blobs[row.statement_sha256]),
            starter_code=decode_text(blobs[row.starter_sha256]),
            source=row.source,
            first_seen_at=row.first_seen_at,
            is_current=row.id == current,
            language=row.language,
        )
        for row in rows
    ]
