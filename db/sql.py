"""The few statements whose spelling depends on the database, and the ways to ask for many values at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from sqlalchemy import BindParameter, ColumnElement, CursorResult, Insert, Table, bindparam, insert
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

T = TypeVar("T")
Row = Mapping[str, Any]
_CHUNK = 5000  # Both databases take at least 32,766 bound values in a statement.


def _insert(session: Session, table: Table) -> sqlite.Insert | postgresql.Insert:
    if session.get_bind().dialect.name == "postgresql":
        return postgresql.insert(table)
    return sqlite.insert(table)


def insert_row(session: Session, table: Table, row: Row) -> int:
    """Insert one row and return its id. The key must be new."""
    result = session.execute(insert(table), dict(row))
    assert isinstance(result, CursorResult)
    key = result.inserted_primary_key
    assert key is not None
    return int(key[0])


def insert_rows(session: Session, table: Table, rows: Sequence[Row]) -> None:
    """Insert rows whose keys must be new."""
    if rows:
        session.execute(insert(table), [dict(row) for row in rows])


def insert_missing(session: Session, table: Table, rows: Sequence[Row]) -> None:
    """Insert the rows whose key is not there yet and leave the others alone."""
    if rows:
        session.execute(_insert(session, table).on_conflict_do_nothing(), [dict(row) for row in rows])


def upsert_rows(
    session: Session,
    table: Table,
    rows: Sequence[Row],
    *,
    key: Sequence[str],
    replace: Sequence[str],
    only_where: ColumnElement[bool],
) -> None:
    """Insert rows; where ``key`` is there already and ``only_where`` holds of the old row, take over ``replace``."""
    if not rows:
        return
    statement: Insert = _insert(session, table)
    assert isinstance(statement, sqlite.Insert | postgresql.Insert)
    new = statement.excluded
    session.execute(
        statement.on_conflict_do_update(
            index_elements=list(key), set_={name: new[name] for name in replace}, where=only_where
        ),
        [dict(row) for row in rows],
    )


def is_one_of(column: ColumnElement[int], ids: Iterable[int]) -> ColumnElement[bool]:
    """``column IN (ids)`` for any number of ids: integers are written into the statement, not bound one by one."""
    wanted: BindParameter[Any] = bindparam(
        None, sorted({int(one) for one in ids}), expanding=True, literal_execute=True
    )
    return column.in_(wanted)


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
