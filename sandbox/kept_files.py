"""Which files a jail at the other end of a frame stream has already, so that they are not sent again.

A suite's inputs come once for each solution, a program once for each test. Only sealed files in memory are kept: nobody
can change them. A file is known by its inode, which is nobody else's while a descriptor of it is open here.
"""

from __future__ import annotations

import fcntl
import os
from collections import OrderedDict
from typing import NamedTuple

from sandbox.agent import frames
from sandbox.agent.frames import Descriptor
from sandbox.programs import MIB

_FILES, _BYTES, _FILE_BYTES = 64, 64 * MIB, 16 * MIB


class _Kept(NamedTuple):
    key: int
    fd: int
    size: int


class KeptFiles:
    """The files that one jail keeps, the one used last at the end."""

    def __init__(self) -> None:
        self._files: OrderedDict[tuple[int, int], _Kept] = OrderedDict()
        self._keys = 0

    def trim(self) -> tuple[int, ...]:
        """Forget what is too much; the keys that the jail is to drop. Called before a request, since what one request
        names must not go while it is put together."""
        dropped = []
        size = sum(kept.size for kept in self._files.values())
        while len(self._files) > _FILES or size > _BYTES:
            _, kept = self._files.popitem(last=False)
            os.close(kept.fd)
            size -= kept.size
            dropped.append(kept.key)
        return tuple(dropped)

    def describe(self, fd: int, status: os.stat_result) -> Descriptor:
        """How a file is sent: not at all when the jail has it."""
        identity = (status.st_dev, status.st_ino)
        if identity in self._files:
            self._files.move_to_end(identity)
            return Descriptor(frames.KEPT, key=self._files[identity].key)
        if status.st_size > _FILE_BYTES or not _is_sealed(fd):
            return Descriptor(frames.FILE, status.st_size)
        try:
            own = os.dup(fd)
        except OSError:  # descriptors are scarce; then it is sent each time
            return Descriptor(frames.FILE, status.st_size)
        self._keys += 1
        self._files[identity] = _Kept(self._keys, own, status.st_size)
        return Descriptor(frames.FILE, status.st_size, self._keys)

    def close(self) -> None:
        """Let go of all."""
        for kept in self._files.values():
            os.close(kept.fd)
        self._files.clear()


def _is_sealed(fd: int) -> bool:
    try:
        seals = fcntl.fcntl(fd, fcntl.F_GET_SEALS)
    except OSError:
        return False  # no file in memory
    wanted = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK
    return seals & wanted == wanted
