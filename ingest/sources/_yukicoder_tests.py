"""The full tests of a yukicoder problem out of its ``testcase.zip``. Pure: nothing is written to a disk."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from dataclasses import dataclass
from typing import Final

from db.records import TestCaseRecord, TestOrigin
from ingest.errors import BadRow
from ingest.pages import Page
from ingest.text import normalise_file

MAX_ENTRIES: Final = 2_000
MAX_UNPACKED_BYTES: Final = 512 * 2**20
"""A zip that holds more files, or unpacks to more, is refused whole before anything of it is unpacked."""

_ENTRY_MARK: Final = b"PK\x01\x02"
_TEST = re.compile(r"test_(?P<half>in|out)/(?P<name>[^/\\]+)")
_STRAY = re.compile(r"(?:.*/)?(?:__MACOSX/.*|\.DS_Store|\._[^/]*|Thumbs\.db)", re.DOTALL)
_KNOWN_PACKING: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# What the library raises on archives that are damaged, locked, or of a kind that it does not read.
_REFUSALS: Final = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, RuntimeError)


@dataclass(frozen=True)
class FullTests:
    """The tests that were taken. ``refused`` are lines for those that were not, ``others`` other lines for a person."""

    cases: tuple[TestCaseRecord, ...] = ()
    refused: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def flags(self) -> tuple[tuple[str, str], ...]:
        """What the missing tests mean for a reader."""
        if not self.refused:
            return ()
        more = f", and {len(self.refused) - 1} more" if len(self.refused) > 1 else ""
        return (("partial_tests", f"not all tests were taken: {self.refused[0]}{more}"),)

    @property
    def notes(self) -> tuple[str, ...]:
        """Lines for a person."""
        return (*self.others, *(f"testcase.zip: {line}" for line in self.refused))


def read_zip(page: Page) -> FullTests:
    """The tests of a zip: ``test_in/NAME`` with ``test_out/NAME``, sorted by name.

    Files that other systems put there are passed over with a note; any other name, and a test without its other half,
    is refused. ``PageChanged`` when it is no zip, or one that unpacks to more than a problem's tests can be.
    """
    # Counted in the bytes first: the library makes an object of each entry as it opens the archive.
    if page.body.count(_ENTRY_MARK) > 2 * MAX_ENTRIES:
        raise page.changed("holds more files than tests can be")
    try:
        with zipfile.ZipFile(io.BytesIO(page.body)) as archive:
            entries = archive.infolist()
            unpacked = sum(entry.file_size for entry in entries)
            if len(entries) > MAX_ENTRIES or unpacked > MAX_UNPACKED_BYTES:
                raise page.changed(f"unpacks to {len(entries)} files with {unpacked} bytes, more than tests can be")
            return _paired(archive, [entry for entry in entries if not entry.is_dir()])
    except _REFUSALS as error:  # NotImplementedError is a RuntimeError
        raise page.changed(f"is no zip archive that can be read ({error})") from None


def _paired(archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo]) -> FullTests:
    halves: dict[str, dict[str, zipfile.ZipInfo]] = {"in": {}, "out": {}}
    refused: list[str] = []
    strays = [entry.filename for entry in entries if _STRAY.fullmatch(entry.filename)]
    for entry in entries:
        match = _TEST.fullmatch(entry.filename)
        if entry.filename in strays:
            continue
        if match is None or match["name"] in (".", "..") or not entry.filename.isprintable():
            refused.append(f"{entry.filename[:80]!r} is no test's name")
        elif match["name"] in halves[match["half"]]:
            refused.append(f"{entry.filename!r} is there twice; the first was taken")
        else:
            halves[match["half"]][match["name"]] = entry
    given, expected = halves["in"], halves["out"]
    refused += [f"test_in/{name} has no test_out" for name in sorted(given.keys() - expected.keys())]
    refused += [f"test_out/{name} has no test_in" for name in sorted(expected.keys() - given.keys())]
    cases: list[TestCaseRecord] = []
    for name in sorted(given.keys() & expected.keys()):
        try:
            texts = [_contents(archive, half[name]) for half in (given, expected)]
        except BadRow as error:
            refused.append(f"{name} {error.reason}")
        else:
            cases.append(TestCaseRecord(name, texts[0], texts[1], TestOrigin.OFFICIAL))
    others = [f"testcase.zip: {len(strays)} files that are no tests were passed over ({strays[0]!r})"] if strays else []
    return FullTests(tuple(cases), tuple(refused), tuple(others))


def _contents(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """A file's bytes as UTF-8 with LF. No more is unpacked than the archive says that it holds."""
    if entry.compress_type not in _KNOWN_PACKING:
        raise BadRow("is packed in a way that is not read")
    try:
        packed = archive.read(entry)
    except _REFUSALS as error:
        raise BadRow(f"cannot be unpacked ({error})") from None
    return normalise_file(packed)[0]
