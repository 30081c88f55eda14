"""A folder that is replaced as a whole: whoever reads it sees all of the old one or all of the new one.

The new one is made in a workshop beside the folder, ``.NAME.building-PID-…``. That has a file which is locked as long
as its process lives, and the new tree in ``site``. Linux exchanges the two names in one step (renameat2 with
RENAME_EXCHANGE); on a file system that cannot, two renames follow one another, and what a run that is killed between
them leaves is put back by the next one.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_CANNOT_EXCHANGE = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}
_CANNOT_LINK = {errno.EPERM, errno.EXDEV, errno.EMLINK, errno.EACCES, errno.ENOTSUP, errno.EOPNOTSUPP}
_OWNER = "owner"
_NEW = "site"
_OLD = "old"

ForeignIn = Callable[[Path], Collection[str]]
"""What in a folder of ours is not ours, by path from it on, but for the entries at its top."""


class FolderRefused(Exception):
    """A folder that is not written to. ``hint`` says what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass
class Workshop:
    """Where the new tree of ``target`` is made: fill ``site``, then ``switch``.

    ``owner`` is the file that is locked as long as the process lives; ``is_done``: the new tree is in place.
    ``set_aside`` is what somebody wrote into an old tree too late to be seen before it was replaced, where it is now;
    such a tree is left to the user.
    """

    target: Path
    folder: Path
    foreign_in: ForeignIn
    owner: IO[bytes] | None = None
    is_done: bool = False
    set_aside: list[Path] = field(default_factory=list)

    @property
    def site(self) -> Path:
        """The new tree; after the switch the old one, if there was one."""
        return self.folder / _NEW

    def sync(self) -> None:
        """Have the new tree's files on the disk. It takes its time: what is to be looked at last comes after it."""
        _sync_files(self.site)

    def switch(self, ours: Collection[str]) -> None:
        """Put the new tree in the folder's place, with every entry of the old one that is not called as in ``ours``.

        Before the switch the new tree has links to the files of those entries, so that they are nowhere missing;
        afterwards the entries themselves take the place of the links, with all that was written in the meantime.
        Raises ``FolderRefused`` where the new tree has another thing of the same name.
        """
        with _locked(self.target.parent):
            carried = _others(self.target, ours)
            for name in carried:
                self._carry(name)
            _sync_folders(self.site)
            old = self._put_in_place()
            self.is_done = True
            _sync_folder(self.target.parent)
            if old is not None:
                self._bring_back(old, _others(old, ours), carried)

    def _carry(self, name: str) -> None:
        source, target = self.target / name, self.site / name
        if os.path.lexists(target):
            raise FolderRefused(
                f"{source} is not ours, and what is published has a {name} of its own", "move it out of the folder"
            )
        try:
            if source.is_dir() and not source.is_symlink():
                shutil.copytree(source, target, symlinks=True, copy_function=_link)
            else:
                _link(str(source), str(target))
        except shutil.Error as error:
            path, _, why = error.args[0][0]
            raise FolderRefused(f"{path} cannot be carried over: {why}", "move it out of the folder") from error

    def _put_in_place(self) -> Path | None:
        """Where the old tree is now, None if there was none."""
        if not self.target.is_dir():
            self.site.rename(self.target)
            return None
        if exchange(self.site, self.target):
            return self.site
        old = self.folder / _OLD
        self.target.rename(old)
        self.site.rename(self.target)
        return old

    def _bring_back(self, old: Path, names: Collection[str], carried: Collection[str]) -> None:
        for name in names:
            if name in carried:
                with contextlib.suppress(OSError):  # the links are as good
                    exchange(old / name, self.target / name)
                continue
            try:  # it came while the links were made
                if os.path.lexists(self.target / name):
                    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)
                (old / name).rename(self.target / name)
            except OSError:
                self.set_aside.append(old / name)


@contextlib.contextmanager
def workshop(target: Path, foreign_in: ForeignIn) -> Iterator[Workshop]:
    """A workshop for a folder, given by its real path; gone afterwards, unless an old tree in it has what is not ours.

    Raises ``FolderRefused`` where another process has one for the same folder, ``OSError``.
    """
    with contextlib.ExitStack() as stack:
        with _locked(target.parent):
            left = _tidy(target, foreign_in)
            name = f"{_beginning(target)}{os.getpid()}-"
            shop = Workshop(target, Path(tempfile.mkdtemp(prefix=name, dir=target.parent)), foreign_in)
            shop.set_aside += left
            stack.callback(_leave, shop)
            shop.owner = (shop.folder / _OWNER).open("xb")
            with contextlib.suppress(OSError):  # some network file systems have no locks; leftovers stay there
                fcntl.flock(shop.owner, fcntl.LOCK_EX)
            shop.owner.write(_owner_line(target))
            shop.owner.flush()
        shop.site.mkdir()
        if target.is_dir():
            _make_alike(target, shop.site)
        yield shop


