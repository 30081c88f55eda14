"""Run a program on all its tests in one process as LiveCodeBench's own evaluator does, with that evaluator's faults.

Imitated is ``lcb_runner/evaluation/testing_util.py`` of LiveCodeBench as of commit 28fef95: a program on standard input
is wrapped into a function and called once for each test with replaced streams; a call-based one makes one object whose
method is called for each test. What one test leaves, the next one finds. Only what the tests gave is written, to be
compared outside: expected outputs never come here.

Not as there: the alarm waits for a process that had less than a core, so that a busy machine changes no verdict; an
object with an equality of its own equals nothing, since the comparison is outside.
"""

from __future__ import annotations

import _thread
import ast
import builtins
import faulthandler
import importlib
import io
import json
import os
import resource
import signal
import struct
import sys
import time
import types
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any, NoReturn

from .calls import RECURSION_LIMIT, STAR_IMPORTS

# Before each input its length; before what a test gave: which kind of record, the test's index, the length.
LENGTH = struct.Struct("<Q")
RECORD = struct.Struct("<cIQ")

# What a test printed; what it returned (as `encode` writes it); what it raised; that its time was up. FAILED and
# UNCOMPILED stand for the whole program: nothing could be called, or the evaluator itself would have stumbled.
OUTPUT, VALUE, ERROR, TIMEOUT, FAILED, UNCOMPILED = b"O", b"V", b"E", b"T", b"F", b"C"

# Forms of a value that JSON has no exact one for; an object of JSON is always one of these.
DICT, OTHER = "dict", "other"

MAX_DEPTH = 500
MAX_PARTS = 10_000_000
MAX_DIGITS = 50_000
_MAX_ERROR_CHARACTERS = 300

_UNIMPORTED = ("builtins", "typing")
PRELUDE = "\n".join(
    [
        *(f"from {name} import *" for name in STAR_IMPORTS),
        *(f"import {name}" for name in STAR_IMPORTS if name not in _UNIMPORTED),
        f"sys.setrecursionlimit({RECURSION_LIMIT})\n",
    ]
)
_FUNCTION = "wrapped_function"

# What programs do not find: names of os (beside those that every jail refuses anyhow), and modules.
_TAKEN_AWAY = (
    "kill system putenv remove removedirs rmdir fchdir setuid fork forkpty killpg rename renames truncate replace "
    "unlink fchmod fchown chmod chown chroot lchflags lchmod lchown getcwd chdir"
)
_MISSING_MODULES = ("ipdb", "joblib", "resource", "psutil", "tkinter")

# The usual stack of a process, in which deep recursion through C ends the evaluator's process. Jails have more.
_STACK_BYTES = 8 * 1024 * 1024

# A process that used less than this share of a core since the alarm was set is asleep; one that lacks less than this
# share of its time has had it.
_IDLE_SHARE = 0.02

_SCALARS = frozenset((bool, int, float, str, type(None)))
_DICTS = (dict, defaultdict, OrderedDict, Counter)  # which equal a plain one
_dumps, _write, _leave = json.dumps, os.write, os._exit  # what the program does with these modules does not matter


class TimeoutException(Exception):
    """What the alarm raises. Programs may catch it; anything raised whose text has this name counts as a time limit."""


def prelude() -> dict[str, Any]:
    """No names: programs import theirs themselves. The modules are imported here, once for all programs."""
    for name in STAR_IMPORTS:
        importlib.import_module(name)
    return {}


def run(text: bytes, _names: dict[str, Any], details: dict[str, Any], given: bytes, result_fd: int) -> NoReturn:
    """Run all tests up to the first that raises or takes too long; write a record for each; end the process.

    ``details``: ``entry_point``, "" for a program on standard input; ``timeout_s``; ``has_buffer``, False for the
    evaluator before its standard input had a ``buffer``, which was a plain ``StringIO``. ``given`` has the inputs.
    """
    records = _Records(result_fd)
    try:
        source = text.decode("utf-8", "surrogatepass")
        inputs = [part.decode("utf-8", "surrogateescape") for part in unpack(given)]
        _take_away()
        alarm = _Alarm(details["timeout_s"])
        if details["entry_point"]:
            _grade_calls(source, details["entry_point"], inputs, alarm, records)
        else:
            _grade_streams(source, inputs, _Stdin if details["has_buffer"] else io.StringIO, alarm, records)
    except SyntaxError as error:
        records.write(UNCOMPILED, 0, _shown(error))
    except Exception as error:
        records.write(FAILED, 0, _shown(error))
    else:
        _leave(0)
    finally:  # also for what is no Exception, which ends the evaluator's process too, before its result is out
        _leave(1)


