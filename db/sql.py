"""The few statements whose spelling depends on the database, and the ways to ask for many values at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    CursorResult,
    Insert,
    Table,
    bindparam,
    func,
    insert,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

T = TypeVar("T")
Row = Mapping[str, Any]
_CHUNK = 5000  # Both databases take at least 32,766 bound values in a statement.


_WRITER_LOCK = 0x6C697665  # "live"


def queue_up(connection: Connection) -> None:
    """Become the only writer until the transaction ends. BEGIN IMMEDIATE did that already where it exists."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _WRITER_LOCK})


# Statements are built once and kept: SQLAlchemy takes two to three times as long to build one as to run it.
_plain_insert = cache(insert)


@cache
def _insert_or_skip(dialect: str, table: Table) -> Insert:
    return _dialect_insert(dialect, table).on_conflict_do_nothing()


def _dialect_insert(dialect: str, table: Table) -> sqlite.Insert | postgresql.Insert:
    return postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)


def _dialect(session: Session) -> str:
    return session.get_bind().dialect.name


def insert_row(session: Session, table: Table, row: Row) -> int:
    """Insert one row and return its id. The key must be new."""
    result = session.execute(_plain_insert(table), dict(row))
    assert isinstance(result, CursorResult)
    key = result.inserted_primary_key
    assert key is not None
    return int(key[0])


def insert_rows(session: Session, table: Table, rows: Sequence[Row]) -> None:
    """Insert rows whose keys must be new."""
    if rows:
        session.execute(_plain_insert(table), [dict(row) for row in rows])


def insert_missing(session: Session, table: Table, rows: Sequence[Row]) -> None:
    """Insert the rows whose key is not there yet and leave the others alone."""
    if rows:
        session.execute(_insert_or_skip(_dialect(session), table), [dict(row) for row in rows])


def summed(left: ColumnElement[Any], right: ColumnElement[Any]) -> ColumnElement[Any]:
    """The sum of two values, where NULL adds nothing; NULL of two."""
    return func.coalesce(left + right, left, right)


def upsert_rows(
    session: Session,
    table: Table,
    rows: Sequence[Row],
    *,
    key: Sequence[str],
    replace: Sequence[str],
    only_where: ColumnElement[bool],
    add: Sequence[str] = (),
    computed: Mapping[str, ColumnElement[Any]] | None = None,
) -> None:
    """Insert rows; where ``key`` is there already and ``only_where`` holds of the old row, take over ``replace``, add
    ``add`` to what is there (NULL adds nothing) and set ``computed``. In expressions the new row is ``excluded``."""
    if not rows:
        return
    statement = _dialect_insert(_dialect(session), table)
    new = statement.excluded
    session.execute(
        statement.on_conflict_do_update(
            index_elements=list(key),
            set_={name: new[name] for name in replace}
            | {name: summed(new[name], table.c[name]) for name in add}
            | dict(computed or {}),
            where=only_where,
        ),
        [dict(row) for row in rows],
    )


def is_one_of(column: ColumnElement[int], ids: Iterable[int]) -> ColumnElement[bool]:
    """``column IN (ids)`` for any number of ids: integers are written into the statement, not bound one by one."""
    wanted: BindParameter[Any] = bindparam(
        None, sorted({int(one) for one in ids}), expanding=True, literal_execute=True
    )
    return column.in_(wanted)


def is_among(column: ColumnElement[int], name: str) -> ColumnElement[bool]:
    """The same for a statement that is built once: the list of integers is given under ``name`` when it is run."""
    return column.in_(bindparam(name, expanding=True, literal_execute=True))


def chunks(values: Iterable[T], size: int = _CHUNK) -> Iterator[list[T]]:
    """The values in lists short enough to be bound in one statement."""
    chunk: list[T] = []
    for value in values:
        chunk.append(value)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