def exchange(first: Path, second: Path) -> bool:
    """Let two paths change places in one step; False where the system cannot. Raises ``OSError``."""
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    if call(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), ctypes.c_uint(_RENAME_EXCHANGE)) == 0:
        return True
    code = ctypes.get_errno()
    if code in _CANNOT_EXCHANGE:
        return False
    raise OSError(code, os.strerror(code), str(second))


def mounts_in(folder: Path) -> list[str]:
    """Where other file systems hang at or below a folder, which then cannot change places; as far as Linux tells."""
    try:
        lines = Path("/proc/self/mountinfo").read_bytes().splitlines()
    except OSError:
        return []
    points = {re.sub(rb"\\([0-7]{3})", lambda octal: bytes([int(octal[1], 8)]), line.split(b" ")[4]) for line in lines}
    own = os.fsencode(folder)
    return sorted(os.fsdecode(one) for one in points if one == own or one.startswith(own.rstrip(b"/") + b"/"))


def _beginning(target: Path) -> str:
    return f".{target.name}.building-"


def _owner_line(target: Path) -> bytes:
    return b"livecut publishes " + os.fsencode(target.name) + b"\n"


def _others(folder: Path, ours: Collection[str]) -> list[str]:
    return sorted(set(os.listdir(folder)).difference(ours)) if folder.is_dir() else []


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Nobody else looks for leftovers or changes places in this folder. Some network file systems lock no folders."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _tidy(target: Path, foreign_in: ForeignIn) -> list[Path]:
    """Remove what killed runs left for this folder: only workshops whose file says that they are ours, and empty ones.

    Gives what was set aside. Raises ``FolderRefused`` where a process that lives has one.
    """
    found: list[Path] = []
    for name in sorted(os.listdir(target.parent)):
        if name.startswith(_beginning(target)) and not (target.parent / name).is_symlink():
            found += _tidy_one(target.parent / name, target, foreign_in)
    return found


def _tidy_one(left: Path, target: Path, foreign_in: ForeignIn) -> list[Path]:
    try:
        owner = (left / _OWNER).open("rb+")
    except OSError:
        with contextlib.suppress(OSError):
            left.rmdir()
        return []
    with owner:
        line = owner.read()
        if line != _owner_line(target) and (line or os.listdir(left) != [_OWNER]):
            return []
        try:
            fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            message = f"{target} is being published by another process"
            raise FolderRefused(message, "wait until that is done, then run it again") from error
        except OSError:
            return []
        return _remove(left, target, foreign_in)


def _leave(shop: Workshop) -> None:
    """Remove a workshop; once the new tree is in place, what goes wrong here is the next run's to tidy."""
    try:
        if shop.is_done and any(path.is_relative_to(shop.folder) for path in shop.set_aside):
            (shop.folder / _OWNER).unlink(missing_ok=True)
        else:
            shop.set_aside += _remove(shop.folder, shop.target, shop.foreign_in)
    except (OSError, KeyboardInterrupt):
        if not shop.is_done:
            raise
    finally:
        if shop.owner is not None:
            shop.owner.close()


def _remove(folder: Path, target: Path, foreign_in: ForeignIn) -> list[Path]:
    """Remove a workshop, the file that says whose it is last: what a kill leaves can still be told to be ours.

    An old tree that is in it with nothing in its place goes back there. One that has what is not ours stays, and the
    workshop with it, which is then no longer ours; gives what that is.
    """
    if (folder / _OLD).is_dir() and not os.path.lexists(target):
        (folder / _OLD).rename(target)
    for tree in (folder / _NEW, folder / _OLD):
        for inner, _, _ in os.walk(tree):
            mode = stat.S_IMODE(os.lstat(inner).st_mode)
            if mode & stat.S_IRWXU != stat.S_IRWXU:  # nothing can be removed from it
                os.chmod(inner, mode | stat.S_IRWXU)
        if foreign := foreign_in(tree):
            (folder / _OWNER).unlink(missing_ok=True)
            return [tree / path for path in foreign]
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(tree)
    (folder / _OWNER).unlink(missing_ok=True)
    folder.rmdir()
    return []


def _make_alike(folder: Path, new: Path) -> None:
    """Give a new folder the group, the mode and the further attributes of another one."""
    with contextlib.suppress(OSError):
        os.chown(new, -1, folder.stat().st_gid)
    shutil.copystat(folder, new)


def _link(source: str, target: str) -> None:
    """The same file under another name, or a copy where the system makes no such links."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _CANNOT_LINK:
            raise
        shutil.copy2(source, target, follow_symlinks=False)


def _sync_files(tree: Path) -> None:
    """Have the bytes of all files on the disk before they are anybody's."""
    for folder, _, names in os.walk(tree):
        for name in names:
            handle = os.open(os.path.join(folder, name), os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def _sync_folders(tree: Path) -> None:
    for folder, _, _ in os.walk(tree):
        _sync_folder(Path(folder))


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # some file systems sync no folders, and some folders are not ours to read
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
