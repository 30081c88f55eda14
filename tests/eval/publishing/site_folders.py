"""Small sites to write, what a reader sees of them, and things of the user's beside them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from eval.editions.document import Edition, EditionSettings, Numbers
from eval.editions.formats import FORMAT
from eval.publishing.building import with_manifest
from eval.publishing.publication import File, Published
from eval.report import Report
from eval.sheets import Sheet

NAMES = ("problems.json", "models.json", "data/results.json", "data/deep/table.md")


@cache
def edition_called(name: str) -> Published:
    """An edition of nothing, whose digest is that of its name."""
    nothing = Sheet("", (), ())
    as_of = datetime(2025, 5, 1, tzinfo=UTC)
    report = Report((), (), {}, "", None, as_of)
    numbers = Numbers(report, nothing, nothing, nothing, nothing, nothing, None, (), (), {})
    edition = Edition(FORMAT, "livecut 0.1.0", as_of, EditionSettings(), None, (), (), (), {}, "", numbers)
    return Published(name, datetime(2025, 5, 3, tzinfo=UTC), hashlib.sha256(name.encode()).hexdigest(), edition)


def small_site(name: str, paths: Iterable[str] = NAMES) -> list[File]:
    """Four files that carry the build id of an edition of this name, and their manifest."""
    published = edition_called(name)
    made = (File(path, f"{path} of {name}, build {published.build_id}\n".encode()) for path in paths)
    return list(with_manifest(published, made))


def put_site(folder: Path, files: Iterable[File]) -> None:
    """Write a site as plainly as can be."""
    for file in files:
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.body)


def tree(folder: Path) -> dict[str, str]:
    """All that is below a folder: for files a digest, for links where they lead to; folders end with a slash."""
    found: dict[str, str] = {}
    for inner, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(inner, name)
            place = str(path.relative_to(folder))
            if path.is_symlink():
                found[place] = f"-> {os.readlink(path)}"
            elif path.is_dir():
                found[f"{place}/"] = oct(path.stat().st_mode & 0o777)
            else:
                found[place] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def edition_in(folder: Path) -> str:
    """Which edition a reader finds in a folder. Fails unless all its files are there, and no others but the user's."""
    manifest = json.loads((folder / "manifest.json").read_bytes())
    found = tree(folder)
    for entry in manifest["files"]:
        assert found.pop(entry["path"]) == entry["sha256"], entry["path"]
    del found["manifest.json"]
    ours = {path for path in found if not path.startswith((".", "CNAME", "mine"))}
    assert {path for path in ours if not path.endswith("/")} == set()
    return str(manifest["edition"])


def add_own_things(folder: Path) -> None:
    """A repository, a name and a page of the user's."""
    objects = folder / ".git" / "objects" / "ab"
    objects.mkdir(parents=True)
    (objects / "cdef").write_bytes(b"packed\x00bytes")
    (objects / "cdef").chmod(0o444)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git" / "hooks").symlink_to("/nowhere/at/all")
    (folder / "CNAME").write_text("board.example.org\n")
    (folder / "mine.html").write_text("<p>mine</p>\n")


def own_things(folder: Path) -> dict[str, str]:
    """The user's things as they are in a folder."""
    return {path: what for path, what in tree(folder).items() if path.startswith((".", "CNAME", "mine"))}
