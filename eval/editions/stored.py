"""Editions in and out of a store: frozen from what it holds, kept for good, loaded by name."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from importlib.metadata import version
from typing import TYPE_CHECKING

from db.editions import list_editions, load_edition, save_edition
from eval.editions.document import FrozenEdition, digest_of, from_bytes, to_bytes
from eval.editions.freezing import Chosen, freeze

if TYPE_CHECKING:
    from db.engine import Store
    from eval.models import Registry


def frozen_now(store: Store, registry: Registry, chosen: Chosen, name: str, *, now: datetime) -> FrozenEdition:
    """The edition of what the store holds, under a name; not kept yet. Raises what ``freeze`` raises."""
    edition = freeze(store, registry, chosen, software=f"livecut {version('livecut')}")
    return FrozenEdition(name, now.replace(microsecond=0), digest_of(to_bytes(edition)), edition)


def keep(store: Store, frozen: FrozenEdition) -> FrozenEdition:
    """Keep an edition; it as it stands in the store, where it may have been before. Raises ``EditionExists``."""
    with store.write() as writing:
        save_edition(writing, frozen.name, frozen.digest, to_bytes(frozen.edition), now=frozen.frozen_at)
        row, _ = load_edition(writing, frozen.name)
    return FrozenEdition(row.name, row.frozen_at, row.digest, frozen.edition)


def load_frozen(store: Store, name: str) -> FrozenEdition:
    """The edition of that name. Raises ``EditionUnknown``, ``EditionDamaged``, ``EditionUnreadable``."""
    with store.read() as reading:
        row, body = load_edition(reading, name)
    return FrozenEdition(row.name, row.frozen_at, row.digest, from_bytes(body))


def newest_first(store: Store) -> Iterator[FrozenEdition]:
    """All editions, each loaded when its turn comes. Raises as ``load_frozen`` does."""
    with store.read() as reading:
        rows = list_editions(reading)
    for row in reversed(rows):
        yield load_frozen(store, row.name)
