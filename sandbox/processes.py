"""Whether a process that left something behind still runs, and what dead ones left in the temp folder."""

from __future__ import annotations

import os
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


def _pid_namespace() -> int:
    return os.stat("/proc/self/ns/pid").st_ino


def namespace() -> str:
    """What makes a pid mean one process: this boot of this machine, and the pid namespace."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{boot}.{_pid_namespace()}"


def folder_owner() -> str:
    """This process as it stands in the names of its folders: pid, start time, pid namespace."""
    pid = os.getpid()
    return f"{pid}-{start_time(pid)}-{_pid_namespace()}"


def remove_stale_directories(prefix: str) -> int:
    """Remove the folders of dead processes (``PREFIX`` and :func:`folder_owner`) from the temp folder; how many.

    Those of another pid namespace, where the same pid is somebody else, stay.
    """
    removed = 0
    here = str(_pid_namespace())
    for path in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        pid, started, space, *_ = [*path.name.removeprefix(prefix).split("-"), "", ""]
        if pid.isdigit() and space == here and not is_alive(int(pid), started):
            shutil.rmtree(path, ignore_errors=True)
            removed += 1
    return removed
