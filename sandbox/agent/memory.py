"""What a test's process occupies, and whether the kernel ended one for want of memory.

Formats: proc(5); the kernel's documents on control groups, version 1 (memory) and version 2 (memory.events).
"""

from __future__ import annotations

import os

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_STATUS_BYTES = 4096

# Page tables are 1/512 of what they are for where it lies together, so that no ordinary program has more than this; one
# that touches a page here and a page there has a table for each of them.
_ORDINARY_TABLES_BYTES = 16 << 20
_TABLES = b"VmPTE:"

# Where the count of a container is, by version 2 and by version 1; bubblewrap's jails show neither.
_COUNTS = ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control")
_COUNT = b"oom_kill "


def resident_bytes(pid: int) -> int:
    """The memory that a process has in use; 0 for one that is gone."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as statm:
            return int(statm.read().split()[1]) * _PAGE_BYTES
    except (OSError, IndexError):
        return 0


def excess_tables_bytes(pid: int) -> int:
    """What the page tables of a process have in use beyond the ordinary; 0 where the kernel does not say."""
    try:
        with open(f"/proc/{pid}/status", "rb") as status:
            said = status.read().partition(_TABLES)[2]
        return max(0, int(said.split(None, 1)[0]) * 1024 - _ORDINARY_TABLES_BYTES)
    except (OSError, IndexError, ValueError):
        return 0


def be_ended_first() -> None:
    """Have the kernel, when memory is short, end this process or one that it starts before any other of the machine.
    Nothing happens where that may not be asked for."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:
            score.write("1000")
    except OSError:
        return


class KernelEnds:
    """The kernel's count of the processes in this jail that it ended for want of memory."""

    def __init__(self) -> None:
        self._fd = _open_first(_COUNTS)
        self._noted = self._count()

    def note(self) -> None:
        """Take note of the count, once a test has begun."""
        self._noted = self._count()

    def may_be_more(self) -> bool:
        """Whether the count is above what was noted, or cannot be known."""
        count = self._count()
        return count < 0 or count != self._noted

    def _count(self) -> int:
        """The count; negative where there is none to be read."""
        if self._fd < 0:
            return -1
        try:
            said = os.pread(self._fd, _STATUS_BYTES, 0).partition(_COUNT)[2]
            return int(said.split(None, 1)[0])
        except (OSError, IndexError, ValueError):
            return -1


def _open_first(paths: tuple[str, ...]) -> int:
    for path in paths:
        try:
            return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            continue
    return -1
