"""What LiveCodeBench's own evaluator would say of a program: its codes, its equality, its limits. For comparison only.

The program runs in a jail as any other; :mod:`sandbox.agent.lcb` imitates what that evaluator does inside the process,
this module what it makes of the results. Its code for a program is that of the first test that is not passed:

None   all tests passed
-2     wrong answer: lines stripped and equal, or else all tokens decimals and equal; called functions: ``==``
-3     time limit: the alarm of one test
-4     runtime error; also a program that cannot be compiled, or that the evaluator's own wrapping breaks
-5     the process ended without a result: exit, crash, ``SystemExit`` from a called function, or the deadline of all
       tests together. (-1, a deadline, is in its code but never comes out of it.)

Not imitated, since expected outputs never enter a jail: programs that read them from the evaluator's frames, objects
that say of themselves that they equal everything, comparisons that raise. Its processes have no memory limit and no
output limit; here 4 GiB and the suite's output hold, and end a program with -5 and the verdict that says so.
"""

from __future__ import annotations

import json
import os
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Any, NamedTuple

from sandbox import memory_files, running
from sandbox.agent import lcb, wire
from sandbox.compiling import RunRequest
from sandbox.errors import JailFault, SandboxError
from sandbox.programs import MIB, Allowance, Io, Limits, Program, Suite, Test
from sandbox.verdicts import Facts, Outcome, TestResult, Verdict, ended_badly


class Evaluator(StrEnum):
    """Which state of that evaluator is imitated, by its commit.

    ``WITHOUT_BUFFER``: standard input is a plain ``StringIO``, without a ``buffer``; published runs of 2024 were graded
    by it. ``WITH_BUFFER``: standard input has a ``buffer`` and can no longer be iterated over or read by and by.
    """

    WITHOUT_BUFFER = "15808c7"
    WITH_BUFFER = "28fef95"


_KINDS = (lcb.OUTPUT, lcb.VALUE, lcb.ERROR, lcb.TIMEOUT, lcb.FAILED, lcb.UNCOMPILED)

TIMEOUT_S = 6.0
WRONG_ANSWER, TIME_LIMIT, RUNTIME_ERROR, HARNESS_ERROR = -2, -3, -4, -5

# That evaluator sets no memory limit; this one keeps a program within its jail's own.
_MEMORY_BYTES = 4 * 1024 * MIB

# More than this of all outputs together is not kept.
_MAX_OUTPUT_BYTES = 256 * 1024 * 1024

# No encoded value is so much longer than the text of one that it equals (1e308 as an integer comes closest): what a
# program makes longer need not be read.
_MAX_SPREAD, _MAX_EXCESS_BYTES = 64, 4096


@dataclass(frozen=True)
class Graded:
    """What that evaluator says: its code, its list of results as it stands in its files, and both in our terms.

    ``outcome`` has the facts of the one process with the last test's result.
    """

    code: int | None
    results: tuple[bool | int, ...]
    outcome: Outcome


class Record(NamedTuple):
    """What a test gave: one of the kinds of :mod:`sandbox.agent.lcb` and its content."""

    kind: bytes
    content: bytes


class TestFault(ValueError):
    """A test's own expected output is not what it has to be."""

    __test__ = False


def judge(
    run: RunRequest,
    program: Program,
    suite: Suite,
    timeout_s: float = TIMEOUT_S,
    evaluator: Evaluator = Evaluator.WITH_BUFFER,
) -> Graded:
    """Grade one program. Raises ``SandboxError`` for what that evaluator does not know, and what ``run`` raises.

    The evaluator stops at the first test that is not passed, and knows that while the process runs. Here it is known
    only afterwards. So the first test runs by itself before all do: most programs that fail, fail there.
    """
    asked = request(program, suite, timeout_s, evaluator)
    graded = _judge_first(run, program, suite, asked, 1)
    if graded.code is None and len(suite.tests) > 1:
        return _judge_first(run, program, suite, asked, len(suite.tests))
    return graded


def _judge_first(run: RunRequest, program: Program, suite: Suite, asked: wire.Request, count: int) -> Graded:
    """Grade the program on the first ``count`` tests, with the time that all have."""
    tests = suite.tests[:count]
    contents = (pack(tests), None, None, program.source.encode("utf-8", "surrogatepass"), None)
    fds = [memory_files.empty() if content is None else memory_files.sealed(content) for content in contents]
    try:
        reply = run(asked, fds)
        if reply.stage != wire.LOADED:
            raise JailFault("a program's process ended before its first statement")
        result_fd, stderr_fd = fds[wire.STDOUT], fds[wire.STDERR]
        limits = Limits(asked.cpu_kill_s, asked.memory_bytes, asked.output_bytes, asked.wall_kill_s)
        facts = running.facts_of(reply, limits, Allowance(), memory_files.size(result_fd))
        written = memory_files.content(result_fd, facts.output_bytes)
        return grade(replace(suite, tests=tests), facts, written, running.error_text(stderr_fd))
    finally:
        for fd in fds:
            os.close(fd)


