"""A ``live`` command with a store of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.live.command import DEMO, Live, runner


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Live:
    """Run the command in an empty folder."""
    return runner(monkeypatch, capsys, tmp_path)


@pytest.fixture
def demo_live(live: Live, monkeypatch: pytest.MonkeyPatch) -> Live:
    """The command with the demonstration's models, problems and solutions imported."""
    monkeypatch.setenv("LIVE_MODELS", str(DEMO / "models.toml"))
    assert live("import", "problems", DEMO / "problems.jsonl", "--format", "jsonl").code == 0
    for path in sorted((DEMO / "solutions").glob("*.jsonl")):
        assert live("import", "solutions", path, "--format", "jsonl", "--model", path.stem).code == 0
    return live
