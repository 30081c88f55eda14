"""How large what is published may be: a page that opens at once, and files that every host takes. Pure.

Hosts refuse files above 100 MB (GitHub) or 25 MB (Cloudflare Pages); nobody waits for a table of several megabytes.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from eval.publishing.publication import File

FIRST_PAGE_BYTES = 1_000_000
"""The most that ``index.html`` may be, with the styles, scripts and pictures that it loads at once."""

FILE_BYTES = 20_000_000
"""The most that a file may be."""

_INDEX = "index.html"
_LOADED_AT_ONCE = (
    "//link[contains(@rel, 'stylesheet') or contains(@rel, 'preload') or contains(@rel, 'icon')]/@href"
    " | //script/@src | //img[not(@loading='lazy')]/@src | //source/@src | //iframe[not(@loading='lazy')]/@src"
    " | //object/@data | //embed/@src"
)
_HINT = "freeze an edition of less: fewer models, or --platform (live edition freeze --help)"


class TooLarge(ValueError):
    """What would be published is larger than it may be. ``hint`` says what to do."""

    def __init__(self, message: str, hint: str = _HINT) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def capped(files: Iterable[File]) -> Iterator[File]:
    """The files as they come. Raises ``TooLarge`` in place of a file that is, and at the end for a first page."""
    sizes: dict[str, int] = {}
    loaded: dict[str, list[str]] = {}
    for file in files:
        sizes[file.path] = len(file.body)
        if len(file.body) > FILE_BYTES:
            raise TooLarge(f"{file.path} is {_megabytes(len(file.body))}, more than {_megabytes(FILE_BYTES)}")
        if posixpath.basename(file.path) == _INDEX:
            loaded[file.path] = loaded_at_once(file)
        yield file
    for page, others in sorted(loaded.items()):
        parts = {path: sizes[path] for path in (page, *others) if path in sizes}
        if sum(parts.values()) > FIRST_PAGE_BYTES:
            each = ", ".join(f"{path} {_kilobytes(size)}" for path, size in parts.items())
            raise TooLarge(
                f"{page} with what it loads at once is {_kilobytes(sum(parts.values()))}, more than "
                f"{_kilobytes(FIRST_PAGE_BYTES)}: {each}"
            )


def loaded_at_once(page: File) -> list[str]:
    """The paths of the files that a browser loads with a page, without being asked to; each once, in order."""
    from lxml import html  # type: ignore[import-untyped]

    found: dict[str, None] = {}
    for address in html.document_fromstring(page.body).xpath(_LOADED_AT_ONCE):
        parts = urlsplit(str(address))
        if not parts.scheme and not parts.netloc and parts.path:
            found[posixpath.normpath(posixpath.join(posixpath.dirname(page.path), parts.path))] = None
    return list(found)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


def _kilobytes(size: int) -> str:
    return f"{size / 1e3:,.0f} kB"
