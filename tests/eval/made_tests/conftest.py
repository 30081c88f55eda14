"""A store to make tests for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from db.engine import Store, open_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An open, empty store."""
    with open_store(f"sqlite:///{tmp_path}/store.db") as opened:
        yield opened
