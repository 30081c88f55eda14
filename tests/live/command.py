"""Running the command in this process, as its entry point does: exit code, stdout and stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from live.cli import main

DEMO = Path(__file__).resolve().parents[2] / "live" / "demo"


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Its stdout, as one JSON document."""
        return json.loads(self.out)


Live = Callable[..., Ended]


def runner(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path) -> Live:
    """A function that runs ``live`` with these arguments in ``folder``, with a store and a home of its own there."""
    monkeypatch.chdir(folder)
    for name in ("LIVE_DB", "LIVE_MODELS"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(folder / "home"))

    def live(*arguments: str | Path) -> Ended:
        words = ["live", "--db", str(folder / "store.db"), *map(str, arguments)]
        monkeypatch.setattr(sys, "argv", words)
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        code = end.value.code
        return Ended(0 if code is None else int(code), said.out, said.err)

    return live
