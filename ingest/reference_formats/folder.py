"""Programs in a folder tree: PROBLEM/ROLE/FILE.

PROBLEM is ``platform:id``, ``platform/id`` (a folder in a folder) or the id alone where no other platform has it; an id
may hold slashes, as those of packages do. ROLE is ``accepted``, ``brute_force``, ``wrong``, ``too_slow``, ``generator``
or ``validator``, or a name of the problem package format: ``wrong_answer`` and ``run_time_error`` (wrong),
``time_limit_exceeded`` (too slow); ``partially_accepted`` is not read. A file is one program, in the language that its
ending tells. It is called by its own name, or by ROLE/FILE where two folders of a problem have files of one name.

Hidden files and folders are passed over; links are followed to files within the folder only.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from db.importing import Note, Refusal, UnreadableSource
from ingest.errors import BadRow
from ingest.package_submissions import MOST_BYTES, NOT_READ, named_apart
from ingest.package_validators import source_language
from ingest.reference_formats import Item, ReferenceRow
from ingest.reference_formats._programs import ROLES, problem_named, program, read_role, told_by_name, too_large
from ingest.text import normalise_file

NAME = "folder"
DESCRIPTION = "a folder tree of programs: PROBLEM/ROLE/FILE"

_FORM: Final = "lay programs out as PROBLEM/ROLE/FILE, say atcoder:abc301_a/accepted/fast.py"
_DEEPEST: Final = 8
_SHOWN: Final = 3


def read(path: Path) -> Iterator[Item]:
    """Stream the programs below `path`, by folder and name. ``UnreadableSource`` when it is no folder, or empty."""
    if not path.is_dir():
        raise UnreadableSource(f"{path} is not a folder", _FORM)
    found = False
    for item in _read(_Place(path.resolve())):
        found = True
        yield item
    if not found:
        raise UnreadableSource(f"{path} holds no program", _FORM)


@dataclass(frozen=True)
class _Place:
    """A folder: the root of the tree, and the names that lead to it from there."""

    root: Path
    parts: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        return self.root.joinpath(*self.parts)

    @property
    def problem(self) -> str:
        """The problem that a folder of this place is named for."""
        return "/".join(self.parts)

    @property
    def shown(self) -> str:
        """The place as it is said in a report, on one line whatever its names hold."""
        text = self.problem or "."
        return text if text.isprintable() else repr(text)[1:-1]

    def below(self, name: str) -> _Place:
        return _Place(self.root, (*self.parts, name))


def _read(place: _Place) -> Iterator[Item]:
    """The programs of all problems at and below a folder that is no role's."""
    try:
        folders, files = _entries(place)
    except OSError as error:
        yield _unreadable(place, error)
        return
    roles = [name for name in folders if place.parts and (name in ROLES or name == NOT_READ)]
    if files:
        yield _in_no_role(place, files)
    if roles:
        yield from _read_problem(place, roles)
    for name in folders:
        below = place.below(name)
        if below.path.is_symlink():
            yield Refusal(below.shown, "is a link to a folder", "put the folder itself there")
        elif name not in roles and len(below.parts) > _DEEPEST:
            yield Refusal(below.shown, f"lies more than {_DEEPEST} folders deep", _FORM)
        elif name not in roles:
            yield from _read(below)


def _entries(place: _Place) -> tuple[list[str], list[str]]:
    """The names of the folders (links to such, too) and of all else in a folder, sorted, hidden ones left out."""
    with os.scandir(place.path) as entries:
        found = sorted((entry.name, entry.is_dir()) for entry in entries if not entry.name.startswith("."))
    return [name for name, is_folder in found if is_folder], [name for name, is_folder in found if not is_folder]


def _in_no_role(place: _Place, files: list[str]) -> Refusal:
    """Files whose folder is no role's: a slip of the pen for one, where a problem's folder may stand above."""
    if len(place.parts) > 1:
        try:
            read_role(place.parts[-1])
        except BadRow as error:
            return Refusal(place.shown, error.reason, error.hint)
    names = ", ".join(ascii(name)[1:-1] for name in files[:_SHOWN]) + (", ..." if len(files) > _SHOWN else "")
    what = "1 file lies" if len(files) == 1 else f"{len(files)} files lie"
    return Refusal(place.shown, f"{what} in no role's folder: {names}", _FORM)


def _read_problem(place: _Place, roles: list[str]) -> Iterator[Item]:
    """The programs of the problem whose folder this is."""
    found: list[tuple[str, str]] = []
    for role in roles:
        folder = place.below(role)
        if folder.path.is_symlink():
            continue  # said where folders are gone through
        try:
            below, files = _entries(folder)
        except OSError as error:
            yield _unreadable(folder, error)
            continue
        for name in below:
            reason = "is a folder, and programs of several files are not read"
            yield Refusal(folder.below(name).shown, reason, "give one file for each program")
        if role == NOT_READ:
            yield Note(folder.shown, "programs that are right in part are not read: they are not known to be wrong")
        else:
            found += [(role, name) for name in files]
    # The names alone are held; of the programs, one at a time.
    for (role, file), name in zip(found, named_apart(found), strict=True):
        yield _program(place, role, file, name)


def _program(problem: _Place, role: str, file: str, name: str) -> ReferenceRow | Refusal:
    place = problem.below(role).below(file)
    try:
        language, code = _source(place)
        named = problem_named(problem.problem)
        return ReferenceRow(place.shown, named, program(name, language, code, ROLES[role]))
    except BadRow as error:
        return Refusal(place.shown, error.reason, error.hint)
    except OSError as error:
        return _unreadable(place, error)


def _source(place: _Place) -> tuple[str, str]:
    """The language and the text of a program. ``BadRow`` for what is none, or lies elsewhere."""
    file = place.path
    if not file.resolve().is_relative_to(place.root):
        raise BadRow("is a link out of the folder", "copy the file into the folder")
    facts = file.stat()
    if not stat.S_ISREG(facts.st_mode):
        raise BadRow("is no plain file", "give a file with the program's text")
    language = told_by_name(file.name, source_language(file))
    if facts.st_size > MOST_BYTES:
        raise too_large("it", facts.st_size)
    data, _ = normalise_file(file.read_bytes())
    return language, data.decode()


def _unreadable(place: _Place, error: OSError) -> Refusal:
    return Refusal(place.shown, f"cannot be read: {error.strerror or error}", "look at its rights, and at links")
