"""Third-party packages that programs may import where the jail has them: a few that contest sites have, and no other.

The folder that they lie in stays off the path, so that what a program finds is the same wherever it runs.
"""

from __future__ import annotations

import os
import site
import sys
from importlib.machinery import ModuleSpec, PathFinder

PACKAGES = ("mpmath", "numpy", "scipy", "sortedcontainers", "sympy")
"""Each imports nothing but the standard library and others of these."""

_INFO_SUFFIXES = (".dist-info", ".egg-info")


class PackageFinder:
    """Finds the named packages in the folders of third-party packages; goes behind the system's own finders."""

    def __init__(self, folders: list[str]) -> None:
        self._folders = folders

    def find_spec(self, name: str, path: object = None, _target: object = None) -> ModuleSpec | None:
        """The import system asks for a module; parts of a package it finds by itself."""
        if path is not None or name not in PACKAGES:
            return None
        return PathFinder.find_spec(name, self._folders)


def offer_packages() -> dict[str, str]:
    """Make the packages importable from here on; the version of each that is there."""
    folders = site.getsitepackages()
    sys.meta_path.append(PackageFinder(folders))
    versions: dict[str, str] = {}
    for folder in reversed(folders):  # of two the first is the one that is found
        versions |= _versions(folder)
    return {name: versions[name] for name in sorted(versions)}


def _versions(folder: str) -> dict[str, str]:
    """What the names of the metadata's folders say (NAME-VERSION.dist-info, NAME-VERSION-pyX.Y.egg-info)."""
    try:
        entries = set(os.listdir(folder))
    except OSError:
        return {}
    found = {}
    for entry in entries:
        stem, suffix = os.path.splitext(entry)
        name, _, version = stem.partition("-")
        if suffix in _INFO_SUFFIXES and name in PACKAGES and name in entries:
            found[name] = version.partition("-py")[0]
    return found
