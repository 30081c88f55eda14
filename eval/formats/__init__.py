"""Formats of solutions and results: one module each, found by its place in this package.

A format module has ``NAME``, ``DESCRIPTION`` and at least one of

* ``read_solutions(path) -> Iterator[SolutionRow | Refusal | Note]``: programs that models wrote;
* ``read_results(path) -> Iterator[ResultRow | Refusal | Note]``: published grades without their programs;
* ``read_replies(path) -> Iterator[ReplyRow | Refusal | Note]``: an endpoint's answers to requests that we wrote.

``NAMES_MODELS`` (default False) says that rows of the format can name their model. Readers stream: they never hold
the file. What is wrong with one row is a ``Refusal`` in its place; where the file itself breaks off, the last thing
yielded is a ``Refusal`` that says where. Modules whose name begins with an underscore are helpers, not formats.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from db.importing import Note, Refusal


@dataclass(frozen=True)
class SolutionRow:
    """One program as a file gives it.

    ``platform`` is None where the file does not say it; the id alone must then be enough. ``sample_index`` counts the
    answers of one model to one problem from 0. ``continues_starter`` marks code that goes on where the problem's
    starter code ends, and is no program without it. ``is_answer``: ``raw_output`` is a whole answer, and the program
    in it is still to be found (``code`` is empty).
    """

    where: str
    native_id: str
    code: str
    sample_index: int
    platform: str | None = None
    model: str | None = None
    language: str | None = None
    finish_reason: str | None = None
    raw_output: str | None = None
    continues_starter: bool = False
    is_answer: bool = False


@dataclass(frozen=True)
class ResultRow:
    """``n_correct`` of ``n_samples`` answers to one problem were graded right.

    ``model`` is the name the row uses, ``model_id`` a more exact one that the same file gives for it. ``origin`` says
    who graded.
    """

    where: str
    native_id: str
    n_samples: int
    n_correct: int
    origin: str
    platform: str | None = None
    model: str | None = None
    model_id: str | None = None


@dataclass(frozen=True)
class ReplyRow:
    """What an endpoint answered to the request with this ``custom_id``.

    ``status`` is that of HTTP, 200 where the file names none. ``document`` is the body, or an object with the ``error``
    that stands in its place. ``raw`` is the beginning of the row.
    """

    where: str
    custom_id: str
    status: int
    document: object
    raw: str = ""


SolutionReader = Callable[[Path], "Iterator[SolutionRow | Refusal | Note]"]
ResultReader = Callable[[Path], "Iterator[ResultRow | Refusal | Note]"]
ReplyReader = Callable[[Path], "Iterator[ReplyRow | Refusal | Note]"]


@dataclass(frozen=True)
class Format:
    """One format module. A reader is None where the format does not carry that kind of data."""

    name: str
    description: str
    names_models: bool
    read_solutions: SolutionReader | None
    read_results: ResultReader | None
    read_replies: ReplyReader | None = None


@cache
def all_formats() -> Mapping[str, Format]:
    """Every format of this package by name, in the order of the names."""
    modules = (info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))
    found = [_load(f"{__name__}.{module}") for module in modules]
    return MappingProxyType({entry.name: entry for entry in sorted(found, key=lambda entry: entry.name)})


def solution_formats() -> dict[str, Format]:
    """The formats that carry programs, by name."""
    return {name: entry for name, entry in all_formats().items() if entry.read_solutions is not None}


def result_formats() -> dict[str, Format]:
    """The formats that carry grades, by name."""
    return {name: entry for name, entry in all_formats().items() if entry.read_results is not None}


def reply_formats() -> dict[str, Format]:
    """The formats that carry answers of an endpoint, by name."""
    return {name: entry for name, entry in all_formats().items() if entry.read_replies is not None}


def _load(module_name: str) -> Format:
    module = importlib.import_module(module_name)
    return Format(
        name=module.NAME,
        description=module.DESCRIPTION,
        names_models=getattr(module, "NAMES_MODELS", False),
        read_solutions=getattr(module, "read_solutions", None),
        read_results=getattr(module, "read_results", None),
        read_replies=getattr(module, "read_replies", None),
    )
