"""Files for programs and other sites made from what is published: one module each, found by its place in this package.

An export module has ``NAME`` (its file name), ``DESCRIPTION`` and ``files(published) -> Iterator[File]``. It reads
nothing but the `eval.publishing.publication.Published` that it is given, so that the same edition gives the same bytes.
One that needs a library of an extra raises ``ExportUnavailable`` when it is called, or when its first file is asked
for. Modules whose name begins with an underscore are shared by exports, and are none.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eval.publishing.publication import File, Published


class ExportUnavailable(Exception):
    """An export that cannot be made here, since a library is not installed. ``hint`` says how to get it."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True)
class Export:
    """One export module."""

    name: str
    description: str
    files: Callable[[Published], Iterator[File]]


@cache
def all_exports() -> Mapping[str, Export]:
    """Every export of this package by name, in the order of the names."""
    names = sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))
    return MappingProxyType({name: _load(name) for name in names})


def _load(name: str) -> Export:
    module = importlib.import_module(f"{__name__}.{name}")
    return Export(module.NAME, module.DESCRIPTION, module.files)
