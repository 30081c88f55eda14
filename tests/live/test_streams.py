"""A reader that leaves, as in ``| head -1``: the command ends as it would have ended."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["models", "list"], 0),  # printed by rich
        (["models", "show", "o1-mini-2024-09-12"], 0),  # printed line by line
        (["models", "list", "--json"], 0),
        (["models", "show", "nobody"], 2),
        (["problems", "list"], 4),
    ],
)
@pytest.mark.parametrize("both", [False, True])
def test_a_reader_that_leaves_changes_no_exit_code(arguments: list[str], code: int, both: bool, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)  # nobody reads from the beginning, so that no timing decides
    command = [sys.executable, "-c", "from live.cli import main; main()", "--db", str(tmp_path / "none.db"), *arguments]
    environment = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    try:
        ended = subprocess.run(
            command,
            stdout=writing,
            stderr=writing if both else subprocess.PIPE,
            env=environment,
            cwd=tmp_path,
            check=False,
        )
    finally:
        os.close(writing)
    assert ended.returncode == code
    if not both:
        assert b"Broken" not in ended.stderr
        assert b"Traceback" not in ended.stderr
