"""A Python program in a test's own process: isolate, load or compile the code, run it.

What a fresh process touches first has to be copied for it, page by page, which is most of what it costs. Hence the
functions that are imported by name here and in what this calls: to find one in a module means to write in three places.
Hence, too, `find` where `in` would do: with bytes that begins with an exception and its text.
"""

from __future__ import annotations

import sys
from gc import enable as enable_collector
from marshal import dumps, loads
from os import O_RDWR, SEEK_END, _exit, close, closerange, dup2, lseek, pread, setsid, write
from os import open as open_file

from .isolation import Landlock, Seccomp, become_user, set_limits, set_output_limit
from .program import FILE_NAME, FILE_VARIABLE, compile_source
from .program import run as run_program
from .wire import GRADE, Request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from .preludes import Perform

_ALL_FDS = 4096


def run(
    request: Request,
    fds: list[int],
    report: int,
    uid: int | None,
    layers: tuple[Landlock, Seccomp],
    names: dict[str, Any],
    perform: Perform | None,
) -> NoReturn:
    """Become the test that was asked for. Writes to ``report`` how far it came; never returns."""
    operation, has_compiled, cpu_kill_s, _, _, output_bytes, details = request
    try:
        stdin_fd, stdout_fd, stderr_fd, program_fd, compiled_fd = fds
        landlock, syscall_filter = layers
        ruleset = landlock.fd
        kept = [report, ruleset]
        text = _content(compiled_fd if has_compiled else program_fd)
        own_file = _content(program_fd) if text.find(FILE_VARIABLE) >= 0 else b""
        given = b""
        if not has_compiled:
            kept.append(compiled_fd)
        if perform is not None:  # it writes its result to the descriptor of the output; what is printed goes nowhere
            given = _content(stdin_fd)
            result_fd, stdin_fd, stdout_fd = stdout_fd, *(open_file("/dev/null", O_RDWR),) * 2
            kept.append(result_fd)
        dup2(stdin_fd, 0)
        dup2(stdout_fd, 1)
        dup2(stderr_fd, 2)
        _close_all_but(kept)
        setsid()
        set_limits(int(cpu_kill_s) + 2)
        become_user(uid)
        landlock.apply(ruleset)
        syscall_filter.apply()
        if own_file:  # most programs do not ask for it, and what is written must be swept
            with open(FILE_NAME, "wb") as file:
                file.write(own_file)
    except BaseException as error:
        write(report, f"F{type(error).__name__}: {error}".encode())
        _exit(1)
    write(report, b"I")
    if operation == GRADE:
        code: Any = text
    elif has_compiled:
        code = loads(text)
    else:
        code = _compiled(text, compiled_fd, report)
    write(report, b"C")
    close(report)
    set_output_limit(output_bytes)  # only now: the compiled code may be longer than the program's output
    enable_collector()
    if perform is not None:
        perform(code, names, details, given, result_fd)
    run_program(code)


def _compiled(text: bytes, compiled_fd: int, report: int) -> Any:
    """The code object, which is kept in the file ``compiled_fd`` as well. A program that does not compile ends the
    process here, before any code of its own."""
    try:
        code = compile_source(text)
        data = memoryview(dumps(code))
        while data:
            data = data[write(compiled_fd, data) :]
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        sys.excepthook(type(error), error, None)
        sys.stderr.flush()
        _exit(1)
    except OSError as error:
        write(report, f": the compiled code could not be kept: {error}".encode())
        _exit(1)
    close(compiled_fd)
    return code


def _close_all_but(kept: list[int]) -> None:
    kept.sort()
    start = 3
    for fd in kept:
        if fd > start:
            closerange(start, fd)
        if fd >= start:
            start = fd + 1
    closerange(start, _ALL_FDS)


def _content(fd: int) -> bytes:
    return pread(fd, lseek(fd, 0, SEEK_END), 0)
