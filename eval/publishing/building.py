"""From frozen editions to the files of a site: pages, pictures, data files, and the manifest that ties them. Pure.

Files are made one after the other, so that only a part of them is in memory at a time. The edition at the root and each
of the others, below ``editions/``, has all its pages and files: what was published stays where its readers left it, and
every link on its pages leads somewhere. Most of the space goes to the pages of problems; without these an older edition
would no longer say what its scores rest on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from eval.editions.document import to_bytes
from eval.editions.packed import pack
from eval.publishing.caps import capped
from eval.publishing.manifest import FileEntry, entry_of, is_safe_path, manifest_file, manifest_of
from eval.publishing.plan import Load, SitePlan, published_edition
from eval.publishing.publication import File, Published

if TYPE_CHECKING:
    from eval.exports import Export
    from eval.pictures import Picture
    from eval.site.pages import Download

EDITION_FILE = "edition.json.gz"
_MANY_FILES = 5
_UP = "../../"

Tell = Callable[[str], None]
"""Is called with a line for the user."""


def _say_nothing(line: str) -> None:
    pass


def build(published: Published, *, root: str = "", at_root: str = "", tell: Tell = _say_nothing) -> Iterator[File]:
    """All files of one edition, the manifest last.

    ``root`` leads from its folder to that of the edition at the root of the site ("" or "../../"), and ``at_root`` is
    that one's name. ``tell`` is called for an export that is left out since something is not installed. Raises
    ``TooLarge``.
    """
    return with_manifest(published, capped(_made(published, root, at_root or published.name, tell)))


def build_site(plan: SitePlan, load: Load, *, tell: Tell = _say_nothing) -> Iterator[File]:
    """All files of a site, those of the edition at its root first, and last the manifest over all of them.

    Raises ``TooLarge``, and what ``load`` raises.
    """
    at_root = published_edition(plan, plan.root, load)
    return with_manifest(at_root, chain(capped(_made(at_root, "", plan.root, tell)), _others(plan, load)))


def with_manifest(published: Published, files: Iterable[File]) -> Iterator[File]:
    """The files as they come, then the manifest that lists them. Raises ``ValueError`` for a path that cannot be."""
    entries: dict[str, FileEntry] = {}
    for file in files:
        name = file.path.casefold()
        if not is_safe_path(file.path) or name in entries:
            raise ValueError(f"{file.path!r} is no path of a file, or there are two of that name")
        entries[name] = entry_of(file)
        yield file
    yield manifest_file(manifest_of(published, entries.values()))


def _others(plan: SitePlan, load: Load) -> Iterator[File]:
    """The files of the editions that are not at the root. What is to be told of exports was told for that one."""
    for name in plan.others:
        for file in build(published_edition(plan, name, load), root=_UP, at_root=plan.root):
            yield replace(file, path=plan.folders[name] + file.path)


def _made(published: Published, root: str, at_root: str, tell: Tell) -> Iterator[File]:
    from eval.exports import all_exports
    from eval.pictures import all_pictures
    from eval.site.pages import Download, site_files

    is_whole = published.public_digest == published.digest
    what = "the whole edition" if is_whole else "the public part of the edition"
    body = pack(to_bytes(published.edition))
    downloads = [Download(EDITION_FILE, f"{what}: problems, models, runs, results, numbers; packed JSON", len(body))]
    yield File(EDITION_FILE, body)
    del body
    for export in all_exports().values():
        sizes: dict[str, int] = {}
        for file in _available(export, published, tell):
            sizes[file.path] = len(file.body)
            yield file
        downloads += _downloads(export, sizes)
    pictures: dict[str, Picture] = {}
    for picture in all_pictures(published):
        pictures[picture.name] = picture
        yield File(f"pictures/{picture.name}.svg", picture.svg)
        if picture.png is not None:
            yield File(f"pictures/{picture.name}.png", picture.png)
    yield from site_files(published, pictures, downloads, root=root, at_root=at_root)


def _available(export: Export, published: Published, tell: Tell) -> Iterator[File]:
    from eval.exports import ExportUnavailable

    try:
        yield from export.files(published)
    except ExportUnavailable as error:
        tell(f"{export.name} is left out: {error.message} ({error.hint})")


def _downloads(export: Export, sizes: dict[str, int]) -> list[Download]:
    """What the first page offers of an export: each of its files, or one line for many of them."""
    from eval.site.pages import Download

    if len(sizes) > _MANY_FILES:
        return [Download("", export.description, sum(sizes.values()))]
    return [Download(path, export.description, size) for path, size in sizes.items()]
