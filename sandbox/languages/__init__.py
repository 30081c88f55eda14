"""Languages, one module each, found by the module's name: ``LANGUAGE`` in it says how the language is run."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field

from sandbox.programs import Allowance, Limits

SCRATCH = "/tmp"
"""Where a command finds the files that were placed for it, and works."""


@dataclass(frozen=True)
class Build:
    """How a language's programs become something that can be started; all of it happens in a jail.

    ``file_name`` gives the name of the file that a source must have, ``command`` the words of the compiler's command
    for that name and source, ``product`` the file that it leaves (for a mere check the source's own).
    """

    file_name: Callable[[str], str]
    command: Callable[[str, str], tuple[str, ...]]
    product: Callable[[str], str]
    reads: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)
    address_space_bytes: int = 0


@dataclass(frozen=True)
class Run:
    """How a product is started: as a program itself (``command`` None), or by a command that finds it in the scratch
    folder under the name that ``Build.product`` gives."""

    command: Callable[[str, Limits], tuple[str, ...]] | None = None
    reads: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Language:
    """A language. ``self_test`` is a program that reads an integer and prints the next one.

    ``profile`` says what a program may count on beside the language itself; it is part of the environment's digest, as
    is what ``version`` prints (a command; empty where the jail's agent says it). ``build`` and ``run`` are None for
    Python, which the agent runs itself.
    """

    name: str
    self_test: str
    profile: str
    version: tuple[str, ...] = ()
    allowance: Allowance = field(default_factory=Allowance)
    build: Build | None = None
    run: Run | None = None


class UnknownLanguage(LookupError):
    """No module here is called like that."""


def names() -> list[str]:
    """The names of all languages there are."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


def find(name: str) -> Language:
    """The language of that name. Raises :class:`UnknownLanguage`."""
    if name not in names():
        raise UnknownLanguage(f"no language {name!r}; there are: {', '.join(names())}")
    language = importlib.import_module(f"{__name__}.{name}").LANGUAGE
    assert isinstance(language, Language)
    return language
