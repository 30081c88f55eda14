"""The agent as a jail gets it: its files, the command that starts it, and the variables that it and programs see."""

from __future__ import annotations

import marshal
from pathlib import Path

from sandbox.agent.bootstrap import STREAM_IN, STREAM_OUT

AGENT_SOURCE = Path(__file__).parent / "agent"
MOUNT_POINT = "/run/live"

AGENT_ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "HOME": "/tmp",
    "OPENBLAS_NUM_THREADS": "1",  # numpy's threads would be started at its import, and counted against the program
    "PATH": "/usr/local/bin:/usr/bin:/bin",
}

# -S: no third-party packages; -s: no user's; -B: no caches.
_PYTHON = ("python3", "-s", "-S", "-B", "-c")
_BOOTSTRAP = "bootstrap.py"

# Python sees what standard input and output are when it starts, and tests inherit what it saw.
_WITH_STREAM_ASIDE = f'exec {STREAM_IN}<&0 {STREAM_OUT}>&1 </dev/null >/dev/null "$0" "$@"'


def agent_files() -> dict[str, bytes]:
    """The agent's files by name."""
    return {path.name: path.read_bytes() for path in sorted(AGENT_SOURCE.glob("*.py"))}


def mounted_command(uid_base: int) -> list[str]:
    """The command that starts the agent where its folder is mounted; it connects to the socket there."""
    start = f"import sys; sys.path.insert(0, {MOUNT_POINT!r}); from agent.start import start; "
    return [*_PYTHON, start + f"start({MOUNT_POINT!r}, {uid_base})"]


def streamed_command(uid_base: int) -> list[str]:
    """The command that starts the agent from its standard input, which begins with :func:`streamed_files`."""
    bootstrap = (AGENT_SOURCE / _BOOTSTRAP).read_text(encoding="utf-8")
    return ["/bin/sh", "-c", _WITH_STREAM_ASIDE, *_PYTHON, bootstrap, str(uid_base)]


def streamed_files() -> bytes:
    """The agent's modules as :mod:`sandbox.agent.bootstrap` reads them: a length, then marshalled texts by name."""
    texts = {f"agent.{name.removesuffix('.py')}": text for name, text in agent_files().items() if name != "__init__.py"}
    packed = marshal.dumps(texts, 2)
    return len(packed).to_bytes(8, "big") + packed
