"""What tests of the cases made from public reports share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from db.engine import Store
from tests.live.command import Live, runner
from tests.real.case_sites import open_case_store


@pytest.fixture(scope="module")
def cases(shared_data: Path) -> Path:
    """The folder of the cases."""
    return shared_data.parent / "reports" / "cases"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """The store that the command of the same folder uses."""
    with open_case_store(tmp_path) as opened:
        yield opened


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Live:
    """The command, run in this process."""
    return runner(monkeypatch, capsys, tmp_path)
