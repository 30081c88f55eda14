"""Languages, one module each, found by the module's name: ``LANGUAGE`` in it says how the language is run."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass


@dataclass(frozen=True)
class Language:
    """A language. ``self_test`` is a program that reads an integer and prints the next one.

    ``profile`` says what a program may count on beside the language itself; it is part of the environment's digest.
    """

    name: str
    self_test: str
    profile: str


class UnknownLanguage(LookupError):
    """No module here is called like that."""


def names() -> list[str]:
    """The names of all languages there are."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def find(name: str) -> Language:
    """The language of that name. Raises :class:`UnknownLanguage`."""
    if name not in names():
        raise UnknownLanguage(f"no language {name!r}; there are: {', '.join(names())}")
    language = importlib.import_module(f"{__name__}.{name}").LANGUAGE
    assert isinstance(language, Language)
    return language
