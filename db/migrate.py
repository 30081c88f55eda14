"""Bringing a store to the newest revision. Alembic itself is loaded only when there is something to do.

An SQLite file is copied first, to ``NAME.before-REVISION`` beside it. A PostgreSQL store is not: its steps are one
transaction, and its copies are its administrator's (``pg_dump``).
"""

from __future__ import annotations

import logging
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Engine, inspect, text

from db.errors import StoreFull, StoreTooNew, StoreUnavailable
from db.sql import queue_up

MIGRATIONS: Final = Path(__file__).parent / "migrations"
_VERSION_TABLE: Final = "alembic_version"

_log = logging.getLogger("db")


def known_revisions() -> list[str]:
    """All revisions in order. Their files are named ``NNNN_what.py`` after the revision id, and history is one line."""
    return sorted(path.name.partition("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))


def is_newest(reader: Engine, shown: str) -> bool:
    """Whether the store is at the newest revision. Changes nothing.

    Raises ``StoreTooNew`` when the store is at a revision that this version does not know, ``StoreUnavailable`` when
    the database belongs to another program.
    """
    with reader.connect() as connection:
        return _revision_of(connection, shown) == known_revisions()[-1]


def migrate(writer: Engine, shown: str) -> None:
    """Upgrade the store to the newest revision; processes that come at the same time queue up on ``writer``."""
    newest = known_revisions()[-1]
    with writer.begin() as connection:
        queue_up(connection)
        # Another process may have been quicker: what counts is what stands there now that we hold the lock.
        before = _revision_of(connection, shown)
        if before == newest:
            return
        if before is not None and connection.dialect.name == "sqlite":
            try:
                _back_up(writer, newest)
            except OSError as exc:
                raise StoreFull(
                    f"the store {shown} could not be copied before its migration: {exc.strerror or exc}",
                    "make room beside it, or allow writing there",
                ) from exc
        _upgrade(connection, newest)


def _back_up(engine: Engine, newest: str) -> None:
    """Copy the file as it is before the step to ``newest``. The caller holds the write lock, so that it stays so.

    Through SQLite's own backup: what is committed may still stand in the write-ahead log. The copy gets its name when
    it is whole; an older one of that name is from a step that did not come about.
    """
    raw = engine.raw_connection()  # Beside the caller's own connection, which has a transaction open.
    try:
        source = raw.driver_connection
        assert isinstance(source, sqlite3.Connection)
        path = next(Path(file) for _, name, file in source.execute("PRAGMA database_list") if name == "main")
        copy = path.with_name(f"{path.name}.before-{newest}")
        unfinished = copy.with_name(f"{copy.name}.part")
        unfinished.unlink(missing_ok=True)
        unfinished.touch(path.stat().st_mode & 0o777)  # A store that only its owner may read has such a copy.
        try:
            with closing(sqlite3.connect(unfinished)) as target:
                source.backup(target)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
        unfinished.replace(copy)
    finally:
        raw.close()
    _log.warning("%s is brought up to revision %s; as it was, it is kept in %s", path, newest, copy)


def _revision_of(connection: Connection, shown: str) -> str | None:
    tables = inspect(connection).get_table_names()
    if _VERSION_TABLE not in tables:
        if tables and connection.dialect.name == "sqlite":
            raise StoreUnavailable(
                f"{shown} is the database of another program (table {tables[0]!r})", "name another file for the store"
            )
        return None
    revision = connection.execute(text(f"SELECT version_num FROM {_VERSION_TABLE}")).scalar()
    if revision is not None and revision not in known_revisions():
        raise StoreTooNew(
            f"the store {shown} was written by a newer version (revision {revision!r})",
            "upgrade this program: pip install --upgrade livecut",
        )
    return revision


def _upgrade(connection: Connection, revision: str) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
