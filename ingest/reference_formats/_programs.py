"""What a program must be to be taken, whatever the format: its role, its language, its size. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import PurePath
from typing import Final

from db.records import ProgramRole, ReferenceRecord
from ingest.errors import BadRow
from ingest.package_submissions import FOLDERS, MOST_BYTES, NOT_READ
from ingest.text import storable
from sandbox import languages

ROLES: Final = {**FOLDERS, **{str(role): role for role in ProgramRole}}
"""Roles by their names here and by those of the problem package format."""

_ROLE_NAMES: Final = ", ".join(ProgramRole)
_LONGEST_NAME: Final = 200


def read_role(written: str) -> ProgramRole:
    """The role of that name. ``BadRow`` names those that there are."""
    if written == NOT_READ:
        raise BadRow(f"role is {written!r}, which says nothing certain of a program", f"give one of: {_ROLE_NAMES}")
    if written not in ROLES:
        raise BadRow(f"role is {written!r:.80}", f"{_meant(written, ROLES)}the roles are: {_ROLE_NAMES}")
    return ROLES[written]


def read_language(written: str) -> str:
    """The name here of a language that is called so. ``BadRow`` for one that the sandbox does not have."""
    found = languages.canonical(written)
    if found is None:
        known = languages.names()
        raise BadRow(
            f"language is {written!r:.80}, which the sandbox does not have",
            f"{_meant(written, known)}the languages are: {', '.join(known)}",
        )
    return found


def language_of(name: str) -> str:
    """The language of a file that is called so. ``BadRow`` where its ending does not say it."""
    return told_by_name(name, languages.by_suffix(PurePath(name).suffix))


def told_by_name(name: str, language: str | None) -> str:
    """`language`, or a ``BadRow`` that says that the file's name tells none."""
    if language is None:
        known = ", ".join(suffix for one in languages.names() for suffix in languages.find(one).suffixes)
        raise BadRow(
            f"the ending of {name!r} tells no language that the sandbox has", f"name the file with one of: {known}"
        )
    return language


def program(name: str, language: str, code: str, role: ProgramRole) -> ReferenceRecord:
    """The program. ``BadRow`` for an empty or too large one, and for a name or code that is no text of lines."""
    if not _can_be_shown(name):
        raise BadRow(f"name is {name!r:.80}, which cannot be shown", "use letters, digits and signs")
    text = storable("code", code)
    if not text.strip():
        raise BadRow("code is empty", "give the whole program")
    if (size := len(text.encode())) > MOST_BYTES:
        raise too_large("code", size)
    return ReferenceRecord(name, language, text, role)


def problem_named(written: str) -> str:
    """What names the problem of a program, as it is. ``BadRow`` for what cannot name one."""
    if not _can_be_shown(written):
        raise BadRow(f"problem is {written!r:.80}, which names none", "write it as platform:id, or the id alone")
    return written


def too_large(what: str, n_bytes: int) -> BadRow:
    """Why a program of so many bytes is not taken."""
    return BadRow(
        f"{what} has {n_bytes:,} bytes, more than {MOST_BYTES // 1024} KiB", "leave out what is no program of a person"
    )


def _can_be_shown(text: str) -> bool:
    return len(text) <= _LONGEST_NAME and text.isprintable()


def _meant(written: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(written.casefold(), known, n=1)
    return f"did you mean {close[0]}? " if close else ""