def request(program: Program, suite: Suite, timeout_s: float, evaluator: Evaluator) -> wire.Request:
    """The request for tests of a suite. Raises ``SandboxError`` for what that evaluator does not know."""
    if program.language != "python3" or suite.io not in (Io.STDIN, Io.FUNCTION):
        raise SandboxError(
            f"LiveCodeBench's evaluator has no {suite.io.value} tests of {program.language} programs",
            "grade these with --grader live",
        )
    deadline_s = (timeout_s + 1) * len(suite.tests) + 5
    return wire.Request(
        operation=wire.GRADE,
        has_compiled=False,
        cpu_kill_s=deadline_s,
        wall_kill_s=deadline_s,
        memory_bytes=max(suite.limits.memory_bytes, _MEMORY_BYTES),
        output_bytes=min(suite.limits.output_bytes * len(suite.tests), _MAX_OUTPUT_BYTES),
        details={
            "zygote": wire.LIVECODEBENCH + (f"+{wire.NUMPY}" if wire.NUMPY in program.source else ""),
            "entry_point": (suite.entry_point or "") if suite.io is Io.FUNCTION else "",
            "timeout_s": timeout_s,
            "has_buffer": evaluator is Evaluator.WITH_BUFFER,
        },
    )


def pack(tests: Sequence[Test]) -> bytes:
    """The inputs of tests as one."""
    return b"".join(lcb.LENGTH.pack(len(test.input)) + test.input for test in tests)


def read_records(written: bytes, count: int) -> list[Record]:
    """The records of up to ``count`` tests, in their order, up to what is none.

    A program can write them itself, and gains nothing: each is the one thing that its test gave, and what stands in it
    is compared as what the program printed or returned.
    """
    records: list[Record] = []
    start = 0
    while len(records) < count and start + lcb.RECORD.size <= len(written):
        kind, index, length = lcb.RECORD.unpack_from(written, start)
        start += lcb.RECORD.size
        whole = kind in (lcb.FAILED, lcb.UNCOMPILED)
        if (index != len(records) and not whole) or start + length > len(written) or kind not in _KINDS:
            break
        records.append(Record(kind, written[start : start + length]))
        start += length
        if kind not in (lcb.OUTPUT, lcb.VALUE):
            break
    return records


def grade(suite: Suite, facts: Facts, written: bytes, stderr: str = "") -> Graded:
    """What the results of one process come to. Pure."""
    results: list[TestResult] = []
    marks: list[bool | int] = []
    records = read_records(written, len(suite.tests))
    for test, record in zip(suite.tests, records, strict=False):
        if record.kind in (lcb.FAILED, lcb.UNCOMPILED):
            verdict = Verdict.COMPILE_ERROR if record.kind == lcb.UNCOMPILED else Verdict.RUNTIME_ERROR
            results.append(TestResult(test.name, verdict, facts, f"nothing was called: {_text(record.content)}"))
            return _graded(RUNTIME_ERROR, (RUNTIME_ERROR,), results)
        try:
            code, mark, detail = _test_code(suite.io, test, record)
        except TestFault as error:
            results.append(TestResult(test.name, Verdict.INTERNAL_ERROR, facts, str(error)))
            return _graded(RUNTIME_ERROR, (RUNTIME_ERROR,), results)
        marks.append(mark)
        last = code is not None or len(results) + 1 == len(suite.tests)
        results.append(TestResult(test.name, _VERDICTS[code], facts if last else None, detail))
        if last:
            return _graded(code, tuple(marks), results)
    verdict = ended_badly(facts) or Verdict.RUNTIME_ERROR
    # After a signal, standard error ends with the middle of a trace.
    detail = "the process ended without a result: " + running.ending(facts, "" if facts.signal else stderr)
    results.append(TestResult(suite.tests[len(results)].name, verdict, facts, detail))
    return _graded(HARNESS_ERROR, (WRONG_ANSWER,), results)


_VERDICTS = {
    None: Verdict.ACCEPTED,
    WRONG_ANSWER: Verdict.WRONG_ANSWER,
    TIME_LIMIT: Verdict.TIME_LIMIT,
    RUNTIME_ERROR: Verdict.RUNTIME_ERROR,
}


