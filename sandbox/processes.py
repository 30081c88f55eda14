"""Whether a process that left something behind still runs, and what dead ones left in the temp folder."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path


def start_time(pid: int) -> str:
    """When the process started, in clock ticks since boot (field 22 of /proc/PID/stat); empty when there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return text.rpartition(")")[2].split()[19]


def is_alive(pid: int, started: str) -> bool:
    """Whether the process that had this pid at that start time still runs (a pid is used again after a while)."""
    return started != "" and start_time(pid) == started


def remove_stale_directories(prefix: str) -> int:
    """Remove the folders ``PREFIX<pid>-*`` of dead processes from the temp folder; how many they were."""
    removed = 0
    for path in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        pid = path.name.removeprefix(prefix).partition("-")[0]
        if pid.isdigit() and not Path(f"/proc/{pid}").exists():
            shutil.rmtree(path, ignore_errors=True)
            removed += 1
    return removed
