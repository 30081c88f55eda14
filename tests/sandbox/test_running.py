"""One test's process as the host sees it, without a jail: what an agent might reply, and what comes of it."""

from __future__ import annotations

import os

import pytest

from sandbox import Allowance, Limits, Program, Suite, Test, Verdict, languages, memory_files
from sandbox.agent import wire
from sandbox.checking import Call, Checkers, Files, ReadyChecker
from sandbox.compiling import ProductCache, build
from sandbox.errors import SandboxUnavailable
from sandbox.judgements import Judgement
from sandbox.languages import OutOfMemory
from sandbox.loading import PythonProgram
from sandbox.programs import MIB, Checker
from sandbox.running import Said, facts_of, last_line, run_test
from sandbox.verdicts import ended_badly
from tests.sandbox.fake_cells import FakeCell

LIMITS = Limits(cpu_s=1.0, memory_bytes=64 * MIB, output_bytes=1000)
SUITE = Suite((Test("1", b"12", b"2"),), limits=LIMITS)
LONG = "x = 1\n" * 20_000


def reply(cpu_s: float = 0.1, *, killed_by: int = wire.KILLED_BY_NOBODY, wait_status: int = 0) -> wire.Reply:
    return wire.Reply(wire.LOADED, killed_by, False, False, wait_status, int(cpu_s * 1e6), int(cpu_s * 1e6), MIB)


@pytest.mark.parametrize(
    ("source", "compiling_s", "running_s", "runs", "verdict"),
    [
        (LONG, 0.8, 0.7, 2, None),
        (LONG, 0.2, 0.7, 1, None),
        (LONG, 0.2, 1.2, 2, Verdict.TIME_LIMIT),
        ("x = 1\n", 0.0, 1.2, 1, Verdict.TIME_LIMIT),
    ],
)
def test_time_to_compile_a_long_source_is_not_the_programs(
    source: str, compiling_s: float, running_s: float, runs: int, verdict: Verdict | None
) -> None:
    heard = []

    def run(request: wire.Request, fds: list[int]) -> wire.Reply:
        heard.append(os.read(fds[wire.STDIN], 10))
        os.write(fds[wire.STDOUT], b"%d" % len(heard))
        return reply(running_s + (0.0 if request.has_compiled else compiling_s))

    loaded = PythonProgram(Program(source))
    whole_fd = memory_files.sealed(b"12")
    with run_test(run, loaded, Allowance(), SUITE, memory_files.reader(whole_fd)) as ended:
        assert ended.output() == b"%d" % runs
        failed = ended.failure("1")
    os.close(whole_fd)
    loaded.close()
    assert heard == [b"12"] * runs
    assert (failed.verdict if failed else None) is verdict


JAVA = OutOfMemory(3 << 8, b"Terminating due to java.lang.OutOfMemoryError")
V8 = OutOfMemory(6, b"JavaScript heap out of memory")


@pytest.mark.parametrize(
    ("says", "wait_status", "stderr", "verdict"),
    [
        (JAVA, 3 << 8, b"Terminating due to java.lang.OutOfMemoryError: Java heap space\n", Verdict.MEMORY_LIMIT),
        (JAVA, 3 << 8, b"", Verdict.RUNTIME_ERROR),
        (JAVA, 1 << 8, b"Terminating due to java.lang.OutOfMemoryError: Java heap space\n", Verdict.RUNTIME_ERROR),
        (JAVA, 0, b"Terminating due to java.lang.OutOfMemoryError: Java heap space\n", None),
        (JAVA, 3 << 8, b"x" * 500_000 + b"\n" + JAVA.words, Verdict.MEMORY_LIMIT),
        (V8, 6, b"FATAL ERROR: Reached heap limit - JavaScript heap out of memory\n 1: 0x\n", Verdict.MEMORY_LIMIT),
        (V8, 6 | 0x80, b"FATAL ERROR: Reached heap limit - JavaScript heap out of memory\n", Verdict.MEMORY_LIMIT),
        (V8, 6, b"Aborted\n", Verdict.RUNTIME_ERROR),
        (None, 6, V8.words, Verdict.RUNTIME_ERROR),
    ],
)
def test_a_runtime_says_itself_that_memory_ran_out(
    says: OutOfMemory | None, wait_status: int, stderr: bytes, verdict: Verdict | None
) -> None:
    fd = memory_files.sealed(stderr)
    facts = facts_of(reply(wait_status=wait_status), LIMITS, Allowance(), 0, Said(says, fd))
    os.close(fd)
    assert ended_badly(facts) is verdict
    assert facts.killed_by == wire.KILLED_BY_NOBODY


