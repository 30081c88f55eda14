"""Opening a store by URL, and its two kinds of transaction: a snapshot to read from, and one writer at a time.

SQLite runs in WAL mode. Python's driver would begin transactions by rules of its own (not at all before a SELECT, a
deferred one before an INSERT); it is told to leave that alone (``isolation_level=None``) and every transaction is begun
here, as SQLAlchemy's SQLite page describes for all Python versions. A writer begins with BEGIN IMMEDIATE, so that it
queues up for the lock before it has read anything: a deferred transaction that reads first and writes later fails
with "database is locked" at once, whatever the timeout, when another writer came in between.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.orm import Session

from db.errors import StoreBusy, StoreError, StoreFull, StoreTooNew, StoreUnavailable
from db.migrate import is_newest, migrate
from db.readonly import FileState, can_be_written, file_of, file_state, is_missing, read_only_address
from db.sql import queue_up

__all__ = [
    "BUSY_TIMEOUT_S",
    "Store",
    "StoreBusy",
    "StoreError",
    "StoreFull",
    "StoreTooNew",
    "StoreUnavailable",
    "open_store",
]

BUSY_TIMEOUT_S: Final = 60.0
"""How long a transaction waits for another process's lock before it gives up with ``StoreBusy``."""
_WAL_SIZE_KEPT: Final = 64 * 2**20
_BEGIN: Final = "live_begin"

_log = logging.getLogger("db")


class Store:
    """An open store. Threads may share it; each process opens its own. Closes itself as a context manager."""

    def __init__(self, engine: Engine, url: URL, state: FileState | None = None) -> None:
        """``state`` is of a file that is read without locks, as it was before; else None."""
        self.url = url.render_as_string(hide_password=False)
        self.has_written = False
        """Whether a block of ``write`` was committed."""
        self._engine = engine
        self.shown = _shown(url)
        """Its name in messages: the file for SQLite, else the URL without its password."""
        self._state = state
        self._pid = os.getpid()
        file = file_of(url)
        self._file = None if file is None else os.path.abspath(file)
        self._inode = _inode_of(self._file)
        reading: dict[str, Any] = {_BEGIN: "DEFERRED"}
        if engine.dialect.name != "sqlite":
            reading = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        self._reader = engine.execution_options(**reading)
        self._writer = engine.execution_options(**{_BEGIN: "IMMEDIATE"})

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A session on a snapshot taken at its first query: writers are not waited for, and not seen. It cannot write.

        Raises ``StoreError``.
        """
        try:
            with self._session(self._reader) as session:
                yield session
        except StoreError:  # "Damaged", say, when pages changed under the reader.
            self._require_unchanged()
            raise
        self._require_unchanged()

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A session that is the only writer. Committed when the block ends, rolled back whole on any exception.

        Waits up to ``BUSY_TIMEOUT_S`` for other writers; not to be nested. Raises ``StoreError``.
        """
        with self._session(self._writer) as session:
            queue_up(session.connection())
            yield session
            session.commit()
            self.has_written = True

    def is_empty(self) -> bool:
        """Whether the store holds no problem yet, and so nothing that a table could be of. Raises ``StoreError``."""
        with self.read() as session:
            return session.execute(text("SELECT 1 FROM problem LIMIT 1")).first() is None

    def close(self) -> None:
        """Give the connections back."""
        self._engine.dispose()

    def _require_unchanged(self) -> None:
        if self._file is not None and self._state is not None and file_state(self._file) != self._state:
            raise StoreBusy(
                f"the store {self.shown} was written by another process while it was read",
                "start the command again",
            )

    @contextmanager
    def _session(self, engine: Engine) -> Iterator[Session]:
        if self._file is not None and _inode_of(self._file) != self._inode:
            # The connections would go on with a file that nobody can see any more.
            raise StoreUnavailable(
                f"the store {self._file} is gone, or another file has taken its place", "start the command again"
            )
        if os.getpid() != self._pid:
            # An SQLite connection carried over a fork can damage the file.
            raise RuntimeError("a store must be opened anew in each process")
        with _store_errors(self.shown), Session(engine, autoflush=False) as session:
            yield session

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _inode_of(file: str | None) -> tuple[int, int] | None:
    try:
        found = os.stat(file) if file is not None else None
    except OSError:
        return None
    return None if found is None else (found.st_dev, found.st_ino)


