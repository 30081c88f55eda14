"""A Python program in a test's own process: isolate, load or compile the code, run it."""

from __future__ import annotations

import gc
import marshal
import os
import sys
from typing import Any, NoReturn

from . import program, wire
from .isolation import Landlock, apply_seccomp, become_user, set_limits, set_output_limit
from .preludes import Perform
from .seccomp import Filter


def run(
    request: wire.Request,
    fds: list[int],
    report: int,
    uid: int | None,
    layers: tuple[Landlock, Filter],
    names: dict[str, Any],
    perform: Perform | None,
) -> NoReturn:
    """Become the test that was asked for. Writes to ``report`` how far it came; never returns."""
    try:
        stdin_fd, stdout_fd, stderr_fd, program_fd, compiled_fd = fds
        landlock, syscall_filter = layers
        text = _read_all(compiled_fd if request.has_compiled else program_fd)
        own_file = _read_all(program_fd) if program.FILE_VARIABLE in text else b""
        given = b""
        if (
            perform is not None
        ):  # it writes its result to the descriptor of the output, and what is printed goes nowhere
            given = _read_all(stdin_fd)
            result_fd, stdin_fd, stdout_fd = stdout_fd, *(os.open("/dev/null", os.O_RDWR),) * 2
        os.dup2(stdin_fd, 0)
        os.dup2(stdout_fd, 1)
        os.dup2(stderr_fd, 2)
        _close_all_but({report, compiled_fd, landlock.fd} | ({result_fd} if perform is not None else set()))
        os.setsid()
        set_limits(int(request.cpu_kill_s) + 2)
        become_user(uid)
        landlock.apply(landlock.fd)
        apply_seccomp(syscall_filter)
        if own_file:  # most programs do not ask for it, and what is written must be swept
            with open(program.FILE_NAME, "wb") as file:
                file.write(own_file)
    except BaseException as error:
        os.write(report, f"F{type(error).__name__}: {error}".encode())
        os._exit(1)
    os.write(report, b"I")
    try:
        code: Any = text if request.operation == wire.GRADE else _load(text, compiled_fd, request.has_compiled)
    except OSError as error:
        os.write(report, f": the compiled code could not be kept: {error}".encode())
        os._exit(1)
    os.write(report, b"C")
    os.close(report)
    os.close(compiled_fd)
    set_output_limit(request.output_bytes)  # only now: the compiled code may be longer than the program's output
    _forget_agent()
    gc.enable()
    if perform is not None:
        perform(code, names, request.details, given, result_fd)
    program.run(code)


def _load(text: bytes, compiled_fd: int, is_compiled: bool) -> Any:
    """The code object. A program that does not compile ends the process here, before any code of its own."""
    if is_compiled:
        return marshal.loads(text)
    try:
        code = program.compile_source(text)
        data = memoryview(marshal.dumps(code))
        while data:
            data = data[os.write(compiled_fd, data) :]
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        sys.excepthook(type(error), error, None)
        sys.stderr.flush()
        os._exit(1)
    return code


def _forget_agent() -> None:
    package = __name__.partition(".")[0]
    for name in [n for n in sys.modules if n.partition(".")[0] in (package, "ctypes", "_ctypes")]:
        del sys.modules[name]


def _close_all_but(kept: set[int]) -> None:
    start = 3
    for fd in sorted(kept - {-1}):
        os.closerange(start, fd)
        start = fd + 1
    os.closerange(start, 4096)


def _read_all(fd: int) -> bytes:
    return os.pread(fd, os.fstat(fd).st_size, 0)
