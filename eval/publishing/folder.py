"""A folder that holds a published site: what is in it, writing it anew as a whole, and whether it is up to date.

The manifest says which files are ours. Entries at the top that are not (``.git``, ``CNAME``) are carried over whole;
anything else that is not ours is in the way, since no reader could tell it from a file of the site.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from eval.publishing.manifest import (
    MANIFEST,
    FileEntry,
    Manifest,
    ManifestUnreadable,
    entry_of,
    is_safe_path,
    read_manifest,
)
from eval.publishing.publication import File, Published
from eval.publishing.switch import FolderRefused, mounts_in, workshop

OnFile = Callable[[File], None]


class WriteFailed(OSError):
    """The system refused to write; what was there before still is. ``hint`` says what to do."""

    def __init__(self, error: OSError, hint: str) -> None:
        super().__init__(error.errno, error.strerror, error.filename)
        self.message = str(error)
        self.hint = hint


@dataclass(frozen=True)
class Survey:
    """What is in a folder. ``manifest`` is None where there is no folder, or nothing in it.

    Of the manifest's files, some are ``missing``, some ``changed`` (other bytes than it says, or no file). ``kept`` are
    the entries at the top that are not ours; ``foreign`` what lies between our files below.
    """

    manifest: Manifest | None
    missing: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()


@dataclass(frozen=True)
class Written:
    """What was written: to which folder, how many files and bytes with the manifest; and what of the old was replaced.

    ``kept`` are the entries that are not ours and were carried over, ``set_aside`` the places of what somebody wrote
    between our files when it was too late to refuse.
    """

    folder: Path
    n_files: int
    n_bytes: int
    changed: tuple[str, ...]
    kept: tuple[str, ...]
    set_aside: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fault:
    """Something that is wrong with a published folder: "stale", "missing", "mixed" or "foreign", where, and why."""

    kind: str
    path: str
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.kind}: {self.path}" + (f" ({self.reason})" if self.reason else "")


def real_folder(folder: Path) -> Path:
    """The folder that is meant, links followed."""
    return Path(os.path.realpath(folder))


def survey(folder: Path) -> Survey:
    """Look at a folder, given by its real path. Raises ``FolderRefused`` for one that is neither ours nor empty."""
    if not os.path.lexists(folder):
        return Survey(None)
    if not folder.is_dir():
        raise FolderRefused(f"{folder} is no folder", "name a folder, which need not be there yet")
    if not os.listdir(folder):
        return Survey(None)
    manifest = _manifest_in(folder)
    found = set(_files_below(folder, _top_level(manifest)))
    absent = [entry.path for entry in manifest.files if entry.path not in found]
    differing = [one.path for one in manifest.files if one.path in found and not _is_as_listed(folder / one.path, one)]
    in_the_way = {path for path in absent if os.path.lexists(folder / path)}
    return Survey(
        manifest,
        missing=tuple(path for path in absent if path not in in_the_way),
        changed=tuple(sorted([*differing, *in_the_way])),
        kept=tuple(sorted(set(os.listdir(folder)) - _top_level(manifest))),
        foreign=tuple(_foreign(manifest, found)),
    )


def check_target(folder: Path) -> Survey:
    """What is in a folder that may be written. Raises ``FolderRefused`` for one that is not."""
    if not folder.parent.is_dir():
        raise FolderRefused(f"there is no folder {folder.parent}", "make it first, or name another one")
    found = survey(folder)
    if Path.cwd().resolve().is_relative_to(folder):
        raise FolderRefused(
            f"this command runs in {folder}, which is replaced as a whole", "run it from another folder"
        )
    if points := mounts_in(folder):
        raise FolderRefused(
            f"{points[0]} is a file system of its own: it cannot be replaced in one step",
            "name a folder inside it" if points[0] == str(folder) else "name another folder",
        )
    if folder.is_dir() and not os.access(folder, os.W_OK, effective_ids=True):
        raise FolderRefused(f"{folder} may not be written", "allow it, or name another folder")
    if found.foreign:
        raise FolderRefused(
            f"{folder / found.foreign[0]} is not ours{_and_more(found.foreign)}",
            "move it away, or to the top of the folder, where it stays",
        )
    return found


def write_site(folder: Path, files: Iterable[File], on_file: OnFile = lambda file: None) -> Written:
    """Replace all of a folder of ours by these files, of which the last is the manifest; or make the folder.

    Until the last step nothing changes for its readers, whatever goes wrong. Raises ``FolderRefused``, ``WriteFailed``,
    and whatever making the files raises.
    """
    target = real_folder(folder)
    check_target(target)
    with _disk_trouble(target), workshop(target, _foreign_in) as shop:
        entries = _fill(shop.site, files, on_file)
        shop.sync()
        found = check_target(target)  # making the files took its time
        try:
            shop.switch(_top_level(found.manifest))
        except (OSError, KeyboardInterrupt):
            if not shop.is_done:
                raise
    n_bytes = sum(one.size_bytes for one in entries)
    return Written(target, len(entries), n_bytes, found.changed, found.kept, tuple(map(str, shop.set_aside)))


def check_site(
    folder: Path,
    published: Published,
    files: Iterable[File],
    builds: Mapping[str, str],
    on_file: OnFile = lambda file: None,
) -> Iterator[Fault]:
    """What is wrong with a folder that should hold these files of an edition; nothing is written.

    ``builds`` are the names of all known editions by build id. Raises ``FolderRefused`` for a folder that is not ours.
    """
    target = real_folder(folder)
    found = survey(target)
    if found.manifest is None:
        yield Fault("missing", str(folder), "there is no site")
        return
    yield from (Fault("missing", path) for path in found.missing)
    for path in found.changed:
        yield Fault("mixed", path, _what_it_is(target, path, builds))
    yield from (Fault("foreign", path, "it is not in the manifest") for path in found.foreign)
    if found.manifest.digest != published.digest:
        why = f"it is of edition {found.manifest.edition}, build {found.manifest.build_id}"
        yield Fault("stale", str(folder), f"{why}; to publish is {published.name}, build {published.build_id}")
        return
    yield from _stale(target, found.manifest, files, on_file)


def _stale(folder: Path, manifest: Manifest, files: Iterable[File], on_file: OnFile) -> Iterator[Fault]:
    listed = {entry.path: entry for entry in manifest.files}
    for file in files:
        on_file(file)
        if file.path == MANIFEST:
            is_stale = (folder / MANIFEST).read_bytes() != file.body
        else:
            is_stale = listed.pop(file.path, None) != entry_of(file)
        if is_stale:
            yield Fault("stale", file.path)
    yield from (Fault("stale", path, "it is no longer made") for path in sorted(listed))


def _fill(site: Path, files: Iterable[File], on_file: OnFile) -> list[FileEntry]:
    entries: list[FileEntry] = []
    for file in files:
        if not is_safe_path(file.path):
            raise ValueError(f"{file.path!r} is no path of a file")
        path = site / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as out:
            out.write(file.body)
        entries.append(entry_of(file))
        on_file(file)
    listed = read_manifest((site / MANIFEST).read_bytes()).files
    if entries[-1].path != MANIFEST or sorted(entries[:-1], key=lambda entry: entry.path) != list(listed):
        raise ValueError("the manifest is not last, or does not list the files that were made")
    return entries


def _manifest_in(folder: Path) -> Manifest:
    path = folder / MANIFEST
    if path.is_symlink() or not path.is_file():
        raise FolderRefused(
            f"{folder} is not empty, and no site of ours: it has no {MANIFEST}",
            "name an empty or a new folder; what you add to it later is kept",
        )
    try:
        return read_manifest(path.read_bytes())
    except ManifestUnreadable as error:
        raise FolderRefused(f"{path}: {error.message}", error.hint) from error


def _top_level(manifest: Manifest | None) -> set[str]:
    """The entries at the top of a folder that are ours."""
    if manifest is None:
        return set()
    return {MANIFEST, *(entry.path.partition("/")[0] for entry in manifest.files)}


def _foreign(manifest: Manifest, found: Iterable[str]) -> list[str]:
    """Which of these files lie between ours, and are not."""
    listed = {entry.path for entry in manifest.files} | {MANIFEST}
    return sorted(path for path in found if path not in listed and "/" in path)


def _foreign_in(folder: Path) -> list[str]:
    """What lies between our files in a folder; nothing where no manifest says which are ours."""
    try:
        manifest = read_manifest((folder / MANIFEST).read_bytes())
    except (FileNotFoundError, NotADirectoryError, ManifestUnreadable):
        return []
    return _foreign(manifest, _files_below(folder, _top_level(manifest)))


def _files_below(folder: Path, tops: Iterable[str]) -> Iterator[str]:
    """All that is no folder at or below these entries, by path from the folder on; links are not followed."""
    for top in tops:
        if (folder / top).is_symlink() or not (folder / top).is_dir():
            if os.path.lexists(folder / top):
                yield top
            continue
        for inner, folders, names in os.walk(folder / top):
            links = [name for name in folders if os.path.islink(os.path.join(inner, name))]
            for name in (*names, *links):
                yield os.path.relpath(os.path.join(inner, name), folder)


def _is_as_listed(path: Path, entry: FileEntry) -> bool:
    if not stat.S_ISREG(path.lstat().st_mode):
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == entry.sha256


def _what_it_is(folder: Path, path: str, builds: Mapping[str, str]) -> str:
    """Why a file is not what the manifest says: it carries the build id of another edition, or was changed."""
    if not (folder / path).is_file():
        return "it is no file"
    own = _build_at(folder, path)
    body = (folder / path).read_bytes()
    carried = [build for build in sorted(builds) if build.encode() in body]
    if own in carried or not carried:
        return "it is not what the manifest lists"
    return f"it is of edition {builds[carried[0]]}, build {carried[0]}, and not of build {own}"


def _build_at(folder: Path, path: str) -> str:
    """The build id of the nearest manifest above a file."""
    for above in PurePosixPath(path).parents:
        with suppress(OSError, ManifestUnreadable):
            return read_manifest((folder / above / MANIFEST).read_bytes()).build_id
    return ""


@contextmanager
def _disk_trouble(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        hint = f"nothing has changed; see that there is room, and that {target.parent} may be written: the new set is "
        raise WriteFailed(error, f"{hint}made there") from error


def _and_more(paths: Sized) -> str:
    return f", nor are {len(paths) - 1} more" if len(paths) > 1 else ""
