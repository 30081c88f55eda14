"""Languages, one module each, found by the module's name: ``LANGUAGE`` in it says how the language is run."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field

from sandbox.agent.wire import SCRATCH
from sandbox.languages._names import canonical
from sandbox.programs import MIB, Allowance, Limits

__all__ = [
    "COMPILER_ADDRESS_SPACE_BYTES",
    "SCRATCH",
    "Build",
    "Language",
    "OutOfMemory",
    "Run",
    "UnknownLanguage",
    "by_suffix",
    "canonical",
    "find",
    "further_reads",
    "names",
]


COMPILER_ADDRESS_SPACE_BYTES = 2048 * MIB
"""What each process of a compiler may have where it starts more than one: the agent counts only the first one's memory.
For those whose runtime reserves more than it uses (Java, Node.js) there is a heap limit instead, or one process."""


@dataclass(frozen=True)
class OutOfMemory:
    """How a runtime that keeps a memory limit itself ends a program for it: with this wait status, a core dump aside,
    and these words on standard error. A program may end so by itself, without the words."""

    wait_status: int
    words: bytes

    def is_said(self, wait_status: int, stderr: bytes) -> bool:
        """Whether a process that ended so has ended for this."""
        return wait_status & ~_CORE_DUMPED == self.wait_status and self.words in stderr


_CORE_DUMPED = 0x80


def _no_variables(_limits: Limits) -> dict[str, str]:
    return {}


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
    folder under the name that ``Build.product`` gives.

    ``command`` and ``variables`` are told the limits that the process is under, the language's allowance in them.
    ``out_of_memory`` is for runtimes that keep a memory limit themselves.
    """

    command: Callable[[str, Limits], tuple[str, ...]] | None = None
    reads: tuple[str, ...] = ()
    variables: Callable[[Limits], dict[str, str]] = _no_variables
    out_of_memory: OutOfMemory | None = None


@dataclass(frozen=True)
class Language:
    """A language. ``self_test`` is a program that reads an integer and prints the next one.

    ``profile`` says what a program may count on beside the language itself; it is part of the environment's digest, as
    is what ``version`` prints (a command; empty where the jail's agent says it). ``suffixes`` are the endings of files
    that are taken for this language where nothing else is said. ``build`` and ``run`` are None for Python, which the
    agent runs itself.
    """

    name: str
    self_test: str
    profile: str
    version: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    allowance: Allowance = field(default_factory=Allowance)
    build: Build | None = None
    run: Run | None = None


class UnknownLanguage(LookupError):
    """No module here is called like that."""


@functools.cache
def names() -> tuple[str, ...]:
    """The names of all languages there are."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")))


def find(name: str) -> Language:
    """The language of that name. Raises :class:`UnknownLanguage`."""
    if name not in names():
        raise UnknownLanguage(f"no language {name!r}; there are: {', '.join(names())}")
    language = importlib.import_module(f"{__name__}.{name}").LANGUAGE
    assert isinstance(language, Language)
    return language


def by_suffix(suffix: str) -> str | None:
    """The name of the language whose files end so (``.cpp``, in any case); None where there is none."""
    return next((name for name in names() if suffix.lower() in find(name).suffixes), None)


def further_reads() -> tuple[str, ...]:
    """The paths beside the system's own folders that some language's commands read."""
    found: set[str] = set()
    for language in map(find, names()):
        for part in (language.build, language.run):
            found |= set(part.reads) if part is not None else set()
    return tuple(sorted(found))
