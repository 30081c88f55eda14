"""The list of what a published folder holds: each file with its digest, under the edition it was made from. Pure.

It is the last file that is written, and the only one that says of a folder that it is ours.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from eval.publishing.publication import File, Published
from eval.report import utc_text

MANIFEST = "manifest.json"
FORMAT = "livecut-site-1"
_IS_PATH = re.compile(r"(?!.*(?:^|/)\.)[A-Za-z0-9._-]{1,200}(?:/[A-Za-z0-9._-]{1,200}){0,7}")


class ManifestUnreadable(ValueError):
    """Bytes that are no manifest, or one of a format that is not known here. ``hint`` says what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True)
class FileEntry:
    """One file: its path from the folder on, the SHA-256 of its bytes in hex, and how many there are."""

    path: str
    sha256: str
    size_bytes: int


@dataclass(frozen=True)
class Manifest:
    """What a folder holds but the manifest itself, in the order of the paths.

    ``edition``, ``digest``, ``build_id`` and ``frozen_at`` are of the edition at the root of the folder: ``digest`` of
    all of it, ``public_digest`` of what is published of it, the bytes in ``edition.json.gz`` unpacked ("" in manifests
    of before). They are equal where nothing is left out.
    """

    format: str
    edition: str
    digest: str
    public_digest: str = field(default="", kw_only=True)
    build_id: str
    frozen_at: str
    software: str
    files: tuple[FileEntry, ...]


def is_safe_path(path: str) -> bool:
    """Whether a path leads to a place below the folder on every system: no dots in front, plain letters alone."""
    return _IS_PATH.fullmatch(path) is not None


def entry_of(file: File) -> FileEntry:
    """What the manifest says of a file."""
    return FileEntry(file.path, hashlib.sha256(file.body).hexdigest(), len(file.body))


def manifest_of(published: Published, entries: Iterable[FileEntry]) -> Manifest:
    """The manifest of what was made from an edition."""
    return Manifest(
        format=FORMAT,
        edition=published.name,
        digest=published.digest,
        public_digest=published.public_digest,
        build_id=published.build_id,
        frozen_at=str(utc_text(published.frozen_at)),
        software=published.edition.software,
        files=tuple(sorted(entries, key=lambda entry: entry.path)),
    )


def manifest_file(manifest: Manifest, folder: str = "") -> File:
    """The manifest as the file that lies in ``folder`` ("" or one that ends with a slash)."""
    text = json.dumps(asdict(manifest), indent=1, ensure_ascii=False, allow_nan=False)
    return File(f"{folder}{MANIFEST}", text.encode() + b"\n")


def read_manifest(body: bytes) -> Manifest:
    """The manifest of these bytes. Raises ``ManifestUnreadable``."""
    try:
        document: Any = json.loads(body)
        known = document.get("format") if isinstance(document, dict) else None
        if known != FORMAT:
            raise ManifestUnreadable(
                f"no manifest of this version: its format is {known!r}, not {FORMAT!r}",
                "use the version of livecut that published it, or name another folder",
            )
        manifest = _adapter().validate_python(document)
    except ManifestUnreadable:
        raise
    except (ValueError, RecursionError) as error:  # what JSON, UTF-8 and pydantic have in common
        raise ManifestUnreadable("no manifest that can be read", "name an empty or a new folder") from error
    if unsafe := [entry.path for entry in manifest.files if not is_safe_path(entry.path)]:
        raise ManifestUnreadable(f"it names a file outside of the folder: {unsafe[0]!r}", "name another folder")
    return manifest


@cache
def _adapter() -> TypeAdapter[Manifest]:
    return TypeAdapter(Manifest)
