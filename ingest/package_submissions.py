"""The submissions of a package that its authors know to be accepted, as reference solutions.

One file a submission, in a language that is known by the file's ending. What is in folders, in other languages, too
large or no text is passed over: nothing depends on having all of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from db.records import ReferenceRecord
from ingest.errors import BadRow
from ingest.package_settings import require_inside
from ingest.package_validators import source_language
from ingest.packages import Package
from ingest.text import normalise_file, storable

_FOLDER: Final = "submissions/accepted"
_MOST_BYTES: Final = 256 * 1024


def read_references(package: Package) -> tuple[ReferenceRecord, ...]:
    """The accepted submissions, by name."""
    folder = package.folder / _FOLDER
    if not folder.is_dir():
        return ()
    files = sorted(file for file in folder.iterdir() if file.is_file() and not file.name.startswith("."))
    return tuple(found for file in files if (found := _reference(package, file)) is not None)


def _reference(package: Package, file: Path) -> ReferenceRecord | None:
    language = source_language(file)
    if language is None or file.stat().st_size > _MOST_BYTES:
        return None
    try:
        require_inside(package.folder, file)
        data, _ = normalise_file(file.read_bytes())
        return ReferenceRecord(storable("name", file.name), language, package.with_constants(data.decode()))
    except BadRow:
        return None
