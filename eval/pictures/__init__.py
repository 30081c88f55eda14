"""Pictures of an edition: one module for each kind, found by its place in this package.

A kind has ``NAME`` and ``pictures(published) -> Iterator[Picture]``, which draws from what is published alone. Modules
whose name begins with an underscore are what kinds share.
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
    from eval.publishing.publication import Published
    from eval.sheets import Table


@dataclass(frozen=True)
class Picture:
    """A picture as SVG (for light and dark pages) and as PNG of twice its size.

    ``name`` is that of its files without an ending: "coverage", "saturation" or "months-RUN_SLUG". ``alt`` says in a
    sentence or two what is to be seen, with its numbers; ``data`` are all numbers that are shown.
    """

    name: str
    title: str
    alt: str
    svg: bytes
    png: bytes | None
    data: Table


@cache
def kinds() -> Mapping[str, Callable[[Published], Iterator[Picture]]]:
    """What draws the pictures of each kind, by the name of the kind, in the order of the names."""
    modules = sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))
    found = [importlib.import_module(f"{__name__}.{module}") for module in modules]
    return MappingProxyType({module.NAME: module.pictures for module in found})


def all_pictures(published: Published) -> Iterator[Picture]:
    """Every picture of what is published, one after the other; kinds that have nothing to show give none."""
    for draw in kinds().values():
        yield from draw(published)
