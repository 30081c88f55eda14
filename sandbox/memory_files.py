"""Files in memory, through which programs, inputs and outputs reach a jail as descriptors.

What needs a new descriptor raises ``SandboxUnavailable`` where none is left.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator

from sandbox.errors import SandboxUnavailable

_SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL


def sealed(content: bytes) -> int:
    """A descriptor of a new memory file with this content, which nobody can change any more."""
    fd = empty()
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view) :]
    seal(fd)
    return fd


def empty() -> int:
    """A descriptor of a new, empty memory file that can be written and later sealed."""
    with _scarce():
        return os.memfd_create("livecut", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)


def duplicate(fd: int) -> int:
    """Another descriptor of the same file."""
    with _scarce():
        return os.dup(fd)


@contextlib.contextmanager
def _scarce() -> Iterator[None]:
    """``SandboxUnavailable`` where there is no descriptor left."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.EMFILE, errno.ENFILE):
            raise
        raise SandboxUnavailable(f"no descriptor is left: {error.strerror}", "raise the limit (ulimit -n)") from error


def seal(fd: int) -> None:
    """Make the file's content final, for every holder of a descriptor."""
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, _SEALS)


def reader(fd: int) -> int:
    """A new read-only descriptor with an offset of its own: shared offsets would leak from one test to the next."""
    with _scarce():
        return os.open(f"/proc/self/fd/{fd}", os.O_RDONLY | os.O_CLOEXEC)


def size(fd: int) -> int:
    """The file's size in bytes."""
    return os.fstat(fd).st_size


def content(fd: int, limit: int) -> bytes:
    """The first ``limit`` bytes."""
    return os.pread(fd, min(size(fd), limit), 0)
