"""A program made ready to be run in a jail: what goes with each of its tests' requests, as descriptors."""

from __future__ import annotations

import os
import re
from typing import Any, Protocol

from sandbox import compiling, languages, memory_files, signatures
from sandbox.agent import wire
from sandbox.agent_files import AGENT_ENVIRONMENT
from sandbox.compiling import ProductCache, RunRequest
from sandbox.languages import Language, OutOfMemory
from sandbox.programs import Io, Limits, Program, Suite
from sandbox.verdicts import CPU_GRACE

_NUMPY = "numpy"

# CPython compiles about a megabyte of source in a second; below this it is less than a time limit's grace.
_LONG_SOURCE_BYTES = 32 * 1024

# An import of what a zygote has ready; one inside a text is taken for one too, which does no harm.
_LIBRARY_IMPORT = re.compile(rf"^[ \t]*(?:from|import)\b.*\b(?:{'|'.join(wire.LIBRARY_MODULES)})\b", re.MULTILINE)


class Loaded(Protocol):
    """A program that can be run."""

    @property
    def compiles_long(self) -> bool:
        """Whether its next run begins with a compilation that counts beside a time limit."""

    @property
    def out_of_memory(self) -> OutOfMemory | None:
        """How its runtime says that memory ran out; None where it does not."""

    def request(self, suite: Suite, limits: Limits) -> wire.Request:
        """The request for one test, under the limits with the language's allowance."""

    def descriptors(self, stdin_fd: int, stdout_fd: int, stderr_fd: int) -> list[int]:
        """All that goes with it."""

    def finish(self, stage: int) -> bool:
        """Take note of how far a run came; False when that is not possible for a program that was loaded before."""

    def renew(self) -> None:
        """Forget what a broken jail may have left half done."""

    def close(self) -> None:
        """Let go of its descriptors."""


def load(run: RunRequest, program: Program, cache: ProductCache) -> Loaded:
    """Make a program ready; a compiled one is compiled. Raises ``CompileFailure``, or what ``run`` raises."""
    language = languages.find(program.language)
    if language.build is None:
        return PythonProgram(program)
    return CommandProgram(language, program, compiling.build(run, language, program, cache))


class PythonProgram:
    """A program that the agent runs itself: its source and, once its first test has compiled it, its code."""

    out_of_memory = None

    def __init__(self, program: Program) -> None:
        self._source_fd = memory_files.sealed(program.source.encode("utf-8", "surrogatepass"))
        self._code_fd = memory_files.empty()
        self._ready = False
        self._zygotes = {called: _zygote(program, called) for called in (False, True)}

    @property
    def compiles_long(self) -> bool:
        """Its first run compiles it."""
        return not self._ready and memory_files.size(self._source_fd) > _LONG_SOURCE_BYTES

    def request(self, suite: Suite, limits: Limits) -> wire.Request:
        """A run on standard input and output, or a call."""
        called = suite.io in (Io.FUNCTION, Io.DESIGN)
        zygote = self._zygotes[called]
        details: dict[str, Any] = {"zygote": zygote} if zygote else {}
        if called:
            details |= signatures.call_details(suite)
        return _request(wire.CALL if called else wire.RUN, limits, details, has_compiled=self._ready)

    def descriptors(self, stdin_fd: int, stdout_fd: int, stderr_fd: int) -> list[int]:
        """In the order of :mod:`sandbox.agent.wire`."""
        return [stdin_fd, stdout_fd, stderr_fd, self._source_fd, self._code_fd]

    def finish(self, stage: int) -> bool:
        """Once it has compiled, the code is complete: nobody changes it any more."""
        if stage != wire.LOADED:
            return not self._ready
        if not self._ready:
            memory_files.seal(self._code_fd)
            self._ready = True
        return True

    def renew(self) -> None:
        """Forget a code file that may be half written."""
        if not self._ready:
            os.close(self._code_fd)
            self._code_fd = memory_files.empty()

    def close(self) -> None:
        """Let go of its two files."""
        os.close(self._source_fd)
        os.close(self._code_fd)


def _zygote(program: Program, called: bool) -> str:
    """The name of the zygote that serves a program best; every other one would serve it too, only not as fast.

    A word in passing is enough for numpy. What it imports, and what calls find imported, has the library in it.
    """
    features = [wire.CALLS] if called else []
    if _NUMPY in program.source:
        features.append(wire.NUMPY)
    if not features and _LIBRARY_IMPORT.search(program.source):
        features.append(wire.LIBRARY)
    return "+".join(features)


class CommandProgram:
    """A compiled program, or one that another language's interpreter runs."""

    compiles_long = False

    def __init__(self, language: Language, program: Program, product_fd: int) -> None:
        assert language.build is not None
        assert language.run is not None
        self._run = language.run
        self.out_of_memory = language.run.out_of_memory
        self._product = language.build.product(program.source)
        self._product_fd = product_fd

    def request(self, suite: Suite, limits: Limits) -> wire.Request:
        """The command on the test's input."""
        return command_request(self._run, self._product, limits, arguments=())

    def descriptors(self, stdin_fd: int, stdout_fd: int, stderr_fd: int) -> list[int]:
        """The three of every process, and the product."""
        return [stdin_fd, stdout_fd, stderr_fd, self._product_fd]

    def finish(self, stage: int) -> bool:
        """It was compiled before."""
        return stage == wire.LOADED

    def renew(self) -> None:
        """Nothing of it is in a jail."""

    def close(self) -> None:
        """Let go of the product."""
        os.close(self._product_fd)


def command_request(run: languages.Run, product: str, limits: Limits, arguments: tuple[str, ...]) -> wire.Request:
    """The request that starts a product, which is the fourth descriptor, with arguments."""
    native = run.command is None
    words = ("", *arguments) if run.command is None else (*run.command(product, limits), *arguments)
    details = {
        "command": words,
        "variables": {**AGENT_ENVIRONMENT, **run.variables(limits)},
        "reads": run.reads,
        **({"executable": 3} if native else {"place": {product: 3}}),
    }
    return _request(wire.EXEC, limits, details, has_compiled=False)


def _request(operation: int, limits: Limits, details: dict[str, Any], *, has_compiled: bool) -> wire.Request:
    return wire.Request(
        operation=operation,
        has_compiled=has_compiled,
        cpu_kill_s=limits.cpu_s * CPU_GRACE,
        wall_kill_s=limits.wall_kill_s,
        memory_bytes=limits.memory_bytes,
        output_bytes=limits.output_bytes,
        details=details,
    )
