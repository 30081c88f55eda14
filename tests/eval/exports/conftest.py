"""The recorded board as it is published, frozen once for all tests of exports."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.publishing.publication import Published
from tests.eval.editions.built import published, recorded


@pytest.fixture(scope="session")
def recorded_edition(shared_data: Path) -> Published:
    """The recorded board of 16 models; freezing it takes some seconds."""
    return published(recorded(shared_data))
