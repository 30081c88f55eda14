"""Bringing a store to the newest revision. Alembic itself is loaded only when there is something to do."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Engine, inspect, text

from db.errors import StoreTooNew, StoreUnavailable
from db.sql import queue_up

MIGRATIONS: Final = Path(__file__).parent / "migrations"
_VERSION_TABLE: Final = "alembic_version"


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
        if _revision_of(connection, shown) != newest:
            _upgrade(connection, newest)


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
