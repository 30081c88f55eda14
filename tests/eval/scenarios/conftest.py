"""A store with the invented problems."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.eval.scenarios.stores import Nova, open_nova


@pytest.fixture
def nova(tmp_path: Path) -> Iterator[Nova]:
    """The store, without runs."""
    with open_nova(tmp_path) as store:
        yield Nova(store)