def open_store(url: str, *, reading: bool = False, must_exist: bool = False) -> Store:
    """Open the store at a URL (``sqlite:///path``, ``postgresql://...``) or a plain path, made or migrated if need be.

    A new SQLite file is created unless it ``must_exist``, a missing folder is not. For ``reading`` it must exist, too;
    a file that this process may not write is then opened without writing anything, and refused only where it would have
    to be migrated. Raises ``StoreError``.
    """
    parsed = _parse(url, makes_file=not (reading or must_exist))
    file = file_of(parsed)
    if reading and file is not None and not can_be_written(file):
        return _open_read_only(parsed, file)
    engine = _engine(parsed)
    try:
        with _store_errors(_shown(parsed)):
            newest = is_newest(engine, _shown(parsed))  # First of all, so that a file that is not ours stays as it is.
            if parsed.get_backend_name() == "sqlite" and not (reading and newest):
                _use_wal(engine)
            if not newest:
                migrate(engine.execution_options(**{_BEGIN: "IMMEDIATE"}), _shown(parsed))
    except BaseException:
        engine.dispose()
        raise
    return Store(engine, parsed)


def _open_read_only(parsed: URL, file: str) -> Store:
    """The store in a file that this process may not write."""
    address = read_only_address(parsed, file)
    state = None if address.takes_locks else file_state(file)
    engine = _engine(address.url)
    if address.index_in_memory:
        event.listen(engine, "connect", _keep_index_in_memory, insert=True)
    try:
        with _store_errors(_shown(parsed)):
            if not is_newest(engine, _shown(parsed)):
                raise StoreFull(
                    f"the store {_shown(parsed)} is read-only, and has to be brought up to this version first",
                    "run any command on it where it can be written, or use a copy",
                )
    except BaseException:
        engine.dispose()
        raise
    return Store(engine, parsed, state)


def _shown(url: URL) -> str:
    """The store's name in messages: the file for SQLite, else the URL without its password."""
    if url.get_backend_name() == "sqlite":
        return str(url.database)
    return url.render_as_string(hide_password=True)


def _parse(url: str, *, makes_file: bool) -> URL:
    if "://" not in url:
        return _sqlite_url(URL.create("sqlite", database=str(Path(url).expanduser())), makes_file)
    try:
        parsed = make_url(url)
    except ArgumentError as exc:
        raise StoreUnavailable(
            f"cannot read the store's address {url!r}", "write a path, sqlite:///path or postgresql://user@host/name"
        ) from exc
    if parsed.get_backend_name() == "sqlite":
        return _sqlite_url(parsed, makes_file)
    if parsed.drivername in {"postgresql", "postgres"}:
        return parsed.set(drivername="postgresql+psycopg")
    return parsed


def _sqlite_url(url: URL, makes_file: bool) -> URL:
    name = url.database
    if not name or name == ":memory:":
        raise StoreUnavailable("a store cannot live in memory: each connection would see its own", "give a file's path")
    file = os.path.abspath(file_of(url) or "")
    if not makes_file and is_missing(file):
        raise StoreUnavailable(
            f"no store at {file}",
            "check --db, LIVE_DB or live.toml; live import problems and live ingest make a store",
        )
    if name.startswith("file:"):  # An SQLite URI, say file:/a/b?mode=ro; SQLite itself judges it.
        return url
    path = Path(file)
    if path.is_dir():
        raise StoreUnavailable(f"{path} is a folder, not a store", "name a file in it, say live.db")
    if not path.parent.is_dir():
        raise StoreUnavailable(f"the folder {path.parent} does not exist", "create it, or check the store's path")
    return url.set(database=str(path))


def _engine(url: URL) -> Engine:
    try:
        if url.get_backend_name() != "sqlite":
            return create_engine(url, pool_pre_ping=True)
        engine = create_engine(url, connect_args={"timeout": BUSY_TIMEOUT_S, "isolation_level": None}, max_overflow=-1)
    except (NoSuchModuleError, ModuleNotFoundError) as exc:
        raise StoreUnavailable(
            f"no driver for a {url.get_backend_name()} store ({exc})",
            "use sqlite:///path or postgresql://..., the latter after: pip install 'livecut[postgres]'",
        ) from exc
    event.listen(engine, "connect", _on_connect)
    event.listen(engine, "begin", _on_begin)
    return engine


def _keep_index_in_memory(connection: Any, _record: object) -> None:
    # Before the log is first looked at: a connection that has the file for itself needs no shared index.
    connection.execute("PRAGMA locking_mode = EXCLUSIVE").close()


