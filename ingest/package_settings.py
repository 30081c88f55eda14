"""The settings files of a package's groups and tests, and the guard against links out of the package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ingest.errors import BadRow
from ingest.packages import Package, read_yaml

GROUP_FILES = ("testdata.yaml", "test_group.yaml")


def group_settings(package: Package, folder: Path) -> dict[str, Any]:
    """What a group's own settings file says; {} without one. ``BadRow`` for one that cannot be read."""
    for name in GROUP_FILES:
        file = folder / name
        if file.is_file():
            return _read(package, file)
    return {}


def own_settings(package: Package, test: Path) -> dict[str, Any]:
    """What the settings file of a test (its input file is `test`) says, from 2025-09 on; {} without one."""
    file = test.with_suffix(".yaml")
    return _read(package, file) if file.is_file() else {}


def _read(package: Package, file: Path) -> dict[str, Any]:
    require_inside(package.folder, file)
    return read_yaml(file, package.with_constants)


def require_inside(folder: Path, file: Path) -> None:
    """Refuse a link that leads out of the package: it would read whatever stands there into the store."""
    if not file.resolve().is_relative_to(folder.resolve()):
        raise BadRow(f"{file.name} is a link out of the package", "copy the file into the package")


def words(what: str, given: object) -> tuple[str, ...]:
    """Arguments as words: a text, a list of texts, or the legacy map with "flags". ``BadRow`` for anything else."""
    if isinstance(given, dict):
        given = given.get("flags", "")
    if given is None or isinstance(given, str):
        return () if given in (None, "null", "~") else tuple(given.split())
    if isinstance(given, list) and all(isinstance(word, str) for word in given):
        return tuple(word for words in given for word in words.split())
    raise BadRow(f"{what} are not words", "write them as one text or a list of texts")
