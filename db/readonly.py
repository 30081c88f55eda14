"""Reading an SQLite store that this process may not write: which address opens it without changing a byte.

A file in WAL mode wants two files beside it, and SQLite makes them even for a reader. Where it cannot, there are
three cases. Both are there (another process has the store open, or was killed): ``mode=ro`` uses them, with their
locks. A log without its index (a copy, say): the index is built in memory, which SQLite does only without locks. No
log: the file is all there is, and ``immutable=1`` reads it as it stands. The last two take no locks, so that a writer
elsewhere could change pages under them: ``file_state`` tells afterwards whether one did.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

from sqlalchemy.engine import URL

_UNLOCKED_VFS: Final = "unix-none"
FileState = tuple[tuple[int, int, int] | None, ...]


@dataclass(frozen=True)
class ReadOnlyAddress:
    """``url`` opens the store for reading alone.

    ``takes_locks``: whether writers elsewhere leave its pages alone. ``index_in_memory``: whether connections have to
    ask for exclusive locking, so that the index of the log is built in memory.
    """

    url: URL
    takes_locks: bool
    index_in_memory: bool = False


def file_of(url: URL) -> str | None:
    """The path of an SQLite store, also where it is written as an SQLite URI; None for a server's."""
    name = url.database if url.get_backend_name() == "sqlite" else None
    if name is None or not name.startswith("file:"):
        return name
    path = unquote(name.removeprefix("file:").partition("?")[0])
    # file://host/path: SQLite takes no host but localhost.
    return f"/{path[2:].partition('/')[2]}" if path.startswith("//") else path


def is_missing(file: str) -> bool:
    """Whether no such file is there. One that may not be looked at is not missing."""
    try:
        os.stat(file)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def can_be_written(file: str) -> bool:
    """Whether this process may write the file, and make others in its folder, as SQLite does with every change."""
    real = os.path.realpath(file)
    effective = os.access in os.supports_effective_ids
    return all(os.access(path, os.W_OK, effective_ids=effective) for path in (real, os.path.dirname(real)))


def read_only_address(url: URL, file: str) -> ReadOnlyAddress:
    """How a store that may not be written is opened: see above."""
    real = os.path.realpath(file)
    log, index, journal = (f"{real}{ending}" for ending in ("-wal", "-shm", "-journal"))
    if _has_content(journal) or (os.path.exists(log) and os.path.exists(index)):
        return ReadOnlyAddress(_uri(url, real), takes_locks=True)
    if _has_content(log):
        return ReadOnlyAddress(_uri(url, real, vfs=_UNLOCKED_VFS), takes_locks=False, index_in_memory=True)
    return ReadOnlyAddress(_uri(url, real, immutable="1"), takes_locks=False)


def file_state(file: str) -> FileState:
    """What changes when somebody writes the store: inode, size and time of the file and of its log."""
    return tuple(_stat(f"{os.path.realpath(file)}{ending}") for ending in ("", "-wal"))


def _uri(url: URL, file: str, **how: str) -> URL:
    query = {**url.query, "mode": "ro", "uri": "true", **how}
    return url.set(database=f"file:{quote(file)}", query=query)


def _has_content(file: str) -> bool:
    found = _stat(file)
    return found is not None and found[1] > 0


def _stat(file: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
