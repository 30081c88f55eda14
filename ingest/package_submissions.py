"""The submissions of a package, as programs that are known to be right, wrong or too slow.

One file a submission, in a language that is known by the file's ending; the folder says what it is. What is in folders,
in other languages, too large or no text is passed over: nothing depends on having all of them. Partly accepted ones are
none of these and are not read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from db.records import ProgramRole, ReferenceRecord
from ingest.errors import BadRow
from ingest.package_settings import require_inside
from ingest.package_validators import source_language
from ingest.packages import Package
from ingest.text import normalise_file, storable

FOLDERS: Final = {
    "accepted": ProgramRole.ACCEPTED,
    "run_time_error": ProgramRole.WRONG,
    "time_limit_exceeded": ProgramRole.TOO_SLOW,
    "wrong_answer": ProgramRole.WRONG,
}
"""What the programs of each folder are. One of ``time_limit_exceeded`` is not known to be wrong on any input."""

NOT_READ: Final = "partially_accepted"
"""The folder of programs of which the package says neither that they are right nor that they are not."""

MOST_BYTES: Final = 256 * 1024
"""No program may be larger, whoever gives it."""


def read_references(package: Package) -> tuple[ReferenceRecord, ...]:
    """The submissions by folder and name, the accepted ones first, under names that no two of them share."""
    found = [(folder, record) for folder in FOLDERS for record in _of_folder(package, folder)]
    names = named_apart((folder, record.name) for folder, record in found)
    return tuple(
        ReferenceRecord(name, record.language, record.code, FOLDERS[folder])
        for name, (folder, record) in zip(names, found, strict=True)
    )


def named_apart(files: Iterable[tuple[str, str]]) -> list[str]:
    """A name for each file of some folders, given as (folder, file name): its own, or FOLDER/NAME where another folder
    has a file called so, too. Files of the folder ``accepted`` keep their own names.
    """
    given = list(files)
    counts = Counter(name for _, name in given)
    return [name if counts[name] == 1 or folder == "accepted" else f"{folder}/{name}" for folder, name in given]


def _of_folder(package: Package, name: str) -> Iterator[ReferenceRecord]:
    folder = package.folder / "submissions" / name
    if not folder.is_dir():
        return
    for file in sorted(file for file in folder.iterdir() if file.is_file() and not file.name.startswith(".")):
        if (record := _reference(package, file)) is not None:
            yield record


def _reference(package: Package, file: Path) -> ReferenceRecord | None:
    language = source_language(file)
    if language is None or file.stat().st_size > MOST_BYTES:
        return None
    try:
        require_inside(package.folder, file)
        data, _ = normalise_file(file.read_bytes())
        return ReferenceRecord(storable("name", file.name), language, package.with_constants(data.decode()))
    except BadRow:
        return None
