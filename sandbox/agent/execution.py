"""A command in a test's own process: files placed, layers put on, then another program in its place.

For programs that are not Python: a compiler, what it made, another language's interpreter, a checker.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]
import fcntl
import os
import stat

from . import wire
from .isolation import Landlock, Seccomp, become_user, limit_address_space, set_limits, set_output_limit
from .wire import SCRATCH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

# Numbers from here on are free for what must not be in the way of 0 to 2 and of the kept descriptors.
_HIGH_FD = 200
_DESCRIPTORS = 256
_CHUNK_BYTES = 1 << 20
_EXEC_FAILED = 127
_OWN_NAME = "solution"  # what a program that is a descriptor is called


def run(
    request: wire.Request, fds: list[int], report: int, uid: int | None, landlock: Landlock, syscall_filter: Seccomp
) -> NoReturn:
    """Become the command. Writes to ``report``, which its start closes, how far it came; never returns."""
    details = request.details
    try:
        report = fcntl.fcntl(report, fcntl.F_DUPFD_CLOEXEC, _HIGH_FD)
        ruleset = fcntl.fcntl(landlock.fd, fcntl.F_DUPFD_CLOEXEC, _HIGH_FD) if landlock.abi else -1
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _HIGH_FD) for fd in fds]
        os.closerange(3, _HIGH_FD)
        for number in (wire.STDIN, wire.STDOUT, wire.STDERR):
            os.dup2(high[number], number)
        for number, index in enumerate(details.get("keep", ()), start=wire.FIRST_KEPT_FD):
            os.dup2(high[index], number)
        os.setsid()
        set_limits(int(request.cpu_kill_s) + 2, _DESCRIPTORS)
        become_user(uid)
        landlock.apply(ruleset)
        os.umask(0o077)
        for name in details.get("folders", ()):
            os.makedirs(f"{SCRATCH}/{name}", exist_ok=True)
        for name, index in details.get("place", {}).items():
            _place(name, high[index])
        syscall_filter.apply()
        if details.get("address_space_bytes"):
            limit_address_space(details["address_space_bytes"])
        set_output_limit(request.output_bytes)
        # Python ignores these two, and what is ignored stays so in the program that follows.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        os.write(report, b"IC")
        _start(details, high)
    except BaseException as error:
        os.write(report, f"F{type(error).__name__}: {error}".encode())
    os._exit(_EXEC_FAILED)


def _start(details: dict[str, Any], fds: list[int]) -> None:
    path, *words = details["command"]
    program: int | str = path or fds[details["executable"]]
    try:
        os.execve(program, [path or _OWN_NAME, *words], details.get("variables", {}))
    except OSError as error:
        if path:
            raise
        # What a program was compiled to is its own doing: it can name an interpreter that is not there, say.
        os.write(wire.STDERR, f"the program cannot be started: {error.strerror}\n".encode())


def _place(name: str, source_fd: int) -> None:
    path = f"{SCRATCH}/{name}"
    if "/" in name:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        _copy(source_fd, fd, os.fstat(source_fd).st_size)
    finally:
        os.close(fd)


def fetch(name: str, target_fd: int, limit_bytes: int) -> None:
    """Copy a file of the scratch folder into ``target_fd``: what the test's own user can read, no link, no device.

    A file that is not there, or is something else than a file, leaves the target as it is. Raises ``OSError`` when one
    could not be copied to its end.
    """
    try:
        fd = os.open(f"{SCRATCH}/{name}", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    try:
        status = os.fstat(fd)
        if stat.S_ISREG(status.st_mode):
            _copy(fd, target_fd, min(status.st_size, limit_bytes))
    finally:
        os.close(fd)


def _copy(source_fd: int, target_fd: int, size: int) -> None:
    done = 0
    while done < size:
        chunk = os.pread(source_fd, min(_CHUNK_BYTES, size - done), done)
        if not chunk:
            raise OSError(f"a file of {size} bytes ended after {done}")
        view = memoryview(chunk)
        while view:
            view = view[os.write(target_fd, view) :]
        done += len(chunk)
