"""Run a compiled program inside this process the way ``python3 solution.py`` would, to the last flush.

Only called in a test's own process, which ends here. Nothing of the program is rewritten or wrapped.
"""

from __future__ import annotations

import atexit
import builtins
import gc
import sys
import types
from os import _exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

FILE_NAME = "solution.py"
FILE_VARIABLE = b"__file__"

# What CPython exits with when the last flush of stdout fails (Python/pylifecycle.c, Py_RunMain).
_FLUSH_FAILED = 120

_main = types.ModuleType("__main__")


def compile_source(source: bytes) -> types.CodeType:
    """The program's code. Bytes, so that a coding cookie and a byte order mark count as in a file."""
    code = compile(source, FILE_NAME, "exec", dont_inherit=True)
    assert isinstance(code, types.CodeType)
    return code


def report_exception(error: BaseException) -> None:
    """Print a traceback as the interpreter would, without the agent's own frames, through the program's hook."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != FILE_NAME:
        trace = trace.tb_next
    sys.excepthook(type(error), error, trace)


def _exit_code(error: SystemExit) -> int:
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF if -(2**63) <= error.code < 2**63 else 0xFF
    print(error.code, file=sys.stderr)
    return 1


def _flush(stream: object) -> bool:
    """Whether a stream, which the program may have replaced by anything, could be flushed."""
    try:
        if stream is not None and not getattr(stream, "closed", False):
            stream.flush()  # type: ignore[attr-defined]
    except Exception:
        return False
    return True


def _finish(code: int) -> NoReturn:
    """End as CPython does: wait for threads, run exit functions, flush, drop the program's objects, flush again."""
    threading = sys.modules.get("threading")
    if threading is not None:
        threading._shutdown()
    atexit._run_exitfuncs()
    good = _flush(sys.stdout) & _flush(sys.stderr)
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    # Dropping the names closes files that the program left open and runs its finalisers, which may still print.
    namespace = _main.__dict__
    for name in list(namespace):
        if name != "__builtins__":
            namespace[name] = None
    gc.collect()
    good &= _flush(sys.stdout) & _flush(sys.stderr)
    if not good and code == 0:
        code = _FLUSH_FAILED
    _exit(code)


def prepare() -> None:
    """Do what is the same for all programs: make the module ``__main__``, set ``sys.argv``."""
    _main.__dict__.update(__builtins__=builtins, __file__=FILE_NAME, __cached__=None)
    sys.modules["__main__"] = _main
    sys.argv = [FILE_NAME]


def run(code: types.CodeType) -> NoReturn:
    """Run the program as ``__main__`` and end the process with the exit code that CPython would give."""
    exit_code = 0
    try:
        exec(code, _main.__dict__)
    except SystemExit as error:
        exit_code = _exit_code(error)
    except BaseException as error:
        report_exception(error)
        exit_code = 1
    _finish(exit_code)
