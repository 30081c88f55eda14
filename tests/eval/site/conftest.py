"""The recorded board as an edition, computed once for all pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.publishing.publication import Published
from tests.eval.editions.built import published, recorded


@pytest.fixture(scope="session")
def recorded_edition(shared_data: Path) -> Published:
    """The edition of 16 models on 1,055 problems."""
    return published(recorded(shared_data))
