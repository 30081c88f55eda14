"""Forms of public lists of cut-offs: one module each, found by its place in this package.

A form module has ``NAME``, ``DESCRIPTION`` and ``read(path, canonical) -> Iterator[ListedModel | Refusal | Note]``;
``canonical`` gives the name by which the registry knows a model that a list calls otherwise. What is wrong with one row
is a ``Refusal`` in its place; a file of another kind raises ``UnreadableSource``. Modules whose name begins with an
underscore are shared reading, not forms.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from db.importing import Note, Refusal, UnknownFormat
from eval.claims import Claim
from eval.cutoffs import Cutoff


@dataclass(frozen=True)
class ListedModel:
    """One model as a list gives it. ``where`` says in which line; claims have the day of the list, where it names one.

    ``rolling`` marks a name without a snapshot behind it; ``conflicts`` say where the list contradicts itself about it.
    """

    where: str
    name: str
    provider: str | None = None
    claims: tuple[Claim, ...] = ()
    release: Cutoff | None = None
    release_source: str | None = None
    rolling: bool = False
    conflicts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Form:
    """One form module."""

    name: str
    description: str
    read: Callable[[Path, Callable[[str], str]], Iterator[ListedModel | Refusal | Note]]


@cache
def all_forms() -> Mapping[str, Form]:
    """Every form of this package by name, in the order of the names."""
    modules = (info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))
    found = [importlib.import_module(f"{__name__}.{name}") for name in modules]
    forms = [Form(module.NAME, module.DESCRIPTION, module.read) for module in found]
    return MappingProxyType({form.name: form for form in sorted(forms, key=lambda form: form.name)})


def form_named(name: str) -> Form:
    """The form of that name. Raises ``UnknownFormat``."""
    if name not in all_forms():
        raise UnknownFormat(f"unknown form of model lists {name!r}", f"the forms are {', '.join(all_forms())}")
    return all_forms()[name]
