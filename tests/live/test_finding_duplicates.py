"""The comparison of statements after the runs: one at a time, and what fails in it loses no report."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from db.duplicates import without_fingerprint
from db.engine import open_store
from db.ingest_runs import IngestOutcome, list_runs
from db.leases import find_lease, take_lease
from db.problems import list_problems
from ingest import duplicates
from ingest.duplicates import LEASE, LEASE_TTL
from ingest.fingerprints import KIND
from tests.ingest.reading import DATA
from tests.live.command import Live

COMMANDS = pytest.mark.parametrize("words", [("ingest",), ("schedule", "--once")])


@pytest.fixture
def collecting(live: Live, tmp_path: Path) -> Live:
    """The command with a folder of packages as its only source."""
    settings = ["[ingest]", 'contact = "you@example.org"', 'sources = ["icpc"]', "[sources.icpc]"]
    paths = f"paths = {json.dumps([str(DATA / 'icpc' / 'spring-cup')])}"
    (tmp_path / "live.toml").write_text("\n".join([*settings, paths]), encoding="utf-8")
    return live


def read_and_waiting(folder: Path) -> tuple[bool, bool]:
    """Whether problems were read, and whether statements wait to be compared; the run is completed all the same."""
    with open_store(str(folder / "store.db")) as store, store.read() as session:
        assert [run.outcome for run in list_runs(session, "icpc")] == [IngestOutcome.COMPLETED]
        return bool(list_problems(session)), bool(without_fingerprint(session, KIND, limit=1))


@COMMANDS
def test_statements_are_compared_after_the_runs(collecting: Live, tmp_path: Path, words: tuple[str, ...]) -> None:
    ended = collecting(*words)
    assert ended.code == 0, ended.err
    assert read_and_waiting(tmp_path) == (True, False)
    with open_store(str(tmp_path / "store.db")) as store, store.read() as session:
        assert find_lease(session, LEASE) is None


@COMMANDS
def test_statements_are_left_to_another_process_that_is_at_them(
    collecting: Live, tmp_path: Path, words: tuple[str, ...]
) -> None:
    with open_store(str(tmp_path / "store.db")) as store, store.write() as session:
        take_lease(session, LEASE, "elsewhere:7:ff", datetime.now(UTC), LEASE_TTL)
    ended = collecting(*words)
    assert ended.code == 0, ended.err
    assert "duplicates: left to the process that compares statements now" in ended.err.splitlines()
    assert read_and_waiting(tmp_path) == (True, True)


@COMMANDS
def test_a_comparison_that_fails_is_one_line_and_loses_no_report(
    collecting: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("the index\nfell over")

    monkeypatch.setattr(duplicates, "save_fingerprints", fail)
    as_json = ("--json",) if words == ("ingest",) else ()
    ended = collecting(*words, *as_json)
    assert ended.code == 1
    assert [line for line in ended.err.splitlines() if "fell over" in line] == [
        "failed: duplicates: the index fell over"
    ]
    assert "Traceback" not in ended.err
    assert "icpc: completed" in ended.err
    if as_json:
        assert [run["outcome"] for run in ended.document] == ["completed"]
    assert read_and_waiting(tmp_path) == (True, True)
