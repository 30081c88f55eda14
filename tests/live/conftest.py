"""A ``live`` command with a store of its own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from db.engine import open_store
from eval.importing import import_results
from ingest.importing import import_problems
from tests.eval.generate.server import EndpointServer
from tests.live.command import DEMO, Live, runner
from tests.live.graded import write_board

BOARD_NOW = datetime(2026, 1, 1, tzinfo=UTC)


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


@pytest.fixture
def server() -> Iterator[EndpointServer]:
    """An endpoint on a port of this machine."""
    with EndpointServer(tcp=True) as running:
        yield running


@pytest.fixture
def asked_live(live: Live, monkeypatch: pytest.MonkeyPatch) -> Live:
    """The command with the demonstration's problems and models, no answers, and no key."""
    monkeypatch.setenv("LIVE_MODELS", str(DEMO / "models.toml"))
    for name in ("OPENAI_API_KEY", "LIVE_BASE_URL", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert live("import", "problems", DEMO / "problems.jsonl", "--format", "jsonl").code == 0
    return live


@pytest.fixture(scope="session")
def board_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An invented board's models, problems and results, and a store (``store.db``) that holds them."""
    folder = tmp_path_factory.mktemp("board")
    write_board(folder)
    with open_store(f"sqlite:///{folder}/store.db") as store:
        import_problems(store, folder / "problems.jsonl", "jsonl", now=BOARD_NOW)
        import_results(store, folder / "results.jsonl", "jsonl", now=BOARD_NOW)
    return folder


@pytest.fixture
def board_live(live: Live, board_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Live:
    """The command with a copy of that store."""
    shutil.copy(board_folder / "store.db", tmp_path / "store.db")
    monkeypatch.setenv("LIVE_MODELS", str(board_folder / "models.toml"))
    return live