def unpack(given: bytes) -> list[bytes]:
    """The inputs, each of which stands behind its length."""
    inputs, start = [], 0
    while start < len(given):
        (length,) = LENGTH.unpack_from(given, start)
        start += LENGTH.size + length
        inputs.append(given[start - length : start])
    return inputs


def _take_away() -> None:
    """What the evaluator takes from programs, its limit for the digits of an integer, and its stack."""
    _, most = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (_STACK_BYTES, most))
    _thread.stack_size(_STACK_BYTES)
    sys.set_int_max_str_digits(MAX_DIGITS)
    for name in _TAKEN_AWAY.split():
        setattr(os, name, None)
    for name in ("quit", "help"):
        setattr(builtins, name, None)
    for name in _MISSING_MODULES:
        sys.modules[name] = None  # type: ignore[assignment]


class _Records:
    """Writes what the tests gave. A program that writes here itself says no more than it could by printing."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def write(self, kind: bytes, index: int, payload: bytes) -> None:
        """One record. A process that cannot write any more ends, as one that is killed does."""
        rest = memoryview(RECORD.pack(kind, index, len(payload)) + payload)
        try:
            while rest:
                rest = rest[_write(self._fd, rest) :]
        except OSError:
            _leave(1)

    def end(self, index: int, error: Exception) -> NoReturn:
        """The record of a test that raised, which is the last one."""
        shown = _shown(error)
        self.write(TIMEOUT if b"timeoutexception" in shown.lower() else ERROR, index, shown)
        _leave(0)


def _shown(error: Exception) -> bytes:
    return repr(error)[:_MAX_ERROR_CHARACTERS].encode("utf-8", "backslashreplace")


class _Alarm:
    """Raises :class:`TimeoutException` in the main thread when the time is over that a call may take.

    That is wall time, as there. But a process that computes and had less CPU time than that may go on until it has
    had it: how much of a core it gets depends on what else runs.
    """

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._end_cpu_s = self._mark_s = self._mark_cpu_s = 0.0
        signal.signal(signal.SIGALRM, self._ring)

    def set(self) -> None:
        """From now on."""
        self._mark()
        self._end_cpu_s = self._mark_cpu_s + self._timeout_s
        signal.setitimer(signal.ITIMER_REAL, self._timeout_s)

    def clear(self) -> None:
        """Not any more."""
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _mark(self) -> None:
        self._mark_s, self._mark_cpu_s = time.monotonic(), time.process_time()

    def _ring(self, _signal: int, _frame: types.FrameType | None) -> None:
        since_s, since_cpu_s = self._mark_s, self._mark_cpu_s
        self._mark()
        left_s = self._end_cpu_s - self._mark_cpu_s
        computes = self._mark_cpu_s - since_cpu_s > _IDLE_SHARE * (self._mark_s - since_s)
        if computes and left_s > _IDLE_SHARE * self._timeout_s:
            signal.setitimer(signal.ITIMER_REAL, left_s)
            return
        print("timeout occured: alarm went off")  # into the program's output, if it goes on
        raise TimeoutException


def _compiled(code: str, alarm: _Alarm) -> Any:
    """The module that the code makes, or its ``Solution`` where the text has such a class, be it in a string."""
    module = types.ModuleType("tmp_sol", "")
    alarm.set()
    try:
        exec(compile(code, "<string>", "exec", dont_inherit=True), module.__dict__)  # annotations are evaluated
        return module.Solution() if "class Solution" in code else module
    finally:
        alarm.clear()


# --- programs on standard input ------------------------------------------------------------------------------------


def _grade_streams(
    source: str, inputs: list[str], make_stdin: Callable[[str], Any], alarm: _Alarm, records: _Records
) -> None:
    function = getattr(_compiled(as_function(source), alarm), _FUNCTION)
    for index, given in enumerate(inputs):
        alarm.set()
        faulthandler.enable()
        captured, stdout = io.StringIO(), sys.stdout
        captured.close = lambda _: 1  # type: ignore[method-assign,assignment,misc]  # closing it raises, as there
        sys.stdout = captured
        try:
            _call(function, given, make_stdin(given))
            alarm.clear()
        except Exception as error:
            alarm.clear()
            records.end(index, error)
        finally:
            alarm.clear()
            faulthandler.disable()
            output = captured.getvalue()
            sys.stdout = stdout
        records.write(OUTPUT, index, output.encode("utf-8", "surrogatepass"))


def as_function(source: str) -> str:
    """The program as text that defines a function; as it is where it cannot be read.

    Its top-level imports stand before it, behind the prelude; a last statement that asks for ``__main__`` is opened.
    """
    try:
        statements = ast.parse(_unguarded(source)).body
        imports = [statement for statement in statements if isinstance(statement, ast.Import | ast.ImportFrom)]
        function = ast.parse(f"def {_FUNCTION}(): pass").body[0]
        assert isinstance(function, ast.FunctionDef)
        function.body = [
            statement for statement in statements if not isinstance(statement, ast.Import | ast.ImportFrom)
        ]
        return "\n".join((PRELUDE, _unparsed(imports), ast.unparse(function)))
    except Exception:
        return source


def _unguarded(source: str) -> str:
    try:
        *others, last = ast.parse(source).body
        if isinstance(last, ast.If) and ast.unparse(last.test) == "__name__ == '__main__'":
            return _unparsed(others) + "\n" + _unparsed(last.body)  # what stands under `else` is lost
    except Exception:
        return source
    return source


def _unparsed(statements: list[Any]) -> str:
    return ast.unparse(ast.Module(statements, []))


def _call(function: Callable[[], object], given: str, new_stdin: Any) -> None:
    """Call the program with the input in place of its streams. Programs that end themselves have ended well.

    The stream that stood in ``sys.stdin`` before, which ``from sys import stdin`` has found, reads lines without ends.
    """
    lines = iter(given.split("\n"))
    stdin, true_open = sys.stdin, builtins.open
    of_stdin: dict[str, Callable[..., object]] = {
        "read": lambda *_: given,
        "readlines": lambda *_: given.split("\n"),
        "readline": lambda *_: next(lines),
    }
    for name, method in of_stdin.items():
        setattr(stdin, name, method)
    sys.stdin = new_stdin
    builtins.open = lambda *_, **__: io.StringIO(given)  # type: ignore[assignment]
    try:
        function()
    except SystemExit:
        pass
    finally:
        sys.stdin, builtins.open = stdin, true_open
        for name in of_stdin:
            delattr(stdin, name)


class _Stdin:
    """The evaluator's standard input: ``read`` always gives everything; it cannot be iterated over."""

    def __init__(self, given: str) -> None:
        self._given = given
        self._lines = io.StringIO(given)
        self.buffer = _StdinBuffer(given.encode())

    def read(self, *_: object) -> str:
        return self._given

    def readline(self, *size: int) -> str:
        return self._lines.readline(*size)

    def readlines(self, *_: object) -> list[str]:
        return self._given.split("\n")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lines, name)


