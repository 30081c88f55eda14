"""Publishing killed, or failing, at each of its steps: readers see all of the old or of the new; nothing is lost."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
IN_MEMORY = Path("/dev/shm")


@pytest.fixture
def base() -> Iterator[Path]:
    """A folder in memory, if there is such: a thousand small runs wait for no disk."""
    with tempfile.TemporaryDirectory(dir=IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None) as folder:
        yield Path(folder) / "base"


def outcomes(base: Path, how: str, kind: str) -> list[tuple[str, ...]]:
    """For each step: how the run ended, what readers saw, what became of the user's things, and of the workshop."""
    ended = subprocess.run(
        [sys.executable, "-m", "tests.eval.publishing.faulty_publishing", str(base), how, kind],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        timeout=500,
    )
    assert ended.returncode == 0, ended.stderr
    found = [tuple(line.split()[1:]) for line in ended.stdout.splitlines()]
    assert len(found) > 80
    assert {line[4:] for line in found} == {("done", "next", "kept", "tidy")}  # the run after it
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "instants_without"), [("exchange", 0), ("plain", 1)])
def test_a_run_that_is_killed_leaves_all_of_the_old_or_all_of_the_new(
    base: Path, kind: str, instants_without: int
) -> None:
    """Where the system cannot exchange two folders, one kill out of all leaves none, until the next run."""
    found = outcomes(base, "kill", kind)
    seen = Counter(line[1] for line in found)
    assert {line[0] for line in found} == {"killed"}
    assert seen["nothing"] == instants_without
    assert seen.keys() - {"nothing"} == {"old", "new"}
    assert {line[2] for line in found} == {"kept"}
    assert [line[1] for line in found] == sorted((line[1] for line in found), key=["old", "nothing", "new"].index)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "kind", "ends"), [("fail", "exchange", {"failed", "refused"}), ("interrupt", "plain", {"interrupted"})]
)
def test_a_run_that_fails_changes_nothing_and_one_that_is_through_has_not_failed(
    base: Path, how: str, kind: str, ends: set[str]
) -> None:
    found = outcomes(base, how, kind)
    assert {line[0] for line in found if line[1] == "new"} == {"done"}
    assert {line[0] for line in found if line[1] != "new"} == ends
    assert {line[1:4] for line in found if line[0] in ends} == {("old", "kept", "tidy")}
