"""The store: tables, migrations, and functions that save and load frozen records. Knows none of the other rooms.

``open_store`` gives a ``Store``; the functions that work on its sessions are in ``db.problems``, ``db.completions``,
``db.judgements``, ``db.tallies`` and ``db.blobs``. SQLModel takes about a second to import, so those names load
on first use; ``db.records`` and ``db.errors`` are cheap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from db.engine import Store, open_store

__all__ = ["Store", "open_store"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'db' has no attribute {name!r}")
    from db import engine

    return getattr(engine, name)
