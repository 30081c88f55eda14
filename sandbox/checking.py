"""Checkers: programs that judge outputs in place of a comparison. They run in a jail of their own.

Expected outputs go into that jail and never into the one of the programs that are judged. A checker gets the names
``/proc/self/fd/N`` for the files that it is to read: they are files in memory that nobody copies.

One that passes its own limits on an output has not judged it: an internal error, which is reported. How long an output
may be is the suite's output limit; whether one is too long to be right, only a checker knows.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass

from sandbox import compiling, judgements, languages, memory_files
from sandbox.agent import wire
from sandbox.cells import Cell
from sandbox.compiling import CompileFailure, ProductCache
from sandbox.errors import JailFault
from sandbox.judgements import Judgement, Left
from sandbox.languages import SCRATCH, Run
from sandbox.loading import command_request
from sandbox.programs import Checker, Limits, Protocol, Suite, Test
from sandbox.running import Said, error_text, facts_of

_FEEDBACK = Checker.FEEDBACK_FOLDER
_FEEDBACK_READ_BYTES = 64 * 1024

# A request has so many descriptors; what a run needs beside the files of a program is less than what is left.
_MOST_FILES = wire.MAX_FDS - 14

# Python ends with 1 after an error that nobody caught, which is testlib's code for a wrong answer; 200 has no meaning.
_PYTHON_START = """\
import sys
del sys.argv[0]
try:
    exec(compile(open(sys.argv[0], "rb").read(), sys.argv[0], "exec"))
except SystemExit:
    raise
except BaseException:
    sys.excepthook(*sys.exc_info())
    sys.exit(200)
"""
_PYTHON_NAME = "livecut_checker.py"
_PYTHON = Run(command=lambda product, _limits: ("/usr/bin/python3", "-s", "-S", "-B", "-c", _PYTHON_START, product))


@dataclass(frozen=True)
class Files:
    """Descriptors for one run of a checker: the test's input, its own standard input and output, and the output that it
    judges, which is None where it talks with the program instead."""

    input_fd: int
    stdin_fd: int
    stdout_fd: int
    output_fd: int | None = None


class Call:
    """One run of a checker: the request, its descriptors, and what it leaves. Owns the files that it makes."""

    def __init__(self, ready: ReadyChecker, limits: Limits, suite: Suite, test: Test, files: Files) -> None:
        self._ready = ready
        self._limits = limits
        self._scoring = suite.groups is not None and suite.groups.scoring
        self._own: list[int] = []
        self.fds = [files.stdin_fd, files.stdout_fd]
        try:
            self.request = self._prepare(suite, test, files)
        except BaseException:
            self.close()
            raise

    def _prepare(self, suite: Suite, test: Test, files: Files) -> wire.Request:
        ready = self._ready
        self.fds += (self._make(None), ready.product_fd)
        answer_fd = self._make(test.expected)
        shown: tuple[int, ...]
        if ready.checker.protocol is Protocol.KATTIS:
            shown, names = (files.input_fd, answer_fd), (_name(0), _name(1), f"{SCRATCH}/{_FEEDBACK}/")
        elif files.output_fd is None:  # where a checker reads the output, an interactor may write one of its own
            shown, names = (files.input_fd, answer_fd), (_name(0), f"{SCRATCH}/{_FEEDBACK}/output", _name(1))
        else:
            shown, names = (files.input_fd, files.output_fd, answer_fd), (_name(0), _name(1), _name(2))
        flags = ready.checker.flags if test.checker_flags is None else test.checker_flags
        request = command_request(ready.run, ready.product, self._limits, (*names, *flags))
        keep = self._add(shown)
        # A folder is made for what is put into it; a checker does not see this at first sight.
        beside = {f"{_FEEDBACK}/.keep": self._make(b""), **ready.files}
        place = dict(zip(beside, self._add(beside.values()), strict=True))
        self._feedback = {name: self._make(None) for name in judgements.FEEDBACK_FILES}
        fetched = (f"{_FEEDBACK}/{name}" for name in self._feedback)
        own = {
            "keep": keep,
            "place": {**request.details.get("place", {}), **place},
            "fetch": dict(zip(fetched, self._add(self._feedback.values()), strict=True)),
        }
        return request._replace(details=request.details | own)

    def _make(self, content: bytes | None) -> int:
        """A file with this content for good, or (None) an empty one that can be written."""
        self._own.append(memory_files.empty() if content is None else memory_files.sealed(content))
        return self._own[-1]

    def _add(self, fds: Iterable[int]) -> tuple[int, ...]:
        """Their indexes among the request's descriptors."""
        start = len(self.fds)
        self.fds.extend(fds)
        return tuple(range(start, len(self.fds)))

    def judgement(self, reply: wire.Reply, output_bytes: int) -> Judgement:
        """What it says, once it has ended; ``output_bytes`` is how much it wrote to its standard output."""
        ready = self._ready
        said = Said(ready.run.out_of_memory, self.fds[wire.STDERR])
        facts = facts_of(reply, self._limits, ready.allowance, output_bytes, said)
        files = {name: memory_files.content(fd, _FEEDBACK_READ_BYTES) for name, fd in self._feedback.items()}
        left = Left(
            facts,
            error_text(self.fds[wire.STDERR]),
            {name: content for name, content in files.items() if content},
            interpreted=not ready.is_native and ready.checker.program.language != "python3",
        )
        return judgements.judgement(ready.checker.protocol, left, scoring=self._scoring)

    def close(self) -> None:
        """Let go of its files."""
        for fd in self._own:
            os.close(fd)
        self._own = []