def _graded(code: int | None, results: tuple[bool | int, ...], tests: list[TestResult]) -> Graded:
    return Graded(code, results, running.outcome_of(tests))


def _test_code(io: Io, test: Test, record: Record) -> tuple[int | None, bool | int, str]:
    """The code for one test, its mark in the list of results, and a line for a person. Raises :class:`TestFault`."""
    if record.kind == lcb.TIMEOUT:
        return TIME_LIMIT, TIME_LIMIT, "the alarm went off"
    if record.kind == lcb.ERROR:
        return RUNTIME_ERROR, RUNTIME_ERROR, _text(record.content)
    if (record.kind == lcb.VALUE) != (io is Io.FUNCTION):
        return RUNTIME_ERROR, RUNTIME_ERROR, "a result of the wrong kind"  # none that the agent writes
    if io is Io.FUNCTION:
        same = same_value(test.expected, record.content)
        return (None, True, "") if same else (WRONG_ANSWER, False, "returned another value")
    try:
        difference = first_difference(_decoded(test.expected), _decoded(record.content))
    except InvalidOperation:  # a signalling NaN: the comparison raises, there too
        return RUNTIME_ERROR, RUNTIME_ERROR, "the comparison raised InvalidOperation"
    return (None, True, "") if difference is None else (WRONG_ANSWER, WRONG_ANSWER, difference)


def first_difference(expected: str, got: str) -> str | None:
    """None when the output passes; else one line that says why not. Raises ``InvalidOperation`` for signalling NaNs.

    Both are stripped and so are their lines, which must be as many; a line is right when it is equal, or when all
    tokens of both are decimals that are equal pair by pair: without any tolerance.
    """
    wanted, given = expected.strip(), got.strip()
    breaks, given_breaks = wanted.count("\n"), given.count("\n")
    if breaks != given_breaks:  # counted before they are split: programs can print millions
        return f"expected {breaks + 1} lines, got {given_breaks + 1}"
    lines = zip(map(str.strip, wanted.split("\n")), map(str.strip, given.split("\n")), strict=True)
    for number, (wanted_line, given_line) in enumerate(lines, start=1):
        if wanted_line != given_line and not _same_decimals(wanted_line, given_line):
            return f"line {number}: expected {_short(wanted_line)}, got {_short(given_line)}"
    return None


def _same_decimals(wanted: str, given: str) -> bool:
    wanted_tokens = wanted.split()
    given_tokens = given.split(maxsplit=len(wanted_tokens))
    if len(wanted_tokens) != len(given_tokens):
        return False
    try:
        pair = [Decimal(token) for token in given_tokens], [Decimal(token) for token in wanted_tokens]
    except InvalidOperation:
        return False
    return pair[0] == pair[1]


def same_value(expected: bytes, encoded: bytes) -> bool:
    """Whether a returned value passes: Python's ``==``, so that True is 1 and 1.0, and 0.1 + 0.2 is not 0.3.

    ``encoded`` is what :func:`sandbox.agent.lcb.encode` writes. Raises :class:`TestFault` when the expected value is
    not JSON; what the program made unreadable equals nothing.
    """
    if len(encoded) > _MAX_SPREAD * len(expected) + _MAX_EXCESS_BYTES:
        return False
    try:
        wanted = _read(expected)
    except (ValueError, RecursionError) as error:
        raise TestFault(f"the test itself is not JSON: {error}") from error
    try:
        return bool(_read(encoded, _unwrapped) == wanted)
    except (ValueError, TypeError, RecursionError):
        return False


class _Nothing:
    """Stands for a value that equals no JSON value, itself included."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return False


class _Long(NamedTuple):
    """An integer of more digits than Python reads."""

    digits: str


_MAX_DIGITS = 4_000


def _read(text: bytes, unwrap: Callable[[dict[str, Any]], Any] | None = None) -> Any:
    return json.loads(text, parse_int=_integer, object_hook=unwrap)


def _integer(text: str) -> int | _Long:
    return int(text) if len(text) <= _MAX_DIGITS else _Long(text)


def _unwrapped(wrapped: dict[str, Any]) -> Any:
    """What an object of the encoded form stands for. ``ValueError`` or ``TypeError`` for what is none."""
    return dict(wrapped[lcb.DICT]) if lcb.DICT in wrapped else _Nothing()


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


def _text(content: bytes) -> str:
    return content.decode(errors="replace")


def _short(line: str, width: int = 60) -> str:
    shown = "".join(character if character in string.printable else "�" for character in line[:width])
    return repr(shown if len(line) <= width else shown[: width - 1] + "…")