def _on_connect(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA foreign_keys = ON")
    # In WAL mode NORMAL keeps every commit through a kill, and the file sound through a power cut.
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.execute(f"PRAGMA journal_size_limit = {_WAL_SIZE_KEPT}")
    cursor.close()


def _on_begin(connection: Connection) -> None:
    mode = connection.get_execution_options().get(_BEGIN, "DEFERRED")
    # A read that could turn into a write would fail with "database is locked": it is refused where it is written.
    connection.exec_driver_sql(f"PRAGMA query_only = {int(mode == 'DEFERRED')}")
    connection.exec_driver_sql(f"BEGIN {mode}")


def _use_wal(engine: Engine) -> None:
    """Switch the file to WAL once. SQLite does not wait for the lock that this needs, so the waiting is done here."""
    raw = engine.raw_connection()
    try:
        cursor = raw.cursor()
        give_up = time.monotonic() + BUSY_TIMEOUT_S
        while True:
            try:
                mode = cursor.execute("PRAGMA journal_mode = WAL").fetchone()[0]
                break
            except sqlite3.OperationalError as exc:
                if exc.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > give_up:
                    raise
                time.sleep(0.02)
        if mode != "wal":
            _log.warning("%s cannot use write-ahead logging (mode %s): reads may wait for writes", engine.url, mode)
    finally:
        raw.close()


_HINTS: Final[dict[int, tuple[type[StoreError], str, str]]] = {
    sqlite3.SQLITE_FULL: (StoreFull, "the disk is full", "free some space and run the same command again"),
    sqlite3.SQLITE_READONLY: (StoreFull, "it is read-only", "allow writing to the file and its folder, or use a copy"),
    sqlite3.SQLITE_PERM: (StoreFull, "access was refused", "check the permissions of the file and its folder"),
    sqlite3.SQLITE_BUSY: (StoreBusy, "another process keeps it locked", "wait for that process, then run this again"),
    sqlite3.SQLITE_NOTADB: (StoreUnavailable, "the file is not a database", "check the path, or name a new file"),
    sqlite3.SQLITE_CORRUPT: (StoreUnavailable, "the file is damaged", "restore a copy, or rescue it: sqlite3 .recover"),
    sqlite3.SQLITE_CANTOPEN: (StoreUnavailable, "it cannot be opened", "check the path and its permissions"),
    sqlite3.SQLITE_IOERR: (StoreUnavailable, "the disk failed to read or write", "check the disk and its free space"),
}
_HINTS[sqlite3.SQLITE_LOCKED] = _HINTS[sqlite3.SQLITE_PROTOCOL] = _HINTS[sqlite3.SQLITE_BUSY]
_STATES: Final = {"53100": sqlite3.SQLITE_FULL, "25006": sqlite3.SQLITE_READONLY, "55P03": sqlite3.SQLITE_BUSY}
"""The same by PostgreSQL's SQLSTATE: disk_full, read_only_sql_transaction, lock_not_available."""


@contextmanager
def _store_errors(shown: str) -> Iterator[None]:
    """Turn what the driver says about the store's state into a ``StoreError``; bugs in SQL stay what they are."""
    try:
        yield
    except (DBAPIError, sqlite3.Error) as exc:
        known = _translate(exc, shown)
        if known is None:
            raise
        raise known from exc


def _translate(exc: DBAPIError | sqlite3.Error, shown: str) -> StoreError | None:
    cause = exc.orig if isinstance(exc, DBAPIError) else exc
    code = getattr(cause, "sqlite_errorcode", None)
    if code is None:
        code = _STATES.get(getattr(cause, "sqlstate", None) or "")
        if code is None and isinstance(exc, DBAPIError) and (exc.connection_invalidated or _is_unreachable(cause)):
            return StoreUnavailable(f"cannot reach the store {shown}", "check that its server runs and the address")
    elif code == sqlite3.SQLITE_IOERR_SHMSIZE:  # How a full disk shows when the shared index has to grow.
        code = sqlite3.SQLITE_FULL
    found = _HINTS.get((code or 0) & 0xFF)
    if found is None:
        return None
    kind, what, hint = found
    return kind(f"the store {shown} could not be used: {what}", hint)


def _is_unreachable(cause: BaseException | None) -> bool:
    return type(cause).__name__ == "OperationalError" and getattr(cause, "sqlstate", None) is None