def _name(index: int) -> str:
    """Under which a checker finds a file that it is shown."""
    return f"/proc/self/fd/{wire.FIRST_KEPT_FD + index}"


class ReadyChecker:
    """A checker that can be run: its product, and the files that lie beside one that is not compiled."""

    def __init__(self, cell: Cell, checker: Checker, cache: ProductCache) -> None:
        """Compile it. Raises :class:`CompileFailure`, or the ``JailFault`` of the cell."""
        program = checker.program
        language = languages.find(program.language)
        self.checker = checker
        self.allowance = language.allowance
        self.limits: Limits = language.allowance.applied(checker.limits)
        self.run, self.product = language.run or _PYTHON, _PYTHON_NAME
        if language.build is None:
            self.product_fd = memory_files.sealed(program.source.encode("utf-8", "surrogatepass"))
        else:
            self.product = language.build.product(program.source)
            self.product_fd = compiling.build(cell.request, language, program, cache)
        self.is_native = self.run.command is None
        self.files: dict[str, int] = {}
        try:
            for name, text in () if self.is_native else program.files:
                self.files[name] = memory_files.sealed(text.encode("utf-8", "surrogatepass"))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of its files."""
        for fd in (self.product_fd, *self.files.values()):
            os.close(fd)


class Checkers:
    """The checker of the suite at hand, made ready once for all its programs, and the cell that it runs in."""

    def __init__(self, cell: Cell, cache: ProductCache) -> None:
        self.cell = cell
        self._cache = cache
        self._checker: Checker | None = None
        self._ready: ReadyChecker | Judgement | None = None

    def ready(self, checker: Checker) -> ReadyChecker | Judgement:
        """The checker, or what it comes to that it cannot be run. Raises ``JailFault`` when no jail lasts."""
        if self._ready is None or checker != self._checker:
            self.close()
            ready = self._make_ready(checker)
            if isinstance(ready, Judgement) and ready.facts is not None and not compiling.is_repeatable(ready.facts):
                return ready  # another time it may come to more
            self._ready, self._checker = ready, checker
        return self._ready

    def _make_ready(self, checker: Checker) -> ReadyChecker | Judgement:
        names = [name for name, _ in checker.program.files]
        if _PYTHON_NAME in names and checker.program.language == "python3":
            return judgements.fault(f"has a file that is called as it is itself, {_PYTHON_NAME}")
        if len(names) > _MOST_FILES:
            return judgements.fault(f"has {len(names)} files beside its own, more than {_MOST_FILES}")
        try:
            return self.cell.retried(lambda: ReadyChecker(self.cell, checker, self._cache))
        except CompileFailure as error:
            return judgements.fault(f"does not compile: {error.message}", error.facts)

    def check(self, suite: Suite, test: Test, input_fd: int, output_fd: int) -> Judgement:
        """What the suite's checker says of an output. Takes neither descriptor."""
        assert suite.checker is not None
        try:
            ready = self.ready(suite.checker)
            if isinstance(ready, Judgement):
                return ready
            return self.cell.retried(lambda: self._check(ready, suite, test, (input_fd, output_fd)))
        except JailFault as error:
            return judgements.fault(f"could not be run: {error.message}")

    def _check(self, ready: ReadyChecker, suite: Suite, test: Test, given: tuple[int, int]) -> Judgement:
        with contextlib.ExitStack() as own:

            def kept(fd: int) -> int:
                own.callback(os.close, fd)
                return fd

            input_fd, output_fd = (kept(memory_files.reader(fd)) for fd in given)
            if ready.checker.protocol is Protocol.KATTIS:
                stdin_fd = kept(memory_files.reader(output_fd))
            else:
                stdin_fd = kept(memory_files.sealed(b""))
            stdout_fd = kept(memory_files.empty())
            files = Files(input_fd, stdin_fd, stdout_fd, output_fd)
            call = own.enter_context(contextlib.closing(Call(ready, ready.limits, suite, test, files)))
            reply = self.cell.request(call.request, call.fds)
            return call.judgement(reply, memory_files.size(stdout_fd))

    def close(self) -> None:
        """Let go of the checker."""
        if isinstance(self._ready, ReadyChecker):
            self._ready.close()
        self._ready = self._checker = None
