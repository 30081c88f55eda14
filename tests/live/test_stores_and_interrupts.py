"""Stores that are missing, empty or not ours to write, and Ctrl-C: what commands say and how they end."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from db.engine import open_store
from live.errors import KEPT, NOTHING_KEPT
from tests.live.command import DEMO, Live
from tests.without_rights import rights_count

READING = [
    "eval --no-judge --after-cutoff",
    "eval --no-judge --after-cutoff --table common",
    "compare --no-judge --any-time --since 2020 {first} {second}",
    "audit runs",
    "audit composition --before ..2024-06 --after 2024-07..",
    "audit contamination",
    "audit difficulty",
    "audit problems",
    "audit saturation --saturated until=2024-06 --fresh since=2024-07",
    "audit stability",
    "problems list",
    "problems show {problem}",
    "models list",
    "runs",
    "duplicates list",
    "edition list",
    "import refused",
    "sources snapshots",
]
NEEDS_NO_STORE = {"models list"}
NEEDS_A_STORE = [line for line in READING if line not in NEEDS_NO_STORE] + [
    "eval --after-cutoff",
    "compare first second",
    "sources snapshot 1",
    "run add.py --problem x:y",
    "edition freeze 2025-05",
    "edition diff a b",
    "edition verify a",
    "publish site",
    "publish --readme README.md",
    "judge",
    "judge --compare-graders o1-mini-2024-09-12",
    "problems show x:y --json",
    "problems flag x:y bad_tests --reason r",
    "problems unflag x:y bad_tests",
    "problems seen x:y --at 2025-01-01 --reason r",
    "duplicates same x:y x:z --reason r",
    "import solutions add.py --format jsonl --model o1-mini-2024-09-12",
    "import results add.py --format jsonl",
    "import problems add.py --format jsonl --known-only",
]


@pytest.fixture
def locked_live(live: Live, board_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Live]:
    """The command on a board's store in a folder that may be read and not written."""
    shutil.copy(board_folder / "store.db", tmp_path / "store.db")
    monkeypatch.setenv("LIVE_MODELS", str(board_folder / "models.toml"))
    (tmp_path / "store.db").chmod(0o444)
    tmp_path.chmod(0o555)
    with rights_count():
        yield live
    tmp_path.chmod(0o755)


def test_every_reading_command_works_on_a_store_that_may_not_be_written(locked_live: Live, tmp_path: Path) -> None:
    live, folder = locked_live, tmp_path
    before = hashlib.sha256((folder / "store.db").read_bytes()).hexdigest()
    models = [model["name"] for model in live("models", "list", "--json").document]
    with open_store(str(folder / "store.db"), reading=True) as store, store.read() as session:
        from db.problems import list_problems
        from db.tallies import list_tally_models

        known = [name for name in models if name in set(list_tally_models(session))]
        words = {"first": known[0], "second": known[1], "problem": str(list_problems(session)[0].key)}
    for line in READING:
        ended = live(*(part.format(**words) for part in line.split()))
        assert ended.code in {0, 3}, (line, ended.err)
        assert "error" not in ended.err, line
    for line in ("judge", "problems flag {problem} bad_tests --reason r", "import problems none.jsonl -f jsonl"):
        ended = live(*(part.format(**words) for part in line.split()))
        assert ended.code == 4, (line, ended.err)
        assert "permissions" in ended.err or "allow writing" in ended.err
    assert sorted(os.listdir(folder)) == ["store.db"]
    assert hashlib.sha256((folder / "store.db").read_bytes()).hexdigest() == before


@pytest.mark.parametrize("line", NEEDS_A_STORE)
def test_a_command_that_needs_what_a_store_holds_makes_none(line: str, live: Live, tmp_path: Path) -> None:
    (tmp_path / "add.py").write_text("print(1)\n")
    ended = live(*line.format(first="a", second="b", problem="c:d").split())
    assert ended.code == 4
    assert ended.out == ""
    assert ended.err.splitlines() == [
        f"error: no store at {tmp_path / 'store.db'}",
        "  what to do: check --db, LIVE_DB or live.toml; live import problems and live ingest make a store",
    ]
    assert os.listdir(tmp_path) == ["add.py"]


@pytest.mark.parametrize("line", ["schedule --once", "ingest atcoder"])
def test_without_a_contact_no_store_is_made(
    line: str, live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LIVE_CONTACT", raising=False)
    ended = live(*line.split())
    assert ended.code == 2
    assert "no contact is configured" in ended.err
    assert os.listdir(tmp_path) == []


def test_the_folder_of_the_usual_store_is_not_made_by_reading(
    live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = live("--db", "", "audit", "runs")
    assert ended.code == 4
    assert "home/livecut/live.db" in ended.err
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("line", ["eval --after-cutoff", "eval --after-cutoff --no-judge", "audit runs"])
def test_a_store_without_problems_is_said_to_be_empty_once(line: str, live: Live, tmp_path: Path) -> None:
    open_store(str(tmp_path / "store.db")).close()
    ended = live(*line.split())
    assert ended.code == 3
    assert ended.err.count(f"there is no problem in {tmp_path / 'store.db'} yet: live import") == 1


def test_a_command_that_writes_may_still_make_a_store(live: Live, tmp_path: Path) -> None:
    assert live("import", "problems", DEMO / "problems.jsonl", "-f", "jsonl").code == 0
    assert (tmp_path / "store.db").is_file()


INTERRUPT = """
import os, signal, sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == WANTED:
            signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupt())
from live.cli import main
main()
"""


def interrupted(folder: Path, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command that gets Ctrl-C at the moment when it begins to load a module."""
    code = INTERRUPT.replace("WANTED", repr(module))
    command = [sys.executable, "-c", code, "--db", str(folder / "store.db"), *arguments]
    environment = {**os.environ, "HOME": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False, cwd=folder)


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("typer", "audit runs"),
        ("live.commands", "models list"),
        ("live.commands.windows", "--help"),
        ("rich.table", "models list"),
        ("sqlalchemy", "audit runs"),
        ("numpy", "audit runs"),
        ("eval.comparison", "compare --no-judge a b"),
        ("db.engine", "import problems none.jsonl -f jsonl"),
    ],
)
def test_ctrl_c_ends_with_one_line_whatever_is_being_loaded(module: str, line: str, tmp_path: Path) -> None:
    ended = interrupted(tmp_path, module, *line.split())
    assert (ended.returncode, ended.stdout, ended.stderr.splitlines()) == (130, "", [NOTHING_KEPT])


def test_ctrl_c_turned_into_another_error_by_a_library_is_ctrl_c(
    live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise ImportError("half of a library") from None

    monkeypatch.setattr("db.engine.open_store", fail)
    ended = live("runs")
    assert (ended.code, ended.err.splitlines()) == (130, [NOTHING_KEPT])


def test_ctrl_c_after_something_was_kept_says_so(live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("live.commands.imports._finish", stop)
    ended = live("import", "problems", DEMO / "problems.jsonl", "-f", "jsonl")
    assert (ended.code, ended.err.splitlines()) == (130, [KEPT])


def test_a_command_in_the_background_does_not_listen_to_ctrl_c(tmp_path: Path) -> None:
    code = INTERRUPT.replace("WANTED", "'typer'").replace("signal.default_int_handler", "signal.SIG_IGN")
    command = [sys.executable, "-c", code, "--version"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_ctrl_c_is_given_back_when_the_command_is_there(live: Live) -> None:
    before = signal.getsignal(signal.SIGINT)
    assert live("--version").code == 0
    assert signal.getsignal(signal.SIGINT) is before
