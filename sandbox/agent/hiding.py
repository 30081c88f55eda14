"""The agent's own entries in /proc, covered where its tests could look into them."""

from __future__ import annotations

import ctypes
import os

# Read-only, and neither set-user-id, devices nor execution (linux/mount.h).
_MOUNT_FLAGS = 0b1111


def hide_in_proc() -> None:
    """Cover this process's entry in /proc by an empty folder, where the jail may mount: in gVisor alone.

    Its /proc of 2022 opens memory files that processes of other users hold, whether these are dumpable or not.
    Elsewhere the kernel refuses the call, and the entry of a process that is not dumpable is closed without it.
    """
    place = f"/proc/{os.getpid()}".encode()
    ctypes.CDLL(None).mount(b"none", place, b"tmpfs", ctypes.c_ulong(_MOUNT_FLAGS), b"size=4k,mode=000")