class _StdinBuffer:
    """Its bytes: every line is the first one, and there is nothing else than these two methods."""

    def __init__(self, given: bytes) -> None:
        self._given = given

    def read(self, *_: object) -> bytes:
        return self._given

    def readline(self, *_: object) -> bytes:
        return self._given.partition(b"\n")[0] + b"\n"


# --- programs that are called --------------------------------------------------------------------------------------


def _grade_calls(source: str, entry_point: str, inputs: list[str], alarm: _Alarm, records: _Records) -> None:
    method = getattr(_compiled(f"{PRELUDE}\n\n{source}", alarm), entry_point)
    # A line end after the last argument is the store's, not LiveCodeBench's, where it would be an error.
    arguments = [[json.loads(line) for line in given.removesuffix("\n").split("\n")] for given in inputs]
    for index, values in enumerate(arguments):
        alarm.set()
        faulthandler.enable()
        try:
            value = method(*values)
            alarm.clear()
        except Exception as error:
            alarm.clear()
            records.end(index, error)
        finally:
            alarm.clear()
            faulthandler.disable()
        records.write(VALUE, index, encode(value))


def encode(value: object) -> bytes:
    """A returned value as JSON, an outer tuple as a list; what equals no JSON value, or may not say so, by its type.

    An object of JSON is ``{"dict": [[key, value], ...]}`` or ``{"other": the type's name}``.
    """
    try:
        return _dumps(_Encoder().encoded(list(value) if isinstance(value, tuple) else value, 0)).encode()
    except (ValueError, RecursionError):
        return _dumps({OTHER: "a value that is too large"}).encode()


class _Encoder:
    def __init__(self) -> None:
        self._parts = 0

    def encoded(self, value: Any, depth: int) -> Any:
        """The value in terms of JSON. ``ValueError`` when it is too deep or has too many parts."""
        kind = type(value)
        if kind in _SCALARS:
            return value
        if depth == MAX_DEPTH:
            raise ValueError("too deep")
        if kind is list:
            self._count(value)
            return value if _SCALARS.issuperset(map(type, value)) else [self.encoded(part, depth + 1) for part in value]
        if kind in _DICTS and all(type(key) is str for key in value):
            self._count(value)
            return {DICT: [[key, self.encoded(part, depth + 1)] for key, part in value.items()]}
        if kind.__module__ == "numpy" and getattr(value, "shape", None) == ():  # a number
            return self.encoded(value.item(), depth + 1)
        return {OTHER: kind.__name__}

    def _count(self, parts: list[Any] | dict[Any, Any]) -> None:
        self._parts += len(parts)
        if self._parts > MAX_PARTS:
            raise ValueError("too many parts")
