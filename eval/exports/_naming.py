"""How an edition, its problems and its pages are named in files that other programs read. Pure."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from eval.publishing.publication import File, Published
from eval.sheets import plain

SOFTWARE = "livecut"
_NAMESPACE = uuid.UUID("0f8f1d4e-6c0b-5d0c-9a37-3f5d7f3f2b1a")
_SEPARATOR = "\x1f"


def edition_urn(name: str, digest: str) -> str:
    """The name of an edition that never changes, wherever it is published: a URN of RFC 9562."""
    return _urn("edition", name, digest)


def problem_urn(written_id: str) -> str:
    """The name of a problem that never changes: it is the same in all editions."""
    return _urn("problem", written_id)


def site_urn(published: Published) -> str:
    """The name of a whole site: that of its first edition, which later ones leave as it is."""
    editions = [(one.frozen_at, one.name, one.digest) for one in published.others]
    first = min([*editions, (published.frozen_at, published.name, published.digest)])
    return _urn("site", first[1], first[2])


def _urn(*parts: str) -> str:
    return uuid.uuid5(_NAMESPACE, _SEPARATOR.join(parts)).urn


def address(published: Published, path: str) -> str:
    """Where a file of the site stands: its whole address, or its path where nobody said where the site stands."""
    return (published.base_url or "") + path


def software_version(published: Published) -> str:
    """The version of livecut that froze the edition, which names it as "livecut 0.1.0"."""
    return one_line(published.edition.software.removeprefix(SOFTWARE)) or "unknown"


def one_line(text: str) -> str:
    """Text without line breaks, control characters and white space at its ends."""
    printable = "".join(char if char.isprintable() else " " for char in text)
    return " ".join(printable.split())


def json_file(path: str, document: Mapping[str, Any]) -> File:
    """A file of strict JSON: sorted keys, no number that is not finite (``ValueError``)."""
    text = json.dumps(plain(document), indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return File(path, text.encode() + b"\n")


def lines_file(path: str, lines: Iterable[str]) -> File:
    """A text file of these lines."""
    return File(path, "".join(f"{line}\n" for line in lines).encode())