@pytest.mark.parametrize(
    ("stderr", "line"),
    [
        ("TypeError: no\n    at f (main.js:1:2)\n    at main.js:3:4\n\nNode.js v20.19.2\n", "TypeError: no"),
        ('Exception in thread "main" E: no\n\tat Main.main(Main.java:3)\n', 'Exception in thread "main" E: no'),
        ("Traceback\n  File\nValueError: at Node.js v1\n\n", "ValueError: at Node.js v1"),
        ("    at f (main.js:1:2)\n    at g (main.js:3:4)\n", "    at g (main.js:3:4)"),
        ("  indented  \n \n", "  indented"),
        ("\x1b[31mError: no\x1b[0m\n", "\\x1b[31mError: no\\x1b[0m"),
        ("Node.js v20.19.2", "Node.js v20.19.2"),
        (" \n\n", ""),
    ],
)
def test_the_line_that_says_what_happened(stderr: str, line: str) -> None:
    assert last_line(stderr) == line


@pytest.mark.parametrize(
    ("killed_by", "asked"),
    [
        (wire.KILLED_BY_NOBODY, 1),
        (wire.KILLED_BY_CPU, 1),
        (wire.KILLED_BY_MEMORY, 1),
        (wire.KILLED_BY_WALL, 2),
        (wire.KILLED_BY_KERNEL, 2),
    ],
)
def test_a_checker_that_the_machine_kept_from_being_compiled_is_compiled_again(killed_by: int, asked: int) -> None:
    cell = FakeCell(reply(killed_by=killed_by, wait_status=1 << 8))
    checkers = Checkers(cell, ProductCache())
    checker = Checker(Program("int main() { return 42; }", "cpp17"))
    for _ in range(2):
        said = checkers.ready(checker)
        assert isinstance(said, Judgement)
        assert said.verdict is Verdict.INTERNAL_ERROR
    assert len(cell.requests) == asked
    checkers.close()


@pytest.mark.parametrize(("language", "name"), [("cpp17", "main.cpp"), ("python3", "livecut_checker.py")])
def test_no_file_takes_the_place_of_a_checkers_own(language: str, name: str) -> None:
    cell = FakeCell(reply())
    checkers = Checkers(cell, ProductCache())
    said = checkers.ready(Checker(Program("", language, ((name, "something else"),))))
    assert isinstance(said, Judgement)
    assert f"called as it is itself, {name}" in said.detail
    assert not cell.requests
    checkers.close()


@pytest.mark.parametrize("language", ["javascript", "pypy3"])
def test_what_is_only_checked_takes_no_descriptor(language: str) -> None:
    def run(request: wire.Request, fds: list[int]) -> wire.Reply:
        os.write(fds[3], b"print(3)")
        return reply()

    cache = ProductCache()
    before = len(os.listdir("/proc/self/fd"))
    for number in range(20):
        os.close(build(run, languages.find(language), Program(f"print({number})", language), cache))
    assert len(os.listdir("/proc/self/fd")) == before
    cache.close()


@pytest.mark.parametrize("possible", range(5))
def test_what_cannot_be_made_ready_leaves_no_descriptor(monkeypatch: pytest.MonkeyPatch, possible: int) -> None:
    """A checker with two files beside it, and a run of it, of which one file after the other cannot be made."""
    checker = Checker(Program("", files=(("a", ""), ("b", ""))))
    suite = Suite((Test("1", b"", b""),), checker=checker)
    checkers = Checkers(FakeCell(reply()), ProductCache())
    made, make = 0, memory_files.sealed

    def sealed(content: bytes) -> int:
        nonlocal made
        made += 1
        if made > possible:
            raise SandboxUnavailable("no descriptor is left")
        return make(content)

    before = os.listdir("/proc/self/fd")
    monkeypatch.setattr(memory_files, "sealed", sealed)
    with pytest.raises(SandboxUnavailable):
        make_ready(checkers, suite)
    checkers.close()
    assert os.listdir("/proc/self/fd") == before


def make_ready(checkers: Checkers, suite: Suite) -> Call:
    assert suite.checker is not None
    ready = checkers.ready(suite.checker)
    assert isinstance(ready, ReadyChecker)
    return Call(ready, LIMITS, suite, suite.tests[0], Files(0, 0, 1, 2))
