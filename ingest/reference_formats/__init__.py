"""Formats of programs given for problems: one module of this package each, found by its name. There is no list to keep.

A module offers ``NAME`` (its own name), ``DESCRIPTION`` (one line) and ``read(path) -> Iterator[Item]``, which streams
a `ReferenceRow` for each program, a `Refusal` for each row or file that it does not take, and a `Note` for what it left
aside. ``read`` raises `UnreadableSource` when `path` as a whole is not what the format reads.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from db.importing import Note, Refusal, UnknownFormat
from db.records import ReferenceRecord


@dataclass(frozen=True)
class ReferenceRow:
    """One program: where it stands, the problem as it is named there, the program, and the beginning of its row."""

    where: str
    problem: str
    program: ReferenceRecord
    raw: str = ""


Item = ReferenceRow | Refusal | Note


@dataclass(frozen=True)
class ReferenceFormat:
    """One way to hand over programs, and the function that reads it."""

    name: str
    description: str
    read: Callable[[Path], Iterator[Item]]


def format_names() -> tuple[str, ...]:
    """The names of all formats of programs, sorted; nothing is imported for it."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")))


def load_format(name: str) -> ReferenceFormat:
    """The format called `name`. ``UnknownFormat`` when there is none."""
    if name not in format_names():
        raise UnknownFormat(
            f"no format of programs is called {name!r}", f"the formats are: {', '.join(format_names())}"
        )
    module = importlib.import_module(f"{__name__}.{name}")
    return ReferenceFormat(module.NAME, module.DESCRIPTION, module.read)
