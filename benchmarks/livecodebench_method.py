"""LiveCodeBench's way of judging, as a yardstick of speed: all tests of a solution inside one forked process.

A pool of workers; for each solution a ``multiprocessing`` manager and one process; in it the program, wrapped into a
function behind a list of imports, is called once for each test with replaced streams and an alarm. No isolation at
all. The pool runs in an interpreter of its own, so that what forks is as small as that method allows, and is started
and warmed up before the clock: the comparison is about judging. Programs on stdin and stdout only.
"""

from __future__ import annotations

import ast
import contextlib
import faulthandler
import io
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
import types
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest.mock import mock_open, patch

import numpy  # (that grader has it loaded too, and every fork carries it)

if TYPE_CHECKING:
    from benchmarks.judging import Timing
    from sandbox import Job

# Fork by name: from Python 3.14 on it is no longer what a pool takes by itself.
_FORKING = multiprocessing.get_context("fork")
_TIMEOUT_S = 6
_MODULES = (
    "string re datetime collections heapq bisect copy math random statistics itertools functools operator io sys json"
)
_PRELUDE = "\n".join(
    [f"from {name} import *" for name in f"{_MODULES} builtins typing".split()]
    + [f"import {name}" for name in _MODULES.split()]
    + ["sys.setrecursionlimit(50000)", ""]
)
_TAKEN_AWAY = (
    "kill system putenv remove removedirs rmdir fchdir setuid fork forkpty killpg rename renames truncate replace "
    "unlink fchmod fchown chmod chown chroot lchown getcwd chdir"
)


class Solution(NamedTuple):
    """A program with its inputs and expected outputs, in the one JSON text that travels from process to process."""

    source: str
    tests_json: str


class _TimeIsUp(Exception):
    pass


def livecodebench_method(workers: int, jobs: list[Job[int]], python: str = sys.executable) -> Timing:
    """Judge stdin ``jobs`` that way, each up to its first failure; seconds are those of the judging alone.

    ``python`` is the interpreter that runs it, of the same version as this one: it gets this one's numpy.
    """
    from benchmarks.judging import Timing  # here, since that module imports this one

    solutions = [
        Solution(
            job.program.source,
            json.dumps([[test.input.decode(), test.expected.decode()] for test in job.suite.tests]),
        )
        for job in jobs
    ]
    done = subprocess.run(
        [python, "-m", "benchmarks.livecodebench_method", str(workers)],
        input=json.dumps(solutions).encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=Path(__file__).parent.parent,
        env={**os.environ, "PYTHONPATH": str(Path(numpy.__file__).parent.parent)},
        check=True,
    )
    # The last line: programs that keep the true stdout print in between, as they do with that method.
    return Timing(*json.loads(done.stdout.splitlines()[-1]))


def judge_all(workers: int, solutions: list[Solution]) -> tuple[float, int, int]:
    """Seconds, tests run, programs accepted."""
    with ProcessPoolExecutor(workers, mp_context=_FORKING) as pool:
        list(pool.map(_judge, [Solution("pass", '[["", ""]]')] * workers * 2))
        started = time.monotonic()
        results = list(pool.map(_judge, solutions))
        seconds = time.monotonic() - started
    return seconds, sum(n for n, _ in results), sum(good for _, good in results)


def _judge(solution: Solution) -> tuple[int, bool]:
    """How many tests ran and whether all passed. What ends its process has passed none."""
    with _FORKING.Manager() as manager:
        results, remarks = manager.list(), manager.list()
        process = _FORKING.Process(target=_judge_here, args=(solution, results, remarks))
        process.start()
        process.join((_TIMEOUT_S + 1) * len(json.loads(solution.tests_json)) + 5)
        if process.is_alive():
            process.kill()
        if not results:
            return 1, False
        result: tuple[int, bool] = results[0]
        return result if remarks[0] else (1, False)


def _judge_here(solution: Solution, results: Any, remarks: Any) -> None:
    started = time.monotonic()
    signal.signal(signal.SIGALRM, _ring)
    for name in _TAKEN_AWAY.split():
        setattr(os, name, None)
    tests = json.loads(solution.tests_json)
    passed = 0
    try:
        call = _wrapped(solution.source)
        for given, expected in tests:
            if not _same(_output(call, given), expected):
                break
            passed += 1
    except Exception:
        results.append((passed + 1, False))
    else:
        results.append((min(passed + 1, len(tests)), passed == len(tests)))
    remarks.append({"seconds": time.monotonic() - started})


def _ring(_signal: int, _frame: types.FrameType | None) -> None:
    raise _TimeIsUp


def _wrapped(source: str) -> Callable[[], object]:
    """The program as a function, its imports moved out behind the prelude and a last guard of ``__main__`` opened."""
    body = ast.parse(source).body
    if body and isinstance(body[-1], ast.If) and ast.unparse(body[-1].test) == "__name__ == '__main__'":
        # Parsed a second time, as there: the two steps do not know of each other.
        body = ast.parse(ast.unparse(body[:-1]) + "\n" + ast.unparse(body[-1].body)).body  # type: ignore[arg-type]
    imports = [part for part in body if isinstance(part, ast.Import | ast.ImportFrom)]
    others = [part for part in body if not isinstance(part, ast.Import | ast.ImportFrom)]
    function = ast.parse("def wrapped(): pass").body[0]
    assert isinstance(function, ast.FunctionDef)
    function.body = others or function.body
    text = "\n".join([_PRELUDE, ast.unparse(imports), ast.unparse(function)])  # type: ignore[arg-type]
    module = types.ModuleType("wrapped")
    signal.alarm(_TIMEOUT_S)
    try:
        exec(text, module.__dict__)
    finally:
        signal.alarm(0)
    call: Callable[[], object] = module.wrapped
    return call


def _output(call: Callable[[], object], given: str) -> str:
    """What one call printed."""
    lines = iter(given.split("\n"))
    captured, stdout = io.StringIO(), sys.stdout
    signal.alarm(_TIMEOUT_S)
    faulthandler.enable(sys.__stderr__ or 2)
    sys.stdout = captured
    try:
        # By name, as there: each is looked up anew for each test.
        @patch("builtins.open", mock_open(read_data=given))
        @patch("sys.stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
        @patch("sys.stdin.readline", lambda *_: next(lines))
        @patch("sys.stdin.readlines", lambda *_: given.split("\n"))
        @patch("sys.stdin.read", lambda *_: given)
        def patched() -> None:
            with contextlib.suppress(SystemExit):
                call()

        patched()
    finally:
        signal.alarm(0)
        faulthandler.disable()
        sys.stdout = stdout
    return captured.getvalue()


def _same(output: str, expected: str) -> bool:
    got = [line.strip() for line in output.strip().split("\n")]
    wanted = [line.strip() for line in expected.strip().split("\n")]
    return len(got) == len(wanted) and all(map(_same_line, got, wanted))


def _same_line(got: str, wanted: str) -> bool:
    if got == wanted:
        return True
    try:
        return list(map(Decimal, got.split())) == list(map(Decimal, wanted.split()))
    except InvalidOperation:
        return False


def main() -> None:
    """Judge the solutions on stdin with so many workers as the argument says; the last line of stdout is the result."""
    solutions = [Solution(*row) for row in json.loads(sys.stdin.buffer.read())]
    result = judge_all(int(sys.argv[1]), solutions)
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
